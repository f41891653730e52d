/* event_payloads.h - the payloads that hold events: STRUCTURE, VALUES, RANK_PARAMS and TIMING, read
 * and checked.
 *
 * Readers return NULL or what is wrong in words (rfn_payload_fault makes an error of it), and leave
 * a struct that can be released. Columns are found, not decoded: of VALUES and TIMING a word per
 * column and the places of the lists' blocks are in memory, and nothing per event.
 */
#ifndef RFN_ARCHIVE_READ_EVENT_PAYLOADS_H
#define RFN_ARCHIVE_READ_EVENT_PAYLOADS_H

#include "archive/read/dictionary.h"
#include "archive/read/payload_reader.h"
#include "archive/read/value_lists.h"
#include "base/arena.h"
#include "reduce/clusters/rank_expression.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- sequences with a word per member, as runs (refrain-archive(5), Runs over ranks) ---- */

enum rfn_run_form { RFN_RUN_ABSOLUTE, RFN_RUN_RELATIVE, RFN_RUN_EXPRESSION, RFN_RUN_FORMS };

struct rfn_member_run {
    uint32_t at; /* first member */
    uint32_t form;
    int64_t value; /* of an expression its number */
};

struct rfn_member_table {
    size_t n; /* sequences */
    uint32_t n_members;
    size_t *first; /* n + 1: the runs of sequence i are first[i] to first[i + 1] - 1 */
    struct rfn_member_run *runs;
    size_t capacity;
    struct rfn_rank_expression *expressions;
    size_t n_expressions, expressions_capacity;
    struct rfn_arena formulas; /* their texts */
};

/* forms: how many of them there may be. */
const char *rfn_member_table_read(struct rfn_member_table *table, struct rfn_reader *reader,
                                  size_t n, uint32_t n_members, enum rfn_run_form forms);
void rfn_member_table_release(struct rfn_member_table *table);
/* The word of a member; reference is what relative runs count from. */
int64_t rfn_rank_param(const struct rfn_member_table *table, size_t sequence, uint32_t member,
                       int64_t reference);

/* ---- STRUCTURE ---- */

struct rfn_symbol_info {
    uint32_t site, function, path, error;
    bool failed_poll;
    uint32_t moved;     /* bit i: input i is in a column */
    const int64_t *in;  /* n_in words, datatypes and regions already as archive numbers; 0 where not
                           known here */
    size_t rank_params; /* number of its first sequence in RANK_PARAMS */
    size_t value;       /* number of its first column in VALUES */
    size_t timing;      /* number of its first column in TIMING, with times... */
    size_t timing_bare; /* ... and without */
};

struct rfn_node_list {
    const uint32_t *nodes;
    uint32_t n;
};

struct rfn_structure {
    struct rfn_arena arena;
    uint32_t n_sites, n_types, n_comms, n_symbols, n_loops;
    const uint32_t *site_functions, *site_paths; /* by site */
    const uint32_t *types;                       /* datatypes by local number */
    struct rfn_symbol_info *symbols;
    struct rfn_node_list *loops, top;
    uint64_t n_nodes;
    size_t n_rank_params; /* sequences in RANK_PARAMS of symbols; those of communicators follow */
    size_t n_values;      /* columns in VALUES, those of the loops first */
    size_t n_timing, n_timing_bare; /* columns in TIMING with and without times */
    size_t n_polls;                 /* symbols that are failed polls */
};

const char *rfn_structure_read(struct rfn_structure *structure,
                               const struct rfn_dictionary *dictionary,
                               const struct rfn_payload *payload, bool exact);
void rfn_structure_release(struct rfn_structure *structure);

/* A local datatype as archive number: false when there is no such number. Negative words stay. */
bool rfn_structure_type(const struct rfn_structure *structure, int64_t *word);

/* Whether an input's word is kept in RANK_PARAMS. */
bool rfn_symbol_in_rank_params(const struct rfn_symbol_info *symbol,
                               const struct rfn_function_info *function, unsigned input);

/* ---- VALUES ---- */

struct rfn_values {
    struct rfn_payload payload; /* owned; the columns lie in it */
    size_t *columns;            /* where each begins, and so where the one before it ends */
    size_t n_columns;
    struct rfn_value_lists lists;
};

