#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# What the core makes of sequences that are known beforehand: each program that the host half has
# written is recorded by lat_dummy, and every file of the instrument is handed back to be compared
# with what must be in it.
# shellcheck shell=dash
# lab: --deterministic
# shellcheck shell=dash source-path=SCRIPTDIR/../lib
. ./tap.sh
. ./guest.sh

DIR=/sys/kernel/debug/lat_dummy
CLOCK=/sys/devices/system/clocksource/clocksource0/current_clocksource

save() { # NAME
	local file
	mkdir -p "$OUT/$1"
	for file in summary histogram outliers series; do
		cat "$DIR/$file" >"$OUT/$1/$file"
	done
	! command -v latkit >/dev/null || latkit show lat_dummy --format json -o "$OUT/$1/report.json"
}

# record PROGRAM PARAMETER...: a session from its start to the end of the program.
begin() {
	insmod "$LATKIT_MODULES/lat_dummy.ko" warmup=0 "$@"
}
run() { echo 1 >"$DIR/enable" && await_idle; }

record() { # NAME
	local name="$1"
	# shellcheck disable=SC2046 # words
	begin $(cat "inputs/$name.parameters") || return
	cat "inputs/$name.program" >"$DIR/program" && run && save "$name"
	rmmod lat_dummy
}

refused() { ! printf "%s\n" "$1" >"$DIR/program" 2>/dev/null; }

for program in inputs/*.program; do
	program=${program##*/}
	check "${program%.program} is recorded" record "${program%.program}"
done

# ---- a reader that is starved ----

# The timer writes more often than a copy can be made.
starve() {
	begin pace=timer period=2us repeat=0 || return
	printf 'value 100 1000\n' >"$DIR/program"
	echo 1 >"$DIR/enable"
	mkdir -p "$OUT/starved"
	cat "$DIR/summary" >"$OUT/starved/running"
	echo 0 >"$DIR/enable"
	save starved
	rmmod lat_dummy
}
check "a session whose writer never pauses can be read and ended" starve

# ---- a clocksource that is changed ----

change_clock() {
	local before
	before=$(cat $CLOCK)
	begin pace=timer period=1ms points=value || return
	printf 'value 100 200\n' >"$DIR/program"
	echo 1 >"$DIR/enable"
	usleep 50000
	echo hpet >$CLOCK
	await_idle
	save changed
	echo "$before" >$CLOCK
	rmmod lat_dummy
}
check "a session runs while the clocksource is changed" change_clock

begin
check "a program that is not understood is refused" refused value
check "an unknown word is refused" refused "valve 5"
check "a number that is none is refused" refused "value 5x"
rmmod lat_dummy
tap_end
