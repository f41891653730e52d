/* The cache of glibc, format 1.1, all numbers in the machine's byte order:
 *
 *     0  "glibc-ld.so.cache1.1"    20 bytes
 *    20  number of entries         u32
 *    24  size of the strings       u32
 *    28  flags, extensions, unused 20 bytes
 *    48  entries of 24 bytes: flags u32, name u32, path u32, 12 bytes more
 *
 * name and path are offsets of strings ended by zero, counted from the magic. Older systems write
 * an older cache before it, so the magic is searched for at multiples of four.
 */
#define _POSIX_C_SOURCE 200809L /* strdup, strndup */
#include "cli/launch/library_search.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC "glibc-ld.so.cache1.1"

enum { MAGIC_SIZE = 20, HEADER_SIZE = 48, ENTRY_SIZE = 24, CACHE_LIMIT = 64 << 20 };

static const char *const system_directories[] = {"/lib64", "/usr/lib64", "/lib", "/usr/lib"};

/* ---- the cache ---- */

void rfn_library_search_init(struct rfn_library_search *search, const char *cache_file)
{
    size_t capacity = 1 << 16, size = 0;
    *search = (struct rfn_library_search){.library_path = getenv("LD_LIBRARY_PATH")};
    FILE *file = fopen(cache_file, "rb");
    uint8_t *bytes = file ? malloc(capacity) : NULL;
    while (bytes) {
        size += fread(bytes + size, 1, capacity - size, file);
        if (size < capacity || capacity >= CACHE_LIMIT)
            break;
        uint8_t *more = realloc(bytes, capacity *= 2);
        if (!more)
            free(bytes);
        bytes = more;
    }
    if (file)
        fclose(file);
    search->cache = bytes;
    search->cache_size = bytes ? size : 0;
}

void rfn_library_search_release(struct rfn_library_search *search)
{
    free(search->cache);
    *search = (struct rfn_library_search){0};
}

static uint32_t number_at(const uint8_t *bytes)
{
    uint32_t value;
    memcpy(&value, bytes, sizeof value);
    return value;
}

/* The string at an offset, or NULL if it does not end within the cache. */
static const char *string_at(const uint8_t *cache, size_t size, uint32_t offset)
{
    if (offset >= size || !memchr(cache + offset, 0, size - offset))
        return NULL;
    return (const char *)cache + offset;
}

const char *rfn_library_cached(const struct rfn_library_search *search, const char *name, size_t n)
{
    const uint8_t *cache = search->cache;
    size_t size = search->cache_size;
    while (size >= HEADER_SIZE && memcmp(cache, MAGIC, MAGIC_SIZE) != 0) {
        cache += 4;
        size -= 4;
    }
    if (size < HEADER_SIZE)
        return NULL;
    size_t count = number_at(cache + 20), room = (size - HEADER_SIZE) / ENTRY_SIZE;
    for (size_t i = 0; i < count && i < room; i++) {
        const uint8_t *entry = cache + HEADER_SIZE + i * ENTRY_SIZE;
        const char *key = string_at(cache, size, number_at(entry + 4));
        if (key && strcmp(key, name) == 0 && n-- == 0)
            return string_at(cache, size, number_at(entry + 8));
    }
    return NULL;
}

/* ---- directories ---- */

/* Appends a formatted text to a string that realloc made; frees it and gives NULL on failure. */
static char *append(char *text, const char *more, size_t n)
{
    size_t size = text ? strlen(text) : 0;
    char *longer = realloc(text, size + n + 1);
    if (!longer) {
        free(text);
        return NULL;
    }
    memcpy(longer + size, more, n);
    longer[size + n] = 0;
    return longer;
}

char *rfn_library_expand(const char *directory, size_t n, const char *file, const char *name)
{
    static const char *const words[] = {"${ORIGIN}", "$ORIGIN"};
    const char *slash = strrchr(file, '/');
    size_t origin = slash == file ? 1 : slash ? (size_t)(slash - file) : 0;
    char *path = append(NULL, ".", n == 0);
    for (size_t at = 0; path && at < n;) {
        size_t word = 0;
        for (size_t i = 0; i < 2 && !word; i++) {
            size_t length = strlen(words[i]);
            if (n - at >= length && strncmp(directory + at, words[i], length) == 0)
                word = length;
        }
        if (word) {
            path = origin ? append(path, file, origin) : append(path, ".", 1);
            at += word;
        } else if (directory[at] == '$') {
            free(path);
            return NULL;
        } else {
            path = append(path, directory + at++, 1);
        }
    }
    path = path ? append(path, "/", 1) : NULL;
    return path ? append(path, name, strlen(name)) : NULL;
}

/* Whether the loader would take the file: it is ELF and for this machine. */
static bool fits(const char *path)
{
    struct rfn_elf_file file;
    if (rfn_elf_file_read(&file, path) < 0)
        return false;
    bool native = file.native;
    rfn_elf_file_release(&file);
    return native;
}

/* Searches a list of directories; colon (and in LD_LIBRARY_PATH semicolon) separates them. */
static char *find_in(const char *directories, const char *file, const char *name)
{
    for (const char *at = directories; at;) {
        size_t n = strcspn(at, ":;");
        char *path = rfn_library_expand(at, n, file, name);
        if (path && fits(path))
            return path;
        free(path);
        at = at[n] ? at + n + 1 : NULL;
    }
    return NULL;
}

static char *find_by_rpath(const struct rfn_loaded *by, const char *name)
{
    if (by->file->runpath)
        return NULL;
    for (const struct rfn_loaded *from = by; from; from = from->loader) {
        if (from->file->runpath || !from->file->rpath)
            continue;
        char *path = find_in(from->file->rpath, from->file->path, name);
        if (path)
            return path;
    }
    return NULL;
}

char *rfn_library_find(const struct rfn_library_search *search, const struct rfn_loaded *by,
                       const char *name)
{
    if (strchr(name, '/'))
        return fits(name) ? strdup(name) : NULL;
    const char *file = by->file->path;
    char *path = find_by_rpath(by, name);
    if (!path && search->library_path && search->library_path[0])
        path = find_in(search->library_path, file, name);
    if (!path && by->file->runpath)
        path = find_in(by->file->runpath, file, name);
    const char *cached;
    for (size_t n = 0; !path && (cached = rfn_library_cached(search, name, n)); n++)
        path = fits(cached) ? strdup(cached) : NULL;
    for (size_t i = 0; !path && i < sizeof system_directories / sizeof *system_directories; i++)
        path = find_in(system_directories[i], file, name);
    return path;
}
