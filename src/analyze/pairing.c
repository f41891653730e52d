#include "analyze/pairing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- do they read the same? ---- */

static bool same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool same_location(const struct rfn_location *a, const struct rfn_location *b)
{
    return same_text(a->function, b->function) && same_text(a->file, b->file) &&
           a->line == b->line && (a->function || a->offset == b->offset);
}

static bool same_path(const struct rfn_pairing *pairing, uint32_t first, uint32_t second)
{
    struct rfn_path a = rfn_archive_path(pairing->first, first);
    struct rfn_path b = rfn_archive_path(pairing->second, second);
    if (a.n_frames != b.n_frames)
        return false;
    for (uint32_t i = 0; i < a.n_frames; i++) {
        struct rfn_location of_a = rfn_archive_location(pairing->first, a.frames[i]);
        struct rfn_location of_b = rfn_archive_location(pairing->second, b.frames[i]);
        if (!same_location(&of_a, &of_b))
            return false;
    }
    return true;
}

static const char *function_name(const struct rfn_archive *archive, uint32_t function)
{
    return function < rfn_archive_functions(archive) ? rfn_archive_function(archive, function)->name
                                                     : NULL;
}

/* ---- streams ---- */

static int differ(struct rfn_diag *diag, const struct rfn_stream_info *info, const char *what)
{
    return rfn_fail(diag, RFN_E_USAGE, -1, (int)info->rank,
                    "the archives are not of the same events: thread %u of rank %u %s",
                    info->thread, info->rank, what);
}

static int check_stream(const struct rfn_pairing *pairing, uint32_t stream, struct rfn_diag *diag)
{
    struct rfn_stream_info a = rfn_archive_stream(pairing->first, stream);
    struct rfn_stream_info b = rfn_archive_stream(pairing->second, stream);
    char what[96];
    if (a.rank != b.rank || a.thread != b.thread)
        return differ(diag, &a, "is in one of them only");
    if (a.events == b.events)
        return 0;
    snprintf(what, sizeof what, "has %llu events in one and %llu in the other",
             (unsigned long long)a.events, (unsigned long long)b.events);
    return differ(diag, &a, what);
}

static int check_streams(const struct rfn_pairing *pairing, struct rfn_diag *diag)
{
    const struct rfn_run *a = rfn_archive_run(pairing->first);
    const struct rfn_run *b = rfn_archive_run(pairing->second);
    if (a->ranks != b->ranks || a->streams != b->streams)
        return rfn_fail(diag, RFN_E_USAGE, -1, -1,
                        "the archives are not of the same events: one has %u threads of %u ranks, "
                        "the other %u of %u",
                        a->streams, a->ranks, b->streams, b->ranks);
    for (uint32_t i = 0; i < a->streams; i++)
        RFN_TRY(check_stream(pairing, i, diag));
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

int rfn_pairing_init(struct rfn_pairing *pairing, const struct rfn_archive *first,
                     const struct rfn_archive *second, struct rfn_diag *diag)
{
    *pairing = (struct rfn_pairing){.first = first, .second = second};
    RFN_TRY(check_streams(pairing, diag));
    pairing->n_functions = rfn_archive_functions(second);
    pairing->n_paths = rfn_archive_paths(second);
    pairing->functions = no_pairs(pairing->n_functions);
    pairing->paths = no_pairs(pairing->n_paths);
    if (pairing->functions && pairing->paths)
        return 0;
    rfn_pairing_release(pairing);
    return rfn_fail(diag, RFN_E_NOMEM, -1, -1, "out of memory");
}

void rfn_pairing_release(struct rfn_pairing *pairing)
{
    free(pairing->functions);
    free(pairing->paths);
    *pairing = (struct rfn_pairing){0};
}

/* Each is compared once: afterwards it is known which number belongs to it. */
static bool same_functions(struct rfn_pairing *pairing, uint32_t first, uint32_t second)
{
    if (second >= pairing->n_functions || first >= rfn_archive_functions(pairing->first))
        return false;
    if (pairing->functions[second] == RFN_NO_PAIR &&
        same_text(function_name(pairing->first, first), function_name(pairing->second, second)))
        pairing->functions[second] = first;
    return pairing->functions[second] == first;
}

static bool same_paths(struct rfn_pairing *pairing, uint32_t first, uint32_t second)
{
    if (second >= pairing->n_paths || first >= rfn_archive_paths(pairing->first))
        return false;
    if (pairing->paths[second] == RFN_NO_PAIR && same_path(pairing, first, second))
        pairing->paths[second] = first;
    return pairing->paths[second] == first;
}

static int other_function(const struct rfn_pairing *pairing, const struct rfn_stream_info *info,
                          const struct rfn_record *first, const struct rfn_record *second,
                          struct rfn_diag *diag)
{
    const char *a = function_name(pairing->first, first->function);
    const char *b = function_name(pairing->second, second->function);
    char what[256];
    snprintf(what, sizeof what, "calls %.80s in one and %.80s in the other, as its event %llu",
             a ? a : "?", b ? b : "?", (unsigned long long)first->index + 1);
    return differ(diag, info, what);
}

static int other_path(const struct rfn_pairing *pairing, const struct rfn_stream_info *info,
                      const struct rfn_record *first, struct rfn_diag *diag)
{
    const char *name = function_name(pairing->first, first->function);
    char what[256];
    snprintf(what, sizeof what, "calls %.80s from two places, as its event %llu", name ? name : "?",
             (unsigned long long)first->index + 1);
    return differ(diag, info, what);
}

int rfn_pairing_event(struct rfn_pairing *pairing, uint32_t stream, const struct rfn_record *first,
                      const struct rfn_record *second, struct rfn_diag *diag)
{
    bool calls = same_functions(pairing, first->function, second->function);
    if (calls && same_paths(pairing, first->path, second->path))
        return 0;
    struct rfn_stream_info info = rfn_archive_stream(pairing->first, stream);
    return calls ? other_path(pairing, &info, first, diag)
                 : other_function(pairing, &info, first, second, diag);
}

uint32_t rfn_pairing_function(const struct rfn_pairing *pairing, uint32_t function)
{
    return function < pairing->n_functions ? pairing->functions[function] : RFN_NO_PAIR;
}

uint32_t rfn_pairing_path(const struct rfn_pairing *pairing, uint32_t path)
{
    return path < pairing->n_paths ? pairing->paths[path] : RFN_NO_PAIR;
}
