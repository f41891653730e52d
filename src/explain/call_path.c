#include "explain/call_path.h"

#include "refrain/demangle.h"

#include <stdlib.h>

static const char *base_name(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash ? slash + 1 : path ? path : "?";
}

struct rfn_path rfn_call_path_frames(const struct rfn_archive *archive, uint32_t path)
{
    struct rfn_path none = {0};
    return path < rfn_archive_paths(archive) ? rfn_archive_path(archive, path) : none;
}

/* ":40", or "+0x1234" where the line is not known. */
static void append_number(struct rfn_text *text, const struct rfn_location *location)
{
    if (location->file) {
        rfn_text_char(text, ':');
        rfn_text_unsigned(text, location->line);
    } else {
        rfn_text_format(text, "+0x%llx", (unsigned long long)location->offset);
    }
}

void rfn_call_path_full(struct rfn_text *text, const struct rfn_archive *archive, uint32_t path)
{
    struct rfn_path frames = rfn_archive_path(archive, path);
    for (uint32_t i = frames.n_frames; i-- > 0;) {
        struct rfn_location at = rfn_archive_location(archive, frames.frames[i]);
        const char *file = at.file ? at.file : base_name(at.module);
        if (at.function)
            rfn_text_escaped(text, at.function, strlen(at.function));
        rfn_text_char(text, '[');
        rfn_text_escaped(text, file, strlen(file));
        append_number(text, &at);
        rfn_text_string(text, i > 0 ? "] > " : "]");
    }
}

bool rfn_call_path_internal(const struct rfn_location *location)
{
    static const char *const modules[] = {"libmpi", "libpmpi", "libopen-",
                                          "libmca", "libfmpi", "librefrain-"};
    static const char *const functions[] = {"MPI_", "PMPI_", "MPIX_", "mpi_", "pmpi_"};
    const char *module = base_name(location->module);
    for (size_t i = 0; i < sizeof modules / sizeof *modules; i++) {
        if (strncmp(module, modules[i], strlen(modules[i])) == 0)
            return true;
    }
    for (size_t i = 0; location->function && i < sizeof functions / sizeof *functions; i++) {
        if (strncmp(location->function, functions[i], strlen(functions[i])) == 0)
            return true;
    }
    return false;
}

/* Of a long name the middle is left out: the end tells functions of a class apart. */
static void append_name(struct rfn_text *text, const char *name)
{
    enum { MOST = 60, END = 36 };
    const size_t n = strlen(name);
    if (n <= MOST) {
        rfn_text_printable(text, name);
        return;
    }
    char first[MOST];
    size_t begin = MOST - END - 3, end = n - END;
    while (begin > 0 && ((unsigned char)name[begin] & 0xc0) == 0x80) /* inside of a character */
        begin--;
    while (((unsigned char)name[end] & 0xc0) == 0x80)
        end++;
    memcpy(first, name, begin);
    first[begin] = '\0';
    rfn_text_printable(text, first);
    rfn_text_string(text, "...");
    rfn_text_printable(text, name + end);
}

void rfn_call_path_function(struct rfn_text *text, const struct rfn_location *location)
{
    char *name = rfn_short_name(location->function, true);
    text->failed |= !name;
    append_name(text, name ? name : location->function);
    free(name);
}

void rfn_call_path_called(struct rfn_text *text, const struct rfn_location *location)
{
    rfn_call_path_function(text, location);
    if (!text->failed && text->data[text->n - 1] != ')' && !rfn_name_distance(location->function))
        rfn_text_string(text, "()");
}

void rfn_call_path_label(struct rfn_text *text, const struct rfn_archive *archive,
                         const struct rfn_location *location)
{
    char *name = rfn_function_label(location->function, location->file, location->module,
                                    rfn_archive_run(archive)->program);
    text->failed |= !name;
    append_name(text, name ? name : location->function);
    free(name);
}

void rfn_call_path_file(struct rfn_text *text, const struct rfn_location *location)
{
    rfn_text_printable(text, base_name(location->file ? location->file : location->module));
}

void rfn_call_path_place(struct rfn_text *text, const struct rfn_location *location)
{
    rfn_call_path_file(text, location);
    append_number(text, location);
}

void rfn_call_path_short(struct rfn_text *text, const struct rfn_archive *archive, uint32_t path,
                         size_t width)
{
    rfn_call_path_cut(text, archive, path, width,
                      width == RFN_WHOLE_PATH ? UINT32_MAX : RFN_PATH_NAMES);
}

void rfn_call_path_cut(struct rfn_text *text, const struct rfn_archive *archive, uint32_t path,
                       size_t width, uint32_t most)
{
    static const char cut[] = " < ...";
    struct rfn_path frames = rfn_archive_path(archive, path);
    size_t start = text->n, fits = 0; /* fits: the longest text so far that leaves room for cut */
    for (uint32_t i = 0; i < frames.n_frames; i++) {
        struct rfn_location location = rfn_archive_location(archive, frames.frames[i]);
        if (rfn_call_path_internal(&location) && i + 1 < frames.n_frames)
            continue;
        if (most-- == 0) {
            rfn_text_string(text, cut);
            break;
        }
        if (text->n > start)
            rfn_text_string(text, " < ");
        if (location.function) {
            rfn_call_path_function(text, &location);
            rfn_text_string(text, " (");
        }
        rfn_call_path_place(text, &location);
        rfn_text_string(text, location.function ? ")" : "");
        if (!fits || text->n - start + sizeof cut - 1 <= width)
            fits = text->n - start;
    }
    if (text->n - start > width && fits < text->n - start && !text->failed) {
        text->n = start + fits;
        rfn_text_string(text, cut);
    }
}

/* ---- search ---- */

/* A line's number is that number, not the beginning of another. */
static bool place_matches(const struct rfn_location *location, const char *wanted)
{
    struct rfn_text place = {0};
    size_t n = strlen(wanted);
    bool number = n > 0 && wanted[n - 1] >= '0' && wanted[n - 1] <= '9', found = false;
    rfn_text_format(&place, "%s:%u", location->file, location->line);
    for (const char *at = strstr(rfn_text_terminated(&place), wanted); at && !found;
         at = strstr(at + 1, wanted))
        found = !number || at[n] < '0' || at[n] > '9';
    rfn_text_release(&place);
    return found;
}

static bool function_matches(const char *function, const char *wanted)
{
    char *plain = rfn_demangle(function, true), *name = rfn_short_name(function, true);
    bool found = strstr(function, wanted) || (plain && strstr(plain, wanted)) ||
                 (name && strstr(name, wanted));
    free(plain);
    free(name);
    return found;
}

bool rfn_call_path_matches(const struct rfn_archive *archive, uint32_t path, const char *wanted)
{
    struct rfn_path frames = rfn_call_path_frames(archive, path);
    for (uint32_t i = 0; i < frames.n_frames; i++) {
        struct rfn_location location = rfn_archive_location(archive, frames.frames[i]);
        if ((location.function && function_matches(location.function, wanted)) ||
            (location.file && place_matches(&location, wanted)))
            return true;
    }
    return false;
}
