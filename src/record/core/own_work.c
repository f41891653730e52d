#include "record/core/own_work.h"

#include <stdlib.h>

enum { TRIFLE = 1000 };

void rec_own_works_init(struct rec_own_works *own, uint64_t least)
{
    own->least = least;
    own->since = own->sum = own->n = 0;
}

/* Drops the shortest until there is room for as many again. */
static void drop_short(struct rec_own_works *own)
{
    while (own->n > REC_OWN_WORKS / 2) {
        uint32_t n = 0;
        own->least = 2 * own->least + 1;
        for (uint32_t i = 0; i < own->n; i++) {
            if (own->items[i].to - own->items[i].from >= own->least)
                own->items[n++] = own->items[i];
        }
        own->n = n;
    }
}

void rec_own_works_note(struct rec_own_works *own, uint64_t from, uint64_t to)
{
    if (to <= from)
        return; /* clocks of cores may differ by a little */
    if (!own->since)
        own->since = from;
    own->sum += to - from;
    if (to - from < own->least || (own->n && from < own->items[own->n - 1].to))
        return;
    own->items[own->n++] = (struct rec_own_work){from, to};
    if (own->n == REC_OWN_WORKS)
        drop_short(own);
}

static int by_length(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

uint64_t rec_own_works_shortest(const struct rec_own_works *own, uint64_t now)
{
    const uint64_t trifle = now > own->since ? (now - own->since) / TRIFLE : 0;
    uint64_t lengths[REC_OWN_WORKS], sum = 0;
    for (uint32_t i = 0; i < own->n; i++)
        lengths[i] = own->items[i].to - own->items[i].from;
    qsort(lengths, own->n, sizeof *lengths, by_length);
    for (uint32_t i = 0; i < own->n; i++) {
        sum += lengths[i];
        if (sum >= trifle)
            return lengths[i];
    }
    return UINT64_MAX;
}
