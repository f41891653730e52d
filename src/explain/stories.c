/* stories.c - what findings mean together (doc/analysis.md, Stories).
 *
 * Findings are taken costliest first. Each is looked at by one test after the other; the first that
 * holds says what kind of story it begins, and which of the other findings belong to it. What is
 * lost without waiting (many small messages, large ones that move late) comes from the profile.
 */
#include "refrain/event.h"
#include "refrain/explain.h"

#include <stdlib.h>
#include <string.h>

/* Findings that are looked at. */
enum { FINDINGS = 32 };
/* Ranks compute slower in everything: by so much, in this many pieces of work at least; the factors
 * of two of them are no further apart, and time outside of MPI as a whole agrees. */
#define SLOWER          1.1
#define FACTORS_APART   1.3
#define SLOW_ALTOGETHER 0.7
enum { PIECES_OF_WORK = 2 };
/* Of a finding that costs less than that of the costliest its factor does not matter. */
#define MATTERS 0.1
/* Ranks are at a part one by one, or in a pipeline, if so many are at a time: see at_once. */
#define ONE_AT_A_TIME    1.5
#define PIPELINE_AT_MOST 0.75 /* of all ranks */
enum { QUEUE = 3 /* ranks, at least */ };
/* Waits that were passed on, of all that a finding costs: a chain. */
#define PASSED_ON 0.5
/* Messages are small and many: bytes on average, messages per rank, share of all ranks' time. */
#define SMALL_BYTES 4096.0
#define MANY_EACH   1000.0
#define COSTS_MUCH  0.05

struct telling {
    const struct rfn_measured *run;
    const struct rfn_findings *findings;
    struct rfn_stories *stories;
    const char **hosts;              /* by rank; NULL where not known */
    size_t told;                     /* how many findings */
    bool *taken;                     /* by finding */
    uint32_t present;                /* ranks that are in the archive */
    struct rfn_text words[FINDINGS]; /* by finding: what the late ranks do */
    /* By rank, for tell_slow_ranks: the ranks it is about, and the ranks of another finding; time
     * outside of MPI; time of the other ranks. */
    bool *slow, *own;
    int64_t *outside, *others;
};

const char *rfn_story_kind_name(enum rfn_story_kind kind)
{
    static const char *const names[] = {"cause",  "slow_ranks",     "one_by_one",
                                        "master", "pipeline",       "send_chain",
                                        "noise",  "small_messages", "no_overlap"};
    return (size_t)kind < sizeof names / sizeof *names ? names[kind] : "?";
}

const struct rfn_finding *rfn_story_finding(const struct rfn_stories *stories,
                                            const struct rfn_story *story)
{
    return story->findings ? &stories->findings.findings[stories->order[story->first]] : NULL;
}

/* ---- what a story is made of ---- */

static void take(struct telling *telling, struct rfn_story *story, size_t finding)
{
    struct rfn_stories *stories = telling->stories;
    stories->order[story->first + story->findings++] = finding;
    story->ns += telling->findings->findings[finding].ns;
    telling->taken[finding] = true;
}

static const struct rfn_activity *activity_of(const struct telling *telling,
                                              const struct rfn_finding *finding)
{
    return &telling->run->waits->activities[finding->activity];
}

static bool is_waited_in(const struct rfn_finding *finding, struct rfn_call_site site)
{
    return finding->waited.function == site.function && finding->waited.path == site.path;
}

static bool same_place(const struct rfn_finding *a, const struct rfn_finding *b)
{
    return a->pattern == b->pattern && is_waited_in(a, b->waited);
}

/* Whether two findings are about computing that reads the same. */
static bool same_code(const struct telling *telling, size_t a, size_t b)
{
    const struct rfn_text *one = &telling->words[a], *other = &telling->words[b];
    return activity_of(telling, &telling->findings->findings[a])->kind == RFN_ACTIVITY_COMPUTE &&
           one->n == other->n && memcmp(one->data, other->data, one->n) == 0;
}

/* ---- slower in everything ---- */

static int by_size(const void *left, const void *right)
{
    const int64_t *a = left, *b = right;
    return *a < *b ? -1 : *a > *b;
}

