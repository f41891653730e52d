/* Any bytes as a platform: an error that is told, or hosts between which routes are found, whose
 * links are there and whose latency is their sum.
 *
 * Built with -DRFN_FUZZING, which makes the largest platform small. It starts from tests/fuzz. */
#include "support/platform_bytes.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_HOSTS = 24 }; /* between which routes are looked for */

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void expect_route(struct rfn_platform *platform, const struct rfn_route *route)
{
    double latency = 0;
    for (size_t i = 0; i < route->n; i++) {
        if (route->links[i] >= rfn_platform_links(platform))
            abort();
        const struct rfn_link *link = rfn_platform_link(platform, route->links[i]);
        if (!(link->bandwidth > 0 && link->latency >= 0))
            abort();
        latency += link->latency;
    }
    if (!route->n || fabs(latency - route->latency) > 1e-9 * latency)
        abort();
}

static void find_routes(struct rfn_platform *platform)
{
    struct rfn_route route = {0};
    const size_t hosts = rfn_platform_hosts(platform);
    const size_t n = hosts < MOST_HOSTS ? hosts : MOST_HOSTS;
    for (size_t i = 0; i < n * n; i++) {
        /* the first ones to the last ones */
        const int error = rfn_platform_route(platform, i / n, hosts - 1 - i % n, &route);
        if (!error)
            expect_route(platform, &route);
        else if (error != RFN_E_NOTFOUND && error != RFN_E_NOMEM)
            abort();
    }
    free(route.links);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct rfn_diag diag = {.file_offset = -1, .rank = -1};
    struct rfn_platform *platform;
    if (platform_of_bytes((const char *)bytes, size, &platform, &diag) < 0) {
        if (!diag.text[0])
            abort();
        return 0;
    }
    find_routes(platform);
    rfn_platform_free(platform);
    return 0;
}
