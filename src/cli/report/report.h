/* report.h - the pages of `refrain report`: text for people, JSON for machines.
 *
 * report_text.c and report_json.c put the page together, of parts that have a file of their own.
 */
#ifndef RFN_CLI_REPORT_REPORT_H
#define RFN_CLI_REPORT_REPORT_H

#include "cli/args/rank_filter.h"
#include "cli/text/print_text.h"
#include "refrain/archive.h"
#include "refrain/behaviour.h"
#include "refrain/explain.h"
#include "refrain/predict.h"
#include "refrain/sampling.h"

#include <jansson.h>

struct rfn_report {
    const char *file;
    const struct rfn_archive *archive;
    const struct rfn_run *run;
    const struct rfn_profile *profile;
    const struct rfn_waits *waits;
    const struct rfn_behaviour *behaviour;   /* NULL: nothing is known of it */
    bool behaviour_table;                    /* in full; else what costs most */
    bool head_only;                          /* the first screen */
    const struct rfn_clustering *clustering; /* NULL: nothing is known of it */
    struct rfn_efficiency efficiency;
    const struct rfn_usage *usage;         /* NULL: nothing is known of it */
    const struct rfn_network *network;     /* measured; NULL: estimated */
    const struct rfn_report_ahead *ahead;  /* NULL: nothing can be predicted */
    const struct rfn_samples *samples;     /* of messages; NULL: there are none */
    const struct rfn_samples *all_samples; /* all messages, to compare with; NULL: not known */
    size_t top;                            /* rows of a table */
    size_t width;                          /* of the page */
    bool colors;                           /* escape sequences for a terminal */
    const struct rfn_rank_filter *ranks;   /* whom the page is about; NULL: all */
    const char *call_path; /* text that the call paths shown contain; NULL: all are shown */
};

/* ---- predictions (report_predict.c) ---- */

/* A time window, since the first enter. */
struct rfn_report_window {
    int64_t from_ns, to_ns;
    double mean_ns;     /* outside of MPI, of all ranks; */
    int64_t longest_ns; /* of the rank that is so longest */
    int64_t ideal_ns;   /* what it would take on a network without any cost */
};

/* POP's factors: parallel = load_balance * serialization * transfer. */
struct rfn_window_efficiency {
    double parallel, load_balance, serialization, transfer;
};

struct rfn_report_ahead {
    struct rfn_network network;
    int64_t run_ns;                          /* as recorded */
    int64_t without_ns[3];                   /* by story: what the run would take without it */
    size_t n_stories;                        /* that are predicted, the costliest */
    struct rfn_report_window main, *windows; /* the main part of the run, and windows of it */
    size_t n_windows;
};

/* Predicts, with one window at least; sets report->ahead where something can be. *ahead is to be
 * released in any case. RFN_E_NOMEM. */
int rfn_report_predict(struct rfn_report *report, size_t windows, struct rfn_report_ahead *ahead,
                       struct rfn_diag *diag);
void rfn_report_ahead_release(struct rfn_report_ahead *ahead);
struct rfn_window_efficiency rfn_report_window_efficiency(const struct rfn_report_window *window);
/* " Without it the run would take 3.1 s instead of 4.5 s."; nothing where that is not known. */
void rfn_report_append_without(struct rfn_text *line, const struct rfn_report *report,
                               size_t story);
/* Efficiency by time window, if there are several. */
void rfn_report_windows(struct rfn_text *out, const struct rfn_report *report);
json_t *rfn_report_windows_json(const struct rfn_report *report);

void rfn_report_text(struct rfn_text *out, const struct rfn_report *report);
/* NULL: out of memory. */
json_t *rfn_report_json(const struct rfn_report *report);
/* The tables that there are as CSV: the lists in JSON, by their names, those of samples (of the
 * member `sampling`) with a prefix. */
