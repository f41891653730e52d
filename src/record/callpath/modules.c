/* modules.c - see modules.h.
 *
 * The loader's list is searched once per stretch of code (dl_iterate_phdr); what is found is kept
 * in a short list, most recently found last, which is all that later walks look at. The list is
 * emptied when a library has been unloaded. A module is the same as an earlier one when path and
 * build-id agree, wherever it lies now.
 *
 * The lock is not held while the loader is asked: the loader has locks of its own.
 */
#include "record/callpath/modules.h"
#include "base/grow.h"
#include "base/hash.h"
#include "record/callpath/sites.h"

#include <elf.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

/* The program's main, where the linker can see it: always in a static program. */
extern const char program_main[] __asm__("main") __attribute__((weak));

static struct {
    pthread_mutex_t lock;
    struct rec_module **modules;
    size_t n_modules, modules_capacity;
    struct rec_code *codes;
    size_t n_codes, codes_capacity;
} process = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* What the loader says about the module of an address. */
struct found {
    uintptr_t address;
    struct rec_code code;
    char path[PATH_MAX];
    const uint8_t *build_id;
    size_t build_id_size;
    bool hit;
};

/* ---- asking the loader ---- */

/* Searches one PT_NOTE segment: words of name size, description size, type; then name, then
 * description, each padded. */
static void find_build_id(struct found *found, const uint8_t *note, size_t size, size_t align)
{
    ElfW(Nhdr) header;
    while (size >= sizeof header) {
        memcpy(&header, note, sizeof header);
        size_t name = sizeof header;
        size_t text = (name + header.n_namesz + align - 1) / align * align;
        size_t next = (text + header.n_descsz + align - 1) / align * align;
        if (text > size || header.n_descsz > size - text)
            return;
        if (header.n_type == NT_GNU_BUILD_ID && header.n_namesz == 4 &&
            memcmp(note + name, "GNU", 4) == 0) {
            found->build_id = note + text;
            found->build_id_size = header.n_descsz;
            return;
        }
        if (next >= size)
            return;
        note += next;
        size -= next;
    }
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool begins_with_one_of(const char *name, const char *const *beginnings)
{
    while (*beginnings && strncmp(name, *beginnings, strlen(*beginnings)) != 0)
        beginnings++;
    return *beginnings;
}

/* Whether this is a library whose frames, when they are the outermost ones, are what calls main or
 * a thread's function. */
static bool is_runtime(const char *path)
{
    static const char *const names[] = {"libc.so",       "libc-2.", "libpthread", "ld-linux",
                                        "ld-2.",         "ld64.so", "ld.so",      "ld-musl",
                                        "libsimgrid.so", NULL};
    return begins_with_one_of(base_name(path), names);
}

/* Whether this is a library by which scripts call C: mpi4py, cffi, or the interpreter's own. */
static bool is_glue(const char *path)
{
    static const char *const names[] = {"_cffi_backend.", "libffi.so", NULL};
    return strstr(path, "/mpi4py/") || strstr(path, "/lib-dynload/") ||
           begins_with_one_of(base_name(path), names);
}

/* The executable's path, of PATH_MAX bytes: without /proc by the name that it was started under. */
static void find_executable(char *path)
{
    const char *started = (const char *)getauxval(AT_EXECFN);
    ssize_t n = readlink("/proc/self/exe", path, PATH_MAX - 1);
    path[n > 0 ? n : 0] = 0;
    if (n <= 0 && started && !realpath(started, path))
        path[0] = 0;
}

static void describe(struct found *found, const struct dl_phdr_info *info)
{
    const char *name = info->dlpi_name;
    if (!name[0]) { /* of the executable */
        find_executable(found->path);
    } else if (!realpath(name, found->path)) {
        strncpy(found->path, name, PATH_MAX - 1);
        found->path[PATH_MAX - 1] = 0;
    }
    /* The name in use, not what links lead to, tells what a library is. */
    found->code.runtime = is_runtime(name);
    found->code.glue = is_glue(found->path);
    found->code.bias = info->dlpi_addr;
    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        const uint8_t *bytes = (const uint8_t *)(info->dlpi_addr + segment->p_vaddr);
        if (segment->p_type == PT_GNU_EH_FRAME)
            found->code.eh_frame_hdr = bytes;
        else if (segment->p_type == PT_NOTE && !found->build_id)
            find_build_id(found, bytes, segment->p_memsz, segment->p_align == 8 ? 8 : 4);
    }
}

static int visit_module(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    struct found *found = data;
    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + segment->p_vaddr;
        if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X) ||
            found->address - start >= segment->p_memsz)
            continue;
        found->code.start = start;
        found->code.end = start + segment->p_memsz;
        found->hit = true;
        describe(found, info);
        return 1;
    }
    return 0;
}

/* ---- modules and their numbers ---- */

/* Copies the wanted module, unless it is in the table. With the lock held. */
static int number_of(const struct rec_module *wanted, uint32_t *number)
{
    const char *function = wanted->function ? wanted->function : "";
    const size_t path_size = strlen(wanted->path) + 1, function_size = strlen(function) + 1;
    const size_t id_size = wanted->build_id_size;
    for (*number = 0; *number < process.n_modules; ++*number) {
        const struct rec_module *known = process.modules[*number];
        if (known->build_id_size == id_size &&
            (!id_size || memcmp(known->build_id, wanted->build_id, id_size) == 0) &&
            strcmp(known->path, wanted->path) == 0)
            return 0;
    }
    RFN_TRY(RFN_GROW(process.modules, process.modules_capacity, process.n_modules + 1));
    /* One piece of memory: the module, its build-id, its path, its function. Never freed. */
    struct rec_module *module = malloc(sizeof *module + id_size + path_size + function_size);
    if (!module)
        return RFN_E_NOMEM;
    uint8_t *id = (uint8_t *)(module + 1);
    if (id_size)
        memcpy(id, wanted->build_id, id_size);
    char *path = memcpy(id + id_size, wanted->path, path_size);
    function = memcpy(path + path_size, function, function_size);
    *module = (struct rec_module){.path = path,
                                  .build_id = id_size ? id : NULL,
                                  .build_id_size = id_size,
                                  .function = wanted->function ? function : NULL};
    process.modules[process.n_modules++] = module;
    return 0;
}

