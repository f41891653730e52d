/* time_sets.h - the payload PROFILES: those of PROFILE of several time sets in one
 * (refrain-archive(5), PROFILES).
 *
 * A run of many processes has many small PROFILEs, much alike. Together they compress as one, and
 * the lists of one (which representative is executed, segment by segment) guide those of the next.
 */
#ifndef RFN_ARCHIVE_READ_TIME_SETS_H
#define RFN_ARCHIVE_READ_TIME_SETS_H

#include "archive/read/chunks.h"

/* A list is guided by one that is guided by one ... at most so many in all; a payload is no larger
 * than this: who reads one time set decompresses all of it. */
enum { RFN_GUIDES_MAX = 4, RFN_PROFILES_BYTES_MAX = 1 << 24 };

/* Its id says which time sets are in it: those with numbers from `first` to below `end`. */
static inline uint64_t rfn_time_set_table_id(uint32_t first, uint32_t end)
{
    return (uint64_t)first << 32 | end;
}

static inline uint32_t rfn_time_set_table_first(uint64_t id)
{
    return (uint32_t)(id >> 32);
}

static inline uint32_t rfn_time_set_table_end(uint64_t id)
{
    return (uint32_t)id;
}

/* The chunk of this type with the time set, or -1. */
int64_t rfn_time_set_table_find(const struct rfn_chunks *chunks, uint32_t time_set);

/* Lists of another time set. */
struct rfn_guide {
    struct rfn_payload payload; /* owned */
    size_t *columns;            /* where each begins, and so where the one before it ends */
    uint32_t n;
};

/* Those of a time set: the lists of [i] are guided by those of [i + 1]. */
struct rfn_guides {
    struct rfn_guide guides[RFN_GUIDES_MAX];
    unsigned n;
};

void rfn_guides_release(struct rfn_guides *guides);

/* A payload of PROFILES, and where what it has of each time set lies: that is looked at once, for
 * all of them. (A time set then takes as long as it and its guides are large.) */
struct rfn_time_set_place;
struct rfn_time_set_table {
    struct rfn_payload payload; /* owned */
    uint32_t n;                 /* time sets */
    struct rfn_time_set_place *places;
};

/* Takes over the payload; time_sets: the numbers of those in it, which rise. Returns what is wrong,
 * or NULL; to be released even so. */
const char *rfn_time_set_table_read(struct rfn_time_set_table *profiles, const uint32_t *time_sets,
                                    uint32_t n, struct rfn_payload *payload);
void rfn_time_set_table_release(struct rfn_time_set_table *profiles);

/* Makes the payload of PROFILE of a time set, and fills guides. Returns what is wrong, or NULL;
 * payload and guides are to be released either way. */
const char *rfn_time_set_table_take(const struct rfn_time_set_table *profiles, uint32_t time_set,
                                    struct rfn_payload *payload, struct rfn_guides *guides);

#endif
