#define _DEFAULT_SOURCE /* access, on_exit */
#include "cli/args/command.h"

#include "cli/args/journal_folder.h"
#include "cli/args/unknown_option.h"
#include "cli/launch/mpi_environment.h"
#include "cli/text/json.h"
#include "cli/text/left_out_text.h"
#include "cli/text/pager.h"
#include "cli/text/terminal.h"
#include "cli/text/wrap.h"
#include "refrain/sampling.h"
#include "refrain/shell_word.h"

#include <fcntl.h>
#include <glob.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Of a process that fails in silence: launchers end a whole job when one of its processes fails,
 * the one too that may not yet have told why. That of MPICH does only once MPI_Init was called. */
static void leave_time_to_tell(int status, void *unused)
{
    (void)unused;
    const char *flavour = rfn_job_flavour();
    if (status != RFN_EXIT_OK && !(flavour && strcmp(flavour, "mpich") == 0))
        sleep(5);
}

bool rfn_command_runs_program(const struct rfn_command *command)
{
    return strncmp(command->usage, "PROGRAM", strlen("PROGRAM")) == 0;
}

/* argp's own message does not name the nearest option. */
static void check_options(const struct rfn_command *command, int argc, char **argv)
{
    char name[64];
    if (!rfn_unknown_option(command, argc, argv, name, sizeof name))
        return;
    const char *near = rfn_nearest_option(command, name);
    struct rfn_text line = {0};
    rfn_text_format(&line, "refrain %s: there is no option ", command->name);
    rfn_text_printable(&line, name);
    if (near)
        rfn_text_format(&line, "; did you mean --%s?", near);
    rfn_text_format(&line, "%s 'refrain help %s' lists all", near ? "" : ";", command->name);
    fprintf(stderr, "%s\n", rfn_text_terminated(&line));
    rfn_text_release(&line);
    exit(RFN_EXIT_USAGE);
}

static bool helps_with_all;

void rfn_command_help_all(void)
{
    helps_with_all = true;
}

/* The options as argp is to show them, and whether some are not shown. */
static bool shown_options(const struct argp_option *options,
                          struct argp_option shown[RFN_COMMAND_OPTIONS])
{
    size_t n = 0;
    bool left_out = false;
    for (; options && !rfn_option_is_last(options) && n < RFN_COMMAND_OPTIONS - 1; options++) {
        const bool more = !helps_with_all && options->group >= RFN_OPTIONS_MORE;
        left_out |= more;
        if (more && !options->name)
            continue; /* a title */
        shown[n] = *options;
        if (!shown[n].group)
            shown[n].group = RFN_OPTIONS_COMMON; /* to argp 0 is the group before */
        shown[n++].flags |= more ? OPTION_HIDDEN : 0;
    }
    shown[n] = (struct argp_option){0};
    return left_out;
}

void rfn_command_parse(const struct rfn_command *command, argp_parser_t parser, int argc,
                       char **argv, void *input)
{
    /* argp prints what stands before \v above the options and the rest below them. */
    char doc[8192];
    struct argp_option shown[RFN_COMMAND_OPTIONS];
    const bool left_out = shown_options(command->options, shown);
    int n = snprintf(doc, sizeof doc, "%s.\v%s", command->summary,
                     command->about ? command->about : "");
    if (left_out && n >= 0 && (size_t)n < sizeof doc)
        snprintf(doc + n, sizeof doc - (size_t)n, "\n\nMore options: refrain help %s.",
                 command->name);
    const struct argp argp = {
        .options = shown, .parser = parser, .args_doc = command->usage, .doc = doc};
    argp_err_exit_status = RFN_EXIT_USAGE;
    int saved = -1, nowhere = -1;
    if (command->per_rank && !rfn_job_speaks()) {
        /* argp and the C library's getopt, which it is made of, print by themselves. */
        on_exit(leave_time_to_tell, NULL);
        nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
        saved = nowhere < 0 ? -1 : fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    }
    if (saved >= 0)
        dup2(nowhere, STDERR_FILENO);
    if (nowhere >= 0)
        close(nowhere);
    check_options(command, argc, argv);
    argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, input);
    if (saved >= 0) {
        dup2(saved, STDERR_FILENO);
        close(saved);
    }
}

