/* Tests of flows.h: shares are max-min fair, and come to that whatever was before. */
#define _GNU_SOURCE /* mkstemps */
#include "simulate/flows.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

enum { LINKS = 12, FLOWS = 40 };

/* A platform with LINKS links, bandwidths 100, 200, ... bytes per second. */
static struct rfn_platform *make_platform(void)
{
    char path[] = "/tmp/rfn-flows-XXXXXX.xml";
    struct rfn_platform *platform;
    struct rfn_diag diag = {0};
    FILE *file = fdopen(mkstemps(path, 4), "w");
    assert_non_null(file);
    fputs("<?xml version='1.0'?><platform version='4.1'><zone id='z' routing='Full'>\n"
          "<host id='a' speed='1Gf'/><host id='b' speed='1Gf'/>\n",
          file);
    for (int i = 0; i < LINKS; i++)
        fprintf(file, "<link id='l%d' bandwidth='%dBps' latency='0s'/>\n", i, 100 * (i + 1));
    fputs("<route src='a' dst='b'><link_ctn id='l0'/></route></zone></platform>\n", file);
    fclose(file);
    const int error = rfn_platform_read(path, &platform, &diag);
    if (error)
        fail_msg("%s", diag.text);
    remove(path);
    return platform;
}

struct net {
    struct rfn_platform *platform;
    struct rfn_ways ways;
    struct rfn_event_heap heap;
    struct rfn_flows flows;
};

static void set_up(struct net *net)
{
    *net = (struct net){.platform = make_platform()};
    rfn_ways_init(&net->ways, net->platform, NULL);
    assert_int_equal(rfn_flows_init(&net->flows, &net->ways, &net->heap), 0);
}

static void tear_down(struct net *net)
{
    rfn_flows_release(&net->flows);
    rfn_ways_release(&net->ways);
    rfn_event_heap_release(&net->heap);
    rfn_platform_free(net->platform);
}

/* A way over these links. */
static struct rfn_way way_over(struct net *net, const uint32_t *links, uint32_t n, double penalty,
                               double bound)
{
    const struct rfn_way way = {
        .penalty = penalty, .bound = bound, .hops = net->ways.n_hops, .n_hops = n};
    net->ways.hops = realloc(net->ways.hops, (net->ways.n_hops + n) * sizeof *net->ways.hops);
    assert_non_null(net->ways.hops);
    for (uint32_t i = 0; i < n; i++)
        net->ways.hops[net->ways.n_hops++] = (struct rfn_hop){links[i], true, 1};
    return way;
}

static void start(struct net *net, uint32_t number, const struct rfn_way *way)
{
    assert_int_equal(rfn_flow_start(&net->flows, number, way, 1000, 1, 0), 0);
}

static void expect(const struct net *net, uint32_t number, double share)
{
    if (!(fabs(net->flows.flows[number].share - share) < 1e-6 * share))
        fail_msg("flow %u has %g, not %g", number, net->flows.flows[number].share, share);
}

/* Links of 100, 200 and 300: a long flow and one on each. */
static void test_line(void **state)
{
    const uint32_t links[] = {0, 1, 2};
    struct net net;
    (void)state;
    set_up(&net);
    const struct rfn_way all = way_over(&net, links, 3, 1, 1e9);
    start(&net, 0, &all);
    assert_int_equal(rfn_flows_share(&net.flows, 0), 0);
    expect(&net, 0, 100);
    for (uint32_t i = 0; i < 3; i++) {
        const struct rfn_way one = way_over(&net, links + i, 1, 1, 1e9);
        start(&net, i + 1, &one);
    }
    assert_int_equal(rfn_flows_share(&net.flows, 0), 0);
    expect(&net, 0, 50);
    expect(&net, 1, 50);
    expect(&net, 2, 150);
    expect(&net, 3, 250);
    assert_int_equal(rfn_flow_end(&net.flows, 1), 0);
    assert_int_equal(rfn_flows_share(&net.flows, 0), 0);
    expect(&net, 0, 100);
    expect(&net, 2, 100);
    expect(&net, 3, 200);
    tear_down(&net);
}

