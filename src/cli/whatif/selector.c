#include "cli/whatif/selector.h"

#include "cli/args/rank_filter.h"
#include "cli/whatif/kept.h"
#include "refrain/demangle.h"

#include <stdlib.h>

static const char *const names[RFN_SELECTORS] = {
    [RFN_SELECT_WAIT] = "wait",     [RFN_SELECT_CALL] = "call", [RFN_SELECT_COMPUTE] = "compute",
    [RFN_SELECT_REGION] = "region", [RFN_SELECT_RANK] = "rank", [RFN_SELECT_BYTES] = "bytes",
    [RFN_SELECT_EVENT] = "event",   [RFN_SELECT_L] = "L",       [RFN_SELECT_O] = "o",
    [RFN_SELECT_G] = "G",           [RFN_SELECT_S] = "S",       [RFN_SELECT_BEFORE] = "before",
};

int rfn_selector_init(struct rfn_selector *selector, const struct rfn_archive *archive,
                      enum rfn_selector_kind kind, const char *text)
{
    *selector = (struct rfn_selector){.kind = kind, .archive = archive};
    if (!text)
        return 0;
    selector->text = malloc(strlen(text) + 1);
    if (!selector->text)
        return RFN_E_NOMEM;
    strcpy(selector->text, text);
    return 0;
}

void rfn_selector_release(struct rfn_selector *selector)
{
    free(selector->text);
    free(selector->ranks);
    *selector = (struct rfn_selector){0};
}

void rfn_selector_append(struct rfn_text *text, const struct rfn_selector *selector)
{
    rfn_text_string(text, names[selector->kind]);
    if (!selector->text)
        return;
    rfn_text_char(text, ':');
    rfn_text_printable(text, selector->text);
    if (selector->on)
        rfn_text_format(text, "@%s", selector->on);
}

/* ---- which activities ---- */

static bool holds(const struct rfn_selector *selector, struct rfn_text *words)
{
    const char *text = rfn_text_terminated(words);
    bool is = selector->part ? strstr(text, selector->text) != NULL
                             : strcmp(text, selector->text) == 0;
    rfn_text_release(words);
    return is;
}

/* What makes a name a call: "smooth()", "operator()", "code after smooth()+0x1f40". */
static const char *brackets_of(const char *name, const char *function)
{
    const size_t n = strlen(name);
    return rfn_name_distance(function) || (n && name[n - 1] == ')') ? "" : "()";
}

/* Whether text is the name, as a call, or, as a part, in it; name may be NULL. */
static bool is_name(const struct rfn_selector *selector, const char *name, const char *function)
{
    const size_t n = name ? strlen(name) : 0;
    if (!name || selector->part)
        return name && strstr(name, selector->text);
    return strncmp(selector->text, name, n) == 0 &&
           strcmp(selector->text + n, brackets_of(name, function)) == 0;
}

/* By the name that is printed, that without a module, that of the source, or that of the linker. */
static bool is_named(const struct rfn_selector *selector, const struct rfn_location *location)
{
    const char *function = location->function;
    char *name = rfn_short_name(function, true), *plain = rfn_demangle(function, true);
    struct rfn_text label = {0};
    rfn_call_path_label(&label, selector->archive, location);
    const bool is = is_name(selector, rfn_text_terminated(&label), function) ||
                    is_name(selector, name, function) || is_name(selector, plain, function) ||
                    is_name(selector, function, function);
    rfn_text_release(&label);
    free(plain);
    free(name);
    return is;
}

void rfn_selector_append_function(struct rfn_text *text, const struct rfn_archive *archive,
                                  const struct rfn_activity *activity)
{
    struct rfn_location location;
    if (!rfn_activity_location(archive, activity, &location) || !location.function)
        return;
    rfn_call_path_label(text, archive, &location);
    rfn_text_string(text, brackets_of(rfn_text_terminated(text), location.function));
}

static bool is_function(const struct rfn_selector *selector, const struct rfn_activity *activity)
{
    struct rfn_location location;
    struct rfn_text words = {0};
    if (rfn_activity_location(selector->archive, activity, &location) && location.function &&
        is_named(selector, &location) &&
        (selector->part || rfn_activity_functions(selector->archive, activity) == 1))
        return true;
    rfn_activity_append(&words, selector->archive, activity);
    const char *all = rfn_text_terminated(&words);
    const bool is = selector->part ? strstr(all, selector->text) != NULL
                                   : strncmp(all, RFN_COMPUTING, strlen(RFN_COMPUTING)) == 0 &&
                                         strcmp(all + strlen(RFN_COMPUTING), selector->text) == 0;
    rfn_text_release(&words);
    return is;
}

