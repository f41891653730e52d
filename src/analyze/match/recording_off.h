/* recording_off.h - when the processes of a run had recording switched off, by MPI_Pcontrol, or
 * by the recorder itself (refrain_recording: --from, --until, --max-size).
 *
 * The calls themselves are recorded: a pause is from the exit of an MPI_Pcontrol(0) to the enter of
 * the next MPI_Pcontrol(1), whichever threads of the process made them; of a run that was started
 * with recording off, also the time before the first MPI_Pcontrol(1). What lies between two events
 * of a stream is not known where it is in a pause of the process.
 */
#ifndef RFN_ANALYZE_MATCH_RECORDING_OFF_H
#define RFN_ANALYZE_MATCH_RECORDING_OFF_H

#include "refrain/archive.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* INT64_MIN, INT64_MAX where it has no beginning or end in the record. */
struct rfn_off_time {
    int64_t from_ns, to_ns;
};

/* The pauses of one process, in order of time. */
struct rfn_off_times {
    struct rfn_off_time *items;
    size_t n, capacity;
};

/* Whether events of the function switch recording, by their first input: 0 off, 1 on. */
bool rfn_switches_recording(const struct rfn_archive *archive, uint32_t function);
/* Whether any process of the run may have paused: else nothing needs to be read. */
bool rfn_off_times_possible(const struct rfn_archive *archive);
/* Finds the pauses of the process whose streams are first to end - 1, reading all of their events.
 * Streams that cannot be read count as far as they go. Replaces what was there. RFN_E_NOMEM. */
int rfn_off_times_find(struct rfn_off_times *pauses, const struct rfn_archive *archive,
                       uint32_t first, uint32_t end);
/* The same of the process that a stream belongs to. */
int rfn_off_times_of(struct rfn_off_times *pauses, const struct rfn_archive *archive,
                     uint32_t stream);
/* The same of all processes; *by_rank is NULL where none can have paused, else has as many as there
 * are ranks. To be freed, also after an error. RFN_E_NOMEM. */
int rfn_off_times_by_rank(const struct rfn_archive *archive, struct rfn_off_times **by_rank);
void rfn_off_times_by_rank_free(const struct rfn_archive *archive, struct rfn_off_times *by_rank);
/* How much of a time is in pauses. Times of a stream are asked for in ascending order; *at, first
 * 0, is the first pause that may not be over for it. */
int64_t rfn_off_times_overlap(const struct rfn_off_times *pauses, size_t *at, int64_t from_ns,
                              int64_t to_ns);
void rfn_off_times_release(struct rfn_off_times *pauses);

#endif
