/* platform_route.c - the way of a message from host to host, through the zones between them.
 *
 * The innermost zone that has both ends knows the way between the two zones inside of it that they
 * are in, and which gateways it leads from and to. What is left is from the one end to its gateway,
 * and from the other gateway to the other end: both are deeper, so that this ends.
 */
#include "base/grow.h"
#include "simulate/platform/platform_internal.h"

int rfn_platform_append(const struct rfn_platform *platform, struct rfn_route *route, uint32_t link)
{
    RFN_TRY(RFN_GROW(route->links, route->capacity, route->n + 1));
    route->links[route->n++] = link;
    route->latency += platform->links[link].latency;
    return 0;
}

/* Appends the route between two points. front: where links are put that SimGrid puts first. */
static int find_route(struct rfn_platform *platform, uint32_t from, uint32_t to, size_t front,
                      struct rfn_route *route);

/* Links of a way; those of a Dijkstra zone from the last one on, as SimGrid has them. */
static int append_way(struct rfn_platform *platform, const struct rfn_zone *zone,
                      const struct rfn_way *way, struct rfn_route *route)
{
    const uint32_t *links = platform->way_links + way->first_link;
    const bool backwards = zone->routing == RFN_ROUTING_DIJKSTRA;
    for (size_t i = 0; i < way->n_links; i++)
        RFN_TRY(rfn_platform_append(platform, route, links[backwards ? way->n_links - 1 - i : i]));
    return 0;
}

/* The ways on the path from `base` on. Between zones, one way's gateway leads to that of the next.
 */
static int append_ways(struct rfn_platform *platform, const struct rfn_zone *zone, size_t base,
                       struct rfn_route *route)
{
    uint32_t last = RFN_NOWHERE;
    const size_t end = platform->n_path, front = route->n;
    for (size_t i = base; i < end; i++) {
        const struct rfn_way *way = &platform->ways[platform->path[i]];
        if (last != RFN_NOWHERE && last != way->gateway_from)
            RFN_TRY(find_route(platform, last, way->gateway_from, front, route));
        RFN_TRY(append_way(platform, zone, way, route));
        last = way->gateway_to;
    }
    return 0;
}

/* Appends it unless it is in the route from `base` on. */
static int append_once(struct rfn_platform *platform, size_t base, uint32_t link,
                       struct rfn_route *route)
{
    if (link == RFN_NOWHERE)
        return 0;
    for (size_t i = base; i < route->n; i++)
        if (route->links[i] == link)
            return 0;
    return rfn_platform_append(platform, route, link);
}

static int star_route(struct rfn_platform *platform, const struct rfn_zone *zone,
                      const struct rfn_point *from, const struct rfn_point *to,
                      struct rfn_route *route)
{
    static const struct rfn_port none = {RFN_NOWHERE, RFN_NOWHERE, RFN_NOWHERE, RFN_NOWHERE};
    const size_t base = route->n, n = zone->ports_capacity;
    const struct rfn_port *up = from->place < n ? &zone->ports[from->place] : &none;
    const struct rfn_port *down = to->place < n ? &zone->ports[to->place] : &none;
    const uint32_t backbone = up->up != RFN_NOWHERE || down->down != RFN_NOWHERE ? zone->backbone
                                                                                 : RFN_NOWHERE;
    if (from == to && up->loopback != RFN_NOWHERE)
        return rfn_platform_append(platform, route, up->loopback);
    const uint32_t links[] = {up->limiter, up->up, backbone, down->down, down->limiter};
    for (size_t i = 0; i < sizeof links / sizeof *links; i++)
        RFN_TRY(append_once(platform, base, links[i], route));
    return 0;
}

static int regular_route(struct rfn_platform *platform, const struct rfn_zone *zone, uint32_t from,
                         uint32_t to, struct rfn_route *route)
{
    const struct rfn_regular *regular = zone->regular;
    if (from == to && regular->loopback)
        return rfn_platform_append(platform, route, rfn_host_link(regular, from));
    if (zone->routing == RFN_ROUTING_TORUS)
        return rfn_torus_route(platform, regular, from, to, route);
    if (zone->routing == RFN_ROUTING_FAT_TREE)
        return rfn_fat_tree_route(platform, regular, from, to, route);
    return rfn_dragonfly_route(platform, regular, from, to, route);
}

