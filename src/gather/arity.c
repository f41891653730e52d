#include "gather/arity.h"

int gth_steps(int arity, int processes)
{
    int steps = 0;
    for (long long reach = 1; reach < processes; reach *= arity)
        steps++;
    return steps;
}

int gth_arity(int processes, int nodes)
{
    enum { MOST = 8 };
    const int fewest = gth_steps(MOST, processes), per_node = processes / nodes;
    int arity = 2;
    if (per_node > 1 && per_node <= MOST && gth_steps(per_node, processes) == fewest)
        return per_node;
    while (gth_steps(arity, processes) > fewest)
        arity++;
    return arity;
}
