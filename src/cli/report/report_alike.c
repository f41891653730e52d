/* report_alike.c - which ranks behave alike, and what tells the others apart: a few lines, or one
 * where all do. */
#include "cli/report/report.h"
#include "cli/text/json.h"
#include "cli/text/wrap.h"
#include "refrain/event.h"

#include <stdlib.h>
#include <string.h>

enum {
    LINES_MAX = 8,
    KINDS_SHOWN = 4,
    CALLS_SHOWN = 2,
    RANKS_WIDTH = 48,
    CALLS_MAX = 64,
    NOT_ALL = 2
};
/* Numbers of messages that differ by less are about equal. */
static const double tolerance = 0.05;

/* ---- what a kind does ---- */

static void append_range(struct rfn_text *line, const struct rfn_range *range)
{
    rfn_text_string(line, rfn_count_text(range->least).text);
    if (range->most > range->least)
        rfn_text_format(line, "-%s", rfn_count_text(range->most).text);
}

static bool same_range(const struct rfn_range *a, const struct rfn_range *b)
{
    return a->least == b->least && a->most == b->most;
}

static bool one(const struct rfn_range *range)
{
    return range->least == 1 && range->most == 1;
}

static bool about_equal(const struct rfn_range *range)
{
    return (double)(range->most - range->least) <= tolerance * (double)range->most;
}

