#include "record/across.h"

#include "base/grow.h"
#include "record/clock_sync.h"
#include "record/finish.h"
#include "record/options.h"
#include "reduce/stream_reduction.h"

#include <stdlib.h>

/* Of what --memory allows: a stream's copy, and all copies of a process. */
enum { COPY_SHARE = 32, COPIES_SHARE = 8 };

/* ---- rank 0's word: u64 its host, svarint its CLOCK_REALTIME less CLOCK_MONOTONIC, blob how
 * processes are compared, then what was measured of clocks ---- */

static int64_t realtime_offset(void)
{
    struct rec_clock_pair start = rec_start();
    return start.realtime_ns - start.monotonic_ns;
}

static void write_word(const struct rfn_buf *clocks, struct rfn_buf *out)
{
    rfn_buf_u64(out, rec_clock_sync_host());
    rfn_buf_svarint(out, realtime_offset());
    rfn_buf_string(out, rec_options.across ? rec_options.across : "");
    if (clocks)
        rfn_buf_bytes(out, clocks->data, clocks->size);
}

/* What a moment of this process's CLOCK_MONOTONIC is on the clock of rank 0's host, as far as that
 * is known. */
static int64_t aligned(int64_t monotonic_ns, bool same_host, int64_t first_offset,
                       const struct rfn_reader *clocks)
{
    int64_t offset;
    if (same_host)
        return monotonic_ns + first_offset;
    if (rec_clock_sync_offset(clocks->data + clocks->at, rfn_reader_left(clocks),
                              rec_clock_sync_host(), (uint64_t)monotonic_ns, &offset))
        return monotonic_ns + offset + first_offset;
    return monotonic_ns + realtime_offset();
}

/* Through the start of the recording and now. */
static void draw_line(struct rec_across *across, bool same_host, int64_t first_offset,
                      const struct rfn_reader *clocks)
{
    struct rec_clock_pair start = rec_start(), end = rec_clock_pair();
    int64_t from = aligned(start.monotonic_ns, same_host, first_offset, clocks);
    int64_t to = aligned(end.monotonic_ns, same_host, first_offset, clocks);
    uint64_t quanta = end.quanta - start.quanta;
    across->start_ns = from;
    across->line = (struct rfn_time_line){
        .from = start.quanta, .ns_per_quantum = quanta ? (double)(to - from) / (double)quanta : 1};
}

static int read_word(struct rec_across *across, const struct rfn_buf *word)
{
    char text[RFN_CRITERION_TEXT] = "";
    size_t size;
    struct rfn_reader reader = rfn_reader_over(word->data, word->size);
    bool same_host = rfn_reader_u64(&reader) == rec_clock_sync_host();
    int64_t first_offset = rfn_reader_svarint(&reader);
    const uint8_t *criterion = rfn_reader_blob(&reader, &size);
    if (reader.failed || size >= sizeof text)
        return RFN_E_EXCHANGE;
    memcpy(text, criterion, size);
    draw_line(across, same_host, first_offset, &reader);
    return rfn_across_parse(text, &across->criterion, NULL);
}

void rec_across_begin(struct rec_across *across, struct rfn_exchange *exchange,
                      const struct rfn_buf *clocks)
{
    struct rfn_buf word = RFN_BUF_INIT;
    *across = (struct rec_across){.exchange = exchange,
                                  .groups.max_bytes = rec_options.memory_bytes / COPIES_SHARE};
    if (exchange->rank == 0)
        write_word(clocks, &word);
    across->error = rfn_exchange_down(exchange, &word, rfn_buf_status(&word));
    if (!across->error)
        across->error = read_word(across, &word);
    rfn_buf_release(&word);
}

/* ---- streams ---- */

/* 1; 0: it would take too much memory. */
static int add_set(struct rec_across *across, const struct rfn_stream *stream, uint64_t number,
                   struct rfn_hash128 class_)
{
    size_t max_bytes = rec_options.memory_bytes / COPY_SHARE;
    if (!across->criterion.method->all_alike)
        return rfn_time_sets_add(&across->groups.sets, number, class_,
                                 rfn_stream_reduction_profile(rfn_stream_reduced(stream)),
                                 &across->line, max_bytes);
    RFN_TRY(rfn_time_sets_add_class(&across->groups.sets, number, class_));
    return 1;
}

static int add_stream(struct rec_across *across, const struct rfn_stream *stream, uint64_t number,
                      struct rfn_hash128 class_)
{
    RFN_TRY(RFN_GROW(across->streams, across->capacity, across->n_streams + 1));
    int added = add_set(across, stream, number, class_);
    RFN_TRY(added);
    if (added)
        across->streams[across->n_streams++] = number;
    else
        across->groups.alone++;
    return 0;
}

void rec_across_stream(struct rec_across *across, const struct rfn_stream *stream, uint64_t number,
                       struct rfn_hash128 class_, bool often, int64_t origin_ns)
{
    across->line.at_ns = (double)(across->start_ns - origin_ns);
    if (!often)
        across->groups.alone++;
    else if (!across->error)
        across->error = add_stream(across, stream, number, class_);
}

int rec_across_run(struct rec_across *across)
{
    across->groups.criterion = &across->criterion;
    across->error = rfn_process_groups_run(&across->groups, across->exchange, across->error);
    return across->error;
}

uint64_t rec_across_of(const struct rec_across *across, uint64_t number)
{
    for (size_t i = 0; i < across->n_streams && across->groups.streams; i++) {
        if (across->streams[i] == number)
            return across->groups.streams[i];
    }
    return number;
}

void rec_across_release(struct rec_across *across)
{
    rfn_process_groups_release(&across->groups);
    free(across->streams);
    *across = (struct rec_across){0};
}
