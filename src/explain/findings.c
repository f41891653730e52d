/* findings.c - causes of waiting that are one piece of work, in words with advice. */
#include "explain/activity_text.h"
#include "explain/advice.h"
#include "explain/same_paths.h"
#include "explain/work_usage.h"
#include "refrain/event.h"
#include "refrain/explain.h"

#include <stdlib.h>

enum { NAMED = 4 }; /* late ranks that are told one by one */

/* Waits as short as a message takes on a network: not each is to blame, but their number. */
enum { SHORT_NS = 10000, MANY = 1000 };

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

/* Numbers pieces of work from 1; by activity, to be freed. NULL: out of memory. */
static size_t *number_works(const struct rfn_measured *run, const struct rfn_same_paths *same)
{
    size_t n = run->waits->n_activities, work = 0;
    struct work *works = calloc(n + 1, sizeof *works);
    size_t *numbers = works ? calloc(n + 1, sizeof *numbers) : NULL;
    for (size_t i = 0; numbers && i < n; i++) {
        const struct rfn_activity *activity = &run->waits->activities[i];
        const char *function = rfn_activity_work(run->archive, activity);
        works[i] = (struct work){activity, function ? function : "",
                                 rfn_same_paths_first(same, activity->at.path),
                                 rfn_activity_polls(run->archive, activity), i};
    }
    if (numbers)
        qsort(works, n, sizeof *works, by_work);
    for (size_t i = 0; numbers && i < n; i++) {
        work += i == 0 || by_work(&works[i - 1], &works[i]) != 0;
        numbers[works[i].number] = work;
    }
    free(works);
    return numbers;
}

/* ---- what a finding says ---- */

/* Causes of one piece of work. */
struct causes {
    const struct rfn_cause **causes;
    size_t n;
};

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

/* Where others waited: named is the site with most direct waiting, where they waited for those
 * ranks themselves. */
static int find_sites(struct rfn_finding *finding, const struct causes *of,
                      const struct rfn_same_paths *same)
{
    struct site *sites = calloc(of->n + 1, sizeof *sites), *worst = sites;
    if (!sites)
        return RFN_E_NOMEM;
    for (size_t i = 0; i < of->n; i++) {
        const struct rfn_cause *cause = of->causes[i];
        sites[i] = (struct site){cause->pattern, cause->waited,
                                 rfn_same_paths_first(same, cause->waited.path), cause->direct_ns,
                                 cause->total_ns};
    }
    qsort(sites, of->n, sizeof *sites, by_site);
    for (size_t i = 0; i < of->n; i++) {
        struct site *last = &sites[finding->sites - (finding->sites > 0)];
        if (finding->sites > 0 && by_site(last, &sites[i]) == 0) {
            last->direct_ns += sites[i].direct_ns;
            last->total_ns += sites[i].total_ns;
        } else {
            sites[finding->sites++] = sites[i];
        }
    }
    for (struct site *site = sites; site < sites + finding->sites; site++) {
        if (site->direct_ns > worst->direct_ns ||
            (site->direct_ns == worst->direct_ns && site->total_ns > worst->total_ns))
            worst = site;
    }
    finding->pattern = worst->pattern;
    finding->waited = worst->waited;
    free(sites);
    return 0;
}

static int by_cost(const void *left, const void *right)
{
    const struct rfn_rank_ns *a = left, *b = right;
    if (a->ns != b->ns)
        return a->ns > b->ns ? -1 : 1;
    return compare(a->rank, b->rank);
}

static int find_ranks(struct rfn_finding *finding, const struct causes *of, uint32_t n_all)
{
    struct rfn_rank_ns *ranks = calloc((size_t)n_all + 1, sizeof *ranks);
    if (!ranks)
        return RFN_E_NOMEM;
    for (uint32_t i = 0; i < n_all; i++)
        ranks[i].rank = i;
    for (size_t i = 0; i < of->n; i++) {
        for (uint32_t j = 0; j < of->causes[i]->n_ranks; j++) {
            if (of->causes[i]->ranks[j].rank < n_all)
                ranks[of->causes[i]->ranks[j].rank].ns += of->causes[i]->ranks[j].ns;
        }
    }
    qsort(ranks, n_all, sizeof *ranks, by_cost);
    while (finding->n_ranks < n_all && ranks[finding->n_ranks].ns > 0)
        finding->n_ranks++;
    finding->ranks = ranks;
    finding->n_late = rfn_late_ranks(ranks, finding->n_ranks);
    return 0;
}

static bool is_wait_of(const struct rfn_wait_row *row, enum rfn_pattern pattern,
                       struct rfn_call_site site)
{
    return row->pattern == pattern && row->function == site.function && row->path == site.path;
}

