/* platform_torus.c - tori of any number of dimensions.
 *
 * Each host has a link to the next one in each dimension; the last one's leads to the first.
 * Messages go along one dimension after the other, each the shorter way.
 */
#include "simulate/platform/platform_internal.h"

int rfn_torus_shape(struct rfn_platform *platform, struct rfn_regular *regular, const char *shape)
{
    struct rfn_torus *torus = &regular->torus;
    RFN_TRY(rfn_platform_numbers(platform, &shape, torus->sizes, RFN_MOST_DIMENSIONS, &torus->n));
    if (*shape)
        return rfn_platform_fail(platform, RFN_E_CORRUPT,
                                 "topo_parameters of a TORUS are its sizes alone, such as 4,4,2");
    uint64_t hosts = 1;
    for (uint32_t i = 0; i < torus->n && hosts <= RFN_MOST_HOSTS; i++)
        hosts *= torus->sizes[i];
    if (hosts > RFN_MOST_HOSTS)
        return rfn_platform_fail(platform, RFN_E_UNSUPPORTED, "a torus of more than %d hosts",
                                 RFN_MOST_HOSTS);
    regular->hosts = (uint32_t)hosts;
    regular->links_per_host += torus->n * (1 + regular->split);
    return 0;
}

/* The next host in a dimension; stride: of hosts from one to the next in it. */
static uint32_t next_host(uint32_t host, uint32_t size, uint32_t stride)
{
    return host / stride % size == size - 1 ? host - (size - 1) * stride : host + stride;
}

static uint32_t host_before(uint32_t host, uint32_t size, uint32_t stride)
{
    return host / stride % size == 0 ? host + (size - 1) * stride : host - stride;
}

int rfn_torus_host_links(struct rfn_platform *platform, const struct rfn_regular *regular,
                         const struct rfn_cluster *cluster, uint32_t host)
{
    uint32_t stride = 1;
    for (uint32_t i = 0; i < regular->torus.n; i++) {
        const uint32_t size = regular->torus.sizes[i];
        RFN_TRY(
            rfn_platform_add_pair(platform, cluster,
                                  rfn_platform_print(platform, "%s_link_from_%u_to_%u", cluster->id,
                                                     host, next_host(host, size, stride)),
                                  1));
        stride *= size;
    }
    return 0;
}

/* The host's link to the next one in a dimension, or that link the other way. */
static uint32_t host_link(const struct rfn_regular *regular, uint32_t host, uint32_t dimension,
                          bool down)
{
    const uint32_t first = rfn_host_limiter(regular, host) + regular->limiter;
    return first + (regular->split ? 2 * dimension + down : dimension);
}

/* Whether a message goes up in a dimension of this size, from place to place. */
static bool goes_up(uint32_t from, uint32_t to, uint32_t size)
{
    return (to > from && to <= from + size / 2) ||
           (from > size / 2 && (from + size / 2) % size >= to);
}

/* One step from `host` in the dimension; returns the host that it leads to. */
static int take_step(struct rfn_platform *platform, const struct rfn_regular *regular, bool up,
                     uint32_t dimension, uint32_t stride, uint32_t *host, struct rfn_route *route)
{
    const uint32_t size = regular->torus.sizes[dimension];
    const uint32_t next = up ? next_host(*host, size, stride) : host_before(*host, size, stride);
    if (regular->limiter)
        RFN_TRY(rfn_platform_append(platform, route, rfn_host_limiter(regular, *host)));
    RFN_TRY(rfn_platform_append(platform, route,
                                host_link(regular, up ? *host : next, dimension, !up)));
    *host = next;
    return 0;
}

int rfn_torus_route(struct rfn_platform *platform, const struct rfn_regular *regular, uint32_t from,
                    uint32_t to, struct rfn_route *route)
{
    uint32_t host = from, stride = 1;
    for (uint32_t i = 0; i < regular->torus.n; i++) {
        const uint32_t size = regular->torus.sizes[i];
        const bool up = goes_up(from / stride % size, to / stride % size, size);
        while (host / stride % size != to / stride % size)
            RFN_TRY(take_step(platform, regular, up, i, stride, &host, route));
        stride *= size;
    }
    return regular->limiter ? rfn_platform_append(platform, route, rfn_host_limiter(regular, to))
                            : 0;
}
