#include "explain/activity_text.h"

#include "explain/call_path.h"
#include "refrain/event.h"

/* ---- calls ---- */

const struct rfn_function_info *rfn_call_site_function(const struct rfn_archive *archive,
                                                       struct rfn_call_site site)
{
    static const struct rfn_function_info unknown = {.name = "?", .class_ = RFN_CLASS_OTHER};
    return site.function < rfn_archive_functions(archive)
               ? rfn_archive_function(archive, site.function)
               : &unknown;
}

bool rfn_activity_polls(const struct rfn_archive *archive, const struct rfn_activity *activity)
{
    if (!(rfn_call_site_function(archive, activity->at)->flags & RFN_FUNCTION_POLL))
        return false;
    return activity->kind == RFN_ACTIVITY_MPI ||
           (activity->kind == RFN_ACTIVITY_COMPUTE &&
            activity->before.function == activity->at.function &&
            activity->before.path == activity->at.path);
}

/* The innermost frame of the program itself, of those that are deeper than so many. */
static bool innermost(const struct rfn_archive *archive, uint32_t path, uint32_t depth,
                      struct rfn_location *location)
{
    struct rfn_path frames = rfn_call_path_frames(archive, path);
    for (uint32_t i = 0; i + depth < frames.n_frames; i++) {
        *location = rfn_archive_location(archive, frames.frames[i]);
        if (!rfn_call_path_internal(location))
            return true;
    }
    return false;
}

bool rfn_call_site_location(const struct rfn_archive *archive, struct rfn_call_site site,
                            struct rfn_location *location)
{
    return innermost(archive, site.path, 0, location);
}

/* "exchange() [", or "[" where the function is not known. */
static void append_function(struct rfn_text *text, const struct rfn_location *location)
{
    if (location->function) {
        rfn_call_path_called(text, location);
        rfn_text_char(text, ' ');
    }
    rfn_text_char(text, '[');
}

/* "exchange() [halo.c:88]" */
static void append_frame(struct rfn_text *text, const struct rfn_location *location)
{
    append_function(text, location);
    rfn_call_path_place(text, location);
    rfn_text_char(text, ']');
}

void rfn_call_site_place(struct rfn_text *text, const struct rfn_archive *archive,
                         struct rfn_call_site site)
{
    struct rfn_location location;
    if (innermost(archive, site.path, 0, &location))
        append_frame(text, &location);
    else
        rfn_text_printable(text, rfn_call_site_function(archive, site)->name);
}

void rfn_call_site_path(struct rfn_text *text, const struct rfn_archive *archive,
                        struct rfn_call_site site, size_t width)
{
    size_t start = text->n;
    rfn_text_printable(text, rfn_call_site_function(archive, site)->name);
    if (!rfn_call_path_frames(archive, site.path).n_frames)
        return;
    rfn_text_string(text, " < ");
    size_t used = text->n - start;
    rfn_call_path_cut(text, archive, site.path, width > used ? width - used : 0,
                      width == RFN_WHOLE_PATH ? UINT32_MAX : RFN_PATH_NAMES - 1);
}

/* "MPI_Send, exchange() [halo.c:88]" */
static void append_call(struct rfn_text *text, const struct rfn_archive *archive,
                        struct rfn_call_site site)
{
    struct rfn_location location;
    rfn_text_printable(text, rfn_call_site_function(archive, site)->name);
    if (innermost(archive, site.path, 0, &location)) {
        rfn_text_string(text, ", ");
        append_frame(text, &location);
    }
}

/* ---- computing ---- */

/* A function, where it was when each of two calls was made, from where it was called, and how many
 * frames that is deep. */
struct stretch {
    bool found, called;
    struct rfn_location from, to, caller;
    uint32_t from_at, to_at, caller_at; /* their numbers */
    uint32_t depth;
};

static bool same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool same_address(const struct rfn_location *a, const struct rfn_location *b)
{
    return a->offset == b->offset && same_text(a->module, b->module);
}

static bool same_function(const struct rfn_location *a, const struct rfn_location *b)
{
    if (a->function && b->function)
        return strcmp(a->function, b->function) == 0;
    return !a->function && !b->function && same_address(a, b);
}

