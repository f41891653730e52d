#include "cli/text/left_out_text.h"

#include "cli/text/json.h"
#include "cli/text/print_text.h"

enum { LISTED = 5 };

/* "12,345 calls of MPI_Iprobe and 30 of MPI_Comm_rank" */
static void append_functions(struct rfn_text *out, const struct rfn_left_out *of)
{
    for (size_t i = 0; i < of->n && i < LISTED; i++) {
        const bool last = i + 1 == of->n;
        rfn_text_format(out, "%s%s%s of ",
                        i == 0 ? ""
                        : last ? " and "
                               : ", ",
                        rfn_count_text(of->functions[i].calls).text,
                        i > 0                         ? ""
                        : of->functions[0].calls == 1 ? " call"
                                                      : " calls");
        rfn_text_printable(out, of->functions[i].function);
    }
    if (of->n > LISTED)
        rfn_text_format(out, " and more, %s in all", rfn_count_text(of->calls).text);
}

static void append_stops(struct rfn_text *out, const struct rfn_left_out *of,
                         const struct rfn_run *run)
{
    if (!of->stopped)
        return;
    rfn_text_format(out, "; %u of %u rank%s stopped recording", of->stopped, run->ranks,
                    run->ranks == 1 ? "" : "s");
    if (run->times)
        rfn_text_format(out, ", the first one after %s", rfn_time_text(of->first_ns).text);
    rfn_text_string(out, ", and messages behind that lack a side");
}

void rfn_left_out_append(struct rfn_text *out, const struct rfn_archive *archive)
{
    const struct rfn_run *run = rfn_archive_run(archive);
    struct rfn_left_out of;
    if (!run->limits)
        return;
    const bool known = rfn_left_out_read(archive, &of) == 0 && !run->recovered.recovered;
    if (known && of.n)
        append_functions(out, &of);
    else
        rfn_text_string(out, known ? "No calls" : "Calls, it is not known how many,");
    rfn_text_format(out, " %s left out (", of.calls == 1 ? "was" : "were");
    rfn_text_printable(out, run->limits);
    rfn_text_char(out, ')');
    if (strstr(run->limits, "--from="))
        rfn_text_string(out, ", calls before --from not counted");
    append_stops(out, &of, run);
    rfn_left_out_release(&of);
}

json_t *rfn_json_left_out(const struct rfn_archive *archive)
{
    const struct rfn_run *run = rfn_archive_run(archive);
    struct rfn_left_out of;
    if (!run->limits || rfn_left_out_read(archive, &of) < 0)
        return json_null();
    json_t *value = json_object(), *calls = json_object();
    for (size_t i = 0; i < of.n; i++)
        RFN_JSON_SET(calls, of.functions[i].function, of.functions[i].calls);
    RFN_JSON_SET(value, "limits", run->limits);
    RFN_JSON_SET(value, "calls", calls);
    RFN_JSON_SET(value, "ranks_stopped", of.stopped);
    RFN_JSON_SET(value, "first_stop_seconds",
                 of.stopped && run->times ? rfn_json_seconds((double)of.first_ns) : json_null());
    rfn_left_out_release(&of);
    return value;
}

void rfn_json_missing(json_t *value, const struct rfn_archive *archive)
{
    const char *why = NULL;
    const bool complete = rfn_archive_complete(archive, &why);
    RFN_JSON_SET(value, "complete", complete);
    if (!complete)
        RFN_JSON_SET(value, "incomplete_because", why ? why : "the file was cut short");
    RFN_JSON_SET(value, "left_out", rfn_json_left_out(archive));
}
