/* call_roles.h - what a function does for the wait-state analysis, and where its words are.
 *
 * Found out once per function of an archive, from its class, flags and parameters' names.
 */
#ifndef RFN_ANALYZE_CALL_ROLES_H
#define RFN_ANALYZE_CALL_ROLES_H

#include "refrain/archive.h"

enum rfn_action {
    RFN_ACT_NONE,
    RFN_ACT_SEND, /* one message, to `dest`; also Sendrecv, which has both */
    RFN_ACT_RECV, /* one message, from `source` */
    RFN_ACT_SENDRECV,
    RFN_ACT_PROBE,
    RFN_ACT_MPROBE, /* takes a message for a handle */
    RFN_ACT_MRECV,  /* receives a message that was taken */
    RFN_ACT_COLLECTIVE,
    RFN_ACT_INIT,
    RFN_ACT_FINALIZE,
    RFN_ACT_REGION_BEGIN,
    RFN_ACT_REGION_END
};

/* How ranks wait in a collective call. */
enum rfn_collective {
    RFN_COLLECTIVE_NXN,
    RFN_COLLECTIVE_BARRIER,
    RFN_COLLECTIVE_ONE_TO_ALL,
    RFN_COLLECTIVE_ALL_TO_ONE,
    RFN_COLLECTIVE_SCAN,
    RFN_COLLECTIVE_NEIGHBOR,
    RFN_COLLECTIVE_INIT,
    RFN_COLLECTIVE_FINALIZE,
    RFN_COLLECTIVE_MAYBE /* makes communicators and the like: may synchronize */
};

/* When a send is over. */
enum rfn_send_mode {
    RFN_SEND_STANDARD,    /* perhaps before the receive is posted */
    RFN_SEND_SYNCHRONOUS, /* never before */
    RFN_SEND_LOCAL        /* buffered or ready: does not wait for the receiver */
};

struct rfn_role {
    enum rfn_action action;
    enum rfn_collective collective;
    enum rfn_send_mode mode;
    bool begins;     /* nonblocking: another call completes it */
    bool persistent; /* makes a request that is begun by Start */
    bool partitioned;
    bool looks;       /* tells of a request without ending it */
    bool always_data; /* of a collective call: synchronizes even if it moves no bytes */
    bool closes;      /* of a collective call: its object is gone afterwards */
    /* Places of inputs, -1: none. */
    int8_t dest, send_tag, source, recv_tag, comm, root, file, message, partitions;
    /* Places of outcomes. */
    int8_t out_source, out_tag, out_message, out_file;
};

/* An array by function number; NULL: out of memory. */
struct rfn_role *rfn_roles_new(const struct rfn_archive *archive);

#endif
