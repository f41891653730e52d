/* platform_cluster.c - clusters: many equal hosts, with the links of a topology. */
#include "base/grow.h"
#include "simulate/platform/platform_internal.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

/* ---- parameters ---- */

int rfn_platform_numbers(struct rfn_platform *platform, const char **text, uint32_t *numbers,
                         uint32_t most, uint32_t *n)
{
    const char *at = *text;
    *n = 0;
    for (;;) {
        char *end;
        errno = 0;
        const long long number = strtoll(at, &end, 10);
        while (isspace((unsigned char)*end))
            end++;
        if (end == at || errno || number < 1 || number > RFN_MOST_LINKS ||
            (*end && *end != ',' && *end != ';'))
            return rfn_platform_fail(platform, RFN_E_CORRUPT,
                                     "topo_parameters: \"%s\" does not begin with a number from 1 "
                                     "to %d, and a comma or semicolon behind it",
                                     at, RFN_MOST_LINKS);
        if (*n == most)
            return rfn_platform_fail(platform, RFN_E_CORRUPT,
                                     "topo_parameters: more than %u numbers between semicolons, "
                                     "up to \"%s\"",
                                     most, at);
        numbers[(*n)++] = (uint32_t)number;
        at = *end ? end + 1 : end;
        if (*end != ',')
            break;
    }
    *text = at;
    return 0;
}

/* A number of a radical; *text moves behind it. */
static int radical_number(struct rfn_platform *platform, const char *radical, const char **text,
                          long *number)
{
    char *end;
    errno = 0;
    *number = strtol(*text, &end, 10);
    if (!isdigit((unsigned char)**text) || errno || *number > INT32_MAX)
        return rfn_platform_fail(
            platform, RFN_E_CORRUPT,
            "radical=\"%s\": no numbers and ranges between commas, such as 0-3,8", radical);
    *text = end;
    return 0;
}

/* Calls `add` for each number of the radical, "0-3,8". */
static int each_number(struct rfn_platform *platform, const char *radical,
                       int (*add)(struct rfn_platform *, void *, uint32_t number), void *context)
{
    for (const char *at = radical;; at++) {
        long first, last;
        RFN_TRY(radical_number(platform, radical, &at, &first));
        last = first;
        if (*at == '-') {
            at++;
            RFN_TRY(radical_number(platform, radical, &at, &last));
        }
        if ((*at && *at != ',') || last < first)
            return rfn_platform_fail(
                platform, RFN_E_CORRUPT,
                "radical=\"%s\": no numbers and ranges between commas, such as 0-3,8", radical);
        for (long i = first; i <= last; i++)
            RFN_TRY(add(platform, context, (uint32_t)i));
        if (!*at)
            return 0;
    }
}

/* ---- links ---- */

static int add_named(struct rfn_platform *platform, const char *name, double bandwidth,
                     double latency, enum rfn_sharing sharing, bool split, uint32_t *number)
{
    if (!name)
        return RFN_E_NOMEM;
    const struct rfn_link link = {
        .name = name, .bandwidth = bandwidth, .latency = latency, .sharing = sharing};
    return rfn_platform_add_link(platform, &link, split, number);
}

int rfn_platform_add_pair(struct rfn_platform *platform, const struct rfn_cluster *cluster,
                          const char *name, uint32_t times)
{
    uint32_t number;
    return add_named(platform, name, cluster->bandwidth * times, cluster->latency, cluster->sharing,
                     cluster->split, &number);
}

int rfn_platform_add_limiter(struct rfn_platform *platform, const struct rfn_cluster *cluster,
                             uint32_t number)
{
    uint32_t link;
    return add_named(platform,
                     rfn_platform_print(platform, "%s_link_%u_limiter", cluster->id, number),
                     cluster->limiter, 0, RFN_LINK_SHARED, false, &link);
}

static bool has_loopback(const struct rfn_cluster *cluster)
{
    return cluster->loopback_bandwidth > 0 || cluster->loopback_latency > 0;
}

static int add_loopback(struct rfn_platform *platform, const struct rfn_cluster *cluster,
                        uint32_t number, uint32_t *link)
{
    return add_named(
        platform, rfn_platform_print(platform, "%s_link_%u_loopback", cluster->id, number),
        cluster->loopback_bandwidth, cluster->loopback_latency, RFN_LINK_FATPIPE, false, link);
}