/* Half the penalty gets twice the share; a bound leaves the rest to others. */
static void test_penalties_and_bounds(void **state)
{
    const uint32_t link = 2;
    struct net net;
    (void)state;
    set_up(&net);
    const struct rfn_way near = way_over(&net, &link, 1, 1, 1e9);
    const struct rfn_way far = way_over(&net, &link, 1, 2, 1e9);
    const struct rfn_way bound = way_over(&net, &link, 1, 1, 30);
    start(&net, 0, &near);
    start(&net, 1, &far);
    assert_int_equal(rfn_flows_share(&net.flows, 0), 0);
    expect(&net, 0, 200);
    expect(&net, 1, 100);
    start(&net, 2, &bound);
    assert_int_equal(rfn_flows_share(&net.flows, 0), 0);
    expect(&net, 2, 30);
    expect(&net, 0, 180);
    expect(&net, 1, 90);
    tear_down(&net);
}

/* No link has more than its bandwidth, and each flow is at its bound, or on a full link where none
 * has a higher share times penalty. Small differences stay where many flows are concerned. */
static void check_fair(const struct net *net, const bool *running, const struct rfn_way *ways,
                       double off)
{
    double used[LINKS] = {0}, highest[LINKS] = {0};
    for (uint32_t i = 0; i < FLOWS; i++) {
        for (uint32_t k = 0; running[i] && k < ways[i].n_hops; k++) {
            const uint32_t link = net->ways.hops[ways[i].hops + k].link;
            used[link] += net->flows.flows[i].share;
            highest[link] = fmax(highest[link], net->flows.flows[i].share * ways[i].penalty);
        }
    }
    for (int i = 0; i < LINKS; i++)
        assert_true(used[i] <= 100 * (i + 1) * (1 + off));
    for (uint32_t i = 0; i < FLOWS; i++) {
        const double share = running[i] ? net->flows.flows[i].share : 0;
        bool held = !running[i] || share >= ways[i].bound * (1 - off);
        for (uint32_t k = 0; running[i] && k < ways[i].n_hops; k++) {
            const uint32_t link = net->ways.hops[ways[i].hops + k].link;
            held |= used[link] >= 100 * (link + 1) * (1 - off) &&
                    share * ways[i].penalty >= highest[link] * (1 - off);
        }
        assert_true(held);
    }
}

static void run_random(uint32_t flows, bool few)
{
    struct rfn_way ways[FLOWS];
    bool running[FLOWS] = {false};
    struct net net;
    srand(1);
    set_up(&net);
    for (int step = 0; step < 3000; step++) {
        const uint32_t flow = (uint32_t)rand() % flows;
        if (running[flow]) {
            assert_int_equal(rfn_flow_end(&net.flows, flow), 0);
        } else {
            uint32_t links[3];
            const uint32_t n = 1 + (uint32_t)rand() % 3, first = (uint32_t)rand() % LINKS;
            for (uint32_t i = 0; i < n; i++)
                links[i] = (first + i * (1 + (uint32_t)rand() % 4)) % LINKS;
            ways[flow] = way_over(&net, links, 1, 1 + rand() % 5, 10 + rand() % 1000);
            if (n > 1 && links[1] != links[0])
                ways[flow] = way_over(&net, links, 2, 1 + rand() % 5, 10 + rand() % 1000);
            start(&net, flow, &ways[flow]);
        }
        running[flow] = !running[flow];
        if (rand() % 3)
            continue; /* several changes at once */
        assert_int_equal(rfn_flows_share(&net.flows, 0), 0);
        check_fair(&net, running, ways, few ? 1e-6 : 3e-3);
    }
    assert_true(net.flows.fillings > 100);
    tear_down(&net);
}

static void test_fairness(void **state)
{
    (void)state;
    run_random(16, true);
    run_random(FLOWS, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_line),
        cmocka_unit_test(test_penalties_and_bounds),
        cmocka_unit_test(test_fairness),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
