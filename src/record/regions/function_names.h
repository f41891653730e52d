/* function_names.h - the program's instrumented functions, by address: whether their calls are
 * wanted, and by what name.
 *
 * Hooks (function_calls.h) ask at every call, with the address where the function begins. What was
 * found out is kept in a hash table of the process that is read without a lock: a slot's address is
 * set last, a table that has become too small is replaced and stays where it is. The first call of
 * a function reads the symbol table of its module, as a whole; that is slow, and happens once per
 * module. A function without a symbol is named by its place, "libsolver.so+0x1f40".
 */
#ifndef RFN_RECORD_REGIONS_FUNCTION_NAMES_H
#define RFN_RECORD_REGIONS_FUNCTION_NAMES_H

#include "record/callpath/sites.h"

#include <stddef.h>
#include <stdint.h>

/* A function that is wanted. Never freed. */
struct rec_function {
    uint32_t number; /* among those that are wanted, from 0 */
    char *name;      /* as the programmer wrote it, without arguments, as far as that is known */
    struct rec_frame frame; /* its first instruction, as a return address */
};

struct rec_function_slot {
    uintptr_t address; /* 0: free */
    const struct rec_function *function;
};

struct rec_function_table {
    size_t mask, n; /* mask + 1 slots, n of them in use */
    struct rec_function_slot *slots;
};

extern const struct rec_function_table *rec_function_table;

/* How many functions are wanted of those that were met; the one of a number below that. */
uint32_t rec_function_count(void);
const struct rec_function *rec_function_numbered(uint32_t number);

/* The function at an address that the table does not have; NULL: not wanted, or out of memory. Must
 * not be called from within itself. */
const struct rec_function *rec_function_meet(uintptr_t address) __attribute__((cold));

static inline size_t rec_function_hash(uintptr_t address)
{
    return (size_t)(address * UINT64_C(0x9e3779b97f4a7c15) >> 32);
}

/* The slot that has the address, or the free one where the search for it ends. */
static inline const struct rec_function_slot *rec_function_slot(uintptr_t address)
{
    const struct rec_function_table *table = __atomic_load_n(&rec_function_table, __ATOMIC_ACQUIRE);
    for (size_t i = rec_function_hash(address);; i++) {
        const struct rec_function_slot *slot = &table->slots[i & table->mask];
        const uintptr_t found = __atomic_load_n(&slot->address, __ATOMIC_ACQUIRE);
        if (found == address || !found)
            return slot;
    }
}

#endif
