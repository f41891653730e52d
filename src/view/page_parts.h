/* page_parts.h - what a page holds of an archive, as bytes.
 *
 * Numbers of fixed size are little-endian; others are LEB128 (base/buf.h).
 *
 *   archive   the archive's chunks without compression of their own (the page is compressed as a
 *             whole), without those that the page has no use for
 *   overview  u32 streams, u32 bins, f64 from_ns, f64 to_ns, then two planes of streams * bins
 *             bytes: kind of the MPI calls, share of MPI (refrain/timeline.h)
 *   waits     varint of all waits that there were, varint n of those that follow, by stream and
 *             time; then six columns of n numbers: varint streams since the wait before, svarint
 *             from_ns since that one's to_ns (since 0, where it is another stream's), varint
 *             length, varint pattern, varint late stream + 1 (0: none), svarint late_ns - to_ns
 *   names     of each function whose name people know otherwise: the linker's name, the short one
 *             and the demangled one (refrain/demangle.h), each a varint length and so many bytes
 */
#ifndef RFN_VIEW_PAGE_PARTS_H
#define RFN_VIEW_PAGE_PARTS_H

#include "base/buf.h"
#include "refrain/timeline.h"
#include "refrain/view.h"

/* RFN_E_NOMEM, RFN_E_IO, RFN_E_UNSUPPORTED: it is too large. Without chunks that are damaged. */
int rfn_page_archive_part(const struct rfn_archive *archive, struct rfn_buf *out,
                          struct rfn_diag *diag);
int rfn_page_overview_part(const struct rfn_page_archive *of,
                           void (*progress)(void *context, double share), void *context,
                           struct rfn_buf *out);
int rfn_page_waits_part(const struct rfn_seen_waits *waits, struct rfn_buf *out);
int rfn_page_names_part(const struct rfn_archive *archive, struct rfn_buf *out);

#endif