void rfn_command_error(const char *format, ...)
{
    va_list args;
    char line[8192];
    struct rfn_text printable = {0};
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    rfn_text_printable(&printable, line); /* names of files and functions may hold anything */
    fflush(stdout);
    fprintf(stderr, "refrain: %s\n", printable.failed ? line : rfn_text_terminated(&printable));
    rfn_text_release(&printable);
}

/* There is no such archive: perhaps the run was killed and left its journals. */
static bool tell_of_journals(const char *file)
{
    char folder[4096], word[4096];
    const int n = snprintf(folder, sizeof folder, "%s.journal", file);
    if (n < 0 || (size_t)n >= sizeof folder || !rfn_journals_are(folder))
        return false;
    rfn_command_error("but the run left its journals; next: refrain recover %s",
                      rfn_shell_word(folder, word, sizeof word));
    return true;
}

/* stem: of the name, without .rfn. */
static void tell_to_merge(const char *file, size_t stem, size_t n)
{
    char name[4096], out[4096], ranks[4096];
    snprintf(name, sizeof name, "%.*s", (int)stem, file);
    rfn_command_error("but the run was aborted and left %zu archives of one rank each; next: "
                      "refrain merge -o %s %s.rank*.rfn",
                      n, rfn_shell_word(file, out, sizeof out),
                      rfn_shell_word(name, ranks, sizeof ranks));
}

/* Or ranks that called MPI_Abort left archives of their own. */
static void tell_of_rank_files(const char *file)
{
    const char *suffix = ".rfn", *ranks = ".rank[0-9]*.rfn";
    size_t stem = strlen(file), n = 0;
    char pattern[4096];
    glob_t found;
    if (stem > strlen(suffix) && strcmp(file + stem - strlen(suffix), suffix) == 0)
        stem -= strlen(suffix);
    if (2 * stem + strlen(ranks) + 1 > sizeof pattern)
        return;
    for (size_t i = 0; i < stem; i++) {
        if (strchr("*?[\\", file[i]))
            pattern[n++] = '\\';
        pattern[n++] = file[i];
    }
    strcpy(pattern + n, ranks);
    if (glob(pattern, 0, NULL, &found) != 0)
        return;
    if (found.gl_pathc == 1)
        rfn_command_error("but the run was aborted and left %s, the archive of one rank",
                          found.gl_pathv[0]);
    else
        tell_to_merge(file, stem, found.gl_pathc);
    globfree(&found);
}

int rfn_command_fail(const char *file, int error, const struct rfn_diag *diag)
{
    const char *text = diag && diag->text[0] ? diag->text : rfn_error_text(error);
    if (file && !strstr(text, file))
        rfn_command_error("%s: %s", file, text);
    else
        rfn_command_error("%s", text);
    if (file && error == RFN_E_IO && access(file, F_OK) != 0 && !tell_of_journals(file))
        tell_of_rank_files(file);
    return rfn_exit_status(error);
}

int rfn_command_open(const char *file, struct rfn_archive **archive)
{
    struct rfn_diag diag = {.file_offset = -1, .rank = -1};
    int error = rfn_journals_are(file) ? rfn_journal_folder_open(file, archive, &diag)
                                       : rfn_archive_open(file, archive, &diag);
    return error < 0 ? rfn_command_fail(file, error, &diag) : RFN_EXIT_OK;
}

int rfn_command_check_calls(const struct rfn_archive *archive, const char *file)
{
    struct rfn_diag diag = {.file_offset = -1, .rank = -1};
    struct rfn_samples samples;
    const int error = rfn_samples_read_rows(archive, &samples, &diag);
    const bool alone = samples.alone;
    rfn_samples_release(&samples);
    if (error)
        return rfn_command_fail(file, error, &diag);
    if (!alone)
        return RFN_EXIT_OK;
    rfn_command_error("%s: this archive has a sample of messages and not all of them: refrain "
                      "report tells what is in it; record --sample --with-trace keeps all",
                      file);
    return RFN_EXIT_FAILURE;
}

