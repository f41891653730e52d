/* sites.c - see sites.h.
 *
 * The walk. Unwinding is a chain of steps. A step takes a return address and the registers of its
 * frame, finds the frame's CFA by a rule that the code prescribes (cfi.h), and reads the next
 * return address at CFA - 8. So the rule's inputs and the words read from memory fix a step's
 * outcome; and the first return address, the stack pointer after the call, and those words fix the
 * path. The facts of a path are exactly these words:
 *
 *   - the return address of every frame, at CFA - 8;
 *   - where a rule starts from a register other than the stack pointer (rbp in frames with alloca
 *     or variable-length arrays): the word from which that register's value comes, which lies in a
 *     frame further in, or is the word at the wrapper's frame pointer;
 *   - what the rule itself reads: on stacks that a function realigns, the CFA lies at rbp - 8.
 *
 * The stack pointer needs no fact: it is the previous CFA. Facts are in the order in which the
 * steps use them: if all facts before one hold, the step that reads it reads the same place again,
 * which is legal to read; if all hold, the walk would be the same. unwind.h takes the steps as long
 * as the rules leave no doubt, as they do in what compilers make. Otherwise libunwind walks, from
 * the beginning; every frame is then checked: the rule read here gives libunwind's CFA, and CFA - 8
 * holds the return address. Code without a description is stepped over by libunwind as if it kept a
 * frame pointer (CFA = rbp + 16). Where a check fails (signal handlers; hand-written code of other
 * habits) the path is good but not cached.
 *
 * The end. Outermost lie frames that are the same for everything a thread does: _start, and frames
 * of the C library and the loader that call main or the thread's function. They are cut off by
 * position: _start by the program's entry point, then frames in these libraries as long as they are
 * the outermost ones; in a static program all outside of the outermost frame of main. The return
 * address of the first frame that was cut off is a fact too: it tells that there the path ends.
 *
 * Scripts. Where a frame is one in which the Python interpreter runs a script (python.h), stops for
 * the frames of the script follow its own, and the words that fix them are facts like others. The
 * path has these in place of what lies in the interpreter's module and in mpi4py's.
 *
 * The walk before. Calls of a deep stack differ in the frames further in. A walk that comes to a
 * frame of the walk before, at the same place with the same return address, would go on as that one
 * did if the facts from there on hold: they are compared, and the steps are not taken again. Facts
 * about registers are the same only if the registers come from the same places: what the steps
 * further out need of them is noted down with each frame (only the frame pointer is compared; where
 * others are needed the walk goes on by steps). What is compared is all that the path depends on,
 * each time.
 *
 * The cache. Four ways per set, replaced in turn. A place that is reached on many paths with the
 * same stack pointer (a library's dot product called from everywhere) has them all in one set; so
 * ways that are replaced go to a longer list of the set, which is searched before a full walk.
 */
#define UNW_LOCAL_ONLY
#include "record/callpath/sites.h"
#include "base/arena.h"
#include "base/grow.h"
#include "base/hash.h"
#include "base/map.h"
#include "record/callpath/cfi.h"
#include "record/callpath/modules.h"
#include "record/callpath/python.h"
#include "record/callpath/unwind.h"

#include <libunwind.h>
#include <stdlib.h>
#include <string.h>

/* Frames of the recorder between rec_site_walk and the wrapper's caller: one or two. */
enum { OWN_FRAMES = 16 };
/* Walks per set outside of its ways, and facts of all of them: those of deep stacks have many. */
enum { SPILL_MAX = 64, SPILL_FACTS_MAX = 1 << 17 };
/* Frames that a walk notes down: more than a path keeps, so that calls from further out find them;
 * and of these, those that may lie outside of the path. */
enum { WALK_FRAMES = REC_SITE_FRAMES + 64, OUTSIDE_FRAMES = 32 };

struct site {
    uint32_t function;
    size_t n;
    const struct rec_frame *frames; /* in the arena */
};

/* A frame met by the walk. */
struct stop {
    uintptr_t ip; /* of a script: the line */
    struct rec_code code;
    bool script, frozen; /* see python.h; stops of scripts have no code but for the module */
    uintptr_t function;  /* where its code begins, 0 when not known */
    uint32_t n_facts;    /* facts that lead here */
    /* By unwind.h only: */
    uint32_t used, restored; /* by the step to the next one, see there */
    uint32_t needed;         /* registers that this step and later ones take from further in */
    uintptr_t stack;         /* the stack pointer after the return into it */
    const uintptr_t *rbp;    /* where the frame pointer's value is, or NULL */
};

struct walk {
    struct stop *stops;
    size_t n, stops_capacity;
    struct rec_site_fact *facts;
    size_t n_facts, facts_capacity;
    uintptr_t bottom; /* nothing below this address outlives the walk */
    struct rec_python_stack python;
    size_t n_sound; /* stops that the facts lead to without doubt */
    bool sound;     /* still so */
    bool complete;  /* walked to the end of the stack */
    bool guessed;   /* a step went over code without a description */
    bool functions; /* where functions begin must be known for every stop */
    bool by_rules;  /* made by unwind.h, and done: a later walk may go over into it */
};

