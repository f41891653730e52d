#include "analyze/behaviour/step_loops.h"

#include "base/grow.h"
#include "refrain/event.h"

#include <stdlib.h>
#include <string.h>

#define NO_SITE UINT32_MAX

/* Calls at one site in a context. */
struct rfn_step_call {
    uint32_t group, context, list, around, site;
    uint32_t n, streams;
    bool top, collective, mark;
};

/* A call site, while places are chosen. */
struct site {
    uint32_t streams; /* that have it in a loop */
    bool collective, mark;
    uint32_t partner; /* a better one that some streams have in the same context, or NO_SITE */
    uint32_t place;   /* + 1: which it stands for; 0: none */
    /* Of the group that is looked at, if group is its number + 1. */
    uint32_t group;
    uint32_t counts; /* + 1: the place that it counts for there; 0: none */
    uint32_t unit;   /* so many calls are an execution */
};

struct choosing {
    struct rfn_step_places *places;
    struct site *sites;
    uint32_t *best; /* by context of the group: the best site of the list that begins there */
};

/* Calls `first` to `end` - 1. */
struct range {
    size_t first, end;
};

/* ---- taking groups in ---- */

struct adding {
    struct rfn_step_places *places;
    const struct rfn_archive *archive;
    struct rfn_activities *activities;
    uint32_t group, n_streams, n_top;
    bool marked;
};

static int add_call(void *context, const struct rfn_context_call *call)
{
    struct adding *adding = context;
    struct rfn_step_places *places = adding->places;
    const struct rfn_function_info *info = rfn_archive_function(adding->archive, call->function);
    int64_t site = rfn_site_of(adding->activities,
                               (struct rfn_call_site){call->function, call->path});
    RFN_TRY((int)(site < 0 ? site : 0));
    RFN_TRY(RFN_GROW_ZEROED(places->looped, places->looped_capacity, (size_t)site + 1));
    bool mark = info->class_ == RFN_CLASS_SEGMENT_BEGIN, top = call->context < adding->n_top;
    if (!top)
        places->looped[site] = adding->group + 1;
    else if (!mark && places->looped[site] != adding->group + 1)
        return 0; /* the top comes last */
    RFN_TRY(RFN_GROW(places->calls, places->calls_capacity, places->n_calls + 1));
    places->calls[places->n_calls++] = (struct rfn_step_call){
        .group = adding->group,
        .context = call->context,
        .list = call->list,
        .around = call->around,
        .site = (uint32_t)site,
        .n = 1,
        .streams = adding->n_streams,
        .top = top,
        .collective = (info->flags & RFN_FUNCTION_COLLECTIVE) != 0,
        .mark = mark};
    adding->marked |= mark;
    if ((size_t)site >= places->n_sites)
        places->n_sites = (size_t)site + 1;
    return 0;
}

static int by_context_and_site(const void *left, const void *right)
{
    const struct rfn_step_call *a = left, *b = right;
    if (a->context != b->context)
        return a->context < b->context ? -1 : 1;
    return a->site < b->site ? -1 : a->site > b->site;
}

/* Calls of the same site and context from `first` on become one. */
static void join_calls(struct rfn_step_places *places, size_t first)
{
    size_t kept = first;
    if (places->n_calls > first)
        qsort(places->calls + first, places->n_calls - first, sizeof *places->calls,
              by_context_and_site);
    for (size_t i = first; i < places->n_calls; i++) {
        if (kept > first && !by_context_and_site(&places->calls[kept - 1], &places->calls[i]))
            places->calls[kept - 1].n++;
        else
            places->calls[kept++] = places->calls[i];
    }
    places->n_calls = kept;
}

int rfn_step_places_add(struct rfn_step_places *places, const struct rfn_archive *archive,
                        uint32_t group, uint32_t n_streams, const struct rfn_cursor *cursor,
                        struct rfn_activities *activities)
{
    struct adding adding = {.places = places,
                            .archive = archive,
                            .activities = activities,
                            .group = group,
                            .n_streams = n_streams,
                            .n_top = rfn_cursor_top_contexts(cursor)};
    size_t first = places->n_calls;
    RFN_TRY(RFN_GROW_ZEROED(places->groups, places->groups_capacity, group + (size_t)1));
    RFN_TRY(rfn_cursor_show_calls(cursor, add_call, &adding));
    join_calls(places, first);
    if (places->n_groups <= group)
        places->n_groups = group + (size_t)1;
    places->groups[group].n_contexts = rfn_cursor_contexts(cursor);
    places->groups[group].marked = adding.marked;
    return 0;
}

