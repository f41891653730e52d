/* Platforms: values of attributes, routes whose lengths and latencies follow by arithmetic, what is
 * refused and how it is said, and places of ranks. That routes are SimGrid's link by link is tested
 * by tests/test_platforms.py. */
#define _POSIX_C_SOURCE 200809L /* mkstemp */
#include "simulate/platform/platform_internal.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/platform_bytes.h"

#define PLATFORM(inside) "<platform version='4.1'>\n" inside "\n</platform>\n"
#define CLUSTER(more) \
    "<cluster id='c' prefix='n' suffix='' radical='0-3' speed='2Gf' bw='1GBps' lat='1us' " more "/>"
#define FULL(inside) PLATFORM("<zone id='z' routing='Full'>\n" inside "\n</zone>")

static struct rfn_diag diag; /* of the platform that was read last */

static struct rfn_platform *read_text(const char *text)
{
    struct rfn_platform *platform = NULL;
    diag = (struct rfn_diag){.file_offset = -1, .rank = -1};
    const int error = platform_of_bytes(text, strlen(text), &platform, &diag);
    if (error < 0)
        fail_msg("%s", diag.text);
    return platform;
}

/* ---- values ---- */

static void test_units(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum rfn_unit unit;
        double value; /* < 0: none */
    } cases[] = {
        {"1f", RFN_UNIT_SPEED, 1},
        {"1.5Gf", RFN_UNIT_SPEED, 1.5e9},
        {"2megaflops", RFN_UNIT_SPEED, 2e6},
        {"7", RFN_UNIT_SPEED, 7},
        {"1Gif", RFN_UNIT_SPEED, -1},
        {"1Gflops", RFN_UNIT_SPEED, -1},
        {"3Bps", RFN_UNIT_BANDWIDTH, 3},
        {"8bps", RFN_UNIT_BANDWIDTH, 1},
        {"10Gbps", RFN_UNIT_BANDWIDTH, 1.25e9},
        {"1KiBps", RFN_UNIT_BANDWIDTH, 1024},
        {"1Mibps", RFN_UNIT_BANDWIDTH, 131072},
        {"1kBps", RFN_UNIT_BANDWIDTH, 1000},
        {"1KBps", RFN_UNIT_BANDWIDTH, -1},
        {"1EBps", RFN_UNIT_BANDWIDTH, 1e18},
        {"2ms", RFN_UNIT_TIME, 2e-3},
        {"2us", RFN_UNIT_TIME, 2e-6},
        {"2m", RFN_UNIT_TIME, 120},
        {"1w", RFN_UNIT_TIME, 604800},
        {"0", RFN_UNIT_TIME, 0},
        {"1ks", RFN_UNIT_TIME, -1},
        {"-1s", RFN_UNIT_TIME, -1},
        {"nan", RFN_UNIT_TIME, -1},
        {"inf", RFN_UNIT_TIME, -1},
        {"1e400s", RFN_UNIT_TIME, -1},
        {"s", RFN_UNIT_TIME, -1},
        {"1 s", RFN_UNIT_TIME, -1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double value = -1;
        const int error = rfn_unit_parse(cases[i].text, strlen(cases[i].text), cases[i].unit,
                                         &value);
        if (error != (cases[i].value < 0 ? RFN_E_CORRUPT : 0) ||
            (!error && fabs(value - cases[i].value) > 1e-15 * value))
            fail_msg("%s: %d, %g", cases[i].text, error, value);
    }
}

/* ---- routes ---- */

/* The route's links as words. */
static const char *words_of(struct rfn_platform *platform, const char *from, const char *to)
{
    static char words[512];
    struct rfn_route route = {0};
    size_t n = 0;
    words[0] = 0;
    const int error = rfn_platform_route(platform, (size_t)rfn_platform_host_named(platform, from),
                                         (size_t)rfn_platform_host_named(platform, to), &route);
    for (size_t i = 0; !error && i < route.n; i++)
        n += (size_t)snprintf(words + n, sizeof words - n, "%s%s", i ? " " : "",
                              rfn_platform_link(platform, route.links[i])->name);
    free(route.links);
    return error ? diag.text : words;
}

