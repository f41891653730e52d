/* report_samples.c - how long messages take, by samples (refrain/sampling.h): by size, and where
 * the longest ones are.
 *
 * With what all messages have (report->all_samples) each row has a second one with that.
 */
#include "cli/report/report.h"
#include "cli/report/sampled.h"
#include "cli/text/json.h"
#include "cli/text/table.h"

#include <math.h>
#include <stdlib.h>

static bool shows(const void *context, const struct rfn_sample_key *key)
{
    const struct rfn_report *report = context;
    const uint64_t sites[] = {key->send, key->receive};
    const int32_t ranks[] = {key->source, key->dest};
    bool rank = !report->ranks, path = !report->call_path;
    for (int i = 0; i < 2; i++) {
        rank |= ranks[i] >= 0 && rfn_report_shows_rank(report, (uint32_t)ranks[i]);
        path |= sites[i] != RFN_SAMPLE_NO_SITE && sites[i] != RFN_SAMPLE_OTHER_SITE &&
                rfn_report_shows_call(report, rfn_sample_function(sites[i]),
                                      rfn_sample_path(sites[i]));
    }
    return rank && path;
}

/* Groups of the samples, and the same of all messages. */
struct groups {
    struct rfn_sampled_list list, all;
};

static int groups_init(struct groups *groups, const struct rfn_report *report,
                       enum rfn_sampled_by by)
{
    *groups = (struct groups){.list = {0}};
    RFN_TRY(rfn_sampled_list(&groups->list, report->samples, by, shows, report));
    return report->all_samples
               ? rfn_sampled_list(&groups->all, report->all_samples, by, shows, report)
               : 0;
}

static void groups_release(struct groups *groups)
{
    rfn_sampled_release(&groups->list);
    rfn_sampled_release(&groups->all);
}

/* What all messages of a group have; NULL: it is not known. */
static const struct rfn_sampled *truth_of(const struct groups *groups,
                                          const struct rfn_sampled *group)
{
    return groups->all.n ? rfn_sampled_find(&groups->all, &group->key) : NULL;
}

static uint64_t rounded(double number)
{
    return !(number > 0) ? 0 : number < 9e18 ? (uint64_t)(number + 0.5) : UINT64_MAX;
}

/* Messages, or collective calls: by the rows, whatever is counted beside them. */
struct totals {
    uint64_t messages, bytes, sampled;
};

static struct totals totals_of(const struct rfn_samples *samples, bool collective)
{
    struct totals totals = {0};
    for (size_t i = 0; i < samples->n_rows; i++) {
        const struct rfn_sample_row *row = &samples->rows[i];
        if ((row->key.dest == RFN_SAMPLE_COLLECTIVE) != collective)
            continue;
        totals.messages += row->messages;
        totals.bytes += row->bytes;
        totals.sampled += row->n;
    }
    return totals;
}

static uint64_t dropped_of(const struct rfn_samples *samples)
{
    uint64_t dropped = 0;
    for (int why = 0; why < RFN_SAMPLE_DROPS; why++)
        dropped += samples->dropped[why];
    return dropped;
}

/* By enum rfn_sample_drop: a name in JSON, and words behind a number. */
static const char *const drops[RFN_SAMPLE_DROPS][2] = {
    [RFN_SAMPLE_ONE_SIDED] = {"one_sided", "known at one end only"},
    [RFN_SAMPLE_NO_ROOM] = {"no_room", "for want of memory"},
    [RFN_SAMPLE_UNCERTAIN] = {"uncertain", "cancelled, or matched by threads in an order that is "
                                           "not known"},
    [RFN_SAMPLE_DISAGREE] = {"disagree", "with other bytes at the other end"},
    [RFN_SAMPLE_FOREIGN] = {"foreign", "to or from another job or clock"}};

/* ---- text: cells ---- */

/* Of a time, as rfn_time_text chooses it: its ns. */
static double unit_of(double ns)
{
    return ns < 1000 ? 1 : ns < 999.5e3 ? 1e3 : ns < 999.5e6 ? 1e6 : 1e9;
}

