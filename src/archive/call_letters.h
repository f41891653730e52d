/* call_letters.h - call-path signatures of what an archive has (reduce/path_signature.h): the
 * letters that its call paths are, and the signatures of value sets.
 */
#ifndef RFN_ARCHIVE_CALL_LETTERS_H
#define RFN_ARCHIVE_CALL_LETTERS_H

#include "archive/reader.h"
#include "reduce/path_signature.h"

struct rfn_call_letters {
    const struct rfn_archive *archive; /* borrowed */
    enum rfn_path_form form;
    uint64_t *of_paths; /* hashes of the frames of paths; 0: not known yet */
};

int rfn_call_letters_init(struct rfn_call_letters *letters, const struct rfn_archive *archive,
                          enum rfn_path_form form); /* RFN_E_NOMEM */
void rfn_call_letters_release(struct rfn_call_letters *letters);

/* That of a function that is called on a path. */
uint64_t rfn_call_letter(struct rfn_call_letters *letters, uint32_t function, uint32_t path);

/* Whether events of the symbol count: calls of MPI that are no unsuccessful polls. */
bool rfn_call_counts(const struct rfn_archive *archive, const struct rfn_symbol_info *symbol);

/* The signature of streams of so many events that have these values. limits: NULL, or what it may
 * take. RFN_E_NOMEM; RFN_E_CORRUPT and errors of reading trips; RFN_E_RANGE: it takes more, or
 * loops are nested beyond all measure. */
int rfn_call_signature(struct rfn_call_letters *letters, const struct rfn_structure *structure,
                       const struct rfn_values *values, uint64_t events,
                       struct rfn_path_limits *limits, uint64_t *signature);

#endif
