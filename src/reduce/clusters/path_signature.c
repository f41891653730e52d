/* What a loop's body is worth is computed once, for loops in ascending order: an *element* that can
 * be joined with others and, where trips count, be repeated. A loop is *plain* if nothing in it
 * differs from visit to visit as far as the form can see: in the elastic form, no loop in it is
 * ever left out; else, trips of all loops in it are constant. Plain loops are joined as they are;
 * the others are walked, which takes their trips from the columns. */
#include "reduce/clusters/path_signature.h"

#include "base/grow.h"
#include "base/map.h"
#include "reduce/clusters/path_word.h"

#include <stdbool.h>
#include <stdlib.h>

/* A few bytes can stand for more executions than can be walked while fuzzing. */
#ifdef RFN_FUZZING
enum { EXECUTIONS_MAX = 1 << 12 };
#else
#define EXECUTIONS_MAX UINT64_MAX
#endif

enum { PERIOD = 10 };                                  /* of the factors of the xor form */
static const uint64_t prime = ((uint64_t)1 << 61) - 1; /* of the strict form */
static const uint64_t base = 0x0f3a1c59d27b64e5;

/* Exclusive or of a stretch, by the number of events before it, modulo PERIOD; or the polynomial of
 * a stretch and the power of the base to its length. */
struct fixed {
    uint64_t x[PERIOD];
    unsigned length; /* modulo PERIOD */
    uint64_t hash, power;
};

struct element {
    struct rfn_path_word word; /* elastic */
    struct fixed fixed;        /* else */
};

struct loop {
    bool read;           /* its trips are to be read at each visit */
    bool walked;         /* some loop in it is read */
    bool empty;          /* no call in it counts */
    bool open;           /* the cursor */
    int64_t trips;       /* all of them, unless they are read */
    struct element body; /* unless walked */
    struct rfn_column_cursor cursor;
};

struct frame {
    const struct rfn_path_nodes *list;
    size_t next;
    uint64_t left;
};

struct work {
    const struct rfn_path_source *source;
    enum rfn_path_form form;
    uint32_t *numbers; /* of call hashes, per symbol; UINT32_MAX: none */
    uint64_t *hashes;  /* by number */
    uint32_t n_call_hashes;
    struct rfn_path_alphabet alphabet;
    struct loop *loops;
    struct frame *frames;
    size_t depth, frames_capacity;
    uint64_t executions, executions_max;
    struct rfn_path_limits limits; /* what is left of them */
};

static int use(uint64_t *left, uint64_t n)
{
    bool enough = n <= *left;
    *left -= enough ? n : *left;
    return enough ? 0 : RFN_E_RANGE;
}

static int count_steps(struct work *work, uint64_t n)
{
    return use(&work->limits.steps, n);
}

/* ---- elements ---- */

static const struct fixed nothing = {.power = 1};

static uint64_t plus(uint64_t a, uint64_t b)
{
    uint64_t sum = a + b;
    return sum >= prime ? sum - prime : sum;
}

static uint64_t times(uint64_t a, uint64_t b)
{
    __extension__ unsigned __int128 product = (unsigned __int128)a * b;
    return plus((uint64_t)(product & prime), (uint64_t)(product >> 61));
}

static struct fixed fixed_join(const struct fixed *a, const struct fixed *b)
{
    struct fixed both = {.length = (a->length + b->length) % PERIOD,
                         .hash = plus(times(a->hash, b->power), b->hash),
                         .power = times(a->power, b->power)};
    for (unsigned i = 0; i < PERIOD; i++)
        both.x[i] = a->x[i] ^ b->x[(i + a->length) % PERIOD];
    return both;
}

static int add_call(struct work *work, struct element *to, uint32_t symbol)
{
    if (symbol >= work->source->n_symbols)
        return RFN_E_CORRUPT;
    if (!work->source->call_hashes[symbol])
        return 0;
    if (work->form == RFN_PATHS_ELASTIC)
        return rfn_path_word_append(&to->word, &work->alphabet, &work->numbers[symbol], 1);
    const uint64_t call_hash = work->source->call_hashes[symbol];
    struct fixed one = {.length = 1, .hash = call_hash % prime, .power = base % prime};
    for (unsigned i = 0; i < PERIOD; i++)
        one.x[i] = (i + 1) * call_hash;
    to->fixed = fixed_join(&to->fixed, &one);
    return 0;
}

