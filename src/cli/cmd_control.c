/* cmd_control.c - refrain control: have a running job sample by another strategy. */
#include "cli/args/command.h"
#include "cli/live/pick_job.h"

#include <stdio.h>
#include <string.h>

static const char sample_word[] = "sample=";

struct given {
    const char *name;
    bool asked; /* strategy is given */
    struct rfn_sample_strategy strategy;
};

static void parse_wish(struct given *given, const char *word, struct argp_state *state)
{
    struct rfn_diag diag = {.file_offset = -1, .rank = -1};
    if (strncmp(word, sample_word, strlen(sample_word)) != 0)
        argp_error(state, "'%s' cannot be changed, only sample=STRATEGY", word);
    else if (rfn_sample_strategy_parse(word + strlen(sample_word), &given->strategy, &diag) < 0)
        argp_error(state, "%s: %s", word, diag.text);
    given->asked = true;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct given *given = state->input;
    switch (key) {
    case ARGP_KEY_ARG:
        if (!given->name)
            given->name = arg;
        else if (!given->asked)
            parse_wish(given, arg, state);
        else
            argp_error(state, "one change at a time, not '%s', too", arg);
        return 0;
    case ARGP_KEY_END:
        if (!given->name)
            argp_error(state, "which job? 'refrain watch' lists them");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static int tell_done(const struct rfn_picked *job, size_t asked, const struct given *given)
{
    const struct rfn_live_process *first = job->processes;
    struct rfn_text text = {0};
    char strategy[RFN_SAMPLE_TEXT];
    rfn_sample_strategy_text(&given->strategy, strategy);
    rfn_text_printable(&text, first->job);
    rfn_text_format(&text, ": asked %zu process%s on this node for %s\n", asked,
                    asked == 1 ? "" : "es", strategy);
    if (job->n < first->ranks)
        rfn_text_format(&text,
                        "The job has %u ranks: ask those on other nodes there, too. Until then "
                        "messages between nodes may be dropped and counted.\n",
                        first->ranks);
    return rfn_command_print(&text, NULL, RFN_EXIT_OK);
}

/* Nothing is to change: what there is. */
static int show(const struct rfn_picked *job)
{
    struct rfn_text text = {0};
    const char *before = NULL;
    rfn_text_printable(&text, job->processes->job);
    rfn_text_string(&text, ":");
    for (size_t i = 0; i < job->n; i++) {
        const char *strategy = job->processes[i].strategy;
        if (strategy[0] && (!before || strcmp(before, strategy) != 0))
            rfn_text_format(&text, "%s sample=%s", before ? "," : "", strategy);
        before = strategy[0] ? strategy : before;
    }
    rfn_text_format(&text, "%s; refrain control %s sample=STRATEGY changes it\n",
                    before ? "" : " its strategy is not known yet", job->processes->job);
    return rfn_command_print(&text, NULL, RFN_EXIT_OK);
}

/* Asks all processes of a job; those that have ended meanwhile are none of it. */
static int ask(const struct rfn_picked *job, const struct given *given)
{
    size_t asked = 0;
    int status = RFN_EXIT_OK;
    for (size_t i = 0; i < job->n; i++) {
        struct rfn_diag diag = {.file_offset = -1, .rank = -1};
        const int error = rfn_live_wish(&job->processes[i], &given->strategy, &diag);
        asked += error == 0;
        if (error < 0 && error != RFN_E_NOTFOUND)
            status = rfn_command_fail(NULL, error, &diag);
    }
    if (asked)
        tell_done(job, asked, given);
    else if (status == RFN_EXIT_OK)
        rfn_command_error("%s has ended", job->processes->job);
    return asked ? status : RFN_EXIT_FAILURE;
}

static int run(const struct rfn_command *command, int argc, char **argv)
{
    struct given given = {0};
    struct rfn_live_list list;
    struct rfn_picked job;
    rfn_command_parse(command, parse, argc, argv, &given);
    const int error = rfn_live_list(&list);
    int status = error < 0 ? rfn_command_fail(NULL, error, NULL)
                           : rfn_pick_job(&list, given.name, &job);
    if (status == RFN_EXIT_OK)
        status = given.asked ? ask(&job, &given) : show(&job);
    rfn_live_list_release(&list);
    return status;
}

const struct rfn_command rfn_cmd_control = {
    .name = "control",
    .summary = "Changes how a running job samples messages",
    .usage = "NAME [sample=STRATEGY]",
    .about = "NAME is a job, a program or the number of a process, as refrain watch lists them. "
             "STRATEGY is one of refrain record --sample: random:0.05, adaptive, counter:100+-10, "
             "timer:1ms+-100us, off.\n"
             "\n"
             "  refrain control app.8 sample=random:0.05\n"
             "\n"
             "Each process of the job on this node takes the strategy in one of its next calls of "
             "MPI. Without a change, prints the strategy in use.",
    .run = run,
};
