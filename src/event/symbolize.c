/* symbolize.c - see symbolize.h.
 *
 * A module's file is opened when its first address is asked for. Each module has a Dwfl of its own
 * in which it lies at address 0, so that addresses are the file's virtual addresses and modules
 * cannot overlap. Separate debug information is looked for by build-id in /usr/lib/debug/.build-id,
 * then, where the module names a file (.gnu_debuglink), beside the module, in .debug there, and in
 * the module's folder below /usr/lib/debug. It has to have the module's build-id or, of modules
 * without one, the checksum that the link tells.
 *
 * The unit of compilation of an address comes from .debug_aranges; compilers that write none
 * (clang) need a search through all units, whose ranges are collected once per module and sorted.
 * So are the ranges of a unit's functions, when the first address in it is looked up.
 * The innermost function or inlined copy of one around the address gives the name, the line table
 * the line; of the functions that it was inlined into each tells where the call stood. Without
 * debug information the ELF symbol around the address gives the name.
 *
 * A function without a symbol gets the name of the exported one before it (rfn_symbolizer_nearby).
 * Where it begins tells .eh_frame_hdr: version 1; how three values are coded; the address of
 * .eh_frame; the number of entries; and for each function, sorted, its begin and that of its unwind
 * information, both relative to the table.
 */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include "event/symbolize.h"

#include "base/grow.h"
#include "base/large_stack.h"
#include "base/map.h"
#include "event/symbolize_internal.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEBUG_FOLDER "/usr/lib/debug"
/* Build-ids are 20 bytes, or 16, seldom more. */
enum { BUILD_ID_MAX = 64 };

/* The code of one unit of compilation or one function, or a part of it. */
struct range {
    Dwarf_Addr start, end;
    Dwarf_Die die;
};

/* Sorted by start. */
struct ranges {
    struct range *ranges;
    size_t n, capacity;
};

/* A function that other files can see. */
struct symbol {
    uint64_t address;
    const char *name;
};

struct module {
    char *path;
    uint8_t build_id[BUILD_ID_MAX];
    size_t build_id_size;
    bool tried; /* to open it */
    Dwfl *dwfl; /* NULL: its addresses resolve to nothing */
    Dwfl_Module *elf;
    struct ranges units; /* collected when first needed */
    bool units_known;
    struct rfn_map functions; /* address of a unit's entry -> struct ranges of its functions */
    struct symbol *exported;  /* sorted by address, collected when first needed */
    size_t n_exported, exported_capacity;
    bool exported_known;
    struct rfn_map nearby; /* begin of a function -> its name by another one */
};

struct rfn_symbolizer {
    struct module *modules;
    size_t n, capacity;
};

struct rfn_symbolizer *rfn_symbolizer_new(void)
{
    elf_version(EV_CURRENT);
    return calloc(1, sizeof(struct rfn_symbolizer));
}

static void free_ranges(void *ranges)
{
    free(((struct ranges *)ranges)->ranges);
    free(ranges);
}

void rfn_symbolizer_free(struct rfn_symbolizer *symbolizer)
{
    if (!symbolizer)
        return;
    for (size_t i = 0; i < symbolizer->n; i++) {
        if (symbolizer->modules[i].dwfl)
            dwfl_end(symbolizer->modules[i].dwfl);
        free(symbolizer->modules[i].units.ranges);
        rfn_map_release_objects(&symbolizer->modules[i].functions, free_ranges);
        rfn_map_release_objects(&symbolizer->modules[i].nearby, free);
        free(symbolizer->modules[i].exported);
        free(symbolizer->modules[i].path);
    }
    free(symbolizer->modules);
    free(symbolizer);
}

int rfn_symbolizer_module(struct rfn_symbolizer *symbolizer, const char *path,
                          const uint8_t *build_id, size_t build_id_size)
{
    const size_t id_size = build_id ? build_id_size : 0;
    for (size_t i = 0; i < symbolizer->n; i++) {
        const struct module *known = &symbolizer->modules[i];
        if (strcmp(known->path, path) == 0 && known->build_id_size == id_size &&
            (!id_size || memcmp(known->build_id, build_id, id_size) == 0))
            return (int)i;
    }
    RFN_TRY(RFN_GROW(symbolizer->modules, symbolizer->capacity, symbolizer->n + 1));
    struct module *module = &symbolizer->modules[symbolizer->n];
    *module = (struct module){.path = strdup(path)};
    if (!module->path)
        return RFN_E_NOMEM;
    module->tried = id_size > sizeof module->build_id; /* no file has that */
    if (id_size && !module->tried) {
        memcpy(module->build_id, build_id, id_size);
        module->build_id_size = id_size;
    }
    return (int)symbolizer->n++;
}

