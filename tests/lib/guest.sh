# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# What guest tests share: loading msi_latency on the first --device, waiting for its session, and
# reading its debugfs files. For busybox's sh; sourced after tap.sh.

DEVICE=0000:00:04.0
DIR=/sys/kernel/debug/msi_latency
DRIVER=/sys/bus/pci/drivers/msi_latency

# Load it on the device, with more parameters.
load() { ./load "$LATKIT_MODULES/msi_latency.ko" "device=$DEVICE" "$@"; }

unload() { rmmod msi_latency; }

# await SECONDS COMMAND...: until COMMAND succeeds; fails after that time.
await() {
	local tries=$(($1 * 20))
	shift
	until "$@" >/dev/null 2>&1; do
		tries=$((tries - 1))
		[ "$tries" -gt 0 ] || { echo "never: $*"; return 1; }
		usleep 50000
	done
}

is_idle() { [ "$(cat "$DIR/enable")" = 0 ]; }
is_running() { [ "$(cat "$DIR/enable")" = 1 ]; }

# A host that is busy stretches a session: wait long before giving up.
await_idle() { await 120 is_idle; }

# measure PARAMETER...: a whole session, whatever ends it.
measure() { load "$@" && await_idle; }

# field KEY [FILE]: value of a "key: value" line.
field() { sed -n "s/^$1: //p" "${2:-$DIR/summary}"; }

# stat_of POINT COLUMN [SUMMARY]: a number of the point's row; columns as the header names them.
stat_of() {
	awk -v point="$1" -v column="$2" '
		/^#point .* min / { for (i = 1; i <= NF; i++) at[$i] = i }
		/^#point .* over / { exit }
		$1 == point { print $(at[column]) }' "${3:-$DIR/summary}"
}

# percentile POINT due|recorded p50|… [SUMMARY]
percentile() {
	awk -v point="$1" -v over="$2" -v column="$3" '
		/^#point .* over / { for (i = 1; i <= NF; i++) at[$i] = i }
		$1 == point && $3 == over { print $(at[column]) }' "${4:-$DIR/summary}"
}

# buckets POINT KIND [ABOVE-NS [HISTOGRAM]]: samples of a kind, in buckets wholly above a value.
buckets() {
	awk -v point="$1" -v kind="$2" -v above="${3:--1}" '
		$1 == point && $3 == kind && $4 > above { n += $6 } END { print n + 0 }' "${4:-$DIR/histogram}"
}

# The interrupts of the module's lines so far, all CPUs.
interrupts() {
	awk '/ msi_latency$/ { for (i = 2; $i ~ /^[0-9]+$/; i++) n += $i } END { print n + 0 }' /proc/interrupts
}

# The kernel log from here on, and our lines in it.
log_from_here() { dmesg -c >/dev/null; }
our_log() { dmesg | grep 'msi_latency[: ]' | grep -v 'out-of-tree module\|module verification failed'; }

# Process ids of the threads whose name begins with a text.
threads() { ps -o pid,comm | awk -v name="$1" 'index($2, name) == 1 { print $1 }'; }

# Nothing of the module is left: no files, no driver, no interrupt, and the device is free.
nothing_left() {
	[ ! -e "$DIR" ] || { echo "$DIR is there"; return 1; }
	[ ! -e "${DIR}_test" ] || { echo "${DIR}_test is there"; return 1; }
	[ ! -e "$DRIVER" ] || { echo "the driver is registered"; return 1; }
	! grep -q msi_latency /proc/interrupts || { echo "an interrupt is requested"; return 1; }
	! grep -q '^msi_latency ' /proc/modules || { echo "the module is loaded"; return 1; }
	[ -z "$(ls /sys/kernel/tracing/events/msi_latency 2>/dev/null)" ] || { echo "its events are there"; return 1; }
	[ -z "$(threads msi_latency)" ] || { echo "a thread is there"; return 1; }
}

# refuses ERROR FILE TEXT: writing TEXT to FILE at once fails, with the words of that errno.
refuses() {
	local said
	said=$(printf '%s' "$3" | dd "of=$2" bs=4096 conv=notrunc 2>&1) && { echo "$2 takes \"$3\""; return 1; }
	case $said in
	*"$1"*) ;;
	*) echo "$said"; return 1 ;;
	esac
}
