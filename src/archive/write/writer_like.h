/* writer_like.h - a writer (refrain/writer.h) of other events with the definitions of an archive:
 * functions, call paths, datatypes, communicators, hosts and regions have the same numbers, so that
 * records of its cursors can be written as they are, but for the numbers of lists.
 */
#ifndef RFN_ARCHIVE_WRITE_WRITER_LIKE_H
#define RFN_ARCHIVE_WRITE_WRITER_LIKE_H

#include "archive/read/reader.h"
#include "base/rope.h"
#include "refrain/writer.h"

/* As rfn_writer_new; META says `run`, and nothing is to be defined. The archive is borrowed, and
 * stays open. RFN_E_RANGE: it has more functions than writers have. */
int rfn_writer_new_like(const struct rfn_archive *archive, const char *path, bool force,
                        const struct rfn_run *run, struct rfn_writer **writer,
                        struct rfn_diag *diag);
/* Adds a chunk; the payload is empty afterwards. RFN_E_NOMEM, RFN_E_IO (the temporary file). */
int rfn_writer_chunk(struct rfn_writer *writer, uint32_t type, struct rfn_rope *payload);

#endif
