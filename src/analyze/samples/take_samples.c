/* take_samples.c - samples the messages of an archive that has all of them (refrain/sampling.h).
 *
 * A send is counted when it enters. There its place in its channel is known, as sends enter in the
 * order of their rank's program; so it is decided there whether it is sampled. If so, the message's
 * slot of the walk (rfn_match_op.user) says which of the chosen ones it is. It becomes a sample
 * when both its ends are over, and is dropped when it turns out that it never will.
 *
 * A message begins where the send enters, of persistent ones the call that starts it, of
 * partitioned ones the Pready that completes its partitions. It ends where the call leaves that
 * completes the receive. The place in the channel is that of the call that starts it.
 */
#include "base/map.h"
#include "base/pool.h"
#include "event/calls.h"
#include "reduce/samples/sample_counts.h"
#include "reduce/samples/sample_table.h"
#include "reduce/samples/strategy.h"
#include "refrain/aggregation.h"
#include "refrain/match.h"
#include "refrain/sampling.h"

#include <stdlib.h>
#include <string.h>

/* Rows of the table. It grows up to as many as take 256 MiB; then the rarest are told together.
 * Pairs of ranks, by size, may take 200 MiB. */
enum { FIRST_ROWS = 256, MOST_ROWS = 1 << 15, FIRST_PAIRS = 1024, MOST_PAIRS = 1 << 22 };

/* A message that is to be sampled and is under way. */
struct chosen {
    uint64_t channel, position;
    double weight;
    uint32_t next; /* free; + 1 */
};

struct taking {
    const struct rfn_archive *archive;
    const struct rfn_sample_strategy *strategy;
    struct rfn_samples *samples;
    size_t samples_capacity;
    struct rfn_sampler *senders, *members; /* by rank: of its messages, of its collective calls */
    struct rfn_call *roles;                /* by function */
    struct rfn_map positions;              /* channel -> how many messages it has had */
    struct rfn_sample_table *table;
    struct rfn_sample_counts *counts;
    struct chosen *chosen;
    size_t n_chosen, chosen_capacity;
    uint32_t free_chosen;
    uint64_t under_way;
};

/* ---- the table ---- */

static struct rfn_sample_table *new_table(uint32_t capacity)
{
    void *memory = calloc(1, rfn_sample_table_bytes(capacity));
    return memory ? rfn_sample_table_init(memory, capacity) : NULL;
}

static struct rfn_sample_counts *new_counts(uint32_t room)
{
    void *memory = calloc(1, rfn_sample_counts_bytes(room));
    return memory ? rfn_sample_counts_init(memory, room) : NULL;
}

/* The messages that are counted of two ranks, of a size. */
static int pair_of(struct taking *taking, const struct rfn_sample_key *key,
                   struct rfn_sample_count **pair)
{
    struct rfn_sample_counts *old = taking->counts;
    if (old->n_pairs == old->room && old->room < MOST_PAIRS) {
        struct rfn_sample_counts *larger = new_counts(2 * old->room);
        if (!larger)
            return RFN_E_NOMEM;
        for (uint32_t i = 0; i < old->n; i++)
            rfn_sample_counts_add(larger, &rfn_sample_counts_rows(old)[i]);
        taking->counts = larger;
        free(old);
    }
    *pair = rfn_sample_counts_row(taking->counts, key->source, key->dest, key->size_class);
    return 0;
}

static int row_of(struct taking *taking, const struct rfn_sample_key *key,
                  struct rfn_sample_row **row)
{
    struct rfn_sample_table *old = taking->table;
    if (old->n_rows == old->capacity && old->capacity < MOST_ROWS) {
        struct rfn_sample_table *larger = new_table(2 * old->capacity);
        if (!larger)
            return RFN_E_NOMEM;
        rfn_sample_table_add(larger, old);
        taking->table = larger;
        free(old);
    }
    *row = rfn_sample_table_row(taking->table, key);
    return 0;
}

/* A message, or a collective call, that there was. */
static int count(struct taking *taking, const struct rfn_sample_key *key, uint64_t bytes)
{
    struct rfn_sample_row *row;
    struct rfn_sample_count *pair;
    RFN_TRY(row_of(taking, key, &row));
    row->messages++;
    row->bytes += bytes;
    if (key->dest == RFN_SAMPLE_COLLECTIVE)
        return 0;
    RFN_TRY(pair_of(taking, key, &pair));
    pair->messages++;
    pair->bytes += bytes;
    return 0;
}

