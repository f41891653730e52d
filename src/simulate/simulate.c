/* simulate.c - the engine's loop, and what it makes of its parts. */
#include "refrain/simulate.h"

#include "simulate/engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOOK_EVERY = 1 << 12 /* turns of ranks between two reports of progress */ };

/* ---- time ---- */

void rfn_rank_ready(struct rfn_engine *engine, uint32_t rank)
{
    if (engine->ranks[rank].ready || engine->ranks[rank].done)
        return;
    engine->ranks[rank].ready = true;
    engine->ready[(engine->first_ready + engine->n_ready++) % engine->n_ranks] = rank;
}

static void show(const struct rfn_engine *engine)
{
    uint64_t actions = 0;
    for (uint32_t i = 0; i < engine->n_ranks; i++)
        actions += engine->simulated->ranks[i].actions;
    engine->options->progress(engine->options->context, actions, engine->ranks[0].clock);
}

static int run_ready(struct rfn_engine *engine, uint64_t *turns)
{
    while (engine->n_ready) {
        const uint32_t rank = engine->ready[engine->first_ready];
        engine->first_ready = (engine->first_ready + 1) % engine->n_ranks;
        engine->n_ready--;
        engine->ranks[rank].ready = false;
        RFN_TRY(rfn_rank_run(engine, rank));
        if (++*turns % LOOK_EVERY == 0 && engine->options->progress)
            show(engine);
    }
    return 0;
}

/* All events of the next date. */
static int take_events(struct rfn_engine *engine)
{
    engine->now = rfn_event_first(&engine->heap);
    do {
        const uint32_t id = rfn_event_take(&engine->heap);
        if (id >= engine->n_ranks) {
            RFN_TRY(rfn_message_event(engine, id - engine->n_ranks));
            continue;
        }
        if (engine->ranks[id].computes)
            RFN_TRY(rfn_rank_computed(engine, id));
        rfn_rank_ready(engine, id);
    } while (engine->heap.n && rfn_event_first(&engine->heap) <= engine->now);
    return 0;
}

static int run(struct rfn_engine *engine)
{
    uint64_t turns = 0;
    for (uint32_t i = 0; i < engine->n_ranks; i++)
        rfn_rank_ready(engine, i);
    for (;;) {
        RFN_TRY(run_ready(engine, &turns));
        if (engine->ordered)
            RFN_TRY(rfn_flows_share(&engine->flows, engine->now));
        if (!engine->heap.n)
            return 0;
        RFN_TRY(take_events(engine));
    }
}

/* Nothing happens any more, and not all ranks are done. */
static int check_done(const struct rfn_engine *engine)
{
    char text[512] = "";
    size_t n = 0, size = 0;
    for (uint32_t i = 0; i < engine->n_ranks; i++) {
        char rank[128];
        if (engine->ranks[i].done)
            continue;
        rfn_rank_describe(engine, i, rank, sizeof rank);
        if (n++ < 4)
            size += (size_t)snprintf(text + size, sizeof text - size, "%s%s", n > 1 ? "; " : "",
                                     rank);
        if (size >= sizeof text)
            size = sizeof text - 1;
    }
    if (engine->options->may_end_early)
        engine->simulated->cut_short = (uint32_t)n;
    if (!n || engine->options->may_end_early)
        return 0;
    return rfn_fail(engine->diag, RFN_E_CORRUPT, -1, -1,
                    "a deadlock: %zu rank%s wait%s for what does not come: %s%s", n,
                    n > 1 ? "s" : "", n > 1 ? "" : "s", text, n > 4 ? "; ..." : "");
}

/* ---- the parts ---- */

static double flops_per_unit(const struct rfn_engine *engine)
{
    const enum rfn_action_unit unit = rfn_actions_unit(engine->actions);
    const double rate = engine->options->rate;
    if (unit == RFN_ACTION_CPU_NS || unit == RFN_ACTION_WALL_NS)
        return rate * 1e-9;
    return rate > 0 ? rate : 1;
}

static int init_ranks(struct rfn_engine *engine, const uint32_t *hosts)
{
    const size_t n = engine->n_ranks;
    uint32_t *ranks = calloc(rfn_platform_hosts(engine->platform) + 1, sizeof *ranks); /* by host */
    engine->ranks = calloc(n + 1, sizeof *engine->ranks);
    engine->ready = calloc(n + 1, sizeof *engine->ready);
    for (size_t i = 0; ranks && i < n; i++)
        ranks[hosts[i]]++;
    for (size_t i = 0; ranks && engine->ranks && i < n; i++) {
        const struct rfn_host *host = rfn_platform_host(engine->platform, hosts[i]);
        engine->ranks[i].host = hosts[i];
        engine->ranks[i].speed = host->speed;
        engine->ranks[i].crowded = engine->ordered && ranks[hosts[i]] > host->cores;
    }
    const bool failed = !ranks || !engine->ranks || !engine->ready;
    free(ranks);
    return failed ? RFN_E_NOMEM : 0;
}

