#include "record/core/apart.h"

#include <stdlib.h>

void rec_apart_enter(struct rec_stream *stream)
{
    struct rec_apart *apart = &stream->apart;
    const uint64_t now = rfn_counter_read(&stream->counter);
    if (now - apart->left > apart->cost)
        apart->program += now - apart->left - apart->cost;
    apart->left = now;
    stream->call.volume.enter = stream->call.volume.exit = apart->program;
}

static __attribute__((noinline)) void leave(struct rec_stream *stream)
{
    stream->apart.left = rfn_counter_read(&stream->counter);
}

static void on_call(const struct rec_call *call, const struct rec_stream *stream)
{
    (void)call, (void)stream; /* it is the thread's own, which may be changed */
    leave(rec_this_stream);
}

static int compare(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* What is counted from the end of a call to the next one's begin where the program does nothing:
 * the median, as most readings are undisturbed. */
static uint64_t cost_of(struct rec_stream *stream)
{
    enum { TRIES = 129 };
    uint64_t costs[TRIES];
    for (int i = 0; i < TRIES; i++) {
        const uint64_t before = stream->apart.program;
        leave(stream);
        rec_apart_enter(stream);
        costs[i] = stream->apart.program - before;
    }
    qsort(costs, TRIES, sizeof *costs, compare);
    return costs[TRIES / 2];
}

void rec_apart_open(struct rec_stream *stream)
{
    stream->apart = (struct rec_apart){0};
    const uint64_t cost = cost_of(stream);
    stream->apart = (struct rec_apart){.cost = cost};
    stream->slow |= REC_SLOW_APART;
    rec_listen = on_call;
    leave(stream);
}