struct spill {
    struct rec_site_way *ways; /* SPILL_MAX of them, NULL until needed */
    uint32_t n, next;          /* next: to be replaced when full */
};

struct rec_sites_table {
    struct rfn_arena arena;
    struct site *sites;
    size_t n, capacity; /* one more than n is always there, for the unknown site */
    struct rfn_map by_hash;
    struct walk walk;         /* the last one */
    struct walk fresh;        /* what a walk by rules finds until it goes over into the last one */
    struct rec_frame *frames; /* of the path that is looked up */
    size_t frames_capacity;
    struct rec_unwind_rules rules;
    struct spill spill[REC_SITE_SETS];
    size_t spilled_facts;
    uint8_t next[REC_SITE_SETS]; /* way to be replaced next */
    uint64_t unloaded;
    uintptr_t program_entry, static_main; /* see modules.h */
    struct rec_frame unknown;
};

/* ---- the table ---- */

int rec_sites_init(struct rec_sites *sites)
{
    *sites = (struct rec_sites){.site_of_unknown = UINT32_MAX};
    sites->memory = calloc(1, REC_SITE_SETS * sizeof *sites->sets + REC_CACHE_LINE);
    sites->sets = rec_align(sites->memory);
    sites->table = calloc(1, sizeof *sites->table);
    if (!sites->sets || !sites->table ||
        RFN_GROW(sites->table->sites, sites->table->capacity, 16) < 0) {
        rec_sites_release(sites);
        return RFN_E_NOMEM;
    }
    sites->table->unloaded = rec_modules_unloaded();
    sites->table->program_entry = rec_program_entry();
    sites->table->static_main = rec_static_main();
    sites->table->walk.functions = sites->table->fresh.functions = sites->table->static_main;
    return 0;
}

static void clear_set(struct rec_sites *sites, size_t set)
{
    struct rec_site_way *ways = sites->sets[set];
    struct spill *spill = &sites->table->spill[set];
    for (unsigned w = 0; w < REC_SITE_WAYS; w++)
        free(ways[w].facts);
    for (uint32_t i = 0; i < spill->n; i++) {
        sites->table->spilled_facts -= spill->ways[i].facts_capacity;
        free(spill->ways[i].facts);
    }
    free(spill->ways);
    *spill = (struct spill){0};
    memset(ways, 0, sizeof sites->sets[set]);
}

void rec_sites_release(struct rec_sites *sites)
{
    struct rec_sites_table *table = sites->table;
    for (size_t set = 0; sites->sets && table && set < REC_SITE_SETS; set++)
        clear_set(sites, set);
    free(sites->memory);
    if (table) {
        rfn_arena_release(&table->arena);
        rfn_map_release(&table->by_hash);
        free(table->sites);
        free(table->walk.stops);
        free(table->walk.facts);
        free(table->frames);
        free(table->fresh.stops);
        free(table->fresh.facts);
        free(table);
    }
    *sites = (struct rec_sites){0};
}

uint32_t rec_sites_count(const struct rec_sites *sites)
{
    return (uint32_t)sites->table->n;
}

uint32_t rec_sites_function(const struct rec_sites *sites, uint32_t site)
{
    return sites->table->sites[site].function;
}

const struct rec_frame *rec_sites_frames(const struct rec_sites *sites, uint32_t site, size_t *n)
{
    *n = sites->table->sites[site].n;
    return sites->table->sites[site].frames;
}

/* ---- interning ---- */

static bool is_site(const struct site *site, uint32_t function, const struct rec_frame *frames,
                    size_t n)
{
    if (site->function != function || site->n != n)
        return false;
    for (size_t i = 0; i < n; i++) {
        if (site->frames[i].module != frames[i].module ||
            site->frames[i].offset != frames[i].offset)
            return false;
    }
    return true;
}

/* Where a path is looked for: paths whose hashes are equal lie under the next free keys. */
struct lookup {
    uint64_t hash; /* the one that it has, or is to get */
    bool found;
    uint32_t site;
};

static struct lookup look_up(const struct rec_sites_table *table, uint32_t function,
                             const struct rec_frame *frames, size_t n)
{
    struct lookup lookup = {.hash = rfn_hash_mix(0, function)};
    const uint64_t *found;
    for (size_t i = 0; i < n; i++)
        lookup.hash = rfn_hash_mix(rfn_hash_mix(lookup.hash, frames[i].module), frames[i].offset);
    for (; (found = rfn_map_get(&table->by_hash, lookup.hash)); lookup.hash++) {
        if (!is_site(&table->sites[*found], function, frames, n))
            continue;
        lookup.found = true;
        lookup.site = (uint32_t)*found;
        break;
    }
    return lookup;
}