/* The only rank that waits, of all causes, and is not late itself; RFN_SEVERAL_RANKS also if it is
 * not known who. late: by rank. */
static uint32_t find_waiting(const bool *late, const struct causes *of,
                             const struct rfn_waits *waits)
{
    uint32_t rank = RFN_SEVERAL_RANKS;
    for (size_t i = 0; i < of->n; i++) {
        bool known = false;
        for (size_t k = 0; k < waits->n_rows; k++) {
            const struct rfn_wait_row *row = &waits->rows[k];
            if (!is_wait_of(row, of->causes[i]->pattern, of->causes[i]->waited))
                continue;
            for (uint32_t j = 0; j < waits->n_ranks; j++) {
                if (row->ns_by_rank[j] <= 0 || late[j])
                    continue;
                if (rank != RFN_SEVERAL_RANKS && rank != j)
                    return RFN_SEVERAL_RANKS;
                rank = j;
                known = true;
            }
        }
        if (!known)
            return RFN_SEVERAL_RANKS;
    }
    return rank;
}

/* Of the call and pattern that a finding names. */
static void find_mean(struct rfn_finding *finding, const struct rfn_waits *waits)
{
    for (size_t i = 0; i < waits->n_rows && !finding->waits; i++) {
        const struct rfn_wait_row *row = &waits->rows[i];
        if (!row->count || !is_wait_of(row, finding->pattern, finding->waited))
            continue;
        finding->waits = row->count;
        finding->mean_wait_ns = row->total_ns /
                                (int64_t)(row->count < INT64_MAX ? row->count : INT64_MAX);
    }
}

/* What each rank spent in the finding's activities, where the analysis counted it, and their cost.
 * An activity may be the cause of several waits. */
static int find_spent(struct rfn_finding *finding, const struct rfn_waits *waits,
                      const struct causes *of)
{
    finding->spent = calloc((size_t)waits->n_ranks + 1, sizeof *finding->spent);
    if (!finding->spent)
        return RFN_E_NOMEM;
    for (size_t i = 0; i < of->n; i++) {
        uint32_t activity = of->causes[i]->activity;
        bool counted = false;
        if (!waits->spent || !waits->spent[activity])
            continue;
        finding->spent_cost_ns += of->causes[i]->total_ns;
        for (size_t k = 0; k < i && !counted; k++)
            counted = of->causes[k]->activity == activity;
        for (uint32_t rank = 0; rank < waits->n_ranks && !counted; rank++)
            finding->spent[rank] += waits->spent[activity][rank];
    }
    return 0;
}

static enum rfn_late_kind late_kind_of(const struct rfn_finding *finding,
                                       const struct rfn_measured *run)
{
    const double mean = (double)run->efficiency.mean_outside_ns;
    enum rfn_late_kind late = rfn_late_kind_of(finding->ranks, finding->n_ranks,
                                               run->waits->n_ranks);
    for (uint32_t i = 0; i < finding->n_late; i++) {
        const struct rfn_profile_rank *rank = &run->profile->ranks[finding->ranks[i].rank];
        if (rank->threads > 1 || (double)rank->main_outside_ns * RFN_BALANCED > mean)
            return late;
    }
    bool even = run->efficiency.load_balance >= RFN_BALANCED;
    return late == RFN_LATE_ALIKE || !even ? late : RFN_LATE_EVEN;
}

/* ---- all of it ---- */

static int by_time(const void *left, const void *right)
{
    const struct rfn_finding *a = left, *b = right;
    if (a->ns != b->ns)
        return a->ns > b->ns ? -1 : 1;
    return compare(a->activity, b->activity);
}

/* Causes come with most time first: the first of a piece of work names it. numbers: zeros, by piece
 * of work. */
static size_t group(struct rfn_finding *findings, const size_t *works, size_t *numbers,
                    const struct causes *chosen)
{
    size_t n = 0;
    for (size_t i = 0; i < chosen->n; i++) {
        const struct rfn_cause *cause = chosen->causes[i];
        size_t *number = &numbers[works[cause->activity]];
        if (!*number) {
            findings[n] = (struct rfn_finding){.activity = cause->activity};
            *number = ++n;
        }
        findings[*number - 1].ns += cause->total_ns;
        findings[*number - 1].direct_ns += cause->direct_ns;
    }
    qsort(findings, n, sizeof *findings, by_time);
    return n;
}

