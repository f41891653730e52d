/* explain.h - what the measurements of a run mean, as structures and in words: where its time is
 * lost, who makes others wait and what to do about it, kinds of ranks, names of call paths and of
 * what ranks did. `refrain report` prints all of it.
 *
 * Nothing here prints. Words are appended to a struct rfn_text, which tells by `failed` when memory
 * ran out. What comes from the archive is escaped in them. Structures borrow from what they were
 * made of. A number of a function, path or activity that does not exist is no error: it has the
 * name "?", no frames, or is left out.
 */
#ifndef REFRAIN_EXPLAIN_H
#define REFRAIN_EXPLAIN_H

#pragma GCC visibility push(default)

#include "refrain/clusters.h"
#include "refrain/text.h"
#include "refrain/usage.h"
#include "refrain/waits.h"

/* ---- call paths ---- */

/* All frames, outermost first, each a word, joined by " > ": function[file:line]; where the file is
 * not known function[module+0xoffset], where the function is not either [module+0xoffset]. */
void rfn_call_path_full(struct rfn_text *text, const struct rfn_archive *archive, uint32_t path);

/* For people: frames of the program, the innermost, from which MPI is called, first: "exchange
 * (halo.c:40) < step (main.c:12) < main (main.c:30)". Frames inside MPI and the recorder are left
 * out. A path longer than `width`, or of more than RFN_PATH_NAMES names, is cut at the outer end,
 * between frames, and ends with "< ..."; the innermost frame is always there. Of names what
 * rfn_short_name leaves is told, and of long ones not the middle. */
enum { RFN_PATH_NAMES = 4 };
#define RFN_WHOLE_PATH SIZE_MAX       /* as a width: all of it */
#define RFN_SHORT_PATH (SIZE_MAX - 1) /* as a width: RFN_PATH_NAMES names */
void rfn_call_path_short(struct rfn_text *text, const struct rfn_archive *archive, uint32_t path,
                         size_t width);

/* A frame's function, which is not NULL, for lists that name nothing else of a frame: "step", and
 * of a library, or where the source is not known, "libsolver.so: PCG::scalarSolve". */
void rfn_call_path_label(struct rfn_text *text, const struct rfn_archive *archive,
                         const struct rfn_location *location);

/* Whether the name of a frame's function, as the linker or the programmer knows it or as
 * rfn_short_name has it, or its "file:line", contains the wanted text. */
bool rfn_call_path_matches(const struct rfn_archive *archive, uint32_t path, const char *wanted);

/* Whether a frame is inside MPI or the recorder. */
bool rfn_call_path_internal(const struct rfn_location *location);

/* ---- calls ---- */

/* The function that is called: never NULL. */
const struct rfn_function_info *rfn_call_site_function(const struct rfn_archive *archive,
                                                       struct rfn_call_site site);
/* From where in the program the call is made; false: not known. */
bool rfn_call_site_location(const struct rfn_archive *archive, struct rfn_call_site site,
                            struct rfn_location *location);
/* The same in words: "exchange() [halo.c:88]"; "MPI_Recv" where the path is not known. */
void rfn_call_site_place(struct rfn_text *text, const struct rfn_archive *archive,
                         struct rfn_call_site site);
/* The call with its path, cut as rfn_call_path_short does, where the call is one of the names:
 * "MPI_Recv < exchange (halo.c:88) < main (halo.c:120)". */
void rfn_call_site_path(struct rfn_text *text, const struct rfn_archive *archive,
                        struct rfn_call_site site, size_t width);

/* ---- activities ---- */

/* What a rank did, to stand behind "rank 3": "computing in smooth() [solver.c:198-211]", "computing
 * in region step (main() [a.c:3-9])", "in MPI_Comm_split, main() [a.c:3]", "waiting in MPI_Recv,
 * ...", "starting later than others".
 *
 * Computing lies between two calls of MPI, each with a call path. It is named after the function
 * that the program calls there, where the archive knows it (rfn_archive_calls_between): "computing
 * in smooth(), called in main() [halo.c:132]". Of several the first is named, and how many more
 * there are: "in smooth() and 2 more, called in main() [halo.c:132-136]". Calls of the function
 * that both paths have in common come first, then calls on the way to one of them.
 *
 * Else it is named after the deepest function that both paths have in common, from main inwards,
 * with the lines of that function from which the one and the other call were reached. Where the
 * second line is not behind the first the program went round a loop: in that function, or in its
 * caller, which called it again. Call paths cannot tell, so both are named. */