static int add_sample(struct taking *taking, const struct rfn_sample *sample, bool clean)
{
    struct rfn_samples *samples = taking->samples;
    const int64_t began_ns = sample->sent_ns < sample->received_ns ? sample->sent_ns
                                                                   : sample->received_ns;
    const double waited_ns = (double)began_ns - (double)sample->entered_ns;
    const double lay_ns = (double)sample->posted_ns - (double)sample->sent_ns;
    const struct rfn_sample_key key = {.source = sample->source,
                                       .dest = sample->dest,
                                       .send = sample->send,
                                       .receive = sample->receive,
                                       .size_class = rfn_sample_size_class(sample->bytes)};
    const struct rfn_sample_values values = {.latency_ns = rfn_sample_latency_ns(sample),
                                             .waited_ns = waited_ns > 0 ? waited_ns : 0,
                                             .lay_ns = lay_ns > 0 ? lay_ns : 0,
                                             .bytes = (double)sample->bytes,
                                             .weight = sample->weight,
                                             .clean = clean};
    struct rfn_sample_row *row;
    struct rfn_sample_count *pair;
    RFN_TRY(row_of(taking, &key, &row));
    rfn_sample_row_sample(row, &values, samples->analysis != RFN_SAMPLE_STAT);
    if (key.dest != RFN_SAMPLE_COLLECTIVE) {
        RFN_TRY(pair_of(taking, &key, &pair));
        pair->samples++;
    }
    if (samples->analysis != RFN_SAMPLE_WRITE)
        return 0;
    RFN_TRY(RFN_GROW(samples->samples, taking->samples_capacity, samples->n_samples + 1));
    samples->samples[samples->n_samples++] = *sample;
    return 0;
}

/* ---- which are sampled ---- */

/* Whether the next message of a channel is sampled, *position: how many went before it. */
static int decide(struct taking *taking, struct rfn_sampler *sampler, int64_t now_ns,
                  uint64_t channel, uint64_t *position, bool *sampled)
{
    uint64_t *so_far = rfn_map_get(&taking->positions, channel);
    *position = so_far ? *so_far : 0;
    if (so_far)
        ++*so_far;
    else
        RFN_TRY(rfn_map_put(&taking->positions, channel, 1));
    *sampled = rfn_sample_agrees(taking->strategy)
                   ? rfn_sample_chosen(taking->strategy, channel, *position)
                   : rfn_sampler_chooses(sampler, taking->strategy, now_ns);
    return 0;
}

static double weight_of(const struct taking *taking, uint64_t position)
{
    return rfn_sample_agrees(taking->strategy) ? 1 / rfn_sample_rate(taking->strategy, position)
                                               : 1;
}

static uint64_t identity_of(const struct taking *taking, uint32_t comm)
{
    return rfn_archive_comm(taking->archive, comm)->identity;
}

static uint64_t site_of(struct rfn_call_site site)
{
    return rfn_sample_site(site.function, site.path);
}

/* ---- messages ---- */

static int send_enters(struct taking *taking, const struct rfn_match_event *event,
                       const struct rfn_match_op *op)
{
    const uint64_t bytes = op->bytes > 0 ? (uint64_t)op->bytes : 0;
    const struct rfn_sample_key key = {
        .source = (int32_t)event->rank,
        .dest = (int32_t)op->peer,
        .send = rfn_sample_site(event->record->function, event->record->path),
        .receive = RFN_SAMPLE_NO_SITE,
        .size_class = rfn_sample_size_class(bytes)};
    const uint64_t channel = rfn_sample_channel(identity_of(taking, op->comm), event->rank,
                                                op->peer, rfn_sample_part_tag(op->tag, op->part));
    uint64_t position;
    bool sampled;
    RFN_TRY(count(taking, &key, bytes));
    taking->samples->messages++;
    taking->samples->bytes += bytes;
    RFN_TRY(decide(taking, &taking->senders[event->rank], event->enter_ns, channel, &position,
                   &sampled));
    if (!sampled)
        return 0;
    const int64_t number = RFN_POOL_TAKE(taking->chosen, taking->chosen_capacity, taking->n_chosen,
                                         taking->free_chosen, next);
    RFN_TRY((int)(number < 0 ? number : 0));
    taking->chosen[number] = (struct chosen){
        .channel = channel, .position = position, .weight = weight_of(taking, position)};
    taking->under_way++;
    *op->user = (uint64_t)number + 1;
    return 0;
}

static int enter(void *context, const struct rfn_match_event *event)
{
    for (size_t i = 0; i < event->n_ops; i++) {
        if (event->ops[i].what == RFN_MATCH_SEND && event->ops[i].user)
            RFN_TRY(send_enters(context, event, &event->ops[i]));
    }
    return 0;
}

/* What was chosen of a message that goes. */
static struct chosen take_chosen(struct taking *taking, uint64_t *slot)
{
    const uint64_t number = *slot - 1;
    const struct chosen chosen = taking->chosen[number];
    RFN_POOL_GIVE(taking->chosen, taking->free_chosen, next, number);
    taking->under_way--;
    *slot = 0;
    return chosen;
}

