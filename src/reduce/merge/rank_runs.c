#include "reduce/merge/rank_runs.h"

#include "base/grow.h"

#include <stdlib.h>

void rfn_rank_runs_release(struct rfn_rank_runs *runs)
{
    free(runs->runs);
    *runs = (struct rfn_rank_runs)RFN_RUNS_INIT;
}

/* Appends a run: the last one takes it in when they agree in a form. */
static int append_run(struct rfn_rank_runs *runs, const struct rfn_run_of_ranks *run)
{
    if (runs->n > 0) {
        struct rfn_run_of_ranks *last = &runs->runs[runs->n - 1];
        bool absolute = last->is_absolute && run->is_absolute && last->absolute == run->absolute;
        bool relative = last->is_relative && run->is_relative && last->relative == run->relative;
        if (absolute || relative) {
            last->is_absolute = absolute;
            last->is_relative = relative;
            last->count += run->count;
            return 0;
        }
    }
    RFN_TRY(RFN_GROW(runs->runs, runs->capacity, runs->n + 1));
    runs->runs[runs->n++] = *run;
    return 0;
}

int rfn_rank_runs_append(struct rfn_rank_runs *runs, int64_t word, bool relative, int64_t reference)
{
    struct rfn_run_of_ranks run = {
        .count = 1,
        .is_absolute = true,
        .absolute = word,
        .is_relative = relative,
        .relative = relative ? (int64_t)((uint64_t)word - (uint64_t)reference) : 0};
    return append_run(runs, &run);
}

void rfn_rank_runs_write(const struct rfn_rank_runs *runs, struct rfn_buf *out)
{
    rfn_buf_varint(out, runs->n);
    for (size_t i = 0; i < runs->n; i++) {
        const struct rfn_run_of_ranks *run = &runs->runs[i];
        rfn_buf_varint(out, run->count << 2 | (uint64_t)run->is_relative << 1 | run->is_absolute);
        if (run->is_absolute)
            rfn_buf_svarint(out, run->absolute);
        if (run->is_relative)
            rfn_buf_svarint(out, run->relative);
    }
}

int rfn_rank_runs_join(struct rfn_rank_runs *runs, struct rfn_reader *reader)
{
    uint64_t n = rfn_reader_limited(reader, rfn_reader_left(reader));
    for (uint64_t i = 0; i < n && !reader->failed; i++) {
        uint64_t head = rfn_reader_varint(reader);
        struct rfn_run_of_ranks run = {
            .count = head >> 2, .is_absolute = head & 1, .is_relative = head >> 1 & 1};
        if (run.is_absolute)
            run.absolute = rfn_reader_svarint(reader);
        if (run.is_relative)
            run.relative = rfn_reader_svarint(reader);
        RFN_TRY(append_run(runs, &run));
    }
    return reader->failed ? RFN_E_EXCHANGE : 0;
}

void rfn_rank_runs_pack(const struct rfn_rank_runs *runs, struct rfn_buf *out)
{
    for (size_t i = 0; i < runs->n; i++) {
        const struct rfn_run_of_ranks *run = &runs->runs[i];
        rfn_buf_varint(out, run->count << 2 | (run->is_absolute ? 0 : 1));
        rfn_buf_svarint(out, run->is_absolute ? run->absolute : run->relative);
    }
}
