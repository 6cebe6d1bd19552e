#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Host half of ground-hold.sh: every sample of a raw stream against the log of the holds. A sample
whose stimulus fell into a hold must be late by what was left of the hold and what a sample without
a hold takes; no other sample may be any later than that."""

import os
import sys

import tap

PERIOD = 10 ** 6
# What a sample may take more than the slowest of the baseline, ns.
SLACK = 100
# The guests' kernels have HZ=250, and the tick is on the multiples of its period.
TICK = 4 * 10 ** 6
# A tick that was held off as well goes first: what it may take, ns.
TICK_TAKES = 10000
# The trigger goes on so long after a hold of its own, at most, ns.
RESUME = 20000

BLOCKS = {"msi-0": 0, "msi-5us": 5000, "msi-50us": 50000, "msi-500us": 500000,
          "msi-5ms": 5 * 10 ** 6, "msi-tick": 500000}
POINTS = {"irq": 0, "thread": 1}
# Which point a kind of hold is in the way of, and what a sample it has hit may take more than the
# slowest of the baseline, ns. After an interrupt that was a timer's, as the one measured is, the
# kernel looks for the next timer before it leaves.
HELD = {"irqs": ("irq", SLACK), "smi": ("irq", SLACK), "irq": ("irq", SLACK + 100),
        "preempt": ("thread", SLACK), "fifo": ("thread", SLACK)}


class Session:
    """What one session left: its stream by point, summary, and the log of the holds."""

    def __init__(self, out, name):
        self.path = os.path.join(out, name)
        self.stream = tap.stream(os.path.join(self.path, "stream"))
        self.summary = tap.Summary(os.path.join(self.path, "summary"))
        self.holds = []
        holds = os.path.join(self.path, "holds")
        if os.path.exists(holds):
            self.holds = [tuple(map(int, line.split()[1:])) for line in open(holds, encoding="ascii")
                          if line[0] != "#"]

    def samples(self, point):
        return [s for s in self.stream if s.point == POINTS[point]]

    def missed(self, point):
        return tap.histogram(os.path.join(self.path, "histogram"), point, "missed")

    def hold_of(self, sample):
        """The hold that the stimulus fell into, or None."""
        return next(((off, on) for off, on in self.holds if off <= sample.time_ns <= on), None)


def wrong_whole(session, points):
    """The stream is the histogram: every sample, none twice, and nothing is lost."""
    wrong = []
    for point in points:
        samples = session.samples(point)
        row = session.summary.stats[point, 0]
        wrong += tap.differ(f"{point}: count", row["count"], len(samples))
        wrong += tap.differ(f"{point}: max", row["max"], max(s.latency_ns for s in samples))
        seqs = [s.seq for s in samples]
        if seqs != sorted(set(seqs)):
            wrong.append(f"{point}: not ascending")
    for counter in ("drops", "lost", "spurious", "wrong_cpu", "torn"):
        wrong += tap.differ(counter, session.summary.fields[counter], "0")
    return wrong


def wrong_missed(rows, expected, slack):
    """EXPECTED are the latenesses that must be in the buckets, each up to SLACK ns more."""
    got = [row for row in rows for _ in range(row.count)]
    wrong = tap.differ("missed", len(got), len(expected))
    for row, late in zip(got, sorted(expected)):
        if not (row.low - slack <= late <= row.high):
            wrong.append(f"{late} ns late is counted in {row}")
    return wrong


# ---- msi_latency, which holds interrupts off itself --------------------------------------------

def wrong_block(session, hold, baseline):
    """latency - hold is what a sample without a hold takes, and where a tick was due meanwhile, that
    of a tick more."""
    wrong = []
    for sample in session.samples("irq"):
        tick = sample.time_ns // TICK != (sample.time_ns + hold) // TICK
        high = baseline + SLACK + (TICK_TAKES if tick and hold else 0)
        wrong += tap.outside(f"stimulus {sample.seq}: what is left of its latency",
                             sample.latency_ns - hold, 0, high)
    return wrong


def skipped_by_trigger(samples):
    """Lateness of each period that the trigger skipped: it could go on when the interrupt had come.
    The grid lies half a period off the multiples of the period."""
    late = []
    for sample in samples:
        due = sample.time_ns // PERIOD * PERIOD + PERIOD // 2
        late += skipped(sample.time_ns + sample.latency_ns - due)
    return late


def skipped(late):
    """Lateness of the periods behind one that is LATE itself, which were due before it came."""
    return [late - i * PERIOD for i in range(1, late // PERIOD + 1)]


def wrong_gaps(samples, late):
    """The numbers of the stimuli leave room for just those that were skipped; those behind the last
    sample have no number after them."""
    gaps = samples[-1].seq - samples[0].seq + 1 - len(samples)
    behind = len(late) - gaps
    return tap.outside("skipped behind the last sample", behind, 0,
                       len(skipped(samples[-1].latency_ns)))


def judge_blocks(claims, out):
    sessions = {name: Session(out, name) for name in BLOCKS}
    baseline = max(s.latency_ns for s in sessions["msi-0"].samples("irq"))
    print(f"# msi_latency without a hold: {baseline} ns at most")
    for name, hold in BLOCKS.items():
        session = sessions[name]
        claims.check(f"{name}: the stream is the histogram", wrong_whole(session, ["irq"]))
        if not hold:
            continue
        claims.check(f"{name}: every latency is the hold and what it takes without one",
                     wrong_block(session, hold, baseline))
        if name != "msi-tick":
            late = skipped_by_trigger(session.samples("irq"))
            claims.check(f"{name}: what was skipped is missed with its lateness",
                         wrong_missed(session.missed("irq"), late, RESUME) +
                         wrong_gaps(session.samples("irq"), late) +
                         tap.differ("overruns", session.summary.fields["overruns"],
                                    str(len(late))))


# ---- timer_latency, held up by lat_inject ----------------------------------------------------------

def wrong_hits(session, point, most):
    """Every sample that was hit is late by the rest of its hold and what it takes without one."""
    wrong = []
    hits = 0
    for sample in session.samples(point):
        hold = session.hold_of(sample)
        if hold:
            hits += 1
            wrong += tap.outside(f"stimulus {sample.seq}: what is left of its latency",
                                 sample.latency_ns - (hold[1] - sample.time_ns), 0, most)
    return wrong + ([] if hits >= 7 else [f"only {hits} samples were hit"])


def wrong_others(session, point, baseline, held):
    """No other sample is any later than without holds."""
    wrong = []
    for sample in session.samples(point):
        if not held or not session.hold_of(sample):
            wrong += tap.outside(f"stimulus {sample.seq}: its latency", sample.latency_ns, 0,
                                 baseline + SLACK)
    return wrong


def wrong_skipped(session, point):
    """What the sample in front of them says of them. The session ends with an expiry: a thread that
    is held up then has missed only those up to it."""
    samples = session.samples(point)
    late = [ns for sample in samples for ns in skipped(sample.latency_ns)]
    if point == "thread":
        last = session.samples("irq")[-1].seq
        over = samples[-1].seq + len(skipped(samples[-1].latency_ns)) - last
        late = late[:len(late) - max(0, over)]
    wrong = wrong_missed(session.missed(point), late, 0) + wrong_gaps(samples, late)
    wrong += tap.differ("missed_max", session.summary.stats[point, 0]["missed_max"],
                        max(late, default=None))
    if point == "irq":
        wrong += tap.differ("overruns", session.summary.fields["overruns"], str(len(late)))
    return wrong


def judge_holds(claims, out):
    names = [name for name in sorted(os.listdir(out)) if name.startswith("timer-")]
    sessions = {name: Session(out, name) for name in names}
    baseline = {}
    for point in POINTS:
        baseline[point] = max(s.latency_ns for name in names if name.endswith("-0")
                              for s in sessions[name].samples(point))
        print(f"# timer_latency without a hold, point {point}: {baseline[point]} ns at most")
    for name in names:
        _, kind, length = name.split("-")
        session = sessions[name]
        claims.check(f"{name}: the stream is the histogram", wrong_whole(session, POINTS))
        if length == "0":
            continue
        held, slack = HELD[kind]
        claims.check(f"{name}: every sample that was hit is late by the rest of the hold",
                     wrong_hits(session, held, baseline[held] + slack))
        claims.check(f"{name}: no other sample is late",
                     wrong_others(session, held, baseline[held], True))
        if held == "thread":
            claims.check(f"{name}: no interrupt is late",
                         wrong_others(session, "irq", baseline["irq"], False))
        claims.check(f"{name}: what was skipped is missed with exactly its lateness",
                     wrong_skipped(session, held))


if sys.argv[1] == "judge":
    tap_claims = tap.Tap(int(sys.argv[4]))
    judge_blocks(tap_claims, sys.argv[3])
    judge_holds(tap_claims, sys.argv[3])
    tap_claims.end()
