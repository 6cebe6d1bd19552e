#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# How much an instrument adds to the bare stimulus: in one boot, on the same grid, the time from a
# register write to its interrupt handler and from a timer's expiry to its handler is taken by
# lat_floor, which does nothing else, and by the instrument.
# shellcheck shell=dash
# once: bare modules beside ours
# lab: --deterministic --device edu --device e1000e --device igb
# shellcheck shell=dash source-path=SCRIPTDIR/../lib
. ./tap.sh
. ./guest.sh

SAMPLES=1000

# floor STIMULUS PARAMETER...: its result, "count min mean max sum".
floor() {
	insmod "$LATKIT_MODULES/lat_floor.ko" "stimulus=$1" samples=$SAMPLES phase_ns=500000 ${2:+"$2"} || return
	sed -n "s/^$1 //p" /sys/kernel/debug/lat_floor/result
	rmmod lat_floor
}

# A session as undisturbed as the floor's own: who looks whether it has ended wakes the CPU, and an
# interrupt that finds it awake is early.
session() { # MODULE PARAMETER...
	local module="$1"
	shift
	insmod "$LATKIT_MODULES/$module.ko" points=irq count=$SAMPLES warmup=0 "$@" || return
	sleep 2
	await_idle
}

# within_5_percent OURS FLOOR
within_5_percent() { in_range "$(($1 * 1000 / $2))" 950 1050; }

# What is below the floor is no merit: the timer found the CPU in another state once.
not_5_percent_above() { in_range "$(($1 * 1000 / $2))" 900 1050; }

# compare NAME FLOOR-RESULT: the session that has just ended against the floor.
compare() {
	local name="$1" min mean
	# shellcheck disable=SC2086 # words
	set -- $2
	min=$(stat_of irq min) mean=$(stat_of irq mean)
	is_equal "$name: as many samples as asked for, on either side" "$(stat_of irq count) $1" "$SAMPLES $SAMPLES"
	diag "$name: min $min mean $mean max $(stat_of irq max) ns, floor min $2 mean $3 max $4 ns"
	check "$name: the minimum is not 5 % above that of the bare stimulus" not_5_percent_above "$min" "$2"
	check "$name: the mean is within 5 % of the bare stimulus" within_5_percent "$mean" "$3"
	printf '%s %s %s %s %s\n' "$name" "$min" "$mean" "$2" "$3" >>"$OUT/floor"
}

# Each device: name, slot, stimulus of the floor, kind of vector.
while read -r name slot stimulus vector; do
	DEVICE=0000:00:$slot.0
	bare=$(floor "$stimulus" "device=$DEVICE")
	check "$name, $vector: can be measured" session msi_latency "device=$DEVICE" "vector=$vector" dither=0
	compare "$name, $vector" "$bare"
	unload
done <<'END'
edu 04 edu msi
e1000e 05 e1000e msi
igb 06 igb-msi msi
igb 06 igb-msix msix
END

DIR=/sys/kernel/debug/timer_latency
bare=$(floor timer)
check "timer: can be measured" session timer_latency offset=500us run=1
compare timer "$bare"
rmmod timer_latency
tap_end
