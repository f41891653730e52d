/* platform_xml.c - reads a platform from SimGrid's XML, version 4, by libexpat.
 *
 * The file is a stream: each element is made part of the platform where it begins, and routes and
 * zones where they end, so that what an element names must come before it. A table has what
 * elements there are, where they may be, and their attributes; what it does not have is an error.
 * A document type is passed over, and nothing outside the file is read; entities are refused.
 */
#include "base/c_numbers.h"
#include "base/grow.h"
#include "simulate/platform/platform_internal.h"

#ifndef RFN_HAVE_EXPAT

int rfn_platform_parse(struct rfn_platform *platform, rfn_platform_input input, void *context)
{
    (void)input;
    (void)context;
    return rfn_platform_fail(platform, RFN_E_UNSUPPORTED,
                             "this refrain was built without libexpat, which reads platforms; "
                             "install libexpat1-dev and build it again");
}

#else

#include <ctype.h>
#include <expat.h>
#include <stdio.h>
#include <stdlib.h>

enum { PART = 1 << 16, MOST_ATTRIBUTES = 20 };

enum element {
    PLATFORM,
    CONFIG,
    PROP,
    ZONE,
    CLUSTER,
    CABINET,
    HOST,
    ROUTER,
    LINK,
    BACKBONE,
    HOST_LINK,
    ROUTE,
    ZONE_ROUTE,
    LINK_CTN,
    OUTSIDE /* where <platform> is */
};

struct parse {
    struct rfn_platform *platform;
    XML_Parser parser;
    int error; /* told */
    size_t depth;
    uint8_t elements[RFN_MOST_DEPTH]; /* enum element */
    uint32_t zone;                    /* that it is in, or RFN_NOWHERE */
    bool seen;                        /* <platform> */
    /* of the route that it is in */
    struct rfn_route_lines route;
    struct rfn_duplex *links;
    size_t links_capacity;
};

/* An attribute; without a default it must be there. */
struct attribute {
    const char *name, *otherwise;
    bool may_be_empty;
};

#define NEEDED(name)      \
    {                     \
        name, NULL, false \
    }
#define NEEDED_OR_EMPTY(name) \
    {                         \
        name, NULL, true      \
    }
#define OPTIONAL(name, otherwise) \
    {                             \
        name, otherwise, true     \
    }

/* values: of the attributes, in the order of the table. */
struct element_kind {
    const char *name;
    unsigned parents; /* a bit for each */
    int (*begin)(struct parse *parse, const char *const *values);
    int (*end)(struct parse *parse);
    struct attribute attributes[MOST_ATTRIBUTES];
};

/* ---- values ---- */

static int fail_value(struct parse *parse, const char *name, const char *value, const char *what)
{
    return rfn_platform_fail(parse->platform, RFN_E_CORRUPT, "%s=\"%s\": %s", name, value, what);
}

static int take_unit(struct parse *parse, const char *name, const char *value, enum rfn_unit unit,
                     double *number)
{
    if (!*value) {
        *number = 0;
        return 0;
    }
    if (!rfn_unit_parse(value, strlen(value), unit, number))
        return 0;
    return rfn_platform_fail(parse->platform, RFN_E_CORRUPT,
                             "%s=\"%s\": no number from 0 on with one of the units %s", name, value,
                             rfn_unit_names(unit));
}

static int take_count(struct parse *parse, const char *name, const char *value, long least,
                      uint32_t *count)
{
    char *end;
    const double number = rfn_c_double(value, &end); /* SimGrid has pstate="0.0" */
    if (end == value || *end || !(number >= (double)least && number <= INT32_MAX))
        return rfn_platform_fail(parse->platform, RFN_E_CORRUPT,
                                 "%s=\"%s\": no whole number from %ld on", name, value, least);
    *count = (uint32_t)number;
    return *count == number ? 0 : fail_value(parse, name, value, "no whole number");
}

