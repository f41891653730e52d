/* platform_build.c - makes a platform of what its file says. */
#include "base/c_numbers.h"
#include "base/grow.h"
#include "simulate/platform/platform_internal.h"

#include <stdarg.h>
#include <stdio.h>

/* Fails with RFN_E_NOMEM, told, if expr does. */
#define TRY_NOMEM(platform, expr)                \
    do {                                         \
        if ((expr) < 0)                          \
            return rfn_platform_nomem(platform); \
    } while (0)

const char *rfn_platform_print(struct rfn_platform *platform, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    const int n = rfn_c_vprint(NULL, 0, format, args);
    char *text = n < 0 ? NULL : rfn_arena_alloc(&platform->arena, (size_t)n + 1);
    if (text)
        rfn_c_vprint(text, (size_t)n + 1, format, again);
    else
        rfn_platform_nomem(platform);
    va_end(again);
    va_end(args);
    return text;
}

/* Puts a name that nothing else of its kind may have. */
static int put_name(struct rfn_platform *platform, enum rfn_name_kind kind, const char *name,
                    size_t value)
{
    static const char *const kinds[] = {[RFN_NAME_POINT] = "host, router or zone",
                                        [RFN_NAME_LINK] = "link",
                                        [RFN_NAME_DUPLEX] = "link",
                                        [RFN_NAME_CONFIG] = "property"};
    const int error = rfn_names_put(&platform->names, kind, name, (uint32_t)value);
    if (error == RFN_E_EXISTS)
        return rfn_platform_fail(platform, RFN_E_CORRUPT, "there is another %s \"%s\"", kinds[kind],
                                 name);
    return error < 0 ? rfn_platform_nomem(platform) : 0;
}

int rfn_platform_add_config(struct rfn_platform *platform, const char *name, const char *value)
{
    const char *own_name = rfn_platform_print(platform, "%s", name);
    const char *own_value = rfn_platform_print(platform, "%s", value);
    if (!own_name || !own_value)
        return RFN_E_NOMEM;
    TRY_NOMEM(platform,
              RFN_GROW(platform->configs, platform->configs_capacity, platform->n_configs + 1));
    RFN_TRY(put_name(platform, RFN_NAME_CONFIG, own_name, platform->n_configs));
    platform->configs[platform->n_configs++] = (struct rfn_config){
        .name = own_name, .value = own_value, .line = platform->line};
    return 0;
}

/* ---- points ---- */

/* The name is the arena's. Its number in *number. */
static int add_point(struct rfn_platform *platform, uint32_t zone, const char *name,
                     enum rfn_point_kind kind, size_t number)
{
    TRY_NOMEM(platform,
              RFN_GROW(platform->points, platform->points_capacity, platform->n_points + 1));
    RFN_TRY(put_name(platform, RFN_NAME_POINT, name, platform->n_points));
    platform->points[platform->n_points++] = (struct rfn_point){
        .name = name,
        .kind = kind,
        .zone = zone,
        .place = zone == RFN_NOWHERE ? 0 : platform->zones[zone].n_points++,
        .number = (uint32_t)number};
    return 0;
}

int rfn_platform_add_host(struct rfn_platform *platform, uint32_t zone, const char *name,
                          double speed, uint32_t cores)
{
    if (platform->n_hosts >= RFN_MOST_HOSTS)
        return rfn_platform_fail(platform, RFN_E_UNSUPPORTED, "more than %d hosts", RFN_MOST_HOSTS);
    const char *own = rfn_platform_print(platform, "%s", name);
    if (!own)
        return RFN_E_NOMEM;
    TRY_NOMEM(platform, RFN_GROW(platform->hosts, platform->hosts_capacity, platform->n_hosts + 1));
    RFN_TRY(add_point(platform, zone, own, RFN_POINT_HOST, platform->n_hosts));
    platform->hosts[platform->n_hosts++] = (struct rfn_platform_host){
        .host = {.name = own, .speed = speed, .cores = cores},
        .point = (uint32_t)(platform->n_points - 1)};
    platform->zones[zone].has_hosts = true;
    return 0;
}

int rfn_platform_add_router(struct rfn_platform *platform, uint32_t zone, const char *name)
{
    const char *own = rfn_platform_print(platform, "%s", name);
    return own ? add_point(platform, zone, own, RFN_POINT_ROUTER, 0) : RFN_E_NOMEM;
}

