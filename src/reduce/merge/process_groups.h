/* process_groups.h - streams that went alike share one profile (Mohror 2010, 4.2.3;
 * doc/trace-profiling.md, Across processes).
 *
 * A set of streams is known by the times of its lowest stream. Sets are in lists, and lists are
 * joined in pairs: each set of the right one joins the first of the left one that it matches, or
 * follows them. Who joins which lists, and so what comes of it, is the rule that the page states;
 * here are its steps, for an archive and for the end of a run, and the run itself
 * (rfn_process_groups_run).
 */
#ifndef RFN_REDUCE_MERGE_PROCESS_GROUPS_H
#define RFN_REDUCE_MERGE_PROCESS_GROUPS_H

#include "reduce/merge/exchange.h"
#include "reduce/merge/profile_copy.h"

enum { RFN_TIME_SETS_OF_CLASS = 64 }; /* that a list has at most */

struct rfn_time_set {
    uint64_t stream;           /* the lowest, over all processes: its times are those of all */
    struct rfn_hash128 class_; /* sets of different classes do not match */
    struct rfn_buf copy;       /* profile_copy.h; empty where all of a class are alike. Owned */
};

/* In order of their streams. */
struct rfn_time_sets {
    struct rfn_time_set *sets;
    size_t n, capacity;
    size_t bytes; /* of all copies */
};

void rfn_time_sets_release(struct rfn_time_sets *sets); /* it is empty and usable again */

/* Streams that executed the same segments, in the same structure, and have the same sort of values:
 * the group, as the archive numbers it, and whether there are volumes. */
struct rfn_hash128 rfn_time_class(const struct rfn_stream_profile *profile, uint64_t group,
                                  bool volume);

/* Appends the set of one stream, with a higher number than those before it. 1; 0: its copy would
 * take more than max_bytes (0: no limit), and it is not in the list; RFN_E_NOMEM, or an error of
 * its spill. */
int rfn_time_sets_add(struct rfn_time_sets *sets, uint64_t stream, struct rfn_hash128 class_,
                      const struct rfn_stream_profile *profile, const struct rfn_time_line *line,
                      size_t max_bytes);

/* The same without a copy, for a criterion by which all of a class are alike. RFN_E_NOMEM. */
int rfn_time_sets_add_class(struct rfn_time_sets *sets, uint64_t stream, struct rfn_hash128 class_);

/* What a set has become that found no room in the left list. */
#define RFN_TIME_SET_ALONE UINT32_MAX

/* Joins the right list to the left one. joined[i], of as many as the right list has: the set of the
 * left one that its i-th now is in, or RFN_TIME_SET_ALONE. max_bytes: of copies in the left list;
 * 0: no limit. The right one is empty afterwards. RFN_E_NOMEM, RFN_E_EXCHANGE: both lists can only
 * be released. */
int rfn_time_sets_join(struct rfn_time_sets *left, struct rfn_time_sets *right,
                       const struct rfn_criterion *criterion, size_t max_bytes, uint32_t *joined);

/* ---- along the tree, at the end of a run ---- */

struct rfn_process_groups {
    const struct rfn_criterion *criterion;
    size_t max_bytes; /* of copies that a process holds; 0: no limit */
    /* Of this process, before: its sets (emptied meanwhile), and how many streams are in none. */
    struct rfn_time_sets sets;
    uint64_t alone;
    /* Afterwards: the stream whose times those of each of the sets are, owned; over all processes
     * how many sets of times there are, on rank 0. */
    uint64_t *streams;
    uint64_t n_sets;
};

/* Collective. error: this process takes part but has failed. An error on any rank is one on rank 0
 * and those below it; groups->streams is NULL then, and each stream stands for itself. To be
 * released in any case. */
int rfn_process_groups_run(struct rfn_process_groups *groups, struct rfn_exchange *exchange,
                           int error);
void rfn_process_groups_release(struct rfn_process_groups *groups);

#endif
