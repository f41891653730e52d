/* prediction_page.c - how long a run would take on a platform, for people and for machines. */
#include "cli/predict/prediction.h"
#include "cli/text/json.h"
#include "cli/text/left_out_text.h"
#include "cli/text/table.h"
#include "cli/text/wrap.h"

#include <stdlib.h>

static struct rfn_quantity time_text(double seconds)
{
    return rfn_time_text(seconds < 9e9 ? (int64_t)(seconds * 1e9 + 0.5) : INT64_MAX);
}

/* ---- what is derived ---- */

/* As the report's: parallel = balance * communication = mean of computing / run time. */
struct efficiencies {
    double mean, most, balance, communication, parallel;
};

static struct efficiencies efficiencies_of(const struct rfn_simulated *simulated)
{
    struct efficiencies found = {0};
    for (uint32_t i = 0; i < simulated->n_ranks; i++) {
        const double compute = simulated->ranks[i].compute + simulated->ranks[i].sleep;
        found.mean += compute / simulated->n_ranks;
        found.most = compute > found.most ? compute : found.most;
    }
    found.balance = found.most > 0 ? found.mean / found.most : 1;
    found.communication = simulated->seconds > 0 ? found.most / simulated->seconds : 1;
    found.parallel = found.balance * found.communication;
    return found;
}

/* Numbers of things, those with the highest value first. */
struct ordered {
    uint32_t number;
    double value;
};

static int highest_first(const void *a, const void *b)
{
    const struct ordered *x = a, *y = b;
    if (x->value != y->value)
        return x->value < y->value ? 1 : -1;
    return (x->number > y->number) - (x->number < y->number);
}

/* NULL: memory ran out. */
static struct ordered *ranks_by_end(const struct rfn_simulated *simulated)
{
    struct ordered *ranks = calloc((size_t)simulated->n_ranks + 1, sizeof *ranks);
    for (uint32_t i = 0; ranks && i < simulated->n_ranks; i++)
        ranks[i] = (struct ordered){i, simulated->ranks[i].end};
    if (ranks)
        qsort(ranks, simulated->n_ranks, sizeof *ranks, highest_first);
    return ranks;
}

static struct ordered *links_by_use(const struct rfn_simulated *simulated, size_t *n)
{
    struct ordered *links = calloc(simulated->n_links + 1, sizeof *links);
    *n = 0;
    for (size_t i = 0; links && i < simulated->n_links; i++) {
        if (simulated->links[i].bytes > 0)
            links[(*n)++] = (struct ordered){(uint32_t)i, simulated->links[i].busy};
    }
    if (links)
        qsort(links, *n, sizeof *links, highest_first);
    return links;
}

/* ---- for people ---- */

static void sentence(struct rfn_text *out, const struct rfn_prediction_page *page,
                     struct rfn_text *text)
{
    rfn_text_wrap(out, text, page->width, 3);
    rfn_text_release(text);
}

static size_t hosts_used(const struct rfn_prediction_page *page)
{
    const size_t n = rfn_platform_hosts(page->platform);
    bool *used = calloc(n + 1, sizeof *used);
    size_t count = 0;
    for (uint32_t i = 0; used && i < page->simulated->n_ranks; i++) {
        count += !used[page->hosts[i]];
        used[page->hosts[i]] = true;
    }
    free(used);
    return count;
}

/* "halo.rfn would take 4.53 s on cluster.xml: 16 ranks on 16 hosts, messages with contention." */
static void append_head(struct rfn_text *out, const struct rfn_prediction_page *page)
{
    const size_t hosts = hosts_used(page);
    const uint32_t ranks = page->simulated->n_ranks;
    struct rfn_text text = {0};
    rfn_text_printable(&text, page->file);
    rfn_text_format(&text, " would take %s %s", time_text(page->simulated->seconds).text,
                    page->assumed);
    rfn_text_format(&text, ": %u rank%s on %zu host%s%s.", ranks, ranks == 1 ? "" : "s", hosts,
                    hosts == 1 ? "" : "s",
                    page->options->no_contention ? "" : ", messages with contention");
    sentence(out, page, &text);
}