/* Whether two frames make the same call. That of an inlined function has an address for each of the
 * calls in the function, and then is known by its line. */
static bool same_call(const struct rfn_location *a, const struct rfn_location *b)
{
    if (!a->function || !b->function || !a->file || !b->file || !a->line)
        return same_address(a, b);
    return a->line == b->line && strcmp(a->file, b->file) == 0;
}

/* Deeper than a frame that calls from two places, paths have nothing in common. */
static struct stretch stretch_of(const struct rfn_archive *archive,
                                 const struct rfn_activity *activity)
{
    struct rfn_path before = rfn_call_path_frames(archive, activity->before.path);
    struct rfn_path at = rfn_call_path_frames(archive, activity->at.path);
    struct stretch stretch = {0};
    if (activity->kind != RFN_ACTIVITY_COMPUTE)
        return stretch;
    for (uint32_t i = 1; i <= before.n_frames && i <= at.n_frames; i++) {
        uint32_t from = before.frames[before.n_frames - i], to = at.frames[at.n_frames - i];
        struct rfn_location a = rfn_archive_location(archive, from);
        struct rfn_location b = rfn_archive_location(archive, to);
        if (rfn_call_path_internal(&a) || rfn_call_path_internal(&b) || !same_function(&a, &b))
            break;
        stretch = (struct stretch){.found = true,
                                   .called = stretch.found,
                                   .from = a,
                                   .to = b,
                                   .caller = stretch.to,
                                   .from_at = from,
                                   .to_at = to,
                                   .caller_at = stretch.to_at,
                                   .depth = i};
        if (from != to && !same_call(&a, &b))
            break;
    }
    return stretch;
}

/* Whether the function may have returned and been called again: it did not go on behind the first
 * call. */
static bool may_be_callers(const struct stretch *stretch)
{
    const struct rfn_location *from = &stretch->from, *to = &stretch->to;
    if (!stretch->called)
        return false;
    if (!from->file || !to->file)
        return to->offset <= from->offset;
    return strcmp(from->file, to->file) == 0 && to->line <= from->line;
}

/* ---- the functions that are called there ---- */

enum { NAMES_MAX = 3 };

/* What one function calls in a stretch; none: its own lines are meant. */
struct work {
    struct rfn_location in;
    const char *names[NAMES_MAX]; /* of different functions; of more only the first */
    uint32_t n_names, unnamed;
    uint32_t first_line, last_line, n;
};

enum { WORKS_MAX = 2 };

/* In the order in which they are named: calls of the function that both calls of MPI have in
 * common, then calls on the way to the second, then calls behind the first. */
struct works {
    struct work works[WORKS_MAX];
    uint32_t n, more; /* more: calls of those that are left out */
};

/* Leaves the program's own functions, where there are some; calls through a pointer may be its own.
 * Returns how many calls stay. */
static uint32_t keep_own(struct rfn_program_call *calls, uint32_t n)
{
    uint32_t kept = 0;
    bool own = false;
    for (uint32_t i = 0; i < n; i++)
        own |= calls[i].function && !calls[i].library;
    for (uint32_t i = 0; i < n; i++) {
        if (!own || !calls[i].library)
            calls[kept++] = calls[i];
    }
    return kept;
}

static bool same_work(const struct work *a, const struct work *b)
{
    return a->n == b->n && a->first_line == b->first_line && a->last_line == b->last_line &&
           same_text(a->names[0], b->names[0]) && same_function(&a->in, &b->in);
}

static bool is_named(const struct work *work, const char *function)
{
    for (uint32_t i = 0; i < work->n_names; i++) {
        if (strcmp(work->names[i], function) == 0)
            return true;
    }
    return false;
}

/* Names all functions; where not all are known, or they are too many, the first. */
static void name_calls(struct work *work, const struct rfn_program_call *calls, uint32_t n)
{
    bool all = n == work->n;
    for (uint32_t i = 0; i < n; i++) {
        const char *function = calls[i].function;
        if (function && is_named(work, function))
            continue;
        all &= function && work->n_names < NAMES_MAX;
        if (function && work->n_names < NAMES_MAX)
            work->names[work->n_names++] = function;
    }
    if (!all) {
        work->n_names = 1;
        work->unnamed = work->n - 1;
    }
}

