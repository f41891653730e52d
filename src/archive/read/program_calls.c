/* rfn_archive_calls_between: of the calls that DEFINITIONS lists of a function, those between two
 * of its locations. */
#include "archive/read/reader.h"

static bool is_behind(const struct rfn_program_call *call, const struct rfn_location *from)
{
    return call->line > from->line || (call->line == from->line && call->offset > from->offset);
}

static bool is_before(const struct rfn_program_call *call, const struct rfn_location *to)
{
    return call->line < to->line || (call->line == to->line && call->offset < to->offset);
}

/* The calls of a function that are to be given, and those that have been. */
struct giving {
    const struct rfn_dictionary_caller *caller;
    struct rfn_program_call *calls;
    uint32_t most, n;
};

/* Those behind `from` and before `to` (NULL: all) on these lines. */
static void give(struct giving *giving, const struct rfn_location *from,
                 const struct rfn_location *to, struct rfn_dictionary_loop lines)
{
    for (uint32_t i = 0; i < giving->caller->n_calls; i++) {
        const struct rfn_program_call *call = &giving->caller->calls[i];
        if (call->line < lines.first || call->line > lines.last ||
            (from && !is_behind(call, from)) || (to && !is_before(call, to)))
            continue;
        if (giving->n < giving->most)
            giving->calls[giving->n] = *call;
        giving->n++;
    }
}

/* The one with the fewest lines around both; NULL. */
static const struct rfn_dictionary_loop *loop_around(const struct rfn_dictionary_caller *caller,
                                                     uint32_t a, uint32_t b)
{
    const struct rfn_dictionary_loop *best = NULL;
    for (uint32_t i = 0; i < caller->n_loops; i++) {
        const struct rfn_dictionary_loop *loop = &caller->loops[i];
        if (loop->first <= a && a <= loop->last && loop->first <= b && b <= loop->last &&
            (!best || loop->last - loop->first < best->last - best->first))
            best = loop;
    }
    return best;
}

bool rfn_archive_calls_between(const struct rfn_archive *archive, uint32_t from, uint32_t to,
                               struct rfn_program_call *calls, uint32_t most, uint32_t *n)
{
    const struct rfn_dictionary_location *locations = archive->dictionary.locations;
    const struct rfn_dictionary_location *a = from == RFN_NO_LOCATION ? NULL : &locations[from];
    const struct rfn_dictionary_location *b = to == RFN_NO_LOCATION ? NULL : &locations[to];
    struct giving giving = {a ? a->caller : b ? b->caller : NULL, calls, most, 0};
    const struct rfn_dictionary_loop all = {0, UINT32_MAX}, *loop = NULL;
    *n = 0;
    if (!giving.caller || (b && b->caller != giving.caller))
        return false;
    if (!a || !b || b->is.line >= a->is.line)
        give(&giving, a ? &a->is : NULL, b ? &b->is : NULL, all);
    if (a && b && b->is.line <= a->is.line && giving.n == 0) {
        loop = loop_around(giving.caller, a->is.line, b->is.line);
        if (!loop)
            return false;
        give(&giving, &a->is, NULL, *loop);
        give(&giving, NULL, &b->is, *loop);
    }
    *n = giving.n;
    return true;
}
