/* arity.h - the k-nomial tree along which processes combine what they have.
 *
 * In step i of a tree of arity k a process whose number is a multiple of k^(i+1) gets what the
 * next k - 1 multiples of k^i have, so that after log_k(processes) steps process 0 has all
 * (Markomanolis 2014: gathering of time-independent traces).
 */
#ifndef RFN_GATHER_ARITY_H
#define RFN_GATHER_ARITY_H

enum { GTH_ARITY_MOST = 64 }; /* so many archives are open at once */

int gth_steps(int arity, int processes);

/* Of arities up to 8 those with the fewest steps; of these as many as there are processes per node,
 * so that the first step stays inside of nodes, else the lowest. */
int gth_arity(int processes, int nodes);

#endif
