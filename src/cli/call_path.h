/* call_path.h - call paths as text. */
#ifndef RFN_CLI_CALL_PATH_H
#define RFN_CLI_CALL_PATH_H

#include "cli/text.h"
#include "refrain/archive.h"

/* All frames, outermost first, each a word, joined by " > ": function[file:line]; where the file is
 * not known function[module+0xoffset], where the function is not either [module+0xoffset]. */
void rfn_call_path_full(struct rfn_text *text, const struct rfn_archive *archive, uint32_t path);

/* For people: frames of the program, the innermost, from which MPI is called, first:
 * "exchange (halo.c:40) < step (main.c:12) < main (main.c:30)". Frames inside MPI and the recorder
 * are left out. What is beyond `width` is cut at the outer end, between frames, and "< ..." says
 * so; the innermost frame is always there. */
void rfn_call_path_short(struct rfn_text *text, const struct rfn_archive *archive, uint32_t path,
                         size_t width);

/* Whether a frame is inside MPI or the recorder. */
bool rfn_call_path_internal(const struct rfn_location *location);

#endif