/* How many times as long as the others the slow ranks take, by what each rank takes: the mean of
 * theirs, and the least, over the median of the others'. 0: most of the others do nothing of the
 * kind. */
struct factor {
    double mean, least;
};

static struct factor factor_of(const struct telling *telling, const bool *slow,
                               const int64_t *ns_by_rank)
{
    int64_t *others = telling->others, least = INT64_MAX;
    double sum = 0;
    uint32_t n_slow = 0, n_others = 0;
    for (uint32_t i = 0; i < telling->run->waits->n_ranks; i++) {
        if (slow[i]) {
            sum += (double)ns_by_rank[i], n_slow++;
            least = ns_by_rank[i] < least ? ns_by_rank[i] : least;
        } else if (telling->run->profile->ranks[i].threads) {
            others[n_others++] = ns_by_rank[i];
        }
    }
    if (!n_slow || !n_others)
        return (struct factor){0};
    qsort(others, n_others, sizeof *others, by_size);
    double median = (double)others[n_others / 2];
    return median > 0 ? (struct factor){sum / n_slow / median, (double)least / median}
                      : (struct factor){0};
}

/* Marks the ranks of a host; how many there are. */
static uint32_t ranks_of(const struct telling *telling, const char *host, bool *ranks)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < telling->run->waits->n_ranks; i++) {
        ranks[i] = telling->hosts[i] && strcmp(telling->hosts[i], host) == 0;
        n += ranks[i];
    }
    return n;
}

/* Whether the late ranks are all of one of several hosts; marks them. Of ranks that are slow alike
 * the same one may be the last one every time, and late alone: then each of them must be slow. */
static bool is_host(const struct telling *telling, const struct rfn_finding *finding,
                    const char *host, bool *slow)
{
    uint32_t n = telling->run->waits->n_ranks, of_host = ranks_of(telling, host, slow),
             late = finding->n_late;
    if (of_host < 2 || of_host == n || (late > 1 && late != of_host))
        return false;
    if (late == 1) {
        const struct factor factor = factor_of(telling, slow, finding->spent);
        return factor.least >= SLOWER && factor.mean <= FACTORS_APART * factor.least;
    }
    for (uint32_t i = 0; i < late; i++) {
        if (!slow[finding->ranks[i].rank])
            return false;
    }
    return true;
}

/* The ranks that a finding says are late: all of one of several hosts, or one. */
static bool slow_ranks(const struct telling *telling, const struct rfn_finding *finding, bool *slow,
                       const char **host)
{
    uint32_t n = telling->run->waits->n_ranks, late = finding->n_late;
    *host = late ? telling->hosts[finding->ranks[0].rank] : NULL;
    if (*host && is_host(telling, finding, *host, slow))
        return true;
    *host = NULL;
    memset(slow, 0, n * sizeof *slow);
    if (late == 1)
        slow[finding->ranks[0].rank] = true;
    return late == 1 && n > 2;
}

static bool same_ranks(const struct telling *telling, const struct rfn_finding *finding)
{
    const char *host;
    return slow_ranks(telling, finding, telling->own, &host) &&
           memcmp(telling->slow, telling->own,
                  telling->run->waits->n_ranks * sizeof *telling->own) == 0;
}

/* How many times as long as the others the slow ranks take in the work of a finding; 0: it is no
 * computing, or of others. */
static double slower_in(const struct telling *telling, const struct rfn_finding *finding)
{
    if (activity_of(telling, finding)->kind != RFN_ACTIVITY_COMPUTE ||
        !same_ranks(telling, finding))
        return 0;
    return factor_of(telling, telling->slow, finding->spent).mean;
}

