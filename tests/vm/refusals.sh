#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# What cannot be meant or done is refused: insmod fails with the right errno, one line of ours in the
# kernel log names what was given and the way out, and nothing has changed.
# lab: --device edu --device pci-testdev --modprobe pci-stub --smp 2
# shellcheck shell=dash
. ./tap.sh
. ./guest.sh

SYSFS=/sys/bus/pci/devices/$DEVICE
CPU1=/sys/devices/system/cpu/cpu1/online

# The kernel says "`1' invalid for parameter `period'" beside our line: that one is not ours.
our_lines() { our_log | grep -v ' invalid for parameter '; }

bound_to() { basename "$(readlink "$SYSFS/driver")" 2>/dev/null; }

# refused ERROR LOG PARAMETER...: that load fails with the words of that errno, logs just LOG.
refused() {
	local error="$1" log="$2" said lines before
	shift 2
	before=$(bound_to)
	log_from_here
	said=$(./load "$LATKIT_MODULES/msi_latency.ko" "$@" 2>&1) && { echo "it loads"; rmmod msi_latency; return 1; }
	case $said in
	*"$error"*) ;;
	*) echo "load says: $said"; return 1 ;;
	esac
	lines=$(our_lines)
	if [ "$(printf '%s\n' "$lines" | grep -c .)" != 1 ] || ! printf '%s\n' "$lines" | grep -qF "$log"; then
		printf 'the log says: %s\n' "$lines"
		return 1
	fi
	same "$(bound_to)" "$before" && nothing_left
}

# A parameter of a session on the device.
bad() { # LOG PARAMETER...
	local log="$1"
	shift
	check "$* is refused" refused "nvalid" "$log" "device=$DEVICE" "$@"
}

# ---- values -----------------------------------------------------------------------

bad "period=1000: needs a whole number and its unit" period=1000
bad "period=1.5ms: needs a whole number and its unit" period=1.5ms
bad "period=10x: needs a whole number and its unit" period=10x
bad "period=fast: not a duration" period=fast
bad "period=-1ms: must be between 1us and 1h" period=-1ms
bad "period=0: must be between 1us and 1h" period=0
bad "period=999ns: must be between 1us and 1h" period=999ns
bad "period=61m: must be between 1us and 1h" period=61m
bad "period=99999999999999999999s: must be between" period=99999999999999999999s
bad "period=: not a duration" period=
bad "count=-1: not a whole number" count=-1
bad "count=many: not a whole number" count=many
bad "count=1000000000001: must be between 0 and 1000000000000" count=1000000000001
bad "warmup=1000001: must be between 0 and 1000000" warmup=1000001
bad "duration=10: needs a whole number and its unit" duration=10
bad "duration=366d: must be between 0 and 365d" duration=366d
bad "priority=0: must be between 1 and 99" priority=0
bad "priority=100: must be between 1 and 99" priority=100
bad "threshold=2h: must be between 0 and 1h" threshold=2h
bad "on_threshold=explode: must be one of note|stop|trace_off" on_threshold=explode
bad "idle=3s: must be between 0 and 2s" idle=3s
bad "ring=1: must be between 4096 and 16777216" ring=1
bad "run=2: must be between 0 and 1" run=2
bad "block_irq=11ms: must be between 0 and 10ms" block_irq=11ms
bad "dither=maybe: not a whole number" dither=maybe
bad "seed=-1: not a whole number" seed=-1
bad "silent=0: must be between 1ms and 1h" silent=0
bad "print_offset=2s: must be between -1s and 1s" print_offset=2s
bad "vector=intx: must be one of auto|msi|msix" vector=intx
bad "pattern=random: must be one of round-robin|simultaneous" pattern=random

# ---- texts ------------------------------------------------------------------------