/* The speed of a state, of those between commas. */
static int take_speed(struct parse *parse, const char *value, uint32_t state, double *speed)
{
    const char *at = value;
    for (uint32_t i = 0; i < state; i++) {
        at = strchr(at, ',');
        if (!at)
            return rfn_platform_fail(parse->platform, RFN_E_CORRUPT,
                                     "speed=\"%s\" has no speed for pstate=\"%u\"", value, state);
        at++;
    }
    at += strspn(at, " \t\n\r");
    size_t size = strcspn(at, ",");
    while (size && isspace((unsigned char)at[size - 1]))
        size--;
    if (rfn_unit_parse(at, size, RFN_UNIT_SPEED, speed) < 0 || !(*speed > 0))
        return rfn_platform_fail(parse->platform, RFN_E_CORRUPT,
                                 "speed=\"%s\": no number above 0 with one of the units %s", value,
                                 rfn_unit_names(RFN_UNIT_SPEED));
    return 0;
}

static int take_sharing(struct parse *parse, const char *name, const char *value, bool *split,
                        enum rfn_sharing *sharing)
{
    *split = !strcmp(value, "SPLITDUPLEX") || !strcmp(value, "FULLDUPLEX");
    *sharing = strcmp(value, "FATPIPE") != 0 ? RFN_LINK_SHARED : RFN_LINK_FATPIPE;
    if (*split || *sharing == RFN_LINK_FATPIPE || !strcmp(value, "SHARED"))
        return 0;
    return rfn_platform_fail(parse->platform, RFN_E_UNSUPPORTED,
                             "%s=\"%s\" is not known; known are SHARED, SPLITDUPLEX and FATPIPE",
                             name, value);
}

static int take_symmetric(struct parse *parse, const char *value, bool *symmetric)
{
    *symmetric = !strcmp(value, "YES") || !strcmp(value, "yes");
    if (*symmetric || !strcmp(value, "NO") || !strcmp(value, "no"))
        return 0;
    return fail_value(parse, "symmetrical", value, "neither YES nor NO");
}

/* ---- elements, where they begin ---- */

static int begin_platform(struct parse *parse, const char *const *values)
{
    char *end;
    const double version = rfn_c_double(values[0], &end);
    if (end == values[0] || *end || !(version >= 4 && version < 4.15))
        return rfn_platform_fail(parse->platform, RFN_E_VERSION,
                                 "version=\"%s\" is not read, only 4 and 4.1; simgrid_update_xml "
                                 "brings older files up to date",
                                 values[0]);
    parse->seen = true;
    return 0;
}

static int begin_config(struct parse *parse, const char *const *values)
{
    (void)values;
    if (parse->platform->n_zones)
        return rfn_platform_fail(parse->platform, RFN_E_CORRUPT, "it must come before all zones");
    return 0;
}

/* Properties of others than <config> say nothing that a run depends on. */
static int begin_prop(struct parse *parse, const char *const *values)
{
    if (parse->elements[parse->depth - 1] != CONFIG)
        return 0;
    return rfn_platform_add_config(parse->platform, values[0], values[1]);
}

static int find_routing(struct parse *parse, const char *name, enum rfn_routing *routing)
{
    static const struct {
        const char *name;
        enum rfn_routing routing;
    } known[] = {{"Full", RFN_ROUTING_FULL},         {"Floyd", RFN_ROUTING_FLOYD},
                 {"Dijkstra", RFN_ROUTING_DIJKSTRA}, {"DijkstraCache", RFN_ROUTING_DIJKSTRA},
                 {"None", RFN_ROUTING_NONE},         {"Cluster", RFN_ROUTING_STAR}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(known[i].name, name)) {
            *routing = known[i].routing;
            return 0;
        }
    return rfn_platform_fail(parse->platform, RFN_E_UNSUPPORTED,
                             "routing=\"%s\" is not known; known are Full, Floyd, Dijkstra, "
                             "DijkstraCache, Cluster and None",
                             name);
}

/* Inner zones have zones, the others hosts: what is both has no way from the one to the other. */
static int enter_zone(struct parse *parse)
{
    if (parse->zone == RFN_NOWHERE)
        return 0;
    const struct rfn_zone *zone = &parse->platform->zones[parse->zone];
    if (zone->has_hosts || zone->routing == RFN_ROUTING_STAR)
        return rfn_platform_fail(parse->platform, RFN_E_CORRUPT,
                                 "zone \"%s\" has %s; put it beside that zone", zone->name,
                                 zone->has_hosts ? "hosts" : "routing=\"Cluster\", for hosts");
    return 0;
}

