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

/* The parts of that: a function's name as the programmer wrote it (function is not NULL), and
 * "halo.c:40", enough to find the place; folders of the file are left out. */
void rfn_call_path_function(struct rfn_text *text, const struct rfn_location *location);
void rfn_call_path_place(struct rfn_text *text, const struct rfn_location *location);

/* Whether the name of a frame's function, as the linker or the programmer knows it, or its
 * "file:line", contains the wanted text. */
bool rfn_call_path_matches(const struct rfn_archive *archive, uint32_t path, const char *wanted);

/* A line "Paths     of the outermost frame and the 2 innermost ones only", its first word filled up
 * to width; nothing where paths have all their frames. */
void rfn_path_ends_line(struct rfn_text *text, const struct rfn_run *run, int width);

/* Whether a frame is inside MPI or the recorder. */
bool rfn_call_path_internal(const struct rfn_location *location);

#endif
