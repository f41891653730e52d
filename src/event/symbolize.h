/* symbolize.h - functions, files and lines of code addresses, from ELF symbols and DWARF (libdw).
 *
 * Used once at the end of recording, and by readers only when asked to (--resolve). Opens only the
 * module files it is given and files with their debug information, never the network (debuginfod is
 * off), and accepts a file only when its build-id is the expected one (symbolize.c).
 */
#ifndef RFN_EVENT_SYMBOLIZE_H
#define RFN_EVENT_SYMBOLIZE_H

#include "refrain/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rfn_symbolizer;

/* Strings are borrowed until the symbolizer is freed; NULL or 0 where not known. */
struct rfn_source {
    const char *function; /* demangling is left to viewers */
    const char *file;     /* as the compiler wrote it, last path components kept */
    uint32_t line;
};

/* At most the last folder and the file of a path; points into it. */
const char *rfn_source_file(const char *path);

struct rfn_symbolizer *rfn_symbolizer_new(void); /* NULL: out of memory */
void rfn_symbolizer_free(struct rfn_symbolizer *symbolizer);

/* Adds a module, unless it is known; returns its number >= 0 or an error. A file that is missing or
 * has another build-id is no error: its addresses resolve to nothing. build_id may be NULL (then
 * any file without a build-id is accepted). */
int rfn_symbolizer_module(struct rfn_symbolizer *symbolizer, const char *path,
                          const uint8_t *build_id, size_t build_id_size);

enum { RFN_SOURCES_MAX = 16 };

/* Resolves an ELF virtual address of the module. For a return address pass address - 1. The
 * compiler may have inlined several functions into each other there: the innermost comes first,
 * then the one that calls it, with the place of the call, and last the one that has code of its
 * own. Returns how many there are, at least 1; of more than RFN_SOURCES_MAX the outermost are left
 * out. */
size_t rfn_symbolizer_find(struct rfn_symbolizer *symbolizer, int module, uint64_t address,
                           struct rfn_source sources[RFN_SOURCES_MAX]);

/* The name of a function that has none, as refrain/demangle.h describes it, for the address of an
 * instruction in it: "solve+0x1f40", where the module was stripped. Where the function begins is
 * known from the table that unwinders search (.eh_frame_hdr), if there is one; else the address
 * stands for it. Borrowed as those are; NULL: the file is missing or another one, or no memory. */
const char *rfn_symbolizer_nearby(struct rfn_symbolizer *symbolizer, int module, uint64_t address);

/* Tells the functions of a module's ELF symbol table: the virtual address of each, its name
 * (borrowed until the symbolizer is freed; demangling is left to others) and whether other files
 * can see it. Several names may have one address. Nothing happens when the file is missing or
 * another one. */
void rfn_symbolizer_functions(struct rfn_symbolizer *symbolizer, int module,
                              void (*tell)(void *context, uint64_t address, const char *name,
                                           bool visible),
                              void *context);

#endif
