/* platform_dragonfly.c - dragonflies: hosts on blades, blades in chassis, chassis in groups.
 *
 * A blade has a router. Routers of a chassis are joined with each other (green links), routers of
 * the same blade in the chassis of a group (black links), and groups by one link each (blue): of
 * group i router j of the first chassis leads to group j. Routes are minimal.
 */
#include "simulate/platform/platform_internal.h"

struct place {
    uint32_t group, chassis, blade, node;
};

static struct place place_of(const struct rfn_dragonfly *fly, uint32_t host)
{
    const uint32_t router = host / fly->nodes;
    return (struct place){.group = router / fly->blades / fly->chassis,
                          .chassis = router / fly->blades % fly->chassis,
                          .blade = router % fly->blades,
                          .node = host % fly->nodes};
}

static uint32_t router_of(const struct rfn_dragonfly *fly, const struct place *place)
{
    return (place->group * fly->chassis + place->chassis) * fly->blades + place->blade;
}

/* Pairs of n things are numbered (0, 1), (0, 2)... (1, 2)...: of those that begin lower, and
 * between two. */
static uint32_t pairs_before(uint32_t first, uint32_t n)
{
    return (uint32_t)((uint64_t)first * (2 * (uint64_t)n - first - 1) / 2);
}

static uint32_t pair_number(uint32_t a, uint32_t b, uint32_t n)
{
    const uint32_t low = a < b ? a : b, high = a < b ? b : a;
    return pairs_before(low, n) + high - low - 1;
}

static uint64_t n_pairs(uint64_t n)
{
    return n * (n - 1) / 2;
}

/* ---- what there is ---- */

static int count_links(struct rfn_platform *platform, struct rfn_regular *regular)
{
    struct rfn_dragonfly *fly = &regular->dragonfly;
    const uint64_t chassis = (uint64_t)fly->groups * fly->chassis;
    const uint64_t routers = chassis <= RFN_MOST_HOSTS ? chassis * fly->blades : chassis;
    const uint64_t hosts = routers <= RFN_MOST_HOSTS ? routers * fly->nodes : routers;
    if (hosts > RFN_MOST_HOSTS)
        return rfn_platform_fail(platform, RFN_E_UNSUPPORTED, "a dragonfly of more than %d hosts",
                                 RFN_MOST_HOSTS);
    const uint64_t green = hosts, black = green + chassis * n_pairs(fly->blades),
                   blue = black + fly->groups * n_pairs(fly->chassis) * fly->blades,
                   end = blue + n_pairs(fly->groups);
    if (black > RFN_MOST_LINKS || blue > RFN_MOST_LINKS || end > RFN_MOST_LINKS)
        return rfn_platform_fail(platform, RFN_E_UNSUPPORTED, "a dragonfly of more than %d links",
                                 RFN_MOST_LINKS);
    regular->hosts = (uint32_t)hosts;
    fly->first_green = (uint32_t)green;
    fly->first_black = (uint32_t)black;
    fly->first_blue = (uint32_t)blue;
    return 0;
}

int rfn_dragonfly_shape(struct rfn_platform *platform, struct rfn_regular *regular,
                        const char *shape)
{
    struct rfn_dragonfly *fly = &regular->dragonfly;
    uint32_t pairs[3][2], n[4];
    for (int i = 0; i < 3; i++)
        RFN_TRY(rfn_platform_numbers(platform, &shape, pairs[i], 2, &n[i]));
    RFN_TRY(rfn_platform_numbers(platform, &shape, &fly->nodes, 1, &n[3]));
    if (*shape || n[0] != 2 || n[1] != 2 || n[2] != 2)
        return rfn_platform_fail(
            platform, RFN_E_CORRUPT,
            "topo_parameters of a DRAGONFLY are groups, chassis and blades, "
            "each with the links between two, and nodes, such as 3,4;4,3;5,1;2");
    fly->groups = pairs[0][0];
    fly->group_links = pairs[0][1];
    fly->chassis = pairs[1][0];
    fly->chassis_links = pairs[1][1];
    fly->blades = pairs[2][0];
    fly->blade_links = pairs[2][1];
    if (fly->groups > 1 && fly->groups > fly->blades)
        return rfn_platform_fail(platform, RFN_E_CORRUPT,
                                 "topo_parameters: %u groups, but %u blades in a chassis; a group "
                                 "is reached from the blade of its number",
                                 fly->groups, fly->blades);
    return count_links(platform, regular);
}

static int add_green(struct rfn_platform *platform, const struct rfn_dragonfly *fly,
                     const struct rfn_cluster *cluster)
{
    for (uint32_t chassis = 0; chassis < fly->groups * fly->chassis; chassis++)
        for (uint32_t i = 0; i < fly->blades; i++)
            for (uint32_t j = i + 1; j < fly->blades; j++)
                RFN_TRY(rfn_platform_add_pair(
                    platform, cluster,
                    rfn_platform_print(platform,
                                       "green_link_in_chassis_%u_between_routers_%u_and_%u_%u",
                                       chassis % fly->chassis, i, j, platform->dragonfly_pairs++),
                    fly->blade_links));
    return 0;
}

static int add_black(struct rfn_platform *platform, const struct rfn_dragonfly *fly,
                     const struct rfn_cluster *cluster, uint32_t group)
{
    for (uint32_t i = 0; i < fly->chassis; i++)
        for (uint32_t j = i + 1; j < fly->chassis; j++)
            for (uint32_t blade = 0; blade < fly->blades; blade++)
                RFN_TRY(rfn_platform_add_pair(
                    platform, cluster,
                    rfn_platform_print(
                        platform, "black_link_in_group_%u_between_chassis_%u_and_%u_blade_%u_%u",
                        group, i, j, blade, platform->dragonfly_pairs++),
                    fly->chassis_links));
    return 0;
}

