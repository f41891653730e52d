/* large_stack.h - work that needs much stack, inside a program whose stacks may be small.
 *
 * Libdw puts 200 KiB on the stack where it reads the lines of a unit. A program may have limited
 * its stacks to less (ulimit -s, attributes of a thread), and ends there. So such work gets a
 * thread of its own, which the caller waits for and which no signal of the program comes to.
 */
#ifndef RFN_BASE_LARGE_STACK_H
#define RFN_BASE_LARGE_STACK_H

#include <stdbool.h>

/* Has work(context) done on a stack of 1 MiB. false: the system gives no thread, and nothing was
 * done. */
bool rfn_on_large_stack(void (*work)(void *context), void *context);

#endif