/* ---- opening ---- */

/* Only regular files: opening a pipe would wait for a writer. */
static int open_file(const char *path)
{
    struct stat status;
    if (stat(path, &status) < 0 || !S_ISREG(status.st_mode))
        return -1;
    return open(path, O_RDONLY | O_CLOEXEC);
}

static bool file_has_build_id(int fd, const uint8_t *expected, size_t expected_size)
{
    Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
    const void *id = NULL;
    ssize_t size = elf ? dwelf_elf_gnu_build_id(elf, &id) : -1;
    bool same = size > 0 ? (size_t)size == expected_size && memcmp(id, expected, expected_size) == 0
                         : expected_size == 0;
    elf_end(elf);
    return same;
}

/* The checksum of .gnu_debuglink: CRC-32 as in Ethernet and zlib. */
static bool file_has_crc(int fd, uint32_t expected)
{
    uint32_t table[256], crc = UINT32_MAX;
    uint8_t bytes[1 << 14];
    for (uint32_t i = 0; i < 256; i++) {
        table[i] = i;
        for (int bit = 0; bit < 8; bit++)
            table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0xedb88320 : 0);
    }
    off_t at = 0;
    ssize_t n;
    while ((n = pread(fd, bytes, sizeof bytes, at)) > 0) {
        for (ssize_t i = 0; i < n; i++)
            crc = crc >> 8 ^ table[(crc ^ bytes[i]) & 0xff];
        at += n;
    }
    return n == 0 && ~crc == expected;
}

/* What a file with a module's debug information has to be. */
struct wanted {
    const uint8_t *id;
    size_t id_size; /* 0: the module has none */
    uint32_t crc;
};

/* Opens the file if it is the wanted one; else -1. The path becomes *found, for the caller. */
static int open_debug_file(const char *path, const struct wanted *wanted, char **found)
{
    int fd = open_file(path);
    if (fd < 0)
        return -1;
    if (wanted->id_size ? file_has_build_id(fd, wanted->id, wanted->id_size)
                        : file_has_crc(fd, wanted->crc))
        *found = strdup(path);
    if (*found)
        return fd;
    close(fd);
    return -1;
}

/* DEBUG_FOLDER/.build-id/ab/cdef....debug for the build-id abcdef... */
static int open_by_build_id(const struct wanted *wanted, char **found)
{
    char path[sizeof DEBUG_FOLDER "/.build-id//.debug" + 2 * BUILD_ID_MAX];
    int used = snprintf(path, sizeof path, DEBUG_FOLDER "/.build-id/%02x/", wanted->id[0]);
    for (size_t i = 1; i < wanted->id_size; i++)
        used += snprintf(path + used, sizeof path - (size_t)used, "%02x", wanted->id[i]);
    snprintf(path + used, sizeof path - (size_t)used, ".debug");
    return open_debug_file(path, wanted, found);
}

/* file: the module's path. A link is the name of a file, without folders. */
static int open_by_link(const char *file, const char *link, const struct wanted *wanted,
                        char **found)
{
    static const char *const places[][2] = {{"", ""}, {"", ".debug/"}, {DEBUG_FOLDER, ""}};
    const char *slash = strrchr(file, '/');
    const int folder = slash ? (int)(slash + 1 - file) : 0;
    int fd = -1;
    if (strchr(link, '/'))
        return -1;
    for (size_t i = 0; i < sizeof places / sizeof *places && fd < 0; i++) {
        char path[PATH_MAX];
        const int n = snprintf(path, sizeof path, "%s%.*s%s%s", places[i][0], folder, file,
                               places[i][1], link);
        if (n > 0 && (size_t)n < sizeof path && strcmp(path, file) != 0)
            fd = open_debug_file(path, wanted, found);
    }
    return fd;
}

/* libdwfl's callback; unlike its own it never asks a server. A link without a checksum is one to a
 * file of common parts, which is found by libdw. */
