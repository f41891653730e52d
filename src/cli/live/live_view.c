#define _POSIX_C_SOURCE 200809L /* clock_gettime */
#include "cli/live/live_view.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- pairs ---- */

static int compare_pairs(const struct rfn_sample_key *a, const struct rfn_sample_key *b)
{
    return a->source != b->source ? (a->source > b->source) - (a->source < b->source)
                                  : (a->dest > b->dest) - (a->dest < b->dest);
}

/* Where the row of a pair is, or is to be. */
static size_t find_pair(const struct rfn_live_view *view, const struct rfn_sample_key *key)
{
    size_t first = 0, n = view->n_pairs;
    while (n > 0) {
        const size_t half = n / 2;
        if (compare_pairs(&view->pairs[first + half]->row.key, key) < 0) {
            first += half + 1;
            n -= half + 1;
        } else {
            n = half;
        }
    }
    return first;
}

/* The row of a pair, made if there is none; NULL: out of memory. */
static struct rfn_live_pair *pair_of(struct rfn_live_view *view, const struct rfn_sample_key *key)
{
    const size_t at = find_pair(view, key);
    if (at < view->n_pairs && compare_pairs(&view->pairs[at]->row.key, key) == 0)
        return view->pairs[at];
    if ((view->n_pairs & (view->n_pairs - 1)) == 0) { /* full: room is a power of two */
        const size_t room = view->n_pairs ? 2 * view->n_pairs : 1;
        struct rfn_live_pair **pairs = realloc(view->pairs, room * sizeof *pairs);
        if (!pairs)
            return NULL;
        view->pairs = pairs;
    }
    struct rfn_live_pair *pair = calloc(1, sizeof *pair);
    if (!pair)
        return NULL;
    pair->row.key = (struct rfn_sample_key){key->source, key->dest, RFN_SAMPLE_OTHER_SITE,
                                            RFN_SAMPLE_OTHER_SITE, RFN_SAMPLE_ANY_SIZE};
    memmove(view->pairs + at + 1, view->pairs + at, (view->n_pairs - at) * sizeof *view->pairs);
    view->pairs[at] = pair;
    view->n_pairs++;
    return pair;
}

static int by_messages(const void *a, const void *b)
{
    const struct rfn_sample_row *x = &(*(struct rfn_live_pair *const *)a)->row,
                                *y = &(*(struct rfn_live_pair *const *)b)->row;
    const double left = rfn_live_population(x), right = rfn_live_population(y);
    return left != right ? (left < right) - (left > right) : compare_pairs(&x->key, &y->key);
}

double rfn_live_population(const struct rfn_sample_row *row)
{
    const double messages = (double)row->messages;
    return messages > row->weight ? messages : row->weight;
}

/* ---- a moment ---- */

static int64_t now_ns(void)
{
    struct timespec now = {0};
    clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static void add_strategy(struct rfn_live_view *view, const struct rfn_picked *job, size_t number)
{
    const char *strategy = job->processes[number].strategy;
    if (!*strategy)
        return;
    for (size_t i = 0; i < number; i++) {
        if (strcmp(job->processes[i].strategy, strategy) == 0)
            return;
    }
    view->strategies_differ = view->strategies.n > 0;
    if (view->strategies_differ)
        rfn_text_string(&view->strategies, ", ");
    rfn_text_printable(&view->strategies, strategy);
}

static void add_count(struct rfn_live_pair *pair, const struct rfn_sample_count *count)
{
    pair->row.messages += count->messages;
    pair->row.bytes += count->bytes;
    pair->samples += count->samples;
}

static int add_counts(struct rfn_live_view *view, const struct rfn_live_rows *rows)
{
    for (size_t i = 0; i < rows->n_counts; i++) {
        const struct rfn_sample_key key = {.source = rows->counts[i].source,
                                           .dest = rows->counts[i].dest};
        struct rfn_live_pair *pair = pair_of(view, &key);
        if (!pair)
            return RFN_E_NOMEM;
        add_count(pair, &rows->counts[i]);
        add_count(&view->all, &rows->counts[i]);
    }
    return 0;
}

/* Their latencies: messages are counted apart. */
static int add_rows(struct rfn_live_view *view, const struct rfn_live_rows *rows)
{
    for (size_t i = 0; i < rows->n; i++) {
        struct rfn_sample_row *row = &rows->rows[i];
        if (row->key.dest == RFN_SAMPLE_COLLECTIVE || !row->n)
            continue;
        struct rfn_live_pair *pair = pair_of(view, &row->key);
        if (!pair)
            return RFN_E_NOMEM;
        row->messages = row->bytes = 0;
        rfn_sample_row_add(&pair->row, row);
        rfn_sample_row_add(&view->all.row, row);
    }
    for (size_t i = 0; i < RFN_SAMPLE_DROPS; i++)
        view->dropped += rows->dropped[i];
    return 0;
}

/* A process that has ended since it was listed has what the list says. */
static int add_process(struct rfn_live_view *view, const struct rfn_live_process *process,
                       struct rfn_diag *diag)
{
    struct rfn_live_rows rows;
    int error = rfn_live_rows_read(process, &rows, diag);
    if (error == 0)
        error = add_rows(view, &rows);
    if (error == 0)
        error = add_counts(view, &rows);
    rfn_live_rows_release(&rows);
    view->ended &= process->ended;
    view->messages += process->messages;
    view->bytes += process->bytes;
    view->sampled += process->sampled;
    return error == RFN_E_NOTFOUND ? 0 : error;
}

static double rate_since(const struct rfn_live_view *view, uint64_t messages, int64_t ns)
{
    const double seconds = (double)(view->seen_ns - ns) * 1e-9;
    return view->messages > messages && seconds > 0 ? (double)(view->messages - messages) / seconds
                                                    : 0;
}

int rfn_live_view_take(struct rfn_live_view *view, const struct rfn_picked *job,
                       const struct rfn_live_view *before, struct rfn_diag *diag)
{
    *view = (struct rfn_live_view){
        .lead = job->processes[0], .processes = job->n, .ended = true, .seen_ns = now_ns()};
    view->all.row.key = (struct rfn_sample_key){RFN_SAMPLE_ANY, RFN_SAMPLE_ANY,
                                                RFN_SAMPLE_OTHER_SITE, RFN_SAMPLE_OTHER_SITE,
                                                RFN_SAMPLE_ANY_SIZE};
    for (size_t i = 0; i < job->n; i++) {
        RFN_TRY(add_process(view, &job->processes[i], diag));
        add_strategy(view, job, i);
    }
    view->per_second = before ? rate_since(view, before->messages, before->seen_ns)
                              : rate_since(view, 0, view->lead.start_ns);
    if (view->n_pairs)
        qsort(view->pairs, view->n_pairs, sizeof *view->pairs, by_messages);
    return 0;
}

void rfn_live_view_release(struct rfn_live_view *view)
{
    for (size_t i = 0; i < view->n_pairs; i++)
        free(view->pairs[i]);
    free(view->pairs);
    rfn_text_release(&view->strategies);
    *view = (struct rfn_live_view){0};
}
