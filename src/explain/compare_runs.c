/* compare_runs.c - two runs side by side.
 *
 * What is compared of both runs gets a key that is made of names. Sorted by keys, what belongs
 * together stands together, that of the first run first. */
#include "explain/compare_runs.h"

#include "explain/activity_text.h"
#include "explain/call_path.h"
#include "explain/name_chain.h"
#include "refrain/event.h"

#include <stdlib.h>

/* What is no trifle in one run is looked for in the other one if it costs at least so much there:
 * else what just is none would seem to be gone. */
#define IN_OTHER_RUN (RFN_TRIFLE / 2)

bool rfn_about_as_long(double before, double after)
{
    double longer = before > after ? before : after, shorter = before > after ? after : before;
    return longer <= shorter * (1 + RFN_TRIFLE);
}

static double size_of(double value)
{
    return value < 0 ? -value : value;
}

/* ---- one run ---- */

static void sum_ranks(struct rfn_compared_run *run, const struct rfn_profile *profile)
{
    for (uint32_t i = 0; i < profile->n_ranks; i++) {
        const struct rfn_profile_rank *rank = &profile->ranks[i];
        run->present += rank->threads > 0;
        run->calls += rank->calls;
        run->messages += rank->messages;
        run->sent_bytes += rank->sent_bytes;
        run->collective_bytes += rank->collective_bytes;
    }
}

/* Of the whole run: waiting in Init and Finalize is theirs. */
static void sum_times(struct rfn_compared_run *run, const struct rfn_profile *profile,
                      const struct rfn_waits *waits)
{
    const double ends = (double)waits->pattern_ns[RFN_WAIT_AT_INIT] +
                        (double)waits->pattern_ns[RFN_WAIT_AT_FINALIZE];
    double *spent = run->spent_ns;
    run->run_ns = profile->end_ns - profile->start_ns;
    spent[RFN_SPENT_WAITING] = (double)waits->total_ns - ends;
    spent[RFN_SPENT_IN_MPI] = -spent[RFN_SPENT_WAITING];
    for (uint32_t i = 0; i < profile->n_ranks; i++) {
        const struct rfn_profile_rank *rank = &profile->ranks[i];
        double all = (double)run->run_ns * rank->threads - (double)rank->unrecorded_ns;
        double computing = (double)rfn_profile_outside_ns(rank);
        spent[RFN_SPENT_COMPUTING] += computing;
        spent[RFN_SPENT_IN_MPI] += (double)(rank->mpi_ns - rank->setup_ns);
        spent[RFN_SPENT_IN_SETUP] += (double)rank->setup_ns;
        spent[RFN_SPENT_OUTSIDE] += all - computing - (double)rank->mpi_ns;
    }
    for (int i = 0; i < RFN_SPENDINGS; i++)
        spent[i] = spent[i] > 0 ? rfn_of_a_rank(run, spent[i]) : 0;
}

int rfn_compared_run_init(struct rfn_compared_run *run, const struct rfn_measured *measured,
                          double least, size_t findings)
{
    const struct rfn_profile *profile = measured->profile;
    *run = (struct rfn_compared_run){.measured = *measured, .ranks = profile->n_ranks};
    run->times = measured->waits->times && measured->efficiency.all_ns > 0;
    sum_ranks(run, profile);
    if (!run->times)
        return 0;
    sum_times(run, profile, measured->waits);
    return rfn_findings_init(&run->findings, measured, NULL, least, findings);
}

/* ---- what has one name ---- */

struct named {
    struct rfn_text key;
    unsigned run;
    size_t number; /* of the row, region or finding of that run */
};

struct names {
    struct named *all;
    size_t n;
};

static int compare_keys(const struct named *a, const struct named *b)
{
    size_t n = a->key.n < b->key.n ? a->key.n : b->key.n;
    int order = n ? memcmp(a->key.data, b->key.data, n) : 0;
    return order ? order : a->key.n < b->key.n ? -1 : a->key.n > b->key.n;
}