static int enter_host(struct parse *parse)
{
    const struct rfn_zone *zone = &parse->platform->zones[parse->zone];
    if (zone->has_zones)
        return rfn_platform_fail(parse->platform, RFN_E_CORRUPT,
                                 "zone \"%s\" has zones; put hosts and routers into one of their "
                                 "own beside them",
                                 zone->name);
    parse->platform->zones[parse->zone].has_hosts = true;
    return 0;
}

static int begin_zone(struct parse *parse, const char *const *values)
{
    enum rfn_routing routing = RFN_ROUTING_NONE;
    RFN_TRY(enter_zone(parse));
    RFN_TRY(find_routing(parse, values[1], &routing));
    return rfn_platform_add_zone(parse->platform, parse->zone, values[0], routing, &parse->zone);
}

/* In the order of the table's. */
enum {
    CLUSTER_ID,
    CLUSTER_PREFIX,
    CLUSTER_SUFFIX,
    CLUSTER_RADICAL,
    CLUSTER_SPEED,
    CLUSTER_BW,
    CLUSTER_LAT,
    CLUSTER_CORE, /* not of cabinets from here on */
    CLUSTER_SHARING,
    CLUSTER_TOPOLOGY,
    CLUSTER_SHAPE,
    CLUSTER_BB_BW,
    CLUSTER_BB_LAT,
    CLUSTER_BB_SHARING,
    CLUSTER_ROUTER,
    CLUSTER_LIMITER,
    CLUSTER_LOOPBACK_BW,
    CLUSTER_LOOPBACK_LAT
};

static int take_hosts(struct parse *parse, const char *const *values, struct rfn_cluster *cluster)
{
    *cluster = (struct rfn_cluster){.id = values[CLUSTER_ID],
                                    .prefix = values[CLUSTER_PREFIX],
                                    .suffix = values[CLUSTER_SUFFIX],
                                    .radical = values[CLUSTER_RADICAL],
                                    .cores = 1};
    RFN_TRY(take_speed(parse, values[CLUSTER_SPEED], 0, &cluster->speed));
    RFN_TRY(take_unit(parse, "bw", values[CLUSTER_BW], RFN_UNIT_BANDWIDTH, &cluster->bandwidth));
    return take_unit(parse, "lat", values[CLUSTER_LAT], RFN_UNIT_TIME, &cluster->latency);
}

static int take_cluster_links(struct parse *parse, const char *const *values,
                              struct rfn_cluster *cluster)
{
    bool split;
    RFN_TRY(take_sharing(parse, "sharing_policy", values[CLUSTER_SHARING], &cluster->split,
                         &cluster->sharing));
    if (cluster->sharing == RFN_LINK_FATPIPE)
        return rfn_platform_fail(
            parse->platform, RFN_E_UNSUPPORTED,
            "sharing_policy=\"FATPIPE\": SimGrid shares links of a cluster all "
            "the same; use SHARED or SPLITDUPLEX");
    RFN_TRY(take_unit(parse, "bb_bw", values[CLUSTER_BB_BW], RFN_UNIT_BANDWIDTH,
                      &cluster->backbone_bandwidth));
    RFN_TRY(take_unit(parse, "bb_lat", values[CLUSTER_BB_LAT], RFN_UNIT_TIME,
                      &cluster->backbone_latency));
    RFN_TRY(take_sharing(parse, "bb_sharing_policy", values[CLUSTER_BB_SHARING], &split,
                         &cluster->backbone_sharing));
    if (split)
        return fail_value(parse, "bb_sharing_policy", values[CLUSTER_BB_SHARING],
                          "neither SHARED nor FATPIPE");
    RFN_TRY(take_unit(parse, "limiter_link", values[CLUSTER_LIMITER], RFN_UNIT_BANDWIDTH,
                      &cluster->limiter));
    RFN_TRY(take_unit(parse, "loopback_bw", values[CLUSTER_LOOPBACK_BW], RFN_UNIT_BANDWIDTH,
                      &cluster->loopback_bandwidth));
    return take_unit(parse, "loopback_lat", values[CLUSTER_LOOPBACK_LAT], RFN_UNIT_TIME,
                     &cluster->loopback_latency);
}

