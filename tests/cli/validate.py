#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Validates reports (files, or standard input) against Documentation/report-schema.json with
python3-jsonschema, which shares no code with the tools, and checks what a schema cannot say: counts
are sums, percentiles do not fall and are not above the maximum."""
import json
import pathlib
import sys

import jsonschema

SCHEMA = pathlib.Path(__file__).resolve().parents[2] / "Documentation/report-schema.json"


def refuse_constant(name):
    raise ValueError(f"{name} is not JSON")


def check_cell(cell):
    total = sum(count for _, count in cell["buckets"]) + cell["negative"]
    assert total == cell["count"], "count is not the sum of its buckets"
    late = sum(count for _, count in cell["missed"]["buckets"])
    assert late == cell["missed"]["count"], "missed is not the sum of its buckets"
    lows = [low for low, _ in cell["buckets"]]
    assert lows == sorted(set(lows)), "buckets do not ascend"
    known = [cell["percentiles"][p] for p in sorted(cell["percentiles"], key=float)]
    known = [value for value in known if value is not None]
    assert known == sorted(known), "percentiles fall"
    tops = [m for m in (cell["max_ns"], cell["missed"]["max_ns"]) if m is not None]
    assert all(value <= max(tops) for value in known), "a percentile is above the maximum"
    if cell["count"]:
        mean = int(cell["sum_ns"]) / cell["count"]
        assert cell["min_ns"] <= mean <= cell["max_ns"], "mean outside min..max"
        assert abs(mean - cell["mean_ns"]) <= 1e-9 * abs(mean) + 1e-3, "mean_ns is not the mean"


def main():
    schema = json.loads(SCHEMA.read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    for name in sys.argv[1:] or ["/dev/stdin"]:
        with open(name, encoding="utf-8") as f:
            report = json.load(f, parse_constant=refuse_constant)
        validator.validate(report)
        for point in report["points"]:
            for cell in point["cpus"]:
                check_cell(cell)


if __name__ == "__main__":
    main()
