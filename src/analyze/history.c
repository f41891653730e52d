#include "analyze/history.h"

#include "base/grow.h"

#include <stdlib.h>
#include <string.h>

int rfn_history_init(struct rfn_history *history, size_t length)
{
    *history = (struct rfn_history){.n_marks = 1, .mask = length - 1};
    history->marks[0].key = RFN_MARK_BEGINNING;
    history->log = malloc(length * sizeof *history->log);
    return history->log ? 0 : RFN_E_NOMEM;
}

void rfn_history_release(struct rfn_history *history)
{
    for (unsigned i = 0; i < history->n_marks; i++)
        free(history->marks[i].sums);
    free(history->log);
}

/* ---- sums ---- */

void rfn_sums_release(struct rfn_sums *sums)
{
    free(sums->items);
    free(sums->touched);
}

void rfn_sums_reset(struct rfn_sums *sums)
{
    sums->question++;
    sums->n_touched = 0;
}

int rfn_sums_grow(struct rfn_sums *sums, uint32_t what)
{
    RFN_TRY(RFN_GROW_ZEROED(sums->items, sums->capacity, (size_t)rfn_sums_at(what) + 1));
    return RFN_GROW(sums->touched, sums->touched_capacity, sums->capacity);
}

static inline void add(struct rfn_sums *sums, uint32_t what, int64_t ns)
{
    struct rfn_sum *sum = &sums->items[rfn_sums_at(what)];
    if (sum->question == sums->question) {
        sum->ns += ns;
        return;
    }
    sums->touched[sums->n_touched++] = what;
    *sum = (struct rfn_sum){ns, sums->question};
}

static inline void add_run(const struct rfn_logged *run, size_t n, int64_t sign,
                           struct rfn_sums *sums)
{
    const struct rfn_logged *end = run + n;
    if (sign > 0) {
        for (; run < end; run++)
            add(sums, run->what, run->ns);
    } else {
        for (; run < end; run++)
            add(sums, run->what, -(int64_t)run->ns);
    }
}

/* ... which may go on at the beginning of the log. */
static void add_entries(const struct rfn_history *history, uint64_t from, uint64_t to, int64_t sign,
                        struct rfn_sums *sums)
{
    size_t at = from & history->mask, room = history->mask + 1 - at;
    size_t n = to > from ? to - from : 0, behind = n > room ? n - room : 0;
    add_run(history->log + at, n - behind, sign, sums);
    add_run(history->log, behind, sign, sums);
}

static void add_sums(const struct rfn_mark *mark, int64_t sign, struct rfn_sums *sums)
{
    for (size_t i = 0; i < mark->n_sums; i++)
        add(sums, mark->sums[i].what, sign * mark->sums[i].ns);
}

void rfn_history_sum(const struct rfn_history *history, const struct rfn_mark *mark, uint64_t from,
                     uint64_t to, int sign, struct rfn_sums *sums)
{
    if (mark)
        add_sums(mark, sign, sums);
    add_entries(history, from < history->first ? history->first : from, to, sign, sums);
}

/* ---- the log and its marks ---- */

/* What a question has found becomes the sums of a mark. */
static int keep_sums(struct rfn_mark *mark, const struct rfn_sums *sums)
{
    RFN_TRY(RFN_GROW(mark->sums, mark->capacity, sums->n_touched));
    mark->n_sums = sums->n_touched;
    for (size_t i = 0; i < sums->n_touched; i++)
        mark->sums[i] = (struct rfn_done){sums->touched[i], rfn_sums_of(sums, sums->touched[i])};
    return 0;
}

/* Entries up to `to` leave the log: they are added to the sums of a mark that is among them. */
static int fold_behind(struct rfn_history *history, struct rfn_mark *mark, uint64_t to,
                       struct rfn_sums *sums)
{
    rfn_sums_reset(sums);
    add_entries(history, mark->at, to, 1, sums);
    return keep_sums(mark, sums);
}

/* ... of all marks that are older: their sum, made once, is added to each. */
static int fold_before(struct rfn_mark *mark, const struct rfn_mark *batch, struct rfn_sums *sums)
{
    rfn_sums_reset(sums);
    add_sums(mark, 1, sums);
    add_sums(batch, 1, sums);
    return keep_sums(mark, sums);
}

int rfn_history_make_room(struct rfn_history *history, struct rfn_sums *sums)
{
    uint64_t to = history->first + (history->mask + 1) / 2;
    struct rfn_mark batch = {0};
    rfn_sums_reset(sums);
    add_entries(history, history->first, to, 1, sums);
    int error = keep_sums(&batch, sums);
    for (unsigned i = 0; i < history->n_marks && !error; i++) {
        struct rfn_mark *mark = &history->marks[i];
        if (mark->at <= history->first)
            error = fold_before(mark, &batch, sums);
        else if (mark->at < to)
            error = fold_behind(history, mark, to, sums);
    }
    free(batch.sums);
    history->first = to;
    return error;
}

int rfn_history_add_long(struct rfn_history *history, struct rfn_sums *sums, uint32_t what,
                         int64_t ns)
{
    for (; ns > UINT32_MAX; ns -= UINT32_MAX)
        RFN_TRY(rfn_history_add(history, sums, what, UINT32_MAX));
    return rfn_history_add(history, sums, what, ns);
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

struct rfn_in_step rfn_history_in_step(const struct rfn_history *a, uint64_t a_at,
                                       const struct rfn_history *b, uint64_t b_at)
{
    struct rfn_in_step best = {.mark = {&a->marks[0], &b->marks[0]}};
    for (unsigned i = 1; i < a->n_marks; i++) {
        const struct rfn_mark *mark = &a->marks[i];
        if (mark->at <= best.at[0] || mark->at > a_at)
            continue;
        const struct rfn_mark *other = find_mark(b, mark);
        if (other && other->at <= b_at)
            best = (struct rfn_in_step){{mark->at, other->at}, {mark, other}};
    }
    return best;
}