static int intern(struct rec_sites_table *table, uint32_t function, const struct rec_frame *frames,
                  size_t n, uint32_t *number)
{
    const struct lookup lookup = look_up(table, function, frames, n);
    if (lookup.found) {
        *number = lookup.site;
        return 0;
    }
    RFN_TRY(RFN_GROW(table->sites, table->capacity, table->n + 2));
    const struct rec_frame *copy = rfn_arena_copy(&table->arena, frames, n * sizeof *frames);
    if (!copy)
        return RFN_E_NOMEM;
    RFN_TRY(rfn_map_put(&table->by_hash, lookup.hash, table->n));
    *number = (uint32_t)table->n;
    table->sites[table->n++] = (struct site){function, n, copy};
    return 0;
}

/* Needs no memory. */
static uint32_t unknown_site(struct rec_sites *sites, uint32_t function)
{
    struct rec_sites_table *table = sites->table;
    if (sites->site_of_unknown == UINT32_MAX) {
        bool has_frame = table->walk.n > 0;
        if (has_frame) {
            const struct stop *stop = &table->walk.stops[0];
            table->unknown = (struct rec_frame){stop->code.module, stop->ip - stop->code.bias};
        }
        sites->site_of_unknown = (uint32_t)table->n;
        table->sites[table->n++] = (struct site){function, has_frame, &table->unknown};
    }
    return sites->site_of_unknown;
}

/* A library that went may have made room for another one. */
static void notice_unloading(struct rec_sites *sites)
{
    uint64_t unloaded = rec_modules_unloaded();
    if (unloaded == sites->table->unloaded)
        return;
    sites->table->unloaded = unloaded;
    rec_modules_forget();
    memset(&sites->table->rules, 0, sizeof sites->table->rules);
    sites->table->walk.by_rules = false;
    unw_flush_cache(unw_local_addr_space, 0, 0);
    for (size_t set = 0; set < REC_SITE_SETS; set++)
        clear_set(sites, set);
}

/* ---- walking: facts ---- */

/* What the facts do not cover from here on is walked, but not cached. */
static void doubt(struct walk *walk)
{
    if (walk->sound)
        walk->n_sound = walk->n;
    walk->sound = false;
}

static void begin_walk(struct walk *walk, const uintptr_t *frame)
{
    walk->n = walk->n_facts = walk->n_sound = 0;
    walk->bottom = (uintptr_t)frame;
    rec_python_begin(&walk->python);
    walk->sound = true;
    walk->complete = walk->guessed = walk->by_rules = false;
}

static int add_stop(struct walk *walk, uintptr_t ip)
{
    RFN_TRY(RFN_GROW(walk->stops, walk->stops_capacity, walk->n + 1));
    struct stop *stop = &walk->stops[walk->n];
    *stop = (struct stop){.ip = ip, .n_facts = (uint32_t)walk->n_facts};
    const struct rec_code *last = walk->n ? &stop[-1].code : NULL;
    if (last && ip - 1 - last->start < last->end - last->start)
        stop->code = *last;
    else
        RFN_TRY(rec_code_find(ip - 1, &stop->code));
    walk->n++;
    return 0;
}

static int add_fact(struct walk *walk, const uintptr_t *where, uintptr_t what)
{
    RFN_TRY(RFN_GROW(walk->facts, walk->facts_capacity, walk->n_facts + 1));
    walk->facts[walk->n_facts++] = (struct rec_site_fact){where, what};
    return 0;
}

/* Adds the frames of a script that the last stop's frame, between these addresses, runs. */
static int add_script_stops(struct walk *walk, uintptr_t start, uintptr_t end)
{
    const uintptr_t *innermost;
    if (!rec_python_enter(&walk->python, start, end, &innermost))
        return 0;
    RFN_TRY(add_fact(walk, innermost, *innermost));
    struct rec_python_frame frame;
    for (uintptr_t at = *innermost; at && walk->n < WALK_FRAMES; at = frame.caller) {
        if (!rec_python_read(at, &frame))
            return 0;
        RFN_TRY(RFN_GROW(walk->stops, walk->stops_capacity, walk->n + 1));
        walk->stops[walk->n++] = (struct stop){.ip = frame.line,
                                               .code.module = frame.module,
                                               .script = true,
                                               .frozen = frame.frozen,
                                               .n_facts = (uint32_t)walk->n_facts,
                                               .stack = start};
        for (int i = 0; i < REC_PYTHON_WORDS; i++)
            RFN_TRY(add_fact(walk, frame.words[i], *frame.words[i]));
    }
    return 0;
}

#if REC_SITE_CACHED

/* One step, as the rule sees it. */
struct step {
    struct rec_cfa cfa;
    bool described; /* by call frame information; otherwise libunwind supposes a frame pointer */
    uintptr_t registers[REC_CFI_REGISTERS];
};

/* libunwind numbers x86-64's registers as DWARF does. */
static uintptr_t get_register(unw_cursor_t *cursor, int reg)
{
    unw_word_t value = 0;
    unw_get_reg(cursor, reg, &value);
    return value;
}