static int find_debug_file(Dwfl_Module *elf, void **userdata, const char *name, Dwarf_Addr base,
                           const char *file, const char *link, GElf_Word link_crc,
                           char **debug_file)
{
    (void)userdata, (void)base;
    const unsigned char *id = NULL;
    GElf_Addr where;
    const int size = dwfl_module_build_id(elf, &id, &where);
    const struct wanted wanted = {id, size > 0 ? (size_t)size : 0, link_crc};
    if (size > BUILD_ID_MAX || (link && link_crc == 0))
        return -1;
    int fd = wanted.id_size ? open_by_build_id(&wanted, debug_file) : -1;
    return fd >= 0 || !link ? fd : open_by_link(file ? file : name, link, &wanted, debug_file);
}

/* The file is given when the module is reported; there is no other to look for. */
static int find_no_elf(Dwfl_Module *elf, void **userdata, const char *name, Dwarf_Addr base,
                       char **file, Elf **result)
{
    (void)elf, (void)userdata, (void)name, (void)base, (void)file, (void)result;
    return -1;
}

static const Dwfl_Callbacks callbacks = {
    .find_elf = find_no_elf,
    .find_debuginfo = find_debug_file,
    .section_address = dwfl_offline_section_address,
};

static void open_module(struct module *module)
{
    module->tried = true;
    int fd = open_file(module->path);
    if (fd < 0)
        return;
    module->dwfl = dwfl_begin(&callbacks);
    if (module->dwfl && file_has_build_id(fd, module->build_id, module->build_id_size)) {
        dwfl_report_begin(module->dwfl);
        module->elf = dwfl_report_elf(module->dwfl, module->path, module->path, fd, 0, true);
        dwfl_report_end(module->dwfl, NULL, NULL);
    }
    if (module->elf) /* which has taken fd */
        return;
    close(fd);
    if (module->dwfl)
        dwfl_end(module->dwfl);
    module->dwfl = NULL;
}

/* ---- ranges of code ---- */

static int add_ranges(struct ranges *ranges, Dwarf_Die *die)
{
    Dwarf_Addr base, start, end;
    ptrdiff_t next = 0;
    while ((next = dwarf_ranges(die, next, &base, &start, &end)) > 0) {
        RFN_TRY(RFN_GROW(ranges->ranges, ranges->capacity, ranges->n + 1));
        ranges->ranges[ranges->n++] = (struct range){start, end, *die};
    }
    return 0;
}

static int compare_ranges(const void *left, const void *right)
{
    const struct range *a = left, *b = right;
    return a->start < b->start ? -1 : a->start > b->start;
}

static void sort_ranges(struct ranges *ranges)
{
    if (ranges->n)
        qsort(ranges->ranges, ranges->n, sizeof *ranges->ranges, compare_ranges);
}

/* The entry whose code holds the address. */
static bool find_range(const struct ranges *ranges, Dwarf_Addr address, Dwarf_Die *die)
{
    size_t low = 0, high = ranges->n;
    while (low < high) { /* ranges before low start at or before address */
        size_t middle = (low + high) / 2;
        if (ranges->ranges[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0 || address >= ranges->ranges[low - 1].end)
        return false;
    *die = ranges->ranges[low - 1].die;
    return true;
}

/* ---- units of compilation ---- */

static void collect_units(struct module *module, Dwarf *dwarf)
{
    module->units_known = true;
    Dwarf_CU *cu = NULL;
    Dwarf_Die unit, split;
    uint8_t type;
    while (dwarf_get_units(dwarf, cu, &cu, NULL, &type, &unit, &split) == 0) {
        if (dwarf_tag(&unit) != DW_TAG_partial_unit && add_ranges(&module->units, &unit) < 0)
            break;
    }
    sort_ranges(&module->units);
}

/* Debug information in a file of its own may have been shifted against the module: bias is to be
 * subtracted from addresses. */
static bool find_unit(struct module *module, Dwarf_Addr address, Dwarf_Die *unit, Dwarf_Addr *bias)
{
    Dwarf *dwarf = dwfl_module_getdwarf(module->elf, bias);
    if (!dwarf)
        return false;
    address -= *bias;
    if (dwarf_addrdie(dwarf, address, unit))
        return true;
    if (!module->units_known)
        collect_units(module, dwarf);
    return find_range(&module->units, address, unit);
}

/* ---- names and lines ---- */

static bool is_function(Dwarf_Die *die)
{
    int tag = dwarf_tag(die);
    return tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine ||
           tag == DW_TAG_entry_point;
}

/* Viewers know how to demangle the name that the linker sees. */
const char *rfn_die_name(Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    const char *name = NULL;
    if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute) ||
        dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attribute))
        name = dwarf_formstring(&attribute);
    return name ? name : dwarf_diename(die);
}