static int add_loop(struct work *work, struct element *to, const struct loop *loop, int64_t trips)
{
    if (work->form == RFN_PATHS_ELASTIC) {
        if (trips == 0)
            return 0;
        RFN_TRY(count_steps(work, loop->body.word.n));
        return rfn_path_word_append(&to->word, &work->alphabet, loop->body.word.numbers,
                                    loop->body.word.n);
    }
    struct fixed all = nothing, power = loop->body.fixed; /* 1, 2, 4, ... trips */
    for (; trips; trips >>= 1) {
        if (trips & 1)
            all = fixed_join(&all, &power);
        power = fixed_join(&power, &power);
    }
    to->fixed = fixed_join(&to->fixed, &all);
    return 0;
}

/* ---- walking what is not plain ---- */

static int push(struct work *work, const struct rfn_path_nodes *list, uint64_t executions)
{
    RFN_TRY(RFN_GROW(work->frames, work->frames_capacity, work->depth + 1));
    work->frames[work->depth++] = (struct frame){.list = list, .left = executions};
    return 0;
}

static int next_trips(struct rfn_column_cursor *cursor, int64_t *trips)
{
    int error = rfn_column_next(cursor, trips);
    return error == RFN_E_RANGE || (!error && *trips < 0) ? RFN_E_CORRUPT : error;
}

static int visit_loop(struct work *work, struct element *to, uint32_t number)
{
    if (number >= work->source->n_loops)
        return RFN_E_CORRUPT;
    struct loop *loop = &work->loops[number];
    int64_t trips = loop->trips;
    if (loop->empty)
        return 0;
    if (loop->read || loop->walked) {
        if (!loop->open)
            RFN_TRY(work->source->trips(work->source->context, number, &loop->cursor));
        loop->open = true;
        RFN_TRY(next_trips(&loop->cursor, &trips));
    }
    if (!loop->walked)
        return add_loop(work, to, loop, trips);
    if ((uint64_t)trips > work->executions_max - work->executions)
        return RFN_E_CORRUPT;
    work->executions += (uint64_t)trips;
    return trips ? push(work, &work->source->loops[number], (uint64_t)trips) : 0;
}

static int walk(struct work *work, const struct rfn_path_nodes *list, struct element *to)
{
    RFN_TRY(push(work, list, 1));
    while (work->depth) {
        struct frame *frame = &work->frames[work->depth - 1];
        if (frame->next == frame->list->n) {
            frame->next = 0;
            if (--frame->left == 0)
                work->depth--;
            continue;
        }
        rfn_node node = frame->list->nodes[frame->next++];
        RFN_TRY(count_steps(work, 1));
        RFN_TRY(rfn_node_is_loop(node) ? visit_loop(work, to, rfn_node_index(node))
                                       : add_call(work, to, rfn_node_index(node)));
    }
    return 0;
}

/* ---- loops ---- */

/* Where a block has one value, that is looked at once. */
static int next_different_trips(struct work *work, struct rfn_column_cursor *cursor, int64_t *trips)
{
    RFN_TRY(count_steps(work, 1));
    RFN_TRY(next_trips(cursor, trips));
    int error = cursor->packed.width ? 0 : rfn_column_skip(cursor, cursor->left);
    return error == RFN_E_RANGE ? RFN_E_CORRUPT : error;
}

/* Looks whether the trips have to be read at each visit. */
static int look_at_trips(struct work *work, uint32_t number)
{
    struct loop *loop = &work->loops[number];
    struct rfn_column_cursor cursor;
    int64_t trips = 1;
    RFN_TRY(work->source->trips(work->source->context, number, &cursor));
    int error = 0;
    loop->trips = 1;
    for (uint64_t at = 0; at < cursor.n && !error && !loop->read; at = rfn_column_at(&cursor)) {
        error = next_different_trips(work, &cursor, &trips);
        if (at == 0)
            loop->trips = trips;
        loop->read = work->form == RFN_PATHS_ELASTIC ? trips == 0 : trips != loop->trips;
    }
    rfn_column_close(&cursor);
    return error;
}

/* Whether a loop in it is walked or read, and whether any call in it counts. */
static int look_inside(struct work *work, uint32_t number)
{
    const struct rfn_path_nodes *list = &work->source->loops[number];
    struct loop *loop = &work->loops[number];
    loop->empty = true;
    for (size_t i = 0; i < list->n; i++) {
        uint32_t index = rfn_node_index(list->nodes[i]);
        if (!rfn_node_is_loop(list->nodes[i])) {
            if (index >= work->source->n_symbols)
                return RFN_E_CORRUPT;
            loop->empty &= !work->source->call_hashes[index];
            continue;
        }
        if (index >= number)
            return RFN_E_CORRUPT;
        loop->empty &= work->loops[index].empty;
        loop->walked |= !work->loops[index].empty &&
                        (work->loops[index].read || work->loops[index].walked);
    }
    return 0;
}

