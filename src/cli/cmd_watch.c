/* cmd_watch.c - refrain watch: what a running job samples, while it runs. */
#define _POSIX_C_SOURCE 200809L /* isatty */
#include "cli/args/command.h"
#include "cli/args/file_argument.h"
#include "cli/live/interval.h"
#include "cli/live/live_view.h"
#include "cli/text/json.h"
#include "cli/text/terminal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { KEY_INTERVAL = 256, KEY_ONCE };

enum { TOP_DEFAULT = 15, LINES_AROUND = 7 };

static const struct argp_option options[] = {
    {"interval", KEY_INTERVAL, "S", 0, "Look again every S seconds (1)", 0},
    {"once", KEY_ONCE, NULL, 0, "Look once", 0},
    {"json", 'j', NULL, 0,
     "One JSON object per look and line, as where standard output is no terminal", 0},
    {"top", 't', "N", 0,
     "The N pairs with most messages (15, or as many as the terminal has room "
     "for; in JSON all)",
     0},
    {0}};

struct given {
    struct rfn_file_argument job; /* first: its parser gets what is not parsed here */
    double interval;              /* seconds */
    bool once;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct given *given = state->input;
    char *end;
    switch (key) {
    case KEY_INTERVAL:
        given->interval = strtod(arg, &end);
        if (end == arg || *end || !(given->interval >= 0.05 && given->interval <= 3600))
            argp_error(state, "--interval is 0.05 to 3600 seconds, not '%s'", arg);
        return 0;
    case KEY_ONCE:
        given->once = true;
        return 0;
    case ARGP_KEY_ARG:
        if (given->job.file)
            argp_error(state, "one job at a time, not '%s' and '%s'", given->job.file, arg);
        given->job.file = arg;
        return 0;
    case ARGP_KEY_NO_ARGS:
        return 0;
    default:
        return rfn_file_argument_parse(key, arg, state);
    }
}

/* ---- what is printed ---- */

/* Text goes over the text before on a terminal that can, and below it elsewhere. */
struct screen {
    bool json, over;
    size_t lines; /* of the text before */
};

static size_t top_of(const struct given *given, const struct screen *screen)
{
    if (given->job.top_given)
        return given->job.top;
    if (screen->json)
        return SIZE_MAX;
    const size_t lines = rfn_terminal_lines();
    return lines < TOP_DEFAULT + LINES_AROUND ? lines > LINES_AROUND ? lines - LINES_AROUND : 1
                                              : TOP_DEFAULT;
}

static int print_view(const struct rfn_live_view *view, const struct given *given,
                      struct screen *screen)
{
    const size_t top = top_of(given, screen);
    if (screen->json)
        return rfn_command_print_json_line(rfn_json_live(view, top), RFN_EXIT_OK);
    struct rfn_text page = {0};
    if (screen->over && screen->lines)
        rfn_text_format(&page, "\033[%zuA\033[J", screen->lines);
    const size_t before = page.n;
    rfn_live_page(&page, view, top, rfn_terminal_columns());
    screen->lines = 0;
    for (size_t i = before; i < page.n; i++)
        screen->lines += page.data[i] == '\n';
    if (!screen->over)
        rfn_text_char(&page, '\n');
    return rfn_command_print(&page, NULL, RFN_EXIT_OK);
}

/* Of a job that could be seen before and cannot any more. */
static int print_end(struct rfn_live_view *last, const struct given *given, struct screen *screen)
{
    struct rfn_text text = {0};
    const bool told = last->ended;
    last->ended = true;
    if (screen->json)
        return told ? RFN_EXIT_OK : print_view(last, given, screen);
    rfn_text_printable(&text, last->lead.job);
    rfn_text_string(&text, " has ended.\n");
    return rfn_command_print(&text, NULL, RFN_EXIT_OK);
}

/* ---- looking ---- */

/* Whether a process is that one, or has been started together with it. */
static bool is_of_same_job(const struct rfn_live_process *process,
                           const struct rfn_live_process *lead)
{
    return strcmp(process->job, lead->job) == 0 &&
           (process->pid == lead->pid || (process->parent == lead->parent && process->ranks > 1));
}