static int begin_cluster(struct parse *parse, const char *const *values)
{
    struct rfn_cluster cluster;
    RFN_TRY(enter_zone(parse));
    RFN_TRY(take_hosts(parse, values, &cluster));
    RFN_TRY(take_count(parse, "core", values[CLUSTER_CORE], 1, &cluster.cores));
    RFN_TRY(take_cluster_links(parse, values, &cluster));
    cluster.router = values[CLUSTER_ROUTER];
    cluster.topology = values[CLUSTER_TOPOLOGY];
    return rfn_platform_add_cluster(parse->platform, parse->zone, &cluster, values[CLUSTER_SHAPE]);
}

static int only_in_star(struct parse *parse)
{
    const struct rfn_zone *zone = &parse->platform->zones[parse->zone];
    if (zone->routing == RFN_ROUTING_STAR)
        return 0;
    return rfn_platform_fail(parse->platform, RFN_E_CORRUPT,
                             "it belongs into a zone with routing=\"Cluster\", and that of \"%s\" "
                             "is another",
                             zone->name);
}

static int begin_cabinet(struct parse *parse, const char *const *values)
{
    struct rfn_cluster cabinet;
    RFN_TRY(only_in_star(parse));
    RFN_TRY(take_hosts(parse, values, &cabinet));
    return rfn_platform_add_cabinet(parse->platform, parse->zone, &cabinet);
}

static int begin_host(struct parse *parse, const char *const *values)
{
    uint32_t cores, state;
    double speed;
    RFN_TRY(enter_host(parse));
    RFN_TRY(take_count(parse, "core", values[2], 1, &cores));
    RFN_TRY(take_count(parse, "pstate", values[3], 0, &state));
    RFN_TRY(take_speed(parse, values[1], state, &speed));
    return rfn_platform_add_host(parse->platform, parse->zone, values[0], speed, cores);
}

static int begin_router(struct parse *parse, const char *const *values)
{
    RFN_TRY(enter_host(parse));
    return rfn_platform_add_router(parse->platform, parse->zone, values[0]);
}

static int begin_link(struct parse *parse, const char *const *values)
{
    struct rfn_link link = {.name = values[0]};
    bool split;
    uint32_t number;
    RFN_TRY(take_unit(parse, "bandwidth", values[1], RFN_UNIT_BANDWIDTH, &link.bandwidth));
    RFN_TRY(take_unit(parse, "latency", values[2], RFN_UNIT_TIME, &link.latency));
    RFN_TRY(take_sharing(parse, "sharing_policy", values[3], &split, &link.sharing));
    return rfn_platform_add_link(parse->platform, &link, split, &number);
}

static int begin_backbone(struct parse *parse, const char *const *values)
{
    struct rfn_link link = {.name = values[0], .sharing = RFN_LINK_SHARED};
    RFN_TRY(only_in_star(parse));
    struct rfn_zone *zone = &parse->platform->zones[parse->zone];
    if (zone->backbone != RFN_NOWHERE)
        return rfn_platform_fail(parse->platform, RFN_E_CORRUPT, "zone \"%s\" has one already",
                                 zone->name);
    RFN_TRY(take_unit(parse, "bandwidth", values[1], RFN_UNIT_BANDWIDTH, &link.bandwidth));
    RFN_TRY(take_unit(parse, "latency", values[2], RFN_UNIT_TIME, &link.latency));
    return rfn_platform_add_link(parse->platform, &link, false, &zone->backbone);
}

static int begin_host_link(struct parse *parse, const char *const *values)
{
    struct rfn_port port = {RFN_NOWHERE, RFN_NOWHERE, RFN_NOWHERE, RFN_NOWHERE};
    RFN_TRY(only_in_star(parse));
    RFN_TRY(rfn_platform_find_link(parse->platform, values[1], NULL, &port.up));
    RFN_TRY(rfn_platform_find_link(parse->platform, values[2], NULL, &port.down));
    return rfn_platform_set_port(parse->platform, parse->zone, values[0], &port);
}