#define RFN_REPORT_CSV_SAMPLED "sampling_"
#define RFN_SAMPLES_CSV_TABLES "all,categories,pairs,call_paths,sizes,collectives,samples"
#define RFN_REPORT_CSV_TABLES                                                                 \
    "stories,wait_states,causes,critical_path,behaviour,alike,time_per_rank,by_host,regions," \
    "files,windows,core_windows,"                                                             \
    "functions,call_paths,message_sizes,communication_matrix,one_sided_matrix,hosts,children" \
    ",sampling_all,sampling_categories,sampling_pairs,sampling_call_paths,sampling_sizes,"    \
    "sampling_collectives,sampling_samples"
/* Whether a name is one of a list like these. */
bool rfn_report_csv_has(const char *tables, const char *table);
/* Whether a table of the report is one of samples. */
bool rfn_report_csv_is_sampled(const char *table);
/* A table as CSV (cli/text/csv.h), by one of these names. */
void rfn_report_csv(struct rfn_text *out, const struct rfn_report *report, const char *table);

/* ---- the parts of the page ---- */

/* What ran, how efficiently, and the three costliest causes of waiting. */
void rfn_report_head(struct rfn_text *out, const struct rfn_report *report);
/* Whether ranks had cores, if they had not; false: it is not known. */
bool rfn_report_cores(struct rfn_text *out, const struct rfn_report *report);
/* Whether they had so few that nothing else can be told. */
bool rfn_report_is_blind(const struct rfn_report *report);
json_t *rfn_report_cores_json(const struct rfn_report *report);
/* Adds what is known of a rank; the time windows of all ranks, for CSV only. */
void rfn_report_rank_cores_json(json_t *value, const struct rfn_report *report, uint32_t rank);
json_t *rfn_report_core_windows_json(const struct rfn_report *report);
/* Efficiency and where the time of all ranks goes. */
void rfn_report_efficiency(struct rfn_text *out, const struct rfn_report *report);
/* Wait states, their causes, the critical path, what was not matched. */
void rfn_report_waits(struct rfn_text *out, const struct rfn_report *report);
/* Time and volume per rank. */
void rfn_report_rank_times(struct rfn_text *out, const struct rfn_report *report);
void rfn_report_rank_volumes(struct rfn_text *out, const struct rfn_report *report);
/* Patterns of the steps, if they were asked for. */
void rfn_report_behaviour(struct rfn_text *out, const struct rfn_report *report);
json_t *rfn_report_behaviour_json(const struct rfn_report *report);
/* Which ranks behave alike, and what tells the others apart. */
void rfn_report_alike(struct rfn_text *out, const struct rfn_report *report);
json_t *rfn_report_alike_json(const struct rfn_report *report);
/* The ranks of each host, if there are several hosts. */
void rfn_report_by_host(struct rfn_text *out, const struct rfn_report *report);
json_t *rfn_report_by_host_json(const struct rfn_report *report);
/* Where time goes in calls of MPI-IO, if there are some. */
void rfn_report_files(struct rfn_text *out, const struct rfn_report *report);
json_t *rfn_report_files_json(const struct rfn_report *report);
/* Memory of the ranks, a line of the header. */
void rfn_report_memory(struct rfn_text *out, const struct rfn_report *report);
/* Time of each MPI function. */
void rfn_report_functions(struct rfn_text *out, const struct rfn_report *report);
json_t *rfn_report_functions_json(const struct rfn_report *report);
/* Message sizes, who sends to whom, and who accesses whose memory. */
void rfn_report_messages(struct rfn_text *out, const struct rfn_report *report);
/* Latencies of messages, if they were sampled. */
void rfn_report_samples(struct rfn_text *out, const struct rfn_report *report);
/* Whether there is nothing else to report: calls were not recorded. */
static inline bool rfn_report_only_samples(const struct rfn_report *report)
{
    return report->samples && report->samples->alone;
}
/* Null where they were not. */
json_t *rfn_report_samples_json(const struct rfn_report *report);
/* One of its tables (RFN_SAMPLES_CSV_TABLES); nothing where there are no samples of that kind. */
void rfn_report_samples_csv(struct rfn_text *out, const struct rfn_report *report,
                            const char *table);
