// Says what SimGrid makes of a platform: hosts, links, and the route of each pair of hosts.
#include <cstdio>
#include <exception>
#include <simgrid/s4u.hpp>
#include <vector>

using namespace simgrid;

static void print_route(const s4u::Host* from, const s4u::Host* to)
{
  std::vector<s4u::Link*> links;
  double latency = 0;
  std::printf("route %s %s", from->get_cname(), to->get_cname());
  try {
    from->route_to(to, links, &latency);
  } catch (const std::exception&) {
    links.clear();
  }
  if (links.empty()) { // SimGrid sends no message over such a route
    std::puts(" none");
    return;
  }
  std::printf(" %.17g", latency);
  for (const auto* link : links)
    std::printf(" %s", link->get_cname());
  std::puts("");
}

int main(int argc, char** argv)
{
  s4u::Engine engine(&argc, argv);
  if (argc != 2)
    return 2;
  engine.load_platform(argv[1]);
  engine.seal_platform();
  const auto hosts = engine.get_all_hosts();
  for (const auto* host : hosts)
    std::printf("host %s %.17g %d\n", host->get_cname(), host->get_speed(), host->get_core_count());
  for (const auto* link : engine.get_all_links())
    std::printf("link %s %.17g %.17g %s\n", link->get_cname(), link->get_bandwidth(), link->get_latency(),
                link->get_sharing_policy() == s4u::Link::SharingPolicy::FATPIPE ? "fatpipe" : "shared");
  for (const auto* from : hosts)
    for (const auto* to : hosts)
      print_route(from, to);
  return 0;
}
