/* samples_format.h - SAMPLES and SAMPLE_COLUMNS as they are stored (refrain-archive(5)): their
 * numbers, and writing them.
 *
 * The recorder samples with 64-bit hashes in place of call sites: they are equal on all ranks
 * before anything was merged. SAMPLES says once which function and path of the archive a hash is.
 */
#ifndef RFN_ARCHIVE_SAMPLES_FORMAT_H
#define RFN_ARCHIVE_SAMPLES_FORMAT_H

#include "archive/clock_format.h"
#include "base/buf.h"
#include "reduce/samples/sample_counts.h"
#include "reduce/samples/sample_table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Flags of SAMPLES. */
enum { RFN_SAMPLES_ALONE = 1, RFN_SAMPLES_CHANGED = 2 };

/* What a hash stands for: numbers of the archive. */
struct rfn_sample_site_number {
    uint64_t hash;
    uint32_t function, path;
};

/* All that SAMPLES says; everything is borrowed. */
struct rfn_samples_facts {
    const char *strategy; /* rfn_sample_strategy_text: shorter than RFN_SAMPLE_TEXT */
    const char *where;    /* as --sample-where has it; "": all messages */
    enum rfn_sample_analysis analysis;
    bool alone, changed;
    uint64_t messages, bytes, sampled;    /* of all ranks */
    struct rfn_sample_site_number *sites; /* in any order, and some twice: they are sorted here */
    size_t n_sites;
    struct rfn_sample_table *table; /* of all ranks, as are */
    struct rfn_sample_counts *counts;
};

/* Appends the payload of SAMPLES. RFN_E_NOMEM. */
int rfn_pack_samples(const struct rfn_samples_facts *of, struct rfn_buf *out);

/* A message that the rank has received. Times are quanta. */
struct rfn_raw_sample {
    uint32_t source;        /* rank of MPI_COMM_WORLD */
    uint64_t send, receive; /* hashes of call sites */
    uint64_t bytes, channel, position;
    double weight;
    uint64_t sent;                      /* on the clock of the source */
    uint64_t posted, entered, received; /* on the own clock */
};

/* Appends the payload of a rank's SAMPLE_COLUMNS, also if n is 0: what others received from the
 * rank needs its clock. clock: the one that TIMING of the rank's streams has. The samples are
 * sorted here: by the time at which they were received. RFN_E_NOMEM. */
int rfn_pack_sample_columns(const struct rfn_pack_clock *clock, struct rfn_raw_sample *samples,
                            size_t n, struct rfn_buf *out);

#endif