static int by_key(const void *left, const void *right)
{
    const struct named *a = left, *b = right;
    int order = compare_keys(a, b);
    order = order ? order : (int)a->run - (int)b->run;
    return order ? order : a->number < b->number ? -1 : a->number > b->number;
}

/* Sorts; false if memory ran out for a key. */
static bool sort_names(struct names *names)
{
    for (size_t i = 0; i < names->n; i++) {
        if (names->all[i].key.failed)
            return false;
    }
    if (names->n)
        qsort(names->all, names->n, sizeof *names->all, by_key);
    return true;
}

static bool begins_name(const struct names *names, size_t i)
{
    return i == 0 || compare_keys(&names->all[i - 1], &names->all[i]) != 0;
}

static void release_names(struct names *names)
{
    for (size_t i = 0; names->all && i < names->n; i++)
        rfn_text_release(&names->all[i].key);
    free(names->all);
}

static bool have_times(const struct rfn_compared_runs *compared)
{
    return compared->runs[0].times && compared->runs[1].times;
}

/* How much longer the second run takes for something, of a rank on average. */
static double change_ns(const struct rfn_compared_runs *compared, double before, double after)
{
    const struct rfn_compared_run *runs = compared->runs;
    return have_times(compared) ? rfn_of_a_rank(&runs[1], after) - rfn_of_a_rank(&runs[0], before)
                                : 0;
}

/* ---- call paths ---- */

static void name_calls(struct names *names, const struct rfn_compared_run *run, unsigned number)
{
    for (size_t i = 0; i < run->measured.profile->n_rows; i++) {
        const struct rfn_profile_row *row = &run->measured.profile->rows[i];
        const struct rfn_call_site site = {row->function, row->path};
        struct named *named = &names->all[names->n++];
        *named = (struct named){.run = number, .number = i};
        rfn_name_chain_append(&named->key, run->measured.archive, site);
    }
}

/* Rows come with most time first: the first one of a name gives its site. */
static void add_call(struct rfn_call_sum *sum, const struct rfn_compared_run *run, size_t number)
{
    const struct rfn_profile_row *row = &run->measured.profile->rows[number];
    if (!sum->ranks)
        sum->site = (struct rfn_call_site){row->function, row->path};
    sum->ranks = row->time.ranks > sum->ranks ? row->time.ranks : sum->ranks;
    sum->calls += row->calls;
    sum->bytes += row->bytes;
    if (run->times) {
        sum->ns += row->time.total_ns;
        sum->wait_ns += row->waiting_ns;
    }
}