/* Findings of the same ranks, computing. */
static bool tell_slow_ranks(struct telling *telling, struct rfn_story *story, size_t first)
{
    const struct rfn_findings *findings = telling->findings;
    const struct rfn_finding *of = &findings->findings[first];
    const struct rfn_profile *profile = telling->run->profile;
    uint32_t n = telling->run->waits->n_ranks;
    size_t joined[FINDINGS], n_joined = 0;
    double least = 0, most = 0, pieces = 0, sum = 0;
    const char *host;
    if (!slow_ranks(telling, of, telling->slow, &host) || slower_in(telling, of) < SLOWER)
        return false;
    for (size_t i = 0; i < findings->n; i++) {
        const struct rfn_finding *finding = &findings->findings[i];
        double factor = slower_in(telling, finding);
        if (factor < SLOWER)
            continue;
        if (!telling->taken[i])
            joined[n_joined++] = i;
        if ((double)finding->ns < MATTERS * (double)of->ns)
            continue;
        pieces++;
        sum += factor;
        least = pieces == 1 || factor < least ? factor : least;
        most = factor > most ? factor : most;
    }
    for (uint32_t i = 0; i < n && i < profile->n_ranks; i++)
        telling->outside[i] = profile->ranks[i].main_outside_ns;
    if (!n_joined || joined[0] != first || pieces < PIECES_OF_WORK ||
        most > FACTORS_APART * least ||
        factor_of(telling, telling->slow, telling->outside).mean - 1 <
            SLOW_ALTOGETHER * (sum / pieces - 1))
        return false;
    *story = (struct rfn_story){
        .kind = RFN_STORY_SLOW_RANKS, .first = story->first, .factor = sum / pieces, .host = host};
    for (size_t i = 0; i < n_joined; i++)
        take(telling, story, joined[i]);
    return true;
}

/* ---- a master and its workers ---- */

/* Whether the rank exchanges messages with each of at least three others in both directions, more
 * than once, and these with nobody else. */
static bool is_hub(const struct rfn_profile *profile, uint32_t hub)
{
    uint32_t to = 0, from = 0;
    for (size_t i = 0; i < profile->n_pairs; i++) {
        const struct rfn_pair *pair = &profile->pairs[i];
        if (pair->source != hub && pair->dest != hub)
            return false;
        to += pair->source == hub && pair->messages > 1;
        from += pair->dest == hub && pair->messages > 1;
    }
    return to >= QUEUE && from >= QUEUE;
}

static bool tell_master(struct telling *telling, struct rfn_story *story, size_t first)
{
    const struct rfn_findings *findings = telling->findings;
    const struct rfn_finding *of = &findings->findings[first];
    uint32_t master = of->n_ranks ? of->ranks[0].rank : 0;
    if (of->n_late != 1 || (of->pattern != RFN_LATE_SENDER && of->pattern != RFN_WRONG_ORDER) ||
        !telling->run->waits->takes_any || !telling->run->waits->takes_any[master] ||
        !is_hub(telling->run->profile, master))
        return false;
    story->kind = RFN_STORY_MASTER;
    for (size_t i = first; i < findings->n; i++) {
        const struct rfn_finding *finding = &findings->findings[i];
        if (!telling->taken[i] && finding->n_late == 1 && finding->ranks[0].rank == master &&
            (finding->pattern == RFN_LATE_SENDER || finding->pattern == RFN_WRONG_ORDER))
            take(telling, story, i);
    }
    return true;
}

/* ---- one after the other ---- */

/* How many ranks are at a work at the same time, on average, while it is done or waited for: of n
 * ranks, S in the work and W waiting for it, S n / (S + W). One by one: 1. */
static double at_once(const struct telling *telling, double spent, double waited)
{
    return telling->present * (spent > 0 ? spent / (spent + waited) : 1);
}

/* What happens right after the call that waited is of the same part, where it ends in another call:
 * its last rank does it. So is the same code where the first rank begins, which waits for nobody,
 * and behind another call that waited. */
static bool follows_place(const struct telling *telling, size_t number, size_t first)
{
    const struct rfn_finding *finding = &telling->findings->findings[number],
                             *place = &telling->findings->findings[first];
    const struct rfn_activity *activity = activity_of(telling, finding);
    bool right_after = activity->kind == RFN_ACTIVITY_COMPUTE &&
                       is_waited_in(place, activity->before);
    return right_after || same_code(telling, number, first);
}

/* The same of all findings of a place, and of what its last ranks do behind it; ranks: how many are
 * late in one of them, at most. */