/* The word that a register's value comes from becomes a fact. It must lie in a frame further in
 * than this one, and not below the wrapper's frame pointer. */
static int add_register(struct walk *walk, unw_cursor_t *cursor, struct step *step, int reg)
{
    if (reg == REC_CFI_RSP)
        return 0;
    step->registers[reg] = get_register(cursor, reg);
    unw_save_loc_t place;
    if (unw_get_save_loc(cursor, reg, &place) != 0 || place.type != UNW_SLT_MEMORY ||
        place.u.addr < walk->bottom || place.u.addr >= step->registers[REC_CFI_RSP] ||
        *(const uintptr_t *)place.u.addr != step->registers[reg]) {
        doubt(walk);
        return 0;
    }
    return add_fact(walk, (const uintptr_t *)place.u.addr, step->registers[reg]);
}

/* Before a step: finds the rule and the facts about the registers that it starts from. */
static int prepare_step(struct walk *walk, unw_cursor_t *cursor, struct step *step)
{
    struct stop *stop = &walk->stops[walk->n - 1];
    int rc = rec_cfa_find(stop->code.eh_frame_hdr, stop->ip - 1, &step->cfa);
    step->described = rc == 0;
    if (!step->described)
        step->cfa = (struct rec_cfa){.reg = REC_CFI_RBP, .offset = 2 * sizeof(uintptr_t)};
    stop->function = step->cfa.function;
    step->registers[REC_CFI_RSP] = get_register(cursor, REC_CFI_RSP);
    uint32_t mask = 0;
    if (rc == RFN_E_UNSUPPORTED || step->cfa.signal || rec_cfa_registers(&step->cfa, &mask) < 0) {
        doubt(walk);
        return 0;
    }
    for (int reg = 0; reg < REC_CFI_RA; reg++) {
        if (mask >> reg & 1)
            RFN_TRY(add_register(walk, cursor, step, reg));
    }
    return 0;
}

/* After a step to (ip, cfa): checks the rule and adds the facts about what the step has read. */
static int conclude_step(struct walk *walk, const struct step *step, uintptr_t ip, uintptr_t cfa)
{
    if (!walk->sound)
        return 0;
    struct rec_cfa_reads reads;
    uintptr_t expected, here = step->registers[REC_CFI_RSP];
    const uintptr_t *place = (const uintptr_t *)cfa - 1;
    if (rec_cfa_evaluate(&step->cfa, step->registers, &expected, &reads) < 0 || expected != cfa ||
        cfa % sizeof *place || cfa <= here || *place != ip) {
        doubt(walk);
        return 0;
    }
    for (unsigned i = 0; i < reads.n; i++)
        RFN_TRY(add_fact(walk, reads.places[i], *reads.places[i]));
    return add_fact(walk, place, ip);
}

/* The step did not find another frame. That is certain when the code says so, or a return address
 * of 0 was read, or the frame pointer of code without a description is none (its value is a fact
 * already); otherwise it may have been the result of anything. */
static int conclude_end(struct walk *walk, const struct step *step, uintptr_t ip, uintptr_t cfa)
{
    bool certain = (step->described && step->cfa.outermost) ||
                   (!step->described && step->registers[REC_CFI_RBP] == 0);
    walk->complete = true;
    if (certain)
        return 0;
    if (ip == 0 && cfa > step->registers[REC_CFI_RSP])
        return conclude_step(walk, step, ip, cfa);
    doubt(walk);
    return 0;
}

/* Whether the cursor has come to the wrapper's caller. */
static bool is_caller(uintptr_t ip, uintptr_t sp, const uintptr_t *frame)
{
    return ip == frame[1] && sp == (uintptr_t)(frame + 2);
}

static int add_sure_stop(struct walk *walk, const struct rec_unwind_frame *at)
{
    RFN_TRY(add_stop(walk, at->ip));
    struct stop *stop = &walk->stops[walk->n - 1];
    stop->stack = at->registers[REC_CFI_RSP];
    stop->rbp = at->known >> REC_CFI_RBP & 1 ? at->places[REC_CFI_RBP] : NULL;
    return 0;
}

/* One step by the rules alone. */
static int take_sure_step(struct walk *walk, struct rec_unwind_rules *rules,
                          struct rec_unwind_frame *at)
{
    struct stop *stop = &walk->stops[walk->n - 1];
    const uintptr_t start = at->registers[REC_CFI_RSP];
    struct rec_unwind_step step;
    RFN_TRY(rec_unwind_step(at, stop->code.eh_frame_hdr, rules, &step));
    stop->function = step.function;
    stop->used = step.used;
    stop->restored = step.restored;
    for (unsigned i = 0; i < step.n_facts; i++)
        RFN_TRY(add_fact(walk, step.facts[i].where, step.facts[i].what));
    walk->complete = step.end;
    if (step.end)
        return 0;
    RFN_TRY(add_script_stops(walk, start, at->registers[REC_CFI_RSP]));
    return add_sure_stop(walk, at);
}

/* ---- walking: going over into the walk before ---- */