static void test_star(void **state)
{
    (void)state;
    struct rfn_platform *platform = read_text(PLATFORM(
        CLUSTER("core='4' bb_bw='3GBps' bb_lat='5us' bb_sharing_policy='FATPIPE' "
                "limiter_link='2GBps' loopback_bw='9GBps' loopback_lat='7ns' router_id='r'")));
    assert_int_equal(rfn_platform_hosts(platform), 4);
    assert_int_equal(rfn_platform_host(platform, 2)->cores, 4);
    assert_true(rfn_platform_host(platform, 2)->speed == 2e9);
    assert_int_equal(rfn_platform_host_named(platform, "n3"), 3);
    assert_int_equal(rfn_platform_host_named(platform, "r"), -1); /* a router */
    assert_int_equal(rfn_platform_host_named(platform, "n4"), -1);
    assert_int_equal(rfn_platform_links(platform), 1 + 4 * 4);
    assert_int_equal(rfn_platform_link(platform, 0)->sharing, RFN_LINK_FATPIPE);
    assert_string_equal(words_of(platform, "n0", "n2"),
                        "c_link_0_limiter c_link_0_UP c_backbone c_link_2_DOWN c_link_2_limiter");
    assert_string_equal(words_of(platform, "n1", "n1"), "c_link_1_loopback");
    struct rfn_route route = {0};
    assert_int_equal(rfn_platform_route(platform, 0, 3, &route), 0);
    assert_true(fabs(route.latency - 7e-6) < 1e-18);
    assert_int_equal(rfn_platform_route(platform, 3, 3, &route), 0);
    assert_true(fabs(route.latency - 7e-9) < 1e-21 && route.n == 1);
    assert_true(rfn_platform_link(platform, route.links[0])->bandwidth == 9e9);
    free(route.links);
    rfn_platform_free(platform);
}

static size_t route_length(struct rfn_platform *platform, size_t from, size_t to)
{
    struct rfn_route route = {0};
    assert_int_equal(rfn_platform_route(platform, from, to, &route), 0);
    const size_t n = route.n;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            assert_true(route.links[i] != route.links[j]);
    free(route.links);
    return n;
}

/* Steps in one dimension, the shorter way round. */
static size_t ring_distance(size_t a, size_t b, size_t size)
{
    const size_t apart = a < b ? b - a : a - b;
    return apart < size - apart ? apart : size - apart;
}

static void test_torus(void **state)
{
    (void)state;
    struct rfn_platform *platform = read_text(
        PLATFORM("<cluster id='c' prefix='n' suffix='' radical='0-59' speed='1f' "
                 "bw='1Bps' lat='1s' topology='TORUS' topo_parameters='3,4,5'/>"));
    assert_int_equal(rfn_platform_links(platform), 60 * 3 * 2);
    for (size_t i = 0; i < 60; i++)
        for (size_t j = 0; j < 60; j++)
            if (i != j)
                assert_int_equal(route_length(platform, i, j),
                                 ring_distance(i % 3, j % 3, 3) +
                                     ring_distance(i / 3 % 4, j / 3 % 4, 4) +
                                     ring_distance(i / 12, j / 12, 5));
    rfn_platform_free(platform);
}

static void test_fat_tree(void **state)
{
    (void)state;
    struct rfn_platform *platform = read_text(PLATFORM(
        "<cluster id='c' prefix='n' suffix='' radical='0-29' speed='1f' bw='1Bps' lat='1s' "
        "topology='FAT_TREE' topo_parameters='3;2,3,5;1,2,2;1,1,3'/>"));
    /* of each level nodes, parents, parallel links, and both directions */
    assert_int_equal(rfn_platform_links(platform), 2 * (30 * 1 + 15 * 2 + 2 * 5 * 2 * 3));
    for (size_t i = 0; i < 30; i++)
        for (size_t j = 0; j < 30; j++) {
            const size_t up = i / 6 != j / 6 ? 3 : i / 2 != j / 2 ? 2 : 1;
            assert_int_equal(route_length(platform, i, j), 2 * up);
        }
    rfn_platform_free(platform);
}

