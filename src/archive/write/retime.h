/* retime.h - an archive with the calls of another one, at other times: a run as it is predicted.
 *
 * Each stream is read again, the new times of its events are packed as the recorder packs times,
 * and all chunks that say nothing of times are taken over as they are stored. What was measured
 * beside the calls is not in it: clocks, what processes used, merging.
 */
#ifndef RFN_ARCHIVE_WRITE_RETIME_H
#define RFN_ARCHIVE_WRITE_RETIME_H

#include "archive/write/rewrite.h"
#include "refrain/archive.h"

struct rfn_retiming {
    const struct rfn_archive *archive; /* borrowed */
    const char *assumed;               /* META's `predicted`; NULL: "" */
    /* Of one stream after the other: when it began, in ns since the start of the run; then the new
     * times of its events, in order. Both also take what they are given as the default: when it
     * began, and the times as recorded. Errors end the writing; RFN_E_RANGE: the stream is damaged.
     */
    int (*open)(void *context, uint32_t stream, int64_t *start_ns);
    int (*move)(void *context, const struct rfn_record *record, int64_t *enter_ns,
                int64_t *exit_ns);
    void (*close)(void *context); /* after each open, also one that failed */
    void *context;
    struct rfn_rewrite rewrite; /* the caller may use its spill file */
    int64_t *starts;
    struct rfn_diag *diag;
};

/* Of what is set above. To be released, also after an error: RFN_E_NOMEM, RFN_E_IO. */
int rfn_retiming_init(struct rfn_retiming *times);
void rfn_retiming_release(struct rfn_retiming *times);
/* Before anything is computed: whether the archive can be written there. RFN_E_VERSION,
 * RFN_E_EXISTS unless `force`, RFN_E_INCOMPLETE, RFN_E_USAGE (the path is the archive itself). */
int rfn_retiming_check(const struct rfn_retiming *times, const char *path, bool force);
/* *bytes: the file's size. RFN_E_NOMEM, RFN_E_IO, RFN_E_CORRUPT, and errors of the functions. */
int rfn_retiming_write(struct rfn_retiming *times, const char *path, bool force, uint64_t *bytes);

#endif
