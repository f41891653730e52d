/* file_argument.h - the command line that most verbs have: options and one file. */
#ifndef RFN_CLI_ARGS_FILE_ARGUMENT_H
#define RFN_CLI_ARGS_FILE_ARGUMENT_H

#include "cli/args/command.h"

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

/* The ranks of --rank, in place of those before, or a usage error. */
void rfn_rank_argument(struct argp_state *state, const char *text, struct rfn_rank_filter *ranks);
/* The number in an argument, or a usage error that calls it "not a WHAT". */
uint64_t rfn_number_argument(struct argp_state *state, const char *text, const char *what);
/* The nanoseconds of a time like 1.5s, 20ms or 300, or a usage error that names the option. */
int64_t rfn_time_argument(struct argp_state *state, const char *text, const char *option);

#endif