static double at_once_there(const struct telling *telling, size_t first, uint32_t *ranks)
{
    const struct rfn_findings *findings = telling->findings;
    const struct rfn_finding *place = &findings->findings[first];
    uint32_t n = telling->run->waits->n_ranks;
    double spent = 0, waited = 0;
    *ranks = 0;
    for (size_t i = first; i < findings->n; i++) {
        const struct rfn_finding *finding = &findings->findings[i];
        uint32_t late = finding->n_late;
        bool there = same_place(finding, place);
        if (telling->taken[i] || (!there && !follows_place(telling, i, first)))
            continue;
        *ranks = late > *ranks ? late : *ranks;
        waited += (double)finding->spent_cost_ns;
        for (uint32_t k = 0; k < (there ? n : late); k++)
            spent += (double)finding->spent[there ? k : finding->ranks[k].rank];
    }
    return at_once(telling, spent, waited);
}

/* What all ranks do alike before they wait there makes nobody wait: the first one, which does not
 * make that call, has it in one piece with its part. */
static bool comes_before(const struct telling *telling, const struct rfn_finding *finding,
                         const struct rfn_finding *place)
{
    const struct rfn_activity *activity = activity_of(telling, finding);
    return activity->kind == RFN_ACTIVITY_COMPUTE && finding->late == RFN_LATE_EVEN &&
           is_waited_in(place, activity->at);
}

static void take_place(struct telling *telling, struct rfn_story *story, size_t first)
{
    const struct rfn_finding *place = &telling->findings->findings[first];
    for (size_t i = first; i < telling->findings->n; i++) {
        const struct rfn_finding *finding = &telling->findings->findings[i];
        bool there = same_place(finding, place) || follows_place(telling, i, first) ||
                     comes_before(telling, finding, place);
        if (!telling->taken[i] && there)
            take(telling, story, i);
    }
}

/* Ranks at a place one by one, or in a pipeline: each waits for the one before it. */
static bool tell_queue(struct telling *telling, struct rfn_story *story, size_t first)
{
    const struct rfn_finding *of = &telling->findings->findings[first];
    uint32_t ranks;
    double there = at_once_there(telling, first, &ranks);
    bool chain = (double)of->direct_ns <= (1 - PASSED_ON) * (double)of->ns;
    if (ranks < QUEUE || of->pattern == RFN_LATE_RECEIVER)
        return false;
    bool by_turns = of->pattern == RFN_LOCK_CONTENTION || of->pattern == RFN_WAIT_AT_BARRIER;
    if (there <= ONE_AT_A_TIME && (chain || by_turns))
        story->kind = RFN_STORY_ONE_BY_ONE;
    else if (chain && there <= PIPELINE_AT_MOST * telling->present &&
             of->pattern == RFN_LATE_SENDER && of->late != RFN_LATE_ONE)
        story->kind = RFN_STORY_PIPELINE;
    else
        return false;
    story->at_once = there;
    take_place(telling, story, first);
    return true;
}

/* How many ranks waited at the place. */
static uint32_t waiting_at(const struct telling *telling, const struct rfn_finding *finding)
{
    const struct rfn_waits *waits = telling->run->waits;
    uint32_t n = 0;
    for (size_t i = 0; i < waits->n_rows; i++) {
        const struct rfn_wait_row *row = &waits->rows[i];
        if (row->pattern != finding->pattern || row->function != finding->waited.function ||
            row->path != finding->waited.path)
            continue;
        for (uint32_t rank = 0; rank < waits->n_ranks; rank++)
            n += row->ns_by_rank[rank] > 0;
    }
    return n;
}

/* Blocking sends, each of which ends when the next rank receives, which waits in its own send. */
static bool tell_send_chain(struct telling *telling, struct rfn_story *story, size_t first)
{
    const struct rfn_finding *of = &telling->findings->findings[first];
    if (of->pattern != RFN_LATE_RECEIVER || waiting_at(telling, of) < QUEUE ||
        (double)of->direct_ns > (1 - PASSED_ON) * (double)of->ns)
        return false;
    story->kind = RFN_STORY_SEND_CHAIN;
    take_place(telling, story, first);
    return true;
}