/* Entries of other kinds hold no code, or none that a return address could lie in. */
static bool may_hold_code(Dwarf_Die *die)
{
    int tag = dwarf_tag(die);
    return is_function(die) || tag == DW_TAG_lexical_block || tag == DW_TAG_try_block ||
           tag == DW_TAG_catch_block || tag == DW_TAG_with_stmt;
}

static void collect_functions(struct ranges *functions, Dwarf_Die *scope, unsigned depth,
                              unsigned *budget)
{
    Dwarf_Die child;
    if (depth == 0 || dwarf_child(scope, &child) != 0)
        return;
    do {
        const int tag = dwarf_tag(&child);
        if (tag == DW_TAG_module || tag == DW_TAG_namespace)
            collect_functions(functions, &child, depth - 1, budget);
        else if (is_function(&child) && add_ranges(functions, &child) < 0)
            return;
    } while (*budget > 0 && --*budget > 0 && dwarf_siblingof(&child, &child) == 0);
}

static void add_scope(struct rfn_scopes *scopes, Dwarf_Die *function)
{
    if (!rfn_die_name(function))
        return;
    if (dwarf_tag(function) != DW_TAG_inlined_subroutine)
        scopes->n = 0; /* a function within another one has its own frame */
    if (scopes->n == RFN_SOURCES_MAX)
        memmove(scopes->functions, scopes->functions + 1, --scopes->n * sizeof *function);
    scopes->functions[scopes->n++] = *function;
}

/* Goes down from scope to the innermost one around the address. Libdw's dwarf_getscopes does too,
 * but then also finds the scopes around the definition of an inlined function, for which it reads
 * the unit again, and it loses memory when the data are damaged. Budget bounds the entries looked
 * at: damaged data may go round in circles. */
static void find_innermost(Dwarf_Die *scope, Dwarf_Addr address, unsigned depth, unsigned *budget,
                           struct rfn_scopes *scopes)
{
    Dwarf_Die child;
    if (depth == 0 || dwarf_child(scope, &child) != 0)
        return;
    do {
        if (may_hold_code(&child) && dwarf_haspc(&child, address) > 0) {
            if (is_function(&child))
                add_scope(scopes, &child);
            find_innermost(&child, address, depth - 1, budget, scopes);
            return;
        }
    } while (*budget > 0 && --*budget > 0 && dwarf_siblingof(&child, &child) == 0);
}

enum { DEPTH_MAX = 100, ENTRIES_MAX = 1 << 20 };

static void read_lines(void *unit)
{
    Dwarf_Lines *lines;
    size_t n;
    dwarf_getsrclines(unit, &lines, &n);
}

/* The ranges of a unit's functions; NULL: out of memory. From then on libdw has the unit's lines,
 * and needs no more stack for them than others do. */
static const struct ranges *functions_of(struct module *module, Dwarf_Die *unit)
{
    const uint64_t key = (uint64_t)(uintptr_t)unit->addr;
    struct ranges *functions = rfn_map_object(&module->functions, key);
    unsigned budget = ENTRIES_MAX;
    if (functions)
        return functions;
    if (!rfn_on_large_stack(read_lines, unit))
        return NULL;
    functions = rfn_map_make_object(&module->functions, key, sizeof *functions);
    if (!functions)
        return NULL;
    collect_functions(functions, unit, DEPTH_MAX, &budget);
    sort_ranges(functions);
    return functions;
}

const char *rfn_source_file(const char *path)
{
    const char *end = path + strlen(path);
    int slashes = 0;
    for (const char *at = end; at > path; at--) {
        if (at[-1] == '/' && ++slashes == 2)
            return at;
    }
    return path;
}

void rfn_die_line(Dwarf_Die *unit, Dwarf_Addr address, struct rfn_source *source)
{
    Dwarf_Line *line = dwarf_getsrc_die(unit, address);
    int number = 0;
    if (!line || dwarf_lineno(line, &number) != 0 || number <= 0)
        return;
    const char *file = dwarf_linesrc(line, NULL, NULL);
    if (!file)
        return;
    source->file = rfn_source_file(file);
    source->line = (uint32_t)number;
}

static bool number_of(Dwarf_Die *die, unsigned name, Dwarf_Word *number)
{
    Dwarf_Attribute attribute;
    return dwarf_attr(die, name, &attribute) && dwarf_formudata(&attribute, number) == 0;
}

