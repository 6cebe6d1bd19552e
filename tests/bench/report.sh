#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# First guest of the benchmark: what each tool reports of the same stimulus. A row is
#	report POINT WHO PHASE count min mean max	(ns)
#
# The grid has 997 us and the tick 4000 us: 4000 samples meet the tick once at each of its 4000
# microseconds, from wherever they begin, so that every mean is over the same set of phases. The
# eight PHASEs, an eighth of a period apart, are where the grid begins.
# shellcheck shell=dash disable=SC2046,SC2086
# Figures are words, to be split.
. ./common.sh

floor() { # STIMULUS PARAMETER...: count min mean max
	local stimulus=$1
	shift
	insmod "$LATKIT_MODULES/lat_floor.ko" stimulus="$stimulus" samples=$SAMPLES period_ns=$PERIOD_NS "$@" || return
	sed -n "s/^$stimulus \(.*\) [0-9]*$/\1/p" /sys/kernel/debug/lat_floor/result
	rmmod lat_floor
}

# A session that nobody looks at until it is over.
session() { # MODULE PARAMETER...
	local module=$1
	shift
	DIR=/sys/kernel/debug/$module
	insmod "$LATKIT_MODULES/$module.ko" warmup=0 count=$SAMPLES period=${PERIOD_NS}ns run=1 "$@" || return
	./clock busy $((WINDOW_NS + 200000000)) >/dev/null
	await_idle
}

timer_phase() { # PHASE
	local phase=$1
	out report irq bare "$phase" $(floor timer phase_ns=$phase)
	session timer_latency points=irq offset=${phase}ns
	out report irq ours-alone "$phase" $(row irq)
	rmmod timer_latency
	session timer_latency points=irq,thread offset=${phase}ns
	out report irq ours "$phase" $(row irq)
	out report thread ours "$phase" $(row thread)
	rmmod timer_latency
	insmod "$LATKIT_MODULES/timer_latency.ko"
	DIR=/sys/kernel/debug/timer_latency
	timer-latency --points user --priority 95 --cpus 0 --count $SAMPLES --warmup 0 \
		--period ${PERIOD_NS}ns --offset ${phase}ns --quiet >"$OUT/user.$phase"
	out report user ours "$phase" $(row user)
	rmmod timer_latency
	./clock at "$phase" $PERIOD_NS cyclictest $CYCLICTEST -l $SAMPLES >"$OUT/cyclictest.$phase"
	out report user cyclictest "$phase" $(sed -n 's/.*C: *\([0-9]*\) Min: *\([0-9]*\) .*Avg: *\([0-9]*\) Max: *\([0-9]*\).*/\1 \2 \3 \4/p' "$OUT/cyclictest.$phase")
	timerlat_on
	./clock at "$phase" $PERIOD_NS true
	timerlat_begin
	./clock busy $WINDOW_NS >/dev/null
	echo 0 >tracing/tracing_on
	timerlat_rows "$phase"
	timerlat_off
}

timerlat_rows() {
	awk -v phase="$1" '
		/timer_latency/ {
			for (i = 1; i <= NF; i++) {
				if ($i == "context") point = $(i + 1)
				if ($i == "timer_latency") ns = $(i + 1)
			}
			if (!n[point]++ || ns < least[point]) least[point] = ns
			if (ns > most[point]) most[point] = ns
			sum[point] += ns
		}
		END { for (p in n) printf "report %s timerlat %s %d %d %.0f %d\n", p, phase, n[p], least[p], sum[p] / n[p], most[p] }
	' tracing/trace >>"$OUT/figures"
}

for eighth in 0 1 2 3 4 5 6 7; do
	timer_phase $((PERIOD_NS * eighth / 8))
done

# rtla, once: its start takes longer than all of the above.
./clock at 0 $PERIOD_NS rtla timerlat hist $RTLA -d 4 >"$OUT/rtla"
for column in irq:2 thread:3; do
	out report ${column%:*} rtla 0 $(for line in count min avg max; do
		awk -v line="$line:" -v column="${column#*:}" '$1 == line { print $column }' "$OUT/rtla"; done)
done

# ---- devices against the floor ----

while read -r _ slot stimulus vector; do
	device=0000:00:$slot.0
	bare=$(floor "$stimulus" device=$device phase_ns=$((PERIOD_NS / 2))) || continue
	session msi_latency points=irq device=$device vector=$vector dither=0 || continue
	out report "msi-$stimulus" bare 0 $bare
	out report "msi-$stimulus" ours 0 $(row irq)
	rmmod msi_latency
done <<'END'
edu 04 edu msi
e1000e 05 e1000e msi
igb 06 igb-msi msi
igb 06 igb-msix msix
END
out report mmio bare 0 $(floor mmio device=0000:00:04.0 phase_ns=$((PERIOD_NS / 2)))
if session mmio_latency device=0000:00:04.0; then
	out report mmio ours 0 $(row "$(awk '/^#point .* min/ { getline; print $1; exit }' "$DIR/summary")")
	rmmod mmio_latency
fi
exit 0
