/* same_paths.h - call paths that read the same.
 *
 * An archive tells call paths apart by their return addresses. A compiler that inlines a function,
 * or unrolls a loop, makes several addresses of one call in the source; people want to hear of it
 * once. Paths are the same if all of their frames have the same function, file and line. */
#ifndef RFN_EXPLAIN_SAME_PATHS_H
#define RFN_EXPLAIN_SAME_PATHS_H

#include "refrain/archive.h"

struct rfn_same_paths {
    uint32_t *first; /* by path: the lowest path that reads the same */
    uint32_t n;
};

/* RFN_E_NOMEM. */
int rfn_same_paths_init(struct rfn_same_paths *same, const struct rfn_archive *archive);
void rfn_same_paths_release(struct rfn_same_paths *same);

/* The path that stands for one; that itself, if the archive does not have it. */
uint32_t rfn_same_paths_first(const struct rfn_same_paths *same, uint32_t path);

#endif
