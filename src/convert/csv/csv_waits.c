/* The tables of the wait analysis: who waited, and what made ranks wait. */
#include "convert/csv/csv_tables.h"
#include "convert/progress.h"
#include "convert/run_part.h"
#include "refrain/explain.h"

static const char wait_columns[] = "pattern,function,path,rank,total_ns";
static const char cause_columns[] =
    "cause,pattern,waited_function,waited_path,activity,"
    "before_function,before_path,function,path,region,rank,total_ns";

static void append_site(struct rfn_text *row, const struct csv_names *names, bool known,
                        struct rfn_call_site site)
{
    csv_cell(row, known ? rfn_csv_function(names, site.function) : NULL);
    csv_if(row, known, site.path);
}

/* ---- who waited ---- */

static int write_wait_rows(const struct csv_writing *writing, const struct rfn_waits *waits,
                           struct csv_table *table)
{
    RFN_TRY(rfn_csv_open(writing, table, "waits.csv", wait_columns));
    for (size_t i = 0; i < waits->n_rows; i++) {
        const struct rfn_wait_row *wait = &waits->rows[i];
        for (uint32_t rank = 0; rank < waits->n_ranks; rank++) {
            if (!wait->ns_by_rank[rank] || !rfn_part_has_rank(writing->part, rank))
                continue;
            rfn_text_string(&table->rows, rfn_pattern_name(wait->pattern));
            csv_cell(&table->rows, rfn_csv_function(&writing->names, wait->function));
            csv_number(&table->rows, wait->path);
            csv_number(&table->rows, rank);
            csv_number(&table->rows, wait->ns_by_rank[rank]);
            RFN_TRY(rfn_csv_end_row(writing, table));
        }
    }
    return rfn_csv_close(writing, table);
}

/* ---- what made them wait ---- */

static void append_activity(struct rfn_text *row, const struct csv_names *names,
                            const struct rfn_activity *activity)
{
    csv_cell(row, rfn_activity_kind_name(activity->kind));
    append_site(row, names, activity->kind == RFN_ACTIVITY_COMPUTE, activity->before);
    append_site(row, names, rfn_activity_has_call(activity), activity->at);
    csv_cell(row,
             activity->region == RFN_NO_REGION ? NULL : rfn_csv_region(names, activity->region));
}

static int write_cause_rows(const struct csv_writing *writing, const struct rfn_waits *waits,
                            struct csv_table *table)
{
    RFN_TRY(rfn_csv_open(writing, table, "causes.csv", cause_columns));
    for (size_t i = 0; i < waits->n_causes; i++) {
        const struct rfn_cause *cause = &waits->causes[i];
        for (uint32_t k = 0; k < cause->n_ranks; k++) {
            if (!rfn_part_has_rank(writing->part, cause->ranks[k].rank))
                continue;
            rfn_text_unsigned(&table->rows, i);
            csv_cell(&table->rows, rfn_pattern_name(cause->pattern));
            append_site(&table->rows, &writing->names, true, cause->waited);
            append_activity(&table->rows, &writing->names, &waits->activities[cause->activity]);
            csv_number(&table->rows, cause->ranks[k].rank);
            csv_number(&table->rows, cause->ranks[k].ns);
            RFN_TRY(rfn_csv_end_row(writing, table));
        }
    }
    return rfn_csv_close(writing, table);
}

/* ---- both ---- */

struct second_part {
    const struct rfn_convert_progress *progress;
    double from;
};

static void tell(void *context, double share)
{
    const struct second_part *part = context;
    rfn_convert_tell(part->progress, part->from + (1 - part->from) * share);
}

int rfn_csv_write_waits(const struct csv_writing *writing, double share)
{
    static const struct rfn_waits_options options = {0};
    struct second_part progress = {writing->progress, share};
    struct csv_table table = {0};
    struct rfn_waits *waits = NULL;
    RFN_TRY(rfn_waits_new(writing->archive, &options, tell, &progress, &waits, writing->diag));
    int error = write_wait_rows(writing, waits, &table);
    if (!error)
        error = write_cause_rows(writing, waits, &table);
    rfn_csv_cancel(&table);
    rfn_waits_free(waits);
    return error;
}