int rfn_platform_add_zone(struct rfn_platform *platform, uint32_t zone, const char *name,
                          enum rfn_routing routing, uint32_t *number)
{
    if (zone == RFN_NOWHERE && platform->n_zones)
        return rfn_platform_fail(platform, RFN_E_CORRUPT,
                                 "there is a zone already, \"%s\"; put both into one <zone>",
                                 platform->zones[0].name);
    const char *own = rfn_platform_print(platform, "%s", name);
    if (!own)
        return RFN_E_NOMEM;
    TRY_NOMEM(platform, RFN_GROW(platform->zones, platform->zones_capacity, platform->n_zones + 1));
    RFN_TRY(add_point(platform, zone, own, RFN_POINT_ZONE, platform->n_zones));
    if (zone != RFN_NOWHERE)
        platform->zones[zone].has_zones = true;
    *number = (uint32_t)platform->n_zones++;
    platform->zones[*number] = (struct rfn_zone){
        .name = own,
        .point = (uint32_t)(platform->n_points - 1),
        .parent = zone,
        .depth = zone == RFN_NOWHERE ? 0 : platform->zones[zone].depth + 1,
        .routing = routing,
        .first_way = RFN_NOWHERE,
        .last_way = RFN_NOWHERE,
        .before_from = RFN_NOWHERE,
        .backbone = RFN_NOWHERE};
    return 0;
}

/* ---- links ---- */

static int add_one_link(struct rfn_platform *platform, const struct rfn_link *link,
                        const char *name)
{
    if (!name)
        return RFN_E_NOMEM;
    if (platform->n_links >= RFN_MOST_LINKS)
        return rfn_platform_fail(platform, RFN_E_UNSUPPORTED, "more than %d links", RFN_MOST_LINKS);
    TRY_NOMEM(platform, RFN_GROW(platform->links, platform->links_capacity, platform->n_links + 1));
    RFN_TRY(put_name(platform, RFN_NAME_LINK, name, platform->n_links));
    platform->links[platform->n_links] = *link;
    platform->links[platform->n_links++].name = name;
    return 0;
}

static int add_split_link(struct rfn_platform *platform, const struct rfn_link *link)
{
    const uint32_t first = (uint32_t)platform->n_links;
    RFN_TRY(add_one_link(platform, link, rfn_platform_print(platform, "%s_UP", link->name)));
    RFN_TRY(add_one_link(platform, link, rfn_platform_print(platform, "%s_DOWN", link->name)));
    const char *own = rfn_platform_print(platform, "%s", link->name);
    if (!own)
        return RFN_E_NOMEM;
    TRY_NOMEM(platform,
              RFN_GROW(platform->duplexes, platform->duplexes_capacity, platform->n_duplexes + 1));
    RFN_TRY(put_name(platform, RFN_NAME_DUPLEX, own, platform->n_duplexes));
    platform->duplexes[platform->n_duplexes++] = (struct rfn_duplex){.up = first,
                                                                     .down = first + 1};
    return 0;
}

int rfn_platform_add_link(struct rfn_platform *platform, const struct rfn_link *link, bool split,
                          uint32_t *number)
{
    *number = (uint32_t)platform->n_links;
    if (!(link->bandwidth > 0))
        return rfn_platform_fail(platform, RFN_E_CORRUPT,
                                 "link \"%s\" has no bandwidth; give it one above 0", link->name);
    if (split)
        return add_split_link(platform, link);
    return add_one_link(platform, link, rfn_platform_print(platform, "%s", link->name));
}

int rfn_platform_find_link(struct rfn_platform *platform, const char *name, const char *direction,
                           uint32_t *number)
{
    const uint32_t duplex = rfn_names_get(&platform->names, RFN_NAME_DUPLEX, name);
    *number = rfn_names_get(&platform->names, RFN_NAME_LINK, name);
    if (!direction && *number != RFN_NOWHERE)
        return 0;
    if (direction && duplex != RFN_NOWHERE) {
        const struct rfn_duplex *both = &platform->duplexes[duplex];
        *number = *direction == 'U' ? both->up : both->down;
        return 0;
    }
    if (duplex != RFN_NOWHERE)
        return rfn_platform_fail(platform, RFN_E_CORRUPT,
                                 "link \"%s\" is SPLITDUPLEX; say direction=\"UP\" or \"DOWN\"",
                                 name);
    if (*number != RFN_NOWHERE)
        return rfn_platform_fail(
            platform, RFN_E_CORRUPT,
            "link \"%s\" is not SPLITDUPLEX, so that it has no direction \"%s\"", name, direction);
    return rfn_platform_fail(platform, RFN_E_CORRUPT,
                             "there is no link \"%s\"; a link comes before the routes over it",
                             name);
}

/* ---- routes ---- */

static int find_point(struct rfn_platform *platform, const char *attribute, const char *name,
                      uint32_t *point)
{
    *point = rfn_names_get(&platform->names, RFN_NAME_POINT, name);
    if (*point != RFN_NOWHERE)
        return 0;
    return rfn_platform_fail(
        platform, RFN_E_CORRUPT,
        "%s=\"%s\": there is no such host, router or zone; they come before their routes",
        attribute, name);
}