static int begin_any_route(struct parse *parse, const char *const *values, const char *symmetric)
{
    struct rfn_route_lines *route = &parse->route;
    *route = (struct rfn_route_lines){.from = rfn_platform_print(parse->platform, "%s", values[0]),
                                      .to = rfn_platform_print(parse->platform, "%s", values[1])};
    if (!route->from || !route->to)
        return RFN_E_NOMEM;
    return take_symmetric(parse, symmetric, &route->symmetric);
}

static int begin_route(struct parse *parse, const char *const *values)
{
    return begin_any_route(parse, values, values[2]);
}

static int begin_zone_route(struct parse *parse, const char *const *values)
{
    RFN_TRY(begin_any_route(parse, values, values[4]));
    parse->route.gateway_from = rfn_platform_print(parse->platform, "%s", values[2]);
    parse->route.gateway_to = rfn_platform_print(parse->platform, "%s", values[3]);
    return parse->route.gateway_from && parse->route.gateway_to ? 0 : RFN_E_NOMEM;
}

static int begin_link_ctn(struct parse *parse, const char *const *values)
{
    const char *direction = values[1];
    struct rfn_duplex link;
    const bool up = !strcmp(direction, "UP"), down = !strcmp(direction, "DOWN");
    if (!up && !down && strcmp(direction, "NONE") != 0)
        return fail_value(parse, "direction", direction, "neither UP, DOWN nor NONE");
    RFN_TRY(rfn_platform_find_link(parse->platform, values[0], up || down ? direction : NULL,
                                   &link.up));
    link.down = link.up;
    if (up || down)
        RFN_TRY(rfn_platform_find_link(parse->platform, values[0], up ? "DOWN" : "UP", &link.down));
    if (RFN_GROW(parse->links, parse->links_capacity, parse->route.n_links + 1) < 0)
        return rfn_platform_nomem(parse->platform);
    parse->links[parse->route.n_links++] = link;
    return 0;
}

/* ---- elements, where they end ---- */

static int end_zone(struct parse *parse)
{
    const uint32_t zone = parse->zone;
    parse->zone = parse->platform->zones[zone].parent;
    return rfn_platform_end_zone(parse->platform, zone);
}

static int end_route(struct parse *parse)
{
    parse->route.links = parse->links;
    return rfn_platform_add_route(parse->platform, parse->zone, &parse->route);
}

/* ---- the table ---- */

#define IN(element) (1u << (element))

