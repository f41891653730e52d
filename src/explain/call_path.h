/* call_path.h - the parts of a frame in words, for the other words of this folder. */
#ifndef RFN_EXPLAIN_CALL_PATH_H
#define RFN_EXPLAIN_CALL_PATH_H

#include "refrain/explain.h"

/* The frames of a path; none for one that the archive does not have. */
struct rfn_path rfn_call_path_frames(const struct rfn_archive *archive, uint32_t path);
/* A function's name as the programmer wrote it; function is not NULL. */
void rfn_call_path_function(struct rfn_text *text, const struct rfn_location *location);
/* "halo.c", or the module where the file is not known; folders are left out. */
void rfn_call_path_file(struct rfn_text *text, const struct rfn_location *location);
/* "halo.c:40" */
void rfn_call_path_place(struct rfn_text *text, const struct rfn_location *location);

#endif