void rfn_activity_append(struct rfn_text *text, const struct rfn_archive *archive,
                         const struct rfn_activity *activity);

/* The function of the program that computes, as far as it is known, or that makes the call, by the
 * name that the linker sees; NULL where it is not known. Borrowed from the archive. */
const char *rfn_activity_function(const struct rfn_archive *archive,
                                  const struct rfn_activity *activity);
/* The same with the frame it is in, for rfn_call_path_label; false: not known. */
bool rfn_activity_location(const struct rfn_archive *archive, const struct rfn_activity *activity,
                           struct rfn_location *location);
/* In how many functions it may be: 1 where it is known; 0: of none. */
uint32_t rfn_activity_functions(const struct rfn_archive *archive,
                                const struct rfn_activity *activity);
/* The words of a computation begin with this. */
#define RFN_COMPUTING "computing in "
/* The same, but of a computation the function that both calls around it have in common. */
const char *rfn_activity_common(const struct rfn_archive *archive,
                                const struct rfn_activity *activity);

/* ---- where the time is lost ---- */

/* A run as it was measured; all borrowed. */
struct rfn_measured {
    const struct rfn_archive *archive;
    const struct rfn_profile *profile;
    const struct rfn_waits *waits;
    struct rfn_efficiency efficiency; /* of the profile */
    const struct rfn_usage *usage;    /* NULL: not known */
};

/* A share of the time of all ranks in the main part of the run, 0 to 1. */
static inline double rfn_measured_share(const struct rfn_measured *run, double ns)
{
    return run->efficiency.all_ns > 0 ? ns / (double)run->efficiency.all_ns : 0;
}

/* Whether waits of that kind are part of the main part: not because MPI starts, and because it ends
 * only where others still compute meanwhile. */
static inline bool rfn_measured_counts(const struct rfn_measured *run, enum rfn_pattern pattern)
{
    return pattern != RFN_WAIT_AT_INIT &&
           (pattern != RFN_WAIT_AT_FINALIZE || run->profile->end_counts);
}

/* Of all ranks: all waits that are. */
static inline int64_t rfn_measured_waits_ns(const struct rfn_measured *run)
{
    const int64_t *ns = run->waits->pattern_ns;
    return run->waits->total_ns - ns[RFN_WAIT_AT_INIT] -
           (run->profile->end_counts ? 0 : ns[RFN_WAIT_AT_FINALIZE]);
}

/* Whether the run is next to nothing but MPI's own start and end: what is between, below this share
 * of it and this time, tells nothing. */
#define RFN_NO_MAIN_PART 0.01
enum { RFN_NO_MAIN_PART_NS = 5000000 };
static inline bool rfn_measured_is_nothing(const struct rfn_measured *run)
{
    const struct rfn_profile *profile = run->profile;
    const double main_ns = (double)(profile->main_to_ns - profile->main_from_ns);
    return main_ns < RFN_NO_MAIN_PART_NS &&
           main_ns < RFN_NO_MAIN_PART * (double)(profile->end_ns - profile->start_ns);
}

/* Work counts as even from this load balance on: mean / longest time outside of MPI. */
#define RFN_BALANCED 0.95
/* Causes and calls that cost a smaller share of all ranks' time are not worth a word. */
#define RFN_TRIFLE 0.005

/* Where the time of the main part that is not computing goes, in nanoseconds of all ranks together;
 * without times or waits 0. */
