#define _POSIX_C_SOURCE 200809L /* clock_gettime */
#include "cli/live/live_view.h"
#include "cli/text/json.h"
#include "cli/text/table.h"
#include "cli/text/wrap.h"

#include <math.h>
#include <time.h>

/* ---- words ---- */

static struct rfn_quantity share_of(uint64_t part, uint64_t whole)
{
    return rfn_share_text(whole ? (double)part / (double)whole : 0);
}

static int64_t nearest(double value)
{
    return value >= 9e18    ? INT64_MAX
           : value <= -9e18 ? INT64_MIN
                            : (int64_t)(value + (value < 0 ? -0.5 : 0.5));
}

static void append_rank(struct rfn_text *text, int32_t rank)
{
    if (rank >= 0)
        rfn_text_signed(text, rank);
    else
        rfn_text_string(text, "others");
}

/* "12.1 us" */
static void value_cell(struct rfn_table *table, double ns)
{
    rfn_table_cell(table, isnan(ns) ? "-" : rfn_time_text(nearest(ns)).text);
}

/* "11.9 us to 12.3 us", of 95 % */
static void interval_cell(struct rfn_table *table, const struct rfn_sample_interval *interval)
{
    struct rfn_text text = {0};
    if (!isnan(interval->low) && !isnan(interval->high))
        rfn_text_format(&text, "%s to %s", rfn_time_text(nearest(interval->low)).text,
                        rfn_time_text(nearest(interval->high)).text);
    else if (!isnan(interval->low))
        rfn_text_format(&text, "at least %s", rfn_time_text(nearest(interval->low)).text);
    else
        rfn_text_string(&text, "-");
    rfn_table_text(table, &text);
}

/* ---- a job ---- */

/* "app.8: 8 ranks on node1 for 1.2 s, sampling random:0.01" */
static void append_head(struct rfn_text *page, const struct rfn_live_view *view, size_t columns)
{
    const struct rfn_live_process *lead = &view->lead;
    struct rfn_text text = {0};
    rfn_text_printable(&text, lead->job);
    if (view->processes < lead->ranks)
        rfn_text_format(&text, ": %zu of %u ranks on ", view->processes, lead->ranks);
    else
        rfn_text_format(&text, ": %zu rank%s on ", view->processes,
                        view->processes == 1 ? "" : "s");
    rfn_text_printable(&text, lead->host);
    rfn_text_format(&text, " for %s, sampling ",
                    rfn_time_text(view->seen_ns - lead->start_ns).text);
    if (view->strategies.n)
        rfn_text_bytes(&text, view->strategies.data, view->strategies.n);
    else
        rfn_text_string(&text, "nothing yet");
    rfn_text_wrap(page, &text, columns, 2);
    rfn_text_release(&text);
    rfn_text_format(&text, "%s messages (%s per second), %s; %s sampled (%s)",
                    rfn_count_text(view->messages).text,
                    rfn_count_text((uint64_t)nearest(view->per_second)).text,
                    rfn_bytes_text(view->bytes).text, rfn_count_text(view->sampled).text,
                    share_of(view->sampled, view->messages).text);
    if (view->dropped)
        rfn_text_format(&text, ", %s dropped", rfn_count_text(view->dropped).text);
    rfn_text_wrap(page, &text, columns, 2);
    rfn_text_release(&text);
}

/* "*": some of its samples are told as of others. */
static void append_row(struct rfn_table *table, const struct rfn_live_pair *pair,
                       struct rfn_text *name)
{
    const struct rfn_sample_row *row = &pair->row;
    const double population = rfn_live_population(row);
    const struct rfn_sample_interval p50 = rfn_sample_quantile(row, 0.5, population);
    const struct rfn_sample_interval p99 = rfn_sample_quantile(row, 0.99, population);
    rfn_table_text(table, name);
    rfn_table_cell(table, row->messages ? rfn_count_text(row->messages).text : "-");
    rfn_table_row(table, "%s%s", rfn_count_text(row->n).text, pair->samples > row->n ? "*" : "");
    value_cell(table, row->n ? row->mean_ns : NAN);
    value_cell(table, p50.value);
    interval_cell(table, &p50);
    value_cell(table, p99.value);
    interval_cell(table, &p99);
}