/* Adds wait_states, waits, causes, critical_path and matching to the object. */
void rfn_report_waits_json(json_t *value, const struct rfn_report *report);
/* A time; null in an archive without times. */
json_t *rfn_report_seconds(const struct rfn_report *report, double ns);
/* Adds stories and verdict. */
void rfn_report_stories_json(json_t *value, const struct rfn_report *report);

/* ---- what the parts share: report_common.c ---- */

/* Whether a row is part of setup: Init, Finalize, sessions. */
bool rfn_report_setup(const struct rfn_report *report, const struct rfn_profile_row *row);
/* A row's share of the time of all ranks. */
double rfn_report_share(const struct rfn_report *report, int64_t ns);
/* Waiting at the start and at the end of MPI: not of the main part, and so without a share. */
bool rfn_report_waits_at_ends(const struct rfn_report *report, enum rfn_pattern pattern);
/* Load balance: mean over longest, 1 where both are 0. */
double rfn_report_balance(const struct rfn_spread *time);
/* Whether waits were measured: needs times. */
bool rfn_report_has_waits(const struct rfn_report *report);
/* The recorder's own work, of the time of all ranks. */
double rfn_report_recording_share(const struct rfn_report *report);
/* How many ranks there is nothing of: the run was cut short, or the file. */
uint32_t rfn_report_missing(const struct rfn_report *report);
/* Messages of a size, in powers of two: "1 B", "512 - 1023 B", "from 2 KiB". bin: 0 for 0 bytes,
 * else from 2^(bin - 1). */
struct rfn_table;
void rfn_report_size_cell(struct rfn_table *table, unsigned bin);
/* A quantity of what was counted beside the time. */
struct rfn_quantity rfn_report_volume(const struct rfn_report *report, uint64_t volume);
/* "(7 of 40; --all shows all)" behind a table's title, if it is cut, and the end of the line.
 */
void rfn_report_end_title(struct rfn_text *out, const struct rfn_report *report, size_t n);
/* " of rank 3", " of ranks 0-3,7" where the page is about some ranks; nothing otherwise. */
void rfn_report_of_ranks(struct rfn_text *out, const struct rfn_report *report);
/* The words of a sentence, which is released, as lines; those after the first are indented. */
void rfn_report_sentence(struct rfn_text *out, const struct rfn_report *report,
                         struct rfn_text *sentence, size_t indent);
/* A call path, short, below the row of a table. */
void rfn_report_path_note(struct rfn_table *table, const struct rfn_report *report, uint32_t path);
/* The stories that the page is about. RFN_E_NOMEM. */
int rfn_report_stories_init(struct rfn_stories *stories, const struct rfn_report *report,
                            const struct rfn_measured *run);
/* What explain.h asks for. */
struct rfn_measured rfn_report_measured(const struct rfn_report *report);

/* ---- what --rank and --call-path leave: report_select.c ---- */

bool rfn_report_shows_rank(const struct rfn_report *report, uint32_t rank);
/* By the name of the MPI function, too. */
bool rfn_report_shows_call(const struct rfn_report *report, uint32_t function, uint32_t path);
/* A wait state with the time of the ranks asked for. */
struct rfn_shown_wait {
    const struct rfn_wait_row *row;
    int64_t ns;
};
/* Those that have some time, n of them, most time first; to be freed. NULL: out of memory. */
struct rfn_shown_wait *rfn_report_shown_waits(const struct rfn_report *report, size_t *n);
/* Activities of the causes and of the critical path; NULL for a number that does not exist. */
const struct rfn_activity *rfn_report_activity(const struct rfn_report *report, uint32_t activity);
bool rfn_report_shows_activity(const struct rfn_report *report, uint32_t activity);
/* Causes in which a rank asked for is late, or waits in those calls and that pattern. Fit for
 * struct rfn_cause_choice: its context is the report. */
bool rfn_report_shows_cause(const void *report, const struct rfn_cause *cause);

#endif
