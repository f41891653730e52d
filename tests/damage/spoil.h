/* spoil.h - how files are damaged: bytes of them, or, with checksums that are right, what they say.
 *
 * The number that the chance begins with decides, on every machine.
 */
#ifndef TESTS_DAMAGE_SPOIL_H
#define TESTS_DAMAGE_SPOIL_H

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>

struct chance {
    uint64_t state;
};

/* A number below n, which is not 0. */
uint64_t chance_below(struct chance *chance, uint64_t n);

struct file_bytes {
    uint8_t *bytes;
    size_t size;
};

/* Some bytes are changed, taken out, put in, or come from elsewhere in the file, or the file is
 * cut. The result differs from what it was, and is to be freed. `what` is a word for messages. */
struct file_bytes spoil_bytes(struct chance *chance, const struct file_bytes *sound,
                              const char **what);

/* One to three bytes changed, taken out or put in; numbers like to be at their limits. May be the
 * same as before. To be freed. */
struct file_bytes spoil_payload(struct chance *chance, const uint8_t *bytes, size_t size);

/* Which part of an archive was forged. */
struct forged {
    uint32_t type; /* of the chunk */
    bool moved;    /* chunks are missing, there twice, or have another's type, number or payload */
};

/* An archive with a chunk that says something else, and right checksums. False: the archive cannot
 * be taken apart. To be freed. */
bool spoil_archive(struct chance *chance, const struct file_bytes *sound, struct file_bytes *made,
                   struct forged *forged);

#endif