static void append_efficiencies(struct rfn_text *out, const struct rfn_prediction_page *page)
{
    const struct efficiencies found = efficiencies_of(page->simulated);
    struct rfn_text text = {0};
    rfn_text_format(&text,
                    "Parallel efficiency %s = load balance %s * communication efficiency %s; %s "
                    "messages, %s actions.",
                    rfn_share_text(found.parallel).text, rfn_share_text(found.balance).text,
                    rfn_share_text(found.communication).text,
                    rfn_count_text(page->simulated->messages).text,
                    rfn_count_text(page->simulated->actions).text);
    sentence(out, page, &text);
}

/* Where the record ends in the middle of messages. */
static void append_cut_short(struct rfn_text *out, const struct rfn_prediction_page *page)
{
    const uint32_t n = page->simulated->cut_short;
    struct rfn_text text = {0};
    if (!n)
        return;
    rfn_text_format(&text,
                    "%s rank%s end%s in a call for which the archive lacks other ranks' part: it "
                    "ends at different times on its ranks, or lacks some of them. The prediction "
                    "ends where no rank can go on.",
                    rfn_count_text(n).text, n == 1 ? "" : "s", n == 1 ? "s" : "");
    sentence(out, page, &text);
}

/* Where the platform's speed does not matter. */
static void append_computing(struct rfn_text *out, const struct rfn_prediction_page *page)
{
    const bool cpu = page->unit == RFN_ACTION_CPU_NS;
    struct rfn_text text = {0};
    if ((!cpu && page->unit != RFN_ACTION_WALL_NS) || page->options->rate > 0 || page->rates)
        return;
    rfn_text_format(&text,
                    "Computing takes the %s that it took in the recorded run%s; the speed of the "
                    "platform's hosts is not used. --rate, --rates and --scale-compute change "
                    "that.",
                    cpu ? "CPU time" : "time", cpu ? "" : ", waiting for cores included");
    sentence(out, page, &text);
}

static void append_missing(struct rfn_text *out, const struct rfn_prediction_page *page)
{
    const struct rfn_compute_rates *rates = page->rates;
    struct rfn_text text = {0};
    rfn_text_format(&text,
                    "%zu of %zu parts of computing are in no run of --rates, and take the average "
                    "of one.",
                    rates->missing, rates->missing + rates->found);
    sentence(out, page, &text);
}

static void append_output(struct rfn_text *out, const struct rfn_prediction_page *page)
{
    struct rfn_text text = {0};
    rfn_text_string(&text, "The predicted run is ");
    rfn_text_printable(&text, page->output);
    rfn_text_format(&text,
                    ", %s, an archive like others: refrain report tells why it takes so long.",
                    rfn_bytes_text(page->bytes).text);
    sentence(out, page, &text);
}

enum { WAITING = 5 /* column of the table of ranks */ };

static void append_rank(struct rfn_table *table, const struct rfn_prediction_page *page,
                        uint32_t number)
{
    const struct rfn_simulated_rank *rank = &page->simulated->ranks[number];
    char cell[32];
    snprintf(cell, sizeof cell, "%u", number);
    rfn_table_cell(table, cell);
    rfn_table_name(table, rfn_platform_host(page->platform, page->hosts[number])->name);
    rfn_table_cell(table, time_text(rank->end).text);
    rfn_table_cell(table, time_text(rank->compute + rank->sleep).text);
    rfn_table_cell(table, time_text(rank->messages - rank->waiting).text);
    rfn_table_cell(table, time_text(rank->waiting).text);
    rfn_table_cell(table, rfn_count_text(rank->sent).text);
    rfn_table_cell(table, rfn_bytes_text(rank->bytes).text);
}

