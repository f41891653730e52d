"""Plots of the sampling study (sampling_study.py): lines over a logarithmic axis, with the means of study_plots.py."""
import collections
import math
import operator
import os

from study_plots import Svg, rows

# As in study_plots.py.
COLOURS = ("#000000", "#e69f00", "#0072b2", "#009e73", "#d55e00", "#cc79a7", "#56b4e9")
WIDTH, HEIGHT = 400, 240
# series: name -> [(x, y)], x above 0.
Panel = collections.namedtuple("Panel", "title below series log_y joined", defaults=(False, True))


class Axis:
    """Values to places between `begin` and `end`, from `low` to `high`, which are above 0 where it is logarithmic."""

    def __init__(self, logarithmic, low, high, begin, end):
        self.scale = math.log10 if logarithmic else float
        if logarithmic:
            first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
            self.ticks = [10.0 ** e for e in range(first, max(last, first + 1) + 1)]
        else:
            step = 10 ** math.floor(math.log10(max(high - low, 1e-9)))
            step = next(s for s in (step / 5, step / 2, step, 2 * step) if (high - low) / s <= 6)
            first = math.floor(low / step + 1e-9)
            self.ticks = [i * step for i in range(first, max(math.ceil(high / step - 1e-9), first + 1) + 1)]
        self.begin, self.end = begin, end

    def at(self, value):
        low, high = self.scale(self.ticks[0]), self.scale(self.ticks[-1])
        return self.begin + (self.scale(value) - low) / (high - low) * (self.end - self.begin)


def tick_text(value):
    return f"{value:g}" if 0.001 <= abs(value) < 1e6 or value == 0 else f"{value:.0e}"


def draw(svg, left, top, panel):
    points = [point for line in panel.series.values() for point in line]
    across = Axis(True, min(x for x, _ in points), max(x for x, _ in points), left, left + WIDTH)
    low = min(y for _, y in points)
    up = Axis(panel.log_y, low if panel.log_y else min(low, 0), max(y for _, y in points), top + HEIGHT, top)
    svg.text(left, top - 10, panel.title, more='font-weight="bold"')
    svg.text(left + WIDTH / 2, top + HEIGHT + 32, panel.below, "middle")
    for tick in up.ticks:
        svg.line(left, up.at(tick), left + WIDTH, up.at(tick))
        svg.text(left - 5, up.at(tick) + 4, tick_text(tick), "end")
    for tick in across.ticks:
        svg.line(across.at(tick), top, across.at(tick), top + HEIGHT)
        svg.text(across.at(tick), top + HEIGHT + 15, tick_text(tick), "middle")
    for line, colour in zip(panel.series.values(), COLOURS):
        places = [(across.at(x), up.at(y)) for x, y in line]
        if panel.joined:
            svg.path(places, colour)
        for x, y in places if len(places) < 15 else ():
            svg.marker(x, y, (colour, "o"))


def legend(svg, left, top, names):
    for i, (name, colour) in enumerate(zip(names, COLOURS)):
        svg.line(left, top + 18 * i, left + 24, top + 18 * i, colour, 1.5)
        svg.text(left + 30, top + 4 + 18 * i, name)


def page(folder, name, panels):
    """Two panels in a row, and one legend."""
    longest = max((panel.series for panel in panels), key=len)
    below = 60 + (HEIGHT + 80) * math.ceil(len(panels) / 2)
    svg = Svg(2 * (WIDTH + 80), below + 18 * len(longest))
    for i, panel in enumerate(panels):
        draw(svg, 60 + i % 2 * (WIDTH + 80), 40 + i // 2 * (HEIGHT + 80), panel)
    legend(svg, 60, below, longest)
    svg.write(os.path.join(folder, f"{name}.svg"))


def strategy_of(row):
    """The timer's time differs between programs, which have one legend."""
    return "timer" if row["strategy"].startswith("timer") else row["strategy"]


def series_of(table, name_of, x, y):
    """name -> [(x, y)], without points that a logarithmic axis has no place for."""
    found = {}
    for row in table:
        if float(row[x]) > 0:
            found.setdefault(name_of(row), []).append((float(row[x]), float(row[y])))
    return {name: sorted(line) for name, line in found.items()}


def of_programs(table):
    return {name: [row for row in table if row["program"] == name]
            for name in dict.fromkeys(row["program"] for row in table)}.items()


def coverage(table):
    """By strategy: a point for mean, median and 99th percentile each."""
    panels = []
    for program, own in of_programs(table):
        series = {strategy_of(row): [
            (float(row["samples"]), 100 * float(row[f"{which}_contain"]) / float(row[f"{which}_intervals"]))
            for which in ("mean", "p50", "p99") if float(row[f"{which}_intervals"])] for row in own}
        panels.append(Panel(f"{program}: intervals that contain the truth, %", "samples", series, joined=False))
    return panels


def rates(table):
    panels = []
    for program, own in of_programs(table):
        panels += [Panel(f"{program}: samples of rank 0", "share of its messages measured, %",
                         series_of(own, operator.itemgetter("kind"), "samples_percent", "samples"), log_y=True),
                   Panel(f"{program}: messages in categories with a sample, %", "share of messages measured, %",
                         series_of(own, operator.itemgetter("kind"), "samples_percent", "covered_percent"))]
    return panels


def distribution(table):
    return [Panel(f"{program}: messages, %, in a quarter of an octave", "latency, µs",
                  series_of(own, strategy_of, "latency_from_us", "percent")) for program, own in of_programs(table)]


def overhead(table):
    return [Panel("added per 8-byte message, ns", "messages measured, %",
                  series_of(table, operator.itemgetter("kind"), "samples_percent", "added_ns"))]


PLOTS = {"coverage": coverage, "rates": rates, "distribution": distribution, "overhead": overhead}


def write(folder):
    """Of each CSV file that is there."""
    for name, panels in PLOTS.items():
        if os.path.exists(os.path.join(folder, f"{name}.csv")):
            page(folder, name, panels(rows(folder, name)))