struct rfn_losses {
    double uneven;    /* waiting for ranks that compute longer */
    double late;      /* waiting for ranks that started late */
    double others;    /* waiting for ranks for other reasons */
    double transfer;  /* in MPI without waiting, as far as is known */
    double outside;   /* before a thread's first call and after its last */
    bool even;        /* in all, ranks compute about equally long */
    bool threads;     /* several of a rank call MPI */
    uint32_t missing; /* ranks that are not there: others may have waited for them */
};
struct rfn_losses rfn_losses_of(const struct rfn_measured *run);

/* What to say of a run with times before its causes of waiting. */
struct rfn_verdict {
    struct rfn_losses losses;
    const struct rfn_profile_row *busiest; /* the call path that takes most time without waiting,
                                              outside of setup; NULL: a trifle */
    double busiest_ns;                     /* of all ranks, in it without waiting */
    bool blames_busiest;   /* most is lost in calls that do not wait: it is named, and */
    bool is_moving;        /* data of nonblocking calls move in it, not while ranks compute, */
    bool has_unseen_waits; /* or it waits in ways that are no wait state: the idle time of uneven
                              work is little seen */
    bool clocks_disagree;  /* by more than a trifle: causes may be wrong */
    const struct rfn_profile_row *polls; /* where most time lies between unsuccessful polls, in
                                            which ranks may just wait; NULL: little */
    double polls_ns;                     /* of all ranks, at all such places */
};
struct rfn_verdict rfn_verdict_of(const struct rfn_measured *run);

/* Whether a call path completes nonblocking calls, and takes 0.1 ms or more each time: ns, of all
 * ranks, without waiting. */
bool rfn_row_is_moving(const struct rfn_measured *run, const struct rfn_profile_row *row,
                       double ns);

/* "Parallel efficiency 62.0 %: more than a third of the time that the ranks have is lost, most of
 * it by waiting for uneven work." and what else the verdict says, but for clocks. */
void rfn_verdict_append(struct rfn_text *text, const struct rfn_measured *run,
                        const struct rfn_verdict *verdict);

/* ---- what no program can mend ---- */

/* Calls that are fast in every MPI, as those for sizes and ranks, in which a rank was for longer
 * than RFN_LONG_NS: it had no core, waited for memory, or was stopped. */
struct rfn_disturbance {
    uint64_t calls;
    int64_t ns;                            /* all of them together */
    const struct rfn_profile_row *longest; /* NULL: there are none */
};

struct rfn_disturbance rfn_disturbance_of(const struct rfn_measured *run);
/* Whether no change to the program can shorten the activity: MPI starts or ends in it, or such
 * calls took most of its time; false for the recorder's own work. */
bool rfn_activity_is_beyond_program(const struct rfn_measured *run,
                                    const struct rfn_activity *activity);
/* "2 calls that are fast in every MPI took 14.1 ms (the longest 9.00 ms, in MPI_Type_size, main()
 * [a.c:3], on rank 1): ..." */
void rfn_disturbance_append(struct rfn_text *text, const struct rfn_measured *run,
                            const struct rfn_disturbance *disturbance);

/* How much of the time in which their threads could run ranks had cores for them. */
struct rfn_core_access {
    bool known;
    double share; /* on a core / (on a core + could have run), of all ranks that know it */
    double on_core_ns, runnable_ns;
    uint32_t worst_rank; /* has the least share */
    double worst_share;
};

/* Below the first, times say more of the machine than of the program; below the second they say
 * nothing else. */
#define RFN_CORES_SHORT 0.8
#define RFN_CORES_BLIND 0.5
struct rfn_core_access rfn_core_access_of(const struct rfn_measured *run);
/* Of one rank; negative: not known. */
double rfn_core_share_of_rank(const struct rfn_measured *run, uint32_t rank);

/* ---- who makes others wait ---- */

enum rfn_late_kind {
    RFN_LATE_ONE,   /* one rank, of several */
    RFN_LATE_SOME,  /* some ranks more than others */
    RFN_LATE_ALIKE, /* most ranks, now this one and now that */
    RFN_LATE_EVEN,  /* some, but in all no rank computes longer than others do */
};