/* ", 3,000 messages each to 2 ranks instead of 4" */
static void append_messages(struct rfn_text *line, const struct rfn_report *report,
                            const struct rfn_rank_kind *kind, const struct rfn_rank_kind *first)
{
    bool same_dests = same_range(&kind->sends_to, &first->sends_to);
    if (kind->messages.most) {
        rfn_text_string(line, ", ");
        append_range(line, &kind->messages);
        rfn_text_string(line, one(&kind->messages) ? " message" : " messages");
        rfn_text_string(line, kind->n_ranks > 1 ? " each to " : " to ");
        append_range(line, &kind->sends_to);
        rfn_text_string(line, one(&kind->sends_to) ? " rank" : " ranks");
        if (!same_dests) {
            rfn_text_string(line, " instead of ");
            append_range(line, &first->sends_to);
        }
    } else {
        rfn_text_string(line, ", no messages sent");
    }
    if (!same_dests || same_range(&kind->gets_from, &first->gets_from) ||
        rfn_report_missing(report))
        return;
    rfn_text_string(line, ", from ");
    append_range(line, &kind->gets_from);
    rfn_text_string(line, one(&kind->gets_from) ? " rank" : " ranks");
    rfn_text_string(line, " instead of ");
    append_range(line, &first->gets_from);
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* Whether people see no difference: the same function, called in the same line, or where no lines
 * are known from the same address. */
static bool same_place(const struct rfn_report *report, struct rfn_call_site a,
                       struct rfn_call_site b)
{
    struct rfn_location x, y;
    if (a.function != b.function || !rfn_call_site_location(report->archive, a, &x) ||
        !rfn_call_site_location(report->archive, b, &y))
        return false;
    if (!x.line && !y.line)
        return x.offset == y.offset && same_text(x.module, y.module);
    return x.line == y.line && same_text(x.file, y.file) && same_text(x.function, y.function);
}

/* Leaves out those that look like one before, or like one of others; how many are left. */
static size_t leave_different(const struct rfn_report *report, struct rfn_call_site *calls,
                              size_t n, const struct rfn_call_site *others, size_t n_others)
{
    size_t left = 0;
    for (size_t i = 0; i < n; i++) {
        bool seen = false;
        for (size_t k = 0; k < left && !seen; k++)
            seen = same_place(report, calls[k], calls[i]);
        for (size_t k = 0; k < n_others && !seen; k++)
            seen = same_place(report, others[k], calls[i]);
        if (!seen)
            calls[left++] = calls[i];
    }
    return left;
}

/* "; also calls MPI_Scatter in main() [x.c:31]" */
static void append_calls(struct rfn_text *line, const struct rfn_report *report,
                         const struct rfn_call_site *calls, size_t n, const char *verb)
{
    for (size_t i = 0; i < n && i < CALLS_SHOWN; i++) {
        struct rfn_location location;
        rfn_text_string(line, i ? ", " : verb);
        rfn_text_printable(line, rfn_call_site_function(report->archive, calls[i])->name);
        if (!rfn_call_site_location(report->archive, calls[i], &location))
            continue;
        rfn_text_string(line, " in ");
        rfn_call_site_place(line, report->archive, calls[i]);
    }
    if (n > CALLS_SHOWN)
        rfn_text_format(line, " and %s more", rfn_count_text(n - CALLS_SHOWN).text);
}

/* What one of them calls, and the other does not. Of very many, the first are looked at. */
static void append_other_calls(struct rfn_text *line, const struct rfn_report *report,
                               const struct rfn_rank_kind *kind, const struct rfn_rank_kind *first)
{
    struct rfn_call_site own[CALLS_MAX], missing[CALLS_MAX], different[CALLS_MAX];
    size_t n = rfn_rank_kind_only(kind, first, own, CALLS_MAX);
    size_t n_missing = rfn_rank_kind_only(first, kind, missing, CALLS_MAX);
    bool each = kind->n_ranks > 1, many = n > CALLS_MAX || n_missing > CALLS_MAX;
    n = n < CALLS_MAX ? n : CALLS_MAX;
    n_missing = n_missing < CALLS_MAX ? n_missing : CALLS_MAX;
    memcpy(different, own, n * sizeof *own);
    append_calls(line, report, different, leave_different(report, different, n, missing, n_missing),
                 each ? "; also call " : "; also calls ");
    append_calls(line, report, missing, leave_different(report, missing, n_missing, own, n),
                 each ? "; do not call " : "; does not call ");
    rfn_text_string(line, many ? "; there are more differences" : "");
}

/* "36 of 64 ranks (9-14,17-22)", "rank 0", "ranks 1-62". */
static void append_who(struct rfn_text *line, const struct rfn_rank_kinds *kinds,
                       const struct rfn_rank_kind *kind)
{
    bool first = kind == kinds->kinds;
    struct rfn_text list = {0};
    rfn_text_ranks(&list, kind->ranks, kind->n_ranks);
    bool shown = list.n <= RANKS_WIDTH;
    if (!shown) {
        list.n = 0;
        rfn_text_format(&list, "the lowest is %u", kind->ranks[0]);
    }
    if (shown && (!first || kind->n_ranks == 1))
        rfn_text_format(line, "rank%s %s", kind->n_ranks == 1 ? "" : "s",
                        rfn_text_terminated(&list));
    else if (first)
        rfn_text_format(line, "%u of %u ranks (%s)", kind->n_ranks, kinds->n_ranks,
                        rfn_text_terminated(&list));
    else
        rfn_text_format(line, "%u ranks (%s)", kind->n_ranks, rfn_text_terminated(&list));
    line->failed |= list.failed;
    rfn_text_release(&list);
}

/* What one-sided calls move is not known of each rank. */
static bool has_one_sided(const struct rfn_report *report)
{
    for (size_t i = 0; i < report->profile->n_rows; i++) {
        const struct rfn_profile_row *row = &report->profile->rows[i];
        const struct rfn_call_site site = {row->function, row->path};
        if (row->bytes && rfn_call_site_function(report->archive, site)->class_ == RFN_CLASS_RMA)
            return true;
    }
    return false;
}

/* "rank 0: 1.20 s in MPI and 3.00 MiB moved, ..." */
static void append_kind(struct rfn_text *line, const struct rfn_report *report,
                        const struct rfn_rank_kinds *kinds, const struct rfn_rank_kind *kind)
{
    const struct rfn_rank_kind *first = &kinds->kinds[0];
    uint64_t bytes = kind->sent_bytes + kind->collective_bytes;
    bool times = report->profile->times, moved = !has_one_sided(report);
    append_who(line, kinds, kind);
    rfn_text_string(line, times || moved ? ": " : "");
    if (times)
        rfn_text_format(line, "%s in MPI", rfn_time_text(kind->mpi_ns / kind->n_ranks).text);
    if (moved)
        rfn_text_format(line, "%s%s moved", times ? " and " : "",
                        rfn_bytes_text(bytes / kind->n_ranks).text);
    rfn_text_string(line, (times || moved) && kind->n_ranks > 1 ? " each" : "");
    if (report->profile->n_pairs)
        append_messages(line, report, kind, first);
    if (kind != first)
        append_other_calls(line, report, kind, first);
}

/* ---- all alike ---- */

/* Of several orders of the same calls nothing more is said. */
static const char *how_parameters_differ(const struct rfn_report *report)
{
    const struct rfn_clustering *clustering = report->clustering;
    if (rfn_clustering_subs(clustering) == 1)
        return report->profile->n_pairs ? ", same partners by offset" : "";
    if (rfn_clustering_after_expressions(clustering) == 1)
        return report->profile->n_pairs ? ", and each one's partners follow from its rank"
                                        : ", with parameters that follow from the rank";
    return ", with other parameters";
}

static void append_all_alike(struct rfn_text *out, const struct rfn_report *report,
                             const struct rfn_rank_kinds *kinds)
{
    const struct rfn_rank_kind *all = &kinds->kinds[0];
    struct rfn_text line = {0};
    rfn_text_format(&line, kinds->n_ranks == NOT_ALL ? "Both" : "All %u", kinds->n_ranks);
    rfn_text_string(&line, " ranks behave alike: same calls");
    if (all->orders > 1)
        rfn_text_format(&line, ", in %u orders", all->orders);
    else
        rfn_text_string(&line, how_parameters_differ(report));
    if (!about_equal(&all->sends_to)) {
        rfn_text_string(&line, ", to ");
        append_range(&line, &all->sends_to);
        rfn_text_string(&line, " ranks");
    }
    if (!about_equal(&all->messages)) {
        rfn_text_string(&line, ", ");
        append_range(&line, &all->messages);
        rfn_text_string(&line, " messages each");
    }
    rfn_text_char(out, '\n');
    rfn_report_sentence(out, report, &line, 2);
}

/* ---- several kinds ---- */

static bool shows_kind(const struct rfn_report *report, const struct rfn_rank_kind *kind)
{
    bool shown = !report->ranks;
    for (uint32_t i = 0; i < kind->n_ranks && !shown; i++)
        shown = rfn_report_shows_rank(report, kind->ranks[i]);
    return shown;
}

/* As many as there are lines for; a line is left for the others. */
static void append_kinds(struct rfn_text *out, const struct rfn_report *report,
                         const struct rfn_rank_kinds *kinds)
{
    size_t shown = 0, left = 0, lines = 2;
    uint64_t ranks = 0;
    struct rfn_text rest = {0};
    rfn_text_string(out,
                    "\nWhich ranks behave alike? Kinds with the same calls and as many partners");
    rfn_report_end_title(out, report, 0);
    for (size_t i = 0; i < kinds->n; i++) {
        const struct rfn_rank_kind *kind = &kinds->kinds[i];
        struct rfn_text line = {0}, wrapped = {0};
        if (!shows_kind(report, kind))
            continue;
        if (shown < KINDS_SHOWN && !left) {
            append_kind(&line, report, kinds, kind);
            rfn_text_string(&wrapped, "  ");
            rfn_report_sentence(&wrapped, report, &line, 4);
        }
        if (wrapped.n && (!shown || lines + rfn_text_lines(&wrapped) <= LINES_MAX)) {
            rfn_text_bytes(out, wrapped.data, wrapped.n);
            lines += rfn_text_lines(&wrapped);
            shown++;
        } else {
            left++;
            ranks += kind->n_ranks;
        }
        out->failed |= wrapped.failed;
        rfn_text_release(&wrapped);
    }
    if (!left)
        return;
    rfn_text_format(&rest, "%s more kind%s: %s rank%s (--json lists all)",
                    rfn_count_text(left).text, left == 1 ? "" : "s", rfn_count_text(ranks).text,
                    ranks == 1 ? "" : "s");
    rfn_text_string(out, "  ");
    rfn_report_sentence(out, report, &rest, 4);
}

void rfn_report_alike(struct rfn_text *out, const struct rfn_report *report)
{
    struct rfn_rank_kinds kinds;
    if (!report->clustering)
        return;
    if (rfn_rank_kinds_init(&kinds, report->clustering, report->profile) < 0)
        out->failed = true;
    else if (kinds.n_ranks > 1 && kinds.n == 1)
        append_all_alike(out, report, &kinds);
    else if (kinds.n_ranks > 1)
        append_kinds(out, report, &kinds);
    rfn_rank_kinds_release(&kinds);
}

/* ---- JSON ---- */

static json_t *range_json(const struct rfn_range *range)
{
    json_t *list = json_array();
    json_array_append_new(list, rfn_json_count(range->least));
    json_array_append_new(list, rfn_json_count(range->most));
    return list;
}

/* Calls that one kind makes and the other does not. */
static json_t *calls_json(const struct rfn_report *report, const struct rfn_rank_kind *kind,
                          const struct rfn_rank_kind *other)
{
    size_t n = rfn_rank_kind_only(kind, other, NULL, 0);
    struct rfn_call_site *calls = malloc((n + 1) * sizeof *calls);
    json_t *list = calls ? json_array() : rfn_json_fail();
    if (calls)
        rfn_rank_kind_only(kind, other, calls, n);
    for (size_t i = 0; i < n && list; i++)
        json_array_append_new(list, rfn_json_call(report->archive, calls[i]));
    free(calls);
    return list;
}

static json_t *kind_json(const struct rfn_report *report, const struct rfn_rank_kind *kind,
                         const struct rfn_rank_kind *first)
{
    json_t *value = json_object();
    RFN_JSON_SET(value, "n_ranks", kind->n_ranks);
    RFN_JSON_SET(value, "ranks", rfn_json_ranks(kind->ranks, kind->n_ranks));
    RFN_JSON_SET(value, "main_clusters", kind->orders);
    RFN_JSON_SET(value, "call_paths", kind->n_calls);
    RFN_JSON_SET(value, "sends_to", range_json(&kind->sends_to));
    RFN_JSON_SET(value, "gets_from", range_json(&kind->gets_from));
    RFN_JSON_SET(value, "messages", range_json(&kind->messages));
    RFN_JSON_SET(value, "sent_bytes", kind->sent_bytes);
    RFN_JSON_SET(value, "collective_bytes", kind->collective_bytes);
    RFN_JSON_SET(value, "mpi_seconds", rfn_report_seconds(report, (double)kind->mpi_ns));
    RFN_JSON_SET(value, "outside_seconds", rfn_report_seconds(report, (double)kind->outside_ns));
    RFN_JSON_SET(value, "also_calls", calls_json(report, kind, first));
    RFN_JSON_SET(value, "does_not_call", calls_json(report, first, kind));
    return value;
}

json_t *rfn_report_alike_json(const struct rfn_report *report)
{
    const struct rfn_clustering *clustering = report->clustering;
    struct rfn_rank_kinds found;
    if (!clustering)
        return json_null();
    bool failed = rfn_rank_kinds_init(&found, clustering, report->profile) < 0;
    json_t *value = failed ? rfn_json_fail() : json_object(), *kinds = json_array();
    for (size_t i = 0; !failed && i < found.n; i++)
        json_array_append_new(kinds, kind_json(report, &found.kinds[i], &found.kinds[0]));
    RFN_JSON_SET(value, "ranks", found.n_ranks);
    RFN_JSON_SET(value, "main_clusters", rfn_clustering_mains(clustering));
    RFN_JSON_SET(value, "sub_clusters", rfn_clustering_subs(clustering));
    RFN_JSON_SET(value, "sub_clusters_after_expressions",
                 rfn_clustering_after_expressions(clustering));
    RFN_JSON_SET(value, "kinds", kinds);
    rfn_rank_kinds_release(&found);
    return value;
}
