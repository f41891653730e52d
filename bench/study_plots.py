"""Plots of the study (study.py), as SVG written by hand: lines over thresholds, and tables of cells.

A plotting library would be two hundred megabytes of dependencies for two kinds of pictures; and
these files are the same bytes wherever they are made, so that a change of a result is seen in a diff.
"""
import csv
import math
import os

# Colours that stay apart for most eyes (after Okabe and Ito), and a marker each.
STYLE = {
    "relDiff": ("#000000", "o"), "absDiff": ("#e69f00", "s"), "manhattan": ("#56b4e9", "o"),
    "euclidean": ("#009e73", "s"), "chebyshev": ("#b8a800", "o"), "avgWave": ("#0072b2", "s"),
    "haarWave": ("#d55e00", "o"), "iterK": ("#cc79a7", "s"), "iterAvg": ("#777777", "o"),
    "jitter": ("#cc0000", "s")}
MEASURES = (
    ("size_percent", "size, % of the full archive", "linear"),
    ("degree_of_matching", "degree of matching", "linear"),
    ("approximation_distance_us", "approximation distance, µs", "log"),
    ("trends_retained", "programs with all trends retained, of 18", "linear"))
TITLES = {"within": "Within processes", "across": "Across processes", "combined": "Combined"}
FONT = 'font-family="sans-serif" font-size="11"'


def rows(folder, study):
    with open(os.path.join(folder, f"{study}.csv"), encoding="ascii", newline="") as file:
        return list(csv.DictReader(file))


def threshold_of(row):
    """The one that is varied."""
    return row["across"] if row["study"] == "across" else row["threshold"]


def mean(values):
    values = list(values)
    return sum(values) / len(values) if values else math.nan


def summary(chosen, measure):
    """Of all programs: how many retain trends; the mean of anything else."""
    values = [float(row[measure]) for row in chosen]
    return sum(values) if measure == "trends_retained" else mean(values)


class Svg:
    def __init__(self, width, height):
        self.width, self.height, self.parts = width, height, []

    def text(self, x, y, words, anchor="start", more=""):
        words = str(words).replace("&", "&amp;").replace("<", "&lt;")
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" {more}>{words}'
                          "</text>")

    def line(self, x1, y1, x2, y2, colour="#ddd", width=1):
        self.parts.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" '
                          f'stroke="{colour}" stroke-width="{width}"/>')

    def path(self, points, colour):
        steps = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self.parts.append(f'<polyline points="{steps}" fill="none" stroke="{colour}" '
                          'stroke-width="1.5"/>')

    def box(self, x, y, width, height, colour):
        self.parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" '
                          f'height="{height:.1f}" fill="{colour}"/>')

    def marker(self, x, y, style):
        colour, shape = style
        if shape == "o":
            self.parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>')
        else:
            self.box(x - 2.7, y - 2.7, 5.4, 5.4, colour)

    def write(self, path):
        with open(path, "w", encoding="utf-8") as file:
            file.write(f'<svg xmlns="http://www.w3.org/2000/svg" width="{self.width}" '
                       f'height="{self.height}" viewBox="0 0 {self.width} {self.height}" {FONT}>\n')
            file.write(f'<rect width="{self.width}" height="{self.height}" fill="#fff"/>\n')
            file.write("\n".join(self.parts) + "\n</svg>\n")


# ---- scales ----

class Scale:
    """Values to heights. A logarithmic one begins at 0.01 and puts what is less there, too."""

    def __init__(self, kind, values, top, bottom):
        self.kind, self.top, self.bottom = kind, top, bottom
        high = max([v for v in values if not math.isnan(v)], default=1) or 1
        if kind == "log":
            self.ticks = [10.0 ** e for e in range(-2, max(0, math.ceil(math.log10(high))) + 1)]
        else:
            step = 10 ** math.floor(math.log10(high))
            step = next(s for s in (step / 5, step / 2, step, 2 * step) if high / s <= 6)
            self.ticks = [i * step for i in range(math.ceil(high / step - 1e-9) + 1)]

    def at(self, value):
        if self.kind == "log":
            low, high = math.log10(self.ticks[0]), math.log10(self.ticks[-1])
            share = (math.log10(max(value, self.ticks[0])) - low) / (high - low)
        else:
            share = value / self.ticks[-1]
        return self.bottom - share * (self.bottom - self.top)


# ---- lines over thresholds ----

