/* temp_file.h - a temporary file for what is decompressed and too large for memory.
 *
 * One per open archive, made when it is first needed, in $TMPDIR or /tmp, without a name. A chunk
 * is decompressed there once. Several threads may use it at the same time. Where no file can be
 * made or written the functions say so, and the data must stay in memory.
 */
#ifndef RFN_ARCHIVE_TEMP_FILE_H
#define RFN_ARCHIVE_TEMP_FILE_H

#include "base/map.h"
#include "base/spill.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A file without a name there, to read and write; -1: it cannot be made. */
int rfn_temp_file_file(void);

struct rfn_temp_file {
    struct rfn_spill store; /* reads; RFN_E_IO, RFN_E_INCOMPLETE */
    pthread_mutex_t lock;   /* for what follows */
    int fd;                 /* -1: not made */
    uint64_t end;
    struct rfn_map chunks; /* place of a chunk in the archive -> place of its payload here */
};

/* NULL: out of memory. */
struct rfn_temp_file *rfn_temp_file_new(void);
void rfn_temp_file_free(struct rfn_temp_file *scratch); /* may be NULL */

/* Whether the payload of the chunk at that place of the archive is here, and where. */
bool rfn_temp_file_find(struct rfn_temp_file *scratch, uint64_t chunk, uint64_t *offset);

/* Room for a payload; then its bytes, in any order; then that it is all there. RFN_E_IO: that
 * cannot be done here (nothing is to be said to the user), RFN_E_NOMEM. */
int rfn_temp_file_reserve(struct rfn_temp_file *scratch, uint64_t size, uint64_t *offset);
int rfn_temp_file_write(struct rfn_temp_file *scratch, uint64_t offset, const void *bytes,
                        size_t size);
int rfn_temp_file_keep(struct rfn_temp_file *scratch, uint64_t chunk, uint64_t offset);
/* Gives room back that has not been kept. */
void rfn_temp_file_drop(struct rfn_temp_file *scratch, uint64_t offset, uint64_t size);

#endif