/* An end of a route is of the zone itself: what lies deeper, or around it, would lead in circles.
 */
static int find_end(struct rfn_platform *platform, uint32_t zone, const char *attribute,
                    const char *name, bool of_zones, uint32_t *point)
{
    RFN_TRY(find_point(platform, attribute, name, point));
    const struct rfn_point *end = &platform->points[*point];
    if (end->zone != zone)
        return rfn_platform_fail(
            platform, RFN_E_CORRUPT, "%s=\"%s\": it is in zone \"%s\", not in this one, \"%s\"",
            attribute, name, end->zone == RFN_NOWHERE ? "" : platform->zones[end->zone].name,
            platform->zones[zone].name);
    if ((end->kind == RFN_POINT_ZONE) != of_zones)
        return rfn_platform_fail(platform, RFN_E_CORRUPT, "%s=\"%s\" is %s; %s", attribute, name,
                                 of_zones ? "no zone" : "a zone",
                                 of_zones ? "use <route>" : "use <zoneRoute>");
    return 0;
}

/* A gateway is a host or router somewhere inside the zone. */
static int find_gateway(struct rfn_platform *platform, const struct rfn_point *zone,
                        const char *attribute, const char *name, uint32_t *point)
{
    RFN_TRY(find_point(platform, attribute, name, point));
    const struct rfn_point *gateway = &platform->points[*point];
    if (gateway->kind == RFN_POINT_ZONE)
        return rfn_platform_fail(platform, RFN_E_CORRUPT,
                                 "%s=\"%s\" is a zone; name a host or a router in it", attribute,
                                 name);
    uint32_t inside = gateway->zone;
    while (inside != RFN_NOWHERE && inside != zone->number)
        inside = platform->zones[inside].parent;
    if (inside == RFN_NOWHERE)
        return rfn_platform_fail(platform, RFN_E_CORRUPT,
                                 "%s=\"%s\": it is in zone \"%s\", not in \"%s\"", attribute, name,
                                 platform->zones[gateway->zone].name, zone->name);
    return 0;
}

/* Its links are the last n of way_links. */
static int add_way(struct rfn_platform *platform, uint32_t number, struct rfn_way way)
{
    struct rfn_zone *zone = &platform->zones[number];
    if (rfn_map_get(&zone->ways, rfn_way_key(way.from, way.to)))
        return rfn_platform_fail(
            platform, RFN_E_CORRUPT,
            "there is this route already; routes are symmetrical unless symmetrical=\"NO\"");
    TRY_NOMEM(platform, RFN_GROW(platform->ways, platform->ways_capacity, platform->n_ways + 1));
    TRY_NOMEM(platform, rfn_map_put(&zone->ways, rfn_way_key(way.from, way.to), platform->n_ways));
    way.next = RFN_NOWHERE;
    const uint32_t at = (uint32_t)platform->n_ways++;
    platform->ways[at] = way;
    if (zone->first_way == RFN_NOWHERE)
        zone->first_way = at;
    else
        platform->ways[zone->last_way].next = at;
    zone->last_way = at;
    return 0;
}

static int add_way_over(struct rfn_platform *platform, uint32_t zone, struct rfn_way way,
                        const struct rfn_route_lines *lines, bool back)
{
    const size_t n = lines->n_links;
    TRY_NOMEM(platform, RFN_GROW(platform->way_links, platform->way_links_capacity,
                                 platform->n_way_links + n));
    way.first_link = platform->n_way_links;
    way.n_links = n;
    for (size_t i = 0; i < n; i++)
        platform->way_links[platform->n_way_links++] = back ? lines->links[n - 1 - i].down
                                                            : lines->links[i].up;
    return add_way(platform, zone, way);
}

static bool lists_ways(const struct rfn_zone *zone)
{
    return zone->routing == RFN_ROUTING_FULL || zone->routing == RFN_ROUTING_FLOYD ||
           zone->routing == RFN_ROUTING_DIJKSTRA;
}

