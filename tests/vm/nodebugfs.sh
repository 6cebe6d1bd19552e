#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A kernel without debugfs still measures: what is seen from outside are the interrupts and the
# tracepoints.
# lab: --device edu --smp 2 --append debugfs=off
# shellcheck shell=dash
. ./tap.sh
. ./guest.sh

EVENTS=/sys/kernel/tracing/events/msi_latency
EXPECTED=3500

all_came() { [ "$(interrupts)" -ge $EXPECTED ]; }

check "debugfs is not there" [ ! -d /sys/kernel/debug/tracing ]
check "the module loads" load count=500 warmup=3000
# During the warm-up.
echo 1 >$EVENTS/sample/enable
check "all interrupts come" await 120 all_came
sleep 1
is_equal "and no more: count and warm-up" "$(interrupts)" $EXPECTED
is_equal "every recorded sample has fired its event" "$(grep -c 'sample: point=irq ' /sys/kernel/tracing/trace)" 500
check "the log has no complaint" [ -z "$(our_log | grep -v measuring)" ]
check "rmmod succeeds" unload
check "nothing is left behind" nothing_left
tap_end
