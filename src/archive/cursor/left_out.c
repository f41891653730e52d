#define _POSIX_C_SOURCE 200809L /* strdup */
#include "refrain/left_out.h"

#include "base/grow.h"

#include <stdlib.h>
#include <string.h>

/* The recorder tells of functions in the last events of a stream: a function has one at most. */
enum { LAST_EVENTS = 1024, NAME_SIZE = 64 };

static int add(struct rfn_left_out *left_out, const char *function, uint64_t calls)
{
    size_t i = 0;
    while (i < left_out->n && strcmp(left_out->functions[i].function, function) != 0)
        i++;
    if (i == left_out->n) {
        RFN_TRY(RFN_GROW(left_out->functions, left_out->capacity, i + 1));
        char *copy = strdup(function);
        if (!copy)
            return RFN_E_NOMEM;
        left_out->functions[left_out->n++] = (struct rfn_left_out_function){copy, 0};
    }
    left_out->functions[i].calls += calls;
    left_out->calls += calls;
    return 0;
}

static int take_calls(struct rfn_left_out *left_out, const struct rfn_cursor *cursor,
                      const struct rfn_record *record)
{
    char name[NAME_SIZE];
    size_t n, used = 0;
    const int64_t *words = rfn_cursor_list(cursor, record->in[0], &n, RFN_KIND_STRING);
    for (; words && used < n && used < sizeof name - 1; used++)
        name[used] = (char)words[used];
    name[used] = 0;
    return record->out[0] > 0 ? add(left_out, name, (uint64_t)record->out[0]) : 0;
}

static void take_stop(struct rfn_left_out *left_out, int64_t ns)
{
    left_out->first_ns = left_out->stopped && left_out->first_ns < ns ? left_out->first_ns : ns;
    left_out->last_ns = left_out->stopped && left_out->last_ns > ns ? left_out->last_ns : ns;
    left_out->stopped++;
}

static int take_event(struct rfn_left_out *left_out, const struct rfn_archive *archive,
                      const struct rfn_cursor *cursor, const struct rfn_record *record)
{
    const struct rfn_function_info *function = rfn_archive_function(archive, record->function);
    if (strcmp(function->name, "refrain_recording") == 0 && function->n_in && record->in[0] == 0)
        take_stop(left_out, record->enter_ns);
    return strcmp(function->name, "refrain_calls_left_out") == 0 && function->n_in == 1 &&
                   function->n_out == 1
               ? take_calls(left_out, cursor, record)
               : 0;
}

static int read_stream(struct rfn_left_out *left_out, const struct rfn_archive *archive,
                       uint32_t stream)
{
    const uint64_t events = rfn_archive_stream(archive, stream).events;
    const struct rfn_record *record;
    struct rfn_cursor *cursor;
    int error = rfn_cursor_open(archive, stream, &cursor, NULL);
    if (error < 0)
        return error;
    error = rfn_cursor_seek(cursor, events > LAST_EVENTS ? events - LAST_EVENTS : 0, NULL);
    while (!error && (error = rfn_cursor_next(cursor, &record, NULL)) > 0)
        error = take_event(left_out, archive, cursor, record);
    rfn_cursor_close(cursor);
    return error;
}

static int by_calls(const void *left, const void *right)
{
    const struct rfn_left_out_function *a = left, *b = right;
    if (a->calls != b->calls)
        return a->calls > b->calls ? -1 : 1;
    return strcmp(a->function, b->function);
}

int rfn_left_out_read(const struct rfn_archive *archive, struct rfn_left_out *left_out)
{
    const struct rfn_run *run = rfn_archive_run(archive);
    *left_out = (struct rfn_left_out){0};
    for (uint32_t i = 0; run->limits && i < run->streams; i++) {
        if (read_stream(left_out, archive, i) == RFN_E_NOMEM)
            return RFN_E_NOMEM;
    }
    if (left_out->n)
        qsort(left_out->functions, left_out->n, sizeof *left_out->functions, by_calls);
    return 0;
}

void rfn_left_out_release(struct rfn_left_out *left_out)
{
    for (size_t i = 0; i < left_out->n; i++)
        free(left_out->functions[i].function);
    free(left_out->functions);
    *left_out = (struct rfn_left_out){0};
}