bad 'points=irq,bogus: "bogus" is none of irq,thread,work' points=irq,bogus
bad 'points=irq,irq: "irq" stands there twice' points=irq,irq
bad 'points=irq,: "" is none of' points=irq,
bad "exceed=irq: must be <point>:<duration>" exceed=irq
bad "exceed=bogus:1us: must be <point>:<duration>" exceed=bogus:1us
bad "exceed=irq:5: a limit needs a number and its unit" exceed=irq:5
bad "exceed=irq:0: a limit needs" exceed=irq:0
bad "more than 4 limits for a point" exceed=irq:1us,irq:2us,irq:3us,irq:4us,irq:5us
bad "linear=1us: must be <width>:<buckets>" linear=1us
bad "linear=1:10: must be <width>:<buckets>" linear=1:10
bad "linear=0:10: the width must be between 1ns and 1s" linear=0:10
bad "linear=2s:10: the width must be" linear=2s:10
bad "linear=1us:0: the width must be" linear=1us:0
bad "linear=1us:65537: the width must be" linear=1us:65537
bad "cpus=x: must be a list" cpus=x
bad "cpus=0-: must be a list" cpus=0-
bad "cpus=!all: names no CPU" cpus=!all
bad "cpus=4095: this machine has the CPUs" cpus=4095
bad "trigger_cpu=x: must be a CPU number" trigger_cpu=x
bad "trigger_cpu=4095: CPU 4095 is not there" trigger_cpu=4095
bad "work_cpu=4095: CPU 4095 is not there" work_cpu=4095
bad "points: the value is longer than" "points=$(printf 'irq,%.0s' 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 \
	25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63 64 65)"

# ---- contradictions ---------------------------------------------------------------

bad "on_threshold=stop: needs a threshold" on_threshold=stop
bad "phase=1ms: must be less than the period" period=1ms phase=1ms
bad "exceed=thread:1us: point thread is not measured" points=irq exceed=thread:1us
bad "block_irq=50us: trigger and measured CPU must be the same" block_irq=50us
bad '"delivered" needs a trigger_cpu that is not measured' points=delivered trigger_cpu=self
bad "has no MSI-X" vector=msix
bad "2 CPUs need as many vectors" cpus=0,1

# ---- CPUs that are away -----------------------------------------------------------

echo 0 >$CPU1
bad "CPU 1 is offline" cpus=1
bad "CPU 1 is offline" trigger_cpu=1
bad "CPU 1 is offline" work_cpu=1
echo 1 >$CPU1

# ---- the device -------------------------------------------------------------------

check "what is no PCI address is refused" refused "nvalid" "device=edu: must be a PCI address" device=edu
check "nor is half an address one" refused "nvalid" "must be a PCI address" device=0000:00:04
check "a device that is not there is refused" refused "No such device" "there is no such PCI device" device=0000:00:1d.7
check "a device of no family is refused" refused "No such device" "belongs to none of the families" device=0000:00:05.0

load count=1
log_from_here
said=$(load 2>&1)
is_equal "a second load says that it is there" "$(printf '%s\n' "$said" | grep -c 'File exists')" 1
is_equal "and changes nothing" "$(field count "$DIR/config") $(bound_to)" "1 msi_latency"
unload

echo pci-stub >"$SYSFS/driver_override"
echo "$DEVICE" >/sys/bus/pci/drivers/pci-stub/bind
is_equal "the device is bound elsewhere" "$(bound_to)" pci-stub
check "a device bound elsewhere is refused" refused "busy" "bound to pci-stub; first: echo $DEVICE > /sys/bus/pci/drivers/pci-stub/unbind" \
	"device=$DEVICE"
echo "$DEVICE" >/sys/bus/pci/drivers/pci-stub/unbind
check "a foreign driver_override is refused" refused "busy" "kept for another driver; first: echo > $SYSFS/driver_override" \
	"device=$DEVICE"
echo >"$SYSFS/driver_override"
check "the way out leads out" load
is_equal "to a session" "$(cat "$DIR/enable")" 1
unload

# ---- what is not refused ------------------------------------------------------------

check "an address without domain is one" insmod "$LATKIT_MODULES/msi_latency.ko" device=00:04.0
unload
log_from_here
check "an unknown parameter does not keep the module from loading" load bogus=1
is_equal "the kernel warns of it" "$(dmesg | grep -c "unknown parameter 'bogus' ignored")" 1
unload
check "without a device the module loads" insmod "$LATKIT_MODULES/msi_latency.ko"
is_equal "and is idle" "$(field state)" idle
log_from_here
check "it cannot start" refuses "No such device" "$DIR/enable" 1
is_equal "and says what to do" "$(our_log | grep -c 'no device is bound; load with device=')" 1
unload
check "nothing is left behind" nothing_left
tap_end
