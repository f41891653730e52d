/* platform.h - a machine that runs are simulated on: hosts, links, routes, and the parameters of
 * MPI on it. Read from SimGrid's XML (version 4) as far as clusters need it (doc/platform.md).
 */
#ifndef REFRAIN_PLATFORM_H
#define REFRAIN_PLATFORM_H

#pragma GCC visibility push(default)

#include "refrain/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rfn_platform;

enum rfn_sharing {
    RFN_LINK_SHARED, /* flows of both directions share it */
    RFN_LINK_FATPIPE /* each flow has all of it */
};

/* A full-duplex link is two. */
struct rfn_link {
    const char *name;
    double bandwidth; /* bytes per second */
    double latency;   /* seconds */
    enum rfn_sharing sharing;
};

struct rfn_host {
    const char *name;
    double speed; /* flop per second and core */
    uint32_t cores;
};

/* Errors say line and element. RFN_E_CORRUPT: not valid XML, or values that make no sense, loops
 * among zones, routes of links that are not there; RFN_E_UNSUPPORTED: an element, an attribute or a
 * kind of routing that is not known; RFN_E_IO, RFN_E_NOMEM. */
int rfn_platform_read(const char *path, struct rfn_platform **platform, struct rfn_diag *diag);
void rfn_platform_free(struct rfn_platform *platform);

size_t rfn_platform_hosts(const struct rfn_platform *platform);
const struct rfn_host *rfn_platform_host(const struct rfn_platform *platform, size_t host);
/* -1: there is none of this name. */
int64_t rfn_platform_host_named(const struct rfn_platform *platform, const char *name);
size_t rfn_platform_links(const struct rfn_platform *platform);
const struct rfn_link *rfn_platform_link(const struct rfn_platform *platform, size_t link);

/* The way of a message, its links in order, as numbers. */
struct rfn_route {
    uint32_t *links;
    size_t n, capacity;
    double latency; /* seconds, of all links */
};

/* Fills *route, whose memory comes again; release it by free(route->links). From a host to itself:
 * its loopback. RFN_E_NOTFOUND: no route, named in the diag that the platform was read with;
 * RFN_E_NOMEM. */
int rfn_platform_route(struct rfn_platform *platform, size_t from, size_t to,
                       struct rfn_route *route);

/* A property of <config>, by name ("smpi/os"), or NULL. */
const char *rfn_platform_config(const struct rfn_platform *platform, const char *name);
/* Whether all properties of <config> are among these names, which end with NULL: RFN_E_UNSUPPORTED
 * with the line of the first that is not. */
int rfn_platform_config_check(const struct rfn_platform *platform, const char *const *known,
                              struct rfn_diag *diag);

/* Which host each of `ranks` ranks is on: the file has one per line ("name", "name:slots"), or
 * rankfile lines ("rank 0=name slot=1"); NULL: hosts in order, each with as many ranks as cores,
 * from the first again when they are full. hosts is caller's, by rank. RFN_E_NOTFOUND: an unknown
 * host, RFN_E_CORRUPT. */
int rfn_platform_place(const struct rfn_platform *platform, const char *path, uint32_t ranks,
                       uint32_t *hosts, struct rfn_diag *diag);

#pragma GCC visibility pop

#endif
