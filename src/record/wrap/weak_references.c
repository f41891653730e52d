#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* dl_iterate_phdr, dladdr */
#endif

#include "record/wrap/weak_references.h"

#include "record/core/recorder.h"

#ifndef RFN_FLAVOUR_SMPI

#include <dlfcn.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* This library from its first byte to its last. */
extern const char __ehdr_start __attribute__((visibility("hidden")));
extern const char _end __attribute__((visibility("hidden")));

static bool is_own(uintptr_t address)
{
    return address >= (uintptr_t)&__ehdr_start && address < (uintptr_t)&_end;
}

/* What is in memory of an object that the loader has loaded. */
struct object {
    uintptr_t base;
    const ElfW(Dyn) * dynamic;
    uintptr_t fixed, fixed_end; /* read-only since the loader is done; 0: nothing */
};

static struct object object_of(const struct dl_phdr_info *info)
{
    struct object object = {.base = info->dlpi_addr};
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        const uintptr_t begin = info->dlpi_addr + part->p_vaddr;
        if (part->p_type == PT_DYNAMIC)
            object.dynamic = (const ElfW(Dyn) *)begin;
        if (part->p_type == PT_GNU_RELRO) {
            object.fixed = begin;
            /* As the loader: what lies in the last, partial page stays writable. */
            object.fixed_end = (begin + part->p_memsz) & -(uintptr_t)sysconf(_SC_PAGESIZE);
        }
    }
    return object;
}

/* A number of the dynamic section; 0: it is not there. */
static uintptr_t number_of(const struct object *object, int64_t tag)
{
    for (const ElfW(Dyn) *at = object->dynamic; at && at->d_tag != DT_NULL; at++) {
        if ((int64_t)at->d_tag == tag)
            return at->d_un.d_val;
    }
    return 0;
}

/* An address of it, which most loaders have made one of memory. */
static uintptr_t address_of(const struct object *object, int64_t tag)
{
    const uintptr_t address = number_of(object, tag);
    return address && address < object->base ? address + object->base : address;
}

/* ---- who is linked with the recorder ---- */

static const char *file_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static int needs_own(struct dl_phdr_info *info, size_t size, void *own)
{
    const struct object object = object_of(info);
    const char *texts = (const char *)address_of(&object, DT_STRTAB);
    (void)size;
    for (const ElfW(Dyn) *at = object.dynamic; texts && at && at->d_tag != DT_NULL; at++) {
        if (at->d_tag == DT_NEEDED && strcmp(file_of(texts + at->d_un.d_val), own) == 0)
            return 1;
    }
    return 0;
}

bool rec_is_linked(void)
{
    static enum { UNKNOWN, NO, YES } linked;
    Dl_info own;
    if (!linked && dladdr(&__ehdr_start, &own)) {
        char name[256];
        strncpy(name, file_of(own.dli_fname), sizeof name - 1);
        name[sizeof name - 1] = 0;
        linked = dl_iterate_phdr(needs_own, name) ? YES : NO;
    }
    return linked == YES;
}

/* ---- weak references ---- */

static bool is_mpis(const char *name)
{
    return strncmp(name, "MPI_", 4) == 0 || strncmp(name, "mpi_", 4) == 0;
}

static void set_back(const struct object *object, uintptr_t *place)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const bool fixed = (uintptr_t)place >= object->fixed && (uintptr_t)place < object->fixed_end;
    void *begin = (void *)((uintptr_t)place & -page);
    if (fixed && mprotect(begin, page, PROT_READ | PROT_WRITE) != 0)
        return;
    *place = 0;
    if (fixed)
        mprotect(begin, page, PROT_READ);
}

#if __SIZEOF_POINTER__ == 8
#define SYMBOL_OF(info) ELF64_R_SYM(info)
#define BIND_OF(info)   ELF64_ST_BIND(info)
#else
#define SYMBOL_OF(info) ELF32_R_SYM(info)
#define BIND_OF(info)   ELF32_ST_BIND(info)
#endif

/* Whatever kind of relocation it is: its place has the address of a function here. */
static void set_back_all(const struct object *object, uintptr_t table, uintptr_t bytes)
{
    const ElfW(Sym) *symbols = (const ElfW(Sym) *)address_of(object, DT_SYMTAB);
    const char *texts = (const char *)address_of(object, DT_STRTAB);
    const ElfW(Rela) *at = (const ElfW(Rela) *)table;
    for (size_t n = table && symbols && texts ? bytes / sizeof *at : 0; n > 0; n--, at++) {
        const ElfW(Sym) *symbol = &symbols[SYMBOL_OF(at->r_info)];
        uintptr_t *place = (uintptr_t *)(object->base + at->r_offset);
        if (SYMBOL_OF(at->r_info) && BIND_OF(symbol->st_info) == STB_WEAK &&
            symbol->st_shndx == SHN_UNDEF && is_mpis(texts + symbol->st_name) && is_own(*place))
            set_back(object, place);
    }
}

static int set_back_in(struct dl_phdr_info *info, size_t size, void *unused)
{
    const struct object object = object_of(info);
    (void)size, (void)unused;
    set_back_all(&object, address_of(&object, DT_RELA), number_of(&object, DT_RELASZ));
    if (number_of(&object, DT_PLTREL) == DT_RELA)
        set_back_all(&object, address_of(&object, DT_JMPREL), number_of(&object, DT_PLTRELSZ));
    return 0;
}

/* Before main. */
__attribute__((constructor)) static void begin(void)
{
    const bool there = rec_is_mpi_there();
    dlerror(); /* that it is not is no error of the program's */
    if (!there && !rec_is_linked())
        dl_iterate_phdr(set_back_in, NULL);
}

#else

bool rec_is_linked(void)
{
    return false;
}

#endif