/* Whether steps from where one walk has come would read what those of another one have read, as far
 * as that follows from the state they start from. */
static bool is_same_state(const struct stop *one, const struct stop *other)
{
    const uint32_t needed = other->needed & ~(1u << REC_CFI_RSP);
    return one->stack == other->stack && one->ip == other->ip &&
           (needed == 0 || (needed == 1u << REC_CFI_RBP && one->rbp && one->rbp == other->rbp));
}

/* The stop whose step does not read any more what it has read, among those from `first` on; the
 * number of stops: there is none. */
static size_t changed_stop(const struct walk *walk, size_t first)
{
    for (size_t i = first; i < walk->n; i++) {
        const size_t end = i + 1 < walk->n ? walk->stops[i + 1].n_facts : walk->n_facts;
        for (size_t f = walk->stops[i].n_facts; f < end; f++) {
            if (*walk->facts[f].where != walk->facts[f].what)
                return i;
        }
    }
    return walk->n;
}

/* What the steps need, of stops before `end`, behind which `needed` is needed. */
static void note_needs(struct walk *walk, size_t end, uint32_t needed)
{
    for (size_t i = end; i-- > 0;) {
        struct stop *stop = &walk->stops[i];
        stop->needed = needed = stop->used | (needed & ~stop->restored);
    }
}

/* The fresh walk, whose last stop is the one numbered `at` of the walk before, goes on as that. */
static int go_over(struct walk *walk, struct walk *fresh, size_t at)
{
    const size_t inner = fresh->n - 1, first_fact = walk->stops[at].n_facts;
    size_t n = inner + walk->n - at;
    const size_t n_facts = fresh->n_facts + walk->n_facts - first_fact;
    RFN_TRY(RFN_GROW(walk->stops, walk->stops_capacity, n));
    RFN_TRY(RFN_GROW(walk->facts, walk->facts_capacity, n_facts));
    memmove(walk->stops + inner, walk->stops + at, (walk->n - at) * sizeof *walk->stops);
    memmove(walk->facts + fresh->n_facts, walk->facts + first_fact,
            (walk->n_facts - first_fact) * sizeof *walk->facts);
    for (size_t i = inner; i < n && fresh->n_facts != first_fact; i++)
        walk->stops[i].n_facts += (uint32_t)(fresh->n_facts - first_fact);
    memcpy(walk->stops, fresh->stops, inner * sizeof *walk->stops);
    if (fresh->n_facts)
        memcpy(walk->facts, fresh->facts, fresh->n_facts * sizeof *walk->facts);
    walk->n = n;
    walk->n_facts = n_facts;
    note_needs(walk, inner, walk->stops[inner].needed);
    if (n > WALK_FRAMES) {
        walk->n_facts = walk->stops[WALK_FRAMES].n_facts;
        walk->n = WALK_FRAMES;
        walk->complete = false;
    }
    walk->bottom = fresh->bottom;
    return 0;
}

/* Whether the fresh walk has come to where the one before is known from, and that is all of the
 * path. *at: the stop of the walk before that was looked at last. */
static bool meets(const struct walk *walk, const struct walk *fresh, size_t *at)
{
    const struct stop *here = &fresh->stops[fresh->n - 1];
    while (*at < walk->n && walk->stops[*at].stack < here->stack)
        ++*at;
    if (*at >= walk->n || !is_same_state(here, &walk->stops[*at]) ||
        (!walk->complete && fresh->n + walk->n - *at <= REC_SITE_FRAMES + OUTSIDE_FRAMES))
        return false;
    const size_t changed = changed_stop(walk, *at);
    if (changed == walk->n)
        return true;
    *at = changed + 1; /* up to there it has changed */
    return false;
}

/* RFN_E_UNSUPPORTED: there was a step that the rules do not determine. */
static int walk_by_rules(struct rec_sites *sites, const uintptr_t *frame)
{
    struct rec_sites_table *table = sites->table;
    struct walk *walk = &table->walk, *fresh = &table->fresh;
    struct rec_unwind_frame state;
    size_t at = walk->by_rules ? 0 : walk->n;
    if (sites->only_libunwind)
        return RFN_E_UNSUPPORTED;
    begin_walk(fresh, frame);
    rec_unwind_start(&state, frame);
    RFN_TRY(add_sure_stop(fresh, &state));
    while (!fresh->complete && fresh->n < WALK_FRAMES) {
        if (meets(walk, fresh, &at)) {
            sites->resumed++;
            return go_over(walk, fresh, at);
        }
        RFN_TRY(take_sure_step(fresh, &table->rules, &state));
    }
    note_needs(fresh, fresh->n, 0);
    fresh->by_rules = true;
    const struct walk former = *walk;
    *walk = *fresh;
    *fresh = former;
    return 0;
}