/* "?": not known, or no time. */
static struct rfn_quantity time_text(double ns)
{
    return fabs(ns) < 9e18 ? rfn_time_text((int64_t)(ns < 0 ? ns - 0.5 : ns + 0.5))
                           : (struct rfn_quantity){"?"};
}

/* In this unit, or with its own where that has too many or too few digits. */
static void append_end(struct rfn_text *text, double ns, double unit)
{
    const double value = ns / unit;
    if (ns == 0 || (value >= 0.095 && value < 999.5))
        rfn_text_format(text, "%.*f",
                        unit == 1 || ns == 0 ? 0
                        : value < 9.995      ? 2
                        : value < 99.95      ? 1
                                             : 0,
                        value);
    else
        rfn_text_string(text, time_text(ns).text);
}

/* "12.3 us [11.9, 12.8]" */
static void interval_cell(struct rfn_table *table, const struct rfn_sample_interval *interval)
{
    struct rfn_text text = {0};
    const double unit = unit_of(interval->value);
    const bool exact = interval->low == interval->value && interval->high == interval->value;
    if (exact || isnan(interval->value)) {
        rfn_table_cell(table, time_text(interval->value).text);
        return;
    }
    rfn_text_format(&text, "%s [", time_text(interval->value).text);
    append_end(&text, interval->low, unit);
    rfn_text_string(&text, ", ");
    append_end(&text, interval->high, unit);
    rfn_text_char(&text, ']');
    rfn_table_text(table, &text);
}

static void rank_cell(struct rfn_table *table, int32_t rank)
{
    rfn_table_cell(table, rank < 0 ? "any" : rfn_count_text((uint32_t)rank).text);
}

/* A number, or one that is estimated. */
static void quantity_cell(struct rfn_table *table, bool estimated, struct rfn_quantity quantity)
{
    rfn_table_row(table, "%s%s", estimated ? "~" : "", quantity.text);
}

static void append_site(struct rfn_text *text, const struct rfn_report *report, uint64_t site,
                        size_t width)
{
    const struct rfn_call_site call = {rfn_sample_function(site), rfn_sample_path(site)};
    if (site == RFN_SAMPLE_OTHER_SITE)
        rfn_text_string(text, "several places");
    else if (site == RFN_SAMPLE_NO_SITE)
        rfn_text_string(text, "? (no message was measured)");
    else
        rfn_call_site_path(text, report->archive, call, width);
}

/* Below the row: from where to where. */
static void sites_note(struct rfn_table *table, const struct rfn_report *report,
                       const struct rfn_sample_key *key)
{
    enum { INDENT = 6, WORD = 6 };
    struct rfn_text note = {0};
    const size_t width = report->width > 40 ? report->width - INDENT - WORD : 40;
    const bool collective = key->dest == RFN_SAMPLE_COLLECTIVE;
    if (!collective)
        rfn_text_string(&note, "from ");
    append_site(&note, report, key->send, width);
    if (!collective) {
        rfn_text_string(&note, "\nto   ");
        append_site(&note, report, key->receive, width);
    }
    rfn_text_char(&note, '\n');
    rfn_table_note(table, &note);
}

/* ---- text: tables ---- */

/* A table: its columns before the numbers, and what it is about. */
struct layout {
    enum rfn_sampled_by by;
    const char *align, *titles; /* of the columns that name a group */
    const char *title, *rows;   /* what they are, where the longest come first */
    const char *count;
    bool sites, network;
};

static const struct layout layouts[] = {{.by = RFN_SAMPLED_SIZE,
                                         .align = "l",
                                         .titles = "size\t",
                                         .title = "Do large messages take longer? Latency by size",
                                         .count = "messages",
                                         .network = true},
                                        {.by = RFN_SAMPLED_PAIR,
                                         .align = "rr",
                                         .titles = "from\tto\t",
                                         .title = "Between which ranks do messages take longest?",
                                         .rows = "Pairs",
                                         .count = "messages"},
                                        {.by = RFN_SAMPLED_SITES,
                                         .align = "",
                                         .titles = "",
                                         .title = "Between which calls do messages take longest?",
                                         .rows = "Call paths",
                                         .count = "messages",
                                         .sites = true},
                                        {.by = RFN_SAMPLED_CATEGORY,
                                         .align = "rrl",
                                         .titles = "from\tto\tsize\t",
                                         .title = "Which messages take longest?",
                                         .rows = "Ranks, call paths and sizes",
                                         .count = "messages",
                                         .sites = true},
                                        {.by = RFN_SAMPLED_COLLECTIVE,
                                         .align = "",
                                         .titles = "",
                                         .title = "How long are ranks in collective calls?",
                                         .rows = "Call paths",
                                         .count = "calls",
                                         .sites = true}};

