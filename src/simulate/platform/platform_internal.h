/* platform_internal.h - what a platform is in memory.
 *
 * A platform is a tree of zones. Its leaves have hosts and routers, which are joined by links; the
 * inner ones have zones only. Hosts, routers and zones are points: a point has a place among the
 * points of its zone, and routing inside a zone is from place to place.
 *
 * No table has an entry per pair of hosts. Zones whose file lists their routes (Full, Floyd,
 * Dijkstra) hold these as ways, a cluster holds the links of each host, and tori, fat trees and
 * dragonflies make links in an order that lets their numbers be computed. A route is put together
 * when it is asked for.
 *
 * Names of links and their order along routes are SimGrid's (3.32), quirks included.
 */
#ifndef RFN_SIMULATE_PLATFORM_PLATFORM_INTERNAL_H
#define RFN_SIMULATE_PLATFORM_PLATFORM_INTERNAL_H

#include "base/arena.h"
#include "base/map.h"
#include "refrain/platform.h"

/* Sizes of a platform. A line of XML can claim any number of hosts. */
enum {
#ifdef RFN_FUZZING
    RFN_MOST_HOSTS = 1 << 10,
    RFN_MOST_LINKS = 1 << 12,
    RFN_MOST_FLOYD = 1 << 6,
#else
    RFN_MOST_HOSTS = 1 << 20,
    RFN_MOST_LINKS = 1 << 23,
    RFN_MOST_FLOYD = 1 << 10, /* points of a zone: its table has an entry per pair of them */
#endif
    RFN_MOST_DIMENSIONS = 16, /* of a torus; levels of a fat tree */
    RFN_MOST_DEPTH = 64       /* of elements in each other */
};

/* No such link, point or zone. */
#define RFN_NOWHERE UINT32_MAX

/* ---- names ---- */

enum rfn_name_kind { RFN_NAME_POINT, RFN_NAME_LINK, RFN_NAME_DUPLEX, RFN_NAME_CONFIG };

struct rfn_name {
    const char *text;
    enum rfn_name_kind kind;
    uint32_t value;
};

struct rfn_names {
    struct rfn_map map; /* hash, or the next one that is free, to index */
    struct rfn_name *names;
    size_t n, capacity;
};

void rfn_names_release(struct rfn_names *names);
/* The text is borrowed. RFN_E_EXISTS, RFN_E_NOMEM. */
int rfn_names_put(struct rfn_names *names, enum rfn_name_kind kind, const char *text,
                  uint32_t value);
/* Its value; RFN_NOWHERE: there is none. */
uint32_t rfn_names_get(const struct rfn_names *names, enum rfn_name_kind kind, const char *text);

/* ---- zones and what they have ---- */

enum rfn_routing {
    RFN_ROUTING_FULL,
    RFN_ROUTING_FLOYD,
    RFN_ROUTING_DIJKSTRA,
    RFN_ROUTING_NONE,
    RFN_ROUTING_STAR, /* <cluster>, and <zone routing="Cluster"> */
    RFN_ROUTING_TORUS,
    RFN_ROUTING_FAT_TREE,
    RFN_ROUTING_DRAGONFLY
};

enum rfn_point_kind { RFN_POINT_HOST, RFN_POINT_ROUTER, RFN_POINT_ZONE };

struct rfn_point {
    const char *name;
    enum rfn_point_kind kind;
    uint32_t zone;   /* that it is in; RFN_NOWHERE: the outermost zone */
    uint32_t place;  /* in that zone */
    uint32_t number; /* of the zone that it is */
};

/* A route that the file gives, between places of a zone. */
struct rfn_way {
    uint32_t from, to;
    uint32_t gateway_from, gateway_to; /* points, between zones */
    size_t first_link, n_links;        /* in way_links */
    uint32_t next;                     /* of its zone, or RFN_NOWHERE */
};

/* Links of a host in a star; RFN_NOWHERE each: it has none. */
struct rfn_port {
    uint32_t limiter, up, down, loopback;
};

struct rfn_torus {
    uint32_t n, sizes[RFN_MOST_DIMENSIONS];
};

/* The extended generalized fat tree of Zahavi (D-Mod-K Routing, 2010): of each level the children
 * of a node above it, the parents of a node in it, and the links between the two. */
struct rfn_fat_tree {
    uint32_t levels;
    uint32_t children[RFN_MOST_DIMENSIONS], parents[RFN_MOST_DIMENSIONS],
        ports[RFN_MOST_DIMENSIONS];
    uint32_t nodes[RFN_MOST_DIMENSIONS + 1];  /* of the level */
    uint32_t first_pair[RFN_MOST_DIMENSIONS]; /* links from the level to the one above it */
    uint32_t first_limiter;                   /* of switches */
    uint64_t first_position;                  /* of its leaves among those of all fat trees */
};

struct rfn_dragonfly {
    uint32_t groups, chassis, blades, nodes; /* each in the one before */
    uint32_t group_links, chassis_links, blade_links;
    uint32_t first_limiter;                        /* of routers */
    uint32_t first_green, first_black, first_blue; /* pairs of links */
};

