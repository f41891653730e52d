/* spill.h - where data goes that is finished but does not fit into memory.
 *
 * Whoever holds large finished data (coded blocks of columns, packed payloads) is handed one of
 * these; who makes it decides what is behind it: a file of the recorder's, a buffer in tests. What
 * is written is never changed, only read again.
 */
#ifndef RFN_BASE_SPILL_H
#define RFN_BASE_SPILL_H

#include <stddef.h>
#include <stdint.h>

struct rfn_spill {
    void *context;
    /* Appends; *offset says where. 0 or a negative error: nothing was written then. */
    int (*write)(void *context, const void *bytes, size_t size, uint64_t *offset);
    /* Exactly `size` bytes from `offset`. 0 or a negative error. */
    int (*read)(void *context, uint64_t offset, void *bytes, size_t size);
};

/* A stretch of what was written. */
struct rfn_extent {
    uint64_t offset, size;
};

#endif