int rfn_command_open_calls(const char *file, struct rfn_archive **archive)
{
    int status = rfn_command_open(file, archive);
    if (status)
        return status;
    status = rfn_command_check_calls(*archive, file);
    if (status)
        rfn_archive_close(*archive);
    if (status)
        *archive = NULL;
    return status;
}

int rfn_command_check_complete(const struct rfn_archive *archive, const char *file, int status)
{
    const char *why = NULL;
    if (rfn_archive_complete(archive, &why))
        return status;
    rfn_command_error("%s: incomplete: %s", file, why ? why : "the file was cut short");
    return RFN_EXIT_BAD_INPUT;
}

/* A sentence about the archive, which is released: a line of the page, or of standard error. */
static void tell(const char *file, struct rfn_text *page, struct rfn_text *sentence)
{
    struct rfn_text line = {0};
    if (!page) {
        rfn_command_error("%s: %s", file, rfn_text_terminated(sentence));
    } else {
        rfn_text_printable(&line, file ? file : "");
        rfn_text_string(&line, file ? ": " : "");
        rfn_text_bytes(&line, sentence->data, sentence->n);
        rfn_text_wrap(page, &line, rfn_terminal_columns(), 3);
    }
    rfn_text_release(&line);
    rfn_text_release(sentence);
}

int rfn_command_tell_missing(const struct rfn_archive *archive, const char *file,
                             struct rfn_text *page, int status)
{
    struct rfn_text text = {0};
    const char *why = NULL;
    const bool complete = rfn_archive_complete(archive, &why);
    if (!complete) {
        rfn_text_format(&text, "incomplete: %s", why ? why : "the file was cut short");
        tell(file, page, &text);
    }
    rfn_left_out_append(&text, archive);
    if (text.n)
        rfn_text_string(&text, page ? "." : "");
    if (text.n)
        tell(file, page, &text);
    rfn_text_release(&text);
    return complete ? status : RFN_EXIT_BAD_INPUT;
}

int rfn_command_check_ranks(const struct rfn_archive *archive, const char *file,
                            const struct rfn_rank_filter *ranks)
{
    uint32_t n_ranks = rfn_archive_run(archive)->ranks;
    int64_t unknown = rfn_rank_filter_beyond(ranks, n_ranks);
    if (unknown < 0)
        return RFN_EXIT_OK;
    rfn_command_error("%s: there is no rank %lld: the run has %u, counted from 0", file,
                      (long long)unknown, n_ranks);
    return RFN_EXIT_USAGE;
}

int rfn_command_print(struct rfn_text *text, const char *file, int status)
{
    if (text->failed)
        status = rfn_command_fail(file, RFN_E_NOMEM, NULL);
    else
        rfn_text_print(text);
    rfn_text_release(text);
    return status;
}

int rfn_command_print_page(struct rfn_text *page, const char *file, int status)
{
    rfn_pager_start(page);
    return rfn_command_print(page, file, status);
}

static int print_json(json_t *value, size_t flags, int status)
{
    struct rfn_text text = {0};
    char *json = value ? json_dumps(value, flags | JSON_REAL_PRECISION(RFN_JSON_DIGITS)) : NULL;
    json_decref(value);
    text.failed = !json || rfn_json_failed();
    rfn_text_string(&text, json ? json : "");
    rfn_text_char(&text, '\n');
    free(json);
    return rfn_command_print(&text, NULL, status);
}

int rfn_command_print_json(json_t *value, int status)
{
    return print_json(value, JSON_INDENT(2), status);
}

int rfn_command_print_json_line(json_t *value, int status)
{
    return print_json(value, JSON_COMPACT, status);
}