/* What the links of tori, fat trees and dragonflies have in common. A pair is a link up and one
 * down, or one link for both. */
struct rfn_regular {
    uint32_t hosts;
    uint32_t first_link, links_per_host; /* of a host: loopback, limiter, and those of a torus */
    uint32_t first_pair;                 /* link; not in a torus */
    bool loopback, limiter, split;
    union {
        struct rfn_torus torus;
        struct rfn_fat_tree fat_tree;
        struct rfn_dragonfly dragonfly;
    };
};

struct rfn_zone {
    const char *name;
    uint32_t point, parent;
    unsigned depth;
    enum rfn_routing routing;
    bool has_zones, has_hosts;
    uint32_t n_points;
    /* Full, Floyd, Dijkstra */
    struct rfn_map ways; /* place from, place to -> way */
    uint32_t first_way, last_way;
    uint32_t *before; /* on the way to a place: of a Floyd zone by place from and to, of a Dijkstra
                         zone by node, from the node before_from; made when first needed */
    uint32_t before_from;
    struct rfn_graph *graph; /* Dijkstra; made when first needed */
    /* star */
    struct rfn_port *ports; /* by place */
    size_t ports_capacity;
    uint32_t backbone;
    /* others */
    struct rfn_regular *regular; /* in the arena */
};

struct rfn_platform_host {
    struct rfn_host host;
    uint32_t point;
};

struct rfn_config {
    const char *name, *value;
    unsigned line;
};

struct rfn_duplex {
    uint32_t up, down;
};

struct rfn_platform {
    struct rfn_arena arena; /* names, and what is as large as it is */
    const char *file;
    struct rfn_names names;
    struct rfn_platform_host *hosts;
    struct rfn_link *links;
    struct rfn_duplex *duplexes;
    struct rfn_point *points;
    struct rfn_zone *zones;
    struct rfn_way *ways;
    uint32_t *way_links;
    struct rfn_config *configs;
    size_t n_hosts, n_links, n_duplexes, n_points, n_zones, n_ways, n_way_links, n_configs;
    size_t hosts_capacity, links_capacity, duplexes_capacity, points_capacity, zones_capacity,
        ways_capacity, way_links_capacity, configs_capacity;
    uint32_t loopback; /* link of hosts without one of their own, or RFN_NOWHERE so far */
    /* SimGrid counts these over all zones of a kind. */
    uint64_t fat_tree_leaves;
    uint32_t fat_tree_pairs, dragonfly_pairs;
    /* while a route is put together: ways; a stack */
    uint32_t *path;
    size_t n_path, path_capacity;
    /* where errors are */
    struct rfn_diag *diag;
    const char *element;
    unsigned line; /* 0: not while it is read */
    int64_t offset;
};