static int add_host(struct rfn_platform *platform, uint32_t zone, const struct rfn_cluster *cluster,
                    uint32_t number, const char **name)
{
    *name = rfn_platform_print(platform, "%s%u%s", cluster->prefix, number, cluster->suffix);
    if (!*name)
        return RFN_E_NOMEM;
    return rfn_platform_add_host(platform, zone, *name, cluster->speed, cluster->cores);
}

struct adding {
    const struct rfn_cluster *cluster;
    uint32_t zone;
    struct rfn_regular *regular;
};

/* ---- stars: crossbars, with or without a backbone ---- */

static int add_star_host(struct rfn_platform *platform, void *context, uint32_t number)
{
    const struct adding *adding = context;
    const struct rfn_cluster *cluster = adding->cluster;
    struct rfn_port port = {RFN_NOWHERE, RFN_NOWHERE, RFN_NOWHERE, RFN_NOWHERE};
    const char *name;
    RFN_TRY(add_host(platform, adding->zone, cluster, number, &name));
    if (has_loopback(cluster))
        RFN_TRY(add_loopback(platform, cluster, number, &port.loopback));
    if (cluster->limiter > 0) {
        port.limiter = (uint32_t)platform->n_links;
        RFN_TRY(rfn_platform_add_limiter(platform, cluster, number));
    }
    port.up = (uint32_t)platform->n_links;
    port.down = port.up + cluster->split;
    RFN_TRY(rfn_platform_add_pair(
        platform, cluster, rfn_platform_print(platform, "%s_link_%u", cluster->id, number), 1));
    return rfn_platform_set_port(platform, adding->zone, name, &port);
}

static int add_star(struct rfn_platform *platform, uint32_t parent,
                    const struct rfn_cluster *cluster)
{
    struct adding adding = {.cluster = cluster};
    RFN_TRY(rfn_platform_add_zone(platform, parent, cluster->id, RFN_ROUTING_STAR, &adding.zone));
    if (cluster->backbone_bandwidth > 0 || cluster->backbone_latency > 0)
        RFN_TRY(add_named(platform, rfn_platform_print(platform, "%s_backbone", cluster->id),
                          cluster->backbone_bandwidth, cluster->backbone_latency,
                          cluster->backbone_sharing, false,
                          &platform->zones[adding.zone].backbone));
    RFN_TRY(each_number(platform, cluster->radical, add_star_host, &adding));
    const char *router = *cluster->router
                             ? cluster->router
                             : rfn_platform_print(platform, "%s%s_router%s", cluster->prefix,
                                                  cluster->id, cluster->suffix);
    if (!router)
        return RFN_E_NOMEM;
    return rfn_platform_add_router(platform, adding.zone, router);
}

static int add_cabinet_host(struct rfn_platform *platform, void *context, uint32_t number)
{
    const struct adding *adding = context;
    struct rfn_port port = {RFN_NOWHERE, RFN_NOWHERE, RFN_NOWHERE, RFN_NOWHERE};
    const char *name;
    RFN_TRY(add_host(platform, adding->zone, adding->cluster, number, &name));
    RFN_TRY(add_named(platform, rfn_platform_print(platform, "link_%s", name),
                      adding->cluster->bandwidth, adding->cluster->latency, RFN_LINK_SHARED, true,
                      &port.up));
    port.down = port.up + 1;
    return rfn_platform_set_port(platform, adding->zone, name, &port);
}

int rfn_platform_add_cabinet(struct rfn_platform *platform, uint32_t zone,
                             const struct rfn_cluster *cabinet)
{
    struct adding adding = {.cluster = cabinet, .zone = zone};
    return each_number(platform, cabinet->radical, add_cabinet_host, &adding);
}

/* ---- tori, fat trees, dragonflies ---- */

static const struct topology {
    const char *name;
    enum rfn_routing routing;
    int (*shape)(struct rfn_platform *platform, struct rfn_regular *regular, const char *shape);
    int (*host_links)(struct rfn_platform *platform, const struct rfn_regular *regular,
                      const struct rfn_cluster *cluster, uint32_t host);
    int (*links)(struct rfn_platform *platform, struct rfn_regular *regular,
                 const struct rfn_cluster *cluster);
} topologies[] = {
    {"TORUS", RFN_ROUTING_TORUS, rfn_torus_shape, rfn_torus_host_links, NULL},
    {"FAT_TREE", RFN_ROUTING_FAT_TREE, rfn_fat_tree_shape, NULL, rfn_fat_tree_links},
    {"DRAGONFLY", RFN_ROUTING_DRAGONFLY, rfn_dragonfly_shape, NULL, rfn_dragonfly_links}};

