/* ti_files.c - all ranks' actions as files of time-independent text. */
#define _POSIX_C_SOURCE 200809L /* mkdir, rmdir */

#include "base/grow.h"
#include "base/part_file.h"
#include "convert/progress.h"
#include "convert/text/text_sink.h"
#include "convert/text/ti_writer.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TURN = 256 /* actions of a rank in a file of all, then the next rank's */, TELL = 1 << 16 };

struct files {
    struct rfn_actions *actions;
    const struct rfn_text_options *options;
    struct rfn_actions_summary *summary;
    struct rfn_diag *diag;
    char *list, *folder; /* of one file per rank */
    char *path;          /* of the file at hand */
    size_t path_size;
    uint32_t n_written; /* files of ranks */
};

static int no_memory(const struct files *files)
{
    return rfn_fail(files->diag, RFN_E_NOMEM, -1, -1, "out of memory");
}

/* ---- a rank ---- */

static struct rfn_ti_writer writer_of(const struct files *files, uint32_t rank,
                                      struct rfn_text_sink *sink)
{
    return (struct rfn_ti_writer){.actions = files->actions,
                                  .dialect = files->options->dialect,
                                  .rank = rank,
                                  .n_ranks = rfn_actions_ranks(files->actions),
                                  .summary = files->summary,
                                  .text = rfn_text_sink_text(sink)};
}

static int refuse(const struct files *files, const struct rfn_ti_writer *writer,
                  const struct rfn_action *action)
{
    return rfn_fail(files->diag, RFN_E_UNSUPPORTED, -1, (int)writer->rank,
                    "rank %u, event or line %" PRIu64 " %s", writer->rank, action->event,
                    writer->fault);
}

/* Up to n actions. 1: there may be more. */
static int write_some(const struct files *files, struct rfn_ti_writer *writer,
                      struct rfn_text_sink *sink, uint64_t n)
{
    struct rfn_action action;
    for (uint64_t i = 0; i < n; i++) {
        const int got = rfn_actions_next(files->actions, writer->rank, &action);
        if (got < 0)
            return got;
        files->summary->actions += (uint64_t)got;
        const int error = got ? rfn_ti_write(writer, &action) : rfn_ti_write_end(writer);
        if (error == RFN_E_UNSUPPORTED)
            return refuse(files, writer, &action);
        if (error < 0)
            return no_memory(files);
        RFN_TRY(rfn_text_sink_flow(sink, files->diag));
        if (!got)
            return 0;
    }
    return 1;
}

/* ---- one file for all ---- */

static int write_turns(const struct files *files, struct rfn_ti_writer *writers,
                       struct rfn_text_sink *sink)
{
    const uint32_t n = rfn_actions_ranks(files->actions);
    uint32_t left = n;
    while (left) {
        for (uint32_t rank = 0; rank < n; rank++) {
            if (!writers[rank].text)
                continue;
            const int more = write_some(files, &writers[rank], sink, TURN);
            RFN_TRY(more);
            if (!more) {
                writers[rank].text = NULL; /* it is at its end */
                left--;
                rfn_convert_tell(&files->options->progress, 1 - (double)left / n);
            }
        }
    }
    return 0;
}

static int write_shared(const struct files *files, const char *path)
{
    const uint32_t n = rfn_actions_ranks(files->actions);
    struct rfn_text_sink *sink;
    RFN_TRY(rfn_text_sink_open(path, files->options->force, &sink, files->diag));
    struct rfn_ti_writer *writers = calloc((size_t)n + 1, sizeof *writers);
    for (uint32_t rank = 0; writers && rank < n; rank++)
        writers[rank] = writer_of(files, rank, sink);
    const int error = writers ? write_turns(files, writers, sink) : no_memory(files);
    for (uint32_t rank = 0; writers && rank < n; rank++)
        rfn_ti_writer_release(&writers[rank]);
    free(writers);
    if (error < 0) {
        rfn_text_sink_cancel(sink);
        return error;
    }
    RFN_TRY(rfn_text_sink_close(sink, &files->summary->bytes, &files->summary->file_bytes,
                                files->diag));
    return rfn_text_sink_place(path, files->options->force, files->diag);
}

/* ---- a file per rank ---- */

static void set_path(const struct files *files, uint32_t rank, const char *suffix)
{
    snprintf(files->path, files->path_size, "%s/%" PRIu32 "_rank.txt%s", files->folder, rank,
             suffix);
}

