/* copy_archive.h - copies an archive by reading its events and writing them (refrain/writer.h): for
 * tests, as the copy has to say what the archive says.
 */
#ifndef RFN_TESTS_SUPPORT_COPY_ARCHIVE_H
#define RFN_TESTS_SUPPORT_COPY_ARCHIVE_H

#include "refrain/event.h"
#include "refrain/writer.h"

#include <stdlib.h>
#include <string.h>

static int64_t copy_path(struct rfn_writer *writer, const struct rfn_archive *archive,
                         uint32_t number)
{
    const struct rfn_path path = rfn_archive_path(archive, number);
    struct rfn_location *frames = calloc(path.n_frames + 1, sizeof *frames);
    if (!frames)
        return RFN_E_NOMEM;
    for (uint32_t i = 0; i < path.n_frames; i++)
        frames[i] = rfn_archive_location(archive, path.frames[i]);
    const int64_t copy = rfn_writer_path(writer, frames, path.n_frames);
    free(frames);
    return copy;
}

static int64_t copy_comm(struct rfn_writer *writer, const struct rfn_archive *archive,
                         uint32_t number)
{
    const struct rfn_comm_info *comm = rfn_archive_comm(archive, number);
    int64_t *members = calloc((size_t)comm->size + comm->remote_size + 1, sizeof *members);
    if (!members)
        return RFN_E_NOMEM;
    for (uint32_t i = 0; i < comm->size + comm->remote_size && comm->kind >= RFN_COMM_INTRA; i++)
        members[i] = i < comm->size ? rfn_comm_world_rank(archive, number, false, i)
                                    : rfn_comm_world_rank(archive, number, true, i - comm->size);
    const int64_t copy = rfn_writer_comm(writer, comm->kind, members, comm->size,
                                         members + comm->size, comm->remote_size);
    free(members);
    return copy;
}

/* The copy of a definition has its number. */
static int expect_number(int64_t copy, uint32_t number)
{
    return copy == number ? 0 : copy < 0 ? (int)copy : RFN_E_UNSUPPORTED;
}

/* All that events refer to, in order. */
static int copy_definitions(struct rfn_writer *writer, const struct rfn_archive *archive)
{
    for (uint32_t i = 0; i < rfn_archive_functions(archive); i++)
        RFN_TRY(expect_number(rfn_writer_function(writer, rfn_archive_function(archive, i)), i));
    for (uint32_t i = 0; i < rfn_archive_paths(archive); i++)
        RFN_TRY(expect_number(copy_path(writer, archive, i), i));
    for (uint32_t i = 0; i < rfn_archive_datatypes(archive); i++)
        RFN_TRY(expect_number(rfn_writer_datatype(writer, rfn_archive_datatype(archive, i)), i));
    for (uint32_t i = 0; i < rfn_archive_comms(archive); i++)
        RFN_TRY(expect_number(copy_comm(writer, archive, i), i));
    for (uint32_t i = 0; i < rfn_archive_regions(archive); i++)
        RFN_TRY(expect_number(rfn_writer_region(writer, rfn_archive_region(archive, i)), i));
    for (uint32_t i = 0; i < rfn_archive_hosts(archive); i++) {
        const struct rfn_host_info host = rfn_archive_host(archive, i);
        RFN_TRY(expect_number(rfn_writer_host(writer, host.name, host.cores), i));
    }
    return 0;
}

static bool is_list(uint8_t kind)
{
    return kind & RFN_KIND_LIST || kind == RFN_KIND_STRING || kind == RFN_KIND_COMPLETIONS;
}

/* Lists have other numbers in the copy. */
static int copy_words(struct rfn_writer *writer, const struct rfn_cursor *cursor, uint32_t stream,
                      const struct rfn_param_info *params, const int64_t *words, unsigned n,
                      int64_t *copies)
{
    for (unsigned i = 0; i < n; i++) {
        copies[i] = words[i];
        if (!is_list(params[i].kind) || words[i] <= 0)
            continue;
        const uint8_t kind = params[i].kind & (uint8_t)~RFN_KIND_LIST;
        size_t size;
        const int64_t *list = rfn_cursor_list(cursor, words[i], &size, kind);
        copies[i] = rfn_writer_list(writer, stream, kind, list, size);
        RFN_TRY((int)(copies[i] < 0 ? copies[i] : 0));
    }
    return 0;
}

static int copy_stream(struct rfn_writer *writer, const struct rfn_archive *archive,
                       uint32_t number, struct rfn_diag *diag)
{
    const struct rfn_stream_info info = rfn_archive_stream(archive, number);
    struct rfn_cursor *cursor;
    const struct rfn_record *record;
    int64_t in[RFN_PARAMS_MAX], out[RFN_PARAMS_MAX];
    uint32_t host = 0;
    while (strcmp(rfn_archive_host(archive, host).name, info.host) != 0)
        host++;
    const int64_t stream = rfn_writer_stream(writer, info.rank, info.thread, host, info.volume);
    RFN_TRY((int)stream);
    RFN_TRY(rfn_cursor_open(archive, number, &cursor, diag));
    int more, error = 0;
    while (!error && (more = rfn_cursor_next(cursor, &record, diag)) > 0) {
        const struct rfn_function_info *function = rfn_archive_function(archive, record->function);
        struct rfn_record copy = *record;
        copy.in = in;
        copy.out = out;
        error = copy_words(writer, cursor, (uint32_t)stream, function->params, record->in,
                           function->n_in, in);
        if (!error)
            error = copy_words(writer, cursor, (uint32_t)stream, function->params + function->n_in,
                               record->out, function->n_out, out);
        if (!error)
            error = rfn_writer_event(writer, (uint32_t)stream, &copy);
    }
    rfn_cursor_close(cursor);
    return error ? error : more;
}

static int copy_archive(const struct rfn_archive *archive, const char *path, struct rfn_diag *diag)
{
    struct rfn_run run = *rfn_archive_run(archive);
    struct rfn_writer *writer;
    run.identity = 0; /* tests merge copies of files of different runs */
    RFN_TRY(rfn_writer_new(path, true, &run, &writer, diag));
    int error = copy_definitions(writer, archive);
    for (uint32_t i = 0; i < run.streams && error >= 0; i++)
        error = copy_stream(writer, archive, i, diag);
    if (error >= 0)
        return rfn_writer_close(writer, NULL);
    rfn_writer_cancel(writer);
    return error;
}

#endif