static bool find_again(const struct rfn_live_list *list, const struct rfn_live_process *lead,
                       struct rfn_picked *picked)
{
    for (size_t i = 0; i < list->n;) {
        *picked = rfn_job_at(list, i);
        i += picked->n;
        for (size_t k = 0; k < picked->n; k++) {
            if (is_of_same_job(&picked->processes[k], lead))
                return true;
        }
    }
    return false;
}

/* Takes a view of the job in place of the last one. *found: it is still there. */
static int look(const struct given *given, struct rfn_live_view *last, bool *found)
{
    struct rfn_live_list list;
    struct rfn_picked job;
    struct rfn_live_view view = {0};
    struct rfn_diag diag = {.file_offset = -1, .rank = -1};
    int error = rfn_live_list(&list), status = RFN_EXIT_OK;
    if (error == 0 && last->processes)
        *found = find_again(&list, &last->lead, &job);
    else if (error == 0)
        *found = (status = rfn_pick_job(&list, given->job.file, &job)) == RFN_EXIT_OK;
    if (error == 0 && *found)
        error = rfn_live_view_take(&view, &job, last->processes ? last : NULL, &diag);
    if (error < 0)
        status = rfn_command_fail(NULL, error, &diag);
    rfn_live_list_release(&list);
    if (status != RFN_EXIT_OK || !*found) {
        rfn_live_view_release(&view);
        return status;
    }
    rfn_live_view_release(last);
    *last = view;
    return status;
}

static int watch(const struct given *given, struct screen *screen)
{
    struct rfn_live_view last = {0};
    bool found = false;
    int status = look(given, &last, &found);
    while (status == RFN_EXIT_OK && found) {
        status = print_view(&last, given, screen);
        if (fflush(stdout) != 0 || status != RFN_EXIT_OK || given->once || last.ended ||
            rfn_interval_wait(given->interval, -1) != RFN_INTERVAL_OVER)
            break;
        status = look(given, &last, &found);
    }
    if (status == RFN_EXIT_OK && last.processes && (last.ended || !found))
        status = print_end(&last, given, screen);
    rfn_live_view_release(&last);
    return status;
}

static int list_jobs(bool json)
{
    struct rfn_live_list list;
    struct rfn_text page = {0};
    const int error = rfn_live_list(&list);
    int status = error < 0 ? rfn_command_fail(NULL, error, NULL) : RFN_EXIT_OK;
    if (status == RFN_EXIT_OK) {
        rfn_tell_unreadable(&list);
        if (!json && list.n)
            rfn_live_jobs_page(&page, &list);
        else if (!json)
            rfn_text_string(&page, "No job of yours samples on this node; 'refrain record "
                                   "--sample=adaptive' starts one that does.\n");
        status = json ? rfn_command_print_json_line(rfn_json_live_jobs(&list), status)
                      : rfn_command_print(&page, NULL, status);
    }
    rfn_live_list_release(&list);
    return status;
}

static int run(const struct rfn_command *command, int argc, char **argv)
{
    struct given given = {.interval = 1};
    rfn_command_parse(command, parse, argc, argv, &given);
    const bool terminal = isatty(STDOUT_FILENO);
    const char *term = getenv("TERM");
    struct screen screen = {.json = given.job.json || !terminal,
                            .over = terminal && term && strcmp(term, "dumb") != 0};
    if (!given.job.file)
        return list_jobs(given.job.json);
    rfn_interval_begin();
    return watch(&given, &screen);
}

const struct rfn_command rfn_cmd_watch = {
    .name = "watch",
    .summary = "Shows the messages that a running job samples",
    .usage = "[NAME]",
    .about = "Without NAME: lists your jobs on this node that sample messages (refrain record "
             "--sample). NAME is a job, a program or the number of a process.\n"
             "\n"
             "  refrain watch app.8\n"
             "\n"
             "Shows how many messages were sent and sampled, and for the pairs of ranks with most "
             "messages the latencies: the median, the 99th percentile and how sure they are. Ends "
             "with the job, or by Ctrl-C. It only reads: the job does not notice.",
    .options = options,
    .run = run,
};