static void name_cells(struct rfn_table *table, const struct layout *layout,
                       const struct rfn_sample_key *key)
{
    if (layout->by == RFN_SAMPLED_PAIR || layout->by == RFN_SAMPLED_CATEGORY) {
        rank_cell(table, key->source);
        rank_cell(table, key->dest);
    }
    if (layout->by != RFN_SAMPLED_SIZE && layout->by != RFN_SAMPLED_CATEGORY)
        return;
    if (key->size_class == RFN_SAMPLE_ANY_SIZE)
        rfn_table_cell(table, "any");
    else
        rfn_report_size_cell(table, key->size_class);
}

static void value_cell(struct rfn_table *table, const struct rfn_sample_interval *interval)
{
    rfn_table_cell(table, time_text(interval->value).text);
}

/* all: the group has all messages, whose values need no interval. */
static void number_cells(struct rfn_table *table, const struct layout *layout,
                         const struct rfn_sampled *group, bool all)
{
    void (*cell)(struct rfn_table *, const struct rfn_sample_interval *) = all ? value_cell
                                                                               : interval_cell;
    if (group->messages > 0) {
        quantity_cell(table, group->estimated, rfn_count_text(rounded(group->messages)));
        quantity_cell(table, group->estimated, rfn_bytes_text(rounded(group->bytes)));
    } else {
        rfn_table_cell(table, "-");
        rfn_table_cell(table, "-");
    }
    if (all)
        rfn_table_cell(table, "all");
    else
        rfn_table_row(table, "%s%s", rfn_count_text(group->n).text, group->partial ? "*" : "");
    cell(table, &group->mean);
    cell(table, &group->median);
    cell(table, &group->p99);
    if (layout->network)
        rfn_table_cell(table, time_text(group->clean_min_ns).text);
}

/* The first groups, each with what all messages have below it. */
static void add_rows(struct rfn_table *table, const struct rfn_report *report,
                     const struct layout *layout, const struct groups *groups)
{
    for (size_t i = 0; i < groups->list.n && i < report->top; i++) {
        const struct rfn_sampled *group = &groups->list.items[i];
        const struct rfn_sampled *truth = truth_of(groups, group);
        name_cells(table, layout, &group->key);
        number_cells(table, layout, group, false);
        for (const char *name = layout->align; truth && *name; name++)
            rfn_table_cell(table, "");
        if (truth)
            number_cells(table, layout, truth, true);
        if (layout->sites)
            sites_note(table, report, &group->key);
    }
}

static void append_table(struct rfn_text *out, const struct rfn_report *report,
                         const struct layout *layout)
{
    const unsigned names = (unsigned)strlen(layout->align);
    const bool histogram = report->samples->analysis != RFN_SAMPLE_STAT;
    struct groups groups;
    struct rfn_table table;
    struct rfn_text align = {0};
    rfn_text_format(&align, "%srrrrrr%s", layout->align, layout->network ? "r" : "");
    rfn_table_init(&table, rfn_text_terminated(&align), NULL);
    rfn_table_row(&table, "%s%s\tbytes\tmeasured\tmean\tmedian\t99th percentile%s", layout->titles,
                  layout->count, layout->network ? "\tnetwork" : "");
    out->failed |= groups_init(&groups, report, layout->by) < 0 || align.failed;
    if (!out->failed)
        add_rows(&table, report, layout, &groups);
    const size_t n = out->failed ? 0 : groups.list.n;
    if (n) {
        rfn_text_format(out, "\n%s", layout->title);
        if (layout->rows)
            rfn_text_format(out, " %s by %s", layout->rows, histogram ? "99th percentile" : "mean");
        rfn_report_end_title(out, report, n);
    }
    table.hidden[names + 4] = table.hidden[names + 5] = !histogram;
    /* On narrow pages without bytes, median, how many were measured, mean. */
    rfn_table_fit(&table, report->width,
                  (const unsigned[]){names + 1, names + 4, names + 2, names + 3}, 4);
    rfn_table_print(&table, 6, n ? out : NULL);
    rfn_text_release(&align);
    groups_release(&groups);
}

