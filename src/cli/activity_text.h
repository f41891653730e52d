/* activity_text.h - what a rank did (refrain/waits.h), in words: "computing in smooth()
 * [solver.c:198-211]".
 *
 * Computing lies between two calls of MPI, each with a call path. It is named after the deepest
 * function that both paths have in common, from main inwards, with the lines of that function from
 * which the one and the other call were reached. Where the second line is not behind the first the
 * program went round a loop: in that function, or in its caller, which called it again. Call paths
 * cannot tell, so both are named.
 */
#ifndef RFN_CLI_ACTIVITY_TEXT_H
#define RFN_CLI_ACTIVITY_TEXT_H

#include "cli/text.h"
#include "refrain/waits.h"

/* Goes behind "rank 3": "computing in smooth() [solver.c:211]", "computing in region step (main()
 * [a.c:3-9])", "computing between MPI_Init and MPI_Barrier in main() [a.c:3-9]", "in MPI_Send,
 * exchange() [halo.c:88], moving data", "waiting in MPI_Recv, ...", "starting later than others".
 */
void rfn_activity_append(struct rfn_text *text, const struct rfn_archive *archive,
                         const struct rfn_activity *activity);

/* The function of the program that a computation is in, or that makes the call, by the name that
 * the linker sees; NULL where it is not known. Borrowed from the archive. */
const char *rfn_activity_function(const struct rfn_archive *archive,
                                  const struct rfn_activity *activity);

/* Where in the program a call is made: "exchange() [halo.c:88]"; the function's name, "MPI_Recv",
 * where the path is not known. */
void rfn_call_site_place(struct rfn_text *text, const struct rfn_archive *archive,
                         struct rfn_call_site site);

/* The call with its path, innermost first, cut at width as rfn_call_path_short does: "MPI_Recv <
 * exchange (halo.c:88) < main (halo.c:120)". */
void rfn_call_site_path(struct rfn_text *text, const struct rfn_archive *archive,
                        struct rfn_call_site site, size_t width);

/* "MPI_Recv"; "?" if there is no such function. */
const char *rfn_call_site_function(const struct rfn_archive *archive, struct rfn_call_site site);
/* From where in the program the call is made; false: not known. */
bool rfn_call_site_location(const struct rfn_archive *archive, struct rfn_call_site site,
                            struct rfn_location *location);
/* enum rfn_class of the called function. */
uint8_t rfn_call_site_class(const struct rfn_archive *archive, struct rfn_call_site site);
/* Whether the called function tells at once if something is there: MPI_Test, MPI_Iprobe, ... */
bool rfn_call_site_polls(const struct rfn_archive *archive, struct rfn_call_site site);
bool rfn_call_site_collective(const struct rfn_archive *archive, struct rfn_call_site site);
/* Whether it is in a call that polls, or between two calls of one such place. */
bool rfn_activity_polls(const struct rfn_archive *archive, const struct rfn_activity *activity);

/* The function that a computation is a piece of work of: where it may have been called again, its
 * caller. NULL if it is not known, or for what is no computation. */
const char *rfn_activity_work(const struct rfn_archive *archive,
                              const struct rfn_activity *activity);

/* "compute", "mpi", "wait", "start". */
const char *rfn_activity_kind_name(enum rfn_activity_kind kind);

#endif
