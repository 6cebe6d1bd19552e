#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# What msi-latency costs, in virtual time, where a figure means the same on every host: memory, CPU
# time while it waits, and the time from its start to the first stimulus. Start it by
# `tests/lib/guest-test 6.1 tests/cli/vm-cost.sh`.
# lab: --deterministic --device edu
# shellcheck source=tests/lib/tap.sh
. ./tap.sh

EDU=0000:00:04.0
OUT=${OUT:-/tmp}

insmod "$LATKIT_MODULES/msi_latency.ko"

# uptime is in steps of 10 ms, rounded down: the claim is that much stricter
begin_ms=$(awk '{ printf "%d", $1 * 1000 }' /proc/uptime)
msi-latency --device $EDU -l 50 --warmup 0 -q --format json -o "$OUT/start.json"
first_ns=$(sed -n 's/.*"first_ns": \([0-9]*\).*/\1/p' "$OUT/start.json" | head -n 1)
check "from start to first stimulus it takes less than 100 ms" \
	in_range $((${first_ns:-0} / 1000000 - begin_ms)) 0 99

msi-latency --device $EDU -p 10ms -q >"$OUT/text" 2>"$OUT/errors" &
pid=$!
sleep 2
ticks() { awk '{ print $14 + $15 }' "/proc/$pid/stat"; }
before=$(ticks)
sleep 10
check "while waiting it takes less than 1 % of a CPU" in_range $(($(ticks) - before)) 0 9
check "its peak memory is at most 8 MiB" \
	in_range "$(sed -n 's/^VmHWM:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$pid/status")" 1 8192
kill -TERM $pid
wait $pid
is_equal "and it ends as told" $? 0
tap_end
