#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Several CPUs are measured at once, each by a vector of its own, and none gets another's interrupts.
# lab: --device edu --device e1000e --device igb --smp 4 --timeout 200
# lab: --copy tests/lib/families-guest.sh
# shellcheck shell=dash source-path=SCRIPTDIR/../lib
. ./tap.sh
. ./guest.sh
. ./families-guest.sh

DEVICE=$IGB
for pattern in round-robin simultaneous; do
	session "igb, three CPUs, $pattern" "1 2 3" cpus=1-3 pattern=$pattern
	is_equal "igb, three CPUs, $pattern: no interrupt without a stimulus" "$(field spurious)" 0
	end "igb, three CPUs, $pattern"
done
# Not e1000e: QEMU sends every MSI-X message of it twice, and the second may come at any moment.
# shellcheck disable=SC2016 # for the shell that is started
check "edu: two CPUs are refused, it has one vector" \
	sh -c '! insmod "$LATKIT_MODULES/msi_latency.ko" device=0000:00:04.0 cpus=1-2 2>/dev/null'
tap_end
