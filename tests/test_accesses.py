"""One-sided operations are counted: who accesses whose memory, of what sizes, on which call paths. The
numbers follow from programs/accesses.c, which does everything twice."""
import json

import harness


def test_accesses(bench, flavour):
    _, archive = bench.record(flavour, 3, [bench.program("accesses", flavour)])
    report = json.loads(bench.verb("report", "--json", archive))
    found = [tuple(pair.values()) for pair in report["one_sided_matrix"]]
    harness.compare("matrix", found,
                    [(0, 1, 20, 1600), (0, 2, 10, 400), (1, 2, 6, 960), (2, 1, 8, 128)])
    harness.compare("messages", report["communication_matrix"], [])
    sizes = {bin["max_bytes"]: (bin["count"], bin["bytes"]) for bin in report["message_sizes"]["one_sided"]}
    harness.compare("sizes", sizes, {31: (8, 128), 63: (10, 400), 127: (20, 1600), 255: (6, 960)})
    harness.compare("ranks", [(rank["one_sided"], rank["one_sided_bytes"], rank["messages"])
                              for rank in report["time_per_rank"]],
                    [(30, 2000, 0), (6, 960, 0), (8, 128, 0)])
    paths = {row["function"]: row["bytes"] for row in report["call_paths"] if row["bytes"]}
    harness.compare("call paths", {name: paths.get(name) for name in ("MPI_Get", "MPI_Rput",
                                                                      "MPI_Fetch_and_op")},
                    {"MPI_Get": 400, "MPI_Rput": 960, "MPI_Fetch_and_op": 64})
    page = bench.verb("report", archive)
    matrix = page.split("whose memory")[1].split("\n")
    harness.compare("the page's matrix", [line.split()[1:] for line in matrix[2:5]],
                    [[".", "1.6K", "400"], [".", ".", "960"], [".", "128", "."]])