bool rfn_step_places_knows(const struct rfn_step_places *places, uint32_t group)
{
    return group < places->n_groups && places->groups[group].n_contexts > 0;
}

/* ---- ranges of calls ---- */

static struct range group_at(const struct rfn_step_places *places, size_t first)
{
    struct range range = {first, first};
    while (range.end < places->n_calls &&
           places->calls[range.end].group == places->calls[first].group)
        range.end++;
    return range;
}

static struct range context_at(const struct rfn_step_places *places, size_t first, size_t end)
{
    struct range range = {first, first};
    while (range.end < end && places->calls[range.end].context == places->calls[first].context)
        range.end++;
    return range;
}

/* ---- which site stands for a context ---- */

static bool better(const struct choosing *choosing, uint32_t a, uint32_t b)
{
    const struct site *one = &choosing->sites[a], *other;
    if (b == NO_SITE)
        return true;
    other = &choosing->sites[b];
    if (one->streams != other->streams)
        return one->streams > other->streams;
    if (one->collective != other->collective)
        return one->collective;
    return a < b;
}

static uint32_t best_of(const struct choosing *choosing, struct range range)
{
    uint32_t best = NO_SITE;
    for (size_t i = range.first; i < range.end; i++) {
        uint32_t site = choosing->places->calls[i].site;
        if (better(choosing, site, best))
            best = site;
    }
    return best;
}

/* Once per group that has the site in a loop. */
static void count_streams(struct choosing *choosing)
{
    for (size_t i = 0; i < choosing->places->n_calls; i++) {
        const struct rfn_step_call *call = &choosing->places->calls[i];
        struct site *site = &choosing->sites[call->site];
        site->collective = call->collective;
        site->mark = call->mark;
        if (call->top || site->group == call->group + 1)
            continue;
        site->group = call->group + 1;
        site->streams += call->streams;
    }
}

static void find_partners(struct choosing *choosing)
{
    const struct rfn_step_places *places = choosing->places;
    struct range range;
    for (size_t at = 0; at < places->n_calls; at = range.end) {
        struct range group = group_at(places, at);
        range = context_at(places, at, group.end);
        uint32_t best = places->calls[at].top ? NO_SITE : best_of(choosing, range);
        for (size_t i = range.first; i < range.end && best != NO_SITE; i++) {
            struct site *site = &choosing->sites[places->calls[i].site];
            if (places->calls[i].site != best && better(choosing, best, site->partner))
                site->partner = best;
        }
    }
}

static int place_of(struct choosing *choosing, uint32_t site)
{
    struct rfn_step_places *places = choosing->places;
    if (choosing->sites[site].place)
        return 0;
    RFN_TRY(RFN_GROW(places->items, places->capacity, places->n + 1));
    places->items[places->n++] = (struct rfn_step_place){.site = site};
    choosing->sites[site].place = (uint32_t)places->n;
    return 0;
}

/* ---- a group ---- */

static int choose_context(struct choosing *choosing, struct rfn_step_group *group,
                          struct range range)
{
    const struct rfn_step_call *call = &choosing->places->calls[range.first];
    uint32_t site = best_of(choosing, range), stands_for = site;
    uint32_t partner = choosing->sites[site].partner;
    if (partner != NO_SITE && choosing->sites[partner].group != call->group + 1 &&
        better(choosing, partner, site))
        stands_for = partner;
    RFN_TRY(place_of(choosing, stands_for));
    choosing->sites[site].counts = choosing->sites[stands_for].place;
    group->contexts[call->context].place = choosing->sites[stands_for].place;
    if (better(choosing, site, choosing->best[call->list]))
        choosing->best[call->list] = site;
    return 0;
}

/* Marks sites as those of the group. */
static void enter_group(struct choosing *choosing, struct range range)
{
    for (size_t i = range.first; i < range.end; i++) {
        struct site *site = &choosing->sites[choosing->places->calls[i].site];
        site->group = choosing->places->calls[i].group + 1;
        site->counts = 0;
        site->unit = UINT32_MAX;
    }
}

static void find_units(struct choosing *choosing, struct range range)
{
    for (size_t i = range.first; i < range.end; i++) {
        const struct rfn_step_call *call = &choosing->places->calls[i];
        struct site *site = &choosing->sites[call->site];
        if (!call->top && call->n < site->unit)
            site->unit = call->n;
    }
}

