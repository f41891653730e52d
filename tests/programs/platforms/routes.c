/* Says what librefrain makes of a platform, in the words of simgrid_routes.cpp: hosts, links, and
 * the route of each pair of hosts. */
#include "refrain/platform.h"

#include <stdio.h>
#include <stdlib.h>

static int print_route(struct rfn_platform *platform, size_t from, size_t to,
                       struct rfn_route *route)
{
    printf("route %s %s", rfn_platform_host(platform, from)->name,
           rfn_platform_host(platform, to)->name);
    const int error = rfn_platform_route(platform, from, to, route);
    if (error == RFN_E_NOTFOUND) {
        puts(" none");
        return 0;
    }
    if (error < 0)
        return error;
    printf(" %.17g", route->latency);
    for (size_t i = 0; i < route->n; i++)
        printf(" %s", rfn_platform_link(platform, route->links[i])->name);
    puts("");
    return 0;
}

static int print_routes(struct rfn_platform *platform)
{
    const size_t hosts = rfn_platform_hosts(platform);
    struct rfn_route route = {0};
    int error = 0;
    for (size_t i = 0; i < hosts; i++)
        for (size_t j = 0; j < hosts && !error; j++)
            error = print_route(platform, i, j, &route);
    free(route.links);
    return error;
}

int main(int argc, char **argv)
{
    struct rfn_diag diag = {.file_offset = -1, .rank = -1};
    struct rfn_platform *platform;
    int error = argc == 2 ? rfn_platform_read(argv[1], &platform, &diag) : RFN_E_USAGE;
    if (error < 0) {
        fprintf(stderr, "%s\n", diag.text);
        return 1;
    }
    for (size_t i = 0; i < rfn_platform_hosts(platform); i++) {
        const struct rfn_host *host = rfn_platform_host(platform, i);
        printf("host %s %.17g %u\n", host->name, host->speed, host->cores);
    }
    for (size_t i = 0; i < rfn_platform_links(platform); i++) {
        const struct rfn_link *link = rfn_platform_link(platform, i);
        printf("link %s %.17g %.17g %s\n", link->name, link->bandwidth, link->latency,
               link->sharing == RFN_LINK_SHARED ? "shared" : "fatpipe");
    }
    error = print_routes(platform);
    rfn_platform_free(platform);
    return error < 0;
}