static int add_blue(struct rfn_platform *platform, const struct rfn_dragonfly *fly,
                    const struct rfn_cluster *cluster)
{
    const uint32_t routers = fly->chassis * fly->blades;
    for (uint32_t i = 0; i < fly->groups; i++)
        for (uint32_t j = i + 1; j < fly->groups; j++)
            RFN_TRY(rfn_platform_add_pair(
                platform, cluster,
                rfn_platform_print(platform,
                                   "blue_link_between_group_%u_and_%u_routers_%u_and_%u_%u", i, j,
                                   i * routers + j, j * routers + i, platform->dragonfly_pairs++),
                fly->group_links));
    return 0;
}

int rfn_dragonfly_links(struct rfn_platform *platform, struct rfn_regular *regular,
                        const struct rfn_cluster *cluster)
{
    struct rfn_dragonfly *fly = &regular->dragonfly;
    const uint32_t hosts = regular->hosts, routers = hosts / fly->nodes;
    fly->first_limiter = (uint32_t)platform->n_links;
    for (uint32_t i = 0; i < routers && regular->limiter; i++)
        RFN_TRY(rfn_platform_add_limiter(platform, cluster, 2 * hosts - 1 - i));
    regular->first_pair = (uint32_t)platform->n_links;
    for (uint32_t i = 0; i < hosts; i++)
        RFN_TRY(rfn_platform_add_pair(
            platform, cluster,
            rfn_platform_print(platform, "local_link_from_router_%u_to_node_%u_%u", i / fly->nodes,
                               i % fly->nodes, platform->dragonfly_pairs++),
            1));
    RFN_TRY(add_green(platform, fly, cluster));
    for (uint32_t i = 0; i < fly->groups; i++)
        RFN_TRY(add_black(platform, fly, cluster, i));
    return add_blue(platform, fly, cluster);
}

/* ---- routes ---- */

struct flight {
    struct rfn_platform *platform;
    const struct rfn_regular *regular;
    struct rfn_route *route;
    struct place at; /* router */
};

static int limit(const struct flight *flight, const struct place *router)
{
    const struct rfn_dragonfly *fly = &flight->regular->dragonfly;
    if (!flight->regular->limiter)
        return 0;
    return rfn_platform_append(flight->platform, flight->route,
                               fly->first_limiter + router_of(fly, router));
}

static int append_pair(const struct flight *flight, uint32_t pair, bool down)
{
    return rfn_platform_append(flight->platform, flight->route,
                               rfn_pair_link(flight->regular, pair, down));
}

static int take_green(const struct flight *flight, uint32_t blade)
{
    const struct rfn_dragonfly *fly = &flight->regular->dragonfly;
    const struct place *at = &flight->at;
    const uint32_t chassis = at->group * fly->chassis + at->chassis;
    RFN_TRY(limit(flight, at));
    return append_pair(flight,
                       fly->first_green + chassis * (uint32_t)n_pairs(fly->blades) +
                           pair_number(at->blade, blade, fly->blades),
                       blade < at->blade);
}

static int take_black(const struct flight *flight, uint32_t chassis)
{
    const struct rfn_dragonfly *fly = &flight->regular->dragonfly;
    const struct place *at = &flight->at;
    const uint32_t pair = at->group * (uint32_t)n_pairs(fly->chassis) +
                          pair_number(at->chassis, chassis, fly->chassis);
    RFN_TRY(limit(flight, at));
    return append_pair(flight, fly->first_black + pair * fly->blades + at->blade,
                       chassis < at->chassis);
}

/* To the router of the other group that a blue link leads to. */
static int change_group(struct flight *flight, uint32_t group)
{
    const struct rfn_dragonfly *fly = &flight->regular->dragonfly;
    const uint32_t own = flight->at.group;
    if (flight->at.blade != group) {
        RFN_TRY(take_green(flight, group));
        flight->at.blade = group;
    }
    if (flight->at.chassis) {
        RFN_TRY(take_black(flight, 0));
        flight->at.chassis = 0;
    }
    RFN_TRY(
        append_pair(flight, fly->first_blue + pair_number(own, group, fly->groups), group < own));
    RFN_TRY(limit(flight, &flight->at));
    flight->at = (struct place){.group = group, .chassis = 0, .blade = own};
    return 0;
}

/* SimGrid takes itself to be in the first chassis once it has changed the blade. */
static int fly_to(struct flight *flight, const struct place *to)
{
    if (flight->at.group != to->group)
        RFN_TRY(change_group(flight, to->group));
    if (flight->at.blade != to->blade) {
        RFN_TRY(take_green(flight, to->blade));
        flight->at.blade = to->blade;
        flight->at.chassis = 0;
    }
    return flight->at.chassis != to->chassis ? take_black(flight, to->chassis) : 0;
}

int rfn_dragonfly_route(struct rfn_platform *platform, const struct rfn_regular *regular,
                        uint32_t from, uint32_t to, struct rfn_route *route)
{
    const struct rfn_dragonfly *fly = &regular->dragonfly;
    const struct place target = place_of(fly, to);
    struct flight flight = {platform, regular, route, place_of(fly, from)};
    if (regular->limiter)
        RFN_TRY(rfn_platform_append(platform, route, rfn_host_limiter(regular, from)));
    RFN_TRY(append_pair(&flight, from, false));
    if (router_of(fly, &flight.at) != router_of(fly, &target))
        RFN_TRY(fly_to(&flight, &target));
    RFN_TRY(limit(&flight, &target));
    RFN_TRY(append_pair(&flight, to, true));
    return regular->limiter ? rfn_platform_append(platform, route, rfn_host_limiter(regular, to))
                            : 0;
}
