/* network.c - the parameters of LogGPS, from the messages of an archive. */
#include "base/grow.h"
#include "predict/steps.h"
#include "refrain/aggregation.h"
#include "refrain/predict.h"

#include <stdlib.h>

/* By size, in powers of two: what the fastest message took whose receiver waited for it. */
enum { SIZES = 64, SMALL = 10, LARGE = 14 }; /* below 2 KiB; from 16 KiB */

/* Calls that are looked at: later ones of a long run hardly show more. */
enum { ENOUGH = 1 << 15 };

struct estimating {
    struct rfn_steps *steps;
    uint32_t
        *sending;   /* by stream: message + 1, the last that it sends in a call that ends with it */
    int64_t *ended; /* by message: exit of the blocking send; INT64_MAX: none */
    size_t ended_capacity;
    int64_t fastest[SIZES], bytes[SIZES];
    int64_t shortest; /* call that sends without waiting */
    int64_t eager;
    uint64_t messages, calls;
};

static int enter(void *context, const struct rfn_step *step)
{
    struct estimating *of = context;
    for (size_t i = 0; i < step->n_posts; i++) {
        const struct rfn_post *post = &step->posts[i];
        if (post->kind != RFN_POST_SEND)
            continue;
        RFN_TRY(RFN_GROW(of->ended, of->ended_capacity, (size_t)post->number + 1));
        of->ended[post->number] = INT64_MAX;
        of->sending[step->stream] = step->blocking ? post->number + 1 : 0;
    }
    return 0;
}

static unsigned class_of(int64_t bytes)
{
    unsigned class_ = 0;
    while (bytes > 1 && class_ + 1 < SIZES) {
        bytes /= 2;
        class_++;
    }
    return class_;
}

static void take_message(struct estimating *of, const struct rfn_step *step)
{
    const struct rfn_need *need = &step->needs[0];
    const int64_t took = step->exit_ns - need->sent_ns;
    const unsigned class_ = class_of(need->bytes);
    const bool known = need->number < of->ended_capacity;
    if (known && of->ended[need->number] < need->posted_ns && !need->synchronous)
        of->eager = rfn_most(of->eager, need->bytes);
    if (step->n_needs > 1 || need->sent_ns <= step->enter_ns || need->posted_ns > need->sent_ns ||
        took <= 0)
        return;
    of->messages++;
    if (of->fastest[class_] && of->fastest[class_] <= took)
        return;
    of->fastest[class_] = took;
    of->bytes[class_] = need->bytes;
}

/* A call that sends one message, and does not wait for its receive. */
static bool only_sends(const struct rfn_step *step)
{
    const struct rfn_need *need = step->needs;
    if (step->messages != 1 || step->n_needs > 1)
        return false;
    return !step->n_needs || (need->kind == RFN_NEED_TAKEN && !need->synchronous &&
                              need->posted_ns <= step->enter_ns);
}

static int leave(void *context, const struct rfn_step *step)
{
    struct estimating *of = context;
    uint32_t *sending = &of->sending[step->stream];
    const int64_t took = step->exit_ns - step->enter_ns;
    if (*sending)
        of->ended[*sending - 1] = step->exit_ns;
    if (only_sends(step) && took > 0)
        of->shortest = rfn_least(of->shortest, took);
    *sending = 0;
    if (++of->calls == ENOUGH)
        rfn_steps_stop(of->steps);
    if (step->n_needs && step->needs[0].kind == RFN_NEED_MESSAGE)
        take_message(of, step);
    return 0;
}

/* L + 2 o of small messages, and what each byte of large ones adds at least. */
static void fit(const struct estimating *of, struct rfn_network *network)
{
    int64_t small = INT64_MAX;
    double per_byte = -1; /* not known */
    if (of->shortest < INT64_MAX)
        network->overhead_ns = network->gap_ns = (double)of->shortest;
    for (unsigned i = 0; i < SIZES; i++) {
        if (of->fastest[i] && i <= SMALL)
            small = rfn_least(small, of->fastest[i]);
    }
    for (unsigned i = LARGE; i < SIZES; i++) {
        if (!of->fastest[i] || small == INT64_MAX)
            continue;
        const double more = (double)rfn_most(of->fastest[i] - small, 0) / (double)of->bytes[i];
        per_byte = per_byte < 0 || more < per_byte ? more : per_byte;
    }
    if (small < INT64_MAX) {
        if (network->overhead_ns > (double)small / 3)
            network->overhead_ns = (double)small / 3;
        network->latency_ns = (double)small - 2 * network->overhead_ns;
    }
    if (per_byte >= 0)
        network->gap_per_byte_ns = per_byte;
    network->eager_bytes = rfn_most(network->eager_bytes, of->eager);
}

int rfn_network_estimate(const struct rfn_archive *archive, struct rfn_network *network,
                         uint64_t *messages, struct rfn_diag *diag)
{
    struct estimating of = {.shortest = INT64_MAX};
    const struct rfn_step_hooks hooks = {.context = &of, .enter = enter, .leave = leave};
    struct rfn_aggregation aggregation;
    *network = rfn_network_assumed();
    int error = rfn_aggregation_read(archive, &aggregation, diag);
    const bool known = aggregation.any && aggregation.terms && !error;
    if (known) {
        *network = aggregation.network;
        *messages = aggregation.messages;
    }
    rfn_aggregation_release(&aggregation);
    if (known || error < 0)
        return error;
    of.sending = calloc((size_t)rfn_archive_run(archive)->streams + 1, sizeof *of.sending);
    error = of.sending ? rfn_steps_new(archive, &hooks, &of.steps) : RFN_E_NOMEM;
    if (!error)
        error = rfn_steps_run(of.steps);
    if (!error)
        fit(&of, network);
    *messages = of.messages;
    rfn_steps_free(of.steps);
    free(of.sending);
    free(of.ended);
    return error < 0 ? rfn_fail(diag, error, -1, -1, "%s", rfn_error_text(error)) : 0;
}