static int write_rank(struct files *files, uint32_t rank, const char *suffix)
{
    struct rfn_text_sink *sink;
    set_path(files, rank, suffix);
    RFN_TRY(rfn_text_sink_open(files->path, files->options->force, &sink, files->diag));
    struct rfn_ti_writer writer = writer_of(files, rank, sink);
    int more = 1;
    while (more > 0)
        more = write_some(files, &writer, sink, TELL);
    rfn_ti_writer_release(&writer);
    if (more < 0) {
        rfn_text_sink_cancel(sink);
        return more;
    }
    RFN_TRY(rfn_text_sink_close(sink, &files->summary->bytes, &files->summary->file_bytes,
                                files->diag));
    files->n_written++;
    return 0;
}

static int make_folder(const struct files *files)
{
    if (mkdir(files->folder, 0777) == 0 || errno == EEXIST)
        return 0;
    return rfn_fail(files->diag, RFN_E_IO, -1, -1, "cannot make the folder %s: %s", files->folder,
                    strerror(errno));
}

static int write_list(struct files *files, const char *suffix)
{
    struct rfn_text_sink *list;
    uint64_t bytes = 0;
    RFN_TRY(rfn_text_sink_open(files->list, files->options->force, &list, files->diag));
    for (uint32_t rank = 0; rank < rfn_actions_ranks(files->actions); rank++) {
        set_path(files, rank, suffix);
        struct rfn_buf *text = rfn_text_sink_text(list);
        rfn_buf_bytes(text, files->path, strlen(files->path));
        rfn_buf_u8(text, '\n');
    }
    return rfn_text_sink_close(list, &bytes, &bytes, files->diag);
}

static int write_all_ranks(struct files *files, const char *suffix)
{
    const uint32_t n = rfn_actions_ranks(files->actions);
    for (uint32_t rank = 0; rank < n; rank++) {
        RFN_TRY(write_rank(files, rank, suffix));
        rfn_convert_tell(&files->options->progress, (rank + 1.0) / n);
    }
    return write_list(files, suffix);
}

/* Files of ranks that only an old run had would else pass for ranks of this one. */
static void remove_old(const struct files *files, const char *suffix)
{
    uint32_t rank = files->n_written;
    do
        set_path(files, rank++, suffix);
    while (unlink(files->path) == 0);
}

/* All files are whole. */
static int place_all(const struct files *files, const char *suffix)
{
    const bool force = files->options->force;
    for (uint32_t rank = 0; rank < files->n_written; rank++) {
        set_path(files, rank, suffix);
        RFN_TRY(rfn_text_sink_place(files->path, force, files->diag));
    }
    if (force)
        remove_old(files, suffix);
    return rfn_text_sink_place(files->list, force, files->diag);
}

static void remove_written(const struct files *files, const char *suffix)
{
    for (uint32_t rank = 0; rank < files->n_written; rank++) {
        set_path(files, rank, suffix);
        rfn_part_remove(files->path, files->options->force);
    }
    rmdir(files->folder); /* if nothing else is in it */
}

static int write_listed(struct files *files, const char *path)
{
    const size_t length = strlen(path), suffix = rfn_text_sink_suffix(path);
    files->list = strndup(path, length - suffix);
    files->folder = malloc(length + sizeof "_files");
    files->path_size = length + sizeof "_files" + 64;
    files->path = malloc(files->path_size);
    if (!files->list || !files->folder || !files->path)
        return no_memory(files);
    snprintf(files->folder, length + sizeof "_files", "%s_files", files->list);
    if (!files->options->force && access(files->list, F_OK) == 0)
        return rfn_fail(files->diag, RFN_E_EXISTS, -1, -1, "%s exists already", files->list);
    RFN_TRY(make_folder(files));
    const int error = write_all_ranks(files, path + length - suffix);
    if (error < 0) {
        remove_written(files, path + length - suffix);
        return error;
    }
    return place_all(files, path + length - suffix);
}

int rfn_text_of_actions(struct rfn_actions *actions, const char *path,
                        const struct rfn_text_options *options, struct rfn_actions_summary *summary,
                        struct rfn_diag *diag)
{
    struct files files = {.actions = actions, .options = options, .summary = summary, .diag = diag};
    *summary = (struct rfn_actions_summary){0};
    const int error = options->one_file ? write_shared(&files, path) : write_listed(&files, path);
    summary->left_out = rfn_actions_left_out(actions, &summary->first_left_out);
    free(files.list);
    free(files.folder);
    free(files.path);
    return error;
}
