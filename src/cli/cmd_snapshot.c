/* cmd_snapshot.c - refrain snapshot: an archive of a job that still runs, from its journal.
 *
 * The job does not notice: the verb only reads what the ranks save in any case. With --every it
 * looks again and again, and takes a snapshot whenever a rank has saved something since the last
 * one.
 */
#define _POSIX_C_SOURCE 200809L /* clock_gettime, gethostname, kill, strdup */
#include "cli/launch/snapshots.h"
#include "cli/live/interval.h"
#include "cli/recovery.h"
#include "refrain/recording.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { KEY_EVERY = 256, KEY_PROCESS, KEY_PID, KEY_SINCE };

static const struct argp_option options[] = {
    {"output", 'o', "OUT", 0, "The archive that is made (default: FILE.snapshot.rfn)", 0},
    {"force", 'f', NULL, 0, "Replace OUT if there is such a file", 0},
    {"every", KEY_EVERY, "TIME", 0,
     "Take a snapshot every TIME, as in 60s or 0.5s, in the place of the one before, until the run "
     "ends",
     0},
    {"json", 'j', NULL, 0, "Print the result as JSON; with --every one object per line", 0},
    /* For `refrain record --snapshot-every`: cli/launch/snapshots.h. */
    {"process", KEY_PROCESS, "FD", OPTION_HIDDEN, NULL, 0},
    {"pid", KEY_PID, "PID", OPTION_HIDDEN, NULL, 0},
    {"since", KEY_SINCE, "NS", OPTION_HIDDEN, NULL, 0},
    {0}};

struct arguments {
    struct rfn_output_argument written;
    const char *given;
    uint64_t every_ns; /* 0: once */
    int process;       /* a descriptor: looks until this process ends; -1: until the run does */
    uint64_t pid;      /* of that process */
    int64_t since_ns;  /* runs that began before are none of this job */
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct arguments *arguments = state->input;
    switch (key) {
    case KEY_EVERY:
        arguments->every_ns = rfn_snapshot_interval_parse(arg);
        if (!arguments->every_ns)
            argp_error(state, "--every is " RFN_SNAPSHOT_INTERVALS ", not '%s'", arg);
        return 0;
    case KEY_PROCESS:
        arguments->process = (int)rfn_whole_argument(state, arg, "process", 0, INT_MAX);
        return 0;
    case KEY_PID:
        arguments->pid = (uint64_t)rfn_whole_argument(state, arg, "pid", 1, INT_MAX);
        return 0;
    case KEY_SINCE:
        arguments->since_ns = rfn_whole_argument(state, arg, "since", 0, LONG_MAX);
        return 0;
    case ARGP_KEY_ARG:
        if (arguments->given)
            argp_error(state, "one run at a time, not '%s' and '%s'", arguments->given, arg);
        arguments->given = arg;
        return 0;
    case ARGP_KEY_END:
        if (!arguments->given)
            argp_error(state, "of which run? As in refrain snapshot FILE.rfn.journal");
        return 0;
    default:
        return rfn_output_argument_parse(key, arg, state, &arguments->written);
    }
}

/* ---- one snapshot ---- */

/* The last one. */
struct snapshots {
    const struct arguments *arguments;
    const char *folder;
    const char *output; /* of a run, or with a number of another one */
    uint64_t identity;  /* of the run that is followed; 0: not chosen, or not known */
    struct rfn_recovery recovery;
    int64_t start_ns, until_ns; /* the latest of its ranks */
    size_t ranks;
    int64_t changed_ns; /* when there was something new; CLOCK_MONOTONIC */
    bool ranks_end;     /* no process of its ranks is there any more */
    bool made;
    int status;
};

static int64_t monotonic_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* Whether there is more than in the last snapshot. Fewer ranks of the same run are less: it ends.
 * Ranks that started before the run (--since; clocks of nodes may be a second apart) are another
 * run's. */
