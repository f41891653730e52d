/* elf_file.h - what one ELF file says about its libraries, read with libelf.
 *
 * Only the program headers and the dynamic section are read, as the loader does, so that files
 * without section headers are understood. Symbols are looked up on request and need the section
 * headers. Files are data here: nothing of them is loaded or run.
 */
#ifndef RFN_CLI_LAUNCH_ELF_FILE_H
#define RFN_CLI_LAUNCH_ELF_FILE_H

#include "refrain/error.h"

#include <stdbool.h>
#include <stddef.h>

struct rfn_elf_file {
    char *path;
    bool dynamic;                   /* an executable that a loader completes with libraries */
    bool native;                    /* for the machine and word size of this tool */
    char *soname, *rpath, *runpath; /* NULL where absent */
    char **needed;                  /* n_needed names as in the file */
    size_t n_needed;
};

/* Reads path. RFN_E_NOTFOUND: cannot be opened. RFN_E_UNSUPPORTED: not an ELF file. RFN_E_CORRUPT:
 * an ELF file that makes no sense. RFN_E_NOMEM. On failure file needs no release. */
int rfn_elf_file_read(struct rfn_elf_file *file, const char *path);
void rfn_elf_file_release(struct rfn_elf_file *file);

/* Whether the file at path defines one of the symbols: the position of the first one found in
 * names (ended by NULL), or -1. */
int rfn_elf_file_defines(const char *path, const char *const *names);

#endif
