#include "analyze/degrees.h"

struct share {
    uint64_t matches, possible; /* at most all of them */
};

static struct share share_of(uint64_t all, uint64_t kept, uint64_t kinds)
{
    struct share share = {all > kept ? all - kept : 0, all > kinds ? all - kinds : 0};
    if (share.matches > share.possible)
        share.matches = share.possible;
    return share;
}

static double degree(struct share share)
{
    return share.possible ? (double)share.matches / (double)share.possible : 1;
}

struct rfn_degrees rfn_degrees_of(const struct rfn_matching_counts *counts)
{
    struct share within = share_of(counts->executions, counts->representatives, counts->kinds);
    struct share across = share_of(counts->streams, counts->groups, counts->classes);
    struct rfn_degrees degrees = {degree(within), degree(across), degree(within)};
    if (counts->across && within.possible <= UINT64_MAX - across.possible)
        degrees.both = degree(
            (struct share){within.matches + across.matches, within.possible + across.possible});
    return degrees;
}
