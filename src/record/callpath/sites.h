/* sites.h - where a call comes from: (function, call path) as a small number, found in a few
 * nanoseconds.
 *
 * Walking the stack costs microseconds. So a walk's result is cached under (function, return
 * address, stack pointer) together with the facts that made it: where every frame's return address
 * lies and what it was. The next call from the same place has the same path if all of these hold. A
 * frame whose address is computed from a register (alloca, variable-length arrays, realigned
 * stacks) is reached through that register's saved value, whose place is a fact, too. Facts are
 * checked innermost first: no address is read that the facts before it do not vouch for.
 *
 * A library that is unloaded while another one takes its place is noticed at the next full walk,
 * which empties the cache. One table per stream; only its thread uses it.
 */
#ifndef RFN_RECORD_CALLPATH_SITES_H
#define RFN_RECORD_CALLPATH_SITES_H

#include "refrain/error.h"
#include "refrain/recording.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A frame of a call path: a return address as an offset in a module (executable or library). Code
 * that lies in no module (made at run time) is offset 0 of a module without a path. In a script the
 * offset is the line, and each function is a module. */
struct rec_frame {
    uint32_t module; /* see rec_module */
    uint64_t
        offset; /* from the module's load bias: the ELF virtual address of the return address */
};

/* A loaded module, numbered per process in order of first sight, never forgotten (a library that
 * was unloaded keeps its number). */
struct rec_module {
    const char *path;
    const uint8_t *build_id; /* may be NULL */
    size_t build_id_size;
    const char *function; /* of a script: path is its file; NULL otherwise */
};

enum { REC_SITE_WAYS = 4, REC_SITE_SETS = 256 };

/* Longer call paths keep this many of their innermost frames. */
enum { REC_SITE_FRAMES = 1024 };

/* When a thread has very many sites, paths that are new from then on keep so many: each site takes
 * memory, and so do the symbols of its calls. With a quarter more sites they keep fewer. */
enum { REC_SITE_CUT = 8, REC_SITE_CUT_MORE = 3, REC_SITE_CUT_MOST = 1 };

/* The cache knows the frames of x86-64 only; elsewhere every call is a full walk. */
#ifndef REC_SITE_CACHED
#ifdef __x86_64__
#define REC_SITE_CACHED 1
#else
#define REC_SITE_CACHED 0
#endif
#endif

struct rec_site_fact {
    const uintptr_t *where;
    uintptr_t what;
};

enum { REC_CACHE_LINE = 64 };

struct rec_site_way {
    _Alignas(REC_CACHE_LINE) uintptr_t return_address, stack;
    uint32_t function, site;
    uint32_t n_facts, facts_capacity; /* n_facts is even; the last one may stand twice */
    struct rec_site_fact *facts;      /* owned */
};

/* The first cache line in memory that has one to spare; NULL stays NULL. */
static inline void *rec_align(void *memory)
{
    return (void *)(((uintptr_t)memory + REC_CACHE_LINE - 1) / REC_CACHE_LINE * REC_CACHE_LINE);
}

struct rec_sites {
    struct rec_site_way (*sets)[REC_SITE_WAYS]; /* REC_SITE_SETS of them, in memory */
    void *memory;
    struct rec_sites_table *table; /* all sites, see sites.c */
    uint64_t walks;                /* where no way fitted */
    uint64_t resumed;              /* of these, those that went over into the one before */
    uint64_t by_libunwind;         /* of these, those that unwind.h could not make */
    uint64_t uncached;             /* of these, those whose path the cache cannot hold */
    bool only_libunwind;           /* tests set this */
    struct rfn_path_ends ends;     /* the frames that make a path; set before the first call */
    struct rec_site_cut {
        uint32_t at;          /* with so many sites paths are cut (further); 0: never */
        uint32_t frames;      /* innermost frames that new paths keep; 0: all, so far */
        uint64_t walks;       /* that were cut */
    } cut;                    /* `at` is set before the first call */
    uint32_t site_of_unknown; /* for all calls once memory is short; UINT32_MAX until then */
};

