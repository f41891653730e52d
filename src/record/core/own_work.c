#include "record/core/own_work.h"

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
