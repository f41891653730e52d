/* library_search.h - where the dynamic loader finds a library, without running it.
 *
 * The order is that of ld.so(8): the run paths of the file that needs the library, and, if it has
 * no DT_RUNPATH, the DT_RPATHs of it and of the files that loaded it; LD_LIBRARY_PATH; DT_RUNPATH;
 * the cache that ldconfig writes; the system's directories. Of the words that run paths may hold
 * $ORIGIN is known; a directory with another one is passed over. Files of another machine are
 * passed over as the loader does.
 */
#ifndef RFN_CLI_LAUNCH_LIBRARY_SEARCH_H
#define RFN_CLI_LAUNCH_LIBRARY_SEARCH_H

#include "cli/launch/elf_file.h"

#include <stddef.h>
#include <stdint.h>

/* A file and the one that needed it: the way back to the program. */
struct rfn_loaded {
    const struct rfn_elf_file *file;
    const struct rfn_loaded *loader; /* NULL for the program */
};

struct rfn_library_search {
    const char *library_path; /* LD_LIBRARY_PATH, or NULL */
    uint8_t *cache;           /* the contents of ld.so.cache, or NULL */
    size_t cache_size;
};

/* Reads the environment and the cache file (usually "/etc/ld.so.cache"); a cache that cannot be
 * read is none. */
void rfn_library_search_init(struct rfn_library_search *search, const char *cache_file);
void rfn_library_search_release(struct rfn_library_search *search);

/* The path of the library called name that `by` needs, to be freed; NULL when there is none. */
char *rfn_library_find(const struct rfn_library_search *search, const struct rfn_loaded *by,
                       const char *name);

/* The path under which the n-th entry with this name stands in the cache, borrowed, or NULL. No
 * byte of the cache is trusted. */
const char *rfn_library_cached(const struct rfn_library_search *search, const char *name, size_t n);

/* directory, of n bytes, with $ORIGIN replaced by the directory of file, and "/name" behind it; to
 * be freed. NULL: another $ word, or out of memory. An empty directory is the current one. */
char *rfn_library_expand(const char *directory, size_t n, const char *file, const char *name);

#endif
