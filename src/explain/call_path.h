/* call_path.h - the parts of a frame in words, for the other words of this folder. */
#ifndef RFN_EXPLAIN_CALL_PATH_H
#define RFN_EXPLAIN_CALL_PATH_H

#include "refrain/explain.h"

/* The frames of a path; none for one that the archive does not have. */
struct rfn_path rfn_call_path_frames(const struct rfn_archive *archive, uint32_t path);
/* A path as rfn_call_path_short has it, of at most so many names. */
void rfn_call_path_cut(struct rfn_text *text, const struct rfn_archive *archive, uint32_t path,
                       size_t width, uint32_t most);
/* A function's name for people (rfn_short_name); function is not NULL. */
void rfn_call_path_function(struct rfn_text *text, const struct rfn_location *location);
/* "exchange()"; "code after exchange()+0x1f40" */
void rfn_call_path_called(struct rfn_text *text, const struct rfn_location *location);
/* "halo.c", or the module where the file is not known; folders are left out. */
void rfn_call_path_file(struct rfn_text *text, const struct rfn_location *location);
/* "halo.c:40" */
void rfn_call_path_place(struct rfn_text *text, const struct rfn_location *location);

#endif
