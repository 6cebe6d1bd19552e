#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Writes recorded streams, good and bad, into a directory: what latkit decode is tested with. The
format is written down here a second time, from Documentation/abi-chardev.rst."""

import struct
import sys

LATE, WRONG_CPU, DROPPED = 1, 2, 4
END_POINT = 0xffff


def header(*lines, schema="latkit-stream/1"):
    """The text and its padding."""
    text = "".join(line + "\n" for line in lines).encode()
    size = 32 + -(-len(text) // 32) * 32
    return f"{schema} {size:<{30 - len(schema)}}\n".encode() + text.ljust(size - 32, b"\n")


def record(seq, time_ns, latency_ns, cpu, point, flags=0):
    """One record."""
    return struct.pack("<QQqIHH", seq, time_ns, latency_ns, cpu, point, flags)


def end(records, lost):
    """The end record."""
    return record(0, lost, records, 0, END_POINT)


HEADER = header("instrument: timer_latency", "version: 0.1.0", "order: little", "point: 0 irq",
                "point: 2 user")
GOOD = b"".join((
    record(1, 1000500000, 1234, 0, 0), record(1, 1000500000, 9876, 0, 2),
    record(0, 0, 17, 3, 0, DROPPED), record(19, 1018500000, 5000000000, 3, 2, LATE),
    record(20, 1019500000, -5, 3, 0, LATE | WRONG_CPU)))
FILES = {
    "good": HEADER + GOOD + end(4, 17),
    "empty": HEADER + end(0, 0),
    "headless": GOOD,
    "nothing": b"",
    "short": HEADER[:20],
    "cut-header": HEADER[:64],
    "cut-record": HEADER + GOOD[:-7],
    "cut-end": HEADER + GOOD,
    "newer": header("instrument: x", "version: 1", schema="latkit-stream/2") + end(0, 0),
    "other-order": header("instrument: x", "version: 1", "order: big") + end(0, 0),
    "nameless": header("order: little", "version: 1") + end(0, 0),
    "no-point": HEADER + record(1, 1, 1, 0, 1) + end(1, 0),
    "no-number": HEADER + record(0, 1, 1, 0, 0) + end(1, 0),
    "no-cpu": HEADER + record(1, 1, 1, 1 << 20, 0) + end(1, 0),
    "lost-nothing": HEADER + record(0, 0, 0, 0, 0, DROPPED) + end(0, 0),
    "miscounted": HEADER + GOOD + end(5, 17),
    "goes-on": HEADER + GOOD + end(4, 17) + GOOD + end(4, 17),
    "control": HEADER.replace(b"irq", b"i\x1bq") + end(0, 0),
    "huge-header": b"latkit-stream/1 1048576".ljust(31) + b"\n",
    "later": header("instrument: x", "version: 9", "order: little", "colour: blue", "point: 0 irq") +
             record(1, 2, 3, 0, 0, 0x4000) + end(1, 0),
}

for name, data in FILES.items():
    with open(f"{sys.argv[1]}/{name}.lat", "wb") as f:
        f.write(data)