static void append_ranks(struct rfn_text *out, const struct rfn_prediction_page *page)
{
    struct ordered *ranks = ranks_by_end(page->simulated);
    struct rfn_table table;
    if (!ranks) {
        out->failed = true;
        return;
    }
    rfn_text_string(out, page->simulated->n_ranks > page->top ? "\nThe last ranks\n" : "\nRanks\n");
    rfn_table_init(&table, "rlrrrrrr",
                   "rank\thost\tend\tcomputing\tin messages\twaiting\tsent\tbytes");
    table.hidden[WAITING] = page->on_simgrid;
    for (size_t i = 0; i < page->top && i < page->simulated->n_ranks; i++)
        append_rank(&table, page, ranks[i].number);
    rfn_table_print(&table, 4, out);
    free(ranks);
}

static void append_links(struct rfn_text *out, const struct rfn_prediction_page *page)
{
    size_t n;
    struct ordered *links = links_by_use(page->simulated, &n);
    struct rfn_table table;
    if (!links) {
        out->failed = true;
        return;
    }
    if (n) {
        rfn_text_string(out, "\nThe busiest links\n");
        rfn_table_init(&table, "lrrr", "link\tbandwidth\tbytes\tbusy");
        for (size_t i = 0; i < page->top && i < n; i++) {
            const struct rfn_link *link = rfn_platform_link(page->platform, links[i].number);
            const struct rfn_simulated_link *use = &page->simulated->links[links[i].number];
            rfn_table_name(&table, link->name);
            rfn_table_row(&table, "%s/s\t%s\t%s", rfn_bytes_text((uint64_t)link->bandwidth).text,
                          rfn_bytes_text((uint64_t)use->bytes).text,
                          rfn_share_text(page->simulated->seconds > 0
                                             ? use->busy / page->simulated->seconds
                                             : 0)
                              .text);
        }
        rfn_table_print(&table, 4, out);
    }
    free(links);
}

static void append_model(struct rfn_text *out, const struct rfn_prediction_page *page)
{
    static const char *const from[] = {"SimGrid's", "platform", "given"};
    struct rfn_text text = {0};
    struct rfn_table table;
    size_t defaults = 0;
    rfn_text_string(out, "\nThe model of MPI\n");
    rfn_table_init(&table, "lll", "parameter\tfrom\tvalue");
    for (size_t i = 0; i < page->simulated->n_settings; i++) {
        const struct rfn_setting *setting = &page->simulated->settings[i];
        defaults += setting->from == RFN_FROM_DEFAULT;
        rfn_table_cell(&table, setting->name);
        rfn_table_cell(&table, from[setting->from]);
        rfn_table_name(&table, setting->value);
    }
    rfn_table_print(&table, 4, out);
    if (defaults) {
        rfn_text_format(&text,
                        "%zu of these are SimGrid 3.32's defaults, which were measured on gigabit "
                        "Ethernet: refrain calibrate measures them for a network.",
                        defaults);
        sentence(out, page, &text);
    }
}

void rfn_prediction_text(struct rfn_text *out, const struct rfn_prediction_page *page)
{
    append_head(out, page);
    append_efficiencies(out, page);
    append_cut_short(out, page);
    append_computing(out, page);
    if (page->rates && page->rates->missing)
        append_missing(out, page);
    if (page->output)
        append_output(out, page);
    if (page->brief)
        return;
    append_ranks(out, page);
    append_links(out, page);
    if (page->simulated->n_settings > 0)
        append_model(out, page);
}

/* ---- for machines ---- */

static json_t *rank_json(const struct rfn_prediction_page *page, uint32_t number)
{
    const struct rfn_simulated_rank *rank = &page->simulated->ranks[number];
    json_t *value = json_object();
    RFN_JSON_SET(value, "rank", number);
    RFN_JSON_SET(value, "host", rfn_platform_host(page->platform, page->hosts[number])->name);
    RFN_JSON_SET(value, "end_seconds", rank->end);
    RFN_JSON_SET(value, "compute_seconds", rank->compute);
    RFN_JSON_SET(value, "sleep_seconds", rank->sleep);
    RFN_JSON_SET(value, "communication_seconds", rank->messages - rank->waiting);
    RFN_JSON_SET(value, "waiting_seconds",
                 page->on_simgrid ? json_null() : json_real(rank->waiting));
    RFN_JSON_SET(value, "actions", rank->actions);
    RFN_JSON_SET(value, "messages", rank->sent);
    RFN_JSON_SET(value, "bytes", rank->bytes);
    return value;
}

