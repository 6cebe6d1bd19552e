#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The same delays seen by timer_latency, by the kernel's timerlat (rtla) and by cyclictest, in one
# boot: lat_inject holds interrupts off for a known time, on a grid that drifts by 2 us against the
# tools' periods, so that within a session a hold begins within 2 us before an expiry of each.
# A maximum is then the hold, less up to 2 us, and what the tool itself adds: the way from the
# interrupt to the thread, and for the user thread of all points the kernel thread that runs first.
# shellcheck disable=SC2086 # numbers and words
# kernels: 6.1-rt
# once: other people's programs beside ours
# lab: --deterministic --copy /usr/bin/rtla --copy /usr/bin/cyclictest
. ./tap.sh
. ./guest.sh

LOOPS=6000
DRIFT=2000
# Our expiries lie in the middle between two multiples of a millisecond: no tick falls into these holds.
HOLDS="100000 200000 400000"

case $KERNEL in
*-rt) ;;
*) echo "1..0 # SKIP $KERNEL has no timerlat"; exit 0 ;;
esac

# Each prints "NAME MAX-NS" a line.
ours() { # NAME POINTS
	timer-latency --points "$2" -c 0 -l $LOOPS --warmup 0 -n -q >ours.out || return
	awk -v name="$1" '$1 == "point" { for (i = 1; i <= NF; i++) if ($i == "max") at = i }
		at && $2 == 0 && $1 ~ /^(irq|thread|user)$/ { print name "-" $1, $at }' ours.out
}
timerlat() {
	./rtla timerlat hist -n -c 0 -p 1000 -d 6s >timerlat.out 2>&1 || { cat timerlat.out; return; }
	awk '$1 == "max:" { print "timerlat-irq", $2; print "timerlat-thread", $3 }' timerlat.out
}
cyclic() {
	./cyclictest -q -N -m -p 95 -i 1000 -l $LOOPS >cyclictest.out 2>&1 || { cat cyclictest.out; return; }
	sed -n 's/.*Max: *\([0-9]*\)$/cyclictest-user \1/p' cyclictest.out
}

with_hold() { # HOLD-NS
	insmod "$LATKIT_MODULES/lat_inject.ko" kind=irqs "hold_ns=$1" period_ns=$((10000000 + DRIFT)) count=100000
	{ ours ours irq,thread,user; ours alone user; timerlat; cyclic; } >"max.$1"
	rmmod lat_inject
	diag "hold $1 ns: $(xargs <"max.$1")"
	cp "max.$1" "$OUT/"
}

max_of() { sed -n "s/^$2 //p" "max.$1"; }

insmod "$LATKIT_MODULES/timer_latency.ko"
for hold in $HOLDS; do
	with_hold "$hold"
done
rmmod timer_latency

TOOLS="ours-irq ours-thread ours-user alone-user timerlat-irq timerlat-thread cyclictest-user"
for tool in $TOOLS; do
	case $tool in
	*-irq) slack=$((DRIFT + 500)) ;;
	# On the way to a thread there may be a tick, of 3 to 4 us.
	*) slack=$((DRIFT + 5000)) ;;
	esac
	check "$tool: a hold longer by 100 us makes the maximum greater by that, to the drift" \
		in_range "$(($(max_of 200000 $tool) - $(max_of 100000 $tool)))" $((100000 - slack)) $((100000 + slack))
	check "$tool: and one by 300 us by that" \
		in_range "$(($(max_of 400000 $tool) - $(max_of 100000 $tool)))" $((300000 - slack)) $((300000 + slack))
done
for hold in $HOLDS; do
	check "$hold ns: the interrupt is seen alike by ours and timerlat, to the drift" \
		in_range "$(($(max_of "$hold" ours-irq) - $(max_of "$hold" timerlat-irq)))" -$((DRIFT + 500)) $((DRIFT + 500))
done
tap_end
