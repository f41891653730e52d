/* A job that samples, without MPI and without a recorder: what `refrain watch` and `refrain
 * control` look at.
 *
 *     live_job ARCHIVE RANKS
 *
 * Starts RANKS processes. Rank r has sent 1000 (r + 1) messages of 8 bytes to the next rank, and
 * has sampled 400 from the rank before, with weight 2 and latencies of 1, 2, ... 400 microseconds.
 * A process takes each wish as its strategy, and then counts a message more; sampling ends when
 * standard input does. Prints a line when all ranks show themselves, and what each has ended with.
 */
#include "reduce/samples/live_segment.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROWS = 8, SAMPLES = 400 };

static void fill(struct rfn_live_segment *segment, int rank, int ranks)
{
    struct rfn_sample_table *table = segment->table;
    const struct rfn_sample_key sent = {
        .source = rank, .dest = (rank + 1) % ranks, .send = 1, .size_class = 4};
    struct rfn_sample_key got = {.source = (rank + ranks - 1) % ranks,
                                 .dest = rank,
                                 .send = 1,
                                 .receive = 2,
                                 .size_class = 4};
    struct rfn_sample_row *row = rfn_sample_table_row(table, &sent);
    row->messages = 1000 * (uint64_t)(rank + 1);
    row->bytes = 8 * row->messages;
    struct rfn_sample_count *pair = rfn_sample_counts_row(segment->counts, sent.source, sent.dest,
                                                          sent.size_class);
    pair->messages = row->messages;
    pair->bytes = row->bytes;
    rfn_sample_counts_row(segment->counts, got.source, got.dest, got.size_class)->samples = SAMPLES;
    row = rfn_sample_table_row(table, &got);
    for (int k = 1; k <= SAMPLES; k++) {
        const struct rfn_sample_values values = {.latency_ns = 1000 * k, .bytes = 8, .weight = 2};
        rfn_sample_row_sample(row, &values, true);
    }
    table->dropped[RFN_SAMPLE_ONE_SIDED] = 3;
}

/* Whether the pipe has been closed, after 10 ms at most. */
static int has_ended(int fd)
{
    struct pollfd closed = {.fd = fd};
    return poll(&closed, 1, 10) > 0;
}

static int be_rank(const char *archive, int rank, int ranks, int ready, int ends)
{
    const struct rfn_live_owner owner = {.archive = archive,
                                         .program = "live_job",
                                         .rank = (uint32_t)rank,
                                         .ranks = (uint32_t)ranks};
    struct rfn_live_segment segment;
    struct rfn_diag diag = {.text = ""};
    char strategy[RFN_SAMPLE_TEXT] = "adaptive";
    uint32_t seen = 0;
    if (rfn_live_segment_create(&segment, &owner, ROWS, &diag) < 0 || diag.text[0]) {
        fprintf(stderr, "%s\n", diag.text);
        return 1;
    }
    struct rfn_live_header *header = segment.header;
    fill(&segment, rank, ranks);
    uint64_t messages = 1000 * (uint64_t)(rank + 1);
    __atomic_store_n(&header->messages, messages, __ATOMIC_RELAXED);
    __atomic_store_n(&header->bytes, 8 * messages, __ATOMIC_RELAXED);
    __atomic_store_n(&header->sampled, SAMPLES, __ATOMIC_RELAXED);
    rfn_live_text_write(&header->in_use, strategy);
    if (write(ready, "x", 1) != 1)
        return 1;
    while (!has_ended(ends)) {
        if (!rfn_live_text_read(&header->wish, &seen, strategy))
            continue;
        rfn_live_text_write(&header->in_use, strategy);
        __atomic_store_n(&header->messages, ++messages, __ATOMIC_RELAXED);
    }
    header->ended = 1;
    printf("rank %d: %s\n", rank, strategy);
    fflush(stdout);
    rfn_live_segment_remove(&segment);
    return 0;
}

int main(int argc, char **argv)
{
    const int ranks = argc == 3 ? atoi(argv[2]) : 0;
    int ready[2], ends[2], failed = 0, status;
    char byte;
    if (ranks < 1 || pipe(ready) < 0 || pipe(ends) < 0)
        return 2;
    for (int rank = 0; rank < ranks; rank++) {
        const pid_t process = fork();
        if (process < 0)
            return 2;
        if (process == 0) {
            close(ends[1]);
            close(ready[0]);
            alarm(100);
            return be_rank(argv[1], rank, ranks, ready[1], ends[0]);
        }
    }
    close(ready[1]);
    for (int rank = 0; rank < ranks; rank++)
        failed |= read(ready[0], &byte, 1) != 1;
    printf("ready\n");
    fflush(stdout);
    while (!failed && read(STDIN_FILENO, &byte, 1) > 0)
        continue;
    close(ends[1]);
    for (int rank = 0; rank < ranks; rank++)
        failed |= wait(&status) < 0 || status != 0;
    return failed;
}