#define RFN_SEVERAL_RANKS UINT32_MAX

/* How much of the time of some work ranks had a core, by the gaps that were measured. */
struct rfn_work_usage {
    bool known;
    double cpu_share;       /* CPU time over time; above 1 where other threads compute, too */
    double core_wait_share; /* in which the rank could have run, had it had a core */
};

/* The share of the run in which ranks waited for a core, by the ranks that know it; negative: none
 * does. Above RFN_CROWDED_SHARE the run's times say little of the program. */
#define RFN_CROWDED_SHARE 0.1
double rfn_core_wait_share(const struct rfn_measured *run);

/* Causes of waiting that are one piece of work, whatever pattern and call path the waits had.
 *
 * Activities are one piece of work when they lie in the same function and region before the same
 * call: what a loop computes before it sends, after whichever call it began. Calls that a compiler
 * made several of, by inlining, are one. */
struct rfn_finding {
    uint32_t activity;           /* that costs most, */
    enum rfn_pattern pattern;    /* of most of the waiting for these ranks themselves, */
    struct rfn_call_site waited; /* and where that was, */
    uint64_t waits;              /* how often, */
    int64_t mean_wait_ns;        /* and how long on average */
    size_t sites;                /* patterns and call paths of the waiting in all */
    uint32_t waiting;            /* the only rank that waits, of those that are not late;
                                    RFN_SEVERAL_RANKS */
    int64_t ns;                  /* of others' waiting; */
    int64_t direct_ns;           /* of that: not passed on by ranks that waited themselves */
    struct rfn_rank_ns *ranks;   /* that are to blame, and what each cost, most first; */
    uint32_t n_ranks, n_late;    /* the first n_late of them are late: the others cost little */
    struct rfn_work_usage usage; /* of the ranks that are late, in the activity */
    int64_t
        *spent; /* by rank: what it spent in this work, whoever waited, as far as that is known: */
    int64_t spent_cost_ns; /* the part of ns that these activities cost */
    enum rfn_late_kind late;
};

struct rfn_findings {
    struct rfn_finding *findings; /* most time first */
    size_t n;
};

/* Which causes are looked at. */
struct rfn_cause_choice {
    bool (*takes)(const void *context, const struct rfn_cause *cause);
    const void *context;
};

/* Of the causes chosen (NULL: of all), those that cost at least this share of all ranks' time
 * (RFN_TRIFLE), at most `most`. Waits outside of the main part are left out, and those because MPI
 * itself starts or ends. RFN_E_NOMEM. */
int rfn_findings_init(struct rfn_findings *findings, const struct rfn_measured *run,
                      const struct rfn_cause_choice *choice, double least, size_t most);
void rfn_findings_release(struct rfn_findings *findings);

/* "rank 3 computing in step() [a.c:51-55] costs 11.2 % of all ranks' time (9.00 s of 80.0 s):
 * others wait for messages (late sender) in exchange() [halo.c:88] and 1 more place." */
void rfn_finding_append(struct rfn_text *text, const struct rfn_measured *run,
                        const struct rfn_finding *finding);
/* "others wait for messages (late sender) in exchange() [halo.c:88] and 1 more place" */
void rfn_finding_append_waiting(struct rfn_text *text, const struct rfn_measured *run,
                                const struct rfn_finding *finding);
/* What to do about it, one or two sentences. */
void rfn_finding_advice(struct rfn_text *text, const struct rfn_measured *run,
                        const struct rfn_finding *finding);

/* ---- stories ---- */

/* What the findings mean together: how the program is slow (doc/analysis.md, Stories). */
enum rfn_story_kind {
    RFN_STORY_CAUSE,          /* a finding, as it is */
    RFN_STORY_SLOW_RANKS,     /* a rank, or all of a host, computes slower, whatever it does */
    RFN_STORY_ONE_BY_ONE,     /* ranks do a part one after the other */
    RFN_STORY_MASTER,         /* ranks wait for one that answers them one by one */
    RFN_STORY_PIPELINE,       /* ranks begin and end one behind the other: fill and drain */
    RFN_STORY_SEND_CHAIN,     /* sends complete one after the other */
    RFN_STORY_NOISE,          /* now this rank is late, now that */
    RFN_STORY_SMALL_MESSAGES, /* findings: what ranks wait for while others move them */
    RFN_STORY_NO_OVERLAP      /* large messages move only while ranks wait in MPI */
};

