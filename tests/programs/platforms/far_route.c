/* Says how large a platform is, and how long the longest route from its first host. */
#include "refrain/platform.h"

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    struct rfn_diag diag = {.file_offset = -1, .rank = -1};
    struct rfn_platform *platform;
    struct rfn_route route = {0};
    size_t longest = 0, to = 0;
    if (argc != 2 || rfn_platform_read(argv[1], &platform, &diag) < 0)
        return 1;
    const size_t hosts = rfn_platform_hosts(platform);
    for (size_t i = 0; i < hosts; i++) {
        if (rfn_platform_route(platform, 0, i ? i : 1, &route) < 0)
            return 1;
        if (route.n > longest) {
            longest = route.n;
            to = i;
        }
    }
    printf("%zu hosts, %zu links, %zu of them from %s to %s\n", hosts, rfn_platform_links(platform),
           longest, rfn_platform_host(platform, 0)->name, rfn_platform_host(platform, to)->name);
    free(route.links);
    rfn_platform_free(platform);
    return 0;
}
