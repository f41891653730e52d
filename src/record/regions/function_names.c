#include "record/regions/function_names.h"

#include "base/grow.h"
#include "base/map.h"
#include "event/symbolize.h"
#include "record/callpath/modules.h"
#include "record/core/options.h"
#include "refrain/demangle.h"
#include "refrain/recording.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS_MIN = 1024 };

static struct rec_function_slot no_slots[1];
static const struct rec_function_table empty = {.slots = no_slots};
const struct rec_function_table *rec_function_table = &empty;

/* A name, and whether other files can see it: the one that they see is the one to be shown. */
struct name {
    const char *text;
    bool visible;
};

static struct {
    pthread_mutex_t lock;
    struct rfn_symbolizer *symbolizer;
    struct rfn_map *names; /* per module of rec_module: address -> number in `all` */
    bool *read;            /* per module, too */
    size_t names_capacity, read_capacity;
    struct name *all;
    size_t n_all, all_capacity;
    struct rec_function **functions;
    size_t n_functions, functions_capacity;
} process = {.lock = PTHREAD_MUTEX_INITIALIZER};

uint32_t rec_function_count(void)
{
    return (uint32_t)__atomic_load_n(&process.n_functions, __ATOMIC_ACQUIRE);
}

const struct rec_function *rec_function_numbered(uint32_t number)
{
    pthread_mutex_lock(&process.lock);
    const struct rec_function *function = process.functions[number];
    pthread_mutex_unlock(&process.lock);
    return function;
}

/* ---- symbols ---- */

static void add_name(void *context, uint64_t address, const char *text, bool visible)
{
    struct rfn_map *names = context;
    const uint64_t *known = rfn_map_get(names, address);
    if (known) {
        if (visible && !process.all[*known].visible)
            process.all[*known] = (struct name){text, visible};
    } else if (RFN_GROW(process.all, process.all_capacity, process.n_all + 1) == 0 &&
               rfn_map_put(names, address, process.n_all) == 0) {
        process.all[process.n_all++] = (struct name){text, visible};
    }
}

/* What the linker sees at an address of a module, or NULL. */
static const char *symbol_at(uint32_t number, uint64_t offset)
{
    if (RFN_GROW_ZEROED(process.names, process.names_capacity, (size_t)number + 1) < 0 ||
        RFN_GROW_ZEROED(process.read, process.read_capacity, (size_t)number + 1) < 0)
        return NULL;
    const struct rec_module *module = process.read[number] ? NULL : rec_module(number);
    process.read[number] = true;
    if (module && !process.symbolizer)
        process.symbolizer = rfn_symbolizer_new();
    if (module && process.symbolizer) {
        const int own = rfn_symbolizer_module(process.symbolizer,
                                              rec_module_path(module, rec_options.executable),
                                              module->build_id, module->build_id_size);
        if (own >= 0)
            rfn_symbolizer_functions(process.symbolizer, own, add_name, &process.names[number]);
    }
    const uint64_t *name = rfn_map_get(&process.names[number], offset);
    return name ? process.all[*name].text : NULL;
}

/* ---- names ---- */

/* The name to be freed, or NULL: not wanted. Without a symbol it is "libsolver.so+0x1f40". */
static char *wanted_name(const struct rec_code *code, uintptr_t address)
{
    const uint64_t offset = address - code->bias;
    const char *symbol = symbol_at(code->module, offset);
    char *name = symbol ? rfn_demangle(symbol, false) : NULL;
    if (!name && symbol) {
        name = strdup(symbol);
    } else if (!name) {
        const struct rec_module *module = rec_module(code->module);
        const char *path = module ? module->path : "", *slash = strrchr(path, '/');
        path = slash ? slash + 1 : path;
        if (asprintf(&name, "%s+0x%llx", path, (unsigned long long)offset) < 0)
            return NULL;
    }
    if (!name || rfn_function_wanted(rec_options.functions, name, symbol))
        return name;
    free(name);
    return NULL;
}

static const struct rec_function *make_function(const struct rec_code *code, uintptr_t address)
{
    char *name = wanted_name(code, address);
    struct rec_function *function = name ? calloc(1, sizeof *function) : NULL;
    if (!function ||
        RFN_GROW(process.functions, process.functions_capacity, process.n_functions + 1) < 0) {
        free(name);
        free(function);
        return NULL;
    }
    process.functions[process.n_functions] = function;
    *function = (struct rec_function){.number = (uint32_t)process.n_functions,
                                      .name = name,
                                      .frame = {code->module, address - code->bias + 1}};
    __atomic_store_n(&process.n_functions, process.n_functions + 1, __ATOMIC_RELEASE);
    return function;
}

/* ---- the table ---- */

static void put(const struct rec_function_table *table, uintptr_t address,
                const struct rec_function *function)
{
    size_t i = rec_function_hash(address);
    while (table->slots[i & table->mask].address)
        i++;
    struct rec_function_slot *slot = &table->slots[i & table->mask];
    slot->function = function;
    __atomic_store_n(&slot->address, address, __ATOMIC_RELEASE);
}

/* The table, with room for one more; the one before stays for those who read it. NULL: no memory.
 */
static struct rec_function_table *with_room(void)
{
    const struct rec_function_table *old = rec_function_table;
    if (old != &empty && old->n < old->mask / 2)
        return (struct rec_function_table *)old;
    const size_t size = old == &empty ? SLOTS_MIN : 2 * (old->mask + 1);
    struct rec_function_table *table = calloc(1, sizeof *table);
    struct rec_function_slot *slots = calloc(size, sizeof *slots);
    if (!table || !slots) {
        free(table);
        free(slots);
        return NULL;
    }
    *table = (struct rec_function_table){size - 1, old->n, slots};
    for (size_t i = 0; i <= old->mask; i++) {
        if (old->slots[i].address)
            put(table, old->slots[i].address, old->slots[i].function);
    }
    __atomic_store_n(&rec_function_table, table, __ATOMIC_RELEASE);
    return table;
}

const struct rec_function *rec_function_meet(uintptr_t address)
{
    /* Both may have to wait for the loader, whose locks a thread may hold that waits for ours. */
    struct rec_code code;
    free(rfn_demangle("_Z1fv", false));
    if (!address || rec_code_find(address, &code) < 0)
        return NULL;
    pthread_mutex_lock(&process.lock);
    const struct rec_function_slot *slot = rec_function_slot(address);
    const struct rec_function *function = slot->address ? slot->function : NULL;
    struct rec_function_table *table = slot->address ? NULL : with_room();
    if (table) { /* else another thread was faster, or there is no memory */
        function = make_function(&code, address);
        put(table, address, function);
        table->n++;
    }
    pthread_mutex_unlock(&process.lock);
    return function;
}
