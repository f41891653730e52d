/* writer.h - writes an archive of events that were not recorded: predicted ones, or events of
 * another trace format.
 *
 * Make a writer, define what events refer to (functions, call paths, datatypes, communicators,
 * regions, hosts) at any time before the first event that does, make a stream for each thread of
 * each rank, and give each stream its events in order; streams may take turns. Nothing of the file
 * exists before rfn_writer_close. Events are folded as they come. Beyond 256 MiB they wait in a
 * temporary file in the folder that the environment variable TMPDIR names, else in /tmp; a stream
 * takes at least some 50 KiB. Times are whole nanoseconds, all of them are kept, and each group of
 * equal streams is stored once (`refrain reduce` goes on from there).
 *
 * A writer is used by one thread at a time. Functions return 0 or a number, or a negative enum
 * rfn_error; then the diag that rfn_writer_new was given says why, and nothing was taken: the
 * caller may go on. After RFN_E_NOMEM only rfn_writer_cancel is left.
 */
#ifndef REFRAIN_WRITER_H
#define REFRAIN_WRITER_H

#pragma GCC visibility push(default)

#include "refrain/archive.h"

struct rfn_writer;

/* How many functions a writer can define. */
enum { RFN_WRITER_FUNCTIONS_MAX = 4096 };

/* A writer of the archive `path`. RFN_E_EXISTS: there is such a file; with `force` it is replaced
 * in the end. A link of that name is not followed, but replaced. RFN_E_RANGE: the run starts before
 * 1970.
 * run: facts about the run for the archive. Read: program, command and all other texts (NULL:
 * empty), start_realtime_ns (0: not known), ranks, times, all_polls, start_off, path_ends, volume
 * (NULL: streams have no volumes) and its unit, merging and merge_seconds, forced, clustered. It is
 * copied.
 * diag: NULL, or borrowed until the writer is closed. */
int rfn_writer_new(const char *path, bool force, const struct rfn_run *run,
                   struct rfn_writer **writer, struct rfn_diag *diag);

/* ---- definitions ----
 *
 * Each returns the number of its definition, from 0 in order. A repeated definition has its old
 * number, except for datatypes and communicators: each call makes another one. Texts are copied;
 * NULL is an empty one. */

/* Its name, class, flags, and parameters with names, kinds and flags (refrain/event.h): at most
 * RFN_PARAMS_MAX inputs, and as many outcomes. */
int64_t rfn_writer_function(struct rfn_writer *writer, const struct rfn_function_info *function);

/* n frames from the call outwards, by their function, file, line, module and offset, the return
 * address in it (0: not known). Frames that were inlined into each other follow each other with the
 * same module and offset. n may be 0. Other calls of these functions are not told:
 * rfn_archive_calls_between knows nothing of a written archive. */
int64_t rfn_writer_path(struct rfn_writer *writer, const struct rfn_location *frames, size_t n);
int64_t rfn_writer_datatype(struct rfn_writer *writer, const struct rfn_datatype_info *datatype);
/* World and self have no members (n = 0). Others have n, by their ranks in MPI_COMM_WORLD or -1 for
 * a process that is not in it, each once; inter-communicators also n_remote in the other group. */
int64_t rfn_writer_comm(struct rfn_writer *writer, enum rfn_comm_kind kind, const int64_t *members,
                        uint32_t n, const int64_t *remote, uint32_t n_remote);
int64_t rfn_writer_region(struct rfn_writer *writer, const char *name);
int64_t rfn_writer_host(struct rfn_writer *writer, const char *name, uint32_t cores);

/* ---- streams and events ---- */

/* A thread of a rank, which ran on this host. volume: its events have volumes. Returns its number
 * for the functions below, from 0 in order of calls; the archive has streams in order of ranks and
 * threads. RFN_E_RANGE: there is no such rank or host, or the thread has a stream. */
int64_t rfn_writer_stream(struct rfn_writer *writer, uint32_t rank, uint32_t thread, uint32_t host,
                          bool volume);

/* A list of words of a kind (without RFN_KIND_LIST) for events of this stream. Returns the word for
 * the list; equal lists have the same, 0 is the empty one. */
int64_t rfn_writer_list(struct rfn_writer *writer, uint32_t stream, uint8_t kind,
                        const int64_t *words, size_t n);

/* The stream's next event. Read of the record: function, path, error, in and out (as many words as
 * the function says; datatypes, communicators and regions by the writer's numbers, lists by
 * rfn_writer_list), enter_ns and exit_ns (since the start of the run; ignored without times),
 * inside_ns, polls and failed_poll, volume_gap and volume_inside (ignored without volumes, and in
 * events that are no calls of MPI). inside_ns and polls matter for failed polls only: polls in a
 * row that are equal are one event (unless run->all_polls), whether they come one by one or as one
 * record. RFN_E_RANGE: a number that was not defined, or an event that begins before the one before
 * it has ended, or ends before it begins. */
int rfn_writer_event(struct rfn_writer *writer, uint32_t stream, const struct rfn_record *record);

/* Writes the file, of *bytes bytes (may be NULL), and frees the writer, also on failure; then there
 * is no file, or the old one. RFN_E_IO (a full disk, say), RFN_E_EXISTS, RFN_E_NOMEM. */
int rfn_writer_close(struct rfn_writer *writer, uint64_t *bytes);
/* Frees the writer and writes nothing. */
void rfn_writer_cancel(struct rfn_writer *writer);

#pragma GCC visibility pop

#endif
