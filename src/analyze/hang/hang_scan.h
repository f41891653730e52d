/* hang_scan.h - what the events of a run that did not end say of what is under way: messages that
 * were sent and not received, collective calls by rank, and what each thread waits for.
 */
#ifndef RFN_ANALYZE_HANG_HANG_SCAN_H
#define RFN_ANALYZE_HANG_HANG_SCAN_H

#include "analyze/hang/hang_objects.h"
#include "base/arena.h"
#include "base/map.h"
#include "refrain/hang.h"

/* Messages of one source, destination (world ranks), communicator and tag. */
struct rfn_hang_channel {
    uint32_t source, dest;
    int64_t comm, tag;
    uint64_t sent, received;
    uint32_t function, path; /* of the last send */
};

/* A collective call of a rank. */
struct rfn_hang_call {
    uint16_t operation;  /* enum rfn_operation */
    uint8_t variant;     /* enum rfn_call_variant */
    int64_t root, count; /* -1: there is none */
    uint32_t function, path;
};

/* The collective calls of a rank at a place (hang_objects.h): how many have ended, the last of
 * them, and, behind those, the one that it is in. */
enum { RFN_HANG_LAST_CALLS = 64 };
struct rfn_hang_place_calls {
    uint64_t n;
    bool open;
    struct rfn_hang_call *last; /* the i-th at i % RFN_HANG_LAST_CALLS */
    size_t capacity;            /* of last, up to RFN_HANG_LAST_CALLS: most files have few calls */
};

struct rfn_hang_scan {
    const struct rfn_archive *archive;
    struct rfn_hang_channel **channels; /* all */
    size_t n_channels, channels_capacity;
    struct rfn_map by_channel; /* key -> struct rfn_hang_channel */
    struct rfn_map by_place;   /* key of rank and place -> struct rfn_hang_place_calls */
    struct rfn_hang_objects *objects;
    struct rfn_arena *arena;         /* of the waits */
    struct rfn_hang_thread *threads; /* by stream; what needs no other thread is filled in */
    struct rfn_diag *diag;
};

/* Reads all events. */
int rfn_hang_scan(struct rfn_hang_scan *scan);
void rfn_hang_scan_release(struct rfn_hang_scan *scan);

/* NULL: there is none. */
struct rfn_hang_channel *rfn_hang_channel_find(const struct rfn_hang_scan *scan, uint32_t source,
                                               uint32_t dest, int64_t comm, int64_t tag);
const struct rfn_hang_place_calls *rfn_hang_calls_of(const struct rfn_hang_scan *scan,
                                                     uint32_t rank, int64_t place);

#endif
