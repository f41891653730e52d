/* selector.h - what an assumption is about, as people write it:
 *
 *   wait:PATH          waiting in calls whose path contains PATH, as the report prints it
 *   call:PATH          the own time of these calls
 *   compute:FUNCTION   the computation in this function
 *   region:NAME        the computation in this region of the program
 *   rank:LIST          the computation of these ranks
 *   bytes:RANGE        the way of messages of these sizes: 1K-64K, 1M-
 *   event:RANK/INDEX   one call of `refrain dump`, waiting included
 *   before:RANK/INDEX  the computation between the call before it and that call
 *   L, o, G, S         the network's latency, overhead, time per byte, and the largest message
 *                      that is sent before its receive is posted
 *
 * Behind the first four @LIST may name the ranks that are meant: compute:smooth@0-3,7.
 */
#ifndef RFN_CLI_WHATIF_SELECTOR_H
#define RFN_CLI_WHATIF_SELECTOR_H

#include "refrain/explain.h"
#include "refrain/predict.h"

enum rfn_selector_kind {
    RFN_SELECT_WAIT,
    RFN_SELECT_CALL,
    RFN_SELECT_COMPUTE,
    RFN_SELECT_REGION,
    RFN_SELECT_RANK,
    RFN_SELECT_BYTES,
    RFN_SELECT_EVENT,
    RFN_SELECT_BEFORE,
    RFN_SELECT_L,
    RFN_SELECT_O,
    RFN_SELECT_G,
    RFN_SELECT_S,
    RFN_SELECTORS
};

struct rfn_selector {
    enum rfn_selector_kind kind;
    const struct rfn_archive *archive;
    char *text;     /* behind the colon; NULL: there is none */
    const char *on; /* behind the @; NULL: all ranks */
    bool part;      /* of a path or a function's full name: it need only contain the text */
    bool *ranks;    /* RANK, EVENT, BEFORE, and with @LIST */
    int64_t least;  /* BYTES, from and to */
    int64_t most;
    uint64_t event; /* EVENT, BEFORE */
};

/* A selector that is known to fit; text is copied. To be released. RFN_E_NOMEM. */
int rfn_selector_init(struct rfn_selector *selector, const struct rfn_archive *archive,
                      enum rfn_selector_kind kind, const char *text);
/* What people write; run->archive is NULL for a run of text, which knows only BYTES and the
 * network. RFN_E_USAGE where it means nothing in this run: `wrong` says why, and which names are
 * near; RFN_E_NOMEM. */
int rfn_selector_parse(struct rfn_selector *selector, const struct rfn_measured *run,
                       const char *text, struct rfn_text *wrong);
void rfn_selector_release(struct rfn_selector *selector);

/* The bytes of "64K"; *end is behind it. Negative: there is no size. */
int64_t rfn_selector_size(const char *text, char **end);

void rfn_selector_append(struct rfn_text *text, const struct rfn_selector *selector);

/* The function that an activity computes in, as a selector names it: "smooth()"
 * (rfn_call_path_label). Nothing where it is not known. */
void rfn_selector_append_function(struct rfn_text *text, const struct rfn_archive *archive,
                                  const struct rfn_activity *activity);

/* The assumptions that it takes `factor` times as long; how many, at most 2. They refer to it. */
size_t rfn_selector_assume(const struct rfn_selector *selector, double factor,
                           struct rfn_assumption assumptions[2]);

#endif