/* Most ranks are late, now this one and now that, at what they do at the same time. */
static bool tell_noise(struct telling *telling, struct rfn_story *story, size_t first)
{
    const struct rfn_finding *of = &telling->findings->findings[first];
    double spent = 0;
    bool collective = of->pattern == RFN_WAIT_AT_NXN || of->pattern == RFN_WAIT_AT_BARRIER;
    bool by_turns = (of->late == RFN_LATE_ALIKE || of->late == RFN_LATE_EVEN) && of->n_late > 1 &&
                    2 * of->n_late >= telling->present;
    for (uint32_t i = 0; i < telling->run->waits->n_ranks; i++)
        spent += (double)of->spent[i];
    if (!by_turns || !collective || (double)of->direct_ns < PASSED_ON * (double)of->ns ||
        activity_of(telling, of)->kind != RFN_ACTIVITY_COMPUTE ||
        at_once(telling, spent, (double)of->spent_cost_ns) <= PIPELINE_AT_MOST * telling->present)
        return false;
    story->kind = RFN_STORY_NOISE;
    take(telling, story, first);
    return true;
}

/* One finding as it is, and what else the same rank computes that reads the same. */
static void tell_cause(struct telling *telling, struct rfn_story *story, size_t first)
{
    const struct rfn_finding *of = &telling->findings->findings[first];
    take(telling, story, first);
    if (of->n_late != 1)
        return;
    for (size_t i = first + 1; i < telling->findings->n; i++) {
        const struct rfn_finding *finding = &telling->findings->findings[i];
        if (!telling->taken[i] && same_code(telling, i, first) && finding->n_late == 1 &&
            finding->ranks[0].rank == of->ranks[0].rank)
            take(telling, story, i);
    }
}

/* ---- what is lost without waiting ---- */

/* A call path's time without waiting. */
static double plain_ns(const struct rfn_profile_row *row)
{
    const int64_t ns = row->time.total_ns - row->waiting_ns;
    return ns > 0 ? (double)ns : 0;
}

static bool moves_messages(const struct rfn_function_info *function)
{
    return function->class_ == RFN_CLASS_SEND || function->class_ == RFN_CLASS_SSEND ||
           function->class_ == RFN_CLASS_RECV || function->class_ == RFN_CLASS_SENDRECV ||
           function->class_ == RFN_CLASS_COMPLETION;
}

/* Others wait because these ranks were sending or receiving. */
static void take_moving(struct telling *telling, struct rfn_story *story)
{
    for (size_t i = 0; i < telling->findings->n; i++) {
        const struct rfn_activity *activity = activity_of(telling, &telling->findings->findings[i]);
        if (activity->kind == RFN_ACTIVITY_MPI &&
            moves_messages(rfn_call_site_function(telling->run->archive, activity->at)))
            take(telling, story, i);
    }
}

/* Messages so small that each costs the same, whatever is in it; whether there is such a story. */
static bool tell_small_messages(struct telling *telling)
{
    const struct rfn_measured *run = telling->run;
    const struct rfn_profile *profile = run->profile;
    struct rfn_story story = {.kind = RFN_STORY_SMALL_MESSAGES, .first = telling->told};
    double most = 0, all = 0;
    for (size_t i = 0; i < profile->n_pairs; i++) {
        story.messages += profile->pairs[i].messages;
        story.bytes += profile->pairs[i].bytes;
    }
    if ((double)story.messages < MANY_EACH * telling->present ||
        (double)story.bytes > SMALL_BYTES * (double)story.messages)
        return false;
    for (size_t i = 0; i < profile->n_rows; i++) {
        const struct rfn_profile_row *row = &profile->rows[i];
        const struct rfn_call_site site = {row->function, row->path};
        if (!moves_messages(rfn_call_site_function(run->archive, site)))
            continue;
        double ns = plain_ns(row);
        all += ns;
        if (ns > most)
            most = ns, story.row = row;
    }
    story.ns = (int64_t)all;
    if (!story.row || rfn_measured_share(run, all) < COSTS_MUCH)
        return false;
    take_moving(telling, &story);
    telling->told += story.findings;
    telling->stories->stories[telling->stories->n++] = story;
    return true;
}

static void tell_no_overlap(struct telling *telling)
{
    const struct rfn_measured *run = telling->run;
    struct rfn_story story = {.kind = RFN_STORY_NO_OVERLAP};
    for (size_t i = 0; i < run->profile->n_rows; i++) {
        const struct rfn_profile_row *row = &run->profile->rows[i];
        double ns = plain_ns(row);
        if (ns > (double)story.ns && rfn_row_is_moving(run, row, ns))
            story.ns = (int64_t)ns, story.row = row;
    }
    if (story.row && rfn_measured_share(run, (double)story.ns) >= COSTS_MUCH)
        telling->stories->stories[telling->stories->n++] = story;
}