static bool is_more(const struct snapshots *last, const struct rfn_journals *journals,
                    struct snapshots *found)
{
    const int64_t second_ns = 1000000000;
    int64_t earliest_ns = INT64_MAX;
    *found = *last;
    found->ranks = journals->n;
    found->start_ns = found->until_ns = 0;
    for (size_t i = 0; i < journals->n; i++) {
        const struct rfn_journal_rank *rank = journals->ranks[i];
        if (rank->start_realtime_ns < earliest_ns)
            earliest_ns = rank->start_realtime_ns;
        if (rank->start_realtime_ns > found->start_ns)
            found->start_ns = rank->start_realtime_ns;
        if (rank->until_realtime_ns > found->until_ns)
            found->until_ns = rank->until_realtime_ns;
    }
    return earliest_ns >= last->arguments->since_ns - second_ns &&
           (found->start_ns > last->start_ns ||
            (found->until_ns > last->until_ns && found->ranks >= last->ranks));
}

static int take_one(struct snapshots *last, const struct rfn_journals *journals,
                    struct rfn_diag *diag)
{
    struct snapshots found;
    struct rfn_merge_result made;
    last->ranks_end = rfn_recovery_has_ended(journals);
    if (!is_more(last, journals, &found))
        return 0;
    RFN_TRY(rfn_recovery_make(&last->recovery, journals, &made, diag));
    *last = found;
    last->status = rfn_recovery_print(&last->recovery, journals, &made);
    last->changed_ns = monotonic_ns();
    last->made = true;
    last->recovery.is_first = false;
    last->recovery.written.force = true;
    return 0;
}

/* ---- which run ---- */

/* 0: there is none, or /proc does not tell. */
static uint64_t parent_of(uint64_t pid)
{
    char path[40], text[512];
    unsigned long long parent = 0;
    snprintf(path, sizeof path, "/proc/%llu/stat", (unsigned long long)pid);
    FILE *file = fopen(path, "re");
    const char *name_end = file && fgets(text, sizeof text, file) ? strrchr(text, ')') : NULL;
    if (!name_end || sscanf(name_end, ") %*c %llu", &parent) != 1)
        parent = 0;
    if (file)
        fclose(file);
    return parent;
}

/* Whether a rank is the process that this one is beside of, or was started by it. */
static bool is_beside(const struct rfn_journals *journals, uint64_t pid)
{
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    for (size_t i = 0; i < journals->n; i++) {
        uint64_t of = strcmp(journals->ranks[i]->host, host) == 0 ? journals->ranks[i]->pid : 0;
        while (of > 1 && of != pid)
            of = parent_of(of);
        if (of == pid)
            return true;
    }
    return false;
}

static bool is_followed(const struct snapshots *last, const struct rfn_journals *journals)
{
    if (last->arguments->pid)
        return is_beside(journals, last->arguments->pid);
    return last->identity ? journals->identity == last->identity : rfn_recovery_goes_on(journals);
}

/* Chooses the run that is followed, or the latest that goes on. False: it is none of these. */
static bool choose(const struct snapshots *last, struct rfn_journals *journals)
{
    for (size_t run = journals->n_runs; run-- > 0;) {
        rfn_journals_choose(journals, run);
        if (is_followed(last, journals))
            return true;
    }
    rfn_journals_choose(journals, journals->n_runs - 1);
    return last->arguments->pid ? journals->n_runs == 1 : !last->identity;
}