/* The functions called between two locations of a function, where the archive names them. */
static void add_work(struct works *works, const struct rfn_archive *archive, uint32_t from,
                     uint32_t to)
{
    enum { CALLS = 64 };
    struct rfn_program_call calls[CALLS];
    struct work work = {.n = 0};
    uint32_t n, first = 0;
    bool known = rfn_archive_calls_between(archive, from, to, calls, CALLS, &n);
    work.in = rfn_archive_location(archive, from == RFN_NO_LOCATION ? to : from);
    work.n = n = n <= CALLS ? keep_own(calls, n) : n;
    n = n < CALLS ? n : CALLS;
    while (first < n && !calls[first].function)
        first++;
    if (!known || first == n)
        return;
    name_calls(&work, calls, n);
    work.first_line = calls[first].line;
    work.last_line = calls[n - 1].line;
    for (uint32_t i = 0; i < works->n; i++) {
        if (same_work(&works->works[i], &work))
            return;
    }
    if (works->n == WORKS_MAX)
        works->more += work.n;
    else
        works->works[works->n++] = work;
}

/* Of the frames that are deeper than so many. */
static void add_deeper(struct works *works, const struct rfn_archive *archive, uint32_t path,
                       uint32_t depth, bool before)
{
    struct rfn_path frames = rfn_call_path_frames(archive, path);
    for (uint32_t i = depth; i < frames.n_frames; i++) {
        uint32_t at = frames.frames[before ? frames.n_frames - 1 - i : i - depth];
        struct rfn_location location = rfn_archive_location(archive, at);
        if (rfn_call_path_internal(&location))
            continue;
        add_work(works, archive, before ? RFN_NO_LOCATION : at, before ? at : RFN_NO_LOCATION);
    }
}

static struct works works_of(const struct rfn_archive *archive, const struct rfn_activity *activity,
                             const struct stretch *stretch)
{
    struct works works = {.n = 0};
    if (!stretch->found)
        return works;
    if (may_be_callers(stretch)) { /* loops of a function are guessed: they do not tell */
        add_work(&works, archive, RFN_NO_LOCATION, stretch->to_at);
        add_work(&works, archive, stretch->caller_at, stretch->caller_at);
        add_work(&works, archive, stretch->from_at, RFN_NO_LOCATION);
    } else {
        add_work(&works, archive, stretch->from_at, stretch->to_at);
    }
    /* Of its own, in which it may compute, too. One is the head of an if or a loop. */
    const bool lines = !works.n && stretch->to.line > stretch->from.line + 2;
    if (lines)
        works.works[works.n++] = (struct work){.in = stretch->to};
    add_deeper(&works, archive, activity->at.path, stretch->depth, true);
    add_deeper(&works, archive, activity->before.path, stretch->depth, false);
    works.n -= lines && works.n == 1;
    return works;
}

/* "-136]" */
static void append_last_line(struct rfn_text *text, uint32_t first, uint32_t last)
{
    if (last > first)
        rfn_text_format(text, "-%u", last);
    rfn_text_char(text, ']');
}

/* "smooth() and move(), called in main() [halo.c:132-136]"; of four "smooth() and 3 more" */
static void append_work(struct rfn_text *text, const struct work *work)
{
    struct rfn_location called = work->in;
    for (uint32_t i = 0; i < work->n_names; i++) {
        rfn_text_string(text, i == 0 ? "" : i + 1 < work->n_names ? ", " : " and ");
        called.function = work->names[i];
        rfn_call_path_called(text, &called);
    }
    if (work->unnamed)
        rfn_text_format(text, " and %u more", work->unnamed);
    rfn_text_string(text, ", called in ");
    called.function = work->in.function;
    called.line = work->first_line;
    append_function(text, &called);
    rfn_call_path_place(text, &called);
    append_last_line(text, called.line, work->last_line);
}

