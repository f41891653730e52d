/* cmd_view.c - refrain view: a page for a browser, or a timeline in the terminal. */
#define _POSIX_C_SOURCE 200809L /* strdup, fork */
#include "cli/args/command.h"
#include "cli/args/file_argument.h"
#include "cli/report/whole_report.h"
#include "cli/text/json.h"
#include "cli/text/terminal.h"
#include "cli/view/text_timeline.h"
#include "refrain/view.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_ARCHIVES = 2, MOST_WAITS = 20000, MOST_ROWS = 500, OVERVIEW_CELLS = 1 << 19 };

enum { KEY_OPEN = 0x100, KEY_TEXT, KEY_WINDOW, KEY_COLOR, KEY_WHATIF };

static const struct argp_option options[] = {
    {"output", 'o', "OUT", 0, "Write the page here (FILE with .html in place of .rfn)", 0},
    {"open", KEY_OPEN, NULL, 0, "Show the page in the browser", 0},
    {"whatif", KEY_WHATIF, "JSON", 0, "Show what refrain whatif --json --domino wrote", 0},
    {"text", KEY_TEXT, NULL, 0, "Draw the timeline here instead", 0},
    {"window", KEY_WINDOW, "FROM-TO", 0, "With --text: only this time, as 1.5s-2s or 20ms-", 0},
    {"rank", 'r', "LIST", 0, "With --text: only these ranks: 3 or 0-3,7", 0},
    {"color", KEY_COLOR, "WHEN", 0, "With --text: colours: auto, always or never", 0},
    {"force", 'f', NULL, 0, "Replace OUT if it exists", 0},
    {"json", 'j', NULL, 0, "Print the result as JSON", 0},
    {0},
};

struct options {
    struct rfn_output_argument written;
    const char *files[MOST_ARCHIVES];
    size_t n;
    bool open, text;
    struct rfn_rank_filter ranks; /* none: all */
    int64_t from_ns, to_ns;
    enum rfn_colors colors;
    const char *whatif_file; /* NULL: not given */
    json_t *whatif;          /* its content */
    char *output;            /* owned; as given, or after the first file */
};

static void check(const struct options *given, struct argp_state *state)
{
    const bool narrows = given->ranks.n || given->from_ns || given->to_ns != INT64_MAX;
    if (!given->n)
        argp_error(state, "which archive?");
    if (given->text &&
        (given->written.output || given->open || given->written.json || given->whatif_file))
        argp_error(state, "--text draws here: -o, --open, --json and --whatif are about the page");
    if (given->from_ns == given->to_ns)
        argp_error(state, "--window is empty");
    if (given->text && given->n > 1)
        argp_error(state, "--text draws one archive");
    if (!given->text && (narrows || given->colors))
        argp_error(state, "--window, --rank and --color are for --text: the page shows all, and "
                          "zooms");
}

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
    case KEY_WHATIF:
        given->whatif_file = arg;
        return 0;
    case KEY_TEXT:
        given->text = true;
        return 0;
    case KEY_WINDOW:
        rfn_window_argument(state, arg, "window", &given->from_ns, &given->to_ns);
        return 0;
    case 'r':
        rfn_rank_argument(state, arg, &given->ranks);
        return 0;
    case KEY_COLOR:
        given->colors = rfn_colors_argument(state, arg);
        return 0;
    case ARGP_KEY_END:
        check(given, state);
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

/* A value of JSON as text; to be freed. NULL: out of memory. */
static char *json_text(const json_t *value)
{
    return value ? json_dumps(value, JSON_COMPACT | JSON_REAL_PRECISION(RFN_JSON_DIGITS)) : NULL;
}

/* The report as JSON, the longest rows of each table; to be freed. NULL: out of memory. */
static char *report_text(const struct rfn_report *report)
{
    json_t *json = rfn_report_json(report);
    char *text = rfn_json_failed() ? NULL : json_text(json);
    json_decref(json);
    return text;
}

/* 0, or the exit status after telling why there can be no page. */
static int add_report(struct rfn_page *page, const struct rfn_report *report,
                      const struct rfn_seen_waits *waits, const json_t *whatif)
{
    struct rfn_diag diag = {.file_offset = -1, .rank = -1};
    struct rfn_progress progress = {.what = "drawing the overview"};
    char *text = report_text(report), *assumed = json_text(whatif);
    const struct rfn_page_archive added = {.archive = report->archive,
                                           .report = text,
                                           .report_size = text ? strlen(text) : 0,
                                           .waits = waits,
                                           .whatif = assumed,
                                           .cells = OVERVIEW_CELLS};
    const bool enough = text && (assumed || !whatif);
    const int error = enough ? rfn_page_add(page, &added, rfn_progress_show, &progress, &diag)
                             : RFN_E_NOMEM;
    rfn_progress_done(&progress);
    free(text);
    free(assumed);
    if (!error)
        return RFN_EXIT_OK;
    const int status = rfn_command_fail(report->file, error, &diag);
    return status == RFN_EXIT_BAD_INPUT ? RFN_EXIT_FAILURE : status;
}

