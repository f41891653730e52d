#define _POSIX_C_SOURCE 200809L /* open, strdup, strnlen */
#include "cli/launch/elf_file.h"

#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The word size and machine of this tool, which are those of the recorders built with it. */
#if defined __x86_64__
enum { NATIVE_CLASS = ELFCLASS64, NATIVE_MACHINE = EM_X86_64 };
#elif defined __aarch64__
enum { NATIVE_CLASS = ELFCLASS64, NATIVE_MACHINE = EM_AARCH64 };
#elif defined __powerpc64__
enum { NATIVE_CLASS = ELFCLASS64, NATIVE_MACHINE = EM_PPC64 };
#elif defined __riscv && __riscv_xlen == 64
enum { NATIVE_CLASS = ELFCLASS64, NATIVE_MACHINE = EM_RISCV };
#else
#error "add this machine's ELF class and machine number here"
#endif

/* Opens an ELF file; *fd and the result are the caller's to close, on failure *fd is -1. */
static Elf *open_elf(const char *path, int *fd, int *error)
{
    *error = RFN_E_NOTFOUND;
    *fd = open(path, O_RDONLY | O_CLOEXEC);
    if (*fd < 0)
        return NULL;
    elf_version(EV_CURRENT);
    Elf *elf = elf_begin(*fd, ELF_C_READ_MMAP, NULL);
    *error = RFN_E_UNSUPPORTED;
    if (elf && elf_kind(elf) == ELF_K_ELF)
        return elf;
    elf_end(elf);
    close(*fd);
    *fd = -1;
    return NULL;
}

/* Where a virtual address lies in the file, or -1. */
static int64_t offset_of(Elf *elf, size_t n_headers, uint64_t address)
{
    for (size_t i = 0; i < n_headers; i++) {
        GElf_Phdr header;
        if (gelf_getphdr(elf, (int)i, &header) && header.p_type == PT_LOAD &&
            address >= header.p_vaddr && address - header.p_vaddr < header.p_filesz)
            return (int64_t)(header.p_offset + (address - header.p_vaddr));
    }
    return -1;
}

/* The file's dynamic section as libelf's data, or NULL; *executable: an interpreter is asked for.
 */
static Elf_Data *dynamic_section(Elf *elf, size_t n_headers, bool *interpreter)
{
    Elf_Data *data = NULL;
    for (size_t i = 0; i < n_headers; i++) {
        GElf_Phdr header;
        if (!gelf_getphdr(elf, (int)i, &header))
            continue;
        if (header.p_type == PT_INTERP)
            *interpreter = true;
        if (header.p_type == PT_DYNAMIC && !data)
            data = elf_getdata_rawchunk(elf, (int64_t)header.p_offset, header.p_filesz, ELF_T_DYN);
    }
    return data;
}

/* The value of the first entry with the tag, or 0. */
static uint64_t dynamic_value(Elf_Data *dynamic, int64_t tag)
{
    GElf_Dyn entry;
    for (int i = 0; gelf_getdyn(dynamic, i, &entry) && entry.d_tag != DT_NULL; i++) {
        if (entry.d_tag == tag)
            return entry.d_un.d_val;
    }
    return 0;
}

/* A copy of a string of the dynamic string table, or NULL if it is not there. */
static char *string_at(const Elf_Data *strings, uint64_t at)
{
    if (at >= strings->d_size)
        return NULL;
    const char *text = (const char *)strings->d_buf + at;
    if (strnlen(text, strings->d_size - at) == strings->d_size - at)
        return NULL;
    return strdup(text);
}

