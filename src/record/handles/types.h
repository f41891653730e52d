/* types.h - the datatypes of the process, by content.
 *
 * Datatypes are numbered in order of first use. Two types with the same content (event/datatype.h)
 * are one number, however often they are made and freed, so that loops which make their types anew
 * look the same in every iteration. Children come before their parents.
 */
#ifndef RFN_RECORD_HANDLES_TYPES_H
#define RFN_RECORD_HANDLES_TYPES_H

#include "record/core/recorder.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rec_type {
    uint32_t number;
    bool predefined;        /* not made by the program */
    int64_t size;           /* bytes of data in one element */
    uint64_t hash;          /* rfn_hash_bytes of the content */
    const uint8_t *content; /* event/datatype.h */
    size_t content_size;
};

/* Types 0 to rec_types_count() - 1. Borrowed until rec_types_release. */
uint32_t rec_types_count(void);
const struct rec_type *rec_type(uint32_t number);
void rec_types_release(void);

/* The word of a type in a list; locks. */
int64_t rec_type_word(MPI_Datatype type);

#endif
