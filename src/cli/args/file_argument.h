/* file_argument.h - the command line that most verbs have: options and one file; options of verbs
 * that write one; and values of options that several verbs have. What is wrong ends in a usage
 * error.
 */
#ifndef RFN_CLI_ARGS_FILE_ARGUMENT_H
#define RFN_CLI_ARGS_FILE_ARGUMENT_H

#include "cli/args/command.h"
#include "refrain/actions.h"

#include <stdbool.h>
#include <stdint.h>

struct rfn_file_argument {
    const char *file;
    bool json;    /* --json (key 'j') */
    uint64_t top; /* --top (key 't') */
    bool top_given;
};

/* Parses for rfn_command_parse; the input is a struct rfn_file_argument. */
error_t rfn_file_argument_parse(int key, char *arg, struct argp_state *state);

/* Whether the file begins as an archive does; false: it is something else, or cannot be read. */
bool rfn_is_archive_file(const char *path);

/* The file to read in place of `path`: what "-" (standard input) and pipes have is copied to a
 * temporary file, as text is read more than once; that file becomes standard input. */
const char *rfn_input_argument(struct argp_state *state, const char *path);

/* What is written. */
struct rfn_output_argument {
    const char *output; /* --output (key 'o'); NULL: not given */
    bool force, json;   /* --force (key 'f'), --json (key 'j') */
};

/* Takes these three options; ARGP_ERR_UNKNOWN for all others. */
error_t rfn_output_argument_parse(int key, char *arg, struct argp_state *state,
                                  struct rfn_output_argument *given);

/* The ranks of --rank, in place of those before, or a usage error. */
void rfn_rank_argument(struct argp_state *state, const char *text, struct rfn_rank_filter *ranks);
/* The number in an argument, or a usage error that calls it "not a WHAT". */
uint64_t rfn_number_argument(struct argp_state *state, const char *text, const char *what);
/* The nanoseconds of a time like 1.5s, 20ms or 300, or a usage error that names the option. */
int64_t rfn_time_argument(struct argp_state *state, const char *text, const char *option);
/* The times around the '-' in FROM-TO, both within; a side that is empty is left as it is. Or a
 * usage error, also where nothing lies between them. */
void rfn_window_argument(struct argp_state *state, const char *text, const char *option,
                         int64_t *from_ns, int64_t *to_ns);
/* A number above 0 and at most `most`; a whole number from least to most. Errors name the option.
 */
double rfn_positive_argument(struct argp_state *state, const char *text, const char *option,
                             double most);
long rfn_whole_argument(struct argp_state *state, const char *text, const char *option, long least,
                        long most);
/* The word of --color. */
enum rfn_colors { RFN_COLORS_AUTO, RFN_COLORS_ALWAYS, RFN_COLORS_NEVER };
enum rfn_colors rfn_colors_argument(struct argp_state *state, const char *text);
/* Whether standard output gets colours. */
bool rfn_colors_wanted(enum rfn_colors colors);
/* The MPI of --mpi: "openmpi", "mpich", or "mpiabi", any MPI with the standard ABI. */
const char *rfn_mpi_argument(struct argp_state *state, const char *text);
/* The dialect of --from: simgrid or thesis. */
enum rfn_text_dialect rfn_dialect_argument(struct argp_state *state, const char *text);
/* The factor of --scale SELECTOR=F; the text becomes SELECTOR. */
double rfn_scale_argument(struct argp_state *state, char *text);

#endif
