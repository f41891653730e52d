#include "cli/whatif/kept.h"

#include "cli/args/command.h"
#include "refrain/explain.h"

/* How long a call takes, or the computation between the call before it and that one; -1: it cannot
 * be read, or there is no such call. */
static int64_t length_of(const struct rfn_archive *archive, uint32_t stream, uint64_t event,
                         bool before)
{
    const struct rfn_record *record;
    struct rfn_cursor *cursor;
    int64_t ns = -1, left_ns;
    if ((before && event == 0) || rfn_cursor_open(archive, stream, &cursor, NULL) < 0)
        return -1;
    if (rfn_cursor_seek(cursor, event - before, NULL) == 0 &&
        rfn_cursor_next(cursor, &record, NULL) > 0) {
        ns = record->exit_ns - record->enter_ns;
        left_ns = record->exit_ns;
        if (before)
            ns = rfn_cursor_next(cursor, &record, NULL) > 0 ? record->enter_ns - left_ns : -1;
    }
    rfn_cursor_close(cursor);
    return ns;
}

/* Whether it takes as long as assumptions may be about, on all threads of the rank. */
static bool is_long(const struct rfn_aggregation *of, const struct rfn_archive *archive,
                    const struct rfn_assumption *assumption)
{
    const bool before = assumption->what == RFN_ASSUME_COMPUTE;
    bool is = true;
    for (uint32_t i = 0; i < rfn_archive_run(archive)->streams; i++) {
        const struct rfn_stream_info info = rfn_archive_stream(archive, i);
        if (assumption->ranks[info.rank] && assumption->event < info.events)
            is &= length_of(archive, i, assumption->event, before) >= of->least_ns;
    }
    return is;
}

/* An activity that the assumption is about and that has a short execution. NULL: there is none.
 */
static const struct rfn_activity *find_fixed(const struct rfn_aggregation *of,
                                             const struct rfn_assumption *assumption)
{
    for (size_t i = 0; i < of->n_fixed; i++) {
        const struct rfn_activity *activity = &of->fixed[i];
        const bool compute = activity->kind == RFN_ACTIVITY_COMPUTE;
        if (compute == (assumption->what == RFN_ASSUME_COMPUTE) &&
            (!assumption->takes || assumption->takes(assumption->context, activity)))
            return activity;
    }
    return NULL;
}

static void append_fixed(struct rfn_text *why, const struct rfn_archive *archive,
                         const struct rfn_activity *activity, int64_t least_ns)
{
    struct rfn_text name = {0};
    if (activity->kind == RFN_ACTIVITY_COMPUTE)
        rfn_activity_append(&name, archive, activity);
    else
        rfn_call_site_path(&name, archive, activity->at, RFN_SHORT_PATH);
    rfn_text_format(why, "some of it takes less than %s and was not kept (%s)",
                    rfn_time_text(least_ns).text, rfn_text_terminated(&name));
    rfn_text_release(&name);
}

bool rfn_kept_allows(const struct rfn_aggregation *of, const struct rfn_selector *selector,
                     struct rfn_text *why)
{
    struct rfn_assumption assumptions[2];
    struct rfn_text ignored = {0}, *text = why ? why : &ignored;
    const struct rfn_activity *activity;
    if (!of->any)
        return true;
    rfn_selector_assume(selector, 0, assumptions);
    switch (assumptions[0].what) {
    case RFN_ASSUME_COMPUTE:
    case RFN_ASSUME_CALL:
    case RFN_ASSUME_WAIT:
        if (assumptions[0].single && is_long(of, selector->archive, assumptions))
            break;
        if (assumptions[0].single)
            rfn_text_format(text, "it takes less than %s, and about that nothing was kept",
                            rfn_time_text(of->least_ns).text);
        else if ((activity = find_fixed(of, assumptions)))
            append_fixed(text, selector->archive, activity, of->least_ns);
        break;
    case RFN_ASSUME_TRANSFER:
        if (assumptions[0].least_bytes < of->least_bytes)
            rfn_text_format(text, "of messages of less than %s some were not kept",
                            rfn_bytes_text((uint64_t)of->least_bytes).text);
        break;
    default:
        rfn_text_string(text, "it is about all messages, and some were not kept");
    }
    const bool allows = text->n == 0;
    rfn_text_release(&ignored);
    return allows;
}

bool rfn_kept_refuses_events(const struct rfn_archive *archive, const char *file)
{
    struct rfn_aggregation of;
    const bool refuses = rfn_aggregation_read(archive, &of, NULL) == 0 && of.any;
    rfn_aggregation_release(&of);
    if (refuses)
        rfn_command_error("%s: not all events were kept (refrain reduce --keep-predictions), so "
                          "--events needs the full archive; ask about one by event:RANK/INDEX",
                          file);
    return refuses;
}
