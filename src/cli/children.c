#include "cli/children.h"

#include "cli/json.h"
#include "refrain/event.h"

#include <stdlib.h>

enum { SHOWN = 10 };

/* The outcome of a function that names an archive, or -1. */
static int archive_outcome(const struct rfn_function_info *function)
{
    if (strncmp(function->name, "MPI_Comm_spawn", 14) != 0)
        return -1;
    for (int i = 0; i < function->n_out; i++) {
        const struct rfn_param_info *param = &function->params[function->n_in + i];
        if (param->kind == RFN_KIND_STRING && strcmp(param->name, "archive") == 0)
            return i;
    }
    return -1;
}

static bool has_any(const struct rfn_archive *archive)
{
    for (uint32_t f = 0; f < rfn_archive_functions(archive); f++) {
        if (archive_outcome(rfn_archive_function(archive, f)) >= 0)
            return true;
    }
    return false;
}

static int add(struct rfn_children *children, const int64_t *words, size_t n, uint32_t rank)
{
    struct rfn_child *more = realloc(children->children, (children->n + 1) * sizeof *more);
    if (!more)
        return RFN_E_NOMEM;
    children->children = more;
    char *name = malloc(n + 1);
    if (!name)
        return RFN_E_NOMEM;
    for (size_t i = 0; i < n; i++)
        name[i] = (char)words[i];
    name[n] = 0;
    more[children->n++] = (struct rfn_child){name, rank};
    return 0;
}

static int add_stream(struct rfn_children *children, const struct rfn_archive *archive,
                      uint32_t stream)
{
    struct rfn_cursor *cursor;
    const struct rfn_record *record;
    struct rfn_diag diag = {.file_offset = -1, .rank = -1};
    int error = 0;
    if (rfn_cursor_open(archive, stream, &cursor, &diag) < 0)
        return 0;
    while (error == 0 && rfn_cursor_next(cursor, &record, &diag) > 0) {
        int outcome = archive_outcome(rfn_archive_function(archive, record->function));
        size_t n = 0;
        const int64_t *words =
            outcome < 0 ? NULL : rfn_cursor_list(cursor, record->out[outcome], &n, RFN_KIND_STRING);
        if (n > 0)
            error = add(children, words, n, rfn_archive_stream(archive, stream).rank);
    }
    rfn_cursor_close(cursor);
    return error;
}

int rfn_children_init(struct rfn_children *children, const struct rfn_archive *archive)
{
    uint32_t n = has_any(archive) ? rfn_archive_run(archive)->streams : 0;
    int error = 0;
    *children = (struct rfn_children){0};
    for (uint32_t i = 0; i < n && error == 0; i++)
        error = add_stream(children, archive, i);
    if (error < 0)
        rfn_children_release(children);
    return error;
}

void rfn_children_release(struct rfn_children *children)
{
    for (size_t i = 0; i < children->n; i++)
        free(children->children[i].archive);
    free(children->children);
    *children = (struct rfn_children){0};
}

static void append(struct rfn_text *text, const struct rfn_children *children)
{
    for (size_t i = 0; i < children->n && i < SHOWN; i++) {
        if (i)
            rfn_text_string(text, ", ");
        rfn_text_printable(text, children->children[i].archive);
        rfn_text_format(text, " (by rank %u)", children->children[i].rank);
    }
    if (children->n > SHOWN)
        rfn_text_format(text, " and %zu more", children->n - SHOWN);
}

void rfn_children_line(struct rfn_text *text, const struct rfn_archive *archive, int width)
{
    struct rfn_children children;
    if (rfn_children_init(&children, archive) < 0) {
        text->failed = true;
        return;
    }
    if (children.n) {
        rfn_text_format(text, "%-*s", width, "Started");
        append(text, &children);
        rfn_text_char(text, '\n');
    }
    rfn_children_release(&children);
}

json_t *rfn_json_children(const struct rfn_archive *archive)
{
    struct rfn_children children;
    if (rfn_children_init(&children, archive) < 0)
        return rfn_json_fail();
    json_t *list = json_array();
    for (size_t i = 0; i < children.n; i++) {
        json_t *child = json_object();
        json_object_set_new(child, "archive", rfn_json_text(children.children[i].archive));
        json_object_set_new(child, "rank", json_integer(children.children[i].rank));
        json_array_append_new(list, child);
    }
    rfn_children_release(&children);
    return list;
}