/* 0, RFN_EXIT_BAD_INPUT where the page has less than the run, or another exit status where there
 * can be no page. It tells the reason. */
static int add_archive(struct rfn_page *page, const char *file, const struct rfn_archive *archive,
                       const json_t *whatif)
{
    struct rfn_seen_waits waits;
    rfn_seen_waits_init(&waits, MOST_WAITS);
    struct rfn_whole_report whole = {
        .report = {.file = file, .archive = archive, .top = MOST_ROWS}};
    const struct rfn_report_wish wish = {.waits = {.watch = &waits.watch}};
    int status = rfn_whole_report_find(&whole, &wish);
    rfn_seen_waits_finish(&waits);
    if (!status)
        status = add_report(page, &whole.report, &waits, whatif);
    if (!status)
        status = rfn_whole_report_complain(&whole, NULL);
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

/* What `refrain whatif --json` wrote; the exit status. */
static int read_whatif(struct options *given)
{
    json_error_t error;
    if (!given->whatif_file)
        return RFN_EXIT_OK;
    given->whatif = json_load_file(given->whatif_file, 0, &error);
    if (given->whatif && json_is_array(json_object_get(given->whatif, "remedies")))
        return RFN_EXIT_OK;
    rfn_command_error("%s: %s; --whatif takes what refrain whatif --json FILE prints",
                      given->whatif_file,
                      given->whatif ? "it has no list of remedies" : error.text);
    return RFN_EXIT_BAD_INPUT;
}

/* ---- the page ---- */

/* xdg-open tells a browser and ends; a browser that is started here is waited for. */
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
        status = add_archive(page, given->files[i], archives[i], i ? NULL : given->whatif);
    if (status && status != RFN_EXIT_BAD_INPUT) {
        rfn_page_cancel(page);
        return status;
    }
    error = rfn_page_close(page, &bytes, &diag);
    if (error < 0)
        return rfn_command_fail(given->output, error, &diag);
    status = tell(given, bytes, status);
    const int opened = given->open ? open_in_browser(given->output) : RFN_EXIT_OK;
    return status ? status : opened;
}

/* ---- the timeline as text ---- */

static int draw(const struct options *given, const struct rfn_archive *archive)
{
    enum { ROWS = 40, OTHER_LINES = 4 };
    struct rfn_diag diag = {.file_offset = -1, .rank = -1};
    struct rfn_progress progress = {.what = "reading events"};
    struct rfn_text out = {0};
    const size_t lines = rfn_terminal_lines();
    const struct rfn_text_timeline of = {
        .archive = archive,
        .ranks = given->ranks.n ? &given->ranks : NULL,
        .from_ns = given->from_ns,
        .to_ns = given->to_ns,
        .width = rfn_terminal_columns(),
        .rows = isatty(STDOUT_FILENO) && lines > 2 * OTHER_LINES ? lines - OTHER_LINES : ROWS,
        .colors = rfn_colors_wanted(given->colors)};
    int status = rfn_command_check_ranks(archive, given->files[0], of.ranks);
    if (status)
        return status;
    status = rfn_command_tell_missing(archive, given->files[0], &out, RFN_EXIT_OK);
    int unread = 0;
    const int error = rfn_text_timeline(&out, &of, rfn_progress_show, &progress, &unread, &diag);
    rfn_progress_done(&progress);
    if (error < 0)
        rfn_text_release(&out);
    if (error == RFN_E_RANGE) {
        rfn_command_error("%s: %s", given->files[0], diag.text);
        return RFN_EXIT_USAGE;
    }
    if (error < 0)
        return rfn_command_fail(given->files[0], error, &diag);
    if (unread && !status)
        status = rfn_command_fail(given->files[0], unread, &diag);
    return rfn_command_print(&out, given->files[0], status);
}

static int run(const struct rfn_command *command, int argc, char **argv)
{
    struct options given = {.to_ns = INT64_MAX};
    struct rfn_archive *archives[MOST_ARCHIVES] = {0};
    int status = RFN_EXIT_OK;
    rfn_command_parse(command, parse, argc, argv, &given);
    given.output = given.written.output ? strdup(given.written.output) : output_for(given.files[0]);
    if (!given.output)
        return rfn_command_fail(given.files[0], RFN_E_NOMEM, NULL);
    status = read_whatif(&given);
    for (size_t i = 0; i < given.n && !status; i++)
        status = open_archive(given.files[i], &archives[i]);
    if (!status)
        status = given.text ? draw(&given, archives[0]) : write_page(&given, archives);
    for (size_t i = 0; i < given.n; i++)
        rfn_archive_close(archives[i]);
    json_decref(given.whatif);
    free(given.output);
    rfn_rank_filter_release(&given.ranks);
    return status;
}

const struct rfn_command rfn_cmd_view = {
    .name = "view",
    .summary = "Shows a run as a timeline: a page for a browser",
    .usage = "FILE [FILE2]",
    .about = "The page is one file without a network: it can be mailed. With two archives it shows "
             "both below each other, the second one aligned with the first.",
    .options = options,
    .values = "--color=auto,always,never",
    .run = run,
};
