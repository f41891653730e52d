#define _DEFAULT_SOURCE /* access, on_exit */
#include "cli/command.h"

#include "cli/job.h"
#include "cli/json.h"

#include <fcntl.h>
#include <glob.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Standard error goes nowhere until it is put back; the descriptor to do so with, -1 for none.
 * argp and the C library's getopt, which it is made of, print by themselves. */
static int silence(void)
{
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    int saved = nowhere < 0 ? -1 : fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (saved >= 0)
        dup2(nowhere, STDERR_FILENO);
    if (nowhere >= 0)
        close(nowhere);
    return saved;
}

static void speak_again(int saved)
{
    if (saved < 0)
        return;
    dup2(saved, STDERR_FILENO);
    close(saved);
}

/* Of a process that fails in silence: launchers end a whole job when one of its processes fails,
 * the one too that may not yet have told why. That of MPICH does only once MPI_Init was called. */
static void leave_time_to_tell(int status, void *unused)
{
    (void)unused;
    const char *flavour = rfn_job_flavour();
    if (status != RFN_EXIT_OK && !(flavour && strcmp(flavour, "mpich") == 0))
        sleep(5);
}

void rfn_command_parse(const struct rfn_command *command, argp_parser_t parser, int argc,
                       char **argv, void *input)
{
    /* argp prints what stands before \v above the options and the rest below them. */
    char doc[8192];
    snprintf(doc, sizeof doc, "%s.\v%s", command->summary, command->about ? command->about : "");
    const struct argp argp = {
        .options = command->options, .parser = parser, .args_doc = command->usage, .doc = doc};
    argp_err_exit_status = RFN_EXIT_USAGE;
    bool is_silent = command->per_rank && !rfn_job_speaks();
    if (is_silent)
        on_exit(leave_time_to_tell, NULL);
    int saved = is_silent ? silence() : -1;
    argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, input);
    speak_again(saved);
}

void rfn_command_error(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fflush(stdout);
    fputs("refrain: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
}

static int exit_status(int error)
{
    switch (error) {
    case RFN_E_USAGE:
        return RFN_EXIT_USAGE;
    case RFN_E_CORRUPT:
    case RFN_E_INCOMPLETE:
    case RFN_E_VERSION:
        return RFN_EXIT_BAD_INPUT;
    default:
        return RFN_EXIT_FAILURE;
    }
}

/* The pattern of what ranks leave that call MPI_Abort, "NAME.rank*.rfn"; false: too long. */
static bool rank_pattern(const char *file, char *pattern, size_t size)
{
    const char *suffix = ".rfn", *ranks = ".rank[0-9]*.rfn";
    size_t stem = strlen(file), n = 0;
    if (stem > strlen(suffix) && strcmp(file + stem - strlen(suffix), suffix) == 0)
        stem -= strlen(suffix);
    if (2 * stem + strlen(ranks) + 1 > size)
        return false;
    for (size_t i = 0; i < stem; i++) {
        if (strchr("*?[\\", file[i]))
            pattern[n++] = '\\';
        pattern[n++] = file[i];
    }
    strcpy(pattern + n, ranks);
    return true;
}

/* There is no such archive: perhaps a rank left one of its own. */
static void tell_of_rank_files(const char *file)
{
    char pattern[4096];
    glob_t found;
    if (access(file, F_OK) == 0 || !rank_pattern(file, pattern, sizeof pattern) ||
        glob(pattern, 0, NULL, &found) != 0)
        return;
    rfn_command_error("but the run was aborted, and there is %s", found.gl_pathv[0]);
    globfree(&found);
}

int rfn_command_fail(const char *file, int error, const struct rfn_diag *diag)
{
    const char *text = diag && diag->text[0] ? diag->text : rfn_error_text(error);
    if (file && !strstr(text, file))
        rfn_command_error("%s: %s", file, text);
    else
        rfn_command_error("%s", text);
    if (file && error == RFN_E_IO)
        tell_of_rank_files(file);
    return exit_status(error);
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

int rfn_command_print_json(json_t *value, int status)
{
    struct rfn_text text = {0};
    char *json = value ? json_dumps(value, JSON_INDENT(2)) : NULL;
    json_decref(value);
    text.failed = !json || rfn_json_failed();
    rfn_text_string(&text, json ? json : "");
    rfn_text_char(&text, '\n');
    free(json);
    return rfn_command_print(&text, NULL, status);
}