static const struct element_kind kinds[] = {
    [PLATFORM] = {"platform", IN(OUTSIDE), begin_platform, NULL, {OPTIONAL("version", "0.0")}},
    [CONFIG] = {"config", IN(PLATFORM), begin_config, NULL, {OPTIONAL("id", "")}},
    [PROP] = {"prop",
              IN(CONFIG) | IN(ZONE) | IN(CLUSTER) | IN(HOST) | IN(LINK),
              begin_prop,
              NULL,
              {NEEDED("id"), NEEDED_OR_EMPTY("value")}},
    [ZONE] =
        {"zone", IN(PLATFORM) | IN(ZONE), begin_zone, end_zone, {NEEDED("id"), NEEDED("routing")}},
    [CLUSTER] = {"cluster",
                 IN(PLATFORM) | IN(ZONE),
                 begin_cluster,
                 NULL,
                 {NEEDED("id"), NEEDED_OR_EMPTY("prefix"), NEEDED_OR_EMPTY("suffix"),
                  NEEDED("radical"), NEEDED("speed"), NEEDED("bw"), NEEDED("lat"),
                  OPTIONAL("core", "1"), OPTIONAL("sharing_policy", "SPLITDUPLEX"),
                  OPTIONAL("topology", "FLAT"), OPTIONAL("topo_parameters", ""),
                  OPTIONAL("bb_bw", ""), OPTIONAL("bb_lat", ""),
                  OPTIONAL("bb_sharing_policy", "SHARED"), OPTIONAL("router_id", ""),
                  OPTIONAL("limiter_link", ""), OPTIONAL("loopback_bw", ""),
                  OPTIONAL("loopback_lat", "")}},
    [CABINET] = {"cabinet",
                 IN(ZONE),
                 begin_cabinet,
                 NULL,
                 {NEEDED("id"), NEEDED_OR_EMPTY("prefix"), NEEDED_OR_EMPTY("suffix"),
                  NEEDED("radical"), NEEDED("speed"), NEEDED("bw"), NEEDED("lat")}},
    [HOST] = {"host",
              IN(ZONE),
              begin_host,
              NULL,
              {NEEDED("id"), NEEDED("speed"), OPTIONAL("core", "1"), OPTIONAL("pstate", "0")}},
    [ROUTER] = {"router", IN(ZONE), begin_router, NULL, {NEEDED("id")}},
    [LINK] = {"link",
              IN(ZONE),
              begin_link,
              NULL,
              {NEEDED("id"), NEEDED("bandwidth"), NEEDED("latency"),
               OPTIONAL("sharing_policy", "SHARED")}},
    [BACKBONE] = {"backbone",
                  IN(ZONE),
                  begin_backbone,
                  NULL,
                  {NEEDED("id"), NEEDED("bandwidth"), NEEDED("latency")}},
    [HOST_LINK] = {"host_link",
                   IN(ZONE),
                   begin_host_link,
                   NULL,
                   {NEEDED("id"), NEEDED("up"), NEEDED("down")}},
    [ROUTE] = {"route",
               IN(ZONE),
               begin_route,
               end_route,
               {NEEDED("src"), NEEDED("dst"), OPTIONAL("symmetrical", "YES")}},
    [ZONE_ROUTE] = {"zoneRoute",
                    IN(ZONE),
                    begin_zone_route,
                    end_route,
                    {NEEDED("src"), NEEDED("dst"), NEEDED("gw_src"), NEEDED("gw_dst"),
                     OPTIONAL("symmetrical", "YES")}},
    [LINK_CTN] = {"link_ctn",
                  IN(ROUTE) | IN(ZONE_ROUTE),
                  begin_link_ctn,
                  NULL,
                  {NEEDED("id"), OPTIONAL("direction", "NONE")}},
};
enum { N_KINDS = sizeof kinds / sizeof *kinds };

/* Older names of the same. */
static const struct {
    const char *old;
    enum element element;
} synonyms[] = {{"AS", ZONE}, {"ASroute", ZONE_ROUTE}};

/* Elements of SimGrid that mean something else than a cluster, and what to do instead. */
static const struct {
    const char *name, *advice;
} others[] = {
    {"bypassRoute", "routes around routing are not supported; give the <route> itself"},
    {"bypassZoneRoute", "routes around routing are not supported; give the <zoneRoute> itself"},
    {"bypassASroute", "routes around routing are not supported; give the <zoneRoute> itself"},
    {"peer", "hosts with coordinates are not supported; use <host>, <link> and <route>"},
    {"trace", "speeds that change are not supported; leave it out for constant ones"},
    {"trace_connect", "speeds that change are not supported; leave it out for constant ones"},
    {"disk", "disks are not supported; leave it out, as no message passes through one"},
    {"storage", "disks are not supported; leave it out, as no message passes through one"},
    {"storage_type", "disks are not supported; leave it out, as no message passes through one"},
    {"mount", "disks are not supported; leave it out, as no message passes through one"},
    {"actor", "it places processes; a hostfile says where ranks are"},
    {"process", "it places processes; a hostfile says where ranks are"},
    {"include", "other files are not read; put what is in there here"}};

/* ---- what libexpat calls ---- */

static void locate(struct parse *parse)
{
    const unsigned long line = XML_GetCurrentLineNumber(parse->parser);
    parse->platform->line = line ? (unsigned)line : 1;
    parse->platform->offset = XML_GetCurrentByteIndex(parse->parser);
}

static void stop(struct parse *parse, int error)
{
    if (parse->error || error >= 0)
        return;
    parse->error = error;
    XML_StopParser(parse->parser, XML_FALSE);
}

