/* The stack holds nodes; every fold replaces its top nodes by one visit of a loop. In this order,
 * when a node v arrives:
 *
 * 1. Match. A visit of a loop on the stack at position p is "alive" at position i when the nodes
 *    p+1 to i are the beginning of its body. Each position keeps its alive visits (indices of p,
 *    innermost last), so that after a pop those of the new top are known at once. When v is what an
 *    alive visit expects, it is pushed and nothing else is looked at; when that completes the body,
 *    the stretch is dropped and the visit has one trip more.
 * 2. Match with visits of no trips. When an alive visit expects a loop and v is what this loop
 *    begins with, or what comes after it, a visit with 0 trips goes on the stack before v. In the
 *    first case it grows by step 1 later, so that inner loops are matched from their first symbol
 *    on; in the second case it stays an optional node.
 * 3. Close. A body that ends with a loop is complete only when v shows that this loop does not go
 *    on; loops at the end of a body may also be visited 0 times.
 * 4. Reduce. When nothing alive goes on with v, the top is final, and a loop is looked for:
 *    a) two equal adjacent stretches become a loop of 2 trips. Candidates are the last positions of
 *       the node on top and the last positions of the 16 nodes on top, which find long periods over
 *       few different nodes;
 *    b) a stretch equal to the body of a known loop becomes a visit with 1 trip, loops of that body
 *       that are missing in the stretch become visits with 0 trips.
 *    Then v is offered again.
 * 5. Otherwise v is pushed.
 *
 * Stretches are compared by prefix hashes (polynomials modulo 2^61 - 1) and then node by node,
 * which is paid for by the nodes that go away. Hashes and lists of positions are made only for
 * positions that step 4 looks at: a program in a steady state never gets there. As long as only the
 * innermost alive visit matches, its nodes are not even pushed (struct fold.next): an append is a
 * comparison and an increment.
 *
 * Order of trips. Unfolding meets the visits of a loop in the order in which they were made,
 * because a visit is made at the top of the stack when everything below and inside it has been
 * made, and a body never contains its own loop, so that the visit that grows is always the last of
 * its loop. So a loop needs a column and the trips of its last visit, nothing else, wherever its
 * visits lie. The only exceptions would be visits made, or grown, below a visit that has been made
 * of the top and is still offered to what is left of the stack (struct fold.waiting); they are
 * refused when the loop concerned may be inside of the waiting one.
 */
#include "reduce/fold/fold.h"

#include "base/arena.h"
#include "base/grow.h"
#include "base/map.h"

#include <stdlib.h>
#include <string.h>

enum {
    MAX_CANDIDATES = 16, /* earlier positions of the top node that are tried */
    MAX_CONTEXTS = 4,    /* earlier positions of the top CONTEXT nodes that are tried */
    CONTEXT = 16,
    MAX_BODIES = 16,  /* known bodies with the same last node that are tried */
    MAX_ALIVE = 32,   /* alive visits per position */
    MAX_ABSENT = 8,   /* visits of 0 trips made at once */
    MAX_WALK = 32,    /* nodes looked at to find where visits of 0 trips go */
    MAX_WAITING = 16, /* new visits held back while what is below them is reduced */
    PAGE = 1024,      /* struct node_info in a page */
};

static const uint32_t NONE = UINT32_MAX;
static const rfn_node END = UINT32_MAX; /* behind every body; no node has this number */

static const uint64_t MODULUS = ((uint64_t)1 << 61) - 1;
static const uint64_t BASE = 0x0b4f1d5c9e37a683u;

struct loop {
    rfn_node *body; /* length nodes, then END */
    uint32_t length;
    uint32_t next_same_end; /* older loop whose body ends with the same node, or NONE */
    uint64_t hash;          /* of the body */
    uint64_t inside;        /* bit (number mod 64) of each loop that body reaches */
    int64_t trips;          /* of the last visit */
    bool visited;           /* there is a last visit */
    bool written;           /* it is in the column, perhaps with fewer trips */
    bool has_symbols;       /* directly in the body */
    struct rfn_column column;
};

/* What is known of a node. */
struct node_info {
    uint32_t position; /* newest position on the stack, of those indexed, or NONE */
    uint32_t loops;    /* newest loop whose body ends with the node, or NONE */
};

struct rfn_fold {
    /* The alive visit followed at the moment. Its nodes from `base` up to `next` are matched but
     * not on the stack. next points at END when no visit is followed. */
    const rfn_node *next, *base;
    uint64_t appended;
    struct {
        const rfn_node *told; /* of what is matched, it knows what is before */
        rfn_fold_watch *tell; /* NULL: nobody watches */
        void *context;
    } watch;