static void test_dragonfly(void **state)
{
    (void)state;
    struct rfn_platform *platform = read_text(PLATFORM(
        "<cluster id='c' prefix='n' suffix='' radical='0-35' speed='1f' bw='1Bps' lat='1s' "
        "topology='DRAGONFLY' topo_parameters='3,4;2,5;3,6;2'/>"));
    assert_int_equal(rfn_platform_links(platform), 2 * (36 + 3 * 2 * 3 + 3 * 1 * 3 + 3));
    assert_int_equal(route_length(platform, 0, 1), 2);                  /* on one blade */
    assert_int_equal(route_length(platform, 0, 2), 3);                  /* another blade */
    assert_int_equal(route_length(platform, 0, 6), 3);                  /* another chassis */
    assert_int_equal(route_length(platform, 0, 8), 4);                  /* both */
    assert_int_equal(route_length(platform, 2, 12), 3);                 /* from the blade to it */
    assert_int_equal(route_length(platform, 6, 12 + 6 + 4), 2 + 3 + 2); /* the longest */
    struct rfn_route route = {0};
    assert_int_equal(rfn_platform_route(platform, 2, 12, &route), 0);
    assert_true(rfn_platform_link(platform, route.links[1])->bandwidth == 4);
    free(route.links);
    rfn_platform_free(platform);
}

static void test_listed_routes(void **state)
{
    (void)state;
    struct rfn_platform *platform = read_text(
        FULL("<host id='a' speed='1Gf'/><host id='b' speed='1f,3f, 5f' pstate='2' core='2'/>"
             "<host id='d' speed='1f'/>"
             "<link id='l' bandwidth='1Bps' latency='2s' sharing_policy='SPLITDUPLEX'/>"
             "<link id='m' bandwidth='1Bps' latency='3s'/>"
             "<route src='a' dst='b'><link_ctn id='l' direction='UP'/><link_ctn id='m'/></route>"
             "<route src='b' dst='d' symmetrical='NO'><link_ctn id='l_DOWN'/></route>"));
    assert_true(rfn_platform_host(platform, 1)->speed == 5);
    assert_string_equal(words_of(platform, "a", "b"), "l_UP m");
    assert_string_equal(words_of(platform, "b", "a"), "m l_DOWN");
    assert_string_equal(words_of(platform, "b", "d"), "l_DOWN");
    assert_string_equal(words_of(platform, "a", "a"), "__loopback__");
    assert_string_equal(words_of(platform, "d", "b"),
                        "p.xml: there is no route from host d to host b");
    rfn_platform_free(platform);
}

/* Floyd's and Dijkstra's ways have the same lengths. */
static void test_shortest(void **state)
{
    (void)state;
    enum { N = 24 };
    static char text[1 << 14];
    struct rfn_platform *platforms[2];
    for (int kind = 0; kind < 2; kind++) {
        uint32_t dice = 7;
        size_t n = (size_t)sprintf(text, "<platform version='4'><zone id='z' routing='%s'>",
                                   kind ? "Dijkstra" : "Floyd");
        for (int i = 0; i < N; i++)
            n += (size_t)sprintf(text + n,
                                 "<host id='h%d' speed='1f'/>"
                                 "<link id='l%d' bandwidth='1Bps' latency='1s'/>",
                                 i, i);
        for (int i = 1; i < N; i++)
            for (int twice = 0; twice < 2 - (i == 1); twice++) {
                dice = dice * 1664525 + 1013904223;
                const int to = twice ? i / 2 : i - 1;
                n += (size_t)sprintf(text + n, "<route src='h%d' dst='h%d'>", i, to);
                for (uint32_t link = 0; link <= dice >> 30; link++)
                    n += (size_t)sprintf(text + n, "<link_ctn id='l%u'/>", (dice >> 8 & 0xff) % N);
                n += (size_t)sprintf(text + n, "</route>");
                if (i / 2 == i - 1)
                    break;
            }
        sprintf(text + n, "</zone></platform>");
        platforms[kind] = read_text(text);
    }
    struct rfn_route route = {0};
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++) {
            assert_int_equal(rfn_platform_route(platforms[0], i, j, &route), 0);
            const size_t length = route.n;
            assert_int_equal(rfn_platform_route(platforms[1], i, j, &route), 0);
            assert_int_equal(route.n, length);
            assert_true(route.latency == (i == j ? 0 : (double)length));
        }
    free(route.links);
    rfn_platform_free(platforms[0]);
    rfn_platform_free(platforms[1]);
}

