/* answer.h - what an archive says of its events, to be compared with what another one says.
 *
 * Of each event there are two numbers, which depend on the events before it, too: `calls` on what
 * was called with which parameters and outcomes, `all` on times, volumes and polls as well.
 * Definitions count by what they say, not by their numbers.
 */
#ifndef TESTS_DAMAGE_ANSWER_H
#define TESTS_DAMAGE_ANSWER_H

#include "refrain/archive.h"

struct told {
    uint64_t calls, all;
};

struct stream_answer {
    uint32_t rank, thread;
    uint64_t said; /* events that it has, as STREAMS says */
    size_t n;      /* events that were read */
    struct told *told;
    uint64_t open; /* the call that it was in when its record ended */
    int status;    /* 0: read to its end; or the error, or 1: it has more events than are read */
};

struct answer {
    size_t n;
    struct stream_answer *streams;
    char why[256]; /* it is not complete; or "" */
    bool silent;   /* an error came without a text */
};

/* More streams or events of an archive are not read: a forged file may claim any number. */
enum { STREAMS_MOST = 64, EVENTS_MOST = 1 << 16 };

/* Whether all streams say that they have few enough events. */
bool answer_is_small(const struct rfn_archive *archive);

/* Reads all streams. `relative`: times count from the stream's first event on. To be released. */
void answer_read(const struct rfn_archive *archive, bool relative, struct answer *answer);
void answer_release(struct answer *answer);

/* The stream of a rank's thread, or NULL. */
const struct stream_answer *answer_stream(const struct answer *answer, uint32_t rank,
                                          uint32_t thread);

/* How much of an answer must be the same: nothing; `calls`; `all`; and the open calls, too. */
enum answer_part { ANSWER_NOTHING, ANSWER_CALLS, ANSWER_EVENTS, ANSWER_ALL };

/* Whether both were read to their end and say the same. */
bool answer_equals(const struct stream_answer *one, const struct stream_answer *other,
                   enum answer_part part);

/* Whether all streams were read to their end, and have as many events as they say. */
bool answer_is_whole(const struct answer *answer);

/* What an archive must not say, as the sound one says something else; or NULL. Up to an error all
 * must be the same, and an archive that lacks streams says why. */
const char *answer_wrong(const struct answer *answer, const struct answer *sound,
                         enum answer_part part);

#endif