/* ---- all of them ---- */

static const char **hosts_of(const struct rfn_archive *archive)
{
    const struct rfn_run *run = rfn_archive_run(archive);
    const char **hosts = calloc((size_t)run->ranks + 1, sizeof *hosts);
    for (uint32_t i = 0; hosts && i < run->streams; i++) {
        struct rfn_stream_info stream = rfn_archive_stream(archive, i);
        if (stream.rank < run->ranks)
            hosts[stream.rank] = stream.host;
    }
    return hosts;
}

static int by_cost(const void *left, const void *right)
{
    const struct rfn_story *a = left, *b = right;
    if (a->ns != b->ns)
        return a->ns > b->ns ? -1 : 1;
    return a->first < b->first ? -1 : a->first > b->first;
}

static void tell(struct telling *telling)
{
    struct rfn_stories *stories = telling->stories;
    for (size_t i = 0; i < telling->findings->n; i++) {
        struct rfn_story *story = &stories->stories[stories->n];
        if (telling->taken[i])
            continue;
        *story = (struct rfn_story){.first = telling->told};
        if (!tell_slow_ranks(telling, story, i) && !tell_master(telling, story, i) &&
            !tell_queue(telling, story, i) && !tell_send_chain(telling, story, i) &&
            !tell_noise(telling, story, i))
            tell_cause(telling, story, i);
        telling->told += story->findings;
        stories->n++;
    }
}

static bool find_words(struct telling *telling)
{
    const struct rfn_findings *findings = telling->findings;
    bool failed = false;
    for (size_t i = 0; i < findings->n; i++) {
        rfn_activity_append(&telling->words[i], telling->run->archive,
                            activity_of(telling, &findings->findings[i]));
        failed |= telling->words[i].failed;
    }
    return !failed;
}

int rfn_stories_init(struct rfn_stories *stories, const struct rfn_measured *run,
                     const struct rfn_cause_choice *choice)
{
    *stories = (struct rfn_stories){0};
    if (rfn_measured_is_nothing(run))
        return 0;
    RFN_TRY(rfn_findings_init(&stories->findings, run, choice, RFN_TRIFLE, FINDINGS));
    const size_t n = (size_t)run->waits->n_ranks + 1;
    struct telling telling = {.run = run,
                              .findings = &stories->findings,
                              .stories = stories,
                              .hosts = hosts_of(run->archive),
                              .taken = calloc(FINDINGS + 1, sizeof *telling.taken),
                              .slow = calloc(n, sizeof *telling.slow),
                              .own = calloc(n, sizeof *telling.own),
                              .outside = calloc(n, sizeof *telling.outside),
                              .others = calloc(n, sizeof *telling.others)};
    stories->stories = calloc(FINDINGS + 3, sizeof *stories->stories);
    stories->order = calloc(FINDINGS + 1, sizeof *stories->order);
    for (uint32_t i = 0; i < run->profile->n_ranks; i++)
        telling.present += run->profile->ranks[i].threads > 0;
    bool room = telling.hosts && telling.taken && telling.slow && telling.own && telling.outside &&
                telling.others && stories->stories && stories->order && find_words(&telling);
    if (room) {
        if (!choice && !tell_small_messages(&telling))
            tell_no_overlap(&telling);
        tell(&telling);
        qsort(stories->stories, stories->n, sizeof *stories->stories, by_cost);
    }
    free(telling.hosts), free(telling.taken), free(telling.slow), free(telling.own);
    free(telling.outside), free(telling.others);
    for (size_t i = 0; i < stories->findings.n; i++)
        rfn_text_release(&telling.words[i]);
    if (!room)
        rfn_stories_release(stories);
    return room ? 0 : RFN_E_NOMEM;
}

void rfn_stories_release(struct rfn_stories *stories)
{
    rfn_findings_release(&stories->findings);
    free(stories->stories), free(stories->order);
    *stories = (struct rfn_stories){0};
}
