/* own_work.h - when the recorder itself works on a thread, between two calls of the program.
 *
 * Most of what the recorder does for a call takes a tenth of a microsecond. Now and then it does
 * more: it folds the calls that wait in the backlog, codes and writes blocks, waits for a
 * checkpoint, walks a call path of a library that it has not seen. That is no computing of the
 * program's: an archive says when it was (USAGE), and ranks that wait for the rank meanwhile wait
 * for the recorder.
 *
 * Only the longest are kept one by one: when there are too many, the shortest go and count in the
 * sum only.
 */
#ifndef RFN_RECORD_CORE_OWN_WORK_H
#define RFN_RECORD_CORE_OWN_WORK_H

#include <stdint.h>

enum { REC_OWN_WORKS = 256, REC_OWN_WORK_NS = 20000 };

struct rec_own_work {
    uint64_t from, to; /* quanta */
};

struct rec_own_works {
    uint64_t since; /* when the first began; 0: there was none */
    uint64_t least; /* quanta: what takes less is not kept */
    uint64_t sum;   /* quanta, of all */
    uint32_t n;
    struct rec_own_work items[REC_OWN_WORKS]; /* in order of time */
};

/* least: REC_OWN_WORK_NS in quanta. */
void rec_own_works_init(struct rec_own_works *own, uint64_t least);
/* The recorder has worked from one stamp to another one, later than all before. */
void rec_own_works_note(struct rec_own_works *own, uint64_t from, uint64_t to);
/* The shortest piece that an archive is worth telling, in quanta: shorter ones together take less
 * than a thousandth of the time from the first work until now. UINT64_MAX: none is. */
uint64_t rec_own_works_shortest(const struct rec_own_works *own, uint64_t now);

#endif
