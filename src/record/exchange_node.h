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
 * the processes that have it mapped, and tells the others its process and descriptor. They open it
 * through /proc if what is there bears the name that they were told, which tells also whether they
 * are on the same node. If one rank cannot, as on another node, or in a container of its own, none
 * must use the memory; that is the caller's to agree upon, before messages are sent. Who has joined
 * has it, and no descriptor, and has the room of its own boxes made sure. A rank whose partner's
 * process has ended gets RFN_E_EXCHANGE.
 *
 * In the head ranks that come to a place one after the other divide among them what they share
 * (ahead.h), say what the others are to know when all have come, and sleep until then.
 *
 * While a rank waits here MPI makes no progress in it, unless meanwhile() sees to that: only for
 * when nothing of the program's is under way any more, as when all ranks have come to MPI_Finalize.
 */
#ifndef RFN_RECORD_EXCHANGE_NODE_H
#define RFN_RECORD_EXCHANGE_NODE_H

#include "reduce/exchange.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where the memory is, the same for all. */
struct rec_node_name {
    uint64_t nonce;   /* 0: none is offered */
    int64_t process;  /* of rank 0 */
    int64_t fd;       /* there */
    int64_t clock_ns; /* of the caller's: CLOCK_REALTIME - CLOCK_MONOTONIC of rank 0 */
};

struct rec_node_exchange {
    struct rfn_exchange exchange;   /* use this */
    struct rec_node_memory *memory; /* NULL: not joined */
    size_t bytes;                   /* of it, that this process has */
    bool (*meanwhile)(void);        /* NULL, or called every now and then while this rank waits;
                                       soon again where it returns true */
};

enum { REC_NODE_NOTE = 5 }; /* words */

/* On rank 0, for `size` ranks: the name of memory that is there until rec_node_withdraw. Where
 * there is none, the name says so. */
struct rec_node_name rec_node_offer(int size);
/* On rank 0, when all have joined or none will: frees what offering took, not what is joined. It
 * names none then. */
void rec_node_withdraw(struct rec_node_name *name);

/* On every rank, also 0. False: the memory cannot be had, and nothing is left to be freed. */
bool rec_node_join(struct rec_node_exchange *exchange, const struct rec_node_name *name, int rank,
                   int size);
void rec_node_leave(struct rec_node_exchange *exchange); /* local; also when not joined */

/* One of those that come first notes something for all. True: it is this one, which must do so
 * soon, as others wait for it. */
bool rec_node_may_note(struct rec_node_exchange *exchange);
void rec_node_note(struct rec_node_exchange *exchange, const uint64_t note[REC_NODE_NOTE]);
/* False: nobody was asked to, or he takes too long. */
bool rec_node_noted(const struct rec_node_exchange *exchange, uint64_t note[REC_NODE_NOTE]);

/* True for the first one that asks: a word to the user that all would say is said once. */
bool rec_node_is_to_tell(struct rec_node_exchange *exchange);

/* Each rank comes once, at a time (one clock for the whole node), and says something, each bit of
 * which is a yes to a question; rank 0 has a word for all beside that. */
void rec_node_come(struct rec_node_exchange *exchange, int64_t ns, unsigned says, uint64_t word);

struct rec_node_all {
    int64_t last_came; /* ns: the latest time */
    int64_t came;      /* ns: when all had come, by the last one's clock */
    unsigned say;      /* the bits that all have said */
    uint64_t word;     /* rank 0's */
};

/* Sleeps until all have come. */
struct rec_node_all rec_node_wait_for_all(const struct rec_node_exchange *exchange);

/* Whether all have, by now. */
bool rec_node_are_all_here(const struct rec_node_exchange *exchange);

/* Who has joined takes so much of something that all share: returns what was taken before. */
uint64_t rec_node_claim(struct rec_node_exchange *exchange, uint64_t amount);
uint64_t rec_node_claimed(const struct rec_node_exchange *exchange); /* by all so far */

#endif
