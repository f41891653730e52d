/* Random runs as graphs: what each event saves is what the run is shorter when the event's node is
 * where the event began. */
#include "predict/event_graph.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { STREAMS = 4, NODES = 40, EDGES_MAX = 3 };

static struct rfn_graph graph;
static uint32_t last[STREAMS];

static uint32_t number(uint32_t below)
{
    return (uint32_t)rand() % below;
}

/* The longest of the edges that lead to a node, with the node of one event where that began. */
static int64_t longest(const int64_t *ns, size_t node, size_t without)
{
    int64_t at = graph.ns[node];
    for (size_t i = graph.edges[node]; i < graph.edges[node + 1]; i++) {
        const int64_t there = ns[graph.tails[i]] + graph.weights[i];
        at = i == graph.edges[node] || there > at ? there : at;
    }
    return node == without ? ns[graph.tails[graph.edges[node]]] : at;
}

static int64_t run_without(size_t without)
{
    int64_t ns[NODES + STREAMS], end = INT64_MIN;
    for (size_t i = 0; i < graph.n; i++)
        ns[i] = longest(ns, i, without);
    for (int s = 0; s < STREAMS; s++)
        end = ns[last[s]] > end ? ns[last[s]] : end;
    return end;
}

/* Each node goes on from where its stream was, and may wait for others. */
static void draw(void)
{
    for (int s = 0; s < STREAMS; s++)
        last[s] = (uint32_t)rfn_graph_node(&graph, number(4));
    for (int i = 0; i < NODES; i++) {
        const uint32_t stream = number(STREAMS);
        const int64_t own = number(5); /* few different times: many paths tie */
        const uint32_t others = number(EDGES_MAX);
        uint32_t tails[EDGES_MAX] = {last[stream]};
        int64_t weights[EDGES_MAX] = {own}, at = graph.ns[last[stream]] + own;
        for (uint32_t k = 1; k <= others; k++) {
            tails[k] = number((uint32_t)graph.n);
            weights[k] = number(6);
            if (graph.ns[tails[k]] + weights[k] > at)
                at = graph.ns[tails[k]] + weights[k];
        }
        last[stream] = (uint32_t)rfn_graph_node(&graph, at);
        for (uint32_t k = 0; k <= others; k++)
            assert_int_equal(rfn_graph_edge(&graph, tails[k], weights[k]), 0);
        assert_int_equal(
            rfn_graph_ends(&graph, &(struct rfn_graph_event){.stream = stream, .index = graph.n}),
            0);
    }
}

static void test_gains(void **state)
{
    (void)state;
    const int rounds = 200;
    size_t saving = 0;
    for (int round = 0; round < rounds; round++) {
        struct rfn_graph_gain *gains;
        srand((unsigned)round);
        draw();
        const int64_t run = run_without(SIZE_MAX);
        const int64_t n = rfn_graph_gains(&graph, last, STREAMS, NODES, &gains);
        assert_true(n >= 0);
        int64_t expected[NODES] = {0};
        for (size_t node = 0; node < graph.n; node++) {
            if (graph.events[node])
                expected[graph.events[node] - 1] = run - run_without(node);
        }
        for (int64_t i = 0; i < n; i++) {
            assert_int_equal(gains[i].gain_ns, expected[gains[i].event]);
            assert_true(i == 0 || gains[i].gain_ns <= gains[i - 1].gain_ns);
            expected[gains[i].event] = 0;
        }
        for (int i = 0; i < NODES; i++)
            assert_int_equal(expected[i], 0); /* all that save something were told */
        saving += (size_t)n;
        free(gains);
        const int64_t one = rfn_graph_gains(&graph, last, STREAMS, 1, &gains);
        assert_int_equal(one, n > 0);
        free(gains);
        rfn_graph_release(&graph);
    }
    assert_true(saving > (size_t)rounds);
}

static void test_nothing(void **state)
{
    struct rfn_graph_gain *gains;
    const uint32_t none[] = {RFN_NO_NODE};
    (void)state;
    assert_int_equal(rfn_graph_gains(&graph, none, 1, 5, &gains), 0);
    free(gains);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_gains),
                                       cmocka_unit_test(test_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
