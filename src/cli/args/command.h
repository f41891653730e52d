/* command.h - what a verb of the tool is, and what all verbs share.
 *
 * A verb is a file cmd_VERB.c that exports one struct rfn_command; main.c holds the table of them.
 * The help texts and the shell's completion come from the structure, so that a verb describes
 * itself in one place. A verb's run function parses its arguments with rfn_command_parse and
 * returns the exit status; only this folder prints and exits.
 */
#ifndef RFN_CLI_ARGS_COMMAND_H
#define RFN_CLI_ARGS_COMMAND_H

#include "cli/args/rank_filter.h"
#include "cli/text/print_text.h"
#include "refrain/archive.h"

#include <argp.h>
#include <jansson.h>

struct rfn_command {
    const char *name;
    const char *summary; /* one line without a full stop, for the list of verbs */
    const char *usage;   /* the arguments after the options, as "FILE", for argp's args_doc */
    const char *about;   /* paragraphs and examples below the options; argp fills the lines */
    const struct argp_option *options; /* ends with {0}; NULL: none but --help */
    const char
        *values;   /* words that options take, for completion: "--time=full,none --polls=..." */
    bool per_rank; /* every rank of a job runs it: of a wrong command line one of them tells */
    /* argv[0] is "refrain VERB". Returns an enum rfn_exit, or what the verb documents. */
    int (*run)(const struct rfn_command *command, int argc, char **argv);
};

/* Groups of options: `refrain VERB --help` shows the common ones, `refrain help VERB` all. No group
 * is the common one. */
enum { RFN_OPTIONS_COMMON = 1, RFN_OPTIONS_MORE, RFN_OPTIONS_RESEARCH };
enum { RFN_COMMAND_OPTIONS = 64 }; /* more than any verb has, with titles and the last row */

/* Help shows all options from now on. */
void rfn_command_help_all(void);

/* Whether a table of options ends here. */
static inline bool rfn_option_is_last(const struct argp_option *option)
{
    return !option->name && !option->key && !option->doc;
}

/* An option's short form; 0: none. */
static inline char rfn_option_letter(const struct argp_option *option)
{
    return option->key > ' ' && option->key < 127 ? (char)option->key : 0;
}

/* Whether the first word that is no option is a program, and the words after it are the program's.
 */
bool rfn_command_runs_program(const struct rfn_command *command);

/* Parses the arguments with glibc's argp: parser is called per option and argument, with input in
 * its state. Prints help on --help and exits 0; on a wrong option prints why (of the ranks of a job
 * only the first of a program, if the verb is run by each) and exits with RFN_EXIT_USAGE; returns
 * otherwise. In the parser call argp_error(state, ...) for wrong usage. A rank that does not tell
 * what is wrong ends some seconds after it failed, now or later, where the launcher might else end
 * that one before it has told. */
void rfn_command_parse(const struct rfn_command *command, argp_parser_t parser, int argc,
                       char **argv, void *input);

/* Prints "refrain: " and the message (printf-like, no newline) on standard error. */
void rfn_command_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints why a library function failed: diag's text, or the error's own when diag (may be NULL) is
 * empty, behind the name of the file concerned (may be NULL) unless the text names it already.
 * Where that is an archive that does not exist, but the run left journals, or a rank that called
 * MPI_Abort its own archive, that is named too. Returns the exit status that belongs to the error.
 */
int rfn_command_fail(const char *file, int error, const struct rfn_diag *diag);

/* Opens an archive; 0, or the exit status after telling why it cannot be opened. */
int rfn_command_open(const char *file, struct rfn_archive **archive);
/* 0, or the exit status after telling that the archive has samples of messages alone, and no calls
 * to work on. */
int rfn_command_check_calls(const struct rfn_archive *archive, const char *file);
/* Opens an archive that has calls; 0, or the exit status after telling why not. */
int rfn_command_open_calls(const char *file, struct rfn_archive **archive);
/* The exit status: `status`, or RFN_EXIT_BAD_INPUT after telling that the archive is incomplete. */
int rfn_command_check_complete(const struct rfn_archive *archive, const char *file, int status);
/* The same for verbs that give numbers, which are about less than the run where the archive is
 * incomplete or calls were left out on request. That is told once: as first lines of the page, with
 * the file's name if it is not NULL; or on standard error, where page is NULL. */
int rfn_command_tell_missing(const struct rfn_archive *archive, const char *file,
                             struct rfn_text *page, int status);
/* 0, or RFN_EXIT_USAGE after telling which rank of the filter (may be NULL) the run does not have.
 */
int rfn_command_check_ranks(const struct rfn_archive *archive, const char *file,
                            const struct rfn_rank_filter *ranks);

/* Prints the text on standard output and releases it: `status`, or RFN_EXIT_FAILURE with a message
 * when memory ran out. file: as above. */
int rfn_command_print(struct rfn_text *text, const char *file, int status);
/* The same of a page for people, through a pager where it is long (cli/text/pager.h). */
int rfn_command_print_page(struct rfn_text *page, const char *file, int status);
/* The same of a JSON value; NULL: memory ran out. */
int rfn_command_print_json(json_t *value, int status);
/* The same in one line, for values that follow each other. */
int rfn_command_print_json_line(json_t *value, int status);

extern const struct rfn_command rfn_cmd_record;
extern const struct rfn_command rfn_cmd_recover;
extern const struct rfn_command rfn_cmd_snapshot;
extern const struct rfn_command rfn_cmd_report;
extern const struct rfn_command rfn_cmd_info;
extern const struct rfn_command rfn_cmd_compare;
extern const struct rfn_command rfn_cmd_dump;
extern const struct rfn_command rfn_cmd_verify;
extern const struct rfn_command rfn_cmd_doctor;
extern const struct rfn_command rfn_cmd_reduce;
extern const struct rfn_command rfn_cmd_merge;
extern const struct rfn_command rfn_cmd_replay;
extern const struct rfn_command rfn_cmd_whatif;
extern const struct rfn_command rfn_cmd_predict;
extern const struct rfn_command rfn_cmd_calibrate;
extern const struct rfn_command rfn_cmd_sample;
extern const struct rfn_command rfn_cmd_watch;
extern const struct rfn_command rfn_cmd_control;
extern const struct rfn_command rfn_cmd_convert;
extern const struct rfn_command rfn_cmd_gather;
extern const struct rfn_command rfn_cmd_view;

#endif
