/* pack_profile.h - writes what was reduced as the payload of PROFILE, and what META says of it
 * (refrain-archive(5)).
 *
 * In two steps: rfn_new_times takes the times of new segments from a finished profile, in the order
 * in which they were executed first, and makes the columns of the symbols; a rope then borrows from
 * these and from the profile's own.
 */
#ifndef RFN_ARCHIVE_WRITE_PACK_PROFILE_H
#define RFN_ARCHIVE_WRITE_PACK_PROFILE_H

#include "archive/write/pack.h"
#include "reduce/segments/contexts.h"
#include "reduce/segments/stream_profile.h"

/* What the file's numbers mean: symbols, loops and contexts as STRUCTURE counts them. Borrowed. */
struct rfn_profile_loop {
    bool cuts;
    uint32_t n_contexts;      /* if it cuts: stretches of its body */
    const uint32_t *contexts; /* their numbers in the profile; any number that the profile does not
                                 have stands for one that was never executed */
};

struct rfn_profile_shape {
    const bool *failed_polls; /* per symbol */
    uint32_t n_symbols;
    const struct rfn_profile_loop *loops;
    uint32_t n_loops;
    bool volumes;         /* events have volumes */
    bool volumes_dropped; /* extra values have them, and the file not */
};

/* A shape with its arrays, to be filled in by its maker. */
struct rfn_own_shape {
    struct rfn_profile_shape shape; /* borrows the arrays */
    bool *failed_polls;             /* per symbol: false */
    struct rfn_profile_loop *loops; /* none cuts */
    uint32_t *contexts;             /* n_contexts of them: 0, 1, 2... */
};

/* RFN_E_NOMEM. Either way to be released. */
int rfn_own_shape_make(struct rfn_own_shape *shape, uint32_t n_symbols, uint32_t n_loops,
                       uint32_t n_contexts);
void rfn_own_shape_release(struct rfn_own_shape *shape);
/* Says of a loop that it cuts: its body, with loops as `contexts` numbers them, as `of` there. */
void rfn_own_shape_cuts(struct rfn_own_shape *shape, uint32_t loop,
                        const struct rfn_contexts *contexts, uint32_t of, const rfn_node *body,
                        size_t length);

/* The values of new segments, per symbol. Extra values of segments are, per event in order: polls
 * and time inside, if its symbol is a failed poll; then volume gap and volume inside, if there are
 * volumes. */
struct rfn_new_times {
    struct rfn_column *columns; /* as PROFILE has them */
    size_t n;
};

/* What takes more than the room goes to its spill. RFN_E_NOMEM. Either way to be released. The
 * profile is finished. */
int rfn_new_times_make(struct rfn_new_times *times, const struct rfn_stream_profile *profile,
                       const struct rfn_profile_shape *shape, struct rfn_room room);
void rfn_new_times_release(struct rfn_new_times *times);

enum { RFN_CLOCK_KIND_RUN = 3 }; /* quanta are ns since the start of the run; there are no pairs */

/* Calls visit for the columns of each list (which representative is executed), in the order of
 * PROFILE; NULL: it is empty. */
void rfn_profile_lists(const struct rfn_stream_profile *profile,
                       const struct rfn_profile_shape *shape,
                       void (*visit)(void *context, const struct rfn_execution_columns *columns),
                       void *context);

/* What of the payload of PROFILE stands before the lists; as rfn_pack_profile. memory: the adaptive
 * coder's. */
int rfn_pack_profile_rest(const struct rfn_stream_profile *profile,
                          const struct rfn_new_times *times, const struct rfn_profile_shape *shape,
                          const struct rfn_pack_clock *clock, struct rfn_coder_memory *memory,
                          struct rfn_rope *out);

/* Payload of PROFILE. The clock's `start` is not after the profile's first segment. The rope
 * borrows from times and profile. */
int rfn_pack_profile(const struct rfn_stream_profile *profile, const struct rfn_new_times *times,
                     const struct rfn_profile_shape *shape, const struct rfn_pack_clock *clock,
                     struct rfn_rope *out);

/* The same of a stream whose times were reduced while it was recorded, after rfn_stream_reduce. The
 * rope borrows from the stream and from *times, which is to be released in any case. RFN_E_NOMEM,
 * or an error of the stream's spill. */
int rfn_pack_reduced(const struct rfn_stream *stream, const struct rfn_pack_clock *clock,
                     struct rfn_new_times *times, struct rfn_rope *out);

#endif
