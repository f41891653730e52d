#include "reduce/contexts.h"

#include "base/grow.h"

#include <stdlib.h>

void rfn_contexts_init(struct rfn_contexts *contexts, uint32_t min_calls)
{
    *contexts = (struct rfn_contexts){.min_calls = min_calls};
}

void rfn_contexts_release(struct rfn_contexts *contexts)
{
    free(contexts->loops);
    contexts->loops = NULL;
}

/* How many calls a list has, of inner loops those of one trip: at most min_calls (they may double
 * with each level). */
static uint32_t count_calls(const struct rfn_contexts *contexts, const rfn_node *nodes, size_t n)
{
    uint64_t calls = 0;
    for (size_t i = 0; i < n && calls < contexts->min_calls; i++)
        calls += rfn_node_is_loop(nodes[i]) ? contexts->loops[rfn_node_index(nodes[i])].calls : 1;
    return calls < contexts->min_calls ? (uint32_t)calls : contexts->min_calls;
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

int rfn_contexts_add(struct rfn_contexts *contexts, const rfn_node *body, size_t length)
{
    RFN_TRY(RFN_GROW(contexts->loops, contexts->capacity, contexts->n_loops + 1));
    struct rfn_loop_contexts *loop = &contexts->loops[contexts->n_loops];
    *loop = (struct rfn_loop_contexts){.calls = count_calls(contexts, body, length),
                                       .first = contexts->n};
    if (loop->calls >= contexts->min_calls)
        contexts->n += rfn_contexts_stretches(contexts, body, length);
    contexts->n_loops++;
    return 0;
}
