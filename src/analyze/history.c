#include "analyze/history.h"

#include "base/grow.h"

#include <stdlib.h>
#include <string.h>

int rfn_history_init(struct rfn_history *history)
{
    *history = (struct rfn_history){.n_marks = 1};
    history->marks[0].key = RFN_MARK_BEGINNING;
    history->log = malloc(RFN_HISTORY_LENGTH * sizeof *history->log);
    return history->log ? 0 : RFN_E_NOMEM;
}

void rfn_history_release(struct rfn_history *history)
{
    for (unsigned i = 0; i < history->n_marks; i++)
        free(history->marks[i].sums);
    free(history->log);
    rfn_map_release(&history->met);
}

/* ---- sums ---- */

void rfn_sums_release(struct rfn_sums *sums)
{
    free(sums->activities);
    free(sums->causes);
    free(sums->touched);
}

void rfn_sums_reset(struct rfn_sums *sums)
{
    sums->question++;
    sums->n_touched = 0;
}

static int make_room(struct rfn_sum **items, size_t *capacity, size_t needed)
{
    size_t old = *capacity;
    RFN_TRY(rfn_grow((void **)items, capacity, needed, sizeof **items));
    memset(*items + old, 0, (*capacity - old) * sizeof **items);
    return 0;
}

static int touch(struct rfn_sums *sums, uint32_t what, struct rfn_sum *sum)
{
    RFN_TRY(RFN_GROW(sums->touched, sums->touched_capacity, sums->n_touched + 1));
    sums->touched[sums->n_touched++] = what;
    *sum = (struct rfn_sum){0, sums->question};
    return 0;
}

int rfn_sums_add(struct rfn_sums *sums, uint32_t what, int64_t ns)
{
    bool passed = what & RFN_PASSED_ON;
    struct rfn_sum **items = passed ? &sums->causes : &sums->activities;
    size_t *capacity = passed ? &sums->causes_capacity : &sums->activities_capacity;
    size_t i = what & ~RFN_PASSED_ON;
    if (i >= *capacity)
        RFN_TRY(make_room(items, capacity, i + 1));
    struct rfn_sum *sum = &(*items)[i];
    if (sum->question != sums->question)
        RFN_TRY(touch(sums, what, sum));
    sum->ns += ns;
    return 0;
}

int64_t rfn_sums_of(const struct rfn_sums *sums, uint32_t what)
{
    return (what & RFN_PASSED_ON ? sums->causes[what & ~RFN_PASSED_ON] : sums->activities[what]).ns;
}

static int add_entries(const struct rfn_history *history, uint64_t from, uint64_t to, int sign,
                       struct rfn_sums *sums)
{
    for (uint64_t i = from; i < to; i++) {
        const struct rfn_done *done = &history->log[i % RFN_HISTORY_LENGTH];
        RFN_TRY(rfn_sums_add(sums, done->what, sign * done->ns));
    }
    return 0;
}

static int add_sums(const struct rfn_mark *mark, int sign, struct rfn_sums *sums)
{
    for (size_t i = 0; i < mark->n_sums; i++)
        RFN_TRY(rfn_sums_add(sums, mark->sums[i].what, sign * mark->sums[i].ns));
    return 0;
}

int rfn_history_sum(const struct rfn_history *history, const struct rfn_mark *mark, uint64_t from,
                    uint64_t to, int sign, struct rfn_sums *sums)
{
    if (mark)
        RFN_TRY(add_sums(mark, sign, sums));
    return add_entries(history, from < history->first ? history->first : from, to, sign, sums);
}

/* ---- the log and its marks ---- */

/* Entries from the oldest to `to` leave the log: they are added to the sums of a mark. */
static int fold(struct rfn_history *history, struct rfn_mark *mark, uint64_t to,
                struct rfn_sums *sums)
{
    uint64_t from = mark->at > history->first ? mark->at : history->first;
    if (from >= to)
        return 0;
    rfn_sums_reset(sums);
    RFN_TRY(add_sums(mark, 1, sums));
    RFN_TRY(add_entries(history, from, to, 1, sums));
    RFN_TRY(RFN_GROW(mark->sums, mark->capacity, sums->n_touched));
    mark->n_sums = sums->n_touched;
    for (size_t i = 0; i < sums->n_touched; i++)
        mark->sums[i] = (struct rfn_done){sums->touched[i], rfn_sums_of(sums, sums->touched[i])};
    return 0;
}

int rfn_history_add_slow(struct rfn_history *history, struct rfn_sums *sums)
{
    uint64_t to = history->first + RFN_HISTORY_LENGTH / 2;
    for (unsigned i = 0; i < history->n_marks; i++)
        RFN_TRY(fold(history, &history->marks[i], to, sums));
    history->first = to;
    return 0;
}

static struct rfn_mark *oldest_mark(struct rfn_history *history)
{
    struct rfn_mark *oldest = &history->marks[1];
    for (unsigned i = 2; i < history->n_marks; i++)
        oldest = history->marks[i].at < oldest->at ? &history->marks[i] : oldest;
    return oldest;
}

/* The mark to give up for a new one: the older of two of its key, else any that is oldest; NULL:
 * there is room. */
static struct rfn_mark *replaced(struct rfn_history *history, uint64_t key)
{
    struct rfn_mark *found = NULL;
    for (unsigned i = 1; i < history->n_marks; i++) {
        struct rfn_mark *mark = &history->marks[i];
        if (mark->key == key && found)
            return mark->at < found->at ? mark : found;
        if (mark->key == key)
            found = mark;
    }
    return history->n_marks == RFN_HISTORY_MARKS ? oldest_mark(history) : NULL;
}

void rfn_history_mark(struct rfn_history *history, uint64_t key, uint64_t count)
{
    struct rfn_mark *mark = replaced(history, key);
    if (!mark)
        mark = &history->marks[history->n_marks++];
    mark->key = key;
    mark->count = count;
    mark->at = history->at;
    mark->n_sums = 0;
}

static const struct rfn_mark *find_mark(const struct rfn_history *history,
                                        const struct rfn_mark *like)
{
    for (unsigned i = 1; i < history->n_marks; i++) {
        if (history->marks[i].key == like->key && history->marks[i].count == like->count)
            return &history->marks[i];
    }
    return NULL;
}

int rfn_history_met(struct rfn_history *history, uint32_t stream, uint64_t at)
{
    return rfn_map_put(&history->met, stream, at);
}

struct rfn_in_step rfn_history_in_step(const struct rfn_history *a, uint32_t a_stream,
                                       uint64_t a_at, const struct rfn_history *b,
                                       uint32_t b_stream, uint64_t b_at)
{
    struct rfn_in_step best = {.mark = {&a->marks[0], &b->marks[0]}};
    for (unsigned i = 1; i < a->n_marks; i++) {
        const struct rfn_mark *mark = &a->marks[i], *other = find_mark(b, mark);
        if (other && mark->at > best.at[0] && mark->at <= a_at && other->at <= b_at)
            best = (struct rfn_in_step){{mark->at, other->at}, {mark, other}};
    }
    const uint64_t *a_met = rfn_map_get(&a->met, b_stream), *b_met = rfn_map_get(&b->met, a_stream);
    if (a_met && b_met && *a_met > best.at[0] && *a_met <= a_at && *b_met <= b_at &&
        *a_met >= a->first && *b_met >= b->first)
        best = (struct rfn_in_step){{*a_met, *b_met}, {NULL, NULL}};
    return best;
}