int rec_sites_init(struct rec_sites *sites);
void rec_sites_release(struct rec_sites *sites);

/* What rec_site does when no way fits: looks among the walks that had to leave their set, else
 * walks in full with libunwind, interns the path and fills a way. Never fails: a path that cannot
 * be walked is the return address alone; when memory is short the site is site_of_unknown, with the
 * function and return address of the first call that met this. */
uint32_t rec_site_walk(struct rec_sites *sites, uint32_t function, void *frame);

/* Whether the stack, walked outwards from a wrapper's frame by rules that leave no doubt, passes
 * the place of another wrapper's frame, further out on the same stack, and that is none of its
 * frames.
 */
bool rec_sites_passes(struct rec_sites *sites, const void *frame, const void *other);

/* The site of a path of these frames. Without memory as above. */
uint32_t rec_site_of_frames(struct rec_sites *sites, uint32_t function,
                            const struct rec_frame *frames, size_t n);

#if REC_SITE_CACHED

/* Calls of equal return address and stack pointer share a set. */
static inline uintptr_t rec_site_key(const uintptr_t *frame)
{
    return frame[1] ^ (frame[1] >> 8) ^ ((uintptr_t)frame >> 4);
}

/* Whether a way is the call's path: all facts hold. */
static inline bool rec_site_holds(const struct rec_site_way *way, uint32_t function,
                                  const uintptr_t *frame)
{
    if (way->return_address != frame[1] || way->stack != (uintptr_t)frame ||
        way->function != function)
        return false;
    const struct rec_site_fact *fact = way->facts, *end = fact + way->n_facts;
    for (; fact < end; fact += 2) { /* an even number of them */
        if (*fact[0].where != fact[0].what || *fact[1].where != fact[1].what)
            return false;
    }
    return true;
}

#endif

/* The site of a call whose wrapper's frame pointer is `frame`: frame[0] is the caller's frame
 * pointer, frame[1] the return address, frame + 2 the stack pointer after return. UINT32_MAX: it
 * takes a walk. */
static inline uint32_t rec_site_cached(const struct rec_sites *sites, uint32_t function,
                                       const void *frame)
{
#if REC_SITE_CACHED
    const struct rec_site_way *ways = sites->sets[rec_site_key(frame) % REC_SITE_SETS];
    for (unsigned w = 0; w < REC_SITE_WAYS; w++) {
        if (rec_site_holds(&ways[w], function, frame))
            return ways[w].site;
    }
#else
    (void)sites, (void)function, (void)frame;
#endif
    return UINT32_MAX;
}

static inline uint32_t rec_site(struct rec_sites *sites, uint32_t function, void *frame)
{
    const uint32_t site = rec_site_cached(sites, function, frame);
    return site != UINT32_MAX ? site : rec_site_walk(sites, function, frame);
}

/* All sites of a stream, 0 to rec_sites_count - 1, in order of first use. Frames innermost first:
 * frame 0 is the return address of the MPI call, the last one lies in main (or in the thread's
 * start function); what is outside of main is cut off. Borrowed until release. */
uint32_t rec_sites_count(const struct rec_sites *sites);
uint32_t rec_sites_function(const struct rec_sites *sites, uint32_t site);
const struct rec_frame *rec_sites_frames(const struct rec_sites *sites, uint32_t site, size_t *n);

/* Continues a hash by the frames of a site; the same on all ranks. program: see below. */
uint64_t rec_site_hash(const struct rec_sites *sites, uint32_t site, uint64_t hash,
                       const char *program);

/* Modules of the process. Borrowed for ever. NULL when number is too large. */
const struct rec_module *rec_module(uint32_t number);
/* Where the module's file is. SMPI loads a copy of the program per rank and removes it at once; the
 * program itself (may be NULL), which has the same build-id, stands for them. */
const char *rec_module_path(const struct rec_module *module, const char *program);

#endif