static void test_zones(void **state)
{
    (void)state;
    struct rfn_platform *platform = read_text(
        FULL("<cluster id='a' prefix='a' suffix='' radical='0-1' speed='1f' bw='1Bps' lat='1s'/>"
             "<cluster id='b' prefix='b' suffix='' radical='0-1' speed='1f' bw='1Bps' lat='1s'/>"
             "<link id='l' bandwidth='1Bps' latency='9s' sharing_policy='FULLDUPLEX'/>"
             "<zoneRoute src='a' dst='b' gw_src='aa_router' gw_dst='b1'>"
             "<link_ctn id='l' direction='DOWN'/></zoneRoute>"));
    assert_string_equal(words_of(platform, "a1", "b0"),
                        "a_link_1_UP l_DOWN b_link_1_UP b_link_0_DOWN");
    assert_string_equal(words_of(platform, "b1", "a0"), "l_UP a_link_0_DOWN");
    rfn_platform_free(platform);
}

static void test_no_loopback(void **state)
{
    (void)state;
    struct rfn_platform *platform = read_text(
        PLATFORM(CLUSTER("topology='TORUS' topo_parameters='4'")));
    assert_non_null(strstr(words_of(platform, "n0", "n0"), "loopback_bw"));
    rfn_platform_free(platform);
}

/* ---- properties ---- */

static void test_config(void **state)
{
    (void)state;
    static const char *const all[] = {"smpi/os", "network/loopback-lat", NULL};
    struct rfn_platform *platform = read_text(
        PLATFORM("<config id='x'><prop id='smpi/os' value='1:2:3'/>\n"
                 "<prop id='network/loopback-lat' value='0.5'/></config>"
                 "<zone id='z' routing='Full'><prop id='any' value=''/><host id='a' speed='1f'>"
                 "<prop id='watts' value='7'/></host></zone>"));
    assert_string_equal(rfn_platform_config(platform, "smpi/os"), "1:2:3");
    assert_null(rfn_platform_config(platform, "any"));
    assert_true(rfn_platform_link(platform, 0)->latency == 0.5);
    assert_int_equal(rfn_platform_config_check(platform, all, &diag), 0);
    assert_int_equal(rfn_platform_config_check(platform, all + 1, &diag), RFN_E_UNSUPPORTED);
    assert_string_equal(diag.text,
                        "p.xml:2: <prop>: the property \"smpi/os\" of <config> is not known");
    rfn_platform_free(platform);
}

/* ---- what is refused ---- */

#define HOST  "<host id='a' speed='1f'/>"
#define HOSTS HOST "<host id='b' speed='1f'/><link id='l' bandwidth='1Bps' latency='0'/>\n"
#define ZONES                                                                                   \
    "<zone id='x' routing='Full'><host id='a' speed='1f'/></zone>"                              \
    "<zone id='y' routing='Full'><zone id='yy' routing='Full'><host id='b' speed='1f'/></zone>" \
    "</zone><link id='l' bandwidth='1Bps' latency='0'/>\n"