/* Says it in the diag, with file, line and element; returns the code. */
int rfn_platform_fail(struct rfn_platform *platform, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same for RFN_E_NOMEM. */
int rfn_platform_nomem(struct rfn_platform *platform);

/* ---- platform_build.c: what the file has, one by one. All return RFN_E_* with a diag. ---- */

/* A copy of the text in the arena, printed; NULL: no memory, and told. */
const char *rfn_platform_print(struct rfn_platform *platform, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
int rfn_platform_add_config(struct rfn_platform *platform, const char *name, const char *value);
/* Names are the arena's from here on. `zone` is the one that it is in. */
int rfn_platform_add_host(struct rfn_platform *platform, uint32_t zone, const char *name,
                          double speed, uint32_t cores);
int rfn_platform_add_router(struct rfn_platform *platform, uint32_t zone, const char *name);
int rfn_platform_add_zone(struct rfn_platform *platform, uint32_t zone, const char *name,
                          enum rfn_routing routing, uint32_t *number);
/* A link, its number in *number; with split, two, of which it is the first. */
int rfn_platform_add_link(struct rfn_platform *platform, const struct rfn_link *link, bool split,
                          uint32_t *number);
/* The link or half of a link of a route. direction: NULL, "UP" or "DOWN". */
int rfn_platform_find_link(struct rfn_platform *platform, const char *name, const char *direction,
                           uint32_t *number);

struct rfn_route_lines {
    const char *from, *to, *gateway_from, *gateway_to; /* gateways: NULL, not between zones */
    bool symmetric;
    const struct rfn_duplex *links; /* there, and what is on the way back in place of it */
    size_t n_links;
};
int rfn_platform_add_route(struct rfn_platform *platform, uint32_t zone,
                           const struct rfn_route_lines *lines);
/* Links of a host in a star. */
int rfn_platform_set_port(struct rfn_platform *platform, uint32_t zone, const char *host,
                          const struct rfn_port *port);
int rfn_platform_end_zone(struct rfn_platform *platform, uint32_t zone);

/* ---- clusters ---- */

struct rfn_cluster {
    const char *id, *prefix, *suffix, *radical, *router, *topology;
    double speed;
    uint32_t cores;
    double bandwidth, latency;
    bool split;
    enum rfn_sharing sharing;
    double backbone_bandwidth, backbone_latency; /* 0, 0: none */
    enum rfn_sharing backbone_sharing;
    double limiter;                              /* 0: none */
    double loopback_bandwidth, loopback_latency; /* 0, 0: none */
};

int rfn_platform_add_cluster(struct rfn_platform *platform, uint32_t zone,
                             const struct rfn_cluster *cluster, const char *shape);
/* Hosts with links of their own in a star: link_HOST_UP and link_HOST_DOWN. */
int rfn_platform_add_cabinet(struct rfn_platform *platform, uint32_t zone,
                             const struct rfn_cluster *cabinet);

/* platform_torus.c, platform_fat_tree.c, platform_dragonfly.c: each reads its parameters, which say
 * how many hosts there are; makes its links after those of the hosts; and finds routes. */
int rfn_torus_shape(struct rfn_platform *platform, struct rfn_regular *regular, const char *shape);
int rfn_torus_host_links(struct rfn_platform *platform, const struct rfn_regular *regular,
                         const struct rfn_cluster *cluster, uint32_t host);
int rfn_torus_route(struct rfn_platform *platform, const struct rfn_regular *regular, uint32_t from,
                    uint32_t to, struct rfn_route *route);
int rfn_fat_tree_shape(struct rfn_platform *platform, struct rfn_regular *regular,
                       const char *shape);
int rfn_fat_tree_links(struct rfn_platform *platform, struct rfn_regular *regular,
                       const struct rfn_cluster *cluster);
int rfn_fat_tree_route(struct rfn_platform *platform, const struct rfn_regular *regular,
                       uint32_t from, uint32_t to, struct rfn_route *route);
int rfn_dragonfly_shape(struct rfn_platform *platform, struct rfn_regular *regular,
                        const char *shape);
int rfn_dragonfly_links(struct rfn_platform *platform, struct rfn_regular *regular,
                        const struct rfn_cluster *cluster);
int rfn_dragonfly_route(struct rfn_platform *platform, const struct rfn_regular *regular,
                        uint32_t from, uint32_t to, struct rfn_route *route);

/* ---- what they share ---- */

/* Numbers between commas, from 1 on; *text moves behind them and behind the ';' that ends them.
 * Fails if there are more than `most`; *n of them. */
int rfn_platform_numbers(struct rfn_platform *platform, const char **text, uint32_t *numbers,
                         uint32_t most, uint32_t *n);
/* Adds the limiter of host or switch `number`. */
int rfn_platform_add_limiter(struct rfn_platform *platform, const struct rfn_cluster *cluster,
                             uint32_t number);
/* Adds a link, or a pair, of the cluster's kind with `times` its bandwidth. */
int rfn_platform_add_pair(struct rfn_platform *platform, const struct rfn_cluster *cluster,
                          const char *name, uint32_t times);
/* Appends a link to a route; RFN_E_NOMEM. */
int rfn_platform_append(const struct rfn_platform *platform, struct rfn_route *route,
                        uint32_t link);

/* The first of host's links; its limiter is behind the loopback. */
static inline uint32_t rfn_host_link(const struct rfn_regular *regular, uint32_t host)
{
    return regular->first_link + host * regular->links_per_host;
}

static inline uint32_t rfn_host_limiter(const struct rfn_regular *regular, uint32_t host)
{
    return rfn_host_link(regular, host) + regular->loopback;
}

/* A link of a pair. */
static inline uint32_t rfn_pair_link(const struct rfn_regular *regular, uint32_t pair, bool down)
{
    return regular->first_pair + (regular->split ? 2 * pair + down : pair);
}

/* ---- routes inside of zones whose file gives ways (platform_ways.c) ---- */

/* Pushes the ways from place to place onto platform->path; RFN_E_NOTFOUND (without a diag),
 * RFN_E_NOMEM. */
int rfn_platform_ways(struct rfn_platform *platform, struct rfn_zone *zone, uint32_t from,
                      uint32_t to);
void rfn_graph_free(struct rfn_graph *graph);

static inline uint64_t rfn_way_key(uint32_t from, uint32_t to)
{
    return (uint64_t)from << 32 | to;
}

/* ---- values of attributes (platform_units.c) ---- */

enum rfn_unit { RFN_UNIT_SPEED, RFN_UNIT_BANDWIDTH, RFN_UNIT_TIME };

/* A number and a unit, "1.5Gf" "10Gbps" "50us"; without a unit it is f, Bps, or s. The value in
 * flop per second, bytes per second, or seconds. RFN_E_CORRUPT: no such number or unit. */
int rfn_unit_parse(const char *text, size_t size, enum rfn_unit unit, double *value);
/* Units that there are, for messages. */
const char *rfn_unit_names(enum rfn_unit unit);

/* ---- platform_xml.c ---- */

/* Gives the next bytes, at most `capacity`, 0 at the end, or an error that it has told. */
typedef int (*rfn_platform_input)(void *context, char *bytes, int capacity);

int rfn_platform_parse(struct rfn_platform *platform, rfn_platform_input input, void *context);
/* The platform of a file of this name, from bytes. */
int rfn_platform_read_from(const char *file, rfn_platform_input input, void *context,
                           struct rfn_platform **platform, struct rfn_diag *diag);

#endif
