#include "cli/text/spawned_jobs.h"

#include "cli/text/json.h"
#include "refrain/event.h"

#include <stdlib.h>

enum { SHOWN = 10 };

struct job {
    char *archive; /* its name, without folders */
    uint32_t rank; /* that started it */
};

struct jobs {
    struct job *jobs;
    size_t n;
};

/* The outcome of a function that names an archive, or -1. */
static int archive_outcome(const struct rfn_function_info *function)
{
    if (strncmp(function->name, "MPI_Comm_spawn", 14) != 0)
        return -1;
    for (int i = 0; i < function->n_out; i++) {
        const struct rfn_param_info *param = &function->params[function->n_in + i];
        if (param->kind == RFN_KIND_STRING && strcmp(param->name, "archive") == 0)
            return i;
    }
    return -1;
}

static int add(struct jobs *jobs, const int64_t *words, size_t n, uint32_t rank)
{
    struct job *more = realloc(jobs->jobs, (jobs->n + 1) * sizeof *more);
    if (!more)
        return RFN_E_NOMEM;
    jobs->jobs = more;
    char *name = malloc(n + 1);
    if (!name)
        return RFN_E_NOMEM;
    for (size_t i = 0; i < n; i++)
        name[i] = (char)words[i];
    name[n] = 0;
    more[jobs->n++] = (struct job){name, rank};
    return 0;
}

static int add_stream(struct jobs *jobs, const struct rfn_archive *archive, uint32_t stream)
{
    struct rfn_cursor *cursor;
    const struct rfn_record *record;
    struct rfn_diag diag = {.file_offset = -1, .rank = -1};
    int error = 0;
    if (rfn_cursor_open(archive, stream, &cursor, &diag) < 0)
        return 0;
    while (error == 0 && rfn_cursor_next(cursor, &record, &diag) > 0) {
        int outcome = archive_outcome(rfn_archive_function(archive, record->function));
        size_t n = 0;
        const int64_t *words =
            outcome < 0 ? NULL : rfn_cursor_list(cursor, record->out[outcome], &n, RFN_KIND_STRING);
        if (n > 0)
            error = add(jobs, words, n, rfn_archive_stream(archive, stream).rank);
    }
    rfn_cursor_close(cursor);
    return error;
}

static void release(struct jobs *jobs)
{
    for (size_t i = 0; i < jobs->n; i++)
        free(jobs->jobs[i].archive);
    free(jobs->jobs);
}

/* Reads the events if the archive has such calls at all; false: out of memory, and nothing is to be
 * released. */
static bool find(struct jobs *jobs, const struct rfn_archive *archive)
{
    uint32_t n = 0;
    int error = 0;
    *jobs = (struct jobs){0};
    for (uint32_t i = 0; i < rfn_archive_functions(archive); i++) {
        if (archive_outcome(rfn_archive_function(archive, i)) >= 0)
            n = rfn_archive_run(archive)->streams;
    }
    for (uint32_t i = 0; i < n && error == 0; i++)
        error = add_stream(jobs, archive, i);
    if (error < 0)
        release(jobs);
    return error == 0;
}

void rfn_spawned_jobs_line(struct rfn_text *text, const struct rfn_archive *archive, int width)
{
    struct jobs jobs;
    if (!find(&jobs, archive)) {
        text->failed = true;
        return;
    }
    if (jobs.n)
        rfn_text_format(text, "%-*s", width, "Started");
    for (size_t i = 0; i < jobs.n && i < SHOWN; i++) {
        rfn_text_string(text, i ? ", " : "");
        rfn_text_printable(text, jobs.jobs[i].archive);
        rfn_text_format(text, " (by rank %u)", jobs.jobs[i].rank);
    }
    if (jobs.n > SHOWN)
        rfn_text_format(text, " and %zu more", jobs.n - SHOWN);
    rfn_text_string(text, jobs.n ? "\n" : "");
    release(&jobs);
}

json_t *rfn_json_spawned_jobs(const struct rfn_archive *archive)
{
    struct jobs jobs;
    if (!find(&jobs, archive))
        return rfn_json_fail();
    json_t *list = json_array();
    for (size_t i = 0; i < jobs.n; i++) {
        json_t *job = json_object();
        RFN_JSON_SET(job, "archive", jobs.jobs[i].archive);
        RFN_JSON_SET(job, "rank", jobs.jobs[i].rank);
        json_array_append_new(list, job);
    }
    release(&jobs);
    return list;
}
