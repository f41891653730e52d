#include "reduce/column_relief.h"

/* Which columns leave memory: those with at least so many sealed bytes, or also staged values. */
struct leaving {
    const struct rfn_spill *spill;
    size_t sealed;
    uint32_t staged; /* at least so many; 0: staged values stay */
    size_t wanted;   /* bytes to be freed */
    size_t freed;
};

static int leave(void *context, struct rfn_column *column)
{
    struct leaving *leaving = context;
    bool staged = leaving->staged && column->n_staged >= leaving->staged;
    if (leaving->freed >= leaving->wanted || (column->sealed.size < leaving->sealed && !staged))
        return 0;
    size_t before = rfn_column_bytes(column);
    RFN_TRY(rfn_column_spill(column, leaving->spill, staged));
    size_t after = rfn_column_bytes(column);
    leaving->freed += before > after ? before - after : 0;
    return 0;
}

int rfn_columns_relieve(void *columns, rfn_each_column each, const struct rfn_spill *spill,
                        size_t wanted, size_t *freed)
{
    static const struct {
        size_t sealed;
        uint32_t staged;
    } rounds[] = {{1 << 14, 0}, {1 << 10, 0}, {1 << 8, 1024}, {1, 64}};
    struct leaving leaving = {.spill = spill, .wanted = wanted};
    for (size_t i = 0; i < sizeof rounds / sizeof *rounds && leaving.freed < wanted; i++) {
        leaving.sealed = rounds[i].sealed;
        leaving.staged = rounds[i].staged;
        RFN_TRY(each(columns, leave, &leaving));
    }
    if (freed)
        *freed = leaving.freed;
    return 0;
}

static int add_bytes(void *context, struct rfn_column *column)
{
    *(size_t *)context += rfn_column_bytes(column);
    return 0;
}

void rfn_columns_keep_to(void *columns, rfn_each_column each, struct rfn_room *room)
{
    size_t bytes = 0;
    if (!room->spill)
        return;
    each(columns, add_bytes, &bytes);
    if (bytes > room->bytes &&
        rfn_columns_relieve(columns, each, room->spill, bytes - room->bytes / 2, NULL) < 0)
        room->spill = NULL;
}