int rec_script_find(const char *file, const char *function, uint32_t *module)
{
    const uint64_t names[] = {rfn_hash_bytes(file, strlen(file)),
                              rfn_hash_bytes(function, strlen(function))};
    const uint64_t id = rfn_hash_bytes(names, sizeof names);
    const struct rec_module wanted = {file, (const uint8_t *)&id, sizeof id, function};
    pthread_mutex_lock(&process.lock);
    const int rc = number_of(&wanted, module);
    pthread_mutex_unlock(&process.lock);
    return rc;
}

int rec_code_find(uintptr_t address, struct rec_code *code)
{
    bool hit = false;
    pthread_mutex_lock(&process.lock);
    for (size_t i = process.n_codes; i-- > 0 && !hit;) {
        *code = process.codes[i];
        hit = address - code->start < code->end - code->start;
    }
    pthread_mutex_unlock(&process.lock);
    if (hit)
        return 0;
    struct found *found = calloc(1, sizeof *found); /* a path is too long for a small stack */
    if (!found)
        return RFN_E_NOMEM;
    found->address = address;
    found->code = (struct rec_code){.start = address, .end = address + 1, .bias = address};
    dl_iterate_phdr(visit_module, found);
    const struct rec_module wanted = {found->path, found->build_id, found->build_id_size, NULL};
    pthread_mutex_lock(&process.lock);
    int rc = number_of(&wanted, &found->code.module);
    if (!rc && found->hit) {
        rc = RFN_GROW(process.codes, process.codes_capacity, process.n_codes + 1);
        if (!rc)
            process.codes[process.n_codes++] = found->code;
    }
    pthread_mutex_unlock(&process.lock);
    *code = found->code;
    free(found);
    return rc;
}

/* ---- what may be a return address ---- */

/* Whether /proc/self/maps, lines of "start-end perm ...", has the address in memory
 * that may be executed. */
static bool is_executable(uintptr_t address)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[PATH_MAX + 100];
    bool found = false, executable = false;
    while (maps && !found && fgets(line, sizeof line, maps)) {
        char *end;
        const uintptr_t start = strtoul(line, &end, 16);
        const uintptr_t stop = *end == '-' ? strtoul(end + 1, &end, 16) : 0;
        found = address - start < stop - start;
        executable = found && strlen(end) > 3 && end[3] == 'x';
    }
    if (maps)
        fclose(maps);
    return executable;
}

#ifdef __x86_64__
/* Direct calls are e8 and four bytes; others ff, a byte whose bits 3 to 5 are 2, and up to five of
 * an address: how many depends on that byte and the next one. */
static bool is_behind_call(const uint8_t *at, size_t before)
{
    if (before >= 5 && at[-5] == 0xe8)
        return true;
    for (size_t size = 2; size <= 7 && size <= before; size++) {
        const uint8_t *code = at - size, mode = code[1] >> 6, base = code[1] & 7;
        if (code[0] != 0xff || (code[1] >> 3 & 7) != 2)
            continue;
        const bool scaled = mode != 3 && base == 4;
        const bool far = mode == 2 ||
                         (mode == 0 && (base == 5 || (scaled && size > 3 && (code[2] & 7) == 5)));
        if (size == 2u + scaled + (far ? 4 : mode == 1))
            return true;
    }
    return false;
}
#else
static bool is_behind_call(const uint8_t *at, size_t before)
{
    (void)at, (void)before;
    return true;
}
#endif

bool rec_code_is_return(const struct rec_code *code, uintptr_t address)
{
    const size_t before = address - code->start;
    return code->end - code->start > 1 ? is_behind_call((const uint8_t *)address, before)
                                       : is_executable(address - 1);
}

const struct rec_module *rec_module(uint32_t number)
{
    pthread_mutex_lock(&process.lock);
    const struct rec_module *module = number < process.n_modules ? process.modules[number] : NULL;
    pthread_mutex_unlock(&process.lock);
    return module;
}

void rec_modules_forget(void)
{
    pthread_mutex_lock(&process.lock);
    process.n_codes = 0;
    pthread_mutex_unlock(&process.lock);
}

/* ---- facts about the process ---- */

static int visit_first(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    *(uint64_t *)data = info->dlpi_subs;
    return 1;
}

uint64_t rec_modules_unloaded(void)
{
    uint64_t unloaded = 0;
    dl_iterate_phdr(visit_first, &unloaded);
    return unloaded;
}

uintptr_t rec_program_entry(void)
{
    return getauxval(AT_ENTRY);
}

/* A program without an interpreter has no loader: it is static. The first object listed is the
 * executable. */
static int visit_executable(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        if (info->dlpi_phdr[i].p_type == PT_INTERP)
            *(bool *)data = false;
    }
    return 1;
}

uintptr_t rec_static_main(void)
{
    bool is_static = true;
    dl_iterate_phdr(visit_executable, &is_static);
    return is_static ? (uintptr_t)program_main : 0;
}

const char *rec_module_path(const struct rec_module *module, const char *program)
{
#ifdef RFN_FLAVOUR_SMPI
    if (program && access(module->path, R_OK) != 0)
        return program;
#else
    (void)program;
#endif
    return module->path;
}