    /* The stack. Arrays by position, these and those of the index, all of the same capacity. */
    rfn_node *nodes;
    uint32_t *alive_from; /* where the position's alive visits begin */
    uint32_t n, capacity;
    uint32_t reduced; /* step 4 was in vain with a stack of this height; 0: not tried */
    struct {
        uint64_t *hashes;   /* of the nodes 0 to i - 1, at i; one element more */
        uint64_t *powers;   /* of BASE */
        uint32_t *previous; /* position before with the same node, or NONE */
        uint32_t *context;  /* position before with the same last CONTEXT nodes, or NONE */
        uint32_t n;         /* positions that have these */
        uint32_t *contexts; /* by hash, newest position; capacity elements */
    } index;
    struct {
        uint32_t *at;
        size_t n, capacity;
    } alive;
    struct {
        rfn_node at[MAX_WAITING]; /* visits made of the top that are not back on the stack */
        uint32_t n;
    } waiting;

    struct loop *loops;
    size_t n_loops, loops_capacity;
    struct {
        struct rfn_arena arena;
        size_t n;            /* nodes */
        struct rfn_map loop; /* by hash */
    } bodies;
    struct {
        struct node_info **at; /* by node */
        size_t n, capacity, used;
    } pages;
    uint64_t comparisons;
    uint32_t max_nodes;       /* limit on n, or 0 */
    struct rfn_column frozen; /* nodes that were below position 0 */
    size_t held;              /* bytes, by all columns */
};

/* ---- hashes ---- */

static uint64_t reduce_mod(uint64_t x)
{
    x = (x & MODULUS) + (x >> 61);
    return x >= MODULUS ? x - MODULUS : x;
}

static uint64_t multiply_mod(uint64_t a, uint64_t b)
{
    __extension__ unsigned __int128 product = (unsigned __int128)a * b;
    return reduce_mod(((uint64_t)product & MODULUS) + (uint64_t)(product >> 61));
}

static uint64_t extend_hash(uint64_t hash, rfn_node node)
{
    return reduce_mod(multiply_mod(hash, BASE) + node + 1);
}

/* The hash of the nodes from position `from` to `to` - 1. */
static uint64_t stretch_hash(const struct rfn_fold *fold, uint32_t from, uint32_t to)
{
    uint64_t before = multiply_mod(fold->index.hashes[from], fold->index.powers[to - from]);
    return reduce_mod(fold->index.hashes[to] + MODULUS - before);
}

static bool same_nodes(const rfn_node *a, const rfn_node *b, uint32_t n)
{
    return memcmp(a, b, n * sizeof *a) == 0;
}

/* ---- tables ---- */

/* NULL when nothing is known of the node. */
static struct node_info *find_info(const struct rfn_fold *fold, rfn_node node)
{
    size_t page = node / PAGE;
    if (page >= fold->pages.n || !fold->pages.at[page])
        return NULL;
    return &fold->pages.at[page][node % PAGE];
}

/* Makes find_info(node) succeed. */
static int make_info(struct rfn_fold *fold, rfn_node node)
{
    size_t page = node / PAGE;
    if (page >= fold->pages.n) {
        RFN_TRY(RFN_GROW(fold->pages.at, fold->pages.capacity, page + 1));
        while (fold->pages.n <= page)
            fold->pages.at[fold->pages.n++] = NULL;
    }
    if (!fold->pages.at[page]) {
        struct node_info *infos = malloc(PAGE * sizeof *infos);
        if (!infos)
            return RFN_E_NOMEM;
        for (size_t i = 0; i < PAGE; i++)
            infos[i] = (struct node_info){NONE, NONE};
        fold->pages.at[page] = infos;
        fold->pages.used++;
    }
    return 0;
}

static int resize_positions(struct rfn_fold *fold, uint32_t capacity)
{
    const struct {
        void **array;
        size_t size;
        uint32_t more; /* elements beyond capacity */
    } arrays[] = {
        {(void **)&fold->nodes, sizeof *fold->nodes, 0},
        {(void **)&fold->alive_from, sizeof *fold->alive_from, 0},
        {(void **)&fold->index.hashes, sizeof *fold->index.hashes, 1},
        {(void **)&fold->index.powers, sizeof *fold->index.powers, 1},
        {(void **)&fold->index.previous, sizeof *fold->index.previous, 0},
        {(void **)&fold->index.context, sizeof *fold->index.context, 0},
        {(void **)&fold->index.contexts, sizeof *fold->index.contexts, 0},
    };
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) {
        void *moved = realloc(*arrays[i].array,
                              ((size_t)capacity + arrays[i].more) * arrays[i].size);
        if (!moved)
            return RFN_E_NOMEM;
        *arrays[i].array = moved;
    }
    return 0;
}

/* Makes room for `height` positions. */
static int grow_stack(struct rfn_fold *fold, uint64_t height)
{
    if (height <= fold->capacity)
        return 0;
    uint64_t capacity = fold->capacity ? fold->capacity : 64;
    while (capacity < height)
        capacity *= 2;
    if (capacity > (uint64_t)1 << 31)
        return RFN_E_NOMEM;
    RFN_TRY(resize_positions(fold, (uint32_t)capacity));
    if (!fold->capacity)
        fold->index.hashes[0] = 0, fold->index.powers[0] = 1;
    for (uint32_t i = fold->capacity; i < capacity; i++)
        fold->index.powers[i + 1] = multiply_mod(fold->index.powers[i], BASE);
    fold->capacity = (uint32_t)capacity;
    /* The table of contexts has more slots now: who was found before is found again. */
    for (uint32_t i = 0; i < capacity; i++)
        fold->index.contexts[i] = NONE;
    for (uint32_t i = CONTEXT; i <= fold->index.n; i++)
        fold->index.contexts[stretch_hash(fold, i - CONTEXT, i) & (capacity - 1)] = i - 1;
    return 0;
}

