# SPDX-License-Identifier: GPL-2.0-only
"""The TAP writer of the host halves of guest tests (see guest-test), and what they all read: the
text files of an instrument and the records of its raw stream."""

import collections
import re
import struct
import sys

Sample = collections.namedtuple("Sample", "seq time_ns latency_ns cpu point flags")
Bucket = collections.namedtuple("Bucket", "low high count")
Interval = collections.namedtuple("Interval", "start end count min max missed over")
Outlier = collections.namedtuple("Outlier", "kind seq time_ns latency_ns")


class Tap:
    """Claims, numbered from where the guest's own claims ended."""

    def __init__(self, first):
        self.number = first
        self.failed = 0

    def check(self, sentence, wrong):
        """The claim holds if WRONG, a list of what contradicts it, is empty."""
        print(f"{'not ' if wrong else ''}ok {self.number} - {sentence}")
        for line in wrong[:20]:
            print(f"# {line}")
        self.number += 1
        self.failed += bool(wrong)

    def end(self):
        sys.exit(1 if self.failed else 0)


def differ(what, got, wanted):
    """[] if both are the same, else a line that says so."""
    return [] if got == wanted else [f"{what} is {got}, not {wanted}"]


def outside(what, value, low, high):
    """[] if VALUE is within LOW..HIGH, else a line that says so."""
    return [] if low <= value <= high else [f"{what} is {value}, not within {low}..{high}"]


def number(text):
    """A number as the text files print it; "-": None, inf: infinity."""
    if text == "-":
        return None
    return float("inf") if text == "inf" else int(text)


class Summary:
    """debugfs `summary`: fields, one row of statistics and two of percentiles per (point, CPU)."""

    def __init__(self, path):
        self.fields = {}
        self.stats = {}
        self.percentiles = {}
        self.exceed = {}
        self.trust = {}
        columns = []
        for line in open(path, encoding="ascii"):
            words = line.split()
            if line.startswith("#point"):
                columns = words
            elif line.startswith("trust: "):
                self.trust[words[2].rstrip(":")] = (words[1], " ".join(words[3:]))
            elif line.startswith("exceed: "):
                self.exceed[words[1], int(words[2]), int(words[3])] = tuple(map(int, words[4:]))
            elif re.match(r"[a-z0-9_]+: ", line):
                self.fields[words[0].rstrip(":")] = line.split(": ", 1)[1].rstrip("\n")
            elif not line.startswith("#") and "over" in columns:
                self.percentiles[words[0], int(words[1]), words[2]] = dict(
                    zip(columns[3:], map(number, words[3:])))
            elif not line.startswith("#"):
                self.stats[words[0], int(words[1])] = dict(
                    zip(columns[2:], map(number, words[2:])))


def histogram(path, point, kind, cpu=0):
    """Rows of debugfs `histogram`."""
    rows = [line.split() for line in open(path, encoding="ascii") if line[0] != "#"]
    return [Bucket(number(r[3]), number(r[4]), int(r[5]))
            for r in rows if r[:3] == [point, str(cpu), kind]]


def series(path, point, cpu=0):
    """Rows of debugfs `series`."""
    rows = [line.split() for line in open(path, encoding="ascii") if line[0] != "#"]
    return [Interval(*map(number, r[2:])) for r in rows if r[:2] == [point, str(cpu)]]


def outliers(path, kind, point, cpu=0):
    """Rows of debugfs `outliers`."""
    rows = [line.split() for line in open(path, encoding="ascii") if line[0] != "#"]
    return [Outlier(r[0], int(r[3]), int(r[4]), int(r[5]))
            for r in rows if r[:3] == [kind, point, str(cpu)]]


def stream(path):
    """Records of the raw stream, as /dev/<instrument> gave them."""
    return [Sample(*record) for record in struct.iter_unpack("<QQqIHH", open(path, "rb").read())]
