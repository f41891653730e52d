/* pack_profiles.h - gathers the PROFILEs of time sets, one after the other, for a chunk PROFILES
 * (time_sets.h), and finds out which lists guide which.
 */
#ifndef RFN_ARCHIVE_WRITE_PACK_PROFILES_H
#define RFN_ARCHIVE_WRITE_PACK_PROFILES_H

#include "archive/write/pack_profile.h"
#include "reduce/columns/list_writer.h"

/* A time set: its PROFILE, and its lists again, to guide others. */
struct rfn_gathered_set;

struct rfn_gathered {
    struct rfn_gathered_set *sets;
    size_t n, capacity;
    size_t bytes;        /* of all PROFILEs */
    uint32_t first, end; /* numbers of the time sets: those from the first to below the end */
    struct rfn_coder_memory coder;
};

/* Adds the PROFILE of a time set, whose number is higher than those before; arguments as of
 * rfn_pack_profile, but nothing of the profile was coded ahead. Nothing is borrowed afterwards.
 * RFN_E_NOMEM, or the error of a spill. */
int rfn_gathered_add(struct rfn_gathered *gathered, uint32_t time_set,
                     const struct rfn_stream_profile *profile, const struct rfn_new_times *times,
                     const struct rfn_profile_shape *shape, const struct rfn_pack_clock *clock);

/* The same of a PROFILE that is packed already: `rest` is what stands before its lists, of which
 * there are n. Nothing is borrowed afterwards. */
int rfn_gathered_add_packed(struct rfn_gathered *gathered, uint32_t time_set, const uint8_t *rest,
                            size_t size, const struct rfn_column *lists, size_t n);

/* Whether a profile is so small that it may be in a chunk with others. */
bool rfn_gathered_small(const struct rfn_stream_profile *profile);
/* Whether it is time to make a chunk of them. */
bool rfn_gathered_enough(const struct rfn_gathered *gathered);

/* The type, id and payload of the chunk: PROFILES, or PROFILE for a single time set. Then there is
 * none. At least one. RFN_E_NOMEM. */
int rfn_gathered_pack(struct rfn_gathered *gathered, uint32_t *type, uint64_t *id,
                      struct rfn_rope *payload);
void rfn_gathered_release(struct rfn_gathered *gathered);

#endif
