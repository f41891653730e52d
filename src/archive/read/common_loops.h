/* common_loops.h - what structures of several shapes have in common: sites, symbols and loops
 * (refrain-archive(5), COMMON; pack_common.h writes it).
 *
 * Ranks of irregular programs are of many shapes, which make the same calls and execute the same
 * loops, numbered by each in its own way. COMMON has each once; in CLUSTERS the first group of a
 * shape refers to them. Its structure gets the numbers that STRUCTURE would have, in a time that
 * grows with them alone.
 */
#ifndef RFN_ARCHIVE_READ_COMMON_LOOPS_H
#define RFN_ARCHIVE_READ_COMMON_LOOPS_H

#include "archive/read/event_payloads.h"

struct rfn_common_symbol {
    uint32_t site, error, moved;
    uint32_t n_inputs;
    const uint64_t *inputs; /* as numbers of STRUCTURE */
    bool failed_poll;
};

struct rfn_common {
    struct rfn_arena arena;
    uint32_t n_sites, n_symbols, n_loops;
    uint32_t *functions, *paths; /* by site */
    struct rfn_common_symbol *symbols;
    struct rfn_node_list *loops;
};

/* Reads a payload, checked. Returns what is wrong, or NULL; to be released even so. */
const char *rfn_common_read(struct rfn_common *common, const struct rfn_dictionary *dictionary,
                            const struct rfn_payload *payload, bool exact);
void rfn_common_release(struct rfn_common *common);

/* Numbers that grow; `at` is to be freed. */
struct rfn_numbers {
    uint64_t *at;
    size_t n, capacity;
};

/* Takes a structure in the common form from the reader and appends its numbers, `most` at most.
 * Returns what is wrong, or NULL. */
const char *rfn_common_expand(const struct rfn_common *common, struct rfn_reader *reader,
                              size_t most, struct rfn_numbers *numbers);
/* Passes it over. */
void rfn_common_skip(struct rfn_reader *reader);

/* How many inputs of a symbol STRUCTURE has. */
uint32_t rfn_common_inputs(const struct rfn_function_info *function, uint32_t moved);

#endif
