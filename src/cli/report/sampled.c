#include "cli/report/sampled.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- rows ---- */

/* A row, or what was counted apart, and the key of its group. Of a sender's row the site of receive
 * stays NO_SITE where groups have one. */
struct part {
    const struct rfn_sample_row *row;     /* or NULL, and */
    const struct rfn_sample_count *count; /* apart */
    struct rfn_sample_key key;
};

/* Whether there was no room for the row's own category. */
static bool is_given_up(const struct rfn_sample_key *key)
{
    return key->source == RFN_SAMPLE_ANY || key->send == RFN_SAMPLE_OTHER_SITE;
}

static int compare(int64_t a, int64_t b)
{
    return a < b ? -1 : a > b;
}

static int compare_sites(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

/* By what the sender knows first. */
static int compare_keys(const struct rfn_sample_key *a, const struct rfn_sample_key *b)
{
    const int by[] = {compare(a->source, b->source), compare(a->dest, b->dest),
                      compare_sites(a->send, b->send), compare(a->size_class, b->size_class),
                      compare_sites(a->receive, b->receive)};
    for (size_t i = 0; i < sizeof by / sizeof *by; i++) {
        if (by[i])
            return by[i];
    }
    return 0;
}

static int by_key(const void *left, const void *right)
{
    const struct part *a = left, *b = right;
    return compare_keys(&a->key, &b->key);
}

static bool same_sender(const struct rfn_sample_key *a, const struct rfn_sample_key *b)
{
    return a->source == b->source && a->dest == b->dest && a->send == b->send &&
           a->size_class == b->size_class;
}

static struct rfn_sample_key group_key(const struct rfn_sample_key *key, enum rfn_sampled_by by)
{
    struct rfn_sample_key group = {RFN_SAMPLE_ANY, RFN_SAMPLE_ANY, RFN_SAMPLE_OTHER_SITE,
                                   RFN_SAMPLE_OTHER_SITE, RFN_SAMPLE_ANY_SIZE};
    const bool sites = by == RFN_SAMPLED_SITES;
    if (by == RFN_SAMPLED_CATEGORY)
        return *key;
    if (by == RFN_SAMPLED_PAIR) {
        group.source = key->source;
        group.dest = key->dest;
    }
    if (sites || by == RFN_SAMPLED_COLLECTIVE)
        group.send = key->send;
    if (sites)
        group.receive = key->receive;
    if (by == RFN_SAMPLED_COLLECTIVE)
        group.dest = RFN_SAMPLE_COLLECTIVE;
    if (by == RFN_SAMPLED_SIZE)
        group.size_class = key->size_class;
    return group;
}

/* ---- groups ---- */

/* What rows have whose senders are the same. */
struct sent {
    double messages, bytes;        /* as these counted */
    double weight, weighted_bytes; /* as receivers sampled */
    uint64_t samples;              /* that were counted apart */
};

/* apart: messages are those that were counted apart. */
static struct sent sent_of(const struct part *parts, size_t n, bool apart)
{
    struct sent sent = {0};
    for (size_t i = 0; i < n; i++) {
        const struct rfn_sample_row *row = parts[i].row;
        const struct rfn_sample_count *count = parts[i].count;
        if (!row) {
            sent.messages += (double)count->messages;
            sent.bytes += (double)count->bytes;
            sent.samples += count->samples;
            continue;
        }
        sent.messages += apart ? 0 : (double)row->messages;
        sent.bytes += apart ? 0 : (double)row->bytes;
        sent.weight += row->n ? row->weight : 0;
        sent.weighted_bytes += row->n ? row->sampled_bytes : 0;
    }
    return sent;
}

/* What senders counted is shared out to where it was received, by weights; what they did not count,
 * or not in these rows, weights alone tell. */
static void share_out(struct rfn_sampled *group, const struct rfn_sample_row *row,
                      const struct sent *sent)
{
    const double share = sent->weight > 0 ? row->weight / sent->weight : 1;
    const bool counted = sent->messages > 0;
    group->messages = counted ? sent->messages * share : row->weight;
    group->bytes = !counted ? row->sampled_bytes
                   : sent->weighted_bytes > 0
                       ? sent->bytes * (row->sampled_bytes / sent->weighted_bytes)
                       : sent->bytes * share;
    group->estimated = !counted || (row->n && share < 1 - 1e-12);
}

/* A damaged file's weight need not be that of its buckets. */
static void fill_bins(struct rfn_sampled *group, const struct rfn_sample_row *row)
{
    double all = 0;
    for (unsigned i = 0; i < RFN_SAMPLE_BUCKETS; i++)
        all += row->buckets[i];
    for (unsigned i = 0; all > 0 && i < RFN_SAMPLE_BUCKETS; i++)
        group->bins[i / RFN_SAMPLED_BIN_BUCKETS] += row->buckets[i] / all;
}

/* row: the sum of the group's rows. */
static void describe(struct rfn_sampled *group, const struct rfn_sample_row *row)
{
    group->clean = row->clean;
    group->mean = rfn_sample_mean(row, group->messages);
    group->median = rfn_sample_quantile(row, 0.5, group->messages);
    group->p99 = rfn_sample_quantile(row, 0.99, group->messages);
    group->deviation_ns = row->n ? rfn_sample_deviation_ns(row) : NAN;
    group->min_ns = row->n ? row->min_ns : NAN;
    group->max_ns = row->n ? row->max_ns : NAN;
    group->waited_ns = row->n ? row->waited_ns / row->weight : NAN;
    group->lay_ns = row->n ? row->lay_ns / row->weight : NAN;
    group->clean_min_ns = row->clean ? row->clean_min_ns : NAN;
    fill_bins(group, row);
}

/* ---- what was given up ---- */

/* How groups are made of rows, of which some may have been given up. */
struct making {
    enum rfn_sampled_by by;
    bool apart;                       /* groups have the messages that were counted apart */
    bool given_up;                    /* there are rows of any ranks or places */
    bool no_room;                     /* pairs of ranks may have more than was counted apart */
    struct rfn_sample_count *missing; /* by pair and size what no row has; NULL: not known */
    size_t n_missing;
};

static int by_pair(const void *left, const void *right)
{
    const struct rfn_sample_count *a = left, *b = right;
    const int source = compare(a->source, b->source), dest = compare(a->dest, b->dest);
    return source ? source : dest ? dest : compare(a->size_class, b->size_class);
}

static struct rfn_sample_count *missing_of(const struct making *making,
                                           const struct rfn_sample_key *key)
{
    const struct rfn_sample_count wanted = {
        .source = key->source, .dest = key->dest, .size_class = key->size_class};
    return making->n_missing
               ? bsearch(&wanted, making->missing, making->n_missing, sizeof wanted, by_pair)
               : NULL;
}

static int find_missing(struct making *making, const struct rfn_samples *samples)
{
    making->missing = malloc((samples->n_counts + 1) * sizeof *making->missing);
    if (!making->missing)
        return RFN_E_NOMEM;
    making->n_missing = samples->n_counts;
    if (making->n_missing) {
        memcpy(making->missing, samples->counts, making->n_missing * sizeof *making->missing);
        qsort(making->missing, making->n_missing, sizeof *making->missing, by_pair);
    }
    for (size_t i = 0; i < samples->n_rows; i++) {
        const struct rfn_sample_row *row = &samples->rows[i];
        struct rfn_sample_count *of = missing_of(making, &row->key);
        if (!of)
            continue;
        of->messages -= row->messages;
        of->samples -= row->n;
    }
    return 0;
}

/* Whether rows of the category were given up, and may have come again. */
static bool lacks(const struct making *making, const struct rfn_sample_key *key)
{
    const struct rfn_sample_count *missing = missing_of(making, key);
    if (is_given_up(key) || !making->missing)
        return making->given_up;
    return missing ? missing->messages || missing->samples : making->no_room;
}

static void judge(struct rfn_sampled *group, const struct making *making, const struct sent *sent)
{
    if (making->apart) {
        group->messages = sent->messages;
        group->bytes = sent->bytes;
        group->estimated = sent->messages == 0 ||
                           (making->by == RFN_SAMPLED_PAIR && making->no_room);
        group->partial = group->n != sent->samples;
        return;
    }
    group->partial = making->by == RFN_SAMPLED_CATEGORY ? lacks(making, &group->key)
                                                        : making->given_up;
    group->estimated |= group->partial;
}

/* The groups of n rows with the same sender. row: memory for sums. */
static void add_groups(struct rfn_sampled_list *list, const struct making *making,
                       const struct part *parts, size_t n, struct rfn_sample_row *row)
{
    const struct sent sent = sent_of(parts, n, making->apart);
    for (size_t first = 0, next; first < n; first = next) {
        struct rfn_sampled group = {.key = parts[first].key};
        memset(row, 0, sizeof *row);
        for (next = first; next < n && parts[next].key.receive == group.key.receive; next++)
            if (parts[next].row)
                rfn_sample_row_add(row, parts[next].row);
        if (!row->n && (sent.weight > 0 || sent.messages == 0))
            continue; /* senders' rows: they are shared out */
        group.n = row->n;
        share_out(&group, row, &sent);
        judge(&group, making, &sent);
        describe(&group, row);
        list->items[list->n++] = group;
    }
}

/* The larger first, what is not known last. */
static int compare_lengths(double a, double b)
{
    if (isnan(a) || isnan(b))
        return isnan(a) - isnan(b);
    return a > b ? -1 : a < b;
}

static int by_tail(const void *left, const void *right)
{
    const struct rfn_sampled *a = left, *b = right;
    const int tail = compare_lengths(a->p99.value, b->p99.value);
    const int mean = tail ? tail : compare_lengths(a->mean.value, b->mean.value);
    return mean ? mean : compare_keys(&a->key, &b->key);
}

static int by_size(const void *left, const void *right)
{
    const struct rfn_sampled *a = left, *b = right;
    return compare(a->key.size_class, b->key.size_class);
}

/* Of parts that are in order. */
static int make_groups(struct rfn_sampled_list *list, const struct making *making,
                       const struct part *parts, size_t n)
{
    struct rfn_sample_row *row = malloc(sizeof *row);
    list->items = calloc(n + 1, sizeof *list->items);
    for (size_t first = 0, next; row && list->items && first < n; first = next) {
        for (next = first + 1; next < n && same_sender(&parts[first].key, &parts[next].key);)
            next++;
        add_groups(list, making, parts + first, next - first, row);
    }
    const bool whole = row && list->items;
    free(row);
    return whole ? 0 : RFN_E_NOMEM;
}

static int by_group_key(const void *left, const void *right)
{
    const struct rfn_sampled *const *a = left, *const *b = right;
    return compare_keys(&(*a)->key, &(*b)->key);
}

static int put_in_order(struct rfn_sampled_list *list, enum rfn_sampled_by by)
{
    list->by_key = malloc((list->n + 1) * sizeof *list->by_key);
    if (!list->by_key)
        return RFN_E_NOMEM;
    qsort(list->items, list->n, sizeof *list->items, by == RFN_SAMPLED_SIZE ? by_size : by_tail);
    for (size_t i = 0; i < list->n; i++)
        list->by_key[i] = &list->items[i];
    qsort(list->by_key, list->n, sizeof *list->by_key, by_group_key);
    return 0;
}

typedef bool shows_key(const void *context, const struct rfn_sample_key *key);

/* Returns how many. */
static size_t take_rows(struct part *parts, struct making *making,
                        const struct rfn_samples *samples, shows_key *shows, const void *context)
{
    const bool collective = making->by == RFN_SAMPLED_COLLECTIVE;
    size_t n = 0;
    for (size_t i = 0; i < samples->n_rows; i++) {
        const struct rfn_sample_key *key = &samples->rows[i].key;
        if ((key->dest == RFN_SAMPLE_COLLECTIVE) != collective)
            continue;
        making->given_up |= is_given_up(key);
        if (!shows || shows(context, key))
            parts[n++] = (struct part){.row = &samples->rows[i], .key = group_key(key, making->by)};
    }
    return n;
}

/* What was counted apart has no places: where those matter, rows alone count. */
static size_t take_counts(struct part *parts, struct making *making,
                          const struct rfn_samples *samples, shows_key *shows, const void *context)
{
    const bool apart = making->by == RFN_SAMPLED_ALL || making->by == RFN_SAMPLED_PAIR ||
                       making->by == RFN_SAMPLED_SIZE;
    size_t n = 0;
    for (size_t i = 0; i < samples->n_counts; i++) {
        const struct rfn_sample_count *count = &samples->counts[i];
        const struct rfn_sample_key key = {count->source, count->dest, RFN_SAMPLE_NO_SITE,
                                           RFN_SAMPLE_NO_SITE, count->size_class};
        making->no_room |= count->source == RFN_SAMPLE_ANY;
        if (apart && (!shows || shows(context, &key)))
            parts[n++] = (struct part){.count = count, .key = group_key(&key, making->by)};
    }
    making->apart = n > 0;
    return n;
}

int rfn_sampled_list(struct rfn_sampled_list *list, const struct rfn_samples *samples,
                     enum rfn_sampled_by by,
                     bool (*shows)(const void *context, const struct rfn_sample_key *key),
                     const void *context)
{
    struct part *parts = calloc(samples->n_rows + samples->n_counts + 1, sizeof *parts);
    struct making making = {.by = by};
    *list = (struct rfn_sampled_list){0};
    if (!parts)
        return RFN_E_NOMEM;
    size_t n = take_rows(parts, &making, samples, shows, context);
    n += take_counts(parts + n, &making, samples, shows, context);
    qsort(parts, n, sizeof *parts, by_key);
    int error = by == RFN_SAMPLED_CATEGORY && samples->counts ? find_missing(&making, samples) : 0;
    if (!error)
        error = make_groups(list, &making, parts, n);
    if (!error)
        error = put_in_order(list, by);
    free(making.missing);
    free(parts);
    return error;
}

void rfn_sampled_release(struct rfn_sampled_list *list)
{
    free(list->items);
    free(list->by_key);
    *list = (struct rfn_sampled_list){0};
}

/* ---- beside all messages ---- */

const struct rfn_sampled *rfn_sampled_find(const struct rfn_sampled_list *list,
                                           const struct rfn_sample_key *key)
{
    const struct rfn_sampled wanted = {.key = *key}, *const at = &wanted;
    const struct rfn_sampled *const *found = bsearch(&at, list->by_key, list->n,
                                                     sizeof *list->by_key, by_group_key);
    return found ? *found : NULL;
}

bool rfn_sampled_contains(const struct rfn_sample_interval *interval, double value, double off)
{
    const double most = fabs(value) * off;
    return interval->low <= value + most && interval->high >= value - most;
}

struct rfn_sampled_coverage rfn_sampled_coverage(const struct rfn_sampled_list *categories,
                                                 const struct rfn_sampled_list *all)
{
    struct rfn_sampled_coverage coverage = {0};
    for (size_t i = 0; i < categories->n; i++) {
        const struct rfn_sampled *sampled = &categories->items[i];
        const struct rfn_sampled *truth = rfn_sampled_find(all, &sampled->key);
        for (int what = 0; truth && what < 3; what++) {
            const struct rfn_sample_interval *of[] = {&sampled->mean, &sampled->median,
                                                      &sampled->p99};
            const double values[] = {truth->mean.value, truth->median.value, truth->p99.value};
            if (isnan(of[what]->low) || isnan(of[what]->high) || isnan(values[what]))
                continue;
            coverage.intervals++;
            coverage.contain += rfn_sampled_contains(
                of[what], values[what], what ? RFN_SAMPLED_QUANTILE_OFF : RFN_SAMPLED_MEAN_OFF);
        }
    }
    return coverage;
}
