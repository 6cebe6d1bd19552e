#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# The checks of tests/vm/families.sh on a real device of this machine, in TAP, for whoever has one:
#
#	make modules && LATKIT_HW_DEVICE=0000:03:00.0 tests/hw/run.sh
#
# The device is taken from its driver while this runs and given back at the end. Nothing runs unless
# it is named, and a device whose network interface is up is refused. What was seen is left in
# build/hw/<device>/, with the form of tests/hw/REPORT.md begun, to be sent back.
#
# LATKIT_HW_CYCLES=N   how often the device changes hands (20)
# LATKIT_HW_CPUS=LIST  CPUs to measure, one vector each (up to three, but the first)
# LATKIT_MODULES=DIR   where msi_latency.ko is (modules/)

HERE=$(cd "$(dirname "$0")" && pwd)
TOP=$(cd "$HERE/../.." && pwd)
# Where everything lies in one directory, as in a guest of the lab, that is the tree.
LIB=$TOP/tests/lib
[ -e "$LIB/tap.sh" ] || LIB=$HERE TOP=$HERE
# shellcheck source=tests/lib/tap.sh
. "$LIB/tap.sh"
# shellcheck source=tests/lib/guest.sh
. "$LIB/guest.sh"
# shellcheck source=tests/lib/families-guest.sh
. "$LIB/families-guest.sh"

stop() { # WHY
	printf 'tests/hw: %s\n' "$1" >&2
	exit 4
}

DEVICE=${LATKIT_HW_DEVICE:-}
[ -n "$DEVICE" ] || stop "takes a device of this machine away for a while; name it: LATKIT_HW_DEVICE=0000:03:00.0 $0"
SYS=/sys/bus/pci/devices/$DEVICE
CYCLES=${LATKIT_HW_CYCLES:-20}
LATKIT_MODULES=${LATKIT_MODULES:-$TOP/modules}
RESULTS=${OUT:-$TOP/build/hw}/$DEVICE

[ "$(id -u)" = 0 ] || stop "must be root to load modules"
[ -e "$SYS/vendor" ] || stop "$DEVICE: there is no such PCI device; as lspci -D prints it"
[ -e "$LATKIT_MODULES/msi_latency.ko" ] || stop "$LATKIT_MODULES/msi_latency.ko is missing: make modules"
[ ! -e "$DIR" ] || stop "msi_latency is loaded: rmmod msi_latency"
for interface in "$SYS"/net/*; do
	[ ! -e "$interface/flags" ] || [ $(($(cat "$interface/flags") & 1)) = 0 ] ||
		stop "$DEVICE: its interface ${interface##*/} is up; if nothing needs it: ip link set ${interface##*/} down"
done

# busybox has usleep, others do not.
command -v usleep >/dev/null || usleep() { sleep "$(printf '0.%06d' "$1")"; }

DRIVER_BEFORE=$(driver_of "$DEVICE")
own_driver() { echo "$DRIVER_BEFORE"; }
restore() {
	[ ! -e "$DIR" ] || rmmod msi_latency
	[ -z "$DRIVER_BEFORE" ] || [ -n "$(driver_of "$DEVICE")" ] || give_back "$DEVICE"
}
trap restore EXIT
trap 'exit 143' INT TERM HUP

# ---- what was seen ------------------------------------------------------------------

mkdir -p "$RESULTS" || stop "$RESULTS cannot be made"

keep() { cp $DIR/summary "$RESULTS/$1.summary" && cp $DIR/histogram "$RESULTS/$1.histogram"; }

# The form, with what can be filled in without asking anybody.
begin_report() {
	sed -e "s|^\(Device:\).*|\1 $DEVICE $(cat "$SYS/vendor") $(cat "$SYS/device"), subsystem $(cat "$SYS/subsystem_vendor") $(cat "$SYS/subsystem_device"), revision $(cat "$SYS/revision")|" \
		-e "s|^\(Model and family as the module says:\).*|\1 $(field model "$RESULTS/msi.summary"), $(field family "$RESULTS/msi.summary")|" \
		-e "s|^\(Kernel:\).*|\1 $(uname -r) $(uname -m)|" \
		-e "s|^\(Command line:\).*|\1 $(cat /proc/cmdline)|" \
		-e "s|^\(Kernel's own driver:\).*|\1 ${DRIVER_BEFORE:-none}|" \
		"$HERE/REPORT.md" >"$RESULTS/REPORT.md"
	lspci -vvvnn -s "$DEVICE" >"$RESULTS/lspci" 2>/dev/null
	dmesg >"$RESULTS/dmesg"
}

# ---- the checks -----------------------------------------------------------------------

# The last CPU and those before it, never CPU 0 where there are others.
default_cpus() { # HOW-MANY
	awk -v n="$1" '/^processor/ { cpu[k++] = $3 } END { for (i = k > n ? k - n : k > 1; i < k; i++) printf "%s%s", (s++ ? "," : ""), cpu[i] }' /proc/cpuinfo
}
CPU=$(default_cpus 1)

# Moderation or an unfinished handler may send one more message; silicon must not.
no_spurious() { same "$(field spurious)" 0; }
not_moderated() { ! grep '^trust: .* moderation' $DIR/summary; }

one_cpu() { # VECTOR
	if ! load "vector=$1" "cpus=$CPU" warmup=$WARMUP count=1 2>/dev/null; then
		skip "$1: measured" "the device or its family has no $1"
		return
	fi
	unload
	session "$1" "$CPU" "cpus=$CPU" "vector=$1"
	check "$1: no interrupt without a stimulus" no_spurious
	check "$1: nothing holds its messages back" not_moderated
	check "$1: it runs in full power" same "$(field power_state)" D0
	keep "$1"
	end "$1"
}
several_cpus() { # PATTERN
	local cpus
	cpus=${LATKIT_HW_CPUS:-$(default_cpus 3)}
	if ! load vector=msix "cpus=$cpus" count=1 2>/dev/null; then
		skip "$1: CPUs $cpus measured" "it has too few vectors or the machine too few CPUs"
		return
	fi
	unload
	# shellcheck disable=SC2046
	session "$1" "$(echo "$cpus" | tr , ' ')" "cpus=$cpus" vector=msix "pattern=$1"
	check "$1: no interrupt without a stimulus" no_spurious
	keep "cpus-$1"
	end "$1"
}
arrives() { [ "$(interrupts)" -gt 0 ]; }
hand_over() {
	load "cpus=$CPU" warmup=0 && await 10 arrives && unload && give_back "$DEVICE" && take_away "$DEVICE"
}
cycles() {
	local n=0
	while [ "$n" -lt "$CYCLES" ]; do
		n=$((n + 1))
		hand_over || { echo "cycle $n"; return 1; }
	done
	nothing_left
}
log_is_clean() { ! dmesg | grep -E 'BUG:|WARNING:|Oops|Call Trace|INFO: task|IRQ.*nobody cared'; }

refused_while_bound() { ! load 2>/dev/null; }
[ -z "$DRIVER_BEFORE" ] || check "bound to $DRIVER_BEFORE it is refused" refused_while_bound
is_equal "the refusal has changed nothing" "$(driver_of "$DEVICE")" "$DRIVER_BEFORE"
take_away "$DEVICE"
log_from_here
one_cpu msi
one_cpu msix
several_cpus round-robin
several_cpus simultaneous
check "it changes hands $CYCLES times" cycles
check "the kernel log is clean" log_is_clean
restore
is_equal "it is given back" "$(driver_of "$DEVICE")" "$DRIVER_BEFORE"
begin_report
diag "what was seen is in $RESULTS; please complete and send REPORT.md and the rest of it"
tap_end