/* ---- loops ---- */

static struct loop *loop_of_node(const struct rfn_fold *fold, rfn_node node)
{
    return &fold->loops[rfn_node_index(node)];
}

/* Whether the loop has visits that come behind the top of the stack: it is waiting, or may be
 * inside one that is. Errs on the side of true. */
static bool is_waiting(const struct rfn_fold *fold, rfn_node loop)
{
    for (uint32_t i = 0; i < fold->waiting.n; i++) {
        rfn_node node = fold->waiting.at[i];
        if (node == loop)
            return true;
        if (node > loop && (loop_of_node(fold, node)->inside >> rfn_node_index(loop) % 64 & 1))
            return true;
    }
    return false;
}

/* Brings the column up to the last visit. */
static int write_trips(struct loop *loop, size_t *held)
{
    if (!loop->visited)
        return 0;
    if (!loop->written)
        RFN_TRY(rfn_column_append_held(&loop->column, loop->trips, held));
    else if (loop->column.last != loop->trips)
        RFN_TRY(rfn_column_set_last_held(&loop->column, loop->trips, held));
    loop->written = true;
    return 0;
}

/* A new visit of the loop begins. */
static int visit_loop(struct rfn_fold *fold, rfn_node node, int64_t trips)
{
    struct loop *loop = loop_of_node(fold, node);
    RFN_TRY(write_trips(loop, &fold->held));
    loop->trips = trips;
    loop->visited = true;
    loop->written = false;
    return 0;
}

static int make_loop(struct rfn_fold *fold, const rfn_node *body, uint32_t length, uint64_t hash)
{
    uint32_t number = (uint32_t)fold->n_loops;
    rfn_node last = body[length - 1];
    RFN_TRY(RFN_GROW(fold->loops, fold->loops_capacity, fold->n_loops + 1));
    RFN_TRY(make_info(fold, last));
    rfn_node *copy = rfn_arena_alloc(&fold->bodies.arena, ((size_t)length + 1) * sizeof *copy);
    if (!copy)
        return RFN_E_NOMEM;
    struct loop *loop = &fold->loops[fold->n_loops++];
    *loop = (struct loop){.body = copy, .length = length, .hash = hash};
    rfn_column_init(&loop->column);
    for (uint32_t i = 0; i < length; i++) {
        copy[i] = body[i];
        if (!rfn_node_is_loop(body[i]))
            loop->has_symbols = true;
        else
            loop->inside |= loop_of_node(fold, body[i])->inside |
                            (uint64_t)1 << rfn_node_index(body[i]) % 64;
    }
    copy[length] = END;
    fold->bodies.n += length;
    struct node_info *info = find_info(fold, last);
    loop->next_same_end = info->loops;
    info->loops = number;
    return 0;
}

/* The loop whose body is the top `length` nodes, made when it is new. */
static int intern_top(struct rfn_fold *fold, uint32_t length, rfn_node *node)
{
    const rfn_node *body = fold->nodes + fold->n - length;
    uint64_t hash = stretch_hash(fold, fold->n - length, fold->n);
    uint64_t key = hash, *found;
    for (; (found = rfn_map_get(&fold->bodies.loop, key)); key++) {
        const struct loop *loop = &fold->loops[*found];
        if (loop->length == length && same_nodes(loop->body, body, length)) {
            *node = rfn_node_loop((uint32_t)*found);
            return 0;
        }
    }
    *node = rfn_node_loop((uint32_t)fold->n_loops);
    RFN_TRY(rfn_map_put(&fold->bodies.loop, key, fold->n_loops));
    return make_loop(fold, body, length, hash);
}

/* ---- the stack ---- */

/* Computes hashes and lists of positions up to the top. */
static int index_stack(struct rfn_fold *fold)
{
    for (uint32_t i = fold->index.n; i < fold->n; i++) {
        rfn_node node = fold->nodes[i];
        RFN_TRY(make_info(fold, node));
        struct node_info *info = find_info(fold, node);
        fold->index.previous[i] = info->position;
        info->position = i;
        fold->index.hashes[i + 1] = extend_hash(fold->index.hashes[i], node);
        fold->index.context[i] = NONE;
        if (i + 1 >= CONTEXT) {
            uint64_t hash = stretch_hash(fold, i + 1 - CONTEXT, i + 1);
            uint32_t *newest = &fold->index.contexts[hash & (fold->capacity - 1)];
            fold->index.context[i] = *newest;
            *newest = i;
        }
        fold->index.n = i + 1;
    }
    return 0;
}

