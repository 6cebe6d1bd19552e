#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The host half of timer.sh: the report and the raw stream of one session of timer_latency on four
CPUs, at all three points, are held against each other and against the grid."""

import collections
import json
import struct
import sys

import tap

PERIOD_NS = 1000000
CPUS = range(4)
POINTS = ("irq", "thread", "user")


def read_stream(path):
    """Records of a file of `latkit record`, read by its header alone."""
    data = open(path, "rb").read()
    schema, size = data[:32].decode("ascii").split()
    assert schema == "latkit-stream/1"
    names = {}
    for line in data[32:int(size)].decode("ascii").splitlines():
        key, _, value = line.partition(": ")
        if key == "point":
            index, name = value.split()
            names[int(index)] = name
    records = [tap.Sample(*r) for r in struct.iter_unpack("<QQqIHH", data[int(size):])]
    end = records.pop()
    assert end.point == 0xffff
    return names, records, end


def cells(report):
    """((point, CPU), its object) for all of a report."""
    return {(p["name"], c["cpu"]): c for p in report["points"] for c in p["cpus"]}


def bucket_high(low):
    """Upper edge of the log bucket that begins at LOW: 32 to an octave, one each below 64."""
    shift = max(0, low.bit_length() - 6)
    return low + (1 << shift) - 1


def same_bucket(value, edge):
    """VALUE's bucket ends at EDGE, or its neighbour does."""
    shift = max(0, value.bit_length() - 6)
    high = ((value >> shift) << shift) + (1 << shift) - 1
    return abs(high - edge) <= 2 << shift


def expiries(cell):
    """Expiries that the cell has lost count of."""
    wanted = (cell["last_ns"] - cell["first_ns"]) / PERIOD_NS + 1
    return tap.differ("count + missed", cell["count"] + cell["missed"]["count"], wanted)


def sums(cell):
    """Buckets against the counts."""
    return (tap.differ("sum of buckets", sum(n for _, n in cell["buckets"]), cell["count"]) +
            tap.differ("sum of missed buckets", sum(n for _, n in cell["missed"]["buckets"]),
                       cell["missed"]["count"]))


def stream_agrees(cell, values):
    """The stream's values against the cell's statistics and buckets."""
    wrong = (tap.differ("records", len(values), cell["count"]) +
             tap.differ("sum", str(sum(values)), cell["sum_ns"]))
    if values:
        wrong += tap.differ("extremes", (min(values), max(values)), (cell["min_ns"], cell["max_ns"]))
    return wrong


def percentiles_agree(cell, values):
    """Percentiles over recorded samples: of the buckets, against the sorted stream."""
    wrong = []
    values = sorted(values)
    for percent in (50, 90, 99, 99.9):
        rank = max(1, -(-len(values) * percent // 100)) if values else 0
        seen = 0
        for low, n in cell["buckets"]:
            seen += n
            if seen >= rank > 0:
                value = values[int(rank) - 1]
                if not same_bucket(value, bucket_high(low)):
                    wrong.append(f"p{percent}: {value} in the stream, {low}..{bucket_high(low)} in the buckets")
                break
    return wrong


def in_order(records, names, later):
    """irq <= LATER for each sequence that has both; at least some do."""
    at = collections.defaultdict(dict)
    for record in records:
        at[record.cpu, record.seq][names[record.point]] = record.latency_ns
    both = {k: v for k, v in at.items() if "irq" in v and later in v}
    wrong = [f"CPU {k[0]} number {k[1]}: irq {v['irq']}, {later} {v[later]}"
             for k, v in both.items() if v["irq"] > v[later]]
    return wrong or ([] if len(both) > 100 else [f"only {len(both)} sequences have both"])


def judge(out, first):
    """All claims."""
    claims = tap.Tap(first)
    report = json.load(open(f"{out}/report.json", encoding="utf-8"))
    names, records, end = read_stream(f"{out}/stream.lat")
    lost = sum(r.latency_ns for r in records if r.flags & 4)
    records = [r for r in records if not r.flags & 4]
    by_cell = collections.defaultdict(list)
    for record in records:
        by_cell[names[record.point], record.cpu].append(record.latency_ns)
    found = cells(report)
    claims.check("three points on four CPUs were measured",
                 tap.differ("cells", sorted(found), sorted((p, c) for p in POINTS for c in CPUS)))
    claims.check("nothing of the stream was lost, and its end record counts it",
                 tap.differ("lost", (lost, end.time_ns), (0, 0)) +
                 tap.differ("records", len(records), end.latency_ns))
    for key in sorted(found):
        cell, values = found[key], by_cell[key]
        where = f"{key[0]} CPU {key[1]}"
        claims.check(f"{where}: count + missed = expiries from first to last", expiries(cell))
        claims.check(f"{where}: sums equal buckets", sums(cell))
        claims.check(f"{where}: the stream has exactly what was counted", stream_agrees(cell, values))
        claims.check(f"{where}: percentiles of stream and histogram agree to one bucket",
                     percentiles_agree(cell, values))
    claims.check("irq <= thread for each sequence", in_order(records, names, "thread"))
    claims.check("irq <= user for each sequence", in_order(records, names, "user"))
    keys = [(r.point, r.cpu, r.seq) for r in records]
    claims.check("no sequence is recorded twice at a point",
                 tap.differ("distinct records", len(set(keys)), len(keys)))
    claims.end()


if sys.argv[1] == "judge":
    judge(sys.argv[3], int(sys.argv[4]))
