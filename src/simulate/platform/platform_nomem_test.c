/* Platforms out of memory: of all allocations of reading, finding routes and placing ranks,
 * libexpat's among them, each fails once; it is told and nothing is left behind. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "support/fail_each.h"
#include "support/platform_bytes.h"

static const char text[] =
    "<platform version='4.1'><config><prop id='a' value='b'/></config>"
    "<zone id='z' routing='Floyd'>"
    "<zone id='d' routing='Dijkstra'><host id='h' speed='1f'/><host id='i' speed='1f'/>"
    "<link id='l' bandwidth='1Bps' latency='1s' sharing_policy='SPLITDUPLEX'/>"
    "<route src='h' dst='i'><link_ctn id='l' direction='UP'/></route></zone>"
    "<cluster id='c' prefix='c' suffix='' radical='0-2' speed='1f' bw='1Bps' lat='1s' "
    "limiter_link='1Bps' loopback_bw='1Bps'/>"
    "<cluster id='t' prefix='t' suffix='' radical='0-3' speed='1f' bw='1Bps' lat='1s' "
    "topology='TORUS' topo_parameters='2,2' loopback_bw='1Bps'/>"
    "<zoneRoute src='d' dst='c' gw_src='h' gw_dst='cc_router'><link_ctn id='l' direction='UP'/>"
    "</zoneRoute>"
    "<zoneRoute src='c' dst='t' gw_src='c0' gw_dst='t1'><link_ctn id='l' direction='UP'/>"
    "</zoneRoute></zone></platform>";

static int find_routes(struct rfn_platform *platform)
{
    struct rfn_route route = {0};
    int error = 0;
    const size_t hosts = rfn_platform_hosts(platform);
    for (size_t i = 0; i < hosts * hosts && !error; i++)
        error = rfn_platform_route(platform, i / hosts, i % hosts, &route);
    free(route.links);
    return error;
}

static int read_all(const void *unused)
{
    (void)unused;
    struct rfn_platform *platform;
    struct rfn_diag diag = {0};
    uint32_t places[9];
    int error = platform_of_bytes(text, sizeof text - 1, &platform, &diag);
    if (!error) {
        error = find_routes(platform);
        if (!error)
            error = rfn_platform_place(platform, NULL, 9, places, &diag);
        rfn_platform_free(platform);
    }
    assert_true(!error || diag.text[0]);
    return error;
}

static void test_read(void **state)
{
    (void)state;
#ifdef RFN_HAVE_EXPAT
    fail_each(30, read_all, NULL);
#else
    assert_int_equal(read_all(NULL), RFN_E_UNSUPPORTED);
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_read)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
