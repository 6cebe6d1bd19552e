#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Host half of ground-core.sh: writes the sequences, and works out from the sequences alone what
every file of the instrument must say about them. Nothing here knows the core's arithmetic: values are
sorted, summed and counted in Python's exact integers, and the buckets the core prints are taken as
claims about how many values lie between two bounds."""

import fractions
import json
import math
import os
import random
import sys

import tap

PERCENTILES = {"p50": (1, 2), "p90": (9, 10), "p99": (99, 100), "p99.9": (999, 1000),
               "p99.99": (9999, 10000), "p99.999": (99999, 100000)}
# A percentile needs this many samples beyond it.
BEYOND = 10
# From here up there is one bucket, for all.
LIMIT = 1 << 36
SECOND = 10 ** 9
# What the clock itself may move between two readings of it, ns.
READ = 1000


class Scenario:
    """A program and the parameters it runs with. A program is a list of (word, numbers)."""

    def __init__(self, program, repeat=1, point="value", period=10 ** 6, **parameters):
        self.program = program
        self.repeat = repeat
        self.point = point
        self.period = period
        self.parameters = dict(parameters, repeat=repeat, period=f"{period}ns")

    def text(self):
        return "".join(" ".join(map(str, line)) + "\n" for line in self.program)

    def parameter_text(self):
        return " ".join(f"{name}={value}" for name, value in self.parameters.items()) + "\n"


def values(numbers):
    return [("value", n) for n in numbers]


def deltas(numbers):
    return [("delta", n) for n in numbers]


def uniform_program(n, low, high):
    return [("uniform", low, high, n)]


def scenarios():
    r = random.Random(20260101)
    below = r.randrange
    two_peaks = [below(1900, 2100) if below(10) else below(140000, 160000) for _ in range(20000)]
    tail = [int(1000 / (below(1, 10 ** 6) / 10 ** 6)) for _ in range(30000)]
    edges = sorted({max(0, (1 << k) + d) for k in range(37) for d in (-1, 0, 1)})
    big = [below(500, 1000) + (below(10 ** 6) if below(1000) == 0 else 0) for _ in range(5000)]
    stalls = []
    for i in range(300):
        stalls.append(("value", below(2000, 6000), 20))
        late = below(100, 20 * 10 ** 6)
        stalls.append(("missed", late, late // 10 ** 6 + 1))
    limits = "value:5us,value:50us,value:500us,value:999999ns"
    return {
        "uniform": Scenario(values(below(1000, 10 ** 6) for _ in range(20000)), exceed=limits,
                            linear="1us:500", points="value"),
        "two-peaked": Scenario(values(two_peaks), threshold="100us"),
        "heavy-tail": Scenario(values(tail), exceed="value:1ms"),
        "all-equal": Scenario([("value", 12345, 5000)]),
        "one-sample": Scenario([("value", 777)]),
        "none": Scenario([("lost", 1), ("missed", 5, 1)]),
        "nothing-at-all": Scenario([("delta", 5)], points="value"),
        "ten": Scenario(values(range(10, 110, 10))),
        "eleven": Scenario(values(range(10, 120, 10))),
        "over-2^32": Scenario(values(below(1 << 32, 1 << 38) for _ in range(3000)),
                              exceed="value:5s,value:60s"),
        "huge": Scenario(values([(1 << 50) + below(1 << 50) for _ in range(500)])),
        "bucket-edges": Scenario([("value", edge, 1 + i % 5) for i, edge in enumerate(edges)]),
        "negative": Scenario(values(below(-500, 5000) for _ in range(5000)), points="value"),
        "all-negative": Scenario(values(below(-90000, 0) for _ in range(500)), points="value"),
        "signed": Scenario(deltas(below(-10 ** 6, 10 ** 6) for _ in range(10000)), point="delta",
                           threshold="900us", exceed="delta:500us"),
        "signed-below": Scenario(deltas(below(-1 << 36, -1 << 30) for _ in range(3000)),
                                 point="delta"),
        "signed-narrow": Scenario(deltas(below(-3, 4) for _ in range(3000)), point="delta"),
        "missed": Scenario(stalls, exceed="value:1ms,value:10ms", points="value"),
        "missed-most": Scenario([("value", 10, 100), ("missed", 10 ** 10, 9000)]),
        "lost": Scenario([("value", 100, 900), ("lost", 100)]),
        "lost-few": Scenario([("value", 100, 99990), ("lost", 11)]),
        "first-missed": Scenario([("missed", 2500000, 3), ("value", 50, 100)]),
        "ten-million": Scenario(values(big), repeat=2000, points="value"),
        "fast-grid": Scenario(values(below(100, 900) for _ in range(5000)), repeat=20, period=1000,
                              points="value"),
        "slow-grid": Scenario(values(below(100, 900) for _ in range(5000)), period=3 * SECOND,
                              points="value"),
        "both-points": Scenario([line for i in range(2000)
                                 for line in (("value", below(1, 10 ** 5)),
                                              ("delta", below(-50, 50)))]),
        "warm-up": Scenario(values(range(1, 3001)), warmup=1000),
        "clock-back": Scenario([("value", 1000, 100), ("back", 5 * 10 ** 6), ("value", 1000, 100),
                                ("during", 7000, 3), ("value", 1000, 100)], points="value"),
        "clock-far-back": Scenario([("value", 1000, 100), ("back", SECOND),
                                    ("value", 1000, 100), ("during", SECOND, 1)],
                                   points="value"),
        "clock-unstable": Scenario([("value", 1000, 100), ("unstable",), ("value", 1000, 100)]),
        "kernel-uniform": Scenario(uniform_program(50000, 1000, 100000)),
    }


# ---- what a program means -------------------------------------------------------------

def splitmix(k):
    mask = (1 << 64) - 1
    x = (k + 1) * 0x9e3779b97f4a7c15 & mask
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9 & mask
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb & mask
    return x ^ (x >> 31)


class Run:
    """What one run through the program records: (period, value) of each sample of the scenario's
    point, latenesses of missed periods, lost ones, and how many periods it takes."""

    def __init__(self, scenario):
        self.samples = []
        self.missed = []
        self.during = []
        self.lost = 0
        self.periods = 0
        for word, *numbers in scenario.program:
            self.step(scenario, word, numbers)

    def step(self, scenario, word, numbers):
        if word == "uniform":
            low, high, n = numbers
            for k in range(n):
                self.one(scenario, low + splitmix(k) % (high - low + 1))
        elif word in ("value", "delta"):
            for _ in range(numbers[1] if len(numbers) > 1 else 1):
                if word == scenario.point:
                    self.one(scenario, numbers[0])
                else:
                    self.periods += 1
        elif word == "during":
            self.during += [-numbers[0]] * numbers[1]
            self.periods += numbers[1]
        elif word == "missed":
            late, n = numbers
            self.missed += [max(0, late - i * scenario.period) for i in range(n)]
            self.periods += n
        elif word == "lost":
            self.lost += numbers[0]
            self.periods += numbers[0]

    def one(self, scenario, value):
        if self.periods >= int(scenario.parameters.get("warmup", 0)):
            self.samples.append((self.periods, value))
        self.periods += 1


# ---- claims ---------------------------------------------------------------------------------

def wrong_statistics(row, run, repeat, signed):
    """The row of statistics against exact arithmetic."""
    numbers = [value for _, value in run.samples]
    n = len(numbers) * repeat
    wrong = tap.differ("count", row["count"], n)
    wrong += tap.differ("missed", row["missed"], len(run.missed) * repeat)
    wrong += tap.differ("missed_max", row["missed_max"], max(run.missed, default=None))
    wrong += tap.differ("lost", row["lost"], run.lost * repeat)
    below = 0 if signed else sum(value < 0 for value in numbers)
    wrong += tap.differ("negative", row["negative"], below * repeat)
    if not n:
        return wrong + [f"{key} is {row[key]}" for key in ("min", "mean", "stddev", "max")
                        if row[key] is not None]
    mean = fractions.Fraction(sum(numbers), len(numbers))
    variance = fractions.Fraction(sum(v * v for v in numbers), len(numbers)) - mean * mean
    stddev = math.sqrt(variance)
    wrong += tap.differ("min", row["min"], min(numbers))
    wrong += tap.differ("max", row["max"], max(numbers))
    wrong += tap.outside("mean", row["mean"], mean - 1, mean + 1)
    wrong += tap.outside("stddev", row["stddev"], stddev * 0.999 - 1, stddev * 1.001 + 1)
    return wrong


def exact_percentile(ordered, repeat, infinite, fraction):
    """The exact one: the smallest value that is not below the asked share of all. None: fewer than
    BEYOND samples lie beyond it."""
    count = len(ordered) * repeat + infinite
    rank = math.ceil(fractions.Fraction(*fraction) * count)
    if count - rank < BEYOND:
        return None
    index = (rank - 1) // repeat
    return ordered[index] if index < len(ordered) else math.inf


def wrong_percentile(name, got, exact, greatest, negative_exact):
    if got is None or exact is None or got == math.inf or exact == math.inf:
        return tap.differ(name, got, exact)
    if got > greatest:
        return [f"{name} is {got}, above the maximum {greatest}"]
    if exact >= LIMIT:
        return tap.outside(name, got, exact, greatest)
    if exact < 0 and not negative_exact:
        # An unsigned point has no buckets below zero: "below zero" is all that is known.
        return tap.outside(name, got, exact, -1)
    # To one bucket, of which there are at least 32 per power of two: its upper edge.
    return tap.outside(name, got, exact, exact + abs(exact) // 32)


def wrong_percentiles(summary, point, run, repeat, signed):
    recorded = sorted(value for _, value in run.samples)
    due = sorted(recorded + run.missed)
    wrong = []
    for over, ordered, infinite in (("recorded", recorded, 0), ("due", due, run.lost * repeat)):
        row = summary.percentiles[point, 0, over]
        for name, fraction in PERCENTILES.items():
            exact = exact_percentile(ordered, repeat, infinite, fraction)
            wrong += wrong_percentile(f"{name} over {over}", row[name], exact,
                                      ordered[-1] if ordered else 0, signed)
    return wrong


def wrong_buckets(rows, numbers, repeat):
    """Disjoint, none wider than 1/32 of what it holds, each with as many as lie in it."""
    wrong = []
    counts = {}
    for value in numbers:
        counts[value] = counts.get(value, 0) + repeat
    last = -1
    total = 0
    for row in rows:
        if row.low <= last:
            wrong.append(f"{row} overlaps")
        if row.low < LIMIT and row.high - row.low > row.low // 32:
            wrong.append(f"{row} is too wide")
        last = row.high
        total += row.count
        inside = sum(n for value, n in counts.items() if row.low <= value <= row.high) \
            if len(rows) < 50 else None
        if inside is not None:
            wrong += tap.differ(f"{row}", row.count, inside)
    if len(rows) >= 50:
        wrong += wrong_bucket_counts(rows, counts)
    return wrong + tap.differ("sum of the buckets", total, len(numbers) * repeat)


def wrong_bucket_counts(rows, counts):
    """The same in one walk, for many buckets."""
    ordered = sorted(counts.items())
    wrong = []
    i = 0
    for row in rows:
        inside = 0
        while i < len(ordered) and ordered[i][0] <= row.high:
            inside += ordered[i][1] if ordered[i][0] >= row.low else 0
            i += 1
        wrong += tap.differ(f"{row}", row.count, inside)
    return wrong


def wrong_histogram(path, scenario, run, signed):
    numbers = [value for _, value in run.samples]
    def rows(kind):
        return tap.histogram(path, scenario.point, kind)
    wrong = wrong_buckets(rows("value"), [v for v in numbers if v >= 0], scenario.repeat)
    if signed:
        wrong += wrong_buckets(rows("below"), [-v for v in numbers if v < 0], scenario.repeat)
    wrong += wrong_buckets(rows("missed"), run.missed, scenario.repeat)
    if "linear" in scenario.parameters:
        wrong += wrong_linear(path, scenario, numbers)
    return wrong


def wrong_linear(path, scenario, numbers):
    """linear=1us:N"""
    width = 1000
    top = width * int(scenario.parameters["linear"].split(":")[1])
    wrong = []
    got = {row.low: row.count for row in tap.histogram(path, scenario.point, "linear")}
    wanted = {}
    for value in numbers:
        if 0 <= value < top:
            low = value // width * width
            wanted[low] = wanted.get(low, 0) + scenario.repeat
    if got != wanted:
        wrong.append("the linear histogram is another")
    over = [row.count for row in tap.histogram(path, scenario.point, "linear-over")]
    above = sum(value >= top for value in numbers) * scenario.repeat
    return wrong + tap.differ("linear-over", over, [above] if above else [])


def limits_of(scenario):
    units = {"ns": 1, "us": 10 ** 3, "ms": 10 ** 6, "s": 10 ** 9}
    limits = []
    for part in filter(None, scenario.parameters.get("exceed", "").split(",")):
        text = part.split(":")[1]
        digits = text.rstrip("nums")
        limits.append(int(digits) * units[text[len(digits):]])
    return limits


def wrong_exceed(summary, scenario, run):
    wrong = []
    for limit in limits_of(scenario):
        wanted = (sum(abs(v) > limit for _, v in run.samples) * scenario.repeat,
                  sum(late > limit for late in run.missed) * scenario.repeat)
        wrong += tap.differ(f"above {limit}", summary.exceed[scenario.point, 0, limit], wanted)
    return wrong


def over_limit(scenario):
    """What is "over" in the series: above the threshold, else above the lowest limit."""
    threshold = scenario.parameters.get("threshold")
    if threshold:
        return int(threshold.rstrip("us")) * 1000
    return min(limits_of(scenario), default=math.inf)


def wrong_series(rows, scenario, run, start_ns):
    """It covers the session without a gap, adds up to the histogram, and every interval holds just
    the stimuli that were due in it."""
    limit = over_limit(scenario)
    length = run.periods * scenario.period
    wrong = []
    for total, wanted in (
            ("count", len(run.samples) * scenario.repeat),
            ("missed", len(run.missed) * scenario.repeat),
            ("over", sum(abs(v) > limit for _, v in run.samples) * scenario.repeat)):
        wrong += tap.differ(f"sum of {total}", sum(getattr(row, total) for row in rows), wanted)
    numbers = [value for _, value in run.samples]
    wrong += tap.differ("least of the minima", min((r.min for r in rows if r.count), default=None),
                        min(numbers, default=None))
    wrong += tap.differ("greatest of the maxima",
                        max((r.max for r in rows if r.count), default=None),
                        max(numbers, default=None))
    for row, after in zip(rows, rows[1:]):
        if after.start < row.end:
            wrong.append(f"{after} overlaps {row}")
    # The due time of each sample, from the start of the session on.
    dues = sorted(k * scenario.period for k, _ in run.samples)
    for row in rows[:-1]:
        low, high = row.start - start_ns, row.end - start_ns
        inside = sum(due_between(dues, length, r, low, high)
                     for r in range(max(0, low // length), min(scenario.repeat, high // length + 1)))
        wrong += tap.differ(f"count of {row}", row.count, inside)
    return wrong


def due_between(dues, length, r, low, high):
    import bisect
    low -= r * length
    high -= r * length
    return bisect.bisect_left(dues, high) - bisect.bisect_left(dues, low)


def wrong_outliers(path, scenario, run, start_ns):
    """The worst 16 of all, and the last 16 over the threshold."""
    length = run.periods
    everything = [(abs(v), r * length + k + 1, v)
                  for r in range(min(scenario.repeat, 20)) for k, v in run.samples]
    by_seq = {k + 1: v for k, v in run.samples}
    worst = tap.outliers(path, "worst", scenario.point)
    wanted = sorted((magnitude for magnitude, _, _ in everything), reverse=True)[:16]
    wrong = tap.differ("worst", [abs(s.latency_ns) for s in worst], wanted)
    for sample in worst:
        value = by_seq.get((sample.seq - 1) % length + 1)
        due = start_ns + (sample.seq - 1) * scenario.period
        if (value, due) != (sample.latency_ns, sample.time_ns):
            wrong.append(f"{sample} was recorded as {value} at {due}")
    if "threshold" in scenario.parameters:
        limit = over_limit(scenario)
        last = [(k + 1, v) for k, v in run.samples if abs(v) > limit][-16:]
        recent = tap.outliers(path, "over", scenario.point)
        wrong += tap.differ("over", [(s.seq, s.latency_ns) for s in recent], last)
    return wrong


def wrong_trust(summary, run, signed):
    """Every counter that is not zero is said, and nothing that did not happen."""
    wanted = set()
    if run.missed:
        wanted.add("overruns")
    if run.lost:
        wanted.add("lost")
    if not signed and any(value < 0 for _, value in run.samples):
        wanted.add("clock-backwards")
    return tap.differ("trust", sorted(summary.trust), sorted(wanted))


def wrong_numbers(directory):
    """Nothing has wrapped: a number of more than a year was negative before."""
    wrong = []
    for name in ("summary", "histogram", "outliers", "series"):
        for line in open(os.path.join(directory, name), encoding="ascii"):
            if any(word.isdigit() and int(word) > 366 * 86400 * SECOND for word in line.split()):
                wrong.append(f"{name}: {line.strip()}")
    return wrong


def wrong_report(path, scenario, run):
    """The sums of the JSON report are exact."""
    report = json.load(open(path, encoding="utf-8"))
    numbers = [value for _, value in run.samples]
    for point in report["points"]:
        if point["name"] != scenario.point:
            continue
        cpu = point["cpus"][0]
        return tap.differ("sum_ns", cpu["sum_ns"], str(sum(numbers) * scenario.repeat)) + \
            tap.differ("sumsq_ns2", cpu["sumsq_ns2"],
                       str(sum(v * v for v in numbers) * scenario.repeat))
    return ["the point is not in the report"]


# ---- judging ----------------------------------------------------------------------------------

def judge_exact(claims, name, scenario, directory):
    run = Run(scenario)
    signed = scenario.point == "delta"
    summary = tap.Summary(os.path.join(directory, "summary"))
    start_ns = int(summary.fields["start_ns"])
    row = summary.stats[scenario.point, 0]
    rows = tap.series(os.path.join(directory, "series"), scenario.point)
    claims.check(f"{name}: count, minimum, mean, deviation and maximum",
                 wrong_statistics(row, run, scenario.repeat, signed))
    claims.check(f"{name}: every percentile to one bucket, none above the maximum",
                 wrong_percentiles(summary, scenario.point, run, scenario.repeat, signed))
    claims.check(f"{name}: every bucket holds what lies in it",
                 wrong_histogram(os.path.join(directory, "histogram"), scenario, run, signed))
    claims.check(f"{name}: the series adds up, and each interval has its own",
                 wrong_series(rows, scenario, run, start_ns))
    if signed or min((v for _, v in run.samples), default=0) >= 0:
        claims.check(f"{name}: the worst samples and the last over the threshold",
                     wrong_outliers(os.path.join(directory, "outliers"), scenario, run, start_ns))
    if limits_of(scenario):
        claims.check(f"{name}: the exceedance counters are exact",
                     wrong_exceed(summary, scenario, run))
    claims.check(f"{name}: trust says what happened", wrong_trust(summary, run, signed))
    report = os.path.join(directory, "report.json")
    if os.path.exists(report):
        claims.check(f"{name}: the sums are exact", wrong_report(report, scenario, run))


def judge_clock(claims, name, scenario, directory):
    """The samples taken while the clock stepped back are below zero, and said to be."""
    run = Run(scenario)
    summary = tap.Summary(os.path.join(directory, "summary"))
    row = summary.stats["value", 0]
    wrong = tap.differ("count", row["count"], len(run.samples) + len(run.during))
    wrong += tap.differ("negative", row["negative"], len(run.during))
    if run.during:
        wrong += tap.outside("min", row["min"], min(run.during), min(run.during) + READ)
        wrong += tap.differ("trust", summary.trust.get("clock-backwards", ("",))[0], "void")
    total = sum(v for _, v in run.samples) + sum(run.during)
    wrong += tap.outside("mean", row["mean"], total / row["count"] - 1,
                         (total + READ * len(run.during)) / row["count"] + 1)
    claims.check(f"{name}: samples below zero are counted and void", wrong)
    claims.check(f"{name}: nothing has wrapped", wrong_numbers(directory))


def judge_special(claims, out):
    summary = tap.Summary(os.path.join(out, "clock-unstable", "summary"))
    claims.check("a clock that becomes unstable during a session voids it",
                 tap.differ("trust", summary.trust.get("clock-unstable", ("",))[0], "void") +
                 tap.differ("count", summary.stats["value", 0]["count"], 200))
    summary = tap.Summary(os.path.join(out, "changed", "summary"))
    claims.check("a clocksource that is changed during a session voids it",
                 tap.differ("trust", summary.trust.get("clock-changed", ("",))[0], "void") +
                 tap.differ("count", summary.stats["value", 0]["count"], 200))
    running = tap.Summary(os.path.join(out, "starved", "running"))
    claims.check("a reader that is starved for 64 tries says so",
                 tap.outside("torn", int(running.fields["torn"]), 1, 100) +
                 tap.differ("trust", running.trust.get("torn", ("",))[0], "warn"))
    after = tap.Summary(os.path.join(out, "starved", "summary"))
    claims.check("what it could not read is there, whole, when the session has ended",
                 tap.differ("max", after.stats["value", 0]["max"], 100) +
                 tap.differ("mean", after.stats["value", 0]["mean"], 100) +
                 wrong_numbers(os.path.join(out, "starved")))


def prepare(directory):
    for name, scenario in scenarios().items():
        for suffix, text in ((".program", scenario.text()),
                             (".parameters", scenario.parameter_text())):
            with open(os.path.join(directory, name + suffix), "w", encoding="ascii") as file:
                file.write(text)


def judge(out, first):
    claims = tap.Tap(first)
    for name, scenario in sorted(scenarios().items()):
        directory = os.path.join(out, name)
        if not os.path.isdir(directory):
            claims.check(f"{name} came back", ["no such directory"])
        elif name.startswith("clock-"):
            judge_clock(claims, name, scenario, directory)
        else:
            judge_exact(claims, name, scenario, directory)
    judge_special(claims, out)
    claims.end()


if sys.argv[1] == "prepare":
    prepare(sys.argv[2])
else:
    judge(sys.argv[3], int(sys.argv[4]))