def thresholds_panel(svg, left, top, width, height, table, measure, title, kind):
    methods = [m for m in STYLE if any(row["method"] == m for row in table)]
    series = {}
    for method in methods:
        own = [row for row in table if row["method"] == method]
        series[method] = [summary([row for row in own if threshold_of(row) == threshold], measure)
                          for threshold in dict.fromkeys(map(threshold_of, own))]
    scale = Scale(kind, [v for values in series.values() for v in values], top, top + height)
    svg.text(left, top - 10, title, more='font-weight="bold"')
    for tick in scale.ticks:
        svg.line(left, scale.at(tick), left + width, scale.at(tick))
        svg.text(left - 5, scale.at(tick) + 4, f"{tick:g}", "end")
    for i in range(6):
        svg.text(left + width * (i + 0.5) / 6, top + height + 15, f"{i + 1}.", "middle")
    for method, values in series.items():
        points = [(left + width * (i + 0.5) / 6, scale.at(v)) for i, v in enumerate(values)]
        if len(points) == 1:  # iterAvg, which has no threshold
            points = [(left, points[0][1]), (left + width, points[0][1])]
        svg.path(points, STYLE[method][0])
        for x, y in points:
            svg.marker(x, y, STYLE[method])


def thresholds(folder, study):
    """Four panels over the number of the threshold; a legend says what the numbers mean."""
    table = rows(folder, study)
    svg = Svg(1000, 720)
    svg.text(20, 24, f"{TITLES[study]}: over the thresholds of the paper, means of 18 programs",
             more='font-size="15" font-weight="bold"')
    for i, (measure, title, kind) in enumerate(MEASURES):
        thresholds_panel(svg, 60 + i % 2 * 480, 70 + i // 2 * 280, 430, 210, table, measure, title,
                         kind)
    methods = [m for m in STYLE if any(row["method"] == m for row in table)]
    for i, method in enumerate(methods):
        own = list(dict.fromkeys(threshold_of(r) for r in table if r["method"] == method))
        x, y = 60 + i % 3 * 315, 630 + i // 3 * 22
        svg.line(x, y, x + 24, y, STYLE[method][0], 1.5)
        svg.marker(x + 12, y, STYLE[method])
        svg.text(x + 30, y + 4, f"{method} {', '.join(own)}")
    svg.write(os.path.join(folder, f"thresholds-{study}.svg"))


# ---- programs and methods, at the defaults ----

def shade(share):
    """White to red."""
    share = min(max(share, 0), 1)
    return f"#ff{round(255 - 150 * share):02x}{round(255 - 165 * share):02x}"


def cell_text(measure, value):
    if measure == "trends_retained":
        return "yes" if value else "no"
    if measure == "degree_of_matching":
        return f"{value:.3f}"
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def badness(measure, value, largest):
    """0 is good."""
    if measure == "trends_retained":
        return 0.6 * (1 - value)
    if measure == "degree_of_matching":
        return 1 - value
    return value / largest if measure == "size_percent" else math.log10(1 + value) / 6


def cells_panel(svg, left, top, table, measure, title):
    methods = list(dict.fromkeys(row["method"] for row in table))
    programs = list(dict.fromkeys(row["program"] for row in table))
    largest = max(float(row[measure]) for row in table) or 1
    svg.text(left, top - 28, title, more='font-weight="bold"')
    for i, method in enumerate(methods):
        svg.text(left + 148 + 56 * i, top - 6, method, "middle", 'font-size="10"')
    for k, program in enumerate(programs):
        svg.text(left + 116, top + 13 + 17 * k, program, "end", 'font-size="10"')
        for i, method in enumerate(methods):
            value = next(float(row[measure]) for row in table
                         if row["method"] == method and row["program"] == program)
            svg.box(left + 121 + 56 * i, top + 17 * k, 54, 16,
                    shade(badness(measure, value, largest)))
            svg.text(left + 148 + 56 * i, top + 12 + 17 * k, cell_text(measure, value), "middle",
                     'font-size="10"')


def at_defaults(folder, study, defaults):
    """defaults: method -> the threshold that the study varies."""
    table = [row for row in rows(folder, study) if threshold_of(row) == defaults[row["method"]]]
    methods = len({row["method"] for row in table})
    width = 140 + 56 * methods
    svg = Svg(2 * width + 30, 830)
    svg.text(20, 24, f"{TITLES[study]}: each program at the default thresholds of the paper",
             more='font-size="15" font-weight="bold"')
    for i, (measure, title, _) in enumerate(MEASURES):
        title = "all trends retained" if measure == "trends_retained" else title
        cells_panel(svg, 20 + i % 2 * width, 90 + i // 2 * 390, table, measure, title)
    svg.write(os.path.join(folder, f"programs-{study}.svg"))


def write(folder, methods):
    """methods: METHODS of study.py."""
    for study in TITLES:
        thresholds(folder, study)
        at_defaults(folder, study, {name: across if study == "across" else within
                                    for name, (_, within, across) in methods.items()})
