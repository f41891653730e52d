#include "cli/findings.h"

#include "cli/advice.h"
#include "cli/hosts.h"

#include <stdlib.h>

enum { NAMED = 4 }; /* late ranks that are told one by one */

/* ---- which causes belong together ---- */

static int by_time(const void *left, const void *right)
{
    const struct rfn_finding *a = left, *b = right;
    if (a->ns != b->ns)
        return a->ns > b->ns ? -1 : 1;
    return a->activity < b->activity ? -1 : a->activity > b->activity;
}

/* Causes come with most time first: the first of an activity gives its finding pattern and place.
 */
static size_t group(struct rfn_finding *findings, size_t *numbers, const struct rfn_report *report)
{
    size_t n = 0;
    for (size_t i = 0; i < report->waits->n_causes; i++) {
        const struct rfn_cause *cause = &report->waits->causes[i];
        if (!rfn_report_shows_cause(report, cause))
            continue;
        size_t *number = &numbers[cause->activity];
        if (!*number) {
            findings[n] = (struct rfn_finding){
                .activity = cause->activity, .pattern = cause->pattern, .waited = cause->waited};
            *number = ++n;
        }
        findings[*number - 1].ns += cause->total_ns;
        findings[*number - 1].sites++;
    }
    qsort(findings, n, sizeof *findings, by_time);
    return n;
}

/* ---- whose fault it is ---- */

static int by_cost(const void *left, const void *right)
{
    const struct rfn_rank_ns *a = left, *b = right;
    if (a->ns != b->ns)
        return a->ns > b->ns ? -1 : 1;
    return a->rank < b->rank ? -1 : a->rank > b->rank;
}

static int find_ranks(struct rfn_finding *finding, const struct rfn_report *report)
{
    uint32_t n_all = report->waits->n_ranks, n = 0;
    struct rfn_rank_ns *ranks = calloc((size_t)n_all + 1, sizeof *ranks);
    if (!ranks)
        return RFN_E_NOMEM;
    for (uint32_t i = 0; i < n_all; i++)
        ranks[i].rank = i;
    for (size_t i = 0; i < report->waits->n_causes; i++) {
        const struct rfn_cause *cause = &report->waits->causes[i];
        if (cause->activity != finding->activity || !rfn_report_shows_cause(report, cause))
            continue;
        for (uint32_t j = 0; j < cause->n_ranks; j++) {
            if (cause->ranks[j].rank < n_all)
                ranks[cause->ranks[j].rank].ns += cause->ranks[j].ns;
        }
    }
    qsort(ranks, n_all, sizeof *ranks, by_cost);
    while (n < n_all && ranks[n].ns > 0)
        n++;
    finding->ranks = ranks;
    finding->n_ranks = n;
    return 0;
}

int rfn_findings_init(struct rfn_findings *findings, const struct rfn_report *report, size_t most)
{
    const struct rfn_waits *waits = report->waits;
    size_t *numbers = calloc(waits->n_activities + 1, sizeof *numbers);
    int error = numbers ? 0 : RFN_E_NOMEM;
    *findings = (struct rfn_findings){0};
    findings->findings = calloc(waits->n_causes + 1, sizeof *findings->findings);
    if (!findings->findings)
        error = RFN_E_NOMEM;
    else if (!error)
        findings->n = group(findings->findings, numbers, report);
    if (findings->n > most)
        findings->n = most;
    for (size_t i = 0; !error && i < findings->n; i++)
        error = find_ranks(&findings->findings[i], report);
    free(numbers);
    if (error)
        rfn_findings_release(findings);
    return error;
}

void rfn_findings_release(struct rfn_findings *findings)
{
    for (size_t i = 0; i < findings->n; i++)
        free(findings->findings[i].ranks);
    free(findings->findings);
    *findings = (struct rfn_findings){0};
}

/* ---- in words ---- */

static int by_rank(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return a < b ? -1 : a > b;
}

static void append_named(struct rfn_text *text, const struct rfn_rank_ns *ranks, uint32_t n)
{
    uint32_t *numbers = malloc(((size_t)n + 1) * sizeof *numbers);
    if (!numbers) {
        text->failed = true;
        return;
    }
    for (uint32_t i = 0; i < n; i++)
        numbers[i] = ranks[i].rank;
    qsort(numbers, n, sizeof *numbers, by_rank);
    rfn_text_string(text, n == 1 ? "rank " : "ranks ");
    rfn_ranks_append(text, numbers, n);
    free(numbers);
}

/* Whether ranks are one unbroken range. */
static bool adjoining(const struct rfn_rank_ns *ranks, uint32_t n)
{
    uint32_t least = UINT32_MAX, most = 0;
    for (uint32_t i = 0; i < n; i++) {
        least = ranks[i].rank < least ? ranks[i].rank : least;
        most = ranks[i].rank > most ? ranks[i].rank : most;
    }
    return n > 0 && most - least == n - 1;
}

void rfn_late_ranks_append(struct rfn_text *text, const struct rfn_rank_ns *ranks, uint32_t n,
                           uint32_t n_all)
{
    uint32_t late = rfn_late_ranks(ranks, n);
    if (n == 0) {
        rfn_text_string(text, "some rank");
    } else if (late < n_all && (late <= NAMED || adjoining(ranks, late))) {
        rfn_text_string(text, late < n ? "mainly " : "");
        append_named(text, ranks, late);
    } else if (n == 1) {
        append_named(text, ranks, 1);
    } else {
        rfn_text_format(text, n < n_all ? "%u of " : "all ", n);
        rfn_text_format(text, "%u ranks (rank %u most)", n_all, ranks[0].rank);
    }
}