static const struct refusal {
    const char *text;
    int error;
    const char *told; /* part of what is said */
} refusals[] = {
    {"", RFN_E_CORRUPT, "p.xml:1: not well-formed XML: no element found"},
    {"\n<platform version='4.1'>\n<zone", RFN_E_CORRUPT, "p.xml:3: not well-formed XML"},
    {PLATFORM("</zone>"), RFN_E_CORRUPT, "p.xml:2: not well-formed XML: mismatched tag"},
    {PLATFORM("\xff"), RFN_E_CORRUPT, "p.xml:2: not well-formed XML"},
    {"<zone id='z' routing='Full'/>", RFN_E_CORRUPT, "p.xml:1: <zone>: it cannot be outside of"},
    {"<platform version='3'/>", RFN_E_VERSION, "p.xml:1: <platform>: version=\"3\""},
    {"<platform/>", RFN_E_VERSION, "version=\"0.0\""},
    {"<platform version='5'/>", RFN_E_VERSION, "simgrid_update_xml"},
    {PLATFORM(""), RFN_E_CORRUPT, "no host"},
    {PLATFORM("text"), RFN_E_CORRUPT, "p.xml:2: text \"text\""},
    {"<!DOCTYPE p [<!ENTITY e 'x'>]>\n<platform version='4.1'>&e;</platform>", RFN_E_UNSUPPORTED,
     "p.xml:1: entities (e) are not supported"},
    {"<!DOCTYPE p SYSTEM 'x.dtd'>\n<platform version='4.1'>&e;</platform>", RFN_E_UNSUPPORTED,
     "p.xml:2: entities (e) are not supported"},
    {PLATFORM("<castle id='c'/>"), RFN_E_UNSUPPORTED,
     "p.xml:2: <castle>: such an element is not known in <platform>; what is known here: <config>, "
     "<zone>, <cluster>"},
    {PLATFORM("<host id='a' speed='1f'/>"), RFN_E_CORRUPT,
     "p.xml:2: <host>: it cannot be in <platform>"},
    {FULL("<bypassRoute src='a' dst='b'/>"), RFN_E_UNSUPPORTED, "p.xml:3: <bypassRoute>"},
    {FULL("<host id='a' speed='1f' speed_file='x'/>"), RFN_E_UNSUPPORTED,
     "p.xml:3: <host>: its attribute speed_file=\"x\" is not known; known are id, speed, core, "
     "pstate"},
    {FULL("<host id='a'/>"), RFN_E_CORRUPT, "p.xml:3: <host>: it has no attribute speed"},
    {FULL("<host id='' speed='1f'/>"), RFN_E_CORRUPT, "its attribute id is empty"},
    {FULL("<host id='a' speed='0f'/>"), RFN_E_CORRUPT, "speed=\"0f\""},
    {FULL("<host id='a' speed='fast'/>"), RFN_E_CORRUPT, "speed=\"fast\": no number above 0"},
    {FULL("<host id='a' speed='1f' pstate='1'/>"), RFN_E_CORRUPT, "has no speed for pstate=\"1\""},
    {FULL("<host id='a' speed='1f' core='0'/>"), RFN_E_CORRUPT, "core=\"0\""},
    {FULL("<host id='a' speed='1f' core='1.5'/>"), RFN_E_CORRUPT, "core=\"1.5\""},
    {FULL(HOST "\n" HOST), RFN_E_CORRUPT,
     "p.xml:4: <host>: there is another host, router or zone \"a\""},
    {FULL("<router id='z'/>"), RFN_E_CORRUPT, "there is another host, router or zone \"z\""},
    {FULL("<link id='l' bandwidth='1Bps' latency='0' sharing_policy='SPLITDUPLEX'/>\n"
          "<link id='l_UP' bandwidth='1Bps' latency='0'/>"),
     RFN_E_CORRUPT, "p.xml:4: <link>: there is another link \"l_UP\""},
    {FULL("<link id='l' bandwidth='0' latency='0'/>"), RFN_E_CORRUPT, "no bandwidth"},
    {FULL("<link id='l' bandwidth='1Bps' latency='1Bps'/>"), RFN_E_CORRUPT,
     "latency=\"1Bps\": no number from 0 on with one of the units s, ms"},
    {FULL("<link id='l' bandwidth='1Bps' latency='0' sharing_policy='WIFI'/>"), RFN_E_UNSUPPORTED,
     "sharing_policy=\"WIFI\" is not known"},
    {PLATFORM("<zone id='z' routing='Vivaldi'/>"), RFN_E_UNSUPPORTED,
     "p.xml:2: <zone>: routing=\"Vivaldi\" is not known; known are Full"},
    {FULL(HOSTS "<route src='a' dst='c'><link_ctn id='l'/></route>"), RFN_E_CORRUPT,
     "p.xml:4: <route>: dst=\"c\": there is no such host"},
    {FULL(HOSTS "<route src='a' dst='b'><link_ctn id='m'/></route>"), RFN_E_CORRUPT,
     "p.xml:4: <link_ctn>: there is no link \"m\""},
    {FULL(HOSTS "<route src='a' dst='b'><link_ctn id='l' direction='UP'/></route>"), RFN_E_CORRUPT,
     "link \"l\" is not SPLITDUPLEX"},
    {FULL(HOSTS "<route src='a' dst='b'/>"), RFN_E_CORRUPT, "no link"},
    {FULL(HOSTS "<route src='a' dst='b'><link_ctn id='l'/></route>\n"
                "<route src='b' dst='a'><link_ctn id='l'/></route>"),
     RFN_E_CORRUPT, "p.xml:5: <route>: there is this route already"},
    {FULL(HOSTS "<route src='a' dst='b' symmetrical='maybe'/>"), RFN_E_CORRUPT,
     "symmetrical=\"maybe\""},
    {FULL(ZONES "<route src='x' dst='y'><link_ctn id='l'/></route>"), RFN_E_CORRUPT,
     "src=\"x\" is a zone; use <zoneRoute>"},
    {FULL(ZONES "<zoneRoute src='x' dst='x' gw_src='a' gw_dst='a'><link_ctn id='l'/></zoneRoute>"),
     RFN_E_CORRUPT, "p.xml:4: <zoneRoute>: it leads from zone \"x\" to the same zone"},
    {FULL(ZONES "<zoneRoute src='x' dst='z' gw_src='a' gw_dst='a'><link_ctn id='l'/></zoneRoute>"),
     RFN_E_CORRUPT, "dst=\"z\": it is in zone \"\", not in this one, \"z\""},
    {FULL(ZONES "<zoneRoute src='x' dst='yy' gw_src='a' gw_dst='b'><link_ctn id='l'/></zoneRoute>"),
     RFN_E_CORRUPT, "dst=\"yy\": it is in zone \"y\", not in this one, \"z\""},
    {FULL(ZONES "<zoneRoute src='x' dst='y' gw_src='a' gw_dst='a'><link_ctn id='l'/></zoneRoute>"),
     RFN_E_CORRUPT, "gw_dst=\"a\": it is in zone \"x\", not in \"y\""},
    {FULL(ZONES "<zoneRoute src='x' dst='y' gw_src='a' gw_dst='yy'><link_ctn id='l'/></zoneRoute>"),
     RFN_E_CORRUPT, "gw_dst=\"yy\" is a zone"},
    {FULL(ZONES HOST), RFN_E_CORRUPT, "zone \"z\" has zones"},
    {FULL(HOST "<zone id='x' routing='Full'/>"), RFN_E_CORRUPT, "zone \"z\" has hosts"},
    {PLATFORM(CLUSTER("") "\n" CLUSTER("")), RFN_E_CORRUPT,
     "p.xml:3: <cluster>: there is a zone already, \"c\""},
    {PLATFORM(CLUSTER("sharing_policy='FATPIPE'")), RFN_E_UNSUPPORTED, "FATPIPE"},
    {PLATFORM(CLUSTER("bb_lat='1s'")), RFN_E_CORRUPT, "it has bb_lat, but no bb_bw"},
    {PLATFORM(CLUSTER("loopback_lat='1s'")), RFN_E_CORRUPT, "no loopback_bw"},
    {PLATFORM(CLUSTER("topology='RING'")), RFN_E_UNSUPPORTED, "known are FLAT, TORUS"},
    {PLATFORM(CLUSTER("topology='TORUS' topo_parameters='2,0'")), RFN_E_CORRUPT, "\"0\""},
    {PLATFORM(CLUSTER("topology='TORUS' topo_parameters='2,3'")), RFN_E_CORRUPT,
     "radical=\"0-3\" has 4 hosts, topo_parameters=\"2,3\" 6"},
    {PLATFORM(CLUSTER("topology='TORUS' topo_parameters='3'")), RFN_E_CORRUPT,
     "radical=\"0-3\" has more hosts than the 3"},
    {PLATFORM(CLUSTER("topology='TORUS' topo_parameters='4' router_id='r'")), RFN_E_UNSUPPORTED,
     "neither a backbone nor a router"},
    {PLATFORM(CLUSTER("topology='TORUS' topo_parameters='4000000,4000000'")), RFN_E_UNSUPPORTED,
     "a torus of more than"},
    {PLATFORM(CLUSTER("topology='FAT_TREE' topo_parameters='2;2,2;1,2;1'")), RFN_E_CORRUPT,
     "such as 2;4,4;1,2;1,2"},
    {PLATFORM(CLUSTER("topology='FAT_TREE' topo_parameters='1;4;8000000;8000000'")),
     RFN_E_UNSUPPORTED, "a fat tree of more than"},
    {PLATFORM(CLUSTER("topology='DRAGONFLY' topo_parameters='2,1;1,1;1,1;2'")), RFN_E_CORRUPT,
     "2 groups, but 1 blades"},
    {PLATFORM("<cluster id='c' prefix='' suffix='' radical='0-2000000000' speed='1f' bw='1Bps' "
              "lat='0'/>"),
     RFN_E_UNSUPPORTED, "more than"},
    {PLATFORM("<cluster id='c' prefix='' suffix='' radical='3-1' speed='1f' bw='1Bps' lat='0'/>"),
     RFN_E_CORRUPT, "radical=\"3-1\""},
    {FULL("<cabinet id='c' prefix='' suffix='' radical='1' speed='1f' bw='1Bps' lat='0'/>"),
     RFN_E_CORRUPT, "routing=\"Cluster\""},
    {FULL(HOST) "<config/>", RFN_E_CORRUPT, "junk after document element"},
    {PLATFORM(CLUSTER("") "<config/>"), RFN_E_CORRUPT, "<config>: it must come before all zones"},
    {PLATFORM("<config><prop id='a' value=''/><prop id='a' value=''/></config>"), RFN_E_CORRUPT,
     "there is another property \"a\""},
};

