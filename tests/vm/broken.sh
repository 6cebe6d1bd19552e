#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# What once broke: a session without the point irq, a waiter that dies without a stamp, a message that
# comes after the end of the session.
# lab: --device edu --smp 2 --append iomem=relaxed
# shellcheck shell=dash
. ./tap.sh
. ./guest.sh

# ---- points without irq --------------------------------------------------------

for points in thread work user,thread; do
	load "points=$points" warmup=0 count=20
	check "points=$points ends by its count" await_idle
	is_equal "and says so" "$(field stop_reason)" count
	unload
done

# ---- waiters that die ------------------------------------------------------------

# A sample of zeros makes the file the waiter of CPU 0.
attach() { printf '\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0' >&3; }
next_seq() { dd bs=32 count=1 <&3 2>/dev/null | od -An -td8 -N8 | tr -d ' '; }

load points=user warmup=0 period=2s
exec 3<>/dev/msi_latency
attach
first=$(next_seq)
exec 3>&-
exec 3<>/dev/msi_latency
attach
second=$(next_seq)
check "the next waiter gets the next stimulus" [ "$second" -gt "$first" ]
is_equal "the one before it is lost" "$(stat_of user lost)" 1
exec 3>&-
unload

# ---- messages that are late --------------------------------------------------------

RAISE=$(($(cut -d' ' -f1 "/sys/bus/pci/devices/$DEVICE/resource" | head -n 1) + 0x60))
raise() { devmem "$RAISE" 32 1; }
is_spurious() { raise && [ "$(field spurious)" -ge 1 ]; }

if devmem "$RAISE" 32 >/dev/null 2>&1; then
	load warmup=0
	check "a message without a stimulus is spurious" await 20 is_spurious
	echo 0 >"$DIR/enable"
	before=$(field spurious)
	raise
	sleep 1
	is_equal "after the end it is nothing" "$(field spurious)" "$before"
	echo 1 >"$DIR/enable"
	check "and the next session measures" await 20 grep -q '^value\|^irq ' "$DIR/histogram"
	unload
else
	skip "a message that is late" "this guest cannot write to a register (devmem)"
fi
check "nothing is left behind" nothing_left
tap_end