int rfn_platform_add_route(struct rfn_platform *platform, uint32_t zone,
                           const struct rfn_route_lines *lines)
{
    uint32_t from, to, gateway_from = RFN_NOWHERE, gateway_to = RFN_NOWHERE;
    const bool of_zones = lines->gateway_from;
    if (!lists_ways(&platform->zones[zone]))
        return rfn_platform_fail(platform, RFN_E_CORRUPT,
                                 "zone \"%s\" has no routes of its own: its routing is not Full, "
                                 "Floyd or Dijkstra",
                                 platform->zones[zone].name);
    RFN_TRY(find_end(platform, zone, "src", lines->from, of_zones, &from));
    RFN_TRY(find_end(platform, zone, "dst", lines->to, of_zones, &to));
    if (!lines->n_links)
        return rfn_platform_fail(platform, RFN_E_CORRUPT, "it has no <link_ctn>: no link");
    if (of_zones) {
        if (from == to)
            return rfn_platform_fail(platform, RFN_E_CORRUPT,
                                     "it leads from zone \"%s\" to the same zone", lines->from);
        RFN_TRY(find_gateway(platform, &platform->points[from], "gw_src", lines->gateway_from,
                             &gateway_from));
        RFN_TRY(find_gateway(platform, &platform->points[to], "gw_dst", lines->gateway_to,
                             &gateway_to));
    }
    const uint32_t from_place = platform->points[from].place;
    const uint32_t to_place = platform->points[to].place;
    RFN_TRY(add_way_over(platform, zone,
                         (struct rfn_way){.from = from_place,
                                          .to = to_place,
                                          .gateway_from = gateway_from,
                                          .gateway_to = gateway_to},
                         lines, false));
    if (!lines->symmetric || from == to)
        return 0;
    return add_way_over(platform, zone,
                        (struct rfn_way){.from = to_place,
                                         .to = from_place,
                                         .gateway_from = gateway_to,
                                         .gateway_to = gateway_from},
                        lines, true);
}

int rfn_platform_set_port(struct rfn_platform *platform, uint32_t zone, const char *host,
                          const struct rfn_port *port)
{
    uint32_t point;
    RFN_TRY(find_end(platform, zone, "id", host, false, &point));
    const uint32_t place = platform->points[point].place;
    struct rfn_zone *star = &platform->zones[zone];
    const size_t before = star->ports_capacity;
    TRY_NOMEM(platform, RFN_GROW(star->ports, star->ports_capacity, (size_t)place + 1));
    for (size_t i = before; i < star->ports_capacity; i++)
        star->ports[i] = (struct rfn_port){RFN_NOWHERE, RFN_NOWHERE, RFN_NOWHERE, RFN_NOWHERE};
    if (star->ports[place].up != RFN_NOWHERE)
        return rfn_platform_fail(platform, RFN_E_CORRUPT, "\"%s\" has links already", host);
    star->ports[place] = *port;
    return 0;
}

/* ---- the end of a zone ---- */

/* A parameter of SimGrid's network model. */
static int loopback_value(struct rfn_platform *platform, const char *name, enum rfn_unit unit,
                          double *value)
{
    const char *text = rfn_platform_config(platform, name);
    if (text && rfn_unit_parse(text, strlen(text), unit, value) < 0)
        return rfn_platform_fail(platform, RFN_E_CORRUPT, "property \"%s\": \"%s\" is no number",
                                 name, text);
    return 0;
}

/* The one link that every host has to itself where its zone gives it none. */
static int make_loopback(struct rfn_platform *platform)
{
    struct rfn_link link = {
        .name = "__loopback__", .bandwidth = 1e10, .latency = 0, .sharing = RFN_LINK_FATPIPE};
    if (platform->loopback != RFN_NOWHERE)
        return 0;
    RFN_TRY(loopback_value(platform, "network/loopback-bw", RFN_UNIT_BANDWIDTH, &link.bandwidth));
    RFN_TRY(loopback_value(platform, "network/loopback-lat", RFN_UNIT_TIME, &link.latency));
    return rfn_platform_add_link(platform, &link, false, &platform->loopback);
}

static int add_loopbacks(struct rfn_platform *platform, uint32_t number)
{
    RFN_TRY(make_loopback(platform));
    const struct rfn_duplex links = {platform->loopback, platform->loopback};
    const struct rfn_route_lines lines = {.links = &links, .n_links = 1};
    for (uint32_t i = 0; i < platform->zones[number].n_points; i++)
        if (!rfn_map_get(&platform->zones[number].ways, rfn_way_key(i, i)))
            RFN_TRY(add_way_over(
                platform, number,
                (struct rfn_way){
                    .from = i, .to = i, .gateway_from = RFN_NOWHERE, .gateway_to = RFN_NOWHERE},
                &lines, false));
    return 0;
}

int rfn_platform_end_zone(struct rfn_platform *platform, uint32_t number)
{
    const struct rfn_zone *zone = &platform->zones[number];
    if (zone->routing == RFN_ROUTING_FLOYD && zone->n_points > RFN_MOST_FLOYD)
        return rfn_platform_fail(platform, RFN_E_UNSUPPORTED,
                                 "zone \"%s\" has %u hosts, routers and zones, more than the %d of "
                                 "a Floyd zone; use routing=\"Dijkstra\"",
                                 zone->name, zone->n_points, RFN_MOST_FLOYD);
    if (lists_ways(zone) && zone->has_hosts)
        return add_loopbacks(platform, number);
    return 0;
}
