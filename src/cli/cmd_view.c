/* cmd_view.c - refrain view: a page for a browser, or a timeline in the terminal. */
#define _POSIX_C_SOURCE 200809L /* strdup, fork */
#include "cli/args/command.h"
#include "cli/args/file_argument.h"
#include "cli/report/whole_report.h"
#include "cli/text/json.h"
#include "cli/text/terminal.h"
#include "refrain/view.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_ARCHIVES = 2, MOST_WAITS = 50000, OVERVIEW_CELLS = 1 << 20 };

enum { KEY_OPEN = 0x100 };

static const struct argp_option options[] = {
    {"output", 'o', "OUT", 0, "Write the page here (FILE with .html in place of .rfn)", 0},
    {"open", KEY_OPEN, NULL, 0, "Show the page in the browser", 0},
    {"force", 'f', NULL, 0, "Replace OUT if it exists", 0},
    {"json", 'j', NULL, 0, "Print the result as JSON", 0},
    {0},
};

struct options {
    struct rfn_output_argument written;
    const char *files[MOST_ARCHIVES];
    size_t n;
    bool open;
    char *output; /* owned; as given, or after the first file */
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct options *given = state->input;
    switch (key) {
    case KEY_OPEN:
        given->open = true;
        return 0;
    case ARGP_KEY_ARG:
        if (given->n == MOST_ARCHIVES)
            argp_error(state, "a page shows one archive, or two below each other");
        given->files[given->n++] = arg;
        return 0;
    case ARGP_KEY_END:
        if (!given->n)
            argp_error(state, "which archive?");
        return 0;
    default:
        return rfn_output_argument_parse(key, arg, state, &given->written);
    }
}

/* "halo.4.html" for "halo.4.rfn", in the same folder. NULL: out of memory. */
static char *output_for(const char *file)
{
    static const char old[] = ".rfn", new[] = ".html";
    size_t length = strlen(file);
    while (length > 1 && file[length - 1] == '/')
        length--;
    if (length > strlen(old) && strncmp(file + length - strlen(old), old, strlen(old)) == 0)
        length -= strlen(old);
    char *output = malloc(length + sizeof new);
    if (output) {
        memcpy(output, file, length);
        memcpy(output + length, new, sizeof new);
    }
    return output;
}

/* ---- one archive ---- */

/* Everything of the report as JSON; to be freed. NULL: out of memory. */
static char *report_text(const struct rfn_report *report)
{
    json_t *json = rfn_report_json(report);
    char *text = json && !rfn_json_failed()
                     ? json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(RFN_JSON_DIGITS))
                     : NULL;
    json_decref(json);
    return text;
}

static int add_report(struct rfn_page *page, const struct rfn_report *report,
                      const struct rfn_seen_waits *waits)
{
    struct rfn_diag diag = {.file_offset = -1, .rank = -1};
    struct rfn_progress progress = {.what = "drawing the overview"};
    char *text = report_text(report);
    if (!text)
        return rfn_command_fail(report->file, RFN_E_NOMEM, NULL);
    const struct rfn_page_archive added = {.archive = report->archive,
                                           .report = text,
                                           .report_size = strlen(text),
                                           .waits = waits,
                                           .cells = OVERVIEW_CELLS};
    const int error = rfn_page_add(page, &added, rfn_progress_show, &progress, &diag);
    rfn_progress_done(&progress);
    free(text);
    return error < 0 ? rfn_command_fail(report->file, error, &diag) : RFN_EXIT_OK;
}

static int add_archive(struct rfn_page *page, const char *file, const struct rfn_archive *archive)
{
    struct rfn_seen_waits waits;
    rfn_seen_waits_init(&waits, MOST_WAITS);
    struct rfn_whole_report whole = {
        .report = {.file = file, .archive = archive, .top = SIZE_MAX}};
    const struct rfn_report_wish wish = {.waits = {.watch = &waits.watch}};
    int status = rfn_whole_report_find(&whole, &wish);
    rfn_seen_waits_finish(&waits);
    if (!status)
        status = add_report(page, &whole.report, &waits);
    if (!status)
        status = rfn_command_check_complete(archive, file, whole.unread);
    rfn_whole_report_release(&whole);
    rfn_seen_waits_release(&waits);
    return status;
}