static const struct topology *find_topology(const char *name)
{
    for (size_t i = 0; i < sizeof topologies / sizeof *topologies; i++)
        if (!strcmp(topologies[i].name, name))
            return &topologies[i];
    return NULL;
}

/* Its name has the number of the radical, its links the place. */
static int add_regular_host(struct rfn_platform *platform, void *context, uint32_t number)
{
    const struct adding *adding = context;
    const struct rfn_cluster *cluster = adding->cluster;
    const uint32_t place = platform->zones[adding->zone].n_points;
    const struct topology *topology = find_topology(cluster->topology);
    const char *name;
    uint32_t link;
    if (place >= adding->regular->hosts)
        return rfn_platform_fail(platform, RFN_E_CORRUPT,
                                 "radical=\"%s\" has more hosts than the %u of topo_parameters",
                                 cluster->radical, adding->regular->hosts);
    RFN_TRY(add_host(platform, adding->zone, cluster, number, &name));
    if (adding->regular->loopback)
        RFN_TRY(add_loopback(platform, cluster, number, &link));
    if (adding->regular->limiter)
        RFN_TRY(rfn_platform_add_limiter(platform, cluster, place));
    return topology->host_links ? topology->host_links(platform, adding->regular, cluster, place)
                                : 0;
}

static int add_regular(struct rfn_platform *platform, uint32_t parent,
                       const struct rfn_cluster *cluster, const struct topology *topology,
                       const char *shape)
{
    struct rfn_regular *regular = rfn_arena_zeroed(&platform->arena, 1, sizeof *regular);
    struct adding adding = {.cluster = cluster, .regular = regular};
    if (!regular)
        return rfn_platform_nomem(platform);
    if (cluster->backbone_bandwidth > 0 || cluster->backbone_latency > 0 || *cluster->router)
        return rfn_platform_fail(platform, RFN_E_UNSUPPORTED,
                                 "a %s has neither a backbone nor a router; leave bb_bw, bb_lat "
                                 "and router_id out",
                                 cluster->topology);
    RFN_TRY(rfn_platform_add_zone(platform, parent, cluster->id, topology->routing, &adding.zone));
    platform->zones[adding.zone].regular = regular;
    regular->loopback = has_loopback(cluster);
    regular->limiter = cluster->limiter > 0;
    regular->split = cluster->split;
    regular->first_link = (uint32_t)platform->n_links;
    regular->links_per_host = (uint32_t)regular->loopback + regular->limiter;
    RFN_TRY(topology->shape(platform, regular, shape));
    RFN_TRY(each_number(platform, cluster->radical, add_regular_host, &adding));
    if (platform->zones[adding.zone].n_points != regular->hosts)
        return rfn_platform_fail(
            platform, RFN_E_CORRUPT, "radical=\"%s\" has %u hosts, topo_parameters=\"%s\" %u",
            cluster->radical, platform->zones[adding.zone].n_points, shape, regular->hosts);
    return topology->links ? topology->links(platform, regular, cluster) : 0;
}

/* A latency alone would make a link that passes nothing. */
static int check_bandwidths(struct rfn_platform *platform, const struct rfn_cluster *cluster)
{
    const bool backbone = cluster->backbone_latency > 0 && !(cluster->backbone_bandwidth > 0);
    if (!backbone && (!has_loopback(cluster) || cluster->loopback_bandwidth > 0))
        return 0;
    return rfn_platform_fail(platform, RFN_E_CORRUPT, "it has %s, but no %s",
                             backbone ? "bb_lat" : "loopback_lat",
                             backbone ? "bb_bw" : "loopback_bw");
}

int rfn_platform_add_cluster(struct rfn_platform *platform, uint32_t zone,
                             const struct rfn_cluster *cluster, const char *shape)
{
    const struct topology *topology = find_topology(cluster->topology);
    RFN_TRY(check_bandwidths(platform, cluster));
    if (topology)
        return add_regular(platform, zone, cluster, topology, shape);
    if (strcmp(cluster->topology, "FLAT") != 0)
        return rfn_platform_fail(platform, RFN_E_UNSUPPORTED,
                                 "topology=\"%s\" is not known; known are FLAT, TORUS, FAT_TREE "
                                 "and DRAGONFLY",
                                 cluster->topology);
    return add_star(platform, zone, cluster);
}