/* "slow_ranks". Static. */
const char *rfn_story_kind_name(enum rfn_story_kind kind);

struct rfn_story {
    enum rfn_story_kind kind;
    int64_t ns;      /* of all ranks' time that it costs */
    size_t findings; /* how many, from this one on: `first` of rfn_stories.order */
    size_t first;
    double factor;    /* SLOW_RANKS: how many times as long as the others */
    const char *host; /* SLOW_RANKS: all ranks of this one are late; NULL: one rank */
    double at_once;   /* ONE_BY_ONE, PIPELINE: ranks that are at it at a time, on average */
    const struct rfn_profile_row *row; /* SMALL_MESSAGES, NO_OVERLAP: where most of it is */
    uint64_t messages, bytes;          /* SMALL_MESSAGES */
};

struct rfn_stories {
    struct rfn_story *stories; /* costliest first */
    size_t n;
    struct rfn_findings findings;
    size_t *order; /* numbers of findings, story by story, costliest first */
};

/* The stories of the causes chosen (NULL: of all) that are no trifle. RFN_E_NOMEM. */
int rfn_stories_init(struct rfn_stories *stories, const struct rfn_measured *run,
                     const struct rfn_cause_choice *choice);
void rfn_stories_release(struct rfn_stories *stories);
/* The costliest finding of a story; NULL: nobody waits. */
const struct rfn_finding *rfn_story_finding(const struct rfn_stories *stories,
                                            const struct rfn_story *story);

/* "37.5 % of all ranks' time is lost (6.79 s): rank 3 computes longer than the others in smooth
 * (halo.c:132). The others wait in exchange (halo.c:58; late sender)." */
void rfn_story_append(struct rfn_text *text, const struct rfn_measured *run,
                      const struct rfn_stories *stories, const struct rfn_story *story);
/* What to do about it, one or two sentences. */
void rfn_story_advice(struct rfn_text *text, const struct rfn_measured *run,
                      const struct rfn_stories *stories, const struct rfn_story *story);

/* Who is late, of n_all ranks: "rank 3", "ranks 4-7", "mainly rank 3", "both ranks", "all 32
 * ranks", and where one stands out "12 of 32 ranks (rank 5 most)". ranks: most first. */
void rfn_late_ranks_append(struct rfn_text *text, const struct rfn_rank_ns *ranks, uint32_t n,
                           uint32_t n_all);

/* ---- kinds of ranks ---- */

/* Ranks that call the same paths, and exchange messages with as many others.
 *
 * Coarser than main clusters, for people: calls may come in another order, and the corners of a
 * grid are one kind, whichever calls they leave out. Where ranks that call the same paths have too
 * many different numbers of partners (drawn at random, say), these do not tell kinds apart; nor
 * from how many a rank gets messages where some ranks are missing. */
struct rfn_range {
    uint64_t least, most; /* of a rank */
};

struct rfn_rank_kind {
    const uint32_t *ranks; /* ascending */
    uint32_t n_ranks;
    uint32_t orders;                       /* main clusters that they are of */
    struct rfn_range sends_to, gets_from;  /* how many ranks */
    struct rfn_range messages;             /* sent */
    uint64_t sent_bytes, collective_bytes; /* of all of them, as in refrain/profile.h */
    int64_t mpi_ns, outside_ns;            /* 0 without times */
    const struct rfn_call_site *calls;     /* ascending by function, then path */
    size_t n_calls;
};

struct rfn_rank_kinds {
    struct rfn_rank_kind *kinds; /* most ranks first, then by the lowest rank */
    size_t n;
    uint32_t n_ranks; /* of all kinds: the ones that are readable */
    /* What the above point into. */
    uint32_t *ranks;
    struct rfn_call_site *calls;
};