bool rec_sites_passes(struct rec_sites *sites, const void *frame, const void *other)
{
    const uintptr_t beyond = (uintptr_t)((const uintptr_t *)other + 2);
    struct rec_unwind_frame at;
    struct rec_unwind_step step = {.end = false};
    notice_unloading(sites);
    rec_unwind_start(&at, frame);
    for (int i = 0; i < REC_SITE_FRAMES && !step.end; i++) {
        struct rec_code code;
        if (at.registers[REC_CFI_RSP] >= beyond)
            return at.registers[REC_CFI_RSP] > beyond;
        if (rec_code_find(at.ip - 1, &code) < 0 ||
            rec_unwind_step(&at, code.eh_frame_hdr, &sites->table->rules, &step) < 0)
            return false;
    }
    return false;
}

#else

bool rec_sites_passes(struct rec_sites *sites, const void *frame, const void *other)
{
    (void)sites, (void)frame, (void)other;
    return false;
}

/* Without a cache nothing is noted down about steps. */
struct step {
    bool described; /* libunwind finds out */
};

static int prepare_step(struct walk *walk, unw_cursor_t *cursor, struct step *step)
{
    (void)cursor;
    step->described = true;
    doubt(walk);
    return 0;
}

static int conclude_step(struct walk *walk, const struct step *step, uintptr_t ip, uintptr_t cfa)
{
    (void)walk, (void)step, (void)ip, (void)cfa;
    return 0;
}

static int conclude_end(struct walk *walk, const struct step *step, uintptr_t ip, uintptr_t cfa)
{
    (void)step, (void)ip, (void)cfa;
    walk->complete = true;
    return 0;
}

/* Frame pointers lie anywhere in a frame; the caller's stack pointer is above all of it. */
static bool is_caller(uintptr_t ip, uintptr_t sp, const uintptr_t *frame)
{
    (void)ip;
    return sp > (uintptr_t)frame;
}

static int walk_by_rules(struct rec_sites *sites, const uintptr_t *frame)
{
    (void)sites, (void)frame;
    return RFN_E_UNSUPPORTED;
}

#endif

/* ---- walking: frames ---- */

static int take_step(struct walk *walk, unw_cursor_t *cursor)
{
    struct stop *stop = &walk->stops[walk->n - 1];
    struct step step = {0};
    unw_proc_info_t info;
    unw_word_t ip = 0, start = 0, cfa = 0;
    unw_get_reg(cursor, UNW_REG_SP, &start);
    RFN_TRY(prepare_step(walk, cursor, &step));
    /* Static programs are often linked without the table that cfi.c needs. */
    if (walk->functions && !stop->function && unw_get_proc_info(cursor, &info) == 0)
        stop->function = info.start_ip;
    int moved = unw_step(cursor);
    unw_get_reg(cursor, UNW_REG_IP, &ip);
    unw_get_reg(cursor, UNW_REG_SP, &cfa);
    if (moved <= 0 || ip == 0)
        return conclude_end(walk, &step, ip, cfa);
    RFN_TRY(conclude_step(walk, &step, ip, cfa));
    RFN_TRY(add_script_stops(walk, start, cfa));
    RFN_TRY(add_stop(walk, ip));
    walk->guessed = walk->guessed || !step.described;
    if (walk->guessed && !rec_code_is_return(&walk->stops[walk->n - 1].code, ip)) {
        walk->n--; /* no frame: the guess has gone astray */
        walk->complete = true;
    }
    return 0;
}

/* Steps out of the recorder. */
static int leave_recorder(unw_cursor_t *cursor, const uintptr_t *frame, uintptr_t *caller)
{
    for (unsigned i = 0; i < OWN_FRAMES; i++) {
        unw_word_t ip = 0, sp = 0;
        if (unw_step(cursor) <= 0)
            return RFN_E_NOTFOUND;
        unw_get_reg(cursor, UNW_REG_IP, &ip);
        unw_get_reg(cursor, UNW_REG_SP, &sp);
        *caller = ip;
        if (is_caller(ip, sp, frame))
            return 0;
    }
    return RFN_E_NOTFOUND;
}

static int walk_by_libunwind(struct walk *walk, unw_context_t *context, const uintptr_t *frame)
{
    unw_cursor_t cursor;
    uintptr_t caller = 0;
    begin_walk(walk, frame);
    int rc = unw_init_local(&cursor, context) == 0 ? leave_recorder(&cursor, frame, &caller)
                                                   : RFN_E_NOTFOUND;
    if (rc < 0) {
        doubt(walk);
#if REC_SITE_CACHED
        caller = frame[1];
#endif
        return add_stop(walk, caller);
    }
    RFN_TRY(add_stop(walk, caller));
    while (!walk->complete && walk->n < REC_SITE_FRAMES)
        RFN_TRY(take_step(walk, &cursor));
    return 0;
}

/* ---- the end of the path ---- */

/* How many frames belong to the path: of a static program those up to the outermost one of main, if
 * it is among them. */