static bool is_region(const struct rfn_selector *selector, const struct rfn_activity *activity)
{
    return activity->region < rfn_archive_regions(selector->archive) &&
           strcmp(rfn_archive_region(selector->archive, activity->region), selector->text) == 0;
}

/* By the short form, which is printed, or by the whole path, where that is longer. */
static bool is_path(const struct rfn_selector *selector, const struct rfn_activity *activity)
{
    static const char cut[] = " < ...";
    const char *call = rfn_call_site_function(selector->archive, activity->at)->name;
    struct rfn_text words = {0}, whole = {0};
    if (!selector->part && strncmp(selector->text, call, strlen(call)) != 0)
        return false;
    rfn_call_site_path(&words, selector->archive, activity->at, RFN_SHORT_PATH);
    const bool longer = words.n >= sizeof cut - 1 &&
                        memcmp(words.data + words.n - (sizeof cut - 1), cut, sizeof cut - 1) == 0;
    if (holds(selector, &words))
        return true;
    if (longer)
        rfn_call_site_path(&whole, selector->archive, activity->at, RFN_WHOLE_PATH);
    return longer && holds(selector, &whole);
}

static bool takes(const void *context, const struct rfn_activity *activity)
{
    const struct rfn_selector *selector = context;
    switch (selector->kind) {
    case RFN_SELECT_COMPUTE:
        return is_function(selector, activity);
    case RFN_SELECT_REGION:
        return is_region(selector, activity);
    case RFN_SELECT_WAIT:
    case RFN_SELECT_CALL:
        return is_path(selector, activity);
    default:
        return true;
    }
}

size_t rfn_selector_assume(const struct rfn_selector *selector, double factor,
                           struct rfn_assumption assumptions[2])
{
    static const enum rfn_assumed what[RFN_SELECTORS] = {
        [RFN_SELECT_WAIT] = RFN_ASSUME_WAIT,
        [RFN_SELECT_CALL] = RFN_ASSUME_CALL,
        [RFN_SELECT_COMPUTE] = RFN_ASSUME_COMPUTE,
        [RFN_SELECT_REGION] = RFN_ASSUME_COMPUTE,
        [RFN_SELECT_RANK] = RFN_ASSUME_COMPUTE,
        [RFN_SELECT_BYTES] = RFN_ASSUME_TRANSFER,
        [RFN_SELECT_EVENT] = RFN_ASSUME_CALL,
        [RFN_SELECT_BEFORE] = RFN_ASSUME_COMPUTE,
        [RFN_SELECT_L] = RFN_ASSUME_L,
        [RFN_SELECT_O] = RFN_ASSUME_O,
        [RFN_SELECT_G] = RFN_ASSUME_G,
        [RFN_SELECT_S] = RFN_ASSUME_S,
    };
    const bool event = selector->kind == RFN_SELECT_EVENT;
    assumptions[0] = (struct rfn_assumption){.what = what[selector->kind],
                                             .factor = factor,
                                             .takes = takes,
                                             .context = selector,
                                             .ranks = selector->ranks,
                                             .least_bytes = selector->least,
                                             .most_bytes = selector->most,
                                             .single = event || selector->kind == RFN_SELECT_BEFORE,
                                             .event = selector->event};
    assumptions[1] = assumptions[0];
    assumptions[1].what = RFN_ASSUME_WAIT;
    return event ? 2 : 1;
}

/* ---- as people write them ---- */

static int wrong_text(struct rfn_text *wrong, const char *format, const char *text)
{
    rfn_text_format(wrong, format, text);
    return RFN_E_USAGE;
}

/* The length of the longest text that stands in both. */
static size_t in_common(const char *a, const char *b)
{
    size_t most = 0;
    for (; *a; a++) {
        for (const char *at = b; *at; at++) {
            size_t n = 0;
            while (a[n] && a[n] == at[n])
                n++;
            most = n > most ? n : most;
        }
    }
    return most;
}

enum { NEAR = 5 };

/* Names, those that have most in common with what was asked first. */
struct near {
    char *names[NEAR + 1];
    size_t common[NEAR + 1], n;
};

/* A name that is not there yet; the last of too many goes. */
static int take_near(struct near *near, const char *name, const char *asked)
{
    const size_t common = in_common(name, asked);
    size_t at = near->n;
    for (size_t i = 0; i < near->n; i++) {
        if (strcmp(near->names[i], name) == 0)
            return 0;
    }
    if (near->n == NEAR && near->common[NEAR - 1] >= common)
        return 0;
    char *copy = malloc(strlen(name) + 1);
    if (!copy)
        return RFN_E_NOMEM;
    strcpy(copy, name);
    for (; at > 0 && near->common[at - 1] < common; at--) {
        near->names[at] = near->names[at - 1];
        near->common[at] = near->common[at - 1];
    }
    near->names[at] = copy;
    near->common[at] = common;
    if (near->n == NEAR)
        free(near->names[NEAR]);
    else
        near->n++;
    return 0;
}

