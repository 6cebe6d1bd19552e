#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Where no message-signalled interrupts are to be had, there is nothing to measure.
# lab: --device edu --append pci=nomsi
# shellcheck shell=dash
. ./tap.sh
. ./guest.sh

log_from_here
said=$(./load "$LATKIT_MODULES/msi_latency.ko" device=$DEVICE 2>&1)
ok $((!$?)) "insmod fails"
diag "$said"
diag "$(our_log)"
is_equal "with one line that says why" "$(our_log | grep -c "MSI.*$DEVICE")" 1
is_equal "and no other" "$(our_log | wc -l)" 1
check "nothing is left behind" nothing_left
tap_end
