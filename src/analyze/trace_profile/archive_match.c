#include "analyze/trace_profile/archive_match.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- do they read the same? ---- */

static bool same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool same_path(const struct rfn_archive_match *pairing, uint32_t first, uint32_t second)
{
    struct rfn_path a = rfn_archive_path(pairing->first, first);
    struct rfn_path b = rfn_archive_path(pairing->second, second);
    if (a.n_frames != b.n_frames)
        return false;
    for (uint32_t i = 0; i < a.n_frames; i++) {
        struct rfn_location x = rfn_archive_location(pairing->first, a.frames[i]);
        struct rfn_location y = rfn_archive_location(pairing->second, b.frames[i]);
        if (!same_text(x.function, y.function) || !same_text(x.file, y.file) || x.line != y.line ||
            (!x.function && x.offset != y.offset))
            return false;
    }
    return true;
}

static const char *function_name(const struct rfn_archive *archive, uint32_t function)
{
    return function < rfn_archive_functions(archive) ? rfn_archive_function(archive, function)->name
                                                     : "?";
}

/* ---- streams ---- */

static int differ(struct rfn_diag *diag, const struct rfn_stream_info *info, const char *what)
{
    return rfn_fail(diag, RFN_E_USAGE, -1, (int)info->rank,
                    "the archives are not of the same events: thread %u of rank %u %s",
                    info->thread, info->rank, what);
}

static int check_streams(const struct rfn_archive_match *pairing, struct rfn_diag *diag)
{
    const struct rfn_run *first = rfn_archive_run(pairing->first);
    const struct rfn_run *second = rfn_archive_run(pairing->second);
    if (first->ranks != second->ranks || first->streams != second->streams)
        return rfn_fail(diag, RFN_E_USAGE, -1, -1,
                        "the archives are not of the same events: one has %u threads of %u ranks, "
                        "the other %u of %u",
                        first->streams, first->ranks, second->streams, second->ranks);
    for (uint32_t i = 0; i < first->streams; i++) {
        struct rfn_stream_info a = rfn_archive_stream(pairing->first, i);
        struct rfn_stream_info b = rfn_archive_stream(pairing->second, i);
        char what[96];
        if (a.rank != b.rank || a.thread != b.thread)
            return differ(diag, &a, "is in one of them only");
        if (a.events == b.events)
            continue;
        snprintf(what, sizeof what, "has %llu events in one and %llu in the other",
                 (unsigned long long)a.events, (unsigned long long)b.events);
        return differ(diag, &a, what);
    }
    return 0;
}

/* ---- pairs ---- */

static uint32_t *no_pairs(uint32_t n)
{
    uint32_t *numbers = malloc(((size_t)n + 1) * sizeof *numbers);
    for (uint32_t i = 0; numbers && i < n; i++)
        numbers[i] = RFN_NO_PAIR;
    return numbers;
}

int rfn_archive_match_init(struct rfn_archive_match *pairing, const struct rfn_archive *first,
                           const struct rfn_archive *second, struct rfn_diag *diag)
{
    *pairing = (struct rfn_archive_match){.first = first, .second = second};
    RFN_TRY(check_streams(pairing, diag));
    pairing->n_functions = rfn_archive_functions(second);
    pairing->n_paths = rfn_archive_paths(second);
    pairing->functions = no_pairs(pairing->n_functions);
    pairing->paths = no_pairs(pairing->n_paths);
    if (pairing->functions && pairing->paths)
        return 0;
    rfn_archive_match_release(pairing);
    return rfn_fail(diag, RFN_E_NOMEM, -1, -1, "out of memory");
}

void rfn_archive_match_release(struct rfn_archive_match *pairing)
{
    free(pairing->functions);
    free(pairing->paths);
    *pairing = (struct rfn_archive_match){0};
}

/* Each pair is compared once: afterwards it is known which number belongs to it. */
int rfn_archive_match_event(struct rfn_archive_match *pairing, uint32_t stream,
                            const struct rfn_record *first, const struct rfn_record *second,
                            struct rfn_diag *diag)
{
    const unsigned long long number = first->index + 1;
    bool calls = false;
    char what[256];
    if (first->function < rfn_archive_functions(pairing->first) &&
        second->function < pairing->n_functions) {
        uint32_t *pair = &pairing->functions[second->function];
        if (*pair == RFN_NO_PAIR && same_text(function_name(pairing->first, first->function),
                                              function_name(pairing->second, second->function)))
            *pair = first->function;
        calls = *pair == first->function;
    }
    if (calls && first->path < rfn_archive_paths(pairing->first) &&
        second->path < pairing->n_paths) {
        uint32_t *pair = &pairing->paths[second->path];
        if (*pair == RFN_NO_PAIR && same_path(pairing, first->path, second->path))
            *pair = first->path;
        if (*pair == first->path)
            return 0;
    }
    const struct rfn_stream_info info = rfn_archive_stream(pairing->first, stream);
    const char *a = function_name(pairing->first, first->function);
    const char *b = function_name(pairing->second, second->function);
    if (calls)
        snprintf(what, sizeof what, "calls %.80s from two places, as its event %llu", a, number);
    else
        snprintf(what, sizeof what, "calls %.80s in one and %.80s in the other, as its event %llu",
                 a, b, number);
    return differ(diag, &info, what);
}

uint32_t rfn_archive_match_function(const struct rfn_archive_match *pairing, uint32_t function)
{
    return function < pairing->n_functions ? pairing->functions[function] : RFN_NO_PAIR;
}

uint32_t rfn_archive_match_path(const struct rfn_archive_match *pairing, uint32_t path)
{
    return path < pairing->n_paths ? pairing->paths[path] : RFN_NO_PAIR;
}