static size_t kept_frames(const struct rec_sites_table *table)
{
    enum { ENTRY_BYTES = 64 }; /* _start is a few instructions long and calls once */
    const struct walk *walk = &table->walk;
    size_t n = walk->n, to_main = table->static_main ? n : 0;
    if (!walk->complete)
        return n < REC_SITE_FRAMES ? n : REC_SITE_FRAMES;
    while (to_main > 0 && walk->stops[to_main - 1].function != table->static_main)
        to_main--;
    if (to_main > 0)
        n = to_main;
    else if (n > 1 && walk->stops[n - 1].ip - table->program_entry < ENTRY_BYTES)
        n--;
    while (to_main == 0 && n > 1 && walk->stops[n - 1].code.runtime)
        n--;
    return n < REC_SITE_FRAMES ? n : REC_SITE_FRAMES;
}

/* The frames of the first n stops. With a script among them these are the frames of the program:
 * none of the interpreter, and of nothing that lies between the script and MPI. */
static size_t collect_frames(struct rec_sites_table *table, size_t n)
{
    const struct stop *stops = table->walk.stops;
    size_t kept = 0, script = 0;
    while (script < n && !stops[script].script)
        script++;
    /* The frame that runs the script stands before it. */
    const struct stop *interpreter = script < n ? &stops[script - 1] : NULL;
    for (size_t i = 0; i < n; i++) {
        const bool internal = stops[i].script ? stops[i].frozen
                                              : stops[i].code.glue ||
                                                    (interpreter && stops[i].code.module ==
                                                                        interpreter->code.module);
        if (!interpreter || !internal)
            table->frames[kept++] = (struct rec_frame){stops[i].code.module,
                                                       stops[i].ip - stops[i].code.bias};
    }
    return kept;
}

static void cut_more(struct rec_site_cut *cut)
{
    cut->frames = !cut->frames                      ? REC_SITE_CUT
                  : cut->frames > REC_SITE_CUT_MORE ? REC_SITE_CUT_MORE
                                                    : REC_SITE_CUT_MOST;
    cut->at += cut->at / 4 + 1;
}

/* The path of n stops, less the frames in the middle that do not count. When there are too many
 * sites, a path that is not known yet loses its outer frames. */
static int intern_walk(struct rec_sites *sites, uint32_t function, size_t n, uint32_t *site)
{
    struct rec_sites_table *table = sites->table;
    const size_t inner = sites->ends.inner, outer = sites->ends.outer;
    RFN_TRY(RFN_GROW(table->frames, table->frames_capacity, n));
    n = collect_frames(table, n);
    if (inner && n > inner + outer) {
        memmove(table->frames + inner, table->frames + n - outer, outer * sizeof *table->frames);
        n = inner + outer;
    }
    if (sites->cut.frames && n > sites->cut.frames &&
        !look_up(table, function, table->frames, n).found) {
        n = sites->cut.frames;
        sites->cut.walks++;
    }
    RFN_TRY(intern(table, function, table->frames, n, site));
    if (sites->cut.at && table->n >= sites->cut.at)
        cut_more(&sites->cut);
    return 0;
}

/* ---- the cache ---- */

#if REC_SITE_CACHED

static size_t set_of(const uintptr_t *frame)
{
    return rec_site_key(frame) % REC_SITE_SETS;
}

/* The way to be replaced next, its former contents kept among the set's other walks. When there is
 * no memory for these the contents are lost, which costs a walk. */
static struct rec_site_way *replace_way(struct rec_sites *sites, size_t set)
{
    struct rec_sites_table *table = sites->table;
    struct spill *spill = &table->spill[set];
    struct rec_site_way *way = &sites->sets[set][table->next[set]];
    table->next[set] = (uint8_t)((table->next[set] + 1) % REC_SITE_WAYS);
    if (!way->return_address)
        return way;
    if (table->spilled_facts + way->facts_capacity > SPILL_FACTS_MAX)
        return way;
    if (!spill->ways)
        spill->ways = calloc(SPILL_MAX, sizeof *spill->ways);
    if (!spill->ways)
        return way;
    struct rec_site_way *place = &spill->ways[spill->n < SPILL_MAX ? spill->n++ : spill->next];
    if (spill->n == SPILL_MAX)
        spill->next = (spill->next + 1) % SPILL_MAX;
    struct rec_site_way former = *way;
    table->spilled_facts += former.facts_capacity;
    table->spilled_facts -= place->facts_capacity;
    *way = *place; /* an old one, or zeros */
    *place = former;
    return way;
}

/* Looks among the set's other walks; what is found changes places with a way. */
static const struct rec_site_way *find_spilled(struct rec_sites *sites, uint32_t function,
                                               const uintptr_t *frame)
{
    size_t set = set_of(frame);
    struct spill *spill = &sites->table->spill[set];
    for (uint32_t i = 0; i < spill->n; i++) {
        if (!rec_site_holds(&spill->ways[i], function, frame))
            continue;
        uint8_t *next = &sites->table->next[set];
        struct rec_site_way *way = &sites->sets[set][*next], found = spill->ways[i];
        *next = (uint8_t)((*next + 1) % REC_SITE_WAYS);
        sites->table->spilled_facts += way->facts_capacity;
        sites->table->spilled_facts -= found.facts_capacity;
        spill->ways[i] = *way;
        *way = found;
        return way;
    }
    return NULL;
}