static int init_simulated(struct rfn_engine *engine)
{
    struct rfn_simulated *simulated = engine->simulated;
    simulated->n_ranks = engine->n_ranks;
    simulated->n_links = rfn_platform_links(engine->platform);
    simulated->n_settings = rfn_mpi_settings();
    simulated->ranks = calloc((size_t)engine->n_ranks + 1, sizeof *simulated->ranks);
    simulated->links = calloc(simulated->n_links + 1, sizeof *simulated->links);
    simulated->settings = calloc(simulated->n_settings, sizeof *simulated->settings);
    return simulated->ranks && simulated->links && simulated->settings ? 0 : RFN_E_NOMEM;
}

/* SimGrid calls its own collectives default. */
static int choose_collectives(struct rfn_engine *engine)
{
    const char *name = engine->model.collectives;
    const int which = rfn_coll_choice_named(strcmp(name, "default") == 0 ? "simgrid" : name);
    if (which < 0)
        return rfn_fail(engine->diag, RFN_E_NOTFOUND, -1, -1,
                        "smpi/coll-selector: '%s' is not known; it may be default, mpich, ompi",
                        name);
    engine->collectives = (enum rfn_coll_choice)which;
    return 0;
}

static int init(struct rfn_engine *engine, const uint32_t *hosts)
{
    RFN_TRY(init_simulated(engine));
    RFN_TRY(rfn_mpi_model_init(&engine->model, engine->platform, engine->options->settings,
                               engine->options->n_settings, engine->simulated->settings,
                               engine->diag));
    if (engine->options->scaled)
        rfn_mpi_model_scale(&engine->model, engine->options->scaled);
    RFN_TRY(choose_collectives(engine));
    RFN_TRY(init_ranks(engine, hosts));
    engine->flops_per_unit = flops_per_unit(engine);
    rfn_ways_init(&engine->ways, engine->platform, &engine->model);
    RFN_TRY(rfn_flows_init(&engine->flows, &engine->ways, &engine->heap));
    return rfn_message_queues_init(&engine->messages, engine->n_ranks);
}

static void release(struct rfn_engine *engine)
{
    for (uint32_t i = 0; engine->ranks && i < engine->n_ranks; i++) {
        free(engine->ranks[i].waits);
        free(engine->ranks[i].ends);
        free(engine->ranks[i].ops.ops);
        rfn_map_release(&engine->ranks[i].requests);
    }
    for (size_t i = 0; i < engine->n_calls; i++)
        free(engine->calls[i].ends);
    free(engine->ranks);
    free(engine->ready);
    free(engine->calls);
    free(engine->free_calls);
    free(engine->sorted);
    rfn_message_queues_release(&engine->messages);
    rfn_flows_release(&engine->flows);
    rfn_ways_release(&engine->ways);
    rfn_event_heap_release(&engine->heap);
}

/* ---- what is found ---- */

static void add_links(struct rfn_engine *engine)
{
    struct rfn_simulated_link *links = engine->simulated->links;
    for (size_t i = 0; i < engine->ways.n; i++) {
        const struct rfn_way *way = &engine->ways.ways[i];
        const struct rfn_hop *hops = engine->ways.hops + way->hops;
        for (uint32_t k = 0; k < way->n_hops; k++)
            links[hops[k].link].bytes += hops[k].forward ? way->bytes : 0;
    }
    for (size_t i = 0; i < engine->simulated->n_links; i++)
        links[i].busy = links[i].bytes / rfn_platform_link(engine->platform, i)->bandwidth;
}

static void sum(struct rfn_engine *engine)
{
    struct rfn_simulated *simulated = engine->simulated;
    for (uint32_t i = 0; i < engine->n_ranks; i++) {
        simulated->ranks[i].end = engine->ranks[i].clock;
        simulated->actions += simulated->ranks[i].actions;
        if (engine->ranks[i].clock > simulated->seconds)
            simulated->seconds = engine->ranks[i].clock;
    }
    add_links(engine);
}

int rfn_simulate(struct rfn_actions *actions, struct rfn_platform *platform, const uint32_t *hosts,
                 const struct rfn_simulate_options *options, struct rfn_simulated *simulated,
                 struct rfn_diag *diag)
{
    struct rfn_engine engine = {.actions = actions,
                                .platform = platform,
                                .options = options,
                                .n_ranks = rfn_actions_ranks(actions),
                                .ordered = !options->no_contention,
                                .simulated = simulated,
                                .diag = diag};
    *simulated = (struct rfn_simulated){0};
    int error = init(&engine, hosts);
    if (!error)
        error = run(&engine);
    if (!error)
        error = check_done(&engine);
    if (!error)
        sum(&engine);
    release(&engine);
    if (error == RFN_E_NOMEM)
        return rfn_fail(diag, error, -1, -1, "no memory is left for the simulation");
    return error;
}

void rfn_simulated_release(struct rfn_simulated *simulated)
{
    free(simulated->ranks);
    free(simulated->links);
    free(simulated->settings);
}