static enum element parent_of(const struct parse *parse)
{
    return parse->depth ? (enum element)parse->elements[parse->depth - 1] : OUTSIDE;
}

/* Names of what may be in an element, for messages. */
static const char *names_inside(enum element parent, char *text, size_t size)
{
    size_t n = 0;
    text[0] = 0;
    for (size_t i = 0; i < N_KINDS; i++)
        if (kinds[i].parents & IN(parent) && n < size)
            n += (size_t)snprintf(text + n, size - n, "%s<%s>", n ? ", " : "", kinds[i].name);
    return text[0] ? text : "nothing";
}

static const char *names_of(const struct element_kind *kind, char *text, size_t size)
{
    size_t n = 0;
    for (size_t i = 0; i < MOST_ATTRIBUTES && kind->attributes[i].name && n < size; i++)
        n += (size_t)snprintf(text + n, size - n, "%s%s", n ? ", " : "", kind->attributes[i].name);
    return text;
}

static int find_kind(struct parse *parse, const char *name, enum element *element)
{
    char known[256];
    const enum element parent = parent_of(parse);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (!strcmp(others[i].name, name))
            return rfn_platform_fail(parse->platform, RFN_E_UNSUPPORTED, "%s", others[i].advice);
    size_t found = 0;
    while (found < N_KINDS && strcmp(kinds[found].name, name) != 0)
        found++;
    for (size_t i = 0; i < sizeof synonyms / sizeof *synonyms; i++)
        if (!strcmp(synonyms[i].old, name))
            found = synonyms[i].element;
    *element = (enum element)found;
    if (found < N_KINDS && kinds[found].parents & IN(parent))
        return 0;
    return rfn_platform_fail(parse->platform, found < N_KINDS ? RFN_E_CORRUPT : RFN_E_UNSUPPORTED,
                             "%s %s%s%s; what is known here: %s",
                             found < N_KINDS ? "it cannot be" : "such an element is not known",
                             parent == OUTSIDE ? "outside of <platform>" : "in <",
                             parent == OUTSIDE ? "" : kinds[parent].name,
                             parent == OUTSIDE ? "" : ">",
                             names_inside(parent, known, sizeof known));
}

static int take_attribute(struct parse *parse, const struct element_kind *kind, const char *name,
                          const char *value, const char **values)
{
    char known[256];
    for (size_t i = 0; i < MOST_ATTRIBUTES && kind->attributes[i].name; i++)
        if (!strcmp(kind->attributes[i].name, name)) {
            values[i] = value;
            return 0;
        }
    return rfn_platform_fail(parse->platform, RFN_E_UNSUPPORTED,
                             "its attribute %s=\"%s\" is not known; known are %s", name, value,
                             names_of(kind, known, sizeof known));
}

/* pairs: names and values, up to NULL. */
static int take_attributes(struct parse *parse, const struct element_kind *kind,
                           const char *const *pairs, const char **values)
{
    for (; *pairs; pairs += 2)
        RFN_TRY(take_attribute(parse, kind, pairs[0], pairs[1], values));
    for (size_t i = 0; i < MOST_ATTRIBUTES && kind->attributes[i].name; i++) {
        const struct attribute *attribute = &kind->attributes[i];
        if (values[i] && !*values[i] && !attribute->may_be_empty)
            return rfn_platform_fail(parse->platform, RFN_E_CORRUPT, "its attribute %s is empty",
                                     attribute->name);
        if (!values[i])
            values[i] = attribute->otherwise;
        if (!values[i])
            return rfn_platform_fail(parse->platform, RFN_E_CORRUPT, "it has no attribute %s",
                                     attribute->name);
    }
    return 0;
}

static int begin(struct parse *parse, const char *name, const char *const *pairs)
{
    const char *values[MOST_ATTRIBUTES] = {NULL};
    enum element element = OUTSIDE;
    RFN_TRY(find_kind(parse, name, &element));
    if (parse->depth == RFN_MOST_DEPTH)
        return rfn_platform_fail(parse->platform, RFN_E_UNSUPPORTED,
                                 "more than %d elements in each other", RFN_MOST_DEPTH);
    RFN_TRY(take_attributes(parse, &kinds[element], pairs, values));
    RFN_TRY(kinds[element].begin(parse, values));
    parse->elements[parse->depth++] = (uint8_t)element;
    return 0;
}