void rfn_live_page(struct rfn_text *page, const struct rfn_live_view *view, size_t top,
                   size_t columns)
{
    static const unsigned expendable[] = {3, 5, 7};
    struct rfn_table table;
    append_head(page, view, columns);
    rfn_text_char(page, '\n');
    rfn_table_init(&table, "lrrrrlrl", "pair\tmessages\tsampled\tmean\tp50\t(95 %)\tp99\t(95 %)");
    for (size_t i = 0; i < view->n_pairs && i < top; i++) {
        const struct rfn_live_pair *pair = view->pairs[i];
        struct rfn_text name = {0};
        append_rank(&name, pair->row.key.source);
        rfn_text_string(&name, " > ");
        append_rank(&name, pair->row.key.dest);
        append_row(&table, pair, &name);
    }
    struct rfn_text all = {0};
    rfn_text_format(&all, "all %zu pair%s", view->n_pairs, view->n_pairs == 1 ? "" : "s");
    append_row(&table, &view->all, &all);
    rfn_table_fit(&table, columns, expendable, sizeof expendable / sizeof *expendable);
    rfn_table_print(&table, 0, page);
}

static json_t *number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static void set_row(json_t *value, const struct rfn_live_pair *pair)
{
    const struct rfn_sample_row *row = &pair->row;
    const double population = rfn_live_population(row);
    const struct rfn_sample_interval mean = rfn_sample_mean(row, population);
    const struct rfn_sample_interval p50 = rfn_sample_quantile(row, 0.5, population);
    const struct rfn_sample_interval p99 = rfn_sample_quantile(row, 0.99, population);
    RFN_JSON_SET(value, "messages", row->messages);
    RFN_JSON_SET(value, "bytes", row->bytes);
    RFN_JSON_SET(value, "sampled", row->n);
    RFN_JSON_SET(value, "partial", (bool)(pair->samples > row->n));
    RFN_JSON_SET(value, "mean_ns", number(mean.value));
    RFN_JSON_SET(value, "mean_low_ns", number(mean.low));
    RFN_JSON_SET(value, "mean_high_ns", number(mean.high));
    RFN_JSON_SET(value, "p50_ns", number(p50.value));
    RFN_JSON_SET(value, "p50_low_ns", number(p50.low));
    RFN_JSON_SET(value, "p50_high_ns", number(p50.high));
    RFN_JSON_SET(value, "p99_ns", number(p99.value));
    RFN_JSON_SET(value, "p99_low_ns", number(p99.low));
    RFN_JSON_SET(value, "p99_high_ns", number(p99.high));
}

static json_t *json_rank(int32_t rank)
{
    return rank >= 0 ? json_integer(rank) : json_null();
}

static json_t *json_pairs(const struct rfn_live_view *view, size_t top)
{
    json_t *list = json_array();
    for (size_t i = 0; i < view->n_pairs && i < top; i++) {
        const struct rfn_live_pair *pair = view->pairs[i];
        json_t *value = json_object();
        RFN_JSON_SET(value, "source", json_rank(pair->row.key.source));
        RFN_JSON_SET(value, "destination", json_rank(pair->row.key.dest));
        set_row(value, pair);
        json_array_append_new(list, value);
    }
    return list;
}

