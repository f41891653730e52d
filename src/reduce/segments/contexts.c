#include "reduce/segments/contexts.h"

#include "base/grow.h"

#include <stdlib.h>

void rfn_contexts_init(struct rfn_contexts *contexts, uint32_t least)
{
    *contexts = (struct rfn_contexts){.least = least};
}

void rfn_contexts_release(struct rfn_contexts *contexts)
{
    free(contexts->loops);
    contexts->loops = NULL;
}

uint32_t rfn_contexts_stretches(const struct rfn_contexts *contexts, const rfn_node *nodes,
                                size_t n)
{
    uint32_t stretches = 1;
    for (size_t i = 0; i < n; i++)
        stretches += rfn_node_is_loop(nodes[i]) &&
                     rfn_contexts_cuts(contexts, rfn_node_index(nodes[i]));
    return stretches;
}

int rfn_contexts_add(struct rfn_contexts *contexts, const rfn_node *body, size_t length,
                     const bool *counts)
{
    /* Those of inner loops once; at most `least`, as they may double with each level. */
    uint64_t events = 0;
    for (size_t i = 0; i < length && events < contexts->least; i++) {
        uint32_t index = rfn_node_index(body[i]);
        events += rfn_node_is_loop(body[i]) ? contexts->loops[index].events
                                            : !counts || counts[index];
    }
    events = events < contexts->least ? events : contexts->least;
    return rfn_contexts_add_as(contexts, body, length, (uint32_t)events);
}

int rfn_contexts_add_as(struct rfn_contexts *contexts, const rfn_node *body, size_t length,
                        uint32_t events)
{
    RFN_TRY(RFN_GROW(contexts->loops, contexts->capacity, contexts->n_loops + 1));
    struct rfn_loop_contexts *loop = &contexts->loops[contexts->n_loops];
    *loop = (struct rfn_loop_contexts){.events = events, .first = contexts->n};
    if (loop->events >= contexts->least)
        contexts->n += rfn_contexts_stretches(contexts, body, length);
    contexts->n_loops++;
    return 0;
}