static int read_strings(struct rfn_elf_file *file, Elf_Data *dynamic, const Elf_Data *strings)
{
    GElf_Dyn entry;
    size_t n = 0;
    for (int i = 0; gelf_getdyn(dynamic, i, &entry) && entry.d_tag != DT_NULL; i++)
        n += entry.d_tag == DT_NEEDED;
    file->needed = calloc(n + 1, sizeof *file->needed);
    if (!file->needed)
        return RFN_E_NOMEM;
    for (int i = 0; gelf_getdyn(dynamic, i, &entry) && entry.d_tag != DT_NULL; i++) {
        char **where = entry.d_tag == DT_NEEDED    ? &file->needed[file->n_needed]
                       : entry.d_tag == DT_SONAME  ? &file->soname
                       : entry.d_tag == DT_RPATH   ? &file->rpath
                       : entry.d_tag == DT_RUNPATH ? &file->runpath
                                                   : NULL;
        if (!where || *where)
            continue;
        *where = string_at(strings, entry.d_un.d_val);
        if (!*where)
            return RFN_E_CORRUPT;
        file->n_needed += entry.d_tag == DT_NEEDED;
    }
    return 0;
}

static int read_elf(struct rfn_elf_file *file, Elf *elf)
{
    GElf_Ehdr header;
    size_t n_headers = 0;
    bool interpreter = false;
    if (!gelf_getehdr(elf, &header) || elf_getphdrnum(elf, &n_headers) < 0)
        return RFN_E_CORRUPT;
    file->native = header.e_ident[EI_CLASS] == NATIVE_CLASS && header.e_machine == NATIVE_MACHINE;
    Elf_Data *dynamic = dynamic_section(elf, n_headers, &interpreter);
    /* A static position-independent executable has a dynamic section, but no interpreter. */
    file->dynamic = dynamic && interpreter;
    if (!dynamic)
        return 0;
    int64_t at = offset_of(elf, n_headers, dynamic_value(dynamic, DT_STRTAB));
    Elf_Data *strings = NULL;
    if (at >= 0)
        strings = elf_getdata_rawchunk(elf, at, dynamic_value(dynamic, DT_STRSZ), ELF_T_BYTE);
    if (!strings || !strings->d_buf)
        return RFN_E_CORRUPT;
    return read_strings(file, dynamic, strings);
}

int rfn_elf_file_read(struct rfn_elf_file *file, const char *path)
{
    int fd, error;
    *file = (struct rfn_elf_file){0};
    Elf *elf = open_elf(path, &fd, &error);
    if (!elf)
        return error;
    file->path = strdup(path);
    error = file->path ? read_elf(file, elf) : RFN_E_NOMEM;
    elf_end(elf);
    close(fd);
    if (error < 0)
        rfn_elf_file_release(file);
    return error;
}

void rfn_elf_file_release(struct rfn_elf_file *file)
{
    for (size_t i = 0; i < file->n_needed; i++)
        free(file->needed[i]);
    free(file->needed);
    free(file->path);
    free(file->soname);
    free(file->rpath);
    free(file->runpath);
    *file = (struct rfn_elf_file){0};
}

/* The position in names of a defined symbol of one symbol table, or -1. */
static int table_defines(Elf *elf, Elf_Scn *section, const GElf_Shdr *header,
                         const char *const *names)
{
    Elf_Data *data = elf_getdata(section, NULL);
    GElf_Sym symbol;
    for (int i = 0; data && gelf_getsym(data, i, &symbol); i++) {
        if (symbol.st_shndx == SHN_UNDEF)
            continue;
        const char *name = elf_strptr(elf, header->sh_link, symbol.st_name);
        for (int n = 0; name && names[n]; n++) {
            if (strcmp(name, names[n]) == 0)
                return n;
        }
    }
    return -1;
}

int rfn_elf_file_defines(const char *path, const char *const *names)
{
    int fd, error, found = -1;
    Elf *elf = open_elf(path, &fd, &error);
    if (!elf)
        return -1;
    for (Elf_Scn *section = NULL; found < 0 && (section = elf_nextscn(elf, section));) {
        GElf_Shdr header;
        if (gelf_getshdr(section, &header) &&
            (header.sh_type == SHT_DYNSYM || header.sh_type == SHT_SYMTAB))
            found = table_defines(elf, section, &header, names);
    }
    elf_end(elf);
    close(fd);
    return found;
}