/* ---- text: sentences ---- */

static void append_sentence(struct rfn_text *out, const struct rfn_report *report,
                            struct rfn_text *text)
{
    rfn_text_string(out, "  ");
    rfn_report_sentence(out, report, text, 2);
}

/* "12 more were chosen and not measured: 10 known at one end only, 2 for want of memory." */
static void append_dropped(struct rfn_text *text, const struct rfn_samples *samples)
{
    const uint64_t dropped = dropped_of(samples);
    const char *before = ": ";
    if (!dropped)
        return;
    rfn_text_format(text, " %s more %s chosen and not measured", rfn_count_text(dropped).text,
                    dropped == 1 ? "was" : "were");
    for (int why = 0; why < RFN_SAMPLE_DROPS; why++) {
        if (!samples->dropped[why])
            continue;
        rfn_text_format(text, "%s%s %s", before, rfn_count_text(samples->dropped[why]).text,
                        drops[why][1]);
        before = ", ";
    }
    rfn_text_char(text, '.');
}

static void append_how_many(struct rfn_text *out, const struct rfn_report *report)
{
    const struct rfn_samples *samples = report->samples;
    const struct totals of = totals_of(samples, false), calls = totals_of(samples, true);
    struct rfn_text text = {0};
    rfn_text_format(&text, "Measured: %s of %s messages (%s, %s)", rfn_count_text(of.sampled).text,
                    rfn_count_text(of.messages).text,
                    rfn_share_text(of.messages ? (double)of.sampled / (double)of.messages : 0).text,
                    rfn_bytes_text(of.bytes).text);
    if (calls.messages)
        rfn_text_format(&text, " and %s of %s collective calls", rfn_count_text(calls.sampled).text,
                        rfn_count_text(calls.messages).text);
    rfn_text_string(&text, ", by ");
    rfn_text_printable(&text, samples->strategy);
    rfn_text_string(&text, samples->changed ? ", which was changed while the program ran." : ".");
    if (samples->where && *samples->where) {
        rfn_text_string(&text, " Only messages of ");
        rfn_text_printable(&text, samples->where);
        rfn_text_string(&text, " are counted.");
    }
    append_dropped(&text, samples);
    append_sentence(out, report, &text);
}

/* What a latency is made of, and what the marks mean. */
static void append_parts(struct rfn_text *out, const struct rfn_report *report,
                         const struct rfn_sampled *all)
{
    struct rfn_text text = {0};
    rfn_text_format(&text,
                    "On average a message lay %s until its receive was posted, and its receiver "
                    "had waited %s in MPI when the send began.",
                    time_text(all->lay_ns).text, time_text(all->waited_ns).text);
    rfn_text_format(&text, " %s of the measured messages are clean: their receiver waited for them",
                    rfn_share_text((double)all->clean / (double)all->n).text);
    if (all->clean)
        rfn_text_format(&text, ", and the fastest, %s, shows the network",
                        time_text(all->clean_min_ns).text);
    rfn_text_char(&text, '.');
    append_sentence(out, report, &text);
    const struct totals of = totals_of(report->samples, false);
    if (of.sampled >= of.messages && !all->estimated)
        return;
    rfn_text_string(&text,
                    "[low, high]: has the value of all messages in 95 of 100 cases; ?: too few "
                    "were measured to say; ~: estimated.");
    append_sentence(out, report, &text);
}