/* RFN_E_NOMEM. To be released in any case. */
int rfn_rank_kinds_init(struct rfn_rank_kinds *kinds, const struct rfn_clustering *clustering,
                        const struct rfn_profile *profile);
void rfn_rank_kinds_release(struct rfn_rank_kinds *kinds);

/* Calls of a kind that another one does not make: the first `most` of them to `calls`; how many
 * there are in all. */
size_t rfn_rank_kind_only(const struct rfn_rank_kind *kind, const struct rfn_rank_kind *other,
                          struct rfn_call_site *calls, size_t most);

/* ---- runs side by side ----
 *
 * Runs may have other numbers of ranks, be of other versions of a program, or of other machines.
 * Nothing is matched by addresses, lines or numbers: call paths by the names of their functions,
 * regions by their names, findings by their activity: its function, its region, and the call that
 * it is in or before. */

/* How ranks spend their time; adds up to all of it. */
enum rfn_spending {
    RFN_SPENT_COMPUTING, /* outside of MPI */
    RFN_SPENT_WAITING,   /* in wait states, but for those in setup */
    RFN_SPENT_IN_MPI,    /* not waiting */
    RFN_SPENT_IN_SETUP,  /* in Init, Finalize and sessions, waiting or not */
    RFN_SPENT_OUTSIDE, /* before a rank's Init and after its Finalize, or so of a thread's calls */
    RFN_SPENDINGS
};

/* One of the runs. A rank's time is that of all its threads. */
struct rfn_compared_run {
    struct rfn_measured measured; /* borrowed */
    bool times;                   /* without, times are 0 and there are no findings */
    uint32_t ranks, present;      /* of the run; and ranks that are there, in part at least */
    int64_t run_ns;
    double spent_ns[RFN_SPENDINGS]; /* of a rank that is there, on average */
    uint64_t calls, messages, sent_bytes, collective_bytes; /* of all ranks */
    struct rfn_findings findings;
};

/* Nanoseconds of all ranks as an average of the ranks that are there. */
static inline double rfn_of_a_rank(const struct rfn_compared_run *run, double ns)
{
    return run->present ? ns / run->present : 0;
}

/* Calls of an MPI function from one chain of functions, whatever their lines. */
struct rfn_call_sum {
    struct rfn_call_site site; /* the one with most time */
    uint32_t ranks;            /* that make them; 0: none does, and site is not set */
    uint64_t calls, bytes;
    int64_t ns, wait_ns; /* of all ranks inside MPI; of that waiting */
};

/* by_ns: the second run's less the first one's, of a rank on average; 0 unless both have times. */
struct rfn_call_change {
    struct rfn_call_sum of[2];
    double by_ns;
};

struct rfn_region_change {
    const struct rfn_region_row *of[2]; /* NULL: there is none */
    double by_ns;
};

enum rfn_change {
    RFN_CHANGE_NONE, /* costs the same, but for a trifle of the first run's time */
    RFN_CHANGE_MORE, /* costs more, */
    RFN_CHANGE_LESS, /* less, */
    RFN_CHANGE_RANK, /* the same, but another rank is late, */
    RFN_CHANGE_GONE, /* only in the first run, */
    RFN_CHANGE_CAME  /* only in the second */
};

struct rfn_finding_change {
    enum rfn_change change;
    const struct rfn_finding *of[2]; /* NULL: there is none; of several the costliest */
    uint32_t n[2];                   /* how many: one for each call, where a function has several */
    int64_t ns[2];                   /* what they cost together */
    double by_ns;
};

struct rfn_compared_runs {
    struct rfn_compared_run runs[2];
    struct rfn_call_change *calls; /* these three: largest by_ns, of either sign, first */
    size_t n_calls;
    struct rfn_region_change *regions;
    size_t n_regions;
    struct rfn_finding_change *findings; /* none unless both have times */
    size_t n_findings;
    bool other_programs; /* their names differ, and */
    bool nothing_common; /* no call path is in both */
    bool differ;         /* in any number of the above */
};

