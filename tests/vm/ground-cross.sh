#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A delay from outside on two CPUs: CPU 0 triggers, lat_inject holds interrupts off on CPU 1, where
# they go, and what the stream says is compared with the log of the holds. The guest's clock follows
# the host's here, so that nothing is asserted but what causes force: a message that was sent while
# interrupts were off is not handled before they are on.
# lab: --device edu --smp 2
# shellcheck shell=dash source-path=SCRIPTDIR/../lib
. ./tap.sh
. ./guest.sh

HOLD=50000000 PERIOD=250000000 HOLDS=8

# One message is under way at a time: what is due while it is held off is skipped.
scene() {
	local reader
	load cpus=1 trigger_cpu=0 points=irq period=1ms dither=0 warmup=0 duration=3s || return
	echo 0 >"$DIR/enable"
	insmod "$LATKIT_MODULES/lat_inject.ko" kind=irqs cpu=1 hold_ns=$HOLD period_ns=$PERIOD count=$HOLDS || return
	cat /dev/msi_latency >stream &
	reader=$!
	usleep 100000
	echo 1 >"$DIR/enable" || return
	await_idle && wait $reader && cp "$DIR/summary" summary && cp /sys/kernel/debug/lat_inject/holds holds
}

# "time_ns latency_ns" of each record, for the stream is binary: od prints its four pairs of words.
samples() { od -A n -v -t d8 -w32 stream | awk '{ print $2, $3 }'; }

# Each hold with what it has hit: "rest-of-the-hold latency", the first stimulus that fell into it.
hits() {
	samples | awk '
		NR == FNR { if ($1 !~ /^#/) { off[++n] = $2; on[n] = $3 } next }
		{ for (i = 1; i <= n; i++)
			if ($1 >= off[i] && $1 <= on[i] && !hit[i]++) print on[i] - $1, $2 }' holds -
}
# Stimuli that fell into a hold, and were over half its length late.
over_in_holds() {
	samples | awk -v half=$((HOLD / 2)) '
		NR == FNR { if ($1 !~ /^#/) { off[++n] = $2; on[n] = $3 } next }
		$2 > half { for (i = 1; i <= n; i++) if ($1 >= off[i] && $1 <= on[i]) count++ }
		END { print count + 0 }' holds -
}
# Holds that hit a stimulus with more than half of them to come.
holds_that_hit() { hits | awk -v half=$((HOLD / 2)) '$1 > half { n++ } END { print n + 0 }'; }
not_before_the_end() { hits | awk '$2 < $1 { print "handled", $1 - $2, "ns before interrupts were on"; bad = 1 } END { exit bad }'; }
held_long_enough() { awk -v hold=$HOLD '$1 !~ /^#/ && $3 - $2 < hold { print; bad = 1 } END { exit bad }' holds; }

check "a session with holds on the measured CPU runs" scene
check "every hold is as long as asked for, at least" held_long_enough
# The trigger is due every millisecond; a host that takes its CPU away for half a hold is possible.
check "most holds hit a stimulus" in_range "$(holds_that_hit)" 5 $HOLDS
check "no message is handled before interrupts are on" not_before_the_end
is_equal "samples over half a hold are as many as the holds that hit" "$(over_in_holds)" "$(holds_that_hit)"
check "the maximum is over half a hold" in_range "$(stat_of irq max summary)" $((HOLD / 2)) 10000000000
check "what was due meanwhile is missed" in_range "$(stat_of irq missed summary)" $(($(holds_that_hit) * 20)) 3000
rmmod lat_inject

# ---- a storm of interprocessor interrupts ----

calls() { awk '$1 == "CAL:" { print $3 }' /proc/interrupts; }

storm() {
	local before
	before=$(calls)
	insmod "$LATKIT_MODULES/lat_inject.ko" kind=ipi cpu=1 from_cpu=0 hold_ns=20000000 period_ns=100000000 count=5 || return
	await 30 grep -q '^0$' /sys/kernel/debug/lat_inject/active
	cp /sys/kernel/debug/lat_inject/holds holds
	rmmod lat_inject
	in_range $(($(calls) - before)) 100 100000000
}
rmmod msi_latency
load cpus=1 trigger_cpu=0 points=irq period=1ms dither=0 warmup=0
check "a storm of interprocessor interrupts comes to the measured CPU" storm
check "the session goes on through it" is_running
echo 0 >"$DIR/enable"
is_equal "every storm is logged" "$(grep -vc '^#' holds)" 5
is_equal "what was due is recorded or missed, nothing is lost" "$(field lost) $(field spurious)" "0 0"
unload
tap_end