/* What there was no room for, as marks say. */
static void append_lost(struct rfn_text *out, const struct rfn_report *report)
{
    const struct rfn_samples *samples = report->samples;
    struct rfn_text text = {0};
    bool given_up = false, no_room = false;
    for (size_t i = 0; i < samples->n_rows; i++)
        given_up |= samples->rows[i].key.source == RFN_SAMPLE_ANY;
    for (size_t i = 0; i < samples->n_counts; i++)
        no_room |= samples->counts[i].source == RFN_SAMPLE_ANY;
    if (given_up)
        rfn_text_string(&text,
                        "*: these latencies are of a part of the samples only. The others are in "
                        "rows of any rank or of several places, as there was no room for more "
                        "categories (record --memory).");
    if (no_room)
        rfn_text_format(&text,
                        "%sCounts of pairs may be too low: there was no room to count all pairs "
                        "(record --memory).",
                        given_up ? " " : "");
    if (given_up || no_room)
        append_sentence(out, report, &text);
}

static void append_head(struct rfn_text *out, const struct rfn_report *report)
{
    struct groups groups;
    out->failed |= groups_init(&groups, report, RFN_SAMPLED_ALL) < 0;
    rfn_text_string(out, "\nHow long do messages take? Latency, from the start of a send to the "
                         "end of its receive");
    rfn_report_of_ranks(out, report);
    rfn_report_end_title(out, report, 0);
    append_how_many(out, report);
    if (groups.list.n && groups.list.items->n)
        append_parts(out, report, groups.list.items);
    append_lost(out, report);
    groups_release(&groups);
}

/* How many intervals are right, where that is known. */
static void append_coverage(struct rfn_text *out, const struct rfn_report *report)
{
    struct groups groups;
    struct rfn_text text = {0};
    out->failed |= groups_init(&groups, report, RFN_SAMPLED_CATEGORY) < 0;
    if (!out->failed) {
        const struct rfn_sampled_coverage coverage = rfn_sampled_coverage(&groups.list,
                                                                          &groups.all);
        rfn_text_format(&text,
                        "Of %s 95 %% intervals of categories (mean, median, 99th percentile) %s "
                        "contain what all messages have",
                        rfn_count_text(coverage.intervals).text,
                        rfn_count_text(coverage.contain).text);
        if (coverage.intervals)
            rfn_text_format(
                &text, ": %s",
                rfn_share_text((double)coverage.contain / (double)coverage.intervals).text);
        rfn_text_char(&text, '.');
        rfn_text_char(out, '\n');
        rfn_report_sentence(out, report, &text, 2);
    }
    groups_release(&groups);
}

void rfn_report_samples(struct rfn_text *out, const struct rfn_report *report)
{
    if (!report->samples)
        return;
    append_head(out, report);
    if (report->head_only)
        return;
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++)
        append_table(out, report, &layouts[i]);
    if (report->all_samples)
        append_coverage(out, report);
}

/* ---- JSON ---- */