static void reverse(uint32_t *links, size_t n)
{
    for (size_t i = 0; i < n / 2; i++) {
        const uint32_t link = links[i];
        links[i] = links[n - 1 - i];
        links[n - 1 - i] = link;
    }
}

/* SimGrid puts the links that it finds in a Dijkstra zone before others: those from `middle` on
 * before those from `front` on. */
static void move_to_front(struct rfn_route *route, size_t front, size_t middle)
{
    reverse(route->links + front, middle - front);
    reverse(route->links + middle, route->n - middle);
    reverse(route->links + front, route->n - front);
}

/* Between hosts and routers of one zone. */
static int local_route(struct rfn_platform *platform, uint32_t number, const struct rfn_point *from,
                       const struct rfn_point *to, size_t front, struct rfn_route *route)
{
    struct rfn_zone *zone = &platform->zones[number];
    if (zone->routing == RFN_ROUTING_STAR)
        return star_route(platform, zone, from, to, route);
    if (zone->regular)
        return regular_route(platform, zone, from->place, to->place, route);
    const size_t base = platform->n_path, middle = route->n;
    int error = rfn_platform_ways(platform, zone, from->place, to->place);
    if (!error)
        error = append_ways(platform, zone, base, route);
    if (!error && zone->routing == RFN_ROUTING_DIJKSTRA)
        move_to_front(route, front, middle);
    platform->n_path = base;
    return error;
}

/* Moves both up until they are in the same zone; returns it. */
static uint32_t common_zone(const struct rfn_platform *platform, const struct rfn_point **from,
                            const struct rfn_point **to)
{
    while ((*from)->zone != (*to)->zone) {
        const unsigned from_depth = platform->zones[(*from)->zone].depth;
        const unsigned to_depth = platform->zones[(*to)->zone].depth;
        if (from_depth >= to_depth)
            *from = &platform->points[platform->zones[(*from)->zone].point];
        if (to_depth >= from_depth)
            *to = &platform->points[platform->zones[(*to)->zone].point];
    }
    return (*from)->zone;
}

static int find_route(struct rfn_platform *platform, uint32_t from, uint32_t to, size_t front,
                      struct rfn_route *route)
{
    const struct rfn_point *from_zone = &platform->points[from];
    const struct rfn_point *to_zone = &platform->points[to];
    const uint32_t number = common_zone(platform, &from_zone, &to_zone);
    if (from_zone->kind != RFN_POINT_ZONE)
        return local_route(platform, number, from_zone, to_zone, front, route);
    struct rfn_zone *zone = &platform->zones[number];
    const size_t base = platform->n_path;
    int error = rfn_platform_ways(platform, zone, from_zone->place, to_zone->place);
    if (!error) {
        const uint32_t first = platform->ways[platform->path[base]].gateway_from;
        const uint32_t last = platform->ways[platform->path[platform->n_path - 1]].gateway_to;
        if (first != from)
            error = find_route(platform, from, first, front, route);
        if (!error)
            error = append_ways(platform, zone, base, route);
        if (!error && last != to)
            error = find_route(platform, last, to, front, route);
    }
    platform->n_path = base;
    return error;
}

static int no_route(struct rfn_platform *platform, size_t from, size_t to)
{
    const char *name = platform->hosts[from].host.name;
    if (from == to)
        return rfn_platform_fail(platform, RFN_E_NOTFOUND,
                                 "host %s has no way to itself, as messages between ranks on it "
                                 "need; give its cluster loopback_bw and loopback_lat",
                                 name);
    return rfn_platform_fail(platform, RFN_E_NOTFOUND, "there is no route from host %s to host %s",
                             name, platform->hosts[to].host.name);
}

int rfn_platform_route(struct rfn_platform *platform, size_t from, size_t to,
                       struct rfn_route *route)
{
    route->n = 0;
    route->latency = 0;
    platform->n_path = 0;
    const int error = find_route(platform, platform->hosts[from].point, platform->hosts[to].point,
                                 0, route);
    if (error == RFN_E_NOTFOUND || (!error && !route->n))
        return no_route(platform, from, to);
    return error < 0 ? rfn_platform_nomem(platform) : 0;
}