void rfn_die_call(Dwarf_Die *unit, Dwarf_Die *inlined, struct rfn_source *source)
{
    Dwarf_Word file, line;
    Dwarf_Files *files;
    size_t n;
    if (!number_of(inlined, DW_AT_call_file, &file) ||
        !number_of(inlined, DW_AT_call_line, &line) || line == 0 || line > INT32_MAX ||
        dwarf_getsrcfiles(unit, &files, &n) != 0 || file >= n)
        return;
    const char *path = dwarf_filesrc(files, file, NULL, NULL);
    if (!path)
        return;
    source->file = rfn_source_file(path);
    source->line = (uint32_t)line;
}

/* Libdw ends the process where it gets no memory. So it is not asked where there may be too little:
 * call paths then have no lines. */
static bool has_room(void)
{
    enum { ROOM = 64 << 20 }; /* never touched; sanitizers would fill what malloc() gives */
    void *room = mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return room != MAP_FAILED && munmap(room, ROOM) == 0;
}

static struct module *opened(struct rfn_symbolizer *symbolizer, int module)
{
    if (module < 0 || (size_t)module >= symbolizer->n || !has_room())
        return NULL;
    struct module *m = &symbolizer->modules[module];
    if (!m->tried)
        open_module(m);
    return m->dwfl ? m : NULL;
}

bool rfn_symbolizer_scopes(struct rfn_symbolizer *symbolizer, int module, uint64_t address,
                           struct rfn_scopes *scopes)
{
    unsigned budget = ENTRIES_MAX;
    struct module *m = opened(symbolizer, module);
    Dwarf_Die function;
    scopes->n = 0;
    scopes->bias = 0;
    if (!m || !find_unit(m, address, &scopes->unit, &scopes->bias))
        return false;
    address -= scopes->bias;
    const struct ranges *functions = functions_of(m, &scopes->unit);
    if (!functions)
        return false;
    if (!find_range(functions, address, &function))
        return true;
    add_scope(scopes, &function);
    find_innermost(&function, address, DEPTH_MAX, &budget, scopes);
    return true;
}

static size_t find_sources(struct rfn_scopes *scopes, uint64_t address, struct rfn_source *sources)
{
    rfn_die_line(&scopes->unit, address - scopes->bias, &sources[0]);
    for (size_t i = 0; i < scopes->n; i++) {
        Dwarf_Die *function = &scopes->functions[scopes->n - 1 - i];
        sources[i].function = rfn_die_name(function);
        if (i + 1 < scopes->n)
            rfn_die_call(&scopes->unit, function, &sources[i + 1]);
    }
    return scopes->n ? scopes->n : 1;
}

size_t rfn_symbolizer_find(struct rfn_symbolizer *symbolizer, int module, uint64_t address,
                           struct rfn_source sources[RFN_SOURCES_MAX])
{
    struct rfn_scopes scopes;
    size_t n = 1;
    memset(sources, 0, RFN_SOURCES_MAX * sizeof *sources);
    if (rfn_symbolizer_scopes(symbolizer, module, address, &scopes))
        n = find_sources(&scopes, address, sources);
    struct module *m = opened(symbolizer, module);
    const char **outer = &sources[n - 1].function;
    if (!m || (*outer && strcmp(*outer, "operator()") != 0))
        return n;
    /* The symbol whose code holds the address; one without a size holds what follows it. Compilers
     * tell of a lambda only there in which function it is. */
    GElf_Off offset = 0;
    GElf_Sym symbol;
    const char *name = dwfl_module_addrinfo(m->elf, address, &offset, &symbol, NULL, NULL, NULL);
    if (name && name[0] && (symbol.st_size == 0 || offset < symbol.st_size))
        *outer = name;
    return n;
}

void rfn_symbolizer_functions(struct rfn_symbolizer *symbolizer, int module,
                              void (*tell)(void *context, uint64_t address, const char *name,
                                           bool visible),
                              void *context)
{
    struct module *m = opened(symbolizer, module);
    const int n = m ? dwfl_module_getsymtab(m->elf) : 0;
    for (int i = 0; i < n; i++) {
        GElf_Sym symbol;
        GElf_Addr address = 0;
        const char *name = dwfl_module_getsym_info(m->elf, i, &symbol, &address, NULL, NULL, NULL);
        if (name && name[0] && address && GELF_ST_TYPE(symbol.st_info) == STT_FUNC)
            tell(context, address, name, GELF_ST_BIND(symbol.st_info) != STB_LOCAL);
    }
}

