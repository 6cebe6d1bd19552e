#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# What the stimulus itself costs, with nothing else going on, is known to the nanosecond for each
# emulated device: our handler adds nothing to it.
# lab: --deterministic --device edu --device e1000e --device igb --timeout 200
# shellcheck shell=dash source-path=SCRIPTDIR/../lib
. ./tap.sh
. ./guest.sh

# From the trigger's write to the handler's stamp, with a probe that has nothing but the stamp
# (QEMU 10, 6.1). Half a tenth more or less is ours.
floor_holds() { # FLOOR-NS
	local stat
	for stat in min mean max; do
		in_range "$(stat_of irq $stat)" $(($1 * 95 / 100)) $(($1 * 105 / 100)) || { echo "$stat"; return 1; }
	done
}
run() { # NAME DEVICE FLOOR-NS PARAMETER...
	local name="$1" floor="$3"
	DEVICE=$2
	shift 3
	measure count=500 warmup=100 points=irq trigger_cpu=self dither=0 "$@" || return
	diag "$name: $(stat_of irq min)/$(stat_of irq mean)/$(stat_of irq max) ns"
	cat $DIR/summary $DIR/histogram >"$OUT/$name"
	if [ "$KERNEL" = 6.1 ]; then
		check "$name: min, mean and max within 5 % of $floor ns" floor_holds "$floor"
	else
		skip "$name: min, mean and max within 5 % of $floor ns" "no floor is known for $KERNEL"
	fi
	unload
}
run edu 0000:00:04.0 572
run e1000e-msi 0000:00:05.0 578 vector=msi
run e1000e-msix 0000:00:05.0 578 vector=msix
run igb-msi 0000:00:06.0 578 vector=msi
run igb-msix 0000:00:06.0 578 vector=msix
tap_end
