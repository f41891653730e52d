#include "explain/same_paths.h"

#include "refrain/explain.h"

#include <stdlib.h>

struct line {
    struct rfn_text text;
    uint32_t path;
};

static int compare_texts(const struct line *a, const struct line *b)
{
    size_t n = a->text.n < b->text.n ? a->text.n : b->text.n;
    int order = n ? memcmp(a->text.data, b->text.data, n) : 0;
    return order ? order : a->text.n < b->text.n ? -1 : a->text.n > b->text.n;
}

static int by_text(const void *left, const void *right)
{
    const struct line *a = left, *b = right;
    int order = compare_texts(a, b);
    return order ? order : a->path < b->path ? -1 : a->path > b->path;
}

int rfn_same_paths_init(struct rfn_same_paths *same, const struct rfn_archive *archive)
{
    uint32_t n = rfn_archive_paths(archive);
    struct line *lines = calloc((size_t)n + 1, sizeof *lines);
    *same = (struct rfn_same_paths){calloc((size_t)n + 1, sizeof *same->first), n};
    bool failed = !lines || !same->first;
    for (uint32_t i = 0; i < n && !failed; i++) {
        lines[i].path = i;
        rfn_call_path_full(&lines[i].text, archive, i);
        failed = lines[i].text.failed;
    }
    if (!failed)
        qsort(lines, n, sizeof *lines, by_text);
    for (uint32_t i = 0; i < n && !failed; i++) {
        bool again = i > 0 && compare_texts(&lines[i - 1], &lines[i]) == 0;
        same->first[lines[i].path] = again ? same->first[lines[i - 1].path] : lines[i].path;
    }
    for (uint32_t i = 0; lines && i < n; i++)
        rfn_text_release(&lines[i].text);
    free(lines);
    if (failed)
        rfn_same_paths_release(same);
    return failed ? RFN_E_NOMEM : 0;
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