/* ---- functions without a symbol ---- */

static void add_exported(void *context, uint64_t address, const char *name, bool visible)
{
    struct module *m = context;
    if (visible && RFN_GROW(m->exported, m->exported_capacity, m->n_exported + 1) == 0)
        m->exported[m->n_exported++] = (struct symbol){address, name};
}

/* Of several names of one function always the same comes first. */
static int compare_symbols(const void *left, const void *right)
{
    const struct symbol *a = left, *b = right;
    if (a->address != b->address)
        return a->address < b->address ? -1 : 1;
    return strcmp(a->name, b->name);
}

/* The last exported function that begins at or before an address. */
static const struct symbol *exported_before(const struct module *m, uint64_t address)
{
    const struct symbol *found = NULL;
    for (size_t low = 0, high = m->n_exported; low < high;) {
        const size_t middle = (low + high) / 2;
        if (m->exported[middle].address > address) {
            high = middle;
            continue;
        }
        found = &m->exported[middle];
        low = middle + 1;
    }
    while (found && found > m->exported && found[-1].address == found->address)
        found--;
    return found;
}

/* The bytes of .eh_frame_hdr, and where they lie in memory. */
static const Elf_Data *find_unwind_table(struct module *m, uint64_t *address)
{
    GElf_Addr bias;
    Elf *elf = dwfl_module_getelf(m->elf, &bias);
    size_t n = 0;
    if (!elf || elf_getphdrnum(elf, &n) != 0)
        return NULL;
    for (size_t i = 0; i < n; i++) {
        GElf_Phdr header;
        if (!gelf_getphdr(elf, (int)i, &header) || header.p_type != PT_GNU_EH_FRAME)
            continue;
        *address = header.p_vaddr + bias;
        return elf_getdata_rawchunk(elf, (int64_t)header.p_offset, header.p_filesz, ELF_T_BYTE);
    }
    return NULL;
}

static int64_t number_at(const uint8_t *bytes)
{
    int32_t number;
    memcpy(&number, bytes, sizeof number);
    return number;
}

/* Where the function begins in which the address lies, or the address itself. */
static uint64_t begin_of_function(struct module *m, uint64_t address)
{
    enum { HEADER = 4, NUMBER = 4, ENTRY = 8, PC_RELATIVE = 0x1b, COUNT = 0x03, SORTED = 0x3b };
    uint64_t table = 0, found = address;
    const Elf_Data *data = find_unwind_table(m, &table);
    const uint8_t *bytes = data ? data->d_buf : NULL;
    if (!bytes || data->d_size < HEADER + 2 * NUMBER || bytes[0] != 1 || bytes[1] != PC_RELATIVE ||
        bytes[2] != COUNT || bytes[3] != SORTED)
        return address;
    const uint8_t *entries = bytes + HEADER + 2 * NUMBER;
    const size_t room = (data->d_size - HEADER - 2 * NUMBER) / ENTRY;
    size_t low = 0, high = (uint32_t)number_at(bytes + HEADER + NUMBER);
    for (high = high < room ? high : room; low < high;) {
        const size_t middle = (low + high) / 2;
        const uint64_t begin = table + (uint64_t)number_at(entries + middle * ENTRY);
        if (begin > address) {
            high = middle;
            continue;
        }
        found = begin;
        low = middle + 1;
    }
    return found;
}

const char *rfn_symbolizer_nearby(struct rfn_symbolizer *symbolizer, int module, uint64_t address)
{
    struct module *m = opened(symbolizer, module);
    if (!m)
        return NULL;
    if (!m->exported_known) {
        rfn_symbolizer_functions(symbolizer, module, add_exported, m);
        if (m->n_exported)
            qsort(m->exported, m->n_exported, sizeof *m->exported, compare_symbols);
        m->exported_known = true;
    }
    const uint64_t begin = begin_of_function(m, address);
    char *name = rfn_map_object(&m->nearby, begin);
    if (name)
        return name;
    const struct symbol *before = exported_before(m, begin);
    const size_t size = (before ? strlen(before->name) : 0) + sizeof "+0x0123456789abcdef";
    name = malloc(size);
    if (!name)
        return NULL;
    snprintf(name, size, "%s+0x%llx", before ? before->name : "",
             (unsigned long long)(begin - (before ? before->address : 0)));
    if (rfn_map_put_object(&m->nearby, begin, name) == 0)
        return name;
    free(name);
    return NULL;
}