static void test_refusals(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        const struct refusal *refusal = &refusals[i];
        struct rfn_platform *platform = NULL;
        diag = (struct rfn_diag){.file_offset = -1, .rank = -1};
        const int error = platform_of_bytes(refusal->text, strlen(refusal->text), &platform, &diag);
        assert_null(platform);
        if (error != refusal->error || !strstr(diag.text, refusal->told))
            fail_msg("%s\n  gives %d, %s", refusal->text, error, diag.text);
    }
}

static void test_deep(void **state)
{
    (void)state;
    char text[1 << 13];
    size_t n = (size_t)sprintf(text, "<platform version='4.1'>");
    for (int i = 0; i < RFN_MOST_DEPTH; i++)
        n += (size_t)sprintf(text + n, "<zone id='z%d' routing='Full'>", i);
    struct rfn_platform *platform = NULL;
    assert_int_equal(platform_of_bytes(text, n, &platform, &diag), RFN_E_UNSUPPORTED);
    assert_non_null(strstr(diag.text, "elements in each other"));
}

static void test_no_file(void **state)
{
    (void)state;
    struct rfn_platform *platform = NULL;
    assert_int_equal(rfn_platform_read("/nowhere/p.xml", &platform, &diag), RFN_E_IO);
    assert_non_null(strstr(diag.text, "cannot open platform /nowhere/p.xml"));
    assert_int_equal(rfn_platform_read("/", &platform, &diag), RFN_E_IO);
    assert_non_null(strstr(diag.text, "cannot read /"));
}

