"""The study of samples (make sampling-study) in a small form, and the tables that it makes of what it finds."""
import os
import sys

import harness

sys.path.insert(0, os.path.join(harness.HERE, "..", "bench"))
import sampling_plots  # noqa: E402  pylint: disable=wrong-import-position
import sampling_study  # noqa: E402  pylint: disable=wrong-import-position
import sampling_tables  # noqa: E402  pylint: disable=wrong-import-position

SIMULATED = True
RANKS, STEPS = 4, 256
# Per rank and step each of three fields goes to both neighbours; of grid g every 4^g-th step.
FIELDS, GRIDS = 3, [STEPS // 4 ** grid for grid in range(1, 5)]
SENT = 2 * (FIELDS * STEPS + sum(GRIDS))


def small_study(bench):
    program = sampling_study.Program("exchange", RANKS, [str(STEPS)])
    study = sampling_study.Study(bench.build, programs=[program], folder=bench.path("study"))
    study.seeds, study.rate_seeds = 10, 1
    study.measure(["coverage", "rates", "distribution"])
    return study.folder


def check_coverage(folder):
    """Random samples are right in most cases; the same sample for all seeds is right for all or for none."""
    rows = {row["strategy"]: row for row in sampling_plots.rows(folder, "coverage")}
    harness.compare("messages", {row["messages"] for row in rows.values()}, {str(RANKS * SENT)})
    for which in sampling_study.QUANTITIES:
        if not 7 <= int(rows["random:0.2"][f"{which}_contain"]) <= 10:
            raise harness.Failure(f"random:0.2, {which}: {rows['random:0.2'][f'{which}_contain']} of 10 intervals")
        if rows["counter:100"][f"{which}_contain"] not in ("0", "10"):
            raise harness.Failure(f"counter:100 draws the same sample, whatever the seed, and {which} is both")


def check_sites(folder):
    """A timer never sees the second of two sends with nothing between them; a random sample has as much of each."""
    timer = next(row["strategy"] for row in sampling_plots.rows(folder, "sites") if row["strategy"].startswith("timer"))
    shares = {strategy: {} for strategy in ("random:0.2", timer)}
    for row in sampling_plots.rows(folder, "sites"):
        shares.get(row["strategy"], {})[row["call_path"]] = float(row["samples_percent"])
        harness.compare(f"messages of {row['call_path']}", row["messages_percent"] in (
            str(round(100 * STEPS / SENT, 3)), str(round(100 * sum(GRIDS) / SENT, 3))), True)
    seconds = sorted({path.split("exchange.c:")[1] for path in shares[timer]})[1]
    for path, share in shares[timer].items():
        if (share == 0) != (path.split("exchange.c:")[1] == seconds):
            raise harness.Failure(f"a timer has {share} % of its samples from {path}")
    if max(abs(share - 100 * STEPS / SENT) for path, share in shares["random:0.2"].items() if share > 8) > 3:
        raise harness.Failure(f"a random sample has other shares than the messages: {shares['random:0.2']}")


def check_rates(folder):
    """Of rank 0: all at rate 1; the same seed chooses more at higher rates, and adaptive sees each category."""
    rows = {row["strategy"]: row for row in sampling_plots.rows(folder, "rates")}
    categories = str(2 * (FIELDS + len(GRIDS)))
    every = rows["random:1"]
    harness.compare("all", [every[name] for name in ("samples", "categories", "categories_sampled", "covered_percent")],
                    [f"{SENT}.0", categories, f"{categories}.0", "100.0"])
    grows = [float(row["samples"]) for row in rows.values() if row["kind"] == "random"]
    harness.compare("samples by rate", grows, sorted(grows))
    halves = float(rows["counter:2"]["samples"])
    harness.compare("every second one", halves, float(SENT // 2))


def check_distribution(folder):
    shares = {}
    for row in sampling_plots.rows(folder, "distribution"):
        shares.setdefault(row["strategy"], []).append(float(row["percent"]))
    for strategy, share in shares.items():
        if abs(sum(share) - 100) > 0.01:
            raise harness.Failure(f"{strategy}: {sum(share)} % of the messages")


def test_small_study(bench):
    folder = small_study(bench)
    check_coverage(folder)
    check_sites(folder)
    check_rates(folder)
    check_distribution(folder)
    sampling_plots.write(folder)
    harness.compare("plots", {name for name in os.listdir(folder) if name.endswith(".svg")},
                    {"coverage.svg", "rates.svg", "distribution.svg"})
    harness.compare("tables", set(sampling_tables.made(folder)), {"coverage", "sites", "rates", "distribution"})
    text = "<!-- table rates -->\nold\n<!-- end -->\n<!-- table overhead -->\nkept\n<!-- end -->\n"
    page = sampling_tables.page(folder, text)
    if "old" in page or "| random:0.01 |" not in page or "kept" not in page:
        raise harness.Failure(f"a page with new tables is\n{page}")


def test_page(bench):
    """Each table of the page is one that the study makes."""
    with open(sampling_tables.PAGE, encoding="utf-8") as file:
        marks = {found.group(2) for found in sampling_tables.MARK.finditer(file.read())}
    if not marks or marks - set(sampling_tables.TABLES):
        raise harness.Failure(f"doc/sampling.md has the tables {', '.join(sorted(marks))}")
