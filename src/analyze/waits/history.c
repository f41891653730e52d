#include "analyze/waits/history.h"

#include "base/grow.h"

#include <stdlib.h>
#include <string.h>

int rfn_history_init(struct rfn_history *history, size_t length)
{
    *history = (struct rfn_history){.n_marks = 1, .mask = length - 1, .full = length};
    history->marks[0].key = RFN_MARK_BEGINNING;
    history->marks[0].late_by = RFN_NOTHING_LATE;
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
    free(sums->ns);
    free(sums->asked);
    free(sums->touched);
}

void rfn_sums_reset(struct rfn_sums *sums)
{
    sums->n_touched = 0;
    if (++sums->question)
        return;
    memset(sums->asked, 0, sums->asked_capacity * sizeof *sums->asked);
    sums->question = 1;
}

int rfn_sums_grow(struct rfn_sums *sums, uint32_t what)
{
    RFN_TRY(RFN_GROW_ZEROED(sums->asked, sums->asked_capacity, (size_t)rfn_sums_at(what) + 1));
    RFN_TRY(RFN_GROW(sums->ns, sums->ns_capacity, sums->asked_capacity));
    RFN_TRY(RFN_GROW(sums->touched, sums->touched_capacity, sums->asked_capacity));
    sums->capacity = sums->asked_capacity;
    return 0;
}

static inline void touch(struct rfn_sums *sums, uint32_t what, int64_t ns)
{
    uint32_t at = rfn_sums_at(what);
    sums->asked[at] = sums->question;
    sums->ns[at] = ns;
    sums->touched[sums->n_touched++] = what;
}

static void add(struct rfn_sums *sums, uint32_t what, int64_t ns)
{
    if (rfn_sums_has(sums, what))
        sums->ns[rfn_sums_at(what)] += ns;
    else
        touch(sums, what, ns);
}

/* Where the sums lie is looked at once for a run of entries, and the sign not at all. */
__attribute__((always_inline)) static inline void add_run(const struct rfn_logged *run, size_t n,
                                                          int64_t sign, struct rfn_sums *sums)
{
    if (n == 0)
        return; /* there may be no room for any */
    int64_t *const all = sums->ns;
    uint32_t *const asked = sums->asked, *touched = sums->touched + sums->n_touched;
    const uint32_t question = sums->question;
#pragma GCC unroll 4
    for (size_t i = 0; i < n; i++) {
        uint32_t at = rfn_sums_at(run[i].what);
        int64_t ns = sign * (int64_t)run[i].ns;
        if (__builtin_expect(asked[at] == question, 1)) {
            all[at] += ns;
        } else {
            asked[at] = question;
            all[at] = ns;
            *touched++ = run[i].what;
        }
    }
    sums->n_touched = (size_t)(touched - sums->touched);
}

/* ... which may go on at the beginning of the log. */
__attribute__((always_inline)) static inline void add_entries(const struct rfn_history *history,
                                                              uint64_t from, uint64_t to,
                                                              int64_t sign, struct rfn_sums *sums)
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
    uint64_t first = from < history->first ? history->first : from;
    if (sign > 0)
        add_entries(history, first, to, 1, sums);
    else
        add_entries(history, first, to, -1, sums);
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
    history->full = to + history->mask + 1;
    return error;
}

static int add_pieces(struct rfn_history *history, struct rfn_sums *sums, uint32_t what, int64_t ns)
{
    for (; ns > UINT32_MAX; ns -= UINT32_MAX)
        RFN_TRY(rfn_history_add(history, sums, what, UINT32_MAX));
    return rfn_history_add(history, sums, what, ns);
}

/* All marks are older than the log: they get what would only pass through it. */
static int add_to_marks(struct rfn_history *history, struct rfn_sums *sums, uint32_t what,
                        int64_t ns)
{
    struct rfn_done done = {what, ns};
    const struct rfn_mark passed = {.sums = &done, .n_sums = 1};
    for (unsigned i = 0; i < history->n_marks; i++)
        RFN_TRY(fold_before(&history->marks[i], &passed, sums));
    return 0;
}

/* Once a turn of the log is full of pieces, further whole turns change the marks' sums only. */
int rfn_history_add_long(struct rfn_history *history, struct rfn_sums *sums, uint32_t what,
                         int64_t ns)
{
    const int64_t turn = (int64_t)(history->mask + 1) * UINT32_MAX;
    if (ns > 2 * turn) {
        int64_t whole = (ns - turn - 1) / turn * turn;
        RFN_TRY(add_pieces(history, sums, what, turn));
        RFN_TRY(add_to_marks(history, sums, what, whole));
        ns -= turn + whole;
    }
    return add_pieces(history, sums, what, ns);
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

void rfn_history_mark(struct rfn_history *history, uint64_t key, uint64_t count, uint32_t late_by)
{
    struct rfn_mark *mark = replaced(history, key);
    if (!mark)
        mark = &history->marks[history->n_marks++];
    mark->key = key;
    mark->count = count;
    mark->late_by = late_by;
    mark->at = history->marked = history->at;
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
        const bool first = best.mark[0] == &a->marks[0]; /* and it may be at the beginning, too */
        if (mark->at < best.at[0] || (mark->at == best.at[0] && !first) || mark->at > a_at)
            continue;
        const struct rfn_mark *other = find_mark(b, mark);
        if (other && other->at <= b_at)
            best = (struct rfn_in_step){{mark->at, other->at}, {mark, other}};
    }
    return best;
}
