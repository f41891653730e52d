"""Platforms: all hosts, links and routes are as SimGrid itself says (programs/platforms/simgrid_routes.cpp), of
written platforms and of random ones; bad ones are refused with the line; large ones need little."""
import os
import random

import harness

FOLDER = os.path.join(harness.PROGRAMS, "platforms")
HEAD = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
"""
RANDOM = 30  # platforms
MOST_HOSTS = 40


def ours(bench):
    return bench.compiled("routes", ["cc", "-std=c11", "-O1", "-I", harness.INCLUDE, os.path.join(FOLDER, "routes.c"),
                                     os.path.join(bench.build, "librefrain.a"), "-lexpat", "-lm"])


def simgrids(bench):
    return bench.compiled("simgrid_routes", ["c++", "-std=c++17", "-O1", os.path.join(FOLDER, "simgrid_routes.cpp"),
                                             "-lsimgrid"])


def said(bench, program, platform):
    """Facts of a platform by their names, from what a program prints; numbers as numbers."""
    facts = {}
    for line in bench.run([program, platform], check=True).out.splitlines():
        kind, *words = line.split(" ")
        if kind not in ("host", "link", "route"):
            continue  # SimGrid's own
        names = 2 if kind == "route" else 1
        facts[(kind, *words[:names])] = [number(word) for word in words[names:]]
    return facts


def number(word):
    try:
        return float(f"{float(word):.12g}")  # sums of latencies in another order
    except ValueError:
        return word


def compare_routes(bench, what, platform):
    found, expected = (said(bench, program(bench), platform) for program in (ours, simgrids))
    loopback = ("link", "__loopback__")  # SimGrid has it also where no route is over it
    if loopback not in found:
        expected.pop(loopback)
    harness.compare(what, found, expected)
    hosts = sum(kind == "host" for kind, *_ in found)
    harness.compare(f"{what}: routes", sum(kind == "route" for kind, *_ in found), hosts * hosts)
    return hosts


def test_written_platforms(bench):
    names = sorted(name for name in os.listdir(FOLDER) if name.endswith(".xml"))
    harness.compare("enough platforms", len(names) >= 12, True)
    for name in names:
        compare_routes(bench, name, os.path.join(FOLDER, name))


# ---- random platforms ----

def element(name, **attributes):
    return f"<{name} " + " ".join(f'{key}="{value}"' for key, value in attributes.items())


def product(sizes):
    result = 1
    for size in sizes:
        result *= size
    return result


def sizes_of(dice, n, most):
    """n random sizes, whose product is at most `most`; only one is 1, as SimGrid has links of one name for two."""
    while True:
        sizes = [dice.randint(1, 5) for _ in range(n)]
        if product(sizes) <= most and sizes.count(1) < 2:
            return sizes


def listed(numbers):
    return ",".join(map(str, numbers))


def fat_tree(dice):
    levels = dice.randint(1, 3)
    children = sizes_of(dice, levels, MOST_HOSTS)
    parents, ports = ([dice.randint(1, 3) for _ in range(levels)] for _ in range(2))
    return ";".join([str(levels), *map(listed, (children, parents, ports))]), product(children)


def dragonfly(dice):
    while True:
        groups, chassis, blades, nodes = (dice.randint(1, 4) for _ in range(4))
        hosts = groups * chassis * blades * nodes
        if hosts <= MOST_HOSTS and (groups == 1 or groups <= blades):
            links = [dice.randint(1, 4) for _ in range(3)]
            return f"{groups},{links[0]};{chassis},{links[1]};{blades},{links[2]};{nodes}", hosts


def torus(dice):
    sizes = sizes_of(dice, dice.randint(1, 4), MOST_HOSTS)
    return listed(sizes), product(sizes)


TOPOLOGIES = {"TORUS": torus, "FAT_TREE": fat_tree, "DRAGONFLY": dragonfly}


def radical(dice, hosts):
    """So many numbers, in two ranges."""
    first, cut = dice.randint(0, 20), dice.randint(1, hosts)
    ranges = [(first, first + cut - 1), (first + cut + 5, first + hosts + 4)]
    return ",".join(f"{low}-{high}" if low < high else str(low) for low, high in ranges if low <= high)


def cluster(dice, name):
    """A cluster, and its host or router that is a gateway."""
    topology = dice.choice(["FLAT", *TOPOLOGIES])
    shape, hosts = TOPOLOGIES[topology](dice) if topology != "FLAT" else ("", dice.randint(1, 12))
    numbers = radical(dice, hosts)
    attributes = {"id": name, "prefix": f"{name}-", "suffix": dice.choice(["", ".x"]), "radical": numbers,
                  "speed": "1Gf", "core": dice.randint(1, 4), "bw": dice.choice(["1Gbps", "125MBps", "2MiBps"]),
                  "lat": dice.choice(["50us", "0.3ms", "7ns"]), "topology": topology, "topo_parameters": shape,
                  "sharing_policy": dice.choice(["SHARED", "SPLITDUPLEX"])}
    if dice.random() < 0.5:
        attributes |= {"loopback_bw": "1GBps", "loopback_lat": "3us"}
    # SimGrid numbers limiters of switches and of hosts so that many switches would have the name of a host's.
    if dice.random() < 0.5 and topology != "FAT_TREE":
        attributes["limiter_link"] = "3GBps"
    if dice.random() < 0.5 and topology == "FLAT":
        attributes |= {"bb_bw": "2GBps", "bb_lat": "9us", "bb_sharing_policy": dice.choice(["SHARED", "FATPIPE"])}
    gateway = f"{name}-{name}_router" if topology == "FLAT" else f"{name}-{numbers.split(',')[0].split('-')[0]}"
    return element("cluster", **attributes) + "/>", [gateway + attributes["suffix"]]


def links(dice, prefix):
    """Some links, and words for routes over some of them."""
    shared = [dice.random() < 0.5 for _ in range(dice.randint(2, 8))]
    text = [element("link", id=f"{prefix}{i}", bandwidth="1GBps", latency=f"{i + 1}us",
                    sharing_policy=dice.choice(["SHARED", "FATPIPE"]) if one else "SPLITDUPLEX") + "/>"
            for i, one in enumerate(shared)]

    def route():
        over = [dice.randrange(len(shared)) for _ in range(dice.randint(1, 3))]
        return "".join(f'<link_ctn id="{prefix}{i}"' + ("" if shared[i] else dice.choice([
            ' direction="UP"', ' direction="DOWN"'])) + "/>" for i in over)
    return text, route


def hosts_zone(dice, name):
    """A zone of hosts and routers whose routes make a connected graph."""
    routing = dice.choice(["Full", "Floyd", "Dijkstra"])
    points = [f"{name}_{i}" for i in range(dice.randint(2, 8))]
    text = [element("zone", id=name, routing=routing) + ">"]
    text += [element("host", id=point, speed="2Gf") + "/>" for point in points[:-1]]
    text.append(element("router", id=points[-1]) + "/>")
    more, route = links(dice, f"{name}l")
    pairs = [(a, b) for b in range(len(points)) for a in range(b)]
    tree = [(dice.randrange(b), b) for b in range(1, len(points))]
    if routing != "Full":
        pairs = tree + [pair for pair in pairs if pair not in tree and dice.random() < 0.3]
    dice.shuffle(pairs)
    text += more + [element("route", src=points[a], dst=points[b]) + f">{route()}</route>" for a, b in pairs]
    return "\n".join([*text, "</zone>"]), points


def zone(dice, name, depth):
    """A cluster, or a zone of hosts or of zones; and names of hosts or routers in it."""
    if depth == 0 or dice.random() < 0.3:
        return (cluster if dice.random() < 0.6 else hosts_zone)(dice, name)
    parts = [zone(dice, f"{name}{letter}", depth - 1) for letter in "abc"[:dice.randint(2, 3)]]
    routing = dice.choice(["Full", "Floyd"])  # SimGrid's Dijkstra fails between zones
    more, route = links(dice, f"{name}l")
    text = [element("zone", id=name, routing=routing) + ">", *(part for part, _ in parts), *more]
    for b in range(len(parts)):
        for a in range(b):
            if routing == "Full" or a == b - 1:
                text.append(element("zoneRoute", src=f"{name}{'abc'[a]}", dst=f"{name}{'abc'[b]}", gw_src=dice.choice(parts[a][1]),
                                    gw_dst=dice.choice(parts[b][1])) + f">{route()}</zoneRoute>")
    return "\n".join([*text, "</zone>"]), [gateway for _, gateways in parts for gateway in gateways]


def test_random_platforms(bench):
    hosts = 0
    for seed in range(int(os.environ.get("PLATFORMS", RANDOM))):
        path = bench.fresh("random.xml")
        with open(path, "w", encoding="ascii") as file:
            file.write(HEAD + zone(random.Random(seed), "z", seed % 3)[0] + "\n</platform>\n")
        hosts += compare_routes(bench, f"random platform {seed} ({path})", path)
    harness.compare("hosts in random platforms", hosts > 100, True)


# ---- what a large one needs ----

def test_large_cluster(bench):
    """Routes between 2^18 hosts are not kept: all memory is for the hosts and their links. One byte per pair would
    be 64 GiB."""
    path = bench.fresh("large.xml")
    with open(path, "w", encoding="ascii") as file:
        file.write(HEAD + element("cluster", id="t", topology="TORUS", topo_parameters="64,64,64", prefix="n", suffix="",
                                  radical="0-262143", speed="1Gf", bw="1GBps", lat="1us") + "/></platform>")
    program = bench.compiled("far_route", ["cc", "-std=c11", "-O1", "-I", harness.INCLUDE,
                                           os.path.join(FOLDER, "far_route.c"),
                                           os.path.join(bench.build, "librefrain.a"), "-lexpat", "-lm"])
    run = bench.run(["sh", "-c", f"ulimit -v {2 << 20}; exec {program} {path}"], check=True)
    harness.compare("the longest way", run.out, "262144 hosts, 1572864 links, 96 of them from n0 to n133152\n")