/* The table of contexts is not restored: what it says is only a proposal. */
__attribute__((noinline)) static void truncate_index(struct rfn_fold *fold, uint32_t n)
{
    while (fold->index.n > n) {
        uint32_t i = --fold->index.n;
        find_info(fold, fold->nodes[i])->position = fold->index.previous[i];
    }
}

/* Drops all nodes from position n on. */
static void truncate_stack(struct rfn_fold *fold, uint32_t n)
{
    if (__builtin_expect(fold->index.n > n, 0))
        truncate_index(fold, n);
    if (fold->n > n)
        fold->alive.n = fold->alive_from[n];
    fold->n = n;
    fold->reduced = 0;
}

/* The alive visits at the top: fold->alive.at[first_alive] to fold->alive.at[n_alive - 1]. */
static size_t first_alive(const struct rfn_fold *fold)
{
    return fold->n ? fold->alive_from[fold->n - 1] : fold->alive.n;
}

/* What the visit at position p, alive at the top, expects next. */
static const rfn_node *expected(const struct rfn_fold *fold, uint32_t p)
{
    return loop_of_node(fold, fold->nodes[p])->body + (fold->n - 1 - p);
}

/* Puts a node on top; the visits that expect it stay alive. */
static int push(struct rfn_fold *fold, rfn_node node)
{
    RFN_TRY(grow_stack(fold, (uint64_t)fold->n + 1));
    size_t first = first_alive(fold), end = fold->alive.n;
    if (end > UINT32_MAX - MAX_ALIVE)
        return RFN_E_NOMEM;
    RFN_TRY(RFN_GROW(fold->alive.at, fold->alive.capacity, end + MAX_ALIVE));
    if (end - first == MAX_ALIVE && rfn_node_is_loop(node))
        first++;
    for (size_t i = first; i < end; i++) {
        if (*expected(fold, fold->alive.at[i]) == node)
            fold->alive.at[fold->alive.n++] = fold->alive.at[i];
    }
    if (rfn_node_is_loop(node))
        fold->alive.at[fold->alive.n++] = fold->n;
    fold->nodes[fold->n] = node;
    fold->alive_from[fold->n] = (uint32_t)end;
    fold->n++;
    fold->reduced = 0;
    return 0;
}

/* One trip more for the visit at position p; the nodes above it were its body. */
static inline __attribute__((always_inline)) void add_trip(struct rfn_fold *fold, uint32_t p)
{
    truncate_stack(fold, p + 1);
    loop_of_node(fold, fold->nodes[p])->trips++;
}

void rfn_fold_tell(struct rfn_fold *fold)
{
    if (fold->watch.tell && fold->watch.told < fold->next)
        fold->watch.tell(fold->watch.context, fold->watch.told,
                         (size_t)(fold->next - fold->watch.told));
    fold->watch.told = fold->next;
}

void rfn_fold_watch_by(struct rfn_fold *fold, rfn_fold_watch *watch, void *context)
{
    fold->watch.tell = watch;
    fold->watch.context = context;
    fold->watch.told = fold->next;
}

/* Stops following: what has been matched goes on the stack. */
static int stop_following(struct rfn_fold *fold)
{
    const rfn_node *end = fold->next;
    rfn_fold_tell(fold);
    fold->next = &END;
    for (const rfn_node *node = fold->base; node < end; node++)
        RFN_TRY(push(fold, *node));
    fold->base = fold->watch.told = &END;
    return 0;
}

/* Follows the innermost visit that is alive. There is room for its whole body, so that the nodes
 * matched can be shown at any time. */
static int follow(struct rfn_fold *fold)
{
    fold->next = fold->base = fold->watch.told = &END;
    if (first_alive(fold) == fold->alive.n)
        return 0;
    uint32_t p = fold->alive.at[fold->alive.n - 1];
    RFN_TRY(grow_stack(fold, (uint64_t)p + 1 + loop_of_node(fold, fold->nodes[p])->length));
    fold->next = fold->base = fold->watch.told = expected(fold, p);
    return 0;
}

/* ---- steps 1 to 3: loops that go on ---- */

static bool is_expected(const struct rfn_fold *fold, rfn_node node)
{
    for (size_t i = fold->alive.n; i-- > first_alive(fold);) {
        if (*expected(fold, fold->alive.at[i]) == node)
            return true;
    }
    return false;
}

struct absent {
    rfn_node nodes[MAX_ABSENT]; /* loops to be visited 0 times, in order */
    uint32_t n, steps;
};

/* Whether `node` can come at `body` when some loops before it are visited 0 times, now (those that
 * it begins) or for good. Fills absent. */
static bool find_absent(const struct rfn_fold *fold, const rfn_node *body, rfn_node node,
                        struct absent *absent)
{
    for (; *body != node; body++) {
        if (*body == END || !rfn_node_is_loop(*body) || absent->n == MAX_ABSENT ||
            absent->steps == MAX_WALK || is_waiting(fold, *body))
            return false;
        absent->steps++;
        absent->nodes[absent->n++] = *body;
        uint32_t n = absent->n;
        if (find_absent(fold, loop_of_node(fold, *body)->body, node, absent))
            return true;
        absent->n = n;
    }
    return true;
}

