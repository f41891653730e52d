/* rfn_csv_write of refrain/convert.h.
 *
 * Each table has one kind of row and one kind of value per column, as pandas likes them; rows of
 * different tables are joined by ranks, numbers of events and numbers of call paths. Waits are of
 * the whole run: of a window there are none. */
#include "convert/convertible.h"
#include "convert/csv/csv_tables.h"
#include "convert/output_folder.h"
#include "convert/run_part.h"

static const char *const files[] = {"events.csv", "messages.csv",   "ranks.csv", "waits.csv",
                                    "causes.csv", "call_paths.csv", NULL};
static const struct rfn_folder_kind tables = {
    .what = "tables of a run", .mark = "events.csv", .files = files};

enum { WITH_WAITS = 2 }; /* walks over all events */

static int write_path_rows(const struct csv_writing *writing, struct csv_table *table)
{
    const struct rfn_archive *archive = writing->archive;
    RFN_TRY(rfn_csv_open(writing, table, "call_paths.csv",
                         "path,frame,function,file,line,module,offset"));
    for (uint32_t i = 0; i < rfn_archive_paths(archive); i++) {
        const struct rfn_path path = rfn_archive_path(archive, i);
        for (uint32_t frame = 0; frame < path.n_frames; frame++) {
            const struct rfn_location at = rfn_archive_location(archive, path.frames[frame]);
            rfn_text_unsigned(&table->rows, i);
            csv_number(&table->rows, frame);
            rfn_text_char(&table->rows, ',');
            rfn_csv_name(&table->rows, at.function ? at.function : "");
            rfn_text_char(&table->rows, ',');
            rfn_csv_name(&table->rows, at.file ? at.file : "");
            csv_if(&table->rows, at.line != 0, at.line);
            rfn_text_char(&table->rows, ',');
            rfn_csv_name(&table->rows, at.module ? at.module : "");
            csv_number(&table->rows, (int64_t)at.offset);
            RFN_TRY(rfn_csv_end_row(writing, table));
        }
    }
    return rfn_csv_close(writing, table);
}

static int write_paths(const struct csv_writing *writing)
{
    struct csv_table table = {0};
    const int error = write_path_rows(writing, &table);
    rfn_csv_cancel(&table);
    return error;
}

static bool is_window(const struct rfn_convert_part *part)
{
    return part && (part->from_ns != INT64_MIN || part->to_ns != INT64_MAX);
}

static int write_tables(struct csv_writing *writing)
{
    const bool waits = !is_window(writing->part);
    const double share = waits ? 1.0 / WITH_WAITS : 1;
    if (rfn_csv_names_init(&writing->names, writing->archive) < 0)
        return rfn_fail(writing->diag, RFN_E_NOMEM, -1, -1, "out of memory");
    RFN_TRY(write_paths(writing));
    RFN_TRY(rfn_csv_write_events(writing, share));
    return waits ? rfn_csv_write_waits(writing, share) : 0;
}

int rfn_csv_write(const struct rfn_archive *archive, const char *folder, bool force,
                  const struct rfn_convert_part *part, const struct rfn_convert_progress *progress,
                  struct rfn_trace_summary *summary, struct rfn_diag *diag)
{
    struct csv_writing writing = {
        .archive = archive, .part = part, .progress = progress, .summary = summary, .diag = diag};
    struct rfn_output_folder to;
    *summary = (struct rfn_trace_summary){.ranks = rfn_part_ranks(archive, part)};
    RFN_TRY(rfn_convertible(archive, "a table of events", diag));
    RFN_TRY(rfn_output_folder_open(&to, &tables, folder, force, diag));
    writing.folder = to.scratch;
    int error = write_tables(&writing);
    rfn_csv_names_release(&writing.names);
    if (!error)
        error = rfn_output_folder_place(&to, diag);
    if (error)
        rfn_output_folder_cancel(&to);
    return error;
}
