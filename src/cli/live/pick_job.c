#define _POSIX_C_SOURCE 200809L /* geteuid, localtime_r */
#include "cli/live/pick_job.h"

#include "cli/args/command.h"
#include "cli/args/suggest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum way { BY_JOB, BY_PROGRAM, BY_PROCESS, N_WAYS };

enum { MOST_TOLD = 5 };

struct rfn_picked rfn_job_at(const struct rfn_live_list *list, size_t first)
{
    struct rfn_picked job = {.processes = list->processes + first, .n = 0};
    while (first + job.n < list->n &&
           list->processes[first + job.n].job_number == job.processes->job_number)
        job.n++;
    return job;
}

static bool is_named(const struct rfn_picked *job, enum way way, const char *name)
{
    char own[RFN_LIVE_NAME];
    bool found = false;
    rfn_live_job_name(name, own);
    for (size_t i = 0; i < job->n && !found; i++) {
        const struct rfn_live_process *process = &job->processes[i];
        char pid[16];
        snprintf(pid, sizeof pid, "%u", process->pid);
        found = way == BY_JOB       ? strcmp(process->job, own) == 0
                : way == BY_PROGRAM ? strcmp(process->program, name) == 0
                                    : strcmp(pid, name) == 0;
    }
    return found;
}

static size_t count(const struct rfn_live_list *list, enum way way, const char *name,
                    struct rfn_picked *first)
{
    size_t n = 0;
    for (size_t i = 0; i < list->n;) {
        const struct rfn_picked job = rfn_job_at(list, i);
        if (is_named(&job, way, name) && n++ == 0)
            *first = job;
        i += job.n;
    }
    return n;
}

/* "4711 (app.8, since 14:03:12), 4712 (...)" */
static int tell_several(const struct rfn_live_list *list, enum way way, const char *name, size_t n)
{
    struct rfn_text text = {0};
    size_t told = 0;
    for (size_t i = 0; i < list->n;) {
        const struct rfn_picked job = rfn_job_at(list, i);
        i += job.n;
        if (!is_named(&job, way, name) || told++ >= MOST_TOLD)
            continue;
        const time_t start = (time_t)(job.processes->start_ns / 1000000000);
        struct tm at;
        char since[32] = "?";
        if (localtime_r(&start, &at))
            strftime(since, sizeof since, "%H:%M:%S", &at);
        rfn_text_format(&text, "%s%u (", told > 1 ? ", " : "", job.processes->pid);
        rfn_text_printable(&text, job.processes->job);
        rfn_text_format(&text, ", since %s)", since);
    }
    rfn_command_error("%zu jobs are named '%s': name a process of one of them instead: %s%s", n,
                      name, rfn_text_terminated(&text), n > MOST_TOLD ? ", ..." : "");
    rfn_text_release(&text);
    return RFN_EXIT_FAILURE;
}

static bool is_number(const char *name)
{
    return *name && name[strspn(name, "0123456789")] == 0;
}

static int tell_no_process(const char *pid)
{
    char path[64];
    struct stat status;
    snprintf(path, sizeof path, "/proc/%.20s", pid);
    if (stat(path, &status) < 0)
        rfn_command_error("there is no process %s on this node; 'refrain watch' lists jobs", pid);
    else if (status.st_uid != geteuid())
        rfn_command_error("process %s is another user's: watch and control reach your own jobs",
                          pid);
    else
        rfn_command_error("process %s does not sample: 'refrain record --sample=adaptive' starts "
                          "one that does, and 'refrain watch' lists them",
                          pid);
    return RFN_EXIT_FAILURE;
}

static int tell_none(const struct rfn_live_list *list, const char *name)
{
    if (is_number(name))
        return tell_no_process(name);
    const char **names = calloc(list->n + 1, sizeof *names);
    for (size_t i = 0; i < list->n && names; i++)
        names[i] = list->processes[i].job;
    const char *near = names ? rfn_suggest(name, names, list->n) : NULL;
    if (near)
        rfn_command_error("no job named '%s' samples on this node; did you mean '%s'?", name, near);
    else
        rfn_command_error(
            "no job named '%s' samples on this node: 'refrain record "
            "--sample=adaptive' starts one that does, and 'refrain watch' lists your own",
            name);
    free(names);
    return RFN_EXIT_FAILURE;
}

int rfn_pick_job(const struct rfn_live_list *list, const char *name, struct rfn_picked *picked)
{
    for (enum way way = BY_JOB; way < N_WAYS; way++) {
        const size_t n = count(list, way, name, picked);
        if (n > 1)
            return tell_several(list, way, name, n);
        if (n == 1)
            return RFN_EXIT_OK;
    }
    rfn_tell_unreadable(list);
    return tell_none(list, name);
}

void rfn_tell_unreadable(const struct rfn_live_list *list)
{
    if (list->n_unreadable > 1)
        rfn_command_error("%s (and %zu more)", list->why.text, list->n_unreadable - 1);
    else if (list->n_unreadable)
        rfn_command_error("%s", list->why.text);
}
