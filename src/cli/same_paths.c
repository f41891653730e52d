#include "cli/same_paths.h"

#include "cli/call_path.h"
#include "cli/text.h"

#include <stdlib.h>
#include <string.h>

struct line {
    struct rfn_text text;
    uint32_t path;
};

static int by_text(const void *left, const void *right)
{
    const struct line *a = left, *b = right;
    size_t n = a->text.n < b->text.n ? a->text.n : b->text.n;
    int order = n ? memcmp(a->text.data, b->text.data, n) : 0;
    if (!order && a->text.n != b->text.n)
        order = a->text.n < b->text.n ? -1 : 1;
    if (!order)
        order = a->path < b->path ? -1 : a->path > b->path;
    return order;
}

static bool same_text(const struct line *a, const struct line *b)
{
    return a->text.n == b->text.n && (!a->text.n || !memcmp(a->text.data, b->text.data, a->text.n));
}

static int find_first(struct rfn_same_paths *same, struct line *lines,
                      const struct rfn_archive *archive)
{
    bool failed = false;
    for (uint32_t i = 0; i < same->n; i++) {
        lines[i].path = i;
        rfn_call_path_full(&lines[i].text, archive, i);
        failed |= lines[i].text.failed;
    }
    if (failed)
        return RFN_E_NOMEM;
    qsort(lines, same->n, sizeof *lines, by_text);
    for (uint32_t i = 0; i < same->n; i++) {
        bool again = i > 0 && same_text(&lines[i - 1], &lines[i]);
        same->first[lines[i].path] = again ? same->first[lines[i - 1].path] : lines[i].path;
    }
    return 0;
}

int rfn_same_paths_init(struct rfn_same_paths *same, const struct rfn_archive *archive)
{
    uint32_t n = rfn_archive_paths(archive);
    struct line *lines = calloc((size_t)n + 1, sizeof *lines);
    *same = (struct rfn_same_paths){calloc((size_t)n + 1, sizeof *same->first), n};
    int error = lines && same->first ? find_first(same, lines, archive) : RFN_E_NOMEM;
    for (uint32_t i = 0; lines && i < n; i++)
        rfn_text_release(&lines[i].text);
    free(lines);
    if (error)
        rfn_same_paths_release(same);
    return error;
}

void rfn_same_paths_release(struct rfn_same_paths *same)
{
    free(same->first);
    *same = (struct rfn_same_paths){0};
}

uint32_t rfn_same_paths_first(const struct rfn_same_paths *same, uint32_t path)
{
    return path < same->n ? same->first[path] : path;
}