static void append_works(struct rfn_text *text, const struct works *works,
                         const struct stretch *stretch)
{
    for (uint32_t i = 0; i < works->n; i++) {
        const struct work *work = &works->works[i];
        rfn_text_string(text, i > 0 ? " or " : "");
        if (work->n > 0) {
            append_work(text, work);
            continue;
        }
        append_function(text, &stretch->from);
        rfn_call_path_place(text, &stretch->from);
        append_last_line(text, stretch->from.line, stretch->to.line);
    }
    if (works->more)
        rfn_text_format(text, " or %u more", works->more);
}

/* ---- the stretch in words ---- */

/* The function and its lines; where the calls are made, when it only called who made them: some of
 * the computing may be there. */
static void append_stretch(struct rfn_text *text, const struct rfn_archive *archive,
                           const struct rfn_activity *activity, const struct stretch *stretch)
{
    const struct rfn_location *from = &stretch->from, *to = &stretch->to;
    bool lines = from->file && to->file && from->line;
    bool one_file = lines && strcmp(from->file, to->file) == 0;
    append_function(text, to);
    if (one_file && to->line < from->line) {
        rfn_call_path_file(text, from);
        rfn_text_format(text, ", the loop body after line %u", from->line);
    } else {
        rfn_call_path_place(text, lines ? from : to);
        rfn_text_string(text, lines && !one_file ? " to " : "");
    }
    if (lines && !one_file)
        rfn_call_path_place(text, to);
    else if (lines && to->line > from->line)
        rfn_text_format(text, "-%u", to->line);
    rfn_text_char(text, ']');
    if (may_be_callers(stretch)) {
        rfn_text_string(text, " or its caller ");
        append_frame(text, &stretch->caller);
    }
    struct rfn_location before, at;
    bool left = innermost(archive, activity->before.path, stretch->depth, &before);
    bool entered = innermost(archive, activity->at.path, stretch->depth, &at);
    if (left) {
        rfn_text_string(text, entered ? " between " : " after ");
        append_frame(text, &before);
    }
    if (entered) {
        rfn_text_string(text, left ? " and " : " up to ");
        append_frame(text, &at);
    }
}

static const char *region_of(const struct rfn_archive *archive, const struct rfn_activity *activity)
{
    return activity->region < rfn_archive_regions(archive)
               ? rfn_archive_region(archive, activity->region)
               : NULL;
}

/* "between polls in region smoothing (MPI_Test, wait() [halo.c:24])" */
static void append_between_polls(struct rfn_text *text, const struct rfn_archive *archive,
                                 const struct rfn_activity *activity)
{
    const char *region = region_of(archive, activity);
    rfn_text_string(text, region ? "between polls in region " : "between polls of ");
    if (region) {
        rfn_text_printable(text, region);
        rfn_text_string(text, " (");
    }
    append_call(text, archive, activity->at);
    rfn_text_string(text, region ? ")" : "");
}

static void append_compute(struct rfn_text *text, const struct rfn_archive *archive,
                           const struct rfn_activity *activity)
{
    const char *region = region_of(archive, activity);
    const struct rfn_function_info *before = rfn_call_site_function(archive, activity->before);
    struct stretch stretch = stretch_of(archive, activity);
    bool first = before->class_ == RFN_CLASS_SETUP;
    const struct rfn_function_info *at = rfn_call_site_function(archive, activity->at);
    if (strcmp(at->name, "refrain_recording") == 0) {
        rfn_text_string(text, "doing work before its recording began");
        return;
    }
    if (strcmp(before->name, "refrain_recording") == 0) {
        rfn_text_string(text, "doing work after its recording ended");
        return;
    }
    rfn_text_string(text, "computing ");
    if (region) {
        rfn_text_string(text, "in region ");
        rfn_text_printable(text, region);
    } else if (!stretch.found) {
        rfn_text_string(text, "between ");
        append_call(text, archive, activity->before);
        rfn_text_string(text, ", and ");
        append_call(text, archive, activity->at);
    } else if (first) {
        rfn_text_string(text, "between ");
        rfn_text_printable(text, before->name);
        rfn_text_string(text, " and ");
        rfn_text_printable(text, rfn_call_site_function(archive, activity->at)->name);
    }
    if (stretch.found) {
        rfn_text_string(text, region ? " (" : first ? " in " : "in ");
        struct works works = works_of(archive, activity, &stretch);
        if (works.n)
            append_works(text, &works, &stretch);
        else
            append_stretch(text, archive, activity, &stretch);
        rfn_text_string(text, region ? ")" : "");
    }
}