static json_t *links_json(const struct rfn_prediction_page *page)
{
    size_t n;
    struct ordered *links = links_by_use(page->simulated, &n);
    json_t *list = json_array();
    if (!links)
        return rfn_json_fail();
    for (size_t i = 0; i < page->top && i < n; i++) {
        const struct rfn_link *link = rfn_platform_link(page->platform, links[i].number);
        const struct rfn_simulated_link *use = &page->simulated->links[links[i].number];
        json_t *value = json_object();
        RFN_JSON_SET(value, "link", link->name);
        RFN_JSON_SET(value, "bandwidth", link->bandwidth);
        RFN_JSON_SET(value, "bytes", use->bytes);
        RFN_JSON_SET(value, "busy_seconds", use->busy);
        json_array_append_new(list, value);
    }
    free(links);
    return list;
}

static json_t *model_json(const struct rfn_prediction_page *page)
{
    static const char *const from[] = {"default", "platform", "command line"};
    json_t *list = json_array();
    for (size_t i = 0; i < page->simulated->n_settings; i++) {
        const struct rfn_setting *setting = &page->simulated->settings[i];
        json_t *value = json_object();
        RFN_JSON_SET(value, "name", setting->name);
        RFN_JSON_SET(value, "value", setting->value);
        RFN_JSON_SET(value, "from", from[setting->from]);
        json_array_append_new(list, value);
    }
    return list;
}

static json_t *efficiencies_json(const struct rfn_prediction_page *page)
{
    const struct efficiencies found = efficiencies_of(page->simulated);
    json_t *value = json_object();
    RFN_JSON_SET(value, "parallel", found.parallel);
    RFN_JSON_SET(value, "load_balance", found.balance);
    RFN_JSON_SET(value, "communication", found.communication);
    return value;
}

json_t *rfn_prediction_json(const struct rfn_prediction_page *page)
{
    static const char *const units[] = {"flops", "instructions", "cpu_ns", "wall_ns"};
    json_t *value = json_object(), *ranks = json_array();
    for (uint32_t i = 0; i < page->simulated->n_ranks; i++)
        json_array_append_new(ranks, rank_json(page, i));
    RFN_JSON_SET(value, "schema", (int64_t)1);
    RFN_JSON_SET(value, "file", page->file);
    if (page->archive)
        rfn_json_missing(value, page->archive);
    RFN_JSON_SET(value, "platform", page->platform_file);
    RFN_JSON_SET(value, "engine", page->on_simgrid ? "simgrid" : "own");
    RFN_JSON_SET(value, "contention", (bool)!page->options->no_contention);
    RFN_JSON_SET(value, "assumed", page->assumed);
    RFN_JSON_SET(value, "predicted_seconds", page->simulated->seconds);
    if (page->output) {
        RFN_JSON_SET(value, "output", page->output);
        RFN_JSON_SET(value, "output_bytes", page->bytes);
    }
    RFN_JSON_SET(value, "ranks", page->simulated->n_ranks);
    RFN_JSON_SET(value, "actions", page->simulated->actions);
    RFN_JSON_SET(value, "messages", page->simulated->messages);
    RFN_JSON_SET(value, "ranks_cut_short", page->simulated->cut_short);
    RFN_JSON_SET(value, "unit", units[page->unit]);
    RFN_JSON_SET(value, "efficiency", efficiencies_json(page));
    if (page->rates)
        RFN_JSON_SET(value, "rates", rfn_compute_rates_json(page->rates));
    RFN_JSON_SET(value, "by_rank", ranks);
    RFN_JSON_SET(value, "links", page->on_simgrid ? json_null() : links_json(page));
    RFN_JSON_SET(value, "model", page->on_simgrid ? json_null() : model_json(page));
    return rfn_json_failed() ? NULL : value;
}