static json_t *real(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *rank_json(int32_t rank)
{
    return rank < 0 ? json_null() : json_integer(rank);
}

/* Null where there are several, or it is not known. */
static json_t *site_json(const struct rfn_report *report, uint64_t site)
{
    const struct rfn_call_site call = {rfn_sample_function(site), rfn_sample_path(site)};
    return site == RFN_SAMPLE_NO_SITE || site == RFN_SAMPLE_OTHER_SITE
               ? json_null()
               : rfn_json_call_path(report->archive, call);
}

static void set_names(json_t *value, const struct rfn_report *report, enum rfn_sampled_by by,
                      const struct rfn_sample_key *key)
{
    const bool category = by == RFN_SAMPLED_CATEGORY;
    if (category || by == RFN_SAMPLED_PAIR) {
        RFN_JSON_SET(value, "source", rank_json(key->source));
        RFN_JSON_SET(value, "destination", rank_json(key->dest));
    }
    if (category || by == RFN_SAMPLED_SITES) {
        RFN_JSON_SET(value, "send_path", site_json(report, key->send));
        RFN_JSON_SET(value, "receive_path", site_json(report, key->receive));
    }
    if (by == RFN_SAMPLED_COLLECTIVE)
        RFN_JSON_SET(value, "call_path", site_json(report, key->send));
    if (category || by == RFN_SAMPLED_SIZE)
        RFN_JSON_SET(value, "bytes_from",
                     key->size_class == RFN_SAMPLE_ANY_SIZE
                         ? json_null()
                         : rfn_json_count(rfn_sample_bytes_from(key->size_class)));
}

static json_t *histogram_json(const struct rfn_sampled *group)
{
    json_t *list = json_array();
    for (unsigned bin = 0; bin < RFN_SAMPLED_BINS; bin++) {
        if (!(group->bins[bin] > 0))
            continue;
        json_t *value = json_object();
        RFN_JSON_SET(value, "from_ns", rfn_sampled_bin_ns(bin));
        RFN_JSON_SET(value, "to_ns", rfn_sampled_bin_ns(bin + 1));
        RFN_JSON_SET(value, "share", real(group->bins[bin]));
        json_array_append_new(list, value);
    }
    return list;
}

static void set_numbers(json_t *value, const struct rfn_sampled *group)
{
    RFN_JSON_SET(value, "count", rounded(group->messages));
    RFN_JSON_SET(value, "bytes", rounded(group->bytes));
    RFN_JSON_SET(value, "estimated", group->estimated);
    RFN_JSON_SET(value, "partial", group->partial);
    RFN_JSON_SET(value, "sampled", group->n);
    RFN_JSON_SET(value, "mean_ns", real(group->mean.value));
    RFN_JSON_SET(value, "mean_low_ns", real(group->mean.low));
    RFN_JSON_SET(value, "mean_high_ns", real(group->mean.high));
    RFN_JSON_SET(value, "p50_ns", real(group->median.value));
    RFN_JSON_SET(value, "p50_low_ns", real(group->median.low));
    RFN_JSON_SET(value, "p50_high_ns", real(group->median.high));
    RFN_JSON_SET(value, "p99_ns", real(group->p99.value));
    RFN_JSON_SET(value, "p99_low_ns", real(group->p99.low));
    RFN_JSON_SET(value, "p99_high_ns", real(group->p99.high));
    RFN_JSON_SET(value, "deviation_ns", real(group->deviation_ns));
    RFN_JSON_SET(value, "min_ns", real(group->min_ns));
    RFN_JSON_SET(value, "max_ns", real(group->max_ns));
    RFN_JSON_SET(value, "waited_ns", real(group->waited_ns));
    RFN_JSON_SET(value, "lay_ns", real(group->lay_ns));
    RFN_JSON_SET(value, "clean", group->clean);
    RFN_JSON_SET(value, "clean_min_ns", real(group->clean_min_ns));
    RFN_JSON_SET(value, "histogram", histogram_json(group));
}

static void set_truth(json_t *value, const struct rfn_sampled *truth)
{
    RFN_JSON_SET(value, "all_count",
                 truth ? rfn_json_count(rounded(truth->messages)) : json_null());
    RFN_JSON_SET(value, "all_mean_ns", truth ? real(truth->mean.value) : json_null());
    RFN_JSON_SET(value, "all_p50_ns", truth ? real(truth->median.value) : json_null());
    RFN_JSON_SET(value, "all_p99_ns", truth ? real(truth->p99.value) : json_null());
}

static json_t *groups_json(const struct rfn_report *report, enum rfn_sampled_by by)
{
    struct groups groups;
    json_t *list = groups_init(&groups, report, by) < 0 ? rfn_json_fail() : json_array();
    for (size_t i = 0; list && i < groups.list.n && i < report->top; i++) {
        const struct rfn_sampled *group = &groups.list.items[i];
        json_t *value = json_object();
        set_names(value, report, by, &group->key);
        set_numbers(value, group);
        if (report->all_samples)
            set_truth(value, truth_of(&groups, group));
        json_array_append_new(list, value);
    }
    groups_release(&groups);
    return list;
}

static json_t *sample_json(const struct rfn_report *report, const struct rfn_sample *sample)
{
    const bool collective = sample->dest == RFN_SAMPLE_COLLECTIVE;
    json_t *value = json_object();
    RFN_JSON_SET(value, "source", rank_json(sample->source));
    RFN_JSON_SET(value, "destination", rank_json(sample->dest));
    RFN_JSON_SET(value, "collective", collective);
    RFN_JSON_SET(value, "send_path", site_json(report, sample->send));
    RFN_JSON_SET(value, "receive_path", site_json(report, sample->receive));
    RFN_JSON_SET(value, "bytes", sample->bytes);
    RFN_JSON_SET(value, "channel", rfn_json_signature(sample->channel));
    RFN_JSON_SET(value, "position", sample->position);
    RFN_JSON_SET(value, "weight", sample->weight);
    RFN_JSON_SET(value, "latency_ns", rfn_sample_latency_ns(sample));
    RFN_JSON_SET(value, "sent_ns", sample->sent_ns);
    RFN_JSON_SET(value, "posted_ns", sample->posted_ns);
    RFN_JSON_SET(value, "entered_ns", sample->entered_ns);
    RFN_JSON_SET(value, "received_ns", sample->received_ns);
    return value;
}

static json_t *samples_json(const struct rfn_report *report)
{
    json_t *list = json_array();
    for (size_t i = 0; i < report->samples->n_samples; i++) {
        const struct rfn_sample *sample = &report->samples->samples[i];
        const struct rfn_sample_key key = {.source = sample->source,
                                           .dest = sample->dest,
                                           .send = sample->send,
                                           .receive = sample->receive};
        if (shows(report, &key))
            json_array_append_new(list, sample_json(report, sample));
    }
    return list;
}

static void set_drops(json_t *value, const struct rfn_samples *samples)
{
    json_t *why = json_object();
    for (int i = 0; i < RFN_SAMPLE_DROPS; i++)
        RFN_JSON_SET(why, drops[i][0], samples->dropped[i]);
    RFN_JSON_SET(value, "dropped", dropped_of(samples));
    RFN_JSON_SET(value, "dropped_because", why);
}

static void set_coverage(json_t *value, const struct rfn_report *report)
{
    struct groups groups;
    if (groups_init(&groups, report, RFN_SAMPLED_CATEGORY) < 0) {
        rfn_json_fail();
    } else {
        const struct rfn_sampled_coverage coverage = rfn_sampled_coverage(&groups.list,
                                                                          &groups.all);
        RFN_JSON_SET(value, "intervals", coverage.intervals);
        RFN_JSON_SET(value, "intervals_right", coverage.contain);
    }
    groups_release(&groups);
}

json_t *rfn_report_samples_json(const struct rfn_report *report)
{
    static const char *const analyses[] = {
        [RFN_SAMPLE_STAT] = "stat", [RFN_SAMPLE_FREQ] = "freq", [RFN_SAMPLE_WRITE] = "write"};
    static const char *const lists[RFN_SAMPLED_BYS] = {
        [RFN_SAMPLED_ALL] = "all",    [RFN_SAMPLED_CATEGORY] = "categories",
        [RFN_SAMPLED_PAIR] = "pairs", [RFN_SAMPLED_SITES] = "call_paths",
        [RFN_SAMPLED_SIZE] = "sizes", [RFN_SAMPLED_COLLECTIVE] = "collectives"};
    const struct rfn_samples *samples = report->samples;
    if (!samples)
        return json_null();
    const struct totals of = totals_of(samples, false), calls = totals_of(samples, true);
    json_t *value = json_object();
    RFN_JSON_SET(value, "strategy", (const char *)samples->strategy);
    RFN_JSON_SET(value, "changed", samples->changed);
    RFN_JSON_SET(value, "analysis", analyses[samples->analysis]);
    RFN_JSON_SET(value, "alone", samples->alone);
    RFN_JSON_SET(value, "where", samples->where);
    RFN_JSON_SET(value, "messages", of.messages);
    RFN_JSON_SET(value, "bytes", of.bytes);
    RFN_JSON_SET(value, "sampled", of.sampled);
    RFN_JSON_SET(value, "collective_calls", calls.messages);
    RFN_JSON_SET(value, "collective_calls_sampled", calls.sampled);
    set_drops(value, samples);
    if (report->all_samples)
        set_coverage(value, report);
    for (int by = 0; by < RFN_SAMPLED_BYS; by++)
        RFN_JSON_SET(value, lists[by], groups_json(report, (enum rfn_sampled_by)by));
    if (samples->analysis == RFN_SAMPLE_WRITE)
        RFN_JSON_SET(value, "samples", samples_json(report));
    return value;
}
