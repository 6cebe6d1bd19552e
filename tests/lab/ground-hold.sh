#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Whether a delay of a known length is found where it was, and as long as it was: interrupts are held
# off by msi_latency's own block_irq, or interrupts or preemption by lat_inject at known moments, and
# every sample of the raw stream is handed back to be compared with the log of the holds.
# shellcheck shell=dash
# lab: --deterministic --device edu
# shellcheck shell=dash source-path=SCRIPTDIR/../lib
. ./tap.sh
. ./guest.sh

# capture NAME MS: one session of the idle instrument in $DIR, that takes MS at most, with its raw
# stream; results into NAME. Nobody looks at it before: that would wake the CPU.
capture() {
	local out="$OUT/$1" file reader
	mkdir -p "$out"
	cat "/dev/${DIR##*/}" >"$out/stream" &
	reader=$!
	# The reader has to be there before the first sample.
	usleep 20000
	echo 1 >"$DIR/enable" || return
	usleep $(($2 * 1000))
	await_idle && wait $reader || return
	for file in summary histogram series; do
		cat "$DIR/$file" >"$out/$file"
	done
}

# ---- msi_latency holds interrupts off after each trigger ----

DIR=/sys/kernel/debug/msi_latency

# The first interrupt of all is late: the line's first use.
block() { # NAME HOLD DITHER COUNT
	load points=irq period=1ms warmup=1 seed=1 "dither=$3" "count=$4" "block_irq=$2" &&
		echo 0 >"$DIR/enable" && capture "$1" 300
	unload
}

for hold in 0 5us 50us 500us 5ms; do
	check "msi_latency with interrupts held off for $hold" block "msi-$hold" "$hold" 0 40
done
# Now and then a tick falls into these.
check "msi_latency with interrupts held off for 500us, at all phases of the tick" block msi-tick 500us 1 200

# ---- lat_inject holds timer_latency up ----

DIR=/sys/kernel/debug/timer_latency

# inject KIND HOLD-NS PHASE-NS PERIOD-NS COUNT: that many samples, and a hold per period all the while.
inject() {
	local name="timer-$1-$2"
	insmod "$LATKIT_MODULES/timer_latency.ko" points=irq,thread offset=500us warmup=0 "count=$5" || return
	insmod "$LATKIT_MODULES/lat_inject.ko" "kind=$1" "hold_ns=$2" "phase_ns=$3" "period_ns=$4" count=1000 &&
		capture "$name" $(($5 * 3 / 2 + 50)) && cat /sys/kernel/debug/lat_inject/holds >"$OUT/$name/holds"
	rmmod lat_inject
	rmmod timer_latency
}

# A hold of no length is what the others are compared with: all of the injector but the hold. Each
# of them begins before the expiry at 500 us and ends well away from another one; a thread begins it
# 6 to 9 us after its phase.
while read -r kind hold phase period count; do
	check "timer_latency with a hold of kind $kind for $hold ns" inject "$kind" "$hold" "$phase" "$period" "$count"
done <<'END'
irqs 0 250000 10000000 1000
irqs 5000 491000 10000000 150
irqs 50000 470000 10000000 150
irqs 500000 250000 10000000 150
irqs 5000000 300000 20000000 150
smi 0 250000 10000000 1000
smi 5000 491000 10000000 150
smi 500000 250000 10000000 150
irq 0 250000 10000000 1000
irq 5000 498000 10000000 150
irq 5000000 300000 20000000 150
preempt 0 250000 10000000 1000
preempt 50000 470000 10000000 150
preempt 5000000 300000 20000000 150
fifo 0 250000 10000000 1000
fifo 50000 470000 10000000 150
fifo 5000000 300000 20000000 150
END
tap_end