/* late: by rank, all false before and after. */
static int describe(struct rfn_finding *finding, const struct rfn_measured *run,
                    const struct rfn_same_paths *same, const struct causes *of, bool *late)
{
    RFN_TRY(find_sites(finding, of, same));
    RFN_TRY(find_ranks(finding, of, run->waits->n_ranks));
    for (uint32_t i = 0; i < finding->n_late; i++)
        late[finding->ranks[i].rank] = true;
    finding->waiting = find_waiting(late, of, run->waits);
    finding->usage = rfn_work_usage_of(run, &run->waits->activities[finding->activity], late);
    for (uint32_t i = 0; i < finding->n_late; i++)
        late[finding->ranks[i].rank] = false;
    finding->late = late_kind_of(finding, run);
    find_mean(finding, run->waits);
    return find_spent(finding, run->waits, of);
}

static bool is_beyond_program(const struct rfn_measured *run, const struct rfn_cause *cause)
{
    return !rfn_measured_counts(run, cause->pattern) ||
           rfn_activity_is_beyond_program(run, &run->waits->activities[cause->activity]);
}

int rfn_findings_init(struct rfn_findings *findings, const struct rfn_measured *run,
                      const struct rfn_cause_choice *choice, double least, size_t most)
{
    const struct rfn_waits *waits = run->waits;
    struct rfn_same_paths same;
    *findings = (struct rfn_findings){0};
    RFN_TRY(rfn_same_paths_init(&same, run->archive));
    size_t *works = number_works(run, &same);
    size_t *numbers = calloc(waits->n_activities + 2, sizeof *numbers);
    struct causes chosen = {.causes = calloc(waits->n_causes + 1, sizeof *chosen.causes)};
    struct causes of = {.causes = calloc(waits->n_causes + 1, sizeof *of.causes)};
    bool *late = calloc((size_t)waits->n_ranks + 1, sizeof *late);
    findings->findings = calloc(waits->n_causes + 1, sizeof *findings->findings);
    bool room = works && numbers && chosen.causes && of.causes && late && findings->findings;
    int error = room ? 0 : RFN_E_NOMEM;
    for (size_t i = 0; room && i < waits->n_causes; i++) {
        const struct rfn_cause *cause = &waits->causes[i];
        if (cause->activity < waits->n_activities && !is_beyond_program(run, cause) &&
            (!choice || choice->takes(choice->context, cause)))
            chosen.causes[chosen.n++] = cause;
    }
    size_t n = room ? group(findings->findings, works, numbers, &chosen) : 0;
    while (!error && findings->n < n && findings->n < most) {
        struct rfn_finding *finding = &findings->findings[findings->n];
        if (rfn_measured_share(run, (double)finding->ns) < least)
            break;
        of.n = 0;
        for (size_t i = 0; i < chosen.n; i++) {
            if (works[chosen.causes[i]->activity] == works[finding->activity])
                of.causes[of.n++] = chosen.causes[i];
        }
        findings->n++;
        error = describe(finding, run, &same, &of, late);
    }
    free(works), free(numbers), free(chosen.causes), free(of.causes), free(late);
    rfn_same_paths_release(&same);
    if (error)
        rfn_findings_release(findings);
    return error;
}

void rfn_findings_release(struct rfn_findings *findings)
{
    for (size_t i = 0; i < findings->n; i++)
        free(findings->findings[i].ranks), free(findings->findings[i].spent);
    free(findings->findings);
    *findings = (struct rfn_findings){0};
}

/* ---- in words ---- */