static int open_archive(const char *file, struct rfn_archive **archive)
{
    const int status = rfn_command_open(file, archive);
    if (status || rfn_archive_run(*archive)->times)
        return status;
    rfn_command_error("%s: it has no times, and so no timeline (recorded with --time=none or "
                      "--time-independent)",
                      file);
    return RFN_EXIT_FAILURE;
}

/* ---- the page ---- */

/* A browser that is told where the page is; it goes on when this ends. */
static int open_in_browser(const char *page)
{
    static const char *const programs[] = {"xdg-open", "open", "firefox", "chromium"};
    const pid_t child = fork();
    if (child == 0) {
        for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
            execlp(programs[i], programs[i], page, (char *)NULL);
        _exit(127);
    }
    int ended = 0;
    if (child > 0 && waitpid(child, &ended, 0) == child && WIFEXITED(ended) &&
        WEXITSTATUS(ended) == 0)
        return RFN_EXIT_OK;
    rfn_command_error("cannot start a browser; open %s in one", page);
    return RFN_EXIT_FAILURE;
}

static int tell(const struct options *given, uint64_t bytes, int status)
{
    if (given->written.json) {
        json_t *value = json_object();
        RFN_JSON_SET(value, "output", given->output);
        RFN_JSON_SET(value, "bytes", bytes);
        return rfn_command_print_json(value, status);
    }
    struct rfn_text text = {0};
    rfn_text_string(&text, "Wrote ");
    rfn_text_printable(&text, given->output);
    rfn_text_string(&text, ", ");
    rfn_text_string(&text, rfn_bytes_text(bytes).text);
    rfn_text_string(&text, given->open ? ".\n" : "; open it in a browser.\n");
    return rfn_command_print(&text, given->output, status);
}

/* An incomplete archive makes a page of what there is, which says so. */
static int write_page(const struct options *given, struct rfn_archive *const *archives)
{
    struct rfn_diag diag = {.file_offset = -1, .rank = -1};
    struct rfn_page *page;
    uint64_t bytes;
    int error = rfn_page_open(given->output, given->written.force, &page, &diag);
    if (error < 0)
        return rfn_command_fail(given->output, error, &diag);
    int status = RFN_EXIT_OK;
    for (size_t i = 0; i < given->n && (!status || status == RFN_EXIT_BAD_INPUT); i++)
        status = add_archive(page, given->files[i], archives[i]);
    if (status && status != RFN_EXIT_BAD_INPUT) {
        rfn_page_cancel(page);
        return status;
    }
    error = rfn_page_close(page, &bytes, &diag);
    if (error < 0)
        return rfn_command_fail(given->output, error, &diag);
    status = tell(given, bytes, status);
    return given->open && !status ? open_in_browser(given->output) : status;
}

static int run(const struct rfn_command *command, int argc, char **argv)
{
    struct options given = {0};
    struct rfn_archive *archives[MOST_ARCHIVES] = {0};
    int status = RFN_EXIT_OK;
    rfn_command_parse(command, parse, argc, argv, &given);
    given.output = given.written.output ? strdup(given.written.output) : output_for(given.files[0]);
    if (!given.output)
        return rfn_command_fail(given.files[0], RFN_E_NOMEM, NULL);
    for (size_t i = 0; i < given.n && !status; i++)
        status = open_archive(given.files[i], &archives[i]);
    if (!status)
        status = write_page(&given, archives);
    for (size_t i = 0; i < given.n; i++)
        rfn_archive_close(archives[i]);
    free(given.output);
    return status;
}

const struct rfn_command rfn_cmd_view = {
    .name = "view",
    .summary = "Shows a run as a timeline: a page for a browser",
    .usage = "FILE [FILE2]",
    .about = "The page is one file without a network: it can be mailed. With two archives it shows "
             "both below each other, the second one aligned with the first.",
    .options = options,
    .run = run,
};
