#include "cli/findings.h"

#include "cli/activity_text.h"
#include "cli/advice.h"
#include "cli/hosts.h"
#include "cli/same_paths.h"

#include <stdlib.h>

enum { NAMED = 4 }; /* late ranks that are told one by one */

/* ---- which activities are one piece of work ---- */

struct work {
    const struct rfn_activity *activity;
    const char *function;
    uint32_t path; /* of the call, or the first that reads the same */
    bool polls;    /* between polls; what comes before the first one may be work */
    size_t number; /* of the activity */
};

static int compare(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int by_work(const void *left, const void *right)
{
    const struct work *a = left, *b = right;
    int order = compare(a->activity->kind, b->activity->kind);
    order = order ? order : compare(a->activity->at.function, b->activity->at.function);
    order = order ? order : compare(a->path, b->path);
    order = order ? order : compare(a->polls, b->polls);
    order = order ? order : compare(a->activity->region, b->activity->region);
    return order ? order : strcmp(a->function, b->function);
}

/* Numbers pieces of work from 1; by activity, to be freed. */
static size_t *number_works(const struct rfn_report *report, const struct rfn_same_paths *same)
{
    size_t n = report->waits->n_activities, work = 0;
    struct work *works = calloc(n + 1, sizeof *works);
    size_t *numbers = calloc(n + 1, sizeof *numbers);
    for (size_t i = 0; works && i < n; i++) {
        const struct rfn_activity *activity = &report->waits->activities[i];
        const char *function = rfn_activity_work(report->archive, activity);
        works[i] = (struct work){activity, function ? function : "",
                                 rfn_same_paths_first(same, activity->at.path),
                                 rfn_activity_polls(report->archive, activity), i};
    }
    if (works)
        qsort(works, n, sizeof *works, by_work);
    for (size_t i = 0; works && numbers && i < n; i++) {
        work += i == 0 || by_work(&works[i - 1], &works[i]) != 0;
        numbers[works[i].number] = work;
    }
    if (!works) {
        free(numbers);
        numbers = NULL;
    }
    free(works);
    return numbers;
}

/* ---- which causes belong together ---- */

static int by_time(const void *left, const void *right)
{
    const struct rfn_finding *a = left, *b = right;
    if (a->ns != b->ns)
        return a->ns > b->ns ? -1 : 1;
    return compare(a->activity, b->activity);
}

/* Causes come with most time first: the first of a piece of work names it. */
static size_t group(struct rfn_finding *findings, const size_t *works, size_t *numbers,
                    const struct rfn_report *report)
{
    size_t n = 0;
    for (size_t i = 0; i < report->waits->n_causes; i++) {
        const struct rfn_cause *cause = &report->waits->causes[i];
        if (!rfn_report_shows_cause(report, cause))
            continue;
        size_t work = works[cause->activity], *number = &numbers[work];
        if (!*number) {
            findings[n] = (struct rfn_finding){.activity = cause->activity, .work = work};
            *number = ++n;
        }
        findings[*number - 1].ns += cause->total_ns;
    }
    qsort(findings, n, sizeof *findings, by_time);
    return n;
}

/* The causes of a finding, *n of them; to be freed. */
static const struct rfn_cause **causes_of(const struct rfn_finding *finding, const size_t *works,
                                          const struct rfn_report *report, size_t *n)
{
    const struct rfn_cause **causes = calloc(report->waits->n_causes + 1, sizeof *causes);
    *n = 0;
    for (size_t i = 0; causes && i < report->waits->n_causes; i++) {
        const struct rfn_cause *cause = &report->waits->causes[i];
        if (rfn_report_shows_cause(report, cause) && works[cause->activity] == finding->work)
            causes[(*n)++] = cause;
    }
    return causes;
}

/* ---- where others waited ---- */

struct site {
    enum rfn_pattern pattern;
    struct rfn_call_site waited;
    uint32_t path; /* waited.path, or the first that reads the same */
    int64_t direct_ns, total_ns;
};

static int by_site(const void *left, const void *right)
{
    const struct site *a = left, *b = right;
    int order = compare(a->pattern, b->pattern);
    order = order ? order : compare(a->waited.function, b->waited.function);
    return order ? order : compare(a->path, b->path);
}

static bool worse(const struct site *a, const struct site *b)
{
    return a->direct_ns > b->direct_ns ||
           (a->direct_ns == b->direct_ns && a->total_ns > b->total_ns);
}

/* Sorts, and leaves one of each; how many these are. */
static size_t join_sites(struct site *sites, size_t n)
{
    size_t left = 0;
    qsort(sites, n, sizeof *sites, by_site);
    for (size_t i = 0; i < n; i++) {
        if (left > 0 && by_site(&sites[left - 1], &sites[i]) == 0) {
            sites[left - 1].direct_ns += sites[i].direct_ns;
            sites[left - 1].total_ns += sites[i].total_ns;
        } else {
            sites[left++] = sites[i];
        }
    }
    return left;
}

/* The one with most direct waiting counts: where others waited for those ranks themselves. */
static int find_sites(struct rfn_finding *finding, const struct rfn_cause *const *causes, size_t n,
                      const struct rfn_same_paths *same)
{
    struct site *sites = calloc(n + 1, sizeof *sites);
    size_t worst = 0;
    if (!sites)
        return RFN_E_NOMEM;
    for (size_t i = 0; i < n; i++)
        sites[i] = (struct site){causes[i]->pattern, causes[i]->waited,
                                 rfn_same_paths_first(same, causes[i]->waited.path),
                                 causes[i]->direct_ns, causes[i]->total_ns};
    finding->sites = join_sites(sites, n);
    for (size_t i = 1; i < finding->sites; i++)
        worst = worse(&sites[i], &sites[worst]) ? i : worst;
    finding->pattern = sites[worst].pattern;
    finding->waited = sites[worst].waited;
    free(sites);
    return 0;
}

/* ---- whose fault it is ---- */

static int by_cost(const void *left, const void *right)
{
    const struct rfn_rank_ns *a = left, *b = right;
    if (a->ns != b->ns)
        return a->ns > b->ns ? -1 : 1;
    return compare(a->rank, b->rank);
}

static int find_ranks(struct rfn_finding *finding, const struct rfn_cause *const *causes, size_t n,
                      uint32_t n_all)
{
    struct rfn_rank_ns *ranks = calloc((size_t)n_all + 1, sizeof *ranks);
    if (!ranks)
        return RFN_E_NOMEM;
    for (uint32_t i = 0; i < n_all; i++)
        ranks[i].rank = i;
    for (size_t i = 0; i < n; i++) {
        for (uint32_t j = 0; j < causes[i]->n_ranks; j++) {
            if (causes[i]->ranks[j].rank < n_all)
                ranks[causes[i]->ranks[j].rank].ns += causes[i]->ranks[j].ns;
        }
    }
    qsort(ranks, n_all, sizeof *ranks, by_cost);
    while (finding->n_ranks < n_all && ranks[finding->n_ranks].ns > 0)
        finding->n_ranks++;
    finding->ranks = ranks;
    return 0;
}

/* ---- who waits ---- */

/* Who is late himself is no other. */
static bool is_late(const struct rfn_finding *finding, uint32_t rank)
{
    uint32_t late = rfn_late_ranks(finding->ranks, finding->n_ranks);
    for (uint32_t i = 0; i < late; i++) {
        if (finding->ranks[i].rank == rank)
            return true;
    }
    return false;
}

/* *rank: that found so far, or UINT32_MAX. False: several ranks wait, or it is not known who. */
static bool waits_alone(const struct rfn_waits *waits, const struct rfn_cause *cause,
                        const struct rfn_finding *finding, uint32_t *rank)
{
    bool known = false;
    for (size_t i = 0; i < waits->n_rows; i++) {
        const struct rfn_wait_row *row = &waits->rows[i];
        if (row->pattern != cause->pattern || row->function != cause->waited.function ||
            row->path != cause->waited.path)
            continue;
        for (uint32_t j = 0; j < waits->n_ranks; j++) {
            if (row->ns_by_rank[j] <= 0 || is_late(finding, j))
                continue;
            if (*rank != UINT32_MAX && *rank != j)
                return false;
            *rank = j;
            known = true;
        }
    }
    return known;
}

static uint32_t find_waiting(const struct rfn_finding *finding,
                             const struct rfn_cause *const *causes, size_t n,
                             const struct rfn_waits *waits)
{
    uint32_t rank = UINT32_MAX;
    for (size_t i = 0; i < n; i++) {
        if (!waits_alone(waits, causes[i], finding, &rank))
            return RFN_SEVERAL_RANKS;
    }
    return rank;
}

/* ---- all of it ---- */

static int describe(struct rfn_finding *finding, const size_t *works,
                    const struct rfn_report *report, const struct rfn_same_paths *same)
{
    size_t n;
    const struct rfn_cause **causes = causes_of(finding, works, report, &n);
    int error = causes ? find_sites(finding, causes, n, same) : RFN_E_NOMEM;
    if (!error)
        error = find_ranks(finding, causes, n, report->waits->n_ranks);
    if (!error)
        finding->waiting = find_waiting(finding, causes, n, report->waits);
    free(causes);
    return error;
}

static int find(struct rfn_findings *findings, const struct rfn_report *report, size_t most,
                const struct rfn_same_paths *same)
{
    const struct rfn_waits *waits = report->waits;
    size_t *works = number_works(report, same),
           *numbers = calloc(waits->n_activities + 1, sizeof *numbers);
    findings->findings = calloc(waits->n_causes + 1, sizeof *findings->findings);
    int error = works && numbers && findings->findings ? 0 : RFN_E_NOMEM;
    if (!error)
        findings->n = group(findings->findings, works, numbers, report);
    if (findings->n > most)
        findings->n = most;
    for (size_t i = 0; !error && i < findings->n; i++)
        error = describe(&findings->findings[i], works, report, same);
    free(works);
    free(numbers);
    return error;
}

int rfn_findings_init(struct rfn_findings *findings, const struct rfn_report *report, size_t most)
{
    struct rfn_same_paths same;
    *findings = (struct rfn_findings){0};
    int error = rfn_same_paths_init(&same, report->archive);
    if (error < 0)
        return error;
    error = find(findings, report, most, &same);
    rfn_same_paths_release(&same);
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
    } else if (n_all == 2) {
        rfn_text_string(text, "both ranks");
    } else {
        rfn_text_format(text, n < n_all ? "%u of " : "all ", n);
        rfn_text_format(text, "%u ranks", n_all);
        if (rfn_rank_stands_out(ranks, n, n))
            rfn_text_format(text, " (rank %u most)", ranks[0].rank);
    }
}