/* Takes snapshots of all runs that go on, or of the latest one. */
static int take_all(struct snapshots *last, struct rfn_journals *journals, struct rfn_diag *diag)
{
    const struct snapshots before = *last;
    char **names = calloc(journals->n_runs, sizeof *names);
    size_t n = 0, n_going = 0;
    int worst = 0, error = names ? 0 : RFN_E_NOMEM;
    for (size_t run = 0; run < journals->n_runs; run++) {
        rfn_journals_choose(journals, run);
        n_going += rfn_recovery_goes_on(journals);
    }
    last->recovery.is_one_of_runs = n_going > 1;
    for (size_t run = 0; run < journals->n_runs && !error; run++) {
        rfn_journals_choose(journals, run);
        if (n_going ? !rfn_recovery_goes_on(journals) : run + 1 < journals->n_runs)
            continue;
        const bool numbered = !before.arguments->written.output || n_going > 1;
        names[n] = numbered
                       ? rfn_recovery_numbered(&before.recovery, before.output, journals, names, n)
                       : strdup(before.output);
        if (!names[n])
            error = RFN_E_NOMEM;
        last->start_ns = last->until_ns = 0;
        last->recovery.written = before.recovery.written;
        last->recovery.written.output = names[n];
        if (!error)
            error = take_one(last, journals, diag);
        worst = worst ? worst : last->status;
        n += names[n] != NULL;
    }
    last->status = error ? rfn_recovery_fail(&last->recovery, error, diag) : worst;
    for (size_t i = 0; i < n; i++)
        free(names[i]);
    free(names);
    last->recovery.written = before.recovery.written;
    return error;
}

/* The same once more, of the run that is followed. */
static int take_next(struct snapshots *last, struct rfn_journals *journals, struct rfn_diag *diag)
{
    if (!choose(last, journals))
        return last->arguments->pid
                   ? 0
                   : rfn_fail(diag, RFN_E_NOTFOUND, -1, -1, "%s: the run has ended", last->folder);
    char *name = last->arguments->pid
                     ? rfn_recovery_numbered(&last->recovery, last->output, journals, NULL, 0)
                     : strdup(last->output);
    if (!name)
        return RFN_E_NOMEM;
    last->identity = journals->identity;
    last->recovery.written.output = name;
    const int error = take_one(last, journals, diag);
    if (error && !(error == RFN_E_NOTFOUND && last->arguments->every_ns))
        last->status = rfn_recovery_fail(&last->recovery, error, diag);
    last->recovery.written.output = last->output;
    free(name);
    return error;
}

/* Takes a snapshot if there is something new. RFN_E_NOTFOUND: the journal is gone. */
static int look(struct snapshots *last)
{
    struct rfn_journals *journals;
    struct rfn_diag diag = {.file_offset = -1, .rank = -1};
    int error = rfn_journals_open(&last->folder, 1, &journals, &diag);
    if (error && !(error == RFN_E_NOTFOUND && last->arguments->every_ns))
        last->status = rfn_recovery_fail(&last->recovery, error, &diag);
    if (!error) {
        error = last->arguments->every_ns ? take_next(last, journals, &diag)
                                          : take_all(last, journals, &diag);
        rfn_journals_close(journals);
    }
    fflush(stdout);
    return error;
}

/* ---- again and again ---- */

/* Waits until it is time for the next one, the user or the process ends it, or the journal is gone.
 */
static enum rfn_interval_end wait_for_next(const struct snapshots *last)
{
    enum rfn_interval_end end = RFN_INTERVAL_OVER;
    const int process = last->arguments->process;
    double left = (double)last->arguments->every_ns * 1e-9;
    while (left > 0 && end == RFN_INTERVAL_OVER) {
        const double step = process < 0 && left > 1 ? 1 : left;
        end = rfn_interval_wait(step, process);
        left -= process < 0 && !rfn_journals_are(last->folder) ? left : step;
    }
    return end;
}

/* Whether nothing new comes any more, as far as can be seen: checkpoints come about every second,
 * or later where they are large. */
static bool stands_still(const struct snapshots *last)
{
    enum { ENDED_S = 2, ELSEWHERE_S = 60 };
    const double seconds = (double)(monotonic_ns() - last->changed_ns) * 1e-9;
    return seconds > (last->ranks_end ? ENDED_S : ELSEWHERE_S);
}

