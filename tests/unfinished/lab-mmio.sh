#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# What mmio_latency adds to the bare read is known to the nanosecond, and whoever steals from a read
# is named: a preemption of a known length is one gap of that length, an interrupt inside a read is
# disturbed, an SMI inside a read is firmware, and the point read has none of them.
# lab: --deterministic --device edu --device e1000e --device pci-testdev
# lab: --copy tests/lib/mmio-guest.sh --timeout 300
# shellcheck shell=dash source-path=SCRIPTDIR/../lib
. ./tap.sh
. ./guest.sh
. ./mmio-guest.sh

INJECT=/sys/kernel/debug/lat_inject
EDU=0000:00:04.0

# The session is not looked at before it is over: who looks, wakes the CPU.
session() { # SECONDS PARAMETER...
	local seconds=$1
	shift
	load "$@" && sleep "$seconds" && await_idle
}
at() { stat_of "$1" "$2"; }
is_clean() { # POINT: no sample is longer than a read with one tick's share of a cold cache
	in_range "$(at "$1" max)" 1 "$((2 * $(at "$1" min)))"
}

# ---- as near to the bare read as 4 ns ---------------------------------------------------

floor_of() { # DEVICE OFFSET
	insmod "$LATKIT_MODULES/lat_floor.ko" stimulus=mmio device="$1" mmio_reg="$2" samples=1000 phase_ns=500000 || return
	sed -n "s/^mmio //p" /sys/kernel/debug/lat_floor/result
	rmmod lat_floor
}
near_floor() { # NAME DEVICE OFFSET
	local name="$1" count floor_min floor_mean rest
	floor_of "$2" "$3" >floor
	read -r count floor_min floor_mean rest <floor
	echo 1 >/sys/bus/pci/devices/"$2"/enable
	check "$name: a session with pauses" session 3 device="$2" offset="$3" count=1000 warmup=0 period=1ms
	diag "$name: first $(at first min)/$(at first mean)/$(at first max) ns, floor $floor_min/$floor_mean ($count, $rest)"
	check "$name: the minimum is within 4 ns of the bare read" in_range "$(at first min)" $((floor_min - 4)) $((floor_min + 4))
	check "$name: the mean is within 4 ns of the bare read" in_range "$(at first mean)" $((floor_mean - 4)) $((floor_mean + 4))
	cat $DIR/summary >>"$OUT/summary"
	unload
}

# ---- a million reads in a second ----------------------------------------------------------

fast() {
	session 2 device=$EDU period=1ms burst=2000 count=500 warmup=0 points=first,read,gap || return
	same "$(reads) $(field overruns)" "1000000 0" || return
	diag "a read and its turn take $(($(at read mean) + $(at gap mean))) ns, $(field ran_ns) ns for $(reads)"
	cat $DIR/summary >>"$OUT/summary"
	# What is busy is reading: a read each so many ns.
	in_range $(($(at read mean) + $(at gap mean))) 1 1000
}

# ---- who stole it ---------------------------------------------------------------------------

hold() { insmod "$LATKIT_MODULES/lat_inject.ko" "$@" && sleep 1 && await 20 grep -q 0 $INJECT/active; }
let_go() { rmmod lat_inject; }

# How many holds began and ended between two times, and how long the shortest and longest were.
holds() {
	awk '!/^#/ { d = $3 - $2; if (!n || d < min) min = d; if (d > max) max = d; n++ } END { print n + 0, min, max }' $INJECT/holds
}
