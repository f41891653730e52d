#define _POSIX_C_SOURCE 200809L
#include "cli/predict/on_simgrid.h"

#include "cli/launch/mpi_environment.h"

#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int fail(struct rfn_diag *diag, int error, const char *what, const char *why)
{
    return rfn_fail(diag, error, -1, -1, "%s: %s", what, why);
}

/* ---- its command line ---- */

struct words {
    char **words;
    size_t n, capacity;
    char numbers[2][40];
    char **settings; /* NAME:VALUE, as many as there are */
    size_t n_settings;
    bool failed;
};

static void add(struct words *words, const char *name, const char *value)
{
    if (words->n + 3 > words->capacity) {
        size_t capacity = 2 * words->capacity + 32;
        char **more = realloc(words->words, capacity * sizeof *more);
        words->failed = words->failed || !more;
        if (!more)
            return;
        words->words = more;
        words->capacity = capacity;
    }
    words->words[words->n++] = (char *)(uintptr_t)name;
    if (value)
        words->words[words->n++] = (char *)(uintptr_t)value;
    words->words[words->n] = NULL;
}

static void add_number(struct words *words, const char *name, int which, double value)
{
    if (value <= 0)
        return;
    snprintf(words->numbers[which], sizeof words->numbers[which], "%.17g", value);
    add(words, name, words->numbers[which]);
}

/* Choices of algorithms are ours: SMPI's own of MPICH fail in a replay. */
static bool is_selector(const struct rfn_setting *setting)
{
    return strcmp(setting->name, "smpi/coll-selector") == 0;
}

/* NULL: memory ran out. */
static char *setting_text(const struct rfn_setting *setting)
{
    size_t size = strlen(setting->name) + strlen(setting->value) + 2;
    char *text = malloc(size);
    if (text)
        snprintf(text, size, "%s:%s", setting->name, setting->value);
    return text;
}

static void add_settings(struct words *words, const struct rfn_simulate_options *options)
{
    words->settings = calloc(options->n_settings + 1, sizeof *words->settings);
    words->failed = words->failed || !words->settings;
    for (size_t i = 0; !words->failed && i < options->n_settings; i++) {
        const struct rfn_setting *setting = &options->settings[i];
        if (is_selector(setting)) {
            if (strcmp(setting->value, "default") != 0)
                add(words, "--collectives", setting->value);
            continue;
        }
        char *text = setting_text(setting);
        words->failed = !text;
        words->settings[words->n_settings++] = text;
        add(words, "--cfg", text);
    }
}

static void words_release(struct words *words)
{
    for (size_t i = 0; i < words->n_settings; i++)
        free(words->settings[i]);
    free(words->settings);
    free(words->words);
}

static void set_words(struct words *words, const struct rfn_simgrid_job *job, const char *hosts)
{
    add(words, "refrain-simgrid", NULL);
    add(words, "--platform", job->platform_file);
    add(words, "--hosts", hosts);
    add_number(words, "--rate", 0, job->options->rate);
    add_number(words, "--scale", 1, job->options->scale);
    if (job->measured)
        add(words, "--measured", NULL);
    if (job->from != RFN_TEXT_ANY)
        add(words, "--from", job->from == RFN_TEXT_THESIS ? "thesis" : "simgrid");
    add_settings(words, job->options);
    add(words, "--", job->file);
}

/* A file without a name that has a host per line. */
static FILE *write_hosts(const struct rfn_simgrid_job *job)
{
    FILE *file = tmpfile();
    for (uint32_t i = 0; file && i < job->ranks; i++)
        fprintf(file, "%s\n", rfn_platform_host(job->platform, job->hosts[i])->name);
    if (file && fflush(file) == 0 && !ferror(file))
        return file;
    if (file)
        fclose(file);
    return NULL;
}

/* ---- running it ---- */