/* Step 2; 1 when node can be pushed now. */
static int insert_absent(struct rfn_fold *fold, rfn_node node)
{
    for (size_t i = fold->alive.n; i-- > first_alive(fold);) {
        struct absent absent = {.n = 0};
        if (!find_absent(fold, expected(fold, fold->alive.at[i]), node, &absent))
            continue;
        for (uint32_t k = 0; k < absent.n; k++) {
            RFN_TRY(visit_loop(fold, absent.nodes[k], 0));
            RFN_TRY(push(fold, absent.nodes[k]));
        }
        return 1;
    }
    return 0;
}

/* Whether only loops are left of a body, few, that can be visited 0 times now. */
static bool can_end(const struct rfn_fold *fold, const rfn_node *rest)
{
    uint32_t n = 0;
    for (; *rest != END; rest++) {
        if (!rfn_node_is_loop(*rest) || n++ == MAX_ABSENT || is_waiting(fold, *rest))
            return false;
    }
    return true;
}

/* Step 3; 1 when a visit has got its trip and the stack is lower. */
static int close_body(struct rfn_fold *fold)
{
    for (size_t i = fold->alive.n; i-- > first_alive(fold);) {
        uint32_t p = fold->alive.at[i];
        const rfn_node *rest = expected(fold, p);
        if (p == fold->n - 1 || is_waiting(fold, fold->nodes[p]) || !can_end(fold, rest))
            continue;
        for (; *rest != END; rest++)
            RFN_TRY(visit_loop(fold, *rest, 0));
        add_trip(fold, p);
        return 1;
    }
    return 0;
}

/* ---- step 4: new visits ---- */

static int reduce_top(struct rfn_fold *fold);

/* Steps 1 to 4 for a node that arrives: afterwards it can be pushed. */
static int make_way(struct rfn_fold *fold, rfn_node node)
{
    int again = 1;
    while (again && !is_expected(fold, node)) {
        int inserted = insert_absent(fold, node);
        if (inserted)
            return inserted;
        RFN_TRY(again = close_body(fold));
        if (!again)
            RFN_TRY(again = reduce_top(fold));
    }
    return 0;
}

/* Replaces the top `length` nodes, which were `trips` times the body of a loop. While the new visit
 * is offered to what is left, no visit of a loop may be made below that it has inside. */
static int replace_top(struct rfn_fold *fold, uint32_t length, rfn_node node, int64_t trips)
{
    truncate_stack(fold, fold->n - length);
    if (fold->n && fold->nodes[fold->n - 1] == node) {
        loop_of_node(fold, node)->trips += trips;
        return 0;
    }
    RFN_TRY(visit_loop(fold, node, trips));
    if (fold->waiting.n < MAX_WAITING) {
        fold->waiting.at[fold->waiting.n++] = node;
        RFN_TRY(make_way(fold, node));
        fold->waiting.n--;
    }
    return push(fold, node);
}

/* Whether the nodes up to position p equal the ones between p and the top. */
static bool is_repeat(struct rfn_fold *fold, uint32_t p)
{
    uint32_t top = fold->n - 1, length = top - p;
    if (length > 1 && fold->nodes[p - 1] != fold->nodes[top - 1])
        return false;
    fold->comparisons++;
    const rfn_node *later = fold->nodes + p + 1;
    return stretch_hash(fold, p + 1 - length, p + 1) == stretch_hash(fold, p + 1, fold->n) &&
           same_nodes(later - length, later, length);
}

/* The length of the stretch that stands twice on top, or 0. */
static uint32_t find_repeat(struct rfn_fold *fold)
{
    uint32_t top = fold->n - 1, p = fold->index.previous[top];
    for (int tries = 0; tries < MAX_CANDIDATES && p != NONE; tries++, p = fold->index.previous[p]) {
        if (2 * (uint64_t)(top - p) > fold->n)
            return 0;
        if (is_repeat(fold, p))
            return top - p;
    }
    if (p == NONE)
        return 0;
    p = fold->index.context[top];
    for (int tries = 0; tries < MAX_CONTEXTS && p < top; tries++) {
        if (2 * (uint64_t)(top - p) <= fold->n && fold->nodes[p] == fold->nodes[top] &&
            is_repeat(fold, p))
            return top - p;
        uint32_t older = fold->index.context[p];
        if (older >= p)
            break;
        p = older;
    }
    return 0;
}

/* Step 4a; 1 when done. */
static int start_loop(struct rfn_fold *fold)
{
    uint32_t length = find_repeat(fold);
    rfn_node node;
    if (!length)
        return 0;
    RFN_TRY(intern_top(fold, length, &node));
    if (is_waiting(fold, node))
        return 0;
    RFN_TRY(replace_top(fold, 2 * length, node, 2));
    return 1;
}