static int make_loop(struct work *work, uint32_t number)
{
    struct loop *loop = &work->loops[number];
    loop->body.fixed = nothing;
    RFN_TRY(look_inside(work, number));
    if (loop->empty)
        return 0;
    RFN_TRY(look_at_trips(work, number));
    if (loop->walked)
        return 0;
    RFN_TRY(walk(work, &work->source->loops[number], &loop->body));
    rfn_path_word_shorten(&loop->body.word, &work->alphabet);
    return use(&work->limits.calls, loop->body.word.n);
}

/* ---- the whole ---- */

static const struct rfn_path_limits memory_only = {
    .steps = UINT64_MAX, .calls = RFN_PATH_WORD_MAX, .work = UINT64_MAX};

static int number_call_hashes(struct work *work)
{
    struct rfn_map map = RFN_MAP_INIT;
    const struct rfn_path_source *source = work->source;
    int error = 0;
    for (uint32_t i = 0; i < source->n_symbols && !error; i++) {
        uint64_t call_hash = source->call_hashes[i];
        const uint64_t *known = call_hash ? rfn_map_get(&map, call_hash) : NULL;
        work->numbers[i] = known ? (uint32_t)*known : work->n_call_hashes;
        if (!call_hash || known)
            continue;
        work->hashes[work->n_call_hashes] = call_hash;
        error = rfn_map_put(&map, call_hash, work->n_call_hashes++);
        /* A word is as long as there are call hashes, or longer: whether that is too much work is
         * known before it is made. */
        if (!error && work->form == RFN_PATHS_ELASTIC &&
            work->n_call_hashes > work->limits.work / work->n_call_hashes)
            error = RFN_E_RANGE;
    }
    rfn_map_release(&map);
    return error;
}

static int begin(struct work *work)
{
    const struct rfn_path_source *source = work->source;
    /* One with an event is of each loop once, at most; others stand between events, or around all
     * of them. */
    __extension__ unsigned __int128 most = ((unsigned __int128)source->events + 1) *
                                           (source->n_loops + (uint64_t)RFN_EMPTY_TRIPS_MAX);
    work->limits = source->limits ? *source->limits : memory_only;
    work->executions_max = most > EXECUTIONS_MAX ? EXECUTIONS_MAX : (uint64_t)most;
    RFN_TRY(count_steps(work, source->n_symbols + (uint64_t)source->n_loops));
    work->numbers = calloc(source->n_symbols + (size_t)1, sizeof *work->numbers);
    work->hashes = calloc(source->n_symbols + (size_t)1, sizeof *work->hashes);
    work->loops = calloc(source->n_loops + (size_t)1, sizeof *work->loops);
    if (!work->numbers || !work->hashes || !work->loops)
        return RFN_E_NOMEM;
    RFN_TRY(number_call_hashes(work));
    return rfn_path_alphabet_init(&work->alphabet, work->n_call_hashes);
}

static int finish(struct work *work, struct element *all, uint64_t *signature)
{
    switch (work->form) {
    case RFN_PATHS_STRICT:
        *signature = all->fixed.hash;
        return 0;
    case RFN_PATHS_XOR:
        *signature = all->fixed.x[0];
        return 0;
    default:
        rfn_path_word_shorten(&all->word, &work->alphabet);
        if (all->word.n && work->n_call_hashes > work->limits.work / all->word.n)
            return RFN_E_RANGE;
        work->limits.work -= work->n_call_hashes * (uint64_t)all->word.n;
        return rfn_path_word_hash(&all->word, work->hashes, work->n_call_hashes, signature);
    }
}

int rfn_path_signature(const struct rfn_path_source *source, enum rfn_path_form form,
                       uint64_t *signature)
{
    struct work work = {.source = source, .form = form};
    struct element all = {.fixed = nothing};
    int error = begin(&work);
    for (uint32_t i = 0; i < source->n_loops && !error; i++)
        error = make_loop(&work, i);
    struct rfn_path_nodes piece = {0};
    for (bool more = source->before_top; more && !error; more = piece.n) {
        error = source->before_top(source->context, &piece);
        if (!error && piece.n)
            error = walk(&work, &piece, &all);
    }
    if (!error)
        error = walk(&work, &source->top, &all);
    if (!error)
        error = finish(&work, &all, signature);
    if (source->limits)
        *source->limits = work.limits;
    rfn_path_word_release(&all.word);
    for (uint32_t i = 0; work.loops && i < work.source->n_loops; i++) {
        rfn_path_word_release(&work.loops[i].body.word);
        if (work.loops[i].open)
            rfn_column_close(&work.loops[i].cursor);
    }
    rfn_path_alphabet_release(&work.alphabet);
    free(work.numbers);
    free(work.hashes);
    free(work.loops);
    free(work.frames);
    return error;
}