json_t *rfn_json_live(const struct rfn_live_view *view, size_t top)
{
    const struct rfn_live_process *lead = &view->lead;
    json_t *value = json_object(), *all = json_object();
    struct rfn_text strategies = {0};
    rfn_text_bytes(&strategies, view->strategies.data, view->strategies.n);
    RFN_JSON_SET(value, "job", lead->job);
    RFN_JSON_SET(value, "program", lead->program);
    RFN_JSON_SET(value, "host", lead->host);
    RFN_JSON_SET(value, "ranks", lead->ranks);
    RFN_JSON_SET(value, "ranks_here", (uint64_t)view->processes);
    RFN_JSON_SET(value, "seconds", rfn_json_seconds((double)(view->seen_ns - lead->start_ns)));
    RFN_JSON_SET(value, "strategy", rfn_json_of_text(&strategies));
    RFN_JSON_SET(value, "strategies_differ", view->strategies_differ);
    RFN_JSON_SET(value, "messages", view->messages);
    RFN_JSON_SET(value, "bytes", view->bytes);
    RFN_JSON_SET(value, "messages_per_second", number(view->per_second));
    RFN_JSON_SET(value, "sampled", view->sampled);
    RFN_JSON_SET(value, "dropped", view->dropped);
    set_row(all, &view->all);
    RFN_JSON_SET(value, "all", all);
    RFN_JSON_SET(value, "pairs", json_pairs(view, top));
    RFN_JSON_SET(value, "n_pairs", (uint64_t)view->n_pairs);
    RFN_JSON_SET(value, "ended", view->ended);
    return value;
}

/* ---- all jobs ---- */

/* What processes of a job have together. */
struct sums {
    uint64_t messages, sampled;
    bool ended;
};

static struct sums sums_of(const struct rfn_picked *job)
{
    struct sums sums = {.ended = true};
    for (size_t i = 0; i < job->n; i++) {
        sums.messages += job->processes[i].messages;
        sums.sampled += job->processes[i].sampled;
        sums.ended &= job->processes[i].ended;
    }
    return sums;
}

static int64_t age_ns(const struct rfn_live_process *process)
{
    struct timespec now = {0};
    clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec - process->start_ns;
}

void rfn_live_jobs_page(struct rfn_text *page, const struct rfn_live_list *list)
{
    struct rfn_table table;
    rfn_table_init(&table, "llrrrrrl",
                   "job\tprogram\tprocess\tranks here\truns for\tmessages\tsampled\tstrategy");
    for (size_t i = 0; i < list->n;) {
        const struct rfn_picked job = rfn_job_at(list, i);
        const struct rfn_live_process *lead = job.processes;
        const struct sums sums = sums_of(&job);
        rfn_table_name(&table, lead->job);
        rfn_table_name(&table, lead->program);
        rfn_table_row(&table, "%u\t%zu of %u\t%s\t%s\t%s", lead->pid, job.n, lead->ranks,
                      rfn_time_text(age_ns(lead)).text, rfn_count_text(sums.messages).text,
                      share_of(sums.sampled, sums.messages).text);
        rfn_table_name(&table, sums.ended ? "(ends)" : lead->strategy);
        i += job.n;
    }
    rfn_table_print(&table, 0, page);
}

json_t *rfn_json_live_jobs(const struct rfn_live_list *list)
{
    json_t *value = json_object(), *jobs = json_array();
    for (size_t i = 0; i < list->n;) {
        const struct rfn_picked job = rfn_job_at(list, i);
        const struct rfn_live_process *lead = job.processes;
        const struct sums sums = sums_of(&job);
        json_t *one = json_object();
        RFN_JSON_SET(one, "job", lead->job);
        RFN_JSON_SET(one, "program", lead->program);
        RFN_JSON_SET(one, "host", lead->host);
        RFN_JSON_SET(one, "process", lead->pid);
        RFN_JSON_SET(one, "ranks", lead->ranks);
        RFN_JSON_SET(one, "ranks_here", (uint64_t)job.n);
        RFN_JSON_SET(one, "seconds", rfn_json_seconds((double)age_ns(lead)));
        RFN_JSON_SET(one, "messages", sums.messages);
        RFN_JSON_SET(one, "sampled", sums.sampled);
        RFN_JSON_SET(one, "strategy", lead->strategy);
        RFN_JSON_SET(one, "ended", sums.ended);
        json_array_append_new(jobs, one);
        i += job.n;
    }
    RFN_JSON_SET(value, "jobs", jobs);
    return value;
}