/* ---- places of ranks ---- */

static int place(const struct rfn_platform *platform, const char *text, uint32_t ranks,
                 uint32_t *hosts)
{
    char file[] = "/tmp/platform_testXXXXXX";
    const int fd = mkstemp(file);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    assert_int_equal(close(fd), 0);
    const int error = rfn_platform_place(platform, file, ranks, hosts, &diag);
    unlink(file);
    return error;
}

static void test_places(void **state)
{
    (void)state;
    static const struct {
        const char *text; /* NULL: no file */
        uint32_t hosts[7];
        int error;
        const char *told;
    } cases[] = {
        {NULL, {0, 0, 1, 1, 2, 2, 3}, 0, NULL},
        {"n3\nn1\n", {3, 1, 3, 1, 3, 1, 3}, 0, NULL},
        {"# two hosts\nn2:3 \n\n  n0 # one slot", {2, 2, 2, 0, 2, 2, 2}, 0, NULL},
        {"n1 slots=2\nn1:1\r\nn0\n", {1, 1, 1, 0, 1, 1, 1}, 0, NULL},
        {"rank 6=n3\nrank 0=n1 slot=0:1\nrank 1=n1\nrank 2=n1\nrank 3=n1\nrank 4=n0\nrank 5=n0",
         {1, 1, 1, 1, 0, 0, 3},
         0,
         NULL},
        {"", {0}, RFN_E_CORRUPT, "names no host"},
        {"n0\nn9\n", {0}, RFN_E_NOTFOUND, ":2: there is no host \"n9\" in p.xml"},
        {"n0:0\n", {0}, RFN_E_CORRUPT, "no number of slots"},
        {"n0:2x\n", {0}, RFN_E_CORRUPT, "no number of slots"},
        {"n0 n1\n", {0}, RFN_E_CORRUPT, "more than a host"},
        {"rank 0=n0\n", {0}, RFN_E_CORRUPT, "rank 1 has no host"},
        {"rank 7=n0\n", {0}, RFN_E_CORRUPT, ":1: rank 7, but the run has 7 ranks"},
        {"rank 0=n0\nrank 0=n1\n", {0}, RFN_E_CORRUPT, ":2: \"rank 0=n1\": this rank has a host"},
        {"rank 0=n9\n", {0}, RFN_E_NOTFOUND, "no host \"n9\""},
        {"rank x=n0\n", {0}, RFN_E_CORRUPT, "no number of a rank"},
        {"rank 0\n", {0}, RFN_E_CORRUPT, "no ="},
        {"rank 0=n0 core=1\n", {0}, RFN_E_CORRUPT, "no slot="},
        {"rank 0=n0\nn1\n", {0}, RFN_E_CORRUPT, "not a line of a rankfile"},
        {"n1\nrank 0=n0\n", {0}, RFN_E_CORRUPT, "not a line of a hostfile"},
    };
    struct rfn_platform *platform = read_text(PLATFORM(CLUSTER("core='2'")));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t hosts[7];
        const int error = cases[i].text ? place(platform, cases[i].text, 7, hosts)
                                        : rfn_platform_place(platform, NULL, 7, hosts, &diag);
        if (error != cases[i].error || (error && !strstr(diag.text, cases[i].told)))
            fail_msg("%s gives %d, %s", cases[i].text, error, diag.text);
        if (!error)
            assert_memory_equal(hosts, cases[i].hosts, sizeof hosts);
    }
    rfn_platform_free(platform);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_units),       cmocka_unit_test(test_star),
        cmocka_unit_test(test_torus),       cmocka_unit_test(test_fat_tree),
        cmocka_unit_test(test_dragonfly),   cmocka_unit_test(test_listed_routes),
        cmocka_unit_test(test_shortest),    cmocka_unit_test(test_zones),
        cmocka_unit_test(test_no_loopback), cmocka_unit_test(test_config),
        cmocka_unit_test(test_refusals),    cmocka_unit_test(test_deep),
        cmocka_unit_test(test_no_file),     cmocka_unit_test(test_places),
    };
#ifndef RFN_HAVE_EXPAT
    struct rfn_platform *platform = NULL;
    const int error = platform_of_bytes("", 0, &platform, &diag);
    return error != RFN_E_UNSUPPORTED || !strstr(diag.text, "libexpat1-dev");
#endif
    return cmocka_run_group_tests(tests, NULL, NULL);
}