static void XMLCALL on_begin(void *context, const char *name, const char **pairs)
{
    struct parse *parse = context;
    if (parse->error)
        return;
    locate(parse);
    parse->platform->element = name;
    stop(parse, begin(parse, name, (const char *const *)pairs));
    parse->platform->element = NULL;
}

static void XMLCALL on_end(void *context, const char *name)
{
    struct parse *parse = context;
    if (parse->error)
        return;
    locate(parse);
    parse->platform->element = name;
    const enum element element = (enum element)parse->elements[--parse->depth];
    if (kinds[element].end)
        stop(parse, kinds[element].end(parse));
    parse->platform->element = NULL;
}

static void XMLCALL on_text(void *context, const char *text, int size)
{
    struct parse *parse = context;
    int i = 0;
    while (i < size && strchr(" \t\r\n", text[i]) && text[i])
        i++;
    if (parse->error || i == size)
        return;
    locate(parse);
    stop(parse, rfn_platform_fail(parse->platform, RFN_E_CORRUPT,
                                  "text \"%.*s\" where only elements can be",
                                  size - i < 40 ? size - i : 40, text + i));
}

static void refuse_entities(struct parse *parse, const char *name)
{
    if (parse->error)
        return;
    locate(parse);
    stop(parse,
         rfn_platform_fail(parse->platform, RFN_E_UNSUPPORTED,
                           "entities (%s) are not supported; write out what they stand for", name));
}

static void XMLCALL on_entity(void *context, const char *name, int is_parameter, const char *value,
                              int size, const char *base, const char *system, const char *public,
                              const char *notation)
{
    (void)is_parameter, (void)value, (void)size, (void)base, (void)system, (void)public,
        (void)notation;
    refuse_entities(context, name);
}

static void XMLCALL on_skipped(void *context, const char *name, int is_parameter)
{
    (void)is_parameter;
    refuse_entities(context, name);
}

/* ---- the file ---- */

static int feed(struct parse *parse, rfn_platform_input input, void *context)
{
    int n;
    do {
        char *bytes = XML_GetBuffer(parse->parser, PART);
        if (!bytes)
            return rfn_platform_nomem(parse->platform);
        n = input(context, bytes, PART);
        if (n < 0)
            return n;
        const enum XML_Status status = XML_ParseBuffer(parse->parser, n, n == 0);
        if (parse->error)
            return parse->error;
        if (status != XML_STATUS_OK) {
            const enum XML_Error why = XML_GetErrorCode(parse->parser);
            locate(parse);
            if (why == XML_ERROR_NO_MEMORY)
                return rfn_platform_nomem(parse->platform);
            return rfn_platform_fail(parse->platform, RFN_E_CORRUPT, "not well-formed XML: %s",
                                     XML_ErrorString(why));
        }
    } while (n);
    locate(parse);
    if (!parse->platform->n_hosts)
        return rfn_platform_fail(parse->platform, RFN_E_CORRUPT,
                                 "the platform has no host; a <cluster> has some");
    return 0;
}

int rfn_platform_parse(struct rfn_platform *platform, rfn_platform_input input, void *context)
{
    static const XML_Memory_Handling_Suite memory = {malloc, realloc, free};
    struct parse parse = {.platform = platform, .zone = RFN_NOWHERE};
    parse.parser = XML_ParserCreate_MM(NULL, &memory, NULL);
    if (!parse.parser)
        return rfn_platform_nomem(platform);
    XML_SetUserData(parse.parser, &parse);
    XML_SetElementHandler(parse.parser, on_begin, on_end);
    XML_SetCharacterDataHandler(parse.parser, on_text);
    XML_SetEntityDeclHandler(parse.parser, on_entity);
    XML_SetSkippedEntityHandler(parse.parser, on_skipped);
    const int error = feed(&parse, input, context);
    XML_ParserFree(parse.parser);
    free(parse.links);
    return error;
}

#endif