static int tell_end(const struct snapshots *last, int error)
{
    const char *output = last->recovery.written.output;
    if (error == RFN_E_NOTFOUND && !last->made)
        rfn_command_error("%s: there is no journal of a recording in it", last->folder);
    else if (error == RFN_E_NOTFOUND)
        rfn_command_error("the run has ended and removed its journal; %s is the last snapshot",
                          output);
    else if (last->ranks_end)
        rfn_command_error("the run was killed; %s has all that its ranks have saved", output);
    else
        rfn_command_error("no rank has saved anything for a minute: the run has ended, or stands "
                          "still; %s has all that its ranks have saved",
                          output);
    return last->made ? last->status : RFN_EXIT_FAILURE;
}

static int repeat(struct snapshots *last)
{
    rfn_interval_begin();
    last->changed_ns = monotonic_ns();
    if (last->arguments->process >= 0) {
        while (wait_for_next(last) == RFN_INTERVAL_OVER)
            look(last); /* nobody reads its errors */
        return last->status;
    }
    int error = look(last);
    while (!error || (last->made && error != RFN_E_NOTFOUND)) {
        if (wait_for_next(last) != RFN_INTERVAL_OVER)
            return last->status;
        error = look(last);
        if (stands_still(last))
            break;
    }
    return error && error != RFN_E_NOTFOUND ? last->status : tell_end(last, error);
}

/* ---- the verb ---- */

static bool is_folder(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/* The folder that was given, or that of the archive that was; path has PATH_MAX bytes. */
static bool find_folder(const struct arguments *arguments, char *path)
{
    const char *given = arguments->given;
    if (arguments->process >= 0 || is_folder(given))
        return snprintf(path, PATH_MAX, "%s", given) < PATH_MAX;
    if (rfn_journal_folder(given, NULL, path, PATH_MAX) == 0 && is_folder(path))
        return true;
    rfn_command_error("%s is no folder, and there is no %s.journal: a run saves what it has "
                      "recorded from the start with refrain record --journal, else after a minute",
                      given, given);
    return false;
}

/* To be freed. NULL: that was told. */
static char *find_output(const struct arguments *arguments, const char *folder)
{
    if (arguments->written.output)
        return strdup(arguments->written.output);
    char *archive = rfn_recovery_name(folder);
    char *name = archive ? rfn_snapshot_name(archive) : NULL;
    free(archive);
    return name;
}

static int run(const struct rfn_command *command, int argc, char **argv)
{
    struct arguments arguments = {.process = -1};
    char folder[PATH_MAX];
    rfn_command_parse(command, parse, argc, argv, &arguments);
    if (!find_folder(&arguments, folder))
        return RFN_EXIT_FAILURE;
    char *output = find_output(&arguments, folder);
    if (!output)
        return RFN_EXIT_USAGE;
    struct snapshots last = {.arguments = &arguments,
                             .folder = folder,
                             .output = output,
                             .recovery = {.written = arguments.written,
                                          .is_live = true,
                                          .repeats = arguments.every_ns > 0,
                                          .is_first = true}};
    last.recovery.written.output = output;
    if (arguments.every_ns)
        last.status = repeat(&last);
    else
        look(&last);
    free(output);
    return last.status;
}

const struct rfn_command rfn_cmd_snapshot = {
    .name = "snapshot",
    .summary = "Makes an archive of a job that still runs",
    .usage = "FOLDER\nFILE.rfn",
    .about =
        "Of what the ranks have saved so far, each at most about a second ago: in FOLDER, "
        "FILE.rfn.journal, where a run saves from the start with 'refrain record --journal', else "
        "after a minute. The job does not notice.\n"
        "\n"
        "  refrain snapshot app.8.rfn\n"
        "  refrain report app.8.snapshot.rfn\n"
        "\n"
        "With --every it repeats that until the run ends, or until Ctrl-C. OUT is a whole archive "
        "at any time. Exits with 3 where ranks are missing.",
    .options = options,
    .values = "--every=10s,60s,600s",
    .run = run,
};