/* Names of the same kind that the run has. */
static int append_near(struct rfn_text *wrong, const struct rfn_selector *selector,
                       const struct rfn_measured *run)
{
    const struct rfn_waits *waits = run->waits;
    const bool compute = selector->kind == RFN_SELECT_COMPUTE;
    struct near near = {.n = 0};
    int error = 0;
    for (size_t i = 0; i < waits->n_activities && !error; i++) {
        const struct rfn_activity *activity = &waits->activities[i];
        struct rfn_location location = {0};
        struct rfn_text name = {0};
        if (compute)
            rfn_activity_location(run->archive, activity, &location);
        if (activity->kind != (compute ? RFN_ACTIVITY_COMPUTE : RFN_ACTIVITY_MPI) ||
            (compute && !location.function))
            continue;
        if (compute)
            rfn_call_path_label(&name, run->archive, &location);
        else
            rfn_call_site_path(&name, run->archive, activity->at, RFN_SHORT_PATH);
        error = take_near(&near, rfn_text_terminated(&name), selector->text);
        rfn_text_release(&name);
    }
    for (size_t i = 0; i < near.n; i++) {
        rfn_text_string(wrong, i ? ", " : "; there are ");
        rfn_text_string(wrong, near.names[i]);
        free(near.names[i]);
    }
    return error;
}

static bool takes_some(const struct rfn_selector *selector, const struct rfn_measured *run)
{
    const struct rfn_waits *waits = run->waits;
    const bool call = selector->kind == RFN_SELECT_WAIT || selector->kind == RFN_SELECT_CALL;
    for (size_t i = 0; i < waits->n_activities; i++) {
        const struct rfn_activity *activity = &waits->activities[i];
        if (call == (activity->kind == RFN_ACTIVITY_MPI) && takes(selector, activity))
            return true;
    }
    return false;
}

/* A full name, as whatif ranks it, means only itself; other text all names that contain it. */
static int check_activities(struct rfn_selector *selector, const struct rfn_measured *run,
                            struct rfn_text *wrong)
{
    const bool call = selector->kind == RFN_SELECT_WAIT || selector->kind == RFN_SELECT_CALL;
    if (takes_some(selector, run))
        return 0;
    selector->part = selector->kind != RFN_SELECT_REGION;
    if (takes_some(selector, run))
        return 0;
    rfn_text_string(wrong, call ? "no call path has '" : "no computation is in '");
    rfn_text_printable(wrong, selector->text);
    rfn_text_char(wrong, '\'');
    RFN_TRY(append_near(wrong, selector, run));
    return RFN_E_USAGE;
}

static int set_ranks(struct rfn_selector *selector, const struct rfn_measured *run,
                     const char *list, struct rfn_text *wrong)
{
    const uint32_t n = rfn_archive_run(run->archive)->ranks;
    struct rfn_rank_filter filter = {0};
    int error = rfn_rank_filter_init(&filter, list);
    selector->ranks = calloc((size_t)n + 1, sizeof *selector->ranks);
    if (error == RFN_E_USAGE)
        error = wrong_text(wrong, "'%s' is no list of ranks like 3 or 0-3,7", list);
    else if (!error && rfn_rank_filter_beyond(&filter, n) >= 0)
        error = wrong_text(wrong, "the run does not have all ranks of '%s'", list);
    else if (!error && !selector->ranks)
        error = RFN_E_NOMEM;
    for (uint32_t i = 0; !error && i < n; i++)
        selector->ranks[i] = rfn_rank_filter_has(&filter, i);
    rfn_rank_filter_release(&filter);
    return error;
}

/* Cuts "@LIST" off. Anything else behind @ is part of a name. */
static int cut_ranks(struct rfn_selector *selector, const struct rfn_measured *run,
                     struct rfn_text *wrong)
{
    char *at = strrchr(selector->text, '@');
    if (!at || at[1] < '0' || at[1] > '9' || at[1 + strspn(at + 1, "0123456789,-")])
        return 0;
    *at = '\0';
    selector->on = at + 1;
    return set_ranks(selector, run, selector->on, wrong);
}

int64_t rfn_selector_size(const char *text, char **end)
{
    static const char units[] = "KMGT";
    unsigned long long value = strtoull(text, end, 10);
    const char *unit = **end ? strchr(units, **end) : NULL;
    const int shift = unit ? 10 * (int)(unit - units + 1) : 0;
    if (*end == text || value > (unsigned long long)(INT64_MAX >> shift))
        return -1;
    *end += unit != NULL;
    return (int64_t)(value << shift);
}

