#include "cli/call_path.h"
#include "refrain/demangle.h"

#include <inttypes.h>
#include <stdlib.h>

static const char *base_name(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash ? slash + 1 : path ? path : "?";
}

static void escaped(struct rfn_text *text, const char *string)
{
    rfn_text_escaped(text, string, strlen(string));
}

static void append_place(struct rfn_text *text, const struct rfn_location *location)
{
    if (location->file) {
        escaped(text, location->file);
        rfn_text_char(text, ':');
        rfn_text_unsigned(text, location->line);
    } else {
        escaped(text, base_name(location->module));
        rfn_text_format(text, "+0x%llx", (unsigned long long)location->offset);
    }
}

static void append_frame(struct rfn_text *text, const struct rfn_location *location)
{
    if (location->function)
        escaped(text, location->function);
    rfn_text_char(text, '[');
    append_place(text, location);
    rfn_text_char(text, ']');
}

void rfn_call_path_full(struct rfn_text *text, const struct rfn_archive *archive, uint32_t path)
{
    struct rfn_path frames = rfn_archive_path(archive, path);
    for (uint32_t i = frames.n_frames; i-- > 0;) {
        struct rfn_location location = rfn_archive_location(archive, frames.frames[i]);
        append_frame(text, &location);
        if (i > 0)
            rfn_text_string(text, " > ");
    }
}

static bool begins(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

bool rfn_call_path_internal(const struct rfn_location *location)
{
    static const char *const modules[] = {"libmpi", "libpmpi", "libopen-",
                                          "libmca", "libfmpi", "librefrain-"};
    const char *module = base_name(location->module);
    for (size_t i = 0; i < sizeof modules / sizeof *modules; i++) {
        if (begins(module, modules[i]))
            return true;
    }
    const char *function = location->function ? location->function : "";
    return begins(function, "MPI_") || begins(function, "PMPI_") || begins(function, "MPIX_") ||
           begins(function, "mpi_") || begins(function, "pmpi_");
}

void rfn_call_path_function(struct rfn_text *text, const struct rfn_location *location)
{
    char *plain = rfn_demangle(location->function, true);
    rfn_text_printable(text, plain ? plain : location->function);
    free(plain);
}

void rfn_call_path_place(struct rfn_text *text, const struct rfn_location *location)
{
    if (location->file) {
        rfn_text_printable(text, base_name(location->file));
        rfn_text_char(text, ':');
        rfn_text_unsigned(text, location->line);
    } else {
        rfn_text_printable(text, base_name(location->module));
        rfn_text_format(text, "+0x%llx", (unsigned long long)location->offset);
    }
}

/* "step (main.c:12)" */
static void append_short_frame(struct rfn_text *text, const struct rfn_location *location)
{
    if (location->function) {
        rfn_call_path_function(text, location);
        rfn_text_string(text, " (");
    }
    rfn_call_path_place(text, location);
    if (location->function)
        rfn_text_char(text, ')');
}

void rfn_call_path_short(struct rfn_text *text, const struct rfn_archive *archive, uint32_t path,
                         size_t width)
{
    static const char cut[] = " < ...";
    struct rfn_path frames = rfn_archive_path(archive, path);
    size_t start = text->n, fits = 0; /* fits: the longest text so far that leaves room for cut */
    for (uint32_t i = 0; i < frames.n_frames; i++) {
        struct rfn_location location = rfn_archive_location(archive, frames.frames[i]);
        if (rfn_call_path_internal(&location) && i + 1 < frames.n_frames)
            continue;
        if (text->n > start)
            rfn_text_string(text, " < ");
        append_short_frame(text, &location);
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
    rfn_text_char(&place, '\0');
    for (const char *at = place.failed ? NULL : strstr(place.data, wanted); at && !found;
         at = strstr(at + 1, wanted))
        found = !number || at[n] < '0' || at[n] > '9';
    rfn_text_release(&place);
    return found;
}

static bool function_matches(const char *function, const char *wanted)
{
    char *plain = rfn_demangle(function, true);
    bool found = strstr(function, wanted) || (plain && strstr(plain, wanted));
    free(plain);
    return found;
}

bool rfn_call_path_matches(const struct rfn_archive *archive, uint32_t path, const char *wanted)
{
    struct rfn_path frames = {0};
    if (path < rfn_archive_paths(archive))
        frames = rfn_archive_path(archive, path);
    for (uint32_t i = 0; i < frames.n_frames; i++) {
        struct rfn_location location = rfn_archive_location(archive, frames.frames[i]);
        if ((location.function && function_matches(location.function, wanted)) ||
            (location.file && place_matches(&location, wanted)))
            return true;
    }
    return false;
}

static void append_frames(struct rfn_text *text, uint32_t n, const char *which)
{
    if (n == 1)
        rfn_text_format(text, "the %s frame", which);
    else
        rfn_text_format(text, "the %" PRIu32 " %s frames", n, which);
}

void rfn_path_ends_line(struct rfn_text *text, const struct rfn_run *run, int width)
{
    const struct rfn_path_ends *ends = &run->path_ends;
    if (ends->inner == 0)
        return;
    rfn_text_format(text, "%-*s", width, "Paths");
    if (ends->outer > 0) {
        append_frames(text, ends->outer, "outermost");
        rfn_text_string(text, " and ");
    }
    append_frames(text, ends->inner, "innermost");
    rfn_text_string(text, " only (--call-path-match)\n");
}
