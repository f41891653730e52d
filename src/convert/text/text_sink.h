/* text_sink.h - a file of text that is written, plain or compressed by gzip or zstd. With `force`
 * an old file of the name stays until rfn_text_sink_place (base/part_file.h). */
#ifndef RFN_CONVERT_TEXT_TEXT_SINK_H
#define RFN_CONVERT_TEXT_TEXT_SINK_H

#include "base/buf.h"
#include "refrain/text.h"

struct rfn_text_sink;

/* How long the suffix is that a path has for compression; 0: none. */
size_t rfn_text_sink_suffix(const char *path);

/* The path's end decides on the form. RFN_E_EXISTS, RFN_E_IO, RFN_E_UNSUPPORTED (no gzip in this
 * build), RFN_E_NOMEM. */
int rfn_text_sink_open(const char *path, bool force, struct rfn_text_sink **sink,
                       struct rfn_diag *diag);
/* Where text goes: append here, and now and then have it written. */
struct rfn_buf *rfn_text_sink_text(struct rfn_text_sink *sink);
/* Writes what there is, if it is much. RFN_E_IO, RFN_E_NOMEM. */
int rfn_text_sink_flow(struct rfn_text_sink *sink, struct rfn_diag *diag);
/* Appends a text and empties it; writes what there is, if it is much. RFN_E_IO, RFN_E_NOMEM. */
int rfn_text_sink_take(struct rfn_text_sink *sink, struct rfn_text *text, struct rfn_diag *diag);
/* Ends the file, and frees the sink in any case; after an error there is no file. *bytes,
 * *file_bytes: text, and size of the file, are added to. */
int rfn_text_sink_close(struct rfn_text_sink *sink, uint64_t *bytes, uint64_t *file_bytes,
                        struct rfn_diag *diag);
/* The file that was closed takes the place of the old one. RFN_E_IO. */
int rfn_text_sink_place(const char *path, bool force, struct rfn_diag *diag);
/* Removes the file. */
void rfn_text_sink_cancel(struct rfn_text_sink *sink);

#endif
