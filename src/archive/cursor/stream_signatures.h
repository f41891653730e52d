/* stream_signatures.h - call-path signatures: those that STREAMS has, of the recorder, and those
 * made of what an archive has (reduce/clusters/path_signature.h), as a sequence of call hashes.
 */
#ifndef RFN_ARCHIVE_CURSOR_STREAM_SIGNATURES_H
#define RFN_ARCHIVE_CURSOR_STREAM_SIGNATURES_H

#include "archive/read/reader.h"
#include "reduce/clusters/path_signature.h"

struct rfn_call_hashes {
    const struct rfn_archive *archive; /* borrowed */
    enum rfn_path_form form;
    uint64_t *of_paths; /* hashes of the frames of paths; 0: not known yet */
};

int rfn_call_hashes_init(struct rfn_call_hashes *hashes, const struct rfn_archive *archive,
                         enum rfn_path_form form); /* RFN_E_NOMEM */
void rfn_call_hashes_release(struct rfn_call_hashes *hashes);

/* That of a function that is called on a path. */
uint64_t rfn_call_hash(struct rfn_call_hashes *hashes, uint32_t function, uint32_t path);

/* Whether events of the symbol count: calls of MPI that are no unsuccessful polls. */
bool rfn_call_counts(const struct rfn_archive *archive, const struct rfn_symbol_info *symbol);

/* The signature of streams of so many events that have these values. limits: NULL, or what it may
 * take. RFN_E_NOMEM; RFN_E_CORRUPT and errors of reading trips; RFN_E_RANGE: it takes more, or
 * loops are nested beyond all measure. */
int rfn_call_signature(struct rfn_call_hashes *hashes, const struct rfn_structure *structure,
                       const struct rfn_values *values, uint64_t events,
                       struct rfn_path_limits *limits, uint64_t *signature);

/* That of a rank is its first stream's, or of several what comes of one after the other. */
uint64_t rfn_archive_merge_signatures(uint64_t before, uint64_t next);

/* Whether all streams have a signature in STREAMS. */
bool rfn_archive_is_signed(const struct rfn_archive *archive);

/* Whether the signatures in STREAMS tell the same streams apart as those of the elastic form do,
 * made anew of what is there. RFN_E_CORRUPT, RFN_E_NOMEM, and the errors of reading. */
int rfn_archive_check_signatures(const struct rfn_archive *archive, struct rfn_diag *diag);

#endif