static int by_rank(const void *left, const void *right)
{
    return compare(*(const uint32_t *)left, *(const uint32_t *)right);
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
    rfn_text_ranks(text, numbers, n);
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

/* What others wait for meanwhile, several or one; the name of the pattern is the one in the tables.
 */
static const struct waiting {
    const char *several, *one; /* NULL: the same */
    bool root;                 /* it is the root that waits */
} waiting_in[RFN_PATTERN_COUNT] = {
    [RFN_LATE_SENDER] = {.several = "for messages (late sender)"},
    [RFN_LATE_RECEIVER] = {.several = "until their messages are received (late receiver)",
                           .one = "until its messages are received (late receiver)"},
    [RFN_WRONG_ORDER] = {.several = "for messages in wrong order"},
    [RFN_EARLY_REDUCE] = {.several = "for data (early reduce)", .root = true},
    [RFN_WAIT_AT_NX1] = {.several = "for the last rank's data (wait at N x 1)", .root = true},
    [RFN_LATE_BROADCAST] = {.several = "for the root's data (late broadcast)"},
    [RFN_WAIT_AT_NXN] = {.several = "for the last rank (wait at N x N)"},
    [RFN_NXN_COMPLETION] = {.several = "until all ranks have the data (N x N completion)"},
    [RFN_WAIT_AT_BARRIER] = {.several = "at the barrier"},
    [RFN_BARRIER_COMPLETION] = {.several = "until the barrier is over"},
    [RFN_EARLY_SCAN] = {.several = "for the ranks before them (early scan)",
                        .one = "for the ranks before it (early scan)"},
    [RFN_WAIT_AT_INIT] = {.several = "at the start (wait at init)"},
    [RFN_WAIT_AT_FINALIZE] = {.several = "at the end (wait at finalize)"},
    [RFN_WAIT_AT_FENCE] = {.several = "at the fence (wait at fence)"},
    [RFN_LATE_POST] = {.several = "until a window may be used (late post)"},
    [RFN_LATE_COMPLETE] = {.several = "until their window is not used any more (late complete)",
                           .one = "until its window is not used any more (late complete)"},
    [RFN_LOCK_CONTENTION] = {.several = "for the lock (lock contention)"}};

void rfn_finding_append_waiting(struct rfn_text *text, const struct rfn_measured *run,
                                const struct rfn_finding *finding)
{
    const struct rfn_activity *activity = &run->waits->activities[finding->activity];
    const struct waiting *words = &waiting_in[finding->pattern];
    bool alone = finding->waiting != RFN_SEVERAL_RANKS && !words->root;
    if (alone)
        rfn_text_format(text, "rank %u waits ", finding->waiting);
    else if (words->root)
        rfn_text_string(text, "the root waits ");
    else /* among all ranks there are no others */
        rfn_text_string(text,
                        finding->n_late < run->waits->n_ranks ? "others wait " : "they wait ");
    rfn_text_string(text, alone && words->one ? words->one : words->several);
    rfn_text_string(text, " in ");
    if (activity->kind == RFN_ACTIVITY_MPI && activity->at.function == finding->waited.function &&
        activity->at.path == finding->waited.path)
        rfn_text_string(text, "the same call");
    else
        rfn_call_site_place(text, run->archive, finding->waited);
    if (finding->sites > 1)
        rfn_text_format(text, " and %zu more place%s", finding->sites - 1,
                        finding->sites == 2 ? "" : "s");
}

void rfn_finding_append(struct rfn_text *text, const struct rfn_measured *run,
                        const struct rfn_finding *finding)
{
    const struct rfn_activity *activity = &run->waits->activities[finding->activity];
    rfn_late_ranks_append(text, finding->ranks, finding->n_ranks, run->waits->n_ranks);
    rfn_text_char(text, ' ');
    rfn_activity_append(text, run->archive, activity);
    size_t end = text->n;
    rfn_work_usage_append(text, &finding->usage, " which");
    rfn_text_format(text, "%s costs %s of all ranks' time (%s of %s): ", text->n > end ? "," : "",
                    rfn_share_text(rfn_measured_share(run, (double)finding->ns)).text,
                    rfn_time_text(finding->ns).text, rfn_time_text(run->efficiency.all_ns).text);
    rfn_finding_append_waiting(text, run, finding);
    rfn_text_char(text, '.');
}

void rfn_finding_advice(struct rfn_text *text, const struct rfn_measured *run,
                        const struct rfn_finding *finding)
{
    const struct rfn_activity *activity = &run->waits->activities[finding->activity];
    const struct rfn_function_info *function = rfn_call_site_function(run->archive, activity->at);
    const struct rfn_profile_rank *ranks = run->profile->ranks;
    bool missing = false;
    for (uint32_t i = 0; i < run->profile->n_ranks; i++)
        missing |= ranks[i].threads == 0;
    const struct rfn_advised doing = {.kind = activity->kind,
                                      .class_ = function->class_,
                                      .collective = function->flags & RFN_FUNCTION_COLLECTIVE,
                                      .polls = rfn_activity_polls(run->archive, activity),
                                      .idle = rfn_work_is_idle(&finding->usage),
                                      .serial = rfn_work_is_serial(run, finding)};
    const char *used = rfn_work_usage_advice(&finding->usage);
    if (finding->waits >= MANY && finding->mean_wait_ns < SHORT_NS)
        rfn_text_format(
            text,
            "These waits are short, %s on average, but many: communicate less often, with more "
            "data at a time, or start several messages before you wait for one.",
            rfn_time_text(finding->mean_wait_ns).text);
    else if (!used || doing.serial)
        rfn_text_format(text, "%s%s%s", rfn_advice(finding->pattern, doing, finding->late, missing),
                        used ? " " : "", used ? used : "");
    else
        rfn_text_string(text, used);
    if (rfn_work_is_idle(&finding->usage))
        rfn_text_string(text,
                        " Read and write in fewer and larger pieces, with several ranks at the "
                        "same time (MPI_File_read_all), or earlier. Remove calls that sleep.");
    if (activity->kind == RFN_ACTIVITY_COMPUTE && finding->n_ranks > 0 &&
        ranks[finding->ranks[0].rank].threads > 1)
        rfn_text_format(text, " Rank %u has several threads, and may wait for one of them there.",
                        finding->ranks[0].rank);
}