/* Facts up to the return address of the first frame that was cut off, or all of them. */
static void fill_way(struct rec_sites *sites, uint32_t function, const uintptr_t *frame,
                     size_t kept, uint32_t site)
{
    const struct walk *walk = &sites->table->walk;
    /* Frames that must be certain: those kept and the next one; if there is none, the end. */
    if (!walk->sound && (kept >= walk->n || kept >= walk->n_sound)) {
        sites->uncached++;
        return;
    }
    size_t n = kept < walk->n ? walk->stops[kept].n_facts : walk->n_facts;
    struct rec_site_way *way = replace_way(sites, set_of(frame));
    if (n + n % 2 > way->facts_capacity) {
        free(way->facts);
        *way = (struct rec_site_way){.facts = malloc((n + n % 2) * sizeof *way->facts)};
        if (!way->facts)
            return;
        way->facts_capacity = (uint32_t)(n + n % 2);
    }
    if (n)
        memcpy(way->facts, walk->facts, n * sizeof *way->facts);
    if (n % 2)
        way->facts[n] = way->facts[n - 1];
    way->return_address = frame[1];
    way->stack = (uintptr_t)frame;
    way->function = function;
    way->site = site;
    way->n_facts = (uint32_t)(n + n % 2);
}

#else

static const struct rec_site_way *find_spilled(struct rec_sites *sites, uint32_t function,
                                               const uintptr_t *frame)
{
    (void)sites, (void)function, (void)frame;
    return NULL;
}

static void fill_way(struct rec_sites *sites, uint32_t function, const uintptr_t *frame,
                     size_t kept, uint32_t site)
{
    (void)function, (void)frame, (void)kept, (void)site;
    sites->uncached++;
}

#endif

/* Where the innermost frame is the path, no frame further out is looked at: the path of a call
 * follows from its return address, and the way needs no facts. A script's line takes a walk. */
static bool is_innermost_enough(const struct rec_sites *sites)
{
    struct rec_python_stack python;
    return sites->ends.inner == 1 && !sites->ends.outer && !rec_python_begin(&python);
}

static int innermost_site(struct rec_sites *sites, uint32_t function, const uintptr_t *frame,
                          uint32_t *site)
{
    struct walk *walk = &sites->table->walk;
    begin_walk(walk, frame);
    RFN_TRY(add_stop(walk, frame[1]));
    const struct stop *stop = &walk->stops[0];
    const struct rec_frame innermost = {stop->code.module, stop->ip - stop->code.bias};
    return intern(sites->table, function, &innermost, 1, site);
}

/* Not inlined: the unwinding starts in this frame, which must be one of its own. */
__attribute__((noinline)) uint32_t rec_site_walk(struct rec_sites *sites, uint32_t function,
                                                 void *frame)
{
    const struct rec_site_way *spilled = find_spilled(sites, function, frame);
    if (spilled)
        return spilled->site;
    struct rec_sites_table *table = sites->table;
    uint32_t site = 0;
    sites->walks++;
    notice_unloading(sites);
    if (is_innermost_enough(sites)) {
        if (innermost_site(sites, function, frame, &site) < 0)
            return unknown_site(sites, function);
        fill_way(sites, function, frame, 1, site);
        return site;
    }
    int rc = walk_by_rules(sites, frame);
    if (rc == RFN_E_UNSUPPORTED) {
        unw_context_t context;
        sites->by_libunwind++;
        unw_getcontext(&context);
        rc = walk_by_libunwind(&table->walk, &context, frame);
    }
    if (rc < 0)
        return unknown_site(sites, function);
    size_t kept = kept_frames(table);
    if (intern_walk(sites, function, kept, &site) < 0)
        return unknown_site(sites, function);
    fill_way(sites, function, frame, kept, site);
    return site;
}

uint32_t rec_site_of_frames(struct rec_sites *sites, uint32_t function,
                            const struct rec_frame *frames, size_t n)
{
    uint32_t site = 0;
    return intern(sites->table, function, frames, n, &site) < 0 ? unknown_site(sites, function)
                                                                : site;
}

uint64_t rec_site_hash(const struct rec_sites *sites, uint32_t site, uint64_t hash,
                       const char *program)
{
    size_t n;
    const struct rec_frame *frames = rec_sites_frames(sites, site, &n);
    for (size_t i = 0; i < n; i++) {
        /* a build-id is the same wherever the file lies */
        const struct rec_module *module = rec_module(frames[i].module);
        const char *path = module->build_id_size ? "" : rec_module_path(module, program);
        const uint64_t id = module->build_id_size
                                ? rfn_hash_bytes(module->build_id, module->build_id_size)
                                : rfn_hash_bytes(path, strlen(path));
        const uint64_t words[] = {hash, id, frames[i].offset};
        hash = rfn_hash_bytes(words, sizeof words);
    }
    return hash;
}