/* Places of the loop around are parents. */
static void find_parents(struct choosing *choosing, const struct rfn_step_group *group,
                         struct range range)
{
    for (size_t i = range.first; i < range.end; i++) {
        const struct rfn_step_call *call = &choosing->places->calls[i];
        uint32_t place = call->top ? 0 : group->contexts[call->context].place;
        if (!place || call->around == RFN_NO_CONTEXT || choosing->best[call->around] == NO_SITE)
            continue;
        uint32_t parent = choosing->sites[choosing->best[call->around]].counts;
        if (parent != place && !choosing->places->items[place - 1].parent)
            choosing->places->items[place - 1].parent = parent;
    }
}

static void fill_counts(struct choosing *choosing, struct rfn_step_group *group, struct range range)
{
    uint32_t n = 0;
    for (size_t i = range.first; i < range.end; i++) {
        const struct rfn_step_call *call = &choosing->places->calls[i];
        const struct site *site = &choosing->sites[call->site];
        struct rfn_step_context *context = &group->contexts[call->context];
        uint32_t by = call->n > site->unit ? call->n / site->unit : 1;
        if (!site->counts)
            continue;
        if (context->place == site->counts) {
            context->by += by;
            continue;
        }
        if (!context->end)
            context->first = n;
        group->counts[n++] = (struct rfn_step_count){site->counts - 1, by};
        context->end = n;
    }
}

static int choose_group(struct choosing *choosing, struct rfn_step_group *group, struct range range)
{
    const struct rfn_step_places *places = choosing->places;
    struct range context;
    group->contexts = calloc(group->n_contexts + (size_t)1, sizeof *group->contexts);
    group->counts = calloc(range.end - range.first + 1, sizeof *group->counts);
    choosing->best = malloc((group->n_contexts + (size_t)1) * sizeof *choosing->best);
    if (!group->contexts || !group->counts || !choosing->best)
        return RFN_E_NOMEM;
    for (uint32_t i = 0; i < group->n_contexts; i++)
        choosing->best[i] = NO_SITE;
    enter_group(choosing, range);
    for (size_t at = range.first; at < range.end; at = context.end) {
        context = context_at(places, at, range.end);
        if (!places->calls[at].top)
            RFN_TRY(choose_context(choosing, group, context));
    }
    find_units(choosing, range);
    find_parents(choosing, group, range);
    fill_counts(choosing, group, range);
    return 0;
}

static int choose_marks(struct choosing *choosing, struct range range)
{
    struct rfn_step_places *places = choosing->places;
    for (size_t i = range.first; i < range.end; i++) {
        uint32_t site = places->calls[i].site;
        if (!places->calls[i].mark)
            continue;
        RFN_TRY(place_of(choosing, site));
        places->of_mark[site] = choosing->sites[site].place;
    }
    return 0;
}

/* ---- all ---- */

static int choose_groups(struct choosing *choosing)
{
    struct rfn_step_places *places = choosing->places;
    struct range range;
    for (size_t at = 0; at < places->n_calls; at = range.end) {
        range = group_at(places, at);
        struct rfn_step_group *group = &places->groups[places->calls[at].group];
        int error = group->marked ? choose_marks(choosing, range)
                                  : choose_group(choosing, group, range);
        free(choosing->best);
        choosing->best = NULL;
        RFN_TRY(error);
    }
    return 0;
}

int rfn_step_places_choose(struct rfn_step_places *places)
{
    struct choosing choosing = {.places = places,
                                .sites = calloc(places->n_sites + 1, sizeof *choosing.sites)};
    int error = RFN_E_NOMEM;
    places->of_mark = calloc(places->n_sites + 1, sizeof *places->of_mark);
    if (choosing.sites && places->of_mark) {
        for (size_t i = 0; i < places->n_sites; i++)
            choosing.sites[i].partner = NO_SITE;
        count_streams(&choosing);
        find_partners(&choosing);
        error = choose_groups(&choosing);
    }
    free(choosing.sites);
    free(places->calls);
    free(places->looped);
    places->calls = NULL;
    places->looped = NULL;
    places->n_calls = 0;
    return error;
}

void rfn_step_places_release(struct rfn_step_places *places)
{
    for (size_t i = 0; i < places->n_groups; i++) {
        free(places->groups[i].contexts);
        free(places->groups[i].counts);
    }
    free(places->groups);
    free(places->items);
    free(places->of_mark);
    free(places->calls);
    free(places->looped);
    *places = (struct rfn_step_places){0};
}