/* Takes the payload over (also on failure). */
const char *rfn_values_read(struct rfn_values *values, const struct rfn_structure *structure,
                            struct rfn_payload *payload, bool exact);
void rfn_values_release(struct rfn_values *values);

/* ---- RANK_PARAMS ---- */

const char *rfn_rank_params_read(struct rfn_member_table *rank_params,
                                 const struct rfn_structure *structure,
                                 const struct rfn_dictionary *dictionary, uint32_t n_members,
                                 const struct rfn_payload *payload, bool exact);

/* ---- TIMING ---- */

/* Between two pairs, time is base_ns + (quanta - from) * slope / 2^shift, rounded. */
struct rfn_clock_segment {
    uint64_t from, base_ns, slope;
    unsigned shift;
    uint64_t half; /* of 2^shift; 0 for shift 0 */
};

/* Quanta to nanoseconds of CLOCK_MONOTONIC. (Also one host's nanoseconds to another's: see
 * host_clocks.h.) */
struct rfn_clock {
    struct rfn_clock_segment *segments;
    size_t n;
    uint64_t start;           /* quanta */
    uint64_t realtime_offset; /* CLOCK_REALTIME - CLOCK_MONOTONIC of the first pair */
    double resolution_ns;
    bool of_the_run; /* quanta are nanoseconds since the start of the run, aligned and corrected */
};

enum { RFN_TIMING_TIMES = 1, RFN_TIMING_VOLUME = 2, RFN_TIMING_STRETCHED = 4 }; /* its flags */
enum { RFN_CLOCK_OF_THE_RUN = 3 }; /* a kind of clock */

struct rfn_timing {
    struct rfn_payload payload; /* owned */
    bool times, volume;
    bool stretched;         /* of a PROFILE: segments last until the next one starts */
    struct rfn_clock clock; /* with times */
    uint64_t n_marks;
    size_t marks;    /* where they begin in the payload */
    size_t *columns; /* where each begins, and so where the one before it ends; with volume two */
    size_t n_times;  /* more per symbol follow, from this one on */
};

/* The line through two pairs of (quanta, ns); the quanta of the second are greater. */
struct rfn_clock_segment rfn_clock_segment_of(const uint64_t *pair, const uint64_t *next);

/* Reads flags and clock only; the flags say whether there is a clock. To be released even on
 * failure. */
const char *rfn_clock_read(struct rfn_clock *clock, uint64_t *flags,
                           struct rfn_payload_reader *scan);
void rfn_clock_release(struct rfn_clock *clock);

__extension__ typedef unsigned __int128 rfn_u128;

/* Nanoseconds from or to the segment's beginning. */
static inline uint64_t rfn_clock_scale(const struct rfn_clock_segment *in, uint64_t quanta)
{
    return (uint64_t)(((rfn_u128)quanta * in->slope + in->half) >> in->shift);
}

/* Where a clock was read last, kept by the caller, first all zeros. */
struct rfn_clock_place {
    struct rfn_clock_segment in;
    uint64_t length; /* of it in quanta, where times are not before its beginning; else 0 */
    size_t segment;
};

/* What rfn_clock_ns does when the time is not in the segment of the last one. */
uint64_t rfn_clock_move(const struct rfn_clock *clock, struct rfn_clock_place *place,
                        uint64_t quanta);

/* Monotonic and exact to a nanosecond. */
static inline uint64_t rfn_clock_ns(const struct rfn_clock *clock, struct rfn_clock_place *place,
                                    uint64_t quanta)
{
    uint64_t distance = quanta - place->in.from;
    if (__builtin_expect(distance >= place->length, 0))
        return rfn_clock_move(clock, place, quanta);
    return place->in.base_ns + rfn_clock_scale(&place->in, distance);
}

/* What TIMING and PROFILE have in common: begins to scan the payload, and reads clock, marks and
 * where the columns of the symbols are. Takes the payload over (also on failure). */
const char *rfn_timing_scan(struct rfn_timing *timing, const struct rfn_structure *structure,
                            struct rfn_payload *payload, struct rfn_payload_reader *scan);
/* A whole TIMING; the same. */
const char *rfn_timing_read(struct rfn_timing *timing, const struct rfn_structure *structure,
                            struct rfn_payload *payload, bool exact);
void rfn_timing_release(struct rfn_timing *timing);

#endif