static uint64_t distance(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

/* Where times say nothing, bytes and calls do. */
static int by_call_change(const void *left, const void *right)
{
    const struct rfn_call_change *a = left, *b = right;
    const struct rfn_call_sum *a0 = &a->of[0], *a1 = &a->of[1], *b0 = &b->of[0], *b1 = &b->of[1];
    if (size_of(a->by_ns) != size_of(b->by_ns))
        return size_of(a->by_ns) > size_of(b->by_ns) ? -1 : 1;
    uint64_t first = distance(a0->bytes, a1->bytes), second = distance(b0->bytes, b1->bytes);
    if (first == second) {
        first = distance(a0->calls, a1->calls);
        second = distance(b0->calls, b1->calls);
    }
    return first > second ? -1 : first < second;
}

static int compare_calls(struct rfn_compared_runs *compared)
{
    const struct rfn_compared_run *runs = compared->runs;
    size_t most = runs[0].measured.profile->n_rows + runs[1].measured.profile->n_rows;
    struct names names = {.all = calloc(most + 1, sizeof *names.all)};
    compared->calls = calloc(most + 1, sizeof *compared->calls);
    bool room = names.all && compared->calls;
    for (unsigned i = 0; room && i < 2; i++)
        name_calls(&names, &runs[i], i);
    room = room && sort_names(&names);
    for (size_t i = 0; room && i < names.n; i++) {
        const struct named *named = &names.all[i];
        compared->n_calls += begins_name(&names, i);
        add_call(&compared->calls[compared->n_calls - 1].of[named->run], &runs[named->run],
                 named->number);
    }
    release_names(&names);
    compared->nothing_common = compared->n_calls > 0;
    for (size_t i = 0; i < compared->n_calls; i++) {
        struct rfn_call_change *call = &compared->calls[i];
        call->by_ns = change_ns(compared, (double)call->of[0].ns, (double)call->of[1].ns);
        if (call->of[0].ranks && call->of[1].ranks)
            compared->nothing_common = false;
    }
    if (compared->n_calls)
        qsort(compared->calls, compared->n_calls, sizeof *compared->calls, by_call_change);
    return room ? 0 : RFN_E_NOMEM;
}

/* ---- regions ---- */

static int by_region_change(const void *left, const void *right)
{
    double a = size_of(((const struct rfn_region_change *)left)->by_ns);
    double b = size_of(((const struct rfn_region_change *)right)->by_ns);
    return a > b ? -1 : a < b;
}

static int compare_regions(struct rfn_compared_runs *compared)
{
    const struct rfn_compared_run *runs = compared->runs;
    size_t most = runs[0].measured.profile->n_regions + runs[1].measured.profile->n_regions;
    struct names names = {.all = calloc(most + 1, sizeof *names.all)};
    compared->regions = calloc(most + 1, sizeof *compared->regions);
    bool room = names.all && compared->regions;
    for (unsigned i = 0; room && i < 2; i++) {
        for (size_t k = 0; k < runs[i].measured.profile->n_regions; k++) {
            struct named *named = &names.all[names.n++];
            *named = (struct named){.run = i, .number = k};
            rfn_name_append(&named->key, runs[i].measured.profile->regions[k].name);
        }
    }
    room = room && sort_names(&names);
    for (size_t i = 0; room && i < names.n; i++) {
        const struct named *named = &names.all[i];
        compared->n_regions += begins_name(&names, i);
        struct rfn_region_change *change = &compared->regions[compared->n_regions - 1];
        const struct rfn_region_row *row =
            &runs[named->run].measured.profile->regions[named->number];
        double ns = (double)row->time.total_ns;
        change->of[named->run] = change->of[named->run] ? change->of[named->run] : row;
        change->by_ns += change_ns(compared, named->run ? 0 : ns, named->run ? ns : 0);
    }
    release_names(&names);
    if (compared->n_regions)
        qsort(compared->regions, compared->n_regions, sizeof *compared->regions, by_region_change);
    return room ? 0 : RFN_E_NOMEM;
}

/* ---- findings ---- */

/* What is done in which function and region, in or before which call. In what others wait for it
 * does not matter: it is one piece of work. */
void rfn_finding_key(struct rfn_text *key, const struct rfn_measured *run,
                     const struct rfn_finding *finding)
{
    const struct rfn_activity *activity = &run->waits->activities[finding->activity];
    const char *function = rfn_activity_work(run->archive, activity);
    function = function ? function : rfn_activity_function(run->archive, activity);
    rfn_text_string(key, rfn_activity_kind_name(activity->kind));
    rfn_text_char(key, '\n');
    if (activity->region < rfn_archive_regions(run->archive))
        rfn_name_append(key, rfn_archive_region(run->archive, activity->region));
    rfn_text_char(key, '\n');
    rfn_name_append(key, function ? function : "");
    rfn_text_char(key, '\n');
    if (activity->kind != RFN_ACTIVITY_START)
        rfn_name_chain_append(key, run->archive, activity->at);
}

/* Findings come with most time first: the first one of a name stands for all. */
static void add_finding(struct rfn_finding_change *change, unsigned run,
                        const struct rfn_finding *finding)
{
    change->of[run] = change->n[run]++ ? change->of[run] : finding;
    change->ns[run] += finding->ns;
}

static bool is_other_rank(const struct rfn_compared_run runs[2], const struct rfn_finding *before,
                          const struct rfn_finding *after)
{
    return runs[0].ranks == runs[1].ranks && before->late == RFN_LATE_ONE &&
           after->late == RFN_LATE_ONE && before->n_ranks && after->n_ranks &&
           before->ranks[0].rank != after->ranks[0].rank;
}

static void weigh(struct rfn_finding_change *change, const struct rfn_compared_runs *compared)
{
    const struct rfn_compared_run *runs = compared->runs;
    change->by_ns = change_ns(compared, (double)change->ns[0], (double)change->ns[1]);
    if (!change->of[0])
        change->change = RFN_CHANGE_CAME;
    else if (!change->of[1])
        change->change = RFN_CHANGE_GONE;
    else if (size_of(change->by_ns) >= RFN_TRIFLE * (double)runs[0].run_ns)
        change->change = change->by_ns > 0 ? RFN_CHANGE_MORE : RFN_CHANGE_LESS;
    else if (is_other_rank(runs, change->of[0], change->of[1]))
        change->change = RFN_CHANGE_RANK;
}

/* Those that are a trifle in both runs are left out. */
static void weigh_all(struct rfn_compared_runs *compared)
{
    size_t kept = 0;
    for (size_t i = 0; i < compared->n_findings; i++) {
        struct rfn_finding_change *change = &compared->findings[i];
        bool trifle = true;
        for (unsigned k = 0; k < 2; k++)
            trifle &= rfn_measured_share(&compared->runs[k].measured, (double)change->ns[k]) <
                      RFN_TRIFLE;
        if (trifle)
            continue;
        weigh(change, compared);
        compared->findings[kept++] = *change;
    }
    compared->n_findings = kept;
}

static int by_finding_change(const void *left, const void *right)
{
    const struct rfn_finding_change *a = left, *b = right;
    if (size_of(a->by_ns) != size_of(b->by_ns))
        return size_of(a->by_ns) > size_of(b->by_ns) ? -1 : 1;
    return (a->change == RFN_CHANGE_NONE) - (b->change == RFN_CHANGE_NONE);
}

static int compare_findings(struct rfn_compared_runs *compared)
{
    const struct rfn_compared_run *runs = compared->runs;
    size_t most = runs[0].findings.n + runs[1].findings.n;
    struct names names = {.all = calloc(most + 1, sizeof *names.all)};
    compared->findings = calloc(most + 1, sizeof *compared->findings);
    bool room = names.all && compared->findings;
    for (unsigned i = 0; room && i < 2; i++) {
        for (size_t k = 0; k < runs[i].findings.n; k++) {
            struct named *named = &names.all[names.n++];
            *named = (struct named){.run = i, .number = k};
            rfn_finding_key(&named->key, &runs[i].measured, &runs[i].findings.findings[k]);
        }
    }
    room = room && sort_names(&names);
    for (size_t i = 0; room && i < names.n; i++) {
        const struct named *named = &names.all[i];
        compared->n_findings += begins_name(&names, i);
        add_finding(&compared->findings[compared->n_findings - 1], named->run,
                    &runs[named->run].findings.findings[named->number]);
    }
    release_names(&names);
    weigh_all(compared);
    if (compared->n_findings)
        qsort(compared->findings, compared->n_findings, sizeof *compared->findings,
              by_finding_change);
    return room ? 0 : RFN_E_NOMEM;
}

/* ---- both runs ---- */

const char *rfn_compared_program(const struct rfn_compared_run *run)
{
    const char *program = rfn_archive_run(run->measured.archive)->program;
    const char *slash = program ? strrchr(program, '/') : NULL;
    return slash ? slash + 1 : program ? program : "";
}

static bool sums_differ(const struct rfn_compared_run *a, const struct rfn_compared_run *b)
{
    bool differ = a->ranks != b->ranks || a->present != b->present || a->times != b->times ||
                  a->run_ns != b->run_ns || a->calls != b->calls || a->messages != b->messages ||
                  a->sent_bytes != b->sent_bytes || a->collective_bytes != b->collective_bytes;
    for (int i = 0; i < RFN_SPENDINGS; i++)
        differ |= size_of(a->spent_ns[i] - b->spent_ns[i]) > 0;
    return differ;
}

static bool calls_differ(const struct rfn_call_sum *a, const struct rfn_call_sum *b)
{
    return a->ranks != b->ranks || a->calls != b->calls || a->bytes != b->bytes || a->ns != b->ns ||
           a->wait_ns != b->wait_ns;
}

static bool regions_differ(const struct rfn_region_row *a, const struct rfn_region_row *b)
{
    return !a || !b || a->visits != b->visits || a->time.total_ns != b->time.total_ns;
}

static bool any_differ(const struct rfn_compared_runs *compared)
{
    bool differ = sums_differ(&compared->runs[0], &compared->runs[1]);
    for (size_t i = 0; i < compared->n_calls && !differ; i++)
        differ = calls_differ(&compared->calls[i].of[0], &compared->calls[i].of[1]);
    for (size_t i = 0; i < compared->n_regions && !differ; i++)
        differ = regions_differ(compared->regions[i].of[0], compared->regions[i].of[1]);
    for (size_t i = 0; i < compared->n_findings && !differ; i++)
        differ = compared->findings[i].change != RFN_CHANGE_NONE;
    return differ;
}

int rfn_compared_runs_init(struct rfn_compared_runs *compared, const struct rfn_measured runs[2])
{
    *compared = (struct rfn_compared_runs){0};
    for (int i = 0; i < 2; i++)
        RFN_TRY(rfn_compared_run_init(&compared->runs[i], &runs[i], IN_OTHER_RUN, SIZE_MAX));
    RFN_TRY(compare_calls(compared));
    RFN_TRY(compare_regions(compared));
    if (have_times(compared))
        RFN_TRY(compare_findings(compared));
    compared->other_programs = strcmp(rfn_compared_program(&compared->runs[0]),
                                      rfn_compared_program(&compared->runs[1])) != 0;
    compared->differ = any_differ(compared);
    return 0;
}

void rfn_compared_runs_release(struct rfn_compared_runs *compared)
{
    for (int i = 0; i < 2; i++)
        rfn_findings_release(&compared->runs[i].findings);
    free(compared->calls);
    free(compared->regions);
    free(compared->findings);
    *compared = (struct rfn_compared_runs){0};
}

const char *rfn_change_name(enum rfn_change change)
{
    static const char *const names[] = {"same", "more", "less", "rank", "gone", "came"};
    return (size_t)change < sizeof names / sizeof *names ? names[change] : "?";
}

/* ---- in a sentence ---- */

/* "B", and with other numbers of ranks "B (8 ranks)". */
static void append_name(struct rfn_text *text, const struct rfn_compared_runs *compared,
                        unsigned number)
{
    const struct rfn_compared_run *run = &compared->runs[number];
    rfn_text_char(text, number ? 'B' : 'A');
    if (compared->runs[0].ranks != compared->runs[1].ranks)
        rfn_text_format(text, " (%u rank%s)", run->ranks, run->ranks == 1 ? "" : "s");
}

/* "exchange (halo.c:58)" */
static void append_place(struct rfn_text *text, const struct rfn_archive *archive,
                         struct rfn_call_site site)
{
    struct rfn_location at;
    bool known = rfn_call_site_location(archive, site, &at);
    if (!known || !at.function) {
        rfn_call_site_place(text, archive, site);
        return;
    }
    rfn_call_path_function(text, &at);
    rfn_text_string(text, " (");
    rfn_call_path_place(text, &at);
    rfn_text_char(text, ')');
}

/* How much longer calls wait, or are in MPI without waiting, setup apart. */
static double call_change(const struct rfn_compared_runs *compared,
                          const struct rfn_call_change *call, enum rfn_spending spending)
{
    double ns[2] = {0};
    for (unsigned i = 0; i < 2; i++) {
        const struct rfn_call_sum *sum = &call->of[i];
        const struct rfn_archive *archive = compared->runs[i].measured.archive;
        if (!sum->ranks || rfn_call_site_function(archive, sum->site)->class_ == RFN_CLASS_SETUP)
            continue;
        bool waiting = spending == RFN_SPENT_WAITING;
        ns[i] = (double)(waiting ? sum->wait_ns : sum->ns - sum->wait_ns);
    }
    return change_ns(compared, ns[0], ns[1]);
}

/* " in exchange (halo.c:58)", where one call path makes most of it. */
static void append_calls(struct rfn_text *text, const struct rfn_compared_runs *compared,
                         enum rfn_spending spending, double by)
{
    const struct rfn_call_change *most = NULL;
    double largest = 0;
    for (size_t i = 0; i < compared->n_calls; i++) {
        double change = call_change(compared, &compared->calls[i], spending) * (by < 0 ? -1 : 1);
        if (change > largest) {
            largest = change;
            most = &compared->calls[i];
        }
    }
    if (!most || largest < 0.5 * size_of(by))
        return;
    unsigned run = most->of[1].ranks > 0;
    rfn_text_string(text, " in ");
    append_place(text, compared->runs[run].measured.archive, most->of[run].site);
}

/* "; most of it by less waiting in exchange (halo.c:58)": what changed most towards the change of
 * the whole. */
static void append_reason(struct rfn_text *text, const struct rfn_compared_runs *compared)
{
    static const char *const words[RFN_SPENDINGS][2] = {
        {"less computing", "more computing"},
        {"less waiting", "more waiting"},
        {"less time in MPI without waiting", "more time in MPI without waiting"},
        {"less time in Init and Finalize", "more time in Init and Finalize"},
        {"less time before Init and after Finalize", "more time before Init and after Finalize"}};
    const struct rfn_compared_run *a = &compared->runs[0], *b = &compared->runs[1];
    bool slower = b->run_ns > a->run_ns;
    double largest = 0, sum = 0;
    int which = 0;
    for (int i = 0; i < RFN_SPENDINGS; i++) {
        double by = (b->spent_ns[i] - a->spent_ns[i]) * (slower ? 1 : -1);
        sum += by;
        if (by > largest) {
            largest = by;
            which = i;
        }
    }
    if (largest <= 0 || sum <= 0)
        return;
    bool per_rank = a->present != b->present && which == RFN_SPENT_COMPUTING;
    rfn_text_format(text, "; %s by %s%s",
                    largest >= 0.5 * sum ? "most of it" : "the largest part of it",
                    words[which][slower], per_rank ? " of each rank" : "");
    if (which == RFN_SPENT_WAITING || which == RFN_SPENT_IN_MPI)
        append_calls(text, compared, (enum rfn_spending)which, slower ? largest : -largest);
}

static void append_without_times(struct rfn_text *text, const struct rfn_compared_runs *compared)
{
    bool first = compared->runs[0].times, second = compared->runs[1].times;
    rfn_text_format(text,
                    "How long A and B took cannot be compared, as %s no times: only calls, "
                    "messages and bytes.",
                    !first && !second ? "both have"
                    : first           ? "B has"
                                      : "A has");
}

void rfn_compared_runs_append(struct rfn_text *text, const struct rfn_compared_runs *compared)
{
    double a = (double)compared->runs[0].run_ns, b = (double)compared->runs[1].run_ns;
    if (!compared->differ) {
        rfn_text_string(text, "Nothing differs between A and B");
        if (compared->runs[0].times)
            rfn_text_format(text, ": both took %s", rfn_time_text(compared->runs[0].run_ns).text);
        rfn_text_char(text, '.');
        return;
    }
    if (!have_times(compared)) {
        append_without_times(text, compared);
        return;
    }
    bool faster = a >= b, alike = rfn_about_as_long(a, b);
    append_name(text, compared, 1);
    if (alike)
        rfn_text_string(text, " takes as long as ");
    else
        rfn_text_format(text,
                        faster ? " is %.2f times as fast as " : " takes %.2f times as long as ",
                        faster ? a / b : b / a);
    append_name(text, compared, 0);
    rfn_text_format(text, ": %s -> %s", rfn_time_text(compared->runs[0].run_ns).text,
                    rfn_time_text(compared->runs[1].run_ns).text);
    if (!alike)
        append_reason(text, compared);
    rfn_text_char(text, '.');
}