static bool is_top_body(struct rfn_fold *fold, const struct loop *loop)
{
    uint32_t length = loop->length, n = fold->n;
    if (length > n || (length > 1 && loop->body[length - 2] != fold->nodes[n - 2]))
        return false;
    fold->comparisons++;
    return stretch_hash(fold, n - length, n) == loop->hash &&
           same_nodes(fold->nodes + n - length, loop->body, length);
}

/* Whether the top nodes are the body but for some loops, which are put into absent. Returns how
 * many nodes these are, or 0. */
static uint32_t match_with_absent(const struct rfn_fold *fold, const struct loop *loop,
                                  struct absent *absent)
{
    uint32_t at = fold->n, left = loop->length;
    uint64_t inside = 0; /* loops that the nodes from `at` on may contain */
    if (!loop->has_symbols || !loop->inside)
        return 0;
    for (uint32_t steps = 0; left; steps++) {
        rfn_node want = loop->body[--left];
        if (steps == MAX_WALK)
            return 0;
        if (at && fold->nodes[at - 1] == want) {
            at--;
            if (rfn_node_is_loop(want))
                inside |= loop_of_node(fold, want)->inside | (uint64_t)1
                                                                 << rfn_node_index(want) % 64;
        } else if (rfn_node_is_loop(want) && absent->n < MAX_ABSENT &&
                   !(inside >> rfn_node_index(want) % 64 & 1) && !is_waiting(fold, want)) {
            absent->nodes[absent->n++] = want;
        } else {
            return 0;
        }
    }
    return fold->n - at;
}

/* The length of the stretch on top that is one trip of the loop, or 0. */
static uint32_t match_body(struct rfn_fold *fold, uint32_t number, struct absent *absent)
{
    const struct loop *loop = &fold->loops[number];
    absent->n = 0;
    if (loop->length == 1 && rfn_node_is_loop(loop->body[0]))
        return 0; /* else every visit of the inner loop would become one of the outer */
    if (is_waiting(fold, rfn_node_loop(number)))
        return 0;
    return is_top_body(fold, loop) ? loop->length : match_with_absent(fold, loop, absent);
}

/* Step 4b; 1 when done. */
static int visit_once(struct rfn_fold *fold)
{
    uint32_t number = find_info(fold, fold->nodes[fold->n - 1])->loops;
    for (int tries = 0; tries < MAX_BODIES && number != NONE; tries++) {
        struct absent absent;
        uint32_t length = match_body(fold, number, &absent);
        if (length) {
            for (uint32_t i = 0; i < absent.n; i++)
                RFN_TRY(visit_loop(fold, absent.nodes[i], 0));
            RFN_TRY(replace_top(fold, length, rfn_node_loop(number), 1));
            return 1;
        }
        number = fold->loops[number].next_same_end;
    }
    return 0;
}

/* Step 4; 1 when the stack has changed. */
static int reduce_top(struct rfn_fold *fold)
{
    if (!fold->n || fold->reduced == fold->n)
        return 0;
    RFN_TRY(index_stack(fold));
    int done = start_loop(fold);
    if (!done)
        done = visit_once(fold);
    if (!done)
        fold->reduced = fold->n;
    return done;
}

/* ---- a stack that is too high ---- */

/* Forgets the lowest `cut` positions in what is kept by position or by node. */
static void lower_positions(struct rfn_fold *fold, uint32_t cut)
{
    uint32_t n = fold->n - cut;
    memmove(fold->nodes, fold->nodes + cut, n * sizeof *fold->nodes);
    memmove(fold->index.hashes, fold->index.hashes + cut,
            ((size_t)n + 1) * sizeof *fold->index.hashes);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t previous = fold->index.previous[i + cut], context = fold->index.context[i + cut];
        fold->index.previous[i] = previous != NONE && previous >= cut ? previous - cut : NONE;
        fold->index.context[i] = context != NONE && context >= cut ? context - cut : NONE;
    }
    for (uint32_t i = 0; i < fold->capacity; i++) {
        uint32_t position = fold->index.contexts[i];
        fold->index.contexts[i] = position != NONE && position >= cut ? position - cut : NONE;
    }
    for (size_t page = 0; page < fold->pages.n; page++) {
        for (size_t i = 0; fold->pages.at[page] && i < PAGE; i++) {
            uint32_t *position = &fold->pages.at[page][i].position;
            *position = *position != NONE && *position >= cut ? *position - cut : NONE;
        }
    }
    fold->n = fold->index.n = n;
    fold->reduced = fold->reduced > cut ? fold->reduced - cut : 0;
}

/* The same for alive visits; those of frozen positions end. To be called before fold->n changes. */
static void lower_alive(struct rfn_fold *fold, uint32_t cut)
{
    size_t n_alive = 0, from = fold->alive_from[cut];
    for (uint32_t i = cut; i < fold->n; i++) {
        size_t end = i + 1 < fold->n ? fold->alive_from[i + 1] : fold->alive.n;
        fold->alive_from[i - cut] = (uint32_t)n_alive;
        for (; from < end; from++) {
            if (fold->alive.at[from] >= cut)
                fold->alive.at[n_alive++] = fold->alive.at[from] - cut;
        }
    }
    fold->alive.n = n_alive;
}

