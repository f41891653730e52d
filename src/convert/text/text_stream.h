/* text_stream.h - the text of a file, plain or compressed by gzip or zstd, in order.
 *
 * Which of them it is its first bytes say. A program that replays reads a file per rank, so a
 * stream keeps no file open: it opens it for each piece. The file must not change meanwhile.
 */
#ifndef RFN_CONVERT_TEXT_TEXT_STREAM_H
#define RFN_CONVERT_TEXT_TEXT_STREAM_H

#include "refrain/error.h"

#include <stddef.h>

struct rfn_text_stream;

/* RFN_E_IO; RFN_E_UNSUPPORTED: compressed by what this build does not know (diag names the
 * package); RFN_E_NOMEM. */
int rfn_text_stream_open(const char *path, struct rfn_text_stream **stream, struct rfn_diag *diag);
void rfn_text_stream_close(struct rfn_text_stream *stream);

/* The next line, without its end, borrowed until the next call. 1; 0: there is none; RFN_E_IO,
 * RFN_E_CORRUPT (damaged compressed data, a line of more than 64 MiB), RFN_E_INCOMPLETE,
 * RFN_E_NOMEM. */
int rfn_text_stream_line(struct rfn_text_stream *stream, const char **line, size_t *length,
                         struct rfn_diag *diag);
/* Number of the line that was delivered last, from 1. */
uint64_t rfn_text_stream_number(const struct rfn_text_stream *stream);
/* Share of the file that was read, 0 to 1. */
double rfn_text_stream_share(const struct rfn_text_stream *stream);

#endif
