/* print_text.h - text on standard output. */
#ifndef RFN_CLI_TEXT_PRINT_TEXT_H
#define RFN_CLI_TEXT_PRINT_TEXT_H

#include "refrain/text.h"

/* Writes the text to standard output through stdio and empties it: 0, or -1 when the reader has
 * gone or the disk is full (errno says). */
int rfn_text_print(struct rfn_text *text);
/* The errno of the first print that failed; 0: none has. */
int rfn_text_print_error(void);
/* The same past stdio, for large output; nothing may be in stdio's buffer. */
int rfn_text_write(struct rfn_text *text);

#endif