/* The call that completed the receive waited for the message, which began later. */
static bool is_clean(const struct taking *taking, const struct rfn_match_message *message)
{
    const int64_t sent_ns = message->sent.posted.ns;
    const uint32_t function = message->received.end_site.function;
    return message->received.posted.ns < sent_ns && message->received.enter_ns < sent_ns &&
           !(rfn_archive_function(taking->archive, function)->flags & RFN_FUNCTION_POLL);
}

static int message_over(void *context, const struct rfn_match_message *message)
{
    struct taking *taking = context;
    const struct rfn_match_end *sent = &message->sent, *received = &message->received;
    if (!*message->user)
        return 0;
    const struct chosen chosen = take_chosen(taking, message->user);
    if (!received->ended) {
        taking->samples->dropped[RFN_SAMPLE_ONE_SIDED]++;
        return 0;
    }
    const struct rfn_sample sample = {.source = (int32_t)sent->posted.rank,
                                      .dest = (int32_t)received->posted.rank,
                                      .send = site_of(sent->site),
                                      .receive = site_of(received->site),
                                      .bytes = message->bytes > 0 ? (uint64_t)message->bytes : 0,
                                      .channel = chosen.channel,
                                      .position = chosen.position,
                                      .weight = chosen.weight,
                                      .sent_ns = sent->posted.ns,
                                      .posted_ns = received->posted.ns,
                                      .entered_ns = received->enter_ns,
                                      .received_ns = received->exit_ns};
    taking->samples->sampled++;
    return add_sample(taking, &sample, is_clean(taking, message));
}

/* ---- collective calls, and cancelled messages ---- */

/* The bytes that the call's count and datatype say, of the send buffer where there are two; 0 where
 * they are lists, or mean nothing on this rank. */
static uint64_t collective_bytes(const struct taking *taking, const struct rfn_record *record)
{
    const struct rfn_call *role = &taking->roles[record->function];
    const bool both = role->in[RFN_IN_sendcount] >= 0;
    const int8_t count = role->in[both ? RFN_IN_sendcount : RFN_IN_count];
    const int8_t type = role->in[both ? RFN_IN_sendtype : RFN_IN_datatype];
    if (count < 0 || type < 0 || record->in[count] <= 0 || record->in[type] < 0)
        return 0;
    const struct rfn_datatype_info *of = rfn_archive_datatype(taking->archive,
                                                              (uint32_t)record->in[type]);
    return of && of->size > 0 ? (uint64_t)record->in[count] * (uint64_t)of->size : 0;
}

static int collective_leaves(struct taking *taking, const struct rfn_match_event *event)
{
    const uint64_t bytes = collective_bytes(taking, event->record);
    const uint64_t channel = rfn_sample_channel(identity_of(taking, (uint32_t)event->volume->comm),
                                                event->rank, event->rank,
                                                RFN_SAMPLE_COLLECTIVE_TAG);
    struct rfn_sample sample = {
        .source = (int32_t)event->rank,
        .dest = RFN_SAMPLE_COLLECTIVE,
        .send = rfn_sample_site(event->record->function, event->record->path),
        .receive = RFN_SAMPLE_NO_SITE,
        .bytes = bytes,
        .channel = channel,
        .sent_ns = event->enter_ns,
        .posted_ns = event->enter_ns,
        .entered_ns = event->enter_ns,
        .received_ns = event->exit_ns};
    const struct rfn_sample_key key = {.source = sample.source,
                                       .dest = sample.dest,
                                       .send = sample.send,
                                       .receive = sample.receive,
                                       .size_class = rfn_sample_size_class(bytes)};
    bool sampled;
    RFN_TRY(count(taking, &key, bytes));
    RFN_TRY(decide(taking, &taking->members[event->rank], event->enter_ns, channel,
                   &sample.position, &sampled));
    sample.weight = weight_of(taking, sample.position);
    return sampled ? add_sample(taking, &sample, false) : 0;
}

static int leave(void *context, const struct rfn_match_event *event)
{
    struct taking *taking = context;
    const struct rfn_function_info *function = rfn_archive_function(taking->archive,
                                                                    event->record->function);
    for (size_t i = 0; i < event->n_ops; i++) {
        const struct rfn_match_op *op = &event->ops[i];
        if (op->what != RFN_MATCH_SEND || !op->cancelled || !op->user || !*op->user)
            continue;
        take_chosen(taking, op->user);
        taking->samples->dropped[RFN_SAMPLE_UNCERTAIN]++;
    }
    return rfn_sample_is_collective(function->class_, function->flags) && !event->record->error &&
                   event->volume->comm >= 0
               ? collective_leaves(taking, event)
               : 0;
}

/* ---- the whole ---- */

