#include "base/grow.h"
#include "refrain/view.h"

#include <stdlib.h>

static int64_t length(const struct rfn_wait_seen *wait)
{
    return wait->to_ns - wait->from_ns;
}

static int longest_first(const void *left, const void *right)
{
    const struct rfn_wait_seen *a = left, *b = right;
    if (length(a) != length(b))
        return length(a) > length(b) ? -1 : 1;
    if (a->stream != b->stream)
        return a->stream < b->stream ? -1 : 1;
    return a->from_ns < b->from_ns ? -1 : a->from_ns > b->from_ns;
}

static int by_stream(const void *left, const void *right)
{
    const struct rfn_wait_seen *a = left, *b = right;
    if (a->stream != b->stream)
        return a->stream < b->stream ? -1 : 1;
    if (a->from_ns != b->from_ns)
        return a->from_ns < b->from_ns ? -1 : 1;
    return length(a) < length(b) ? -1 : length(a) > length(b);
}

static void keep_longest(struct rfn_seen_waits *waits)
{
    if (waits->n <= waits->most)
        return;
    qsort(waits->items, waits->n, sizeof *waits->items, longest_first);
    waits->n = waits->most;
    waits->least_ns = waits->n ? length(&waits->items[waits->n - 1]) : 0;
}

/* Sorts when there are twice as many as are kept: memory is bounded. */
static int waited(void *context, const struct rfn_wait_seen *wait)
{
    struct rfn_seen_waits *waits = context;
    if (length(wait) <= 0)
        return 0;
    waits->all++;
    if (length(wait) < waits->least_ns)
        return 0;
    if (waits->n == 2 * waits->most)
        keep_longest(waits);
    RFN_TRY(RFN_GROW(waits->items, waits->capacity, waits->n + 1));
    waits->items[waits->n++] = *wait;
    return 0;
}

void rfn_seen_waits_init(struct rfn_seen_waits *waits, size_t most)
{
    *waits = (struct rfn_seen_waits){.most = most, .watch = {.context = waits, .waited = waited}};
}

void rfn_seen_waits_finish(struct rfn_seen_waits *waits)
{
    keep_longest(waits);
    if (waits->n)
        qsort(waits->items, waits->n, sizeof *waits->items, by_stream);
}

void rfn_seen_waits_release(struct rfn_seen_waits *waits)
{
    free(waits->items);
    waits->items = NULL;
    waits->n = waits->capacity = 0;
}
