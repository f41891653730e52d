/* simulate.h - how long a run would take on another machine: the actions of its ranks
 * (refrain/actions.h) on the hosts and links of a platform (refrain/platform.h).
 *
 * Messages follow SMPI's model (doc/prediction.md). With contention, flows share the links where
 * their routes meet by max-min fairness, and the simulation goes through all events in order of
 * time. Without, each flow has its route alone, and a rank goes ahead of the others until it needs
 * one of them: that takes a tenth of the time. Collective calls are the messages of their
 * algorithm.
 */
#ifndef REFRAIN_SIMULATE_H
#define REFRAIN_SIMULATE_H

#pragma GCC visibility push(default)

#include "refrain/actions.h"
#include "refrain/platform.h"

/* A parameter of the model, as SimGrid names it: smpi/os, network/TCP-gamma. */
struct rfn_setting {
    const char *name, *value;
    enum rfn_setting_from { RFN_FROM_DEFAULT, RFN_FROM_PLATFORM, RFN_FROM_CALLER } from;
};

/* Messages of least to most bytes, also in collective calls: so many times the latency, and
 * as long through the links. */
struct rfn_scaled_messages {
    int64_t least, most;
    double latency, transfer;
};

/* How a network differs from the platform's. overhead: what calls that send or receive take; eager:
 * the sizes below which a message sets off at once, and its sender goes on. */
struct rfn_scaled_network {
    double overhead, eager;
    const struct rfn_scaled_messages *messages;
    size_t n_messages;
};

struct rfn_simulate_options {
    const struct rfn_setting *settings; /* in place of the platform's and SimGrid's */
    size_t n_settings;
    bool no_contention;
    bool may_end_early; /* ranks that wait for what does not come end there: no deadlock */
    double rate;  /* flop per unit of volume; 0: the unit is flop, or time (refrain/actions.h) */
    double scale; /* computing takes so many times as long; 0: 1 */
    double (*weight)(void *context, uint32_t rank, const struct rfn_action *action); /* and a
                      COMPUTE so many times as long; NULL: 1 */
    double (*seconds)(void *context, const struct rfn_action *action); /* that a COMPUTE takes on a
                      core of its own, whatever its volume is; NULL */
    const struct rfn_scaled_network *scaled;                           /* NULL: nothing differs */
    void (*progress)(void *context, uint64_t actions, double seconds); /* NULL: none */
    /* An action is over. NULL, or returns 0 or an error that ends the simulation. */
    int (*left)(void *context, uint32_t rank, const struct rfn_action *action, double enter,
                double exit);
    void *context;
};

/* Seconds. messages: from the begin of an action until it is over, without computing in it, for all
 * but COMPUTE and SLEEP. waiting: the part of messages before the partner was there. */
struct rfn_simulated_rank {
    double end, compute, sleep, messages, waiting;
    uint64_t actions, sent, bytes;
};

struct rfn_simulated_link {
    double bytes; /* through it, with envelopes */
    double busy;  /* seconds that they take at its bandwidth */
};

struct rfn_simulated {
    double seconds; /* when the last rank is done */
    uint64_t actions, messages;
    struct rfn_simulated_rank *ranks;
    uint32_t n_ranks, cut_short;      /* cut_short: that end early */
    struct rfn_simulated_link *links; /* as the platform's */
    size_t n_links;
    struct rfn_setting *settings; /* all of the model, and where they are from */
    size_t n_settings;
};

/* Simulates the actions, which are read to their end, with rank i on host hosts[i]. *simulated is
 * to be released also after an error. RFN_E_UNSUPPORTED: an action that is not known;
 * RFN_E_CORRUPT: a deadlock (with the ranks that wait for each other), a peer or root that is not
 * there, a setting that is no number; RFN_E_NOTFOUND: a setting that is not known, hosts without a
 * route; RFN_E_NOMEM, and errors of the source. */
int rfn_simulate(struct rfn_actions *actions, struct rfn_platform *platform, const uint32_t *hosts,
                 const struct rfn_simulate_options *options, struct rfn_simulated *simulated,
                 struct rfn_diag *diag);
/* An archive of the run as it is simulated. */
struct rfn_simulated_file {
    const char *path;
    bool force;          /* replace a file that exists */
    const char *assumed; /* META's text on the prediction: "on cluster.xml" */
};

/* As rfn_simulate, of the archive's actions (rfn_actions_of_archive), and writes the archive's
 * calls at the times of the simulation; calls that are no actions in between. *bytes: the file's
 * size. Errors of rfn_simulate; RFN_E_EXISTS, RFN_E_INCOMPLETE, RFN_E_USAGE (the path is the
 * archive itself), RFN_E_IO. */
int rfn_simulate_write(const struct rfn_archive *archive, struct rfn_actions *actions,
                       struct rfn_platform *platform, const uint32_t *hosts,
                       const struct rfn_simulate_options *options,
                       const struct rfn_simulated_file *file, struct rfn_simulated *simulated,
                       uint64_t *bytes, struct rfn_diag *diag);

void rfn_simulated_release(struct rfn_simulated *simulated);

#pragma GCC visibility pop

#endif