static int check(const struct rfn_archive *archive, struct rfn_diag *diag)
{
    const struct rfn_run *run = rfn_archive_run(archive);
    struct rfn_aggregation aggregation;
    if (!run->times)
        return rfn_fail(diag, RFN_E_UNSUPPORTED, -1, -1,
                        "latencies need times, and the archive has none: record it with "
                        "--time=full");
    if (run->reduced)
        return rfn_fail(diag, RFN_E_UNSUPPORTED, -1, -1,
                        "the archive has times of similar iterations, not of each message: "
                        "record it with --time=full");
    const int error = rfn_aggregation_read(archive, &aggregation, diag);
    const bool any = aggregation.any;
    rfn_aggregation_release(&aggregation);
    if (!error && any)
        return rfn_fail(diag, RFN_E_UNSUPPORTED, -1, -1,
                        "the archive has been reduced with --keep-predictions and lacks messages: "
                        "sample the one that it was made from");
    return error;
}

static int init(struct taking *taking)
{
    const uint32_t ranks = rfn_archive_run(taking->archive)->ranks;
    struct rfn_samples *samples = taking->samples;
    taking->table = new_table(FIRST_ROWS);
    taking->counts = new_counts(FIRST_PAIRS);
    taking->senders = calloc((size_t)ranks + 1, sizeof *taking->senders);
    taking->members = calloc((size_t)ranks + 1, sizeof *taking->members);
    samples->where = calloc(1, 1); /* "": all */
    const uint32_t functions = rfn_archive_functions(taking->archive);
    taking->roles = calloc((size_t)functions + 1, sizeof *taking->roles);
    if (!taking->roles || !taking->table || !taking->counts || !taking->senders ||
        !taking->members || !samples->where)
        return RFN_E_NOMEM;
    for (uint32_t i = 0; i < functions; i++)
        rfn_call_init(&taking->roles[i], rfn_archive_function(taking->archive, i));
    for (uint32_t i = 0; i < ranks; i++) {
        rfn_sampler_init(&taking->senders[i], taking->strategy, i);
        rfn_sampler_init(&taking->members[i], taking->strategy, ~i);
    }
    samples->known = true;
    rfn_sample_strategy_text(taking->strategy, samples->strategy);
    return 0;
}

static int by_end(const void *left, const void *right)
{
    const struct rfn_sample *a = left, *b = right;
    if (a->dest != b->dest)
        return a->dest < b->dest ? -1 : 1;
    if (a->received_ns != b->received_ns)
        return a->received_ns < b->received_ns ? -1 : 1;
    if (a->channel != b->channel)
        return a->channel < b->channel ? -1 : 1;
    return a->position < b->position ? -1 : a->position > b->position;
}

/* What the walk has found goes to the samples. */
static int finish(struct taking *taking)
{
    struct rfn_samples *samples = taking->samples;
    const size_t n = taking->table->n_rows, n_counts = taking->counts->n;
    samples->dropped[RFN_SAMPLE_ONE_SIDED] += taking->under_way; /* nobody received them */
    samples->rows = malloc((n + 1) * sizeof *samples->rows);
    samples->counts = malloc((n_counts + 1) * sizeof *samples->counts);
    if (!samples->rows || !samples->counts)
        return RFN_E_NOMEM;
    memcpy(samples->counts, rfn_sample_counts_rows(taking->counts),
           n_counts * sizeof *samples->counts);
    samples->n_counts = n_counts;
    if (n)
        memcpy(samples->rows, rfn_sample_table_rows(taking->table), n * sizeof *samples->rows);
    samples->n_rows = n;
    if (samples->n_samples)
        qsort(samples->samples, samples->n_samples, sizeof *samples->samples, by_end);
    return 0;
}

int rfn_samples_take(const struct rfn_archive *archive, const struct rfn_sample_strategy *strategy,
                     enum rfn_sample_analysis analysis, struct rfn_samples *samples,
                     struct rfn_diag *diag)
{
    struct taking taking = {.archive = archive, .strategy = strategy, .samples = samples};
    const struct rfn_match_hooks hooks = {
        .context = &taking, .enter = enter, .leave = leave, .message = message_over};
    *samples = (struct rfn_samples){.analysis = analysis};
    RFN_TRY(check(archive, diag));
    int error = init(&taking);
    if (!error)
        error = rfn_match_run(archive, &hooks, NULL, diag);
    if (error != RFN_E_NOMEM && finish(&taking) < 0)
        error = RFN_E_NOMEM;
    if (error == RFN_E_NOMEM)
        rfn_fail(diag, error, -1, -1, "%s", rfn_error_text(error));
    free(taking.table);
    free(taking.counts);
    free(taking.senders);
    free(taking.roles);
    free(taking.members);
    free(taking.chosen);
    rfn_map_release(&taking.positions);
    return error;
}
