#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The host half of the benchmark: reads the figures the guests have left, prints the table, and writes
results.json and the picture. Whether a figure that must be reached is reached is said, not judged: the
exit status is 0 unless there are no figures at all."""

import json
import os
import subprocess
import sys

FIGURES, RESULTS = sys.argv[1:3]
VERSIONS = os.environ.get("BENCH_VERSIONS", "")
rows = []
for guest in ("report", "cost", "cpus"):
    try:
        with open(os.path.join(FIGURES, guest, "figures"), encoding="ascii") as f:
            rows += [line.split() for line in f if line.strip()]
    except OSError:
        print(f"# guest {guest} left no figures")
if not rows:
    sys.exit("no figures")


def of(kind, *key):
    """Rows of a kind whose next columns are the key; their remaining columns as numbers."""
    found = []
    for row in rows:
        if row[0] == kind and tuple(row[1:1 + len(key)]) == key:
            try:
                found.append([float(x) for x in row[1 + len(key):]])
            except ValueError:
                pass
    return found


reports, costs, results, lines = {}, {}, [], []


def put(text=""):
    lines.append(text)


def need(what, value, limit, unit=""):
    """One figure that must be reached."""
    if value is None:
        results.append({"what": what, "value": None, "limit": limit, "unit": unit, "reached": None})
        return
    results.append({"what": what, "value": round(value, 4), "limit": limit, "unit": unit,
                    "reached": value <= limit})


def ratio(a, b):
    return a / b if a is not None and b else None


def minus(a, b):
    return a - b if a is not None and b is not None else None


# ---- what each reports ----

STAMPS = {
    "bare": "first line of the timer's or device's handler, no instrument",
    "ours-alone": "as bare, points=irq",
    "timerlat": "tracer alone, nobody reads; stamp in its handler / its thread",
    "rtla": "rtla timerlat hist, which reads while it measures",
    "cyclictest": "clock_gettime() after clock_nanosleep()",
}
put("What each reports, ns: least, mean over the phases, greatest; phases x samples")
for point in dict.fromkeys(row[1] for row in rows if row[0] == "report"):
    for who in dict.fromkeys(row[2] for row in rows if row[0] == "report" and row[1] == point):
        runs = [r for r in of("report", point, who) if len(r) == 5]
        if not runs:
            continue
        n = sum(r[1] for r in runs)
        reports[point, who] = {"phases": len(runs), "count": n, "min": min(r[2] for r in runs),
                               "mean": sum(r[1] * r[3] for r in runs) / n, "max": max(r[4] for r in runs),
                               "means": [r[3] for r in runs], "mins": [r[2] for r in runs]}
        r = reports[point, who]
        put(f"  {point:13} {who:11} {r['min']:8.0f} {r['mean']:8.0f} {r['max']:8.0f}   {len(runs)} x {n / len(runs):.0f}")


def figure(point, who, key):
    return reports.get((point, who), {}).get(key)


bare, alone = reports.get(("irq", "bare")), reports.get(("irq", "ours-alone"))
for point in dict.fromkeys(p for p, _ in reports):
    if point.startswith("msi-"):
        need(f"{point}: ours / floor, mean", ratio(figure(point, "ours", "mean"), figure(point, "bare", "mean")), 1.02)
need("mmio: ours - floor, mean", minus(figure("mmio", "ours", "mean"), figure("mmio", "bare", "mean")), 4, "ns")
need("irq: ours - bare hrtimer, mean of the phases", minus(figure("irq", "ours-alone", "mean"), figure("irq", "bare", "mean")), 60, "ns")
need("irq: ours - bare hrtimer, the worst phase",
     max(a - b for a, b in zip(alone["means"], bare["means"])) if alone and bare else None, 60, "ns")
least = minus(figure("irq", "ours", "min"), figure("irq", "timerlat", "min"))
need("irq: |min - timerlat's|", abs(least) if least is not None else None, 250, "ns")
need("irq: mean / timerlat's", ratio(figure("irq", "ours", "mean"), figure("irq", "timerlat", "mean")), 1.05)
need("thread: mean / timerlat's", ratio(figure("thread", "ours", "mean"), figure("thread", "timerlat", "mean")), 0.85)
need("user: mean / cyclictest's", ratio(figure("user", "ours", "mean"), figure("user", "cyclictest", "mean")), 1.05)

# ---- cost ----

off = of("cost", "off")
put()
put("Cost per sample, ns of virtual time the CPU is busy more than without a session")
for who in dict.fromkeys(row[1] for row in rows if row[0] == "cost" and row[1] != "off"):
    (n, ns), = of("cost", who)[:1]
    costs[who] = (ns - off[0][1]) / n if off else None
    put(f"  {who:25} {costs[who]:8.0f}")
need("cost: irq / timerlat's (tracer alone)", ratio(costs.get("ours-irq"), costs.get("timerlat")), 0.35)
need("cost: irq + thread / timerlat's (tracer alone)", ratio(costs.get("ours-irq,thread"), costs.get("timerlat")), 0.75)
need("cost: irq / rtla's", ratio(costs.get("ours-irq"), costs.get("rtla")), 0.35)
need("cost: irq + thread / rtla's", ratio(costs.get("ours-irq,thread"), costs.get("rtla")), 0.75)
need("cost: user / cyclictest's", ratio(costs.get("ours-user"), costs.get("cyclictest")), 1.05)
need("cost: recording one point: irq session - bare hrtimer", minus(costs.get("ours-irq"), costs.get("bare")), 150, "ns")

# ---- growth ----


def grown(points, low, high):
    a, b = of("growth", points, str(low)), of("growth", points, str(high))
    return (b[0][0] - a[0][0]) / (high - low) if a and b else None


growth = {n: grown("value", low, n) for n, low in ((1000, 0), (2000, 1000), (200000, 100000), (10000000, 200000)) if low}
recording = minus(grown("value", 100000, 200000), grown("delta", 100000, 200000))
put(f"  {'lat_record(), by lat_dummy':25} {recording or 0:8.0f}")
need("cost: recording one point: lat_dummy with - without", recording, 150, "ns")
put()
put("Growth: ns of a sample of lat_dummy, with what makes its value")
for n, ns in growth.items():
    put(f"  up to sample {n:8}        {ns or 0:10.2f}")
flat = [growth[n] for n in growth if growth[n]]
need("growth: |up to 10^7 / up to 2x10^3 - 1|", abs(flat[-1] / flat[0] - 1) if len(flat) > 1 else None, 0.02)
need("growth: |up to 10^7 / up to 2x10^5 - 1|", abs(flat[-1] / flat[1] - 1) if len(flat) > 2 else None, 0.02)
for row in rows:
    if row[0] == "memory":
        put(f"  memory after {row[1]:>8}        {row[2]:>10} KiB")
cpus = [row for row in rows if row[0] == "cpus"]
CORES = os.cpu_count()
if cpus:
    first = float(cpus[0][3]) / float(cpus[0][2])
    put(f"  ordinary mode, 8 virtual CPUs on {CORES} cores: time of a sample x cores in use, to that of one CPU")
    for row in cpus:
        n = int(row[1])
        per = float(row[3]) / float(row[2]) * min(n, CORES) / n
        put(f"  {n} CPUs                        {per / first:8.2f}")

# ---- sustained rate ----

put()
put("Sustained rate: shortest period, us, with at most 0.1 % missed; in brackets the next and its share")
sustained = {}
for point, who in dict.fromkeys((row[1], row[2]) for row in rows if row[0] == "rate"):
    best, after = None, None
    for period, count, missed in sorted(r for r in of("rate", point, who) if len(r) == 3)[::-1]:
        share = missed / (count + missed) if count + missed else 1
        if share > 0.001:
            after = (period, share)
            break
        best = int(period)
    sustained[f"{point} {who}"] = best
    put(f"  {point:13} {who:11} {best if best else '-':>6}" + (f"   ({after[0]:.0f}: {100 * after[1]:.2f} %)" if after else ""))
put("  timerlat accepts no period below 100")
for point, limit in (("irq", 5), ("thread", 20), ("user", 20)):
    need(f"sustained: {point}", sustained.get(f"{point} ours"), limit, "us")

# ---- reading ----

put()
put("Reading, us of virtual time")
for row in rows:
    if row[0] == "read":
        put(f"  {row[1]:25} {float(row[2]) / 1000:8.0f}" + (f"   {row[3]} bytes" if row[3] != "0" else ""))
for row in rows:
    if row[0] == "readers":
        put(f"  greatest irq, thread with {row[1]:5} readers: {row[2]} {row[3]} ns")

# ---- the table ----

put()
put("Must reach")
for r in results:
    value = "-" if r["value"] is None else f"{r['value']:.3f}" if not r["unit"] else f"{r['value']:.0f} {r['unit']}"
    word = {True: "reached", False: "MISSED", None: "not measured"}[r["reached"]]
    put(f"  {r['what']:58} {value:>9}  at most {r['limit']:g}{' ' + r['unit'] if r['unit'] else ''}: {word}")
print(VERSIONS)
print()
print("\n".join(lines))

os.makedirs(RESULTS, exist_ok=True)
with open(os.path.join(RESULTS, "results.json"), "w", encoding="ascii") as f:
    json.dump({"versions": VERSIONS,
               "reports": [dict(v, point=p, who=w) for (p, w), v in reports.items()],
               "cost_ns": costs, "recording_ns": recording, "growth_ns": growth, "sustained_us": sustained,
               "stamps": STAMPS, "must_reach": results, "rows": rows}, f, indent=1)
    f.write("\n")

bars = [(f"{point}\\n{who}", r) for (point, who), r in reports.items() if point in ("irq", "thread", "user")]
data = "".join(f'"{name}" {r["mean"]} {r["min"]} {r["max"]}\n' for name, r in bars)
script = f"""set terminal pngcairo size 1100,500
set output "{RESULTS}/timer.png"
set title "Timer to interrupt, thread and user, 6.1-rt, deterministic: least, mean, greatest"
set ylabel "ns"
set yrange [0:*]
set grid y
set boxwidth 0.6
set style fill solid 0.4
unset key
$data << END
{data}END
plot $data using 0:2:xtic(1) with boxes, $data using 0:2:3:4 with yerrorbars
"""
done = subprocess.run(["gnuplot"], input=script, text=True, capture_output=True, check=False)
if done.returncode:
    print(f"# no picture: {done.stderr.strip()}")
