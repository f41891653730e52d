/* noise.h - interruptions by the operating system, as on ASCI Q.
 *
 * Petrini, Kerbyson and Pakin (The Case of the Missing Supercomputer Performance, SC 2003) found
 * that each node of the machine was interrupted now and then, and how depended on its place in its
 * cluster of 32 nodes: all by the kernel and by daemons of the resource manager, and more by far
 * the first node, which managed the cluster, the second, which had the quorum disk, and the last,
 * which ran the monitor. Modelled here are these kinds in these places. Each is periodic, and every
 * node has a phase of its own per kind. The periods are shorter than on the machine and the lengths
 * fit to them, so that a second has enough of all kinds while no node loses more than 1 % by one:
 *
 *     kind               nodes of 32    period     length
 *     kernel             all            125 ms     0.1 ms
 *     resource manager   all            500 ms     0.5 ms
 *     cluster manager    0              250 ms     2.0 ms
 *     quorum             1              400 ms     1.0 ms
 *     monitor            31             300 ms     1.5 ms
 *
 * An interruption that begins while a rank computes makes it longer by its length; one that begins
 * while the rank is in MPI costs nothing. So work begun at t ends at the least e for which
 * e = t + work + the lengths of the interruptions that begin in [t, e).
 *
 * Where there are more nodes than ranks, rank r bears the interruptions of nodes r, r + size, ...:
 * as many as there would be on a machine with so many nodes. */
#ifndef PATHOLOGIES_NOISE_H
#define PATHOLOGIES_NOISE_H

#include "work.h"

enum { CLUSTER = 32, ALL_NODES = -1 };

static const struct interruption {
    int place; /* in the cluster, or ALL_NODES */
    int64_t period_ns, length_ns;
} interruptions[] = {
    {ALL_NODES, 125000000, 100000}, {ALL_NODES, 500000000, 500000}, {0, 250000000, 2000000},
    {1, 400000000, 1000000},        {31, 300000000, 1500000},
};
enum { KINDS = sizeof interruptions / sizeof *interruptions };

/* When a kind's first interruption of a node begins: multiples of the golden ratio, without their
 * whole part, are spread evenly over the period. */
static int64_t noise_phase(int node, int kind)
{
    uint32_t share = (uint32_t)(node * KINDS + kind + 1) * UINT32_C(2654435769);
    return (int64_t)((uint64_t)share * (uint64_t)interruptions[kind].period_ns >> 32);
}

/* How many interruptions begin before a time. */
static int64_t noise_before(int64_t time_ns, int64_t phase_ns, int64_t period_ns)
{
    return time_ns <= phase_ns ? 0 : (time_ns - phase_ns - 1) / period_ns + 1;
}

/* Length of all interruptions of this rank that begin in [from, to). */
static int64_t noise_between(int64_t from_ns, int64_t to_ns, int nodes)
{
    int64_t sum = 0;
    for (int node = rank; node < nodes; node += size) {
        for (int kind = 0; kind < KINDS; kind++) {
            const struct interruption *one = &interruptions[kind];
            if (one->place != ALL_NODES && one->place != node % CLUSTER)
                continue;
            int64_t phase = noise_phase(node, kind);
            sum += one->length_ns * (noise_before(to_ns, phase, one->period_ns) -
                                     noise_before(from_ns, phase, one->period_ns));
        }
    }
    return sum;
}

/* How long work takes that is begun at a time. */
static int64_t noise_extended(int64_t from_ns, int64_t work_ns, int nodes)
{
    int64_t length = work_ns, longer;
    while ((longer = work_ns + noise_between(from_ns, from_ns + length, nodes)) > length)
        length = longer;
    return length;
}

/* Nanoseconds since work_begin. */
static int64_t now_ns(void)
{
    return (int64_t)((clock_seconds() - work_state.origin) * 1e9 + 0.5);
}

/* Computes for a time, and is interrupted. */
static void do_noisy_work(int64_t ns, int nodes)
{
    do_work(noise_extended(now_ns(), ns, nodes));
}

#endif