int rfn_fold_freeze(struct rfn_fold *fold)
{
    RFN_TRY(stop_following(fold));
    for (uint32_t i = 0; i < fold->n; i++)
        RFN_TRY(rfn_column_append_held(&fold->frozen, fold->nodes[i], &fold->held));
    truncate_stack(fold, 0);
    return follow(fold);
}

/* ---- appending ---- */

/* A symbol that the visit followed does not expect. */
static int append_slow(struct rfn_fold *fold, rfn_node node)
{
    RFN_TRY(stop_following(fold));
    if (fold->watch.tell)
        fold->watch.tell(fold->watch.context, &node, 1);
    RFN_TRY(make_way(fold, node));
    RFN_TRY(push(fold, node));
    if (first_alive(fold) == fold->alive.n) {
        RFN_TRY(reduce_top(fold)); /* nothing to wait for */
    } else {
        uint32_t p = fold->alive.at[fold->alive.n - 1];
        if (*expected(fold, p) == END)
            add_trip(fold, p);
    }
    if (fold->max_nodes && fold->n >= fold->max_nodes) {
        uint32_t cut = fold->n / 2; /* the older half is frozen */
        RFN_TRY(index_stack(fold));
        for (uint32_t i = 0; i < cut; i++)
            RFN_TRY(rfn_column_append_held(&fold->frozen, fold->nodes[i], &fold->held));
        lower_alive(fold, cut);
        lower_positions(fold, cut);
    }
    return follow(fold);
}

int rfn_fold_append(struct rfn_fold *fold, uint32_t symbol)
{
    rfn_node node = rfn_node_symbol(symbol);
    fold->appended++;
    if (*fold->next != node)
        return append_slow(fold, node);
    if (*++fold->next != END)
        return 0;
    uint32_t p = fold->alive.at[fold->alive.n - 1];
    const struct loop *loop = loop_of_node(fold, fold->nodes[p]);
    if (__builtin_expect(fold->watch.told != loop->body || loop->trips == 0, 0))
        rfn_fold_tell(fold);
    add_trip(fold, p);
    fold->next = fold->base = fold->watch.told = loop->body;
    return 0;
}

struct rfn_fold *rfn_fold_new(uint32_t max_nodes)
{
    struct rfn_fold *fold = calloc(1, sizeof *fold);
    if (!fold)
        return NULL;
    fold->next = fold->base = fold->watch.told = &END;
    fold->max_nodes = max_nodes;
    rfn_column_init(&fold->frozen);
    return fold;
}

void rfn_fold_free(struct rfn_fold *fold)
{
    if (!fold)
        return;
    for (size_t i = 0; i < fold->n_loops; i++)
        rfn_column_release(&fold->loops[i].column);
    for (size_t i = 0; i < fold->pages.n; i++)
        free(fold->pages.at[i]);
    rfn_column_release(&fold->frozen);
    rfn_map_release(&fold->bodies.loop);
    rfn_arena_release(&fold->bodies.arena);
    free(fold->pages.at);
    free(fold->loops);
    free(fold->nodes);
    free(fold->alive_from);
    free(fold->index.hashes);
    free(fold->index.powers);
    free(fold->index.previous);
    free(fold->index.context);
    free(fold->index.contexts);
    free(fold->alive.at);
    free(fold);
}

/* ---- the result ---- */

void rfn_fold_view(const struct rfn_fold *fold, struct rfn_fold_view *view)
{
    /* The nodes matched but not pushed are shown behind the top, where there is room for them. */
    size_t n = fold->n;
    for (const rfn_node *node = fold->base; node < fold->next; node++)
        fold->nodes[n++] = *node;
    *view = (struct rfn_fold_view){
        .frozen = &fold->frozen, .top = fold->nodes, .n_top = n, .n_loops = fold->n_loops};
}

int rfn_fold_each_column(struct rfn_fold *fold,
                         int (*visit)(void *context, struct rfn_column *column), void *context)
{
    for (size_t i = 0; i < fold->n_loops; i++)
        RFN_TRY(visit(context, &fold->loops[i].column));
    return visit(context, &fold->frozen);
}

const rfn_node *rfn_fold_body(const struct rfn_fold *fold, uint32_t loop, size_t *length)
{
    *length = fold->loops[loop].length;
    return fold->loops[loop].body;
}

const struct rfn_column *rfn_fold_trips(const struct rfn_fold *fold, uint32_t loop)
{
    size_t more = 0; /* counted by rfn_fold_recount */
    return write_trips(&fold->loops[loop], &more) < 0 ? NULL : &fold->loops[loop].column;
}