static pid_t start(const char *program, char **words, int *output)
{
    int ends[2];
    if (pipe(ends) < 0)
        return -1;
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        close(ends[1]);
        execv(program, words);
        _exit(127);
    }
    close(ends[1]);
    *output = ends[0];
    if (child < 0)
        close(ends[0]);
    return child;
}

/* *value is what it printed, NULL if that is no JSON. */
static int run(const char *program, char **words, json_t **value, struct rfn_diag *diag)
{
    int output, status;
    pid_t child = start(program, words, &output);
    if (child < 0)
        return fail(diag, RFN_E_IO, program, strerror(errno));
    *value = json_loadfd(output, 0, NULL);
    close(output);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return 0;
    fail(diag, RFN_E_IO, program, "it failed: see what it says above");
    /* The trace is damaged, or ends in a deadlock. */
    return WIFEXITED(status) && WEXITSTATUS(status) == RFN_EXIT_BAD_INPUT ? RFN_E_INCOMPLETE
                                                                          : RFN_E_IO;
}

/* ---- what it says ---- */

static double number(const json_t *value, const char *name)
{
    return json_number_value(json_object_get(value, name));
}

static uint64_t count(const json_t *value, const char *name)
{
    json_int_t n = json_integer_value(json_object_get(value, name));
    return n > 0 ? (uint64_t)n : 0;
}

static int take(const json_t *value, uint32_t n, struct rfn_simulated *simulated)
{
    const json_t *ranks = json_object_get(value, "ranks");
    if (!json_is_number(json_object_get(value, "predicted_seconds")) || json_array_size(ranks) != n)
        return RFN_E_CORRUPT;
    simulated->ranks = calloc((size_t)n + 1, sizeof *simulated->ranks);
    if (!simulated->ranks)
        return RFN_E_NOMEM;
    simulated->n_ranks = n;
    simulated->seconds = number(value, "predicted_seconds");
    simulated->actions = count(value, "actions");
    for (uint32_t i = 0; i < n; i++) {
        const json_t *rank = json_array_get(ranks, i);
        simulated->ranks[i] = (struct rfn_simulated_rank){.end = number(rank, "end"),
                                                          .compute = number(rank, "compute"),
                                                          .sleep = number(rank, "sleep"),
                                                          .messages = number(rank, "messages"),
                                                          .actions = count(rank, "actions"),
                                                          .sent = count(rank, "sent"),
                                                          .bytes = count(rank, "bytes")};
        simulated->messages += simulated->ranks[i].sent;
    }
    return 0;
}

int rfn_simulate_on_simgrid(const struct rfn_simgrid_job *job, struct rfn_simulated *simulated,
                            struct rfn_diag *diag)
{
    char program[PATH_MAX], hosts[40];
    struct words words = {0};
    json_t *value = NULL;
    *simulated = (struct rfn_simulated){0};
    if (!rfn_find_part("refrain-simgrid", X_OK, program))
        return fail(diag, RFN_E_NOTFOUND, "refrain-simgrid",
                    "this program is not there: Refrain was built without libsimgrid-dev or g++; "
                    "--engine=own needs neither");
    if (job->options->no_contention)
        return fail(diag, RFN_E_UNSUPPORTED, "--no-contention", "SimGrid always has contention");
    FILE *file = write_hosts(job);
    if (!file)
        return fail(diag, RFN_E_IO, "cannot write hosts to a temporary file", strerror(errno));
    snprintf(hosts, sizeof hosts, "/dev/fd/%d", fileno(file));
    set_words(&words, job, hosts);
    int error = words.failed ? RFN_E_NOMEM : run(program, words.words, &value, diag);
    if (!error)
        error = value ? take(value, job->ranks, simulated) : RFN_E_CORRUPT;
    if (error == RFN_E_CORRUPT)
        fail(diag, error, "refrain-simgrid", "its output is not the result of a simulation");
    json_decref(value);
    fclose(file);
    words_release(&words);
    return error;
}