/* ---- activities ---- */

/* What a rank does in a call when it does not wait. */
static const char *doing(const struct rfn_function_info *function)
{
    if (function->flags & RFN_FUNCTION_POLL)
        return "polling in ";
    switch (function->class_) {
    case RFN_CLASS_OTHER:
    case RFN_CLASS_PROBE:
    case RFN_CLASS_COMM:
    case RFN_CLASS_SETUP:
        return "in ";
    case RFN_CLASS_BARRIER:
    case RFN_CLASS_RMA_SYNC:
        return "synchronizing in ";
    case RFN_CLASS_FILE:
        return "reading or writing in ";
    case RFN_CLASS_ALL_TO_ONE:
        return "collecting data in ";
    default:
        return "moving data in ";
    }
}

void rfn_activity_append(struct rfn_text *text, const struct rfn_archive *archive,
                         const struct rfn_activity *activity)
{
    switch (activity->kind) {
    case RFN_ACTIVITY_COMPUTE:
        if (rfn_activity_polls(archive, activity))
            append_between_polls(text, archive, activity);
        else
            append_compute(text, archive, activity);
        break;
    case RFN_ACTIVITY_MPI:
        rfn_text_string(text, doing(rfn_call_site_function(archive, activity->at)));
        append_call(text, archive, activity->at);
        break;
    case RFN_ACTIVITY_WAIT:
        rfn_text_string(text, "waiting in ");
        append_call(text, archive, activity->at);
        break;
    case RFN_ACTIVITY_START:
        rfn_text_string(text, "starting later than others");
        break;
    case RFN_ACTIVITY_RECORDING:
        rfn_text_string(text, "recording (work of Refrain itself)");
        break;
    }
}

uint32_t rfn_activity_functions(const struct rfn_archive *archive,
                                const struct rfn_activity *activity)
{
    const struct stretch stretch = stretch_of(archive, activity);
    const struct works works = works_of(archive, activity, &stretch);
    uint32_t n = works.more;
    if (activity->kind != RFN_ACTIVITY_COMPUTE || !works.n)
        return rfn_activity_function(archive, activity) != NULL;
    for (uint32_t i = 0; i < works.n; i++)
        n += works.works[i].n ? works.works[i].n_names + works.works[i].unnamed : 1;
    return n;
}

bool rfn_activity_location(const struct rfn_archive *archive, const struct rfn_activity *activity,
                           struct rfn_location *location)
{
    struct stretch stretch = stretch_of(archive, activity);
    struct works works = works_of(archive, activity, &stretch);
    bool in_call = activity->kind == RFN_ACTIVITY_MPI || activity->kind == RFN_ACTIVITY_WAIT;
    if (works.n && works.works[0].n) {
        *location = works.works[0].in; /* its caller is in the same module, as far as is known */
        location->function = works.works[0].names[0];
        return true;
    }
    if (stretch.found)
        *location = stretch.to;
    return stretch.found || (in_call && innermost(archive, activity->at.path, 0, location));
}

const char *rfn_activity_function(const struct rfn_archive *archive,
                                  const struct rfn_activity *activity)
{
    struct rfn_location location;
    return rfn_activity_location(archive, activity, &location) ? location.function : NULL;
}

const char *rfn_activity_common(const struct rfn_archive *archive,
                                const struct rfn_activity *activity)
{
    struct stretch stretch = stretch_of(archive, activity);
    return stretch.found ? stretch.to.function : rfn_activity_function(archive, activity);
}

const char *rfn_activity_work(const struct rfn_archive *archive,
                              const struct rfn_activity *activity)
{
    struct stretch stretch = stretch_of(archive, activity);
    if (!stretch.found)
        return NULL;
    return may_be_callers(&stretch) ? stretch.caller.function : stretch.to.function;
}
