/* exchange_node.h - messages between the ranks of one node through memory that they share:
 * reduce/exchange.h without MPI.
 *
 * Where many processes share a core, a message of MPI takes until all others that wait have been
 * asked whether theirs is there; here who waits sleeps, and is woken for his message alone. The
 * memory has boxes, each from one rank to one other: for every rank but the first one to its parent
 * in the tree, one from there, and one to rank 0, which is all that is sent. A box has two slots of
 * a fixed size; a message goes through them piece by piece, so that one slot is filled while the
 * other is emptied. Two counters say how many pieces have been put in and taken out: who waits for
 * the other one's counter to change does so by futex(2), by the system call itself, as a program
 * may have functions of its own that are named like those of the C library.
 *
 * Rank 0 offers the memory, a file without a name in any folder (memfd_create(2)) that goes with
 * the processes that have it open, and tells the others its process and descriptor. They open it
 * through /proc if what is there bears the name that they were told, which tells also whether they
 * are on the same node, and each has the room of its boxes made sure. If one rank cannot, as on
 * another node, or in a container of its own, none must use the memory; that is the caller's to
 * agree upon. A rank whose partner's process has ended gets RFN_E_EXCHANGE.
 *
 * Beside the boxes the memory has a counter, by which ranks divide among them what they share
 * (ahead.h), what ranks say when they come, and one word of rank 0's to all.
 *
 * While a rank waits for a message here, MPI makes no progress in it: only for when nothing of the
 * program's is under way any more, as when all ranks have come to MPI_Finalize. Before that a rank
 * may wait for rank 0's word, if it lets MPI make progress meanwhile.
 */
#ifndef RFN_RECORD_EXCHANGE_NODE_H
#define RFN_RECORD_EXCHANGE_NODE_H

#include "reduce/exchange.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where the memory is, the same for all. */
struct rec_node_name {
    uint64_t nonce;  /* 0: none is offered */
    int64_t process; /* of rank 0 */
    int64_t fd;      /* there */
};

struct rec_node_exchange {
    struct rfn_exchange exchange;   /* use this */
    struct rec_node_memory *memory; /* NULL: not open */
    size_t bytes;                   /* of it */
};

/* On rank 0, for `size` ranks: the name of memory that is there until rec_node_withdraw. Where
 * there is none, the name says so. */
struct rec_node_name rec_node_offer(int size);
/* On rank 0, when all have joined or none will: frees what offering took, not what is joined. It
 * names none then. */
void rec_node_withdraw(struct rec_node_name *name);

/* On every rank, also 0. False: the memory cannot be had, and nothing is left to be freed. Nobody
 * may send before all have joined. */
bool rec_node_join(struct rec_node_exchange *exchange, const struct rec_node_name *name, int rank,
                   int size);
void rec_node_leave(struct rec_node_exchange *exchange); /* local; also when not open */

/* What each of the ranks that have joined says once when it comes: the time (one clock for the
 * whole node), and yes or no to something. Afterwards the latest time, and whether all have said
 * yes, for who knows that all have come. */
void rec_node_come(struct rec_node_exchange *exchange, int64_t ns, bool yes);
int64_t rec_node_last_came(const struct rec_node_exchange *exchange);
bool rec_node_all_said_yes(const struct rec_node_exchange *exchange);

/* A word of rank 0's to all others who have joined, of whom each sleeps until it comes. One word
 * per memory. */
void rec_node_say(struct rec_node_exchange *exchange, bool yes);
/* False also when rank 0 has ended. Every now and then meanwhile() is called, seldom if it takes
 * long. */
bool rec_node_hear(const struct rec_node_exchange *exchange, void (*meanwhile)(void));

/* Who has joined takes so much of something that all share: returns what was taken before. */
uint64_t rec_node_claim(struct rec_node_exchange *exchange, uint64_t amount);
uint64_t rec_node_claimed(const struct rec_node_exchange *exchange); /* by all so far */

#endif