static int set_bytes(struct rfn_selector *selector, struct rfn_text *wrong)
{
    char *end;
    selector->least = selector->most = rfn_selector_size(selector->text, &end);
    if (selector->least >= 0 && *end == '-')
        selector->most = end[1] ? rfn_selector_size(end + 1, &end) : (end++, INT64_MAX);
    if (selector->least < 0 || selector->most < selector->least || *end)
        return wrong_text(wrong, "'%s' is no range of sizes like 8, 1K-64K or 1M-", selector->text);
    return 0;
}

/* Of the rank's stream that has most. */
static uint64_t events_of(const struct rfn_archive *archive, uint32_t rank)
{
    uint64_t most = 0;
    for (uint32_t i = 0; i < rfn_archive_run(archive)->streams; i++) {
        const struct rfn_stream_info stream = rfn_archive_stream(archive, i);
        if (stream.rank == rank && stream.events > most)
            most = stream.events;
    }
    return most;
}

static int set_event(struct rfn_selector *selector, const struct rfn_measured *run,
                     struct rfn_text *wrong)
{
    const uint32_t n = rfn_archive_run(run->archive)->ranks;
    char *end, *last;
    unsigned long long rank = strtoull(selector->text, &end, 10);
    selector->event = *end == '/' ? strtoull(end + 1, &last, 10) : 0;
    if (end == selector->text || *end != '/' || last == end + 1 || *last || rank >= n)
        return wrong_text(wrong, "'%s' is no event like 3/120: rank and index of refrain dump",
                          selector->text);
    selector->ranks = calloc((size_t)n + 1, sizeof *selector->ranks);
    if (!selector->ranks)
        return RFN_E_NOMEM;
    selector->ranks[rank] = true;
    if (selector->event >= events_of(run->archive, (uint32_t)rank))
        return wrong_text(wrong, "there is no event '%s': its rank has fewer", selector->text);
    return 0;
}

static int check(struct rfn_selector *selector, const struct rfn_measured *run,
                 struct rfn_text *wrong)
{
    if (!run->archive && selector->kind != RFN_SELECT_BYTES && selector->kind < RFN_SELECT_L)
        return wrong_text(wrong,
                          "text does not tell which part computes what: '%s' needs an archive "
                          "(refrain convert makes one); --scale-compute scales all computing",
                          names[selector->kind]);
    switch (selector->kind) {
    case RFN_SELECT_RANK:
        return set_ranks(selector, run, selector->text, wrong);
    case RFN_SELECT_BYTES:
        return set_bytes(selector, wrong);
    case RFN_SELECT_EVENT:
    case RFN_SELECT_BEFORE:
        return set_event(selector, run, wrong);
    case RFN_SELECT_L:
    case RFN_SELECT_O:
    case RFN_SELECT_G:
    case RFN_SELECT_S:
        return 0;
    default:
        RFN_TRY(cut_ranks(selector, run, wrong));
        return check_activities(selector, run, wrong);
    }
}

static int check_kept(const struct rfn_selector *selector, const char *text, struct rfn_text *wrong)
{
    struct rfn_aggregation aggregation;
    struct rfn_text why = {0};
    if (!selector->archive)
        return 0;
    int error = rfn_aggregation_read(selector->archive, &aggregation, NULL);
    if (!error && !rfn_kept_allows(&aggregation, selector, &why)) {
        rfn_text_format(wrong, "nothing is known of '%s': %s", text, rfn_text_terminated(&why));
        rfn_text_string(wrong, " (refrain reduce --keep-predictions); ask the full archive");
        error = RFN_E_USAGE;
    }
    rfn_text_release(&why);
    rfn_aggregation_release(&aggregation);
    return error;
}

int rfn_selector_parse(struct rfn_selector *selector, const struct rfn_measured *run,
                       const char *text, struct rfn_text *wrong)
{
    const char *colon = strchr(text, ':');
    const size_t length = colon ? (size_t)(colon - text) : strlen(text);
    for (int kind = 0; kind < RFN_SELECTORS; kind++) {
        if (strlen(names[kind]) != length || strncmp(names[kind], text, length) != 0)
            continue;
        if ((kind >= RFN_SELECT_L) == (colon != NULL))
            break;
        RFN_TRY(rfn_selector_init(selector, run->archive, (enum rfn_selector_kind)kind,
                                  colon ? colon + 1 : NULL));
        RFN_TRY(check(selector, run, wrong));
        return check_kept(selector, text, wrong);
    }
    *selector = (struct rfn_selector){0};
    return wrong_text(wrong,
                      "'%s' is none of wait:PATH, call:PATH, compute:FUNCTION, region:NAME "
                      "(or of some ranks: compute:smooth@0-3), rank:LIST, bytes:RANGE, "
                      "event:RANK/INDEX, before:RANK/INDEX, L, o, G, S",
                      text);
}