/* RFN_E_NOMEM. To be released in any case; runs are borrowed until then. */
int rfn_compared_runs_init(struct rfn_compared_runs *compared, const struct rfn_measured runs[2]);
void rfn_compared_runs_release(struct rfn_compared_runs *compared);

/* "B is 1.31 times as fast as A: 4.53 s -> 3.46 s; most of it by less waiting in exchange
 * (halo.c:58)." The runs are called A and B. */
void rfn_compared_runs_append(struct rfn_text *text, const struct rfn_compared_runs *compared);

/* "gone", "came", "more", "less", "rank", "same". */
const char *rfn_change_name(enum rfn_change change);

/* A run among others that have other numbers of ranks: factors after POP, relative to the first run
 * that has times; all 0 where this one has none. */
struct rfn_scaling_run {
    size_t given; /* its place among those given */
    struct rfn_compared_run run;
    double speedup;     /* the first one's run time / this one's */
    double ideal;       /* this one's ranks / the first one's */
    double computation; /* time of all ranks outside of MPI: the first one's / this one's */
    double global;      /* that times parallel efficiency */
};

struct rfn_scaling {
    struct rfn_scaling_run *runs; /* fewest ranks first */
    size_t n;
};

/* With at most so many findings of each run. RFN_E_NOMEM. To be released in any case; runs are
 * borrowed until then. */
int rfn_scaling_init(struct rfn_scaling *scaling, const struct rfn_measured *runs, size_t n,
                     size_t findings);
void rfn_scaling_release(struct rfn_scaling *scaling);

/* "16 ranks are 2.50 times as fast as 4, of 4.00 at best: 10.0 s -> 4.00 s. Global efficiency falls
 * from 90.0 % to 56.3 %, most of it by load balance (95.0 % -> 60.0 %)." */
void rfn_scaling_append(struct rfn_text *text, const struct rfn_scaling *scaling);

/* Several runs of each of two sides, as before and after a change. Runs of one program vary, so
 * each row has the range of its values: where the ranges of both sides overlap, the difference is
 * noise. */
enum rfn_row_kind {
    RFN_ROW_SUM,   /* of the run: "run time", "waiting", "load balance", "messages" */
    RFN_ROW_CALL,  /* "MPI_Recv < exchange < main": time in MPI, */
    RFN_ROW_CAUSE, /* "compute in do_work, region smoothing, at MPI_Recv < exchange < main": what
                      others wait for, */
    RFN_ROW_REGION /* "region smoothing": all three of a rank on average */
};

enum rfn_row_unit { RFN_ROW_NS, RFN_ROW_SHARE, RFN_ROW_COUNT, RFN_ROW_BYTES };

/* Of an even number of runs the median is the mean of the middle two. A run without the row has 0.
 */
struct rfn_row_range {
    double least, median, largest;
};

struct rfn_row_change {
    char *name;
    enum rfn_row_kind kind;
    enum rfn_row_unit unit;
    struct rfn_row_range of[2];
    bool noise; /* the ranges overlap, and the medians differ */
};

struct rfn_compared_sides {
    struct rfn_compared_run *runs; /* of the first side, then of the second */
    size_t n[2];
    struct rfn_row_change *rows; /* in order of kinds; sums as above, others by the larger median */
    size_t n_rows;
    bool times;          /* all runs have them; else there are only sums that are no times */
    bool other_programs; /* their names differ */
};

/* n: runs of each side, 1 or more. RFN_E_NOMEM. To be released in any case; runs are borrowed until
 * then. */
int rfn_compared_sides_init(struct rfn_compared_sides *compared, const struct rfn_measured *runs,
                            const size_t n[2]);
void rfn_compared_sides_release(struct rfn_compared_sides *compared);

/* "B is 1.31 times as fast as A by the medians: 4.53 s -> 3.46 s; ranges do not overlap." */
void rfn_compared_sides_append(struct rfn_text *text, const struct rfn_compared_sides *compared);

#pragma GCC visibility pop

#endif