void rfn_fold_stats(const struct rfn_fold *fold, struct rfn_fold_stats *stats)
{
    const size_t per_position = 2 * sizeof(uint64_t) + 5 * sizeof(uint32_t);
    *stats = (struct rfn_fold_stats){
        .appended = fold->appended,
        .nodes = fold->frozen.n + fold->n + (uint64_t)(fold->next - fold->base) + fold->bodies.n,
        .comparisons = fold->comparisons,
    };
    stats->bytes = sizeof *fold + fold->capacity * per_position +
                   fold->alive.capacity * sizeof *fold->alive.at +
                   fold->loops_capacity * sizeof *fold->loops + rfn_map_bytes(&fold->bodies.loop) +
                   (fold->bodies.n + fold->n_loops) * sizeof(rfn_node) +
                   fold->pages.capacity * sizeof *fold->pages.at +
                   fold->pages.used * PAGE * sizeof **fold->pages.at;
    stats->bytes += fold->held;
}

void rfn_fold_recount(struct rfn_fold *fold)
{
    fold->held = 0;
    rfn_fold_each_column(fold, rfn_column_add_bytes, &fold->held);
}

/* ---- unfolding ---- */

/* A stretch of nodes that is being walked, `trips` times more after this one. */
struct frame {
    const rfn_node *begin, *next, *end;
    int64_t trips;
};

struct unfolder {
    const struct rfn_fold *fold;
    struct rfn_column_cursor *cursors; /* of the loops' trips */
    size_t n_cursors;
    struct frame *frames;
    size_t n_frames, frames_capacity;
};

static int open_columns(struct unfolder *unfolder)
{
    const struct rfn_fold *fold = unfolder->fold;
    unfolder->cursors = calloc(fold->n_loops + 1, sizeof *unfolder->cursors);
    if (!unfolder->cursors)
        return RFN_E_NOMEM;
    size_t more = 0; /* counted by rfn_fold_recount */
    for (size_t i = 0; i < fold->n_loops; i++) {
        RFN_TRY(write_trips(&fold->loops[i], &more));
        rfn_column_open_growing(&unfolder->cursors[unfolder->n_cursors++], &fold->loops[i].column);
    }
    return 0;
}

static int enter_loop(struct unfolder *unfolder, rfn_node node)
{
    const struct loop *loop = loop_of_node(unfolder->fold, node);
    int64_t trips;
    RFN_TRY(rfn_column_next(&unfolder->cursors[rfn_node_index(node)], &trips));
    if (trips == 0)
        return 0;
    RFN_TRY(RFN_GROW(unfolder->frames, unfolder->frames_capacity, unfolder->n_frames + 1));
    unfolder->frames[unfolder->n_frames++] = (struct frame){loop->body, loop->body,
                                                            loop->body + loop->length, trips - 1};
    return 0;
}

static int walk(struct unfolder *unfolder, int (*visit)(void *context, uint32_t symbol),
                void *context)
{
    while (unfolder->n_frames) {
        struct frame *frame = &unfolder->frames[unfolder->n_frames - 1];
        if (frame->next == frame->end) {
            frame->next = frame->begin;
            if (frame->trips-- == 0)
                unfolder->n_frames--;
            continue;
        }
        rfn_node node = *frame->next++;
        int result = rfn_node_is_loop(node) ? enter_loop(unfolder, node)
                                            : visit(context, rfn_node_index(node));
        if (result)
            return result;
    }
    return 0;
}

/* The frozen nodes, one after the other. */
static int walk_frozen(struct unfolder *unfolder, int (*visit)(void *context, uint32_t symbol),
                       void *context)
{
    struct rfn_column_cursor cursor;
    rfn_column_open_growing(&cursor, &unfolder->fold->frozen);
    int result = 0;
    while (!result && rfn_column_at(&cursor) < cursor.n) {
        int64_t node;
        result = rfn_column_next(&cursor, &node);
        if (result)
            break;
        if (!rfn_node_is_loop((rfn_node)node)) {
            result = visit(context, rfn_node_index((rfn_node)node));
            continue;
        }
        result = enter_loop(unfolder, (rfn_node)node);
        if (!result)
            result = walk(unfolder, visit, context);
    }
    rfn_column_close(&cursor);
    return result;
}

int rfn_fold_unfold(const struct rfn_fold *fold, int (*visit)(void *context, uint32_t symbol),
                    void *context)
{
    struct unfolder unfolder = {.fold = fold};
    struct rfn_fold_view view;
    rfn_fold_view(fold, &view);
    int error = open_columns(&unfolder);
    if (!error)
        error = walk_frozen(&unfolder, visit, context);
    if (!error && view.n_top)
        error = RFN_GROW(unfolder.frames, unfolder.frames_capacity, 1);
    if (!error && view.n_top) {
        unfolder.frames[unfolder.n_frames++] = (struct frame){view.top, view.top,
                                                              view.top + view.n_top, 0};
        error = walk(&unfolder, visit, context);
    }
    for (size_t i = 0; i < unfolder.n_cursors; i++)
        rfn_column_close(&unfolder.cursors[i]);
    free(unfolder.cursors);
    free(unfolder.frames);
    return error;
}
