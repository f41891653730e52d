/* rfn_goal_of_actions of refrain/actions_out.h: the schedules of all ranks, one after another. */
#include "convert/goal/goal_writer.h"
#include "convert/progress.h"
#include "convert/text/text_sink.h"

#include <inttypes.h>

enum { LINES = 64 * 1024 /* bytes that go to the file at once */ };

struct goal_file {
    struct rfn_actions *actions;
    struct rfn_text_sink *sink;
    struct rfn_text text;
    const struct rfn_convert_progress *progress;
    struct rfn_actions_summary *summary;
    struct rfn_diag *diag;
};

static int flow(struct goal_file *file)
{
    return rfn_text_sink_take(file->sink, &file->text, file->diag);
}

static int tell_fault(const struct goal_file *file, const struct rfn_goal_writer *writer,
                      const struct rfn_action *action, int error)
{
    if (error == RFN_E_NOMEM)
        return rfn_fail(file->diag, error, -1, -1, "out of memory");
    return rfn_fail(file->diag, error, -1, (int)writer->rank,
                    "rank %" PRIu32 ", event or line %" PRIu64 " %s", writer->rank, action->event,
                    writer->fault);
}

static int write_actions(struct goal_file *file, struct rfn_goal_writer *writer)
{
    struct rfn_action action = {.event = 0};
    int got;
    while ((got = rfn_actions_next(file->actions, writer->rank, &action)) > 0) {
        const int error = rfn_goal_write(writer, &action);
        if (error < 0)
            return tell_fault(file, writer, &action, error);
        file->summary->actions++;
        if (file->text.n >= LINES)
            RFN_TRY(flow(file));
    }
    RFN_TRY(got);
    const int error = rfn_goal_write_end(writer);
    return error < 0 ? tell_fault(file, writer, &action, error) : 0;
}

static int write_rank(struct goal_file *file, uint32_t rank)
{
    struct rfn_goal_writer writer = {
        .actions = file->actions, .rank = rank, .summary = file->summary, .text = &file->text};
    rfn_text_format(&file->text, "\nrank %" PRIu32 " {\n", rank);
    const int error = write_actions(file, &writer);
    rfn_goal_writer_release(&writer);
    rfn_text_string(&file->text, "}\n");
    file->summary->lines += 3;
    return error < 0 ? error : flow(file);
}

static int write_ranks(struct goal_file *file)
{
    const uint32_t n = rfn_actions_ranks(file->actions);
    rfn_text_format(&file->text, "num_ranks %" PRIu32 "\n", n);
    file->summary->lines++;
    for (uint32_t rank = 0; rank < n; rank++) {
        RFN_TRY(write_rank(file, rank));
        rfn_convert_tell(file->progress, (rank + 1.0) / n);
    }
    file->summary->left_out = rfn_actions_left_out(file->actions, &file->summary->first_left_out);
    return 0;
}

int rfn_goal_of_actions(struct rfn_actions *actions, const char *path, bool force,
                        const struct rfn_convert_progress *progress,
                        struct rfn_actions_summary *summary, struct rfn_diag *diag)
{
    struct goal_file file = {
        .actions = actions, .progress = progress, .summary = summary, .diag = diag};
    if (rfn_actions_unit(actions) == RFN_ACTION_INSTRUCTIONS)
        return rfn_fail(diag, RFN_E_UNSUPPORTED, -1, -1,
                        "the archive has no times, and its volumes are instructions, but GOAL has "
                        "ns; record it with --time=full");
    RFN_TRY(rfn_text_sink_open(path, force, &file.sink, diag));
    const int error = write_ranks(&file);
    rfn_text_release(&file.text);
    if (error < 0) {
        rfn_text_sink_cancel(file.sink);
        return error;
    }
    RFN_TRY(rfn_text_sink_close(file.sink, &summary->bytes, &summary->file_bytes, diag));
    return rfn_text_sink_place(path, force, diag);
}
