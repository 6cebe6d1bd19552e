#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Every emulated device family measures, counts exactly, gives its device back to the kernel's own
# driver and takes it again, and refuses what it cannot do.
# lab: --device edu --device e1000e --device igb --device pci-testdev --smp 2 --timeout 900
# lab: --modprobe e1000e --modprobe igb --copy tests/lib/families-guest.sh
# shellcheck shell=dash source-path=SCRIPTDIR/../lib
. ./tap.sh
. ./guest.sh
. ./families-guest.sh

# A fifth where time is short; `make check-all` takes all of them.
CYCLES=40
[ -z "$LONG" ] || CYCLES=200
TESTDEV=0000:00:07.0

sessions() {
	DEVICE=$EDU
	session "edu" 1 cpus=1
	is_equal "edu: no interrupt without a stimulus" "$(field spurious)" 0
	is_equal "edu: takes MSI" "$(field vector)" msi
	end "edu"

	DEVICE=$E1000E
	session "e1000e, MSI" 1 cpus=1
	is_equal "e1000e: takes MSI by default" "$(field vector)" msi
	is_equal "e1000e: moderation that stays on is told" "$(grep -c '^trust: warn moderation:' $DIR/summary)" 1
	end "e1000e, MSI"
	# QEMU 10 follows each MSI-X message by another one: they are counted, whatever their number.
	session "e1000e, MSI-X" 1 cpus=1 vector=msix
	end "e1000e, MSI-X"

	DEVICE=$IGB
	session "igb, MSI" 1 cpus=1 vector=msi
	is_equal "igb, MSI: no interrupt without a stimulus" "$(field spurious)" 0
	end "igb, MSI"
	session "igb, MSI-X" 1 cpus=1
	is_equal "igb: takes MSI-X by default" "$(field vector)" msix
	is_equal "igb, MSI-X: no interrupt without a stimulus" "$(field spurious)" 0
	is_equal "igb: nothing holds its messages back" "$(grep -c moderation $DIR/summary)" 0
	end "igb, MSI-X"
}

# ---- facts ----------------------------------------------------------------------

facts() { # NAME
	load cpus=1 vector="$2"
	check "$1: its model is told" [ -n "$(field model)" ]
	is_equal "$1: its power state is told" "$(field power_state)" D0
	check "$1: its link is told" [ -n "$(field link)" ]
	check "$1: the way of the interrupt begins at an MSI controller" expr "$(field irq_route)" : '.*MSI.* > '
	is_equal "$1: nothing remaps interrupts here" "$(field irq_remapping) $(field posted_msi)" "0 0"
	unload
}

# ---- coming and going -------------------------------------------------------------

arrives() { [ "$(interrupts)" -gt 0 ]; }
# One cycle: load, see interrupts, unload amid them, or lose the device to unbind first.
cycle() { # NUMBER VECTOR
	load cpus=0 trigger_cpu=self vector="$2" warmup=0 || return
	await 10 arrives || return
	[ $(($1 % 4)) != 3 ] || echo $DEVICE >"$DRIVER/unbind"
	unload || return
	give_back $DEVICE && take_away $DEVICE
}
cycles() { # VECTORS
	local n=0 vector
	while [ $n -lt $CYCLES ]; do
		for vector in $1; do
			n=$((n + 1))
			cycle $n "$vector" || { echo "cycle $n, vector=$vector"; return 1; }
		done
	done
	nothing_left
}
only_loads() {
	our_log | grep -v ', measuring$' >lines
	same "$(cat lines)" ""
}
comings() { # NAME VECTORS
	log_from_here
	check "$1: $CYCLES times load, interrupt, unload or unbind, and the kernel's own driver" cycles "$2"
	check "$1: they say nothing but that they measure" only_loads
}

# ---- refusals ---------------------------------------------------------------------

# refused ERRNO-TEXT LOG-TEXT PARAMETER...: and nothing has changed.
refused() {
	local errno="$1" text="$2" driver
	shift 2
	driver=$(driver_of $DEVICE)
	log_from_here
	if insmod "$LATKIT_MODULES/msi_latency.ko" "$@" 2>said; then
		unload
		echo "not refused"
		return 1
	fi
	grep -q "$errno" said || { cat said; return 1; }
	our_log | grep -qF -e "$text" || { echo "no '$text' in:"; our_log; return 1; }
	same "$(driver_of $DEVICE)" "$driver" && nothing_left
}
refusals() { # NAME
	local name="$1"
	check "$name: vector=intx is refused" refused Invalid "vector=intx" device=$DEVICE vector=intx
	check "$name: a CPU that is not there is refused" refused Invalid "cpus=9" device=$DEVICE cpus=9
	check "$name: a trigger CPU that is not there is refused" refused Invalid "trigger_cpu=9" device=$DEVICE trigger_cpu=9
	check "$name: two CPUs and MSI are refused" refused Invalid "2 CPUs need as many vectors" device=$DEVICE cpus=0-1 vector=msi
	check "$name: delivered from the measured CPU is refused" refused Invalid "delivered" device=$DEVICE cpus=1 trigger_cpu=self points=irq,delivered
	check "$name: block_irq on another CPU is refused" refused Invalid "block_irq" device=$DEVICE cpus=1 block_irq=10us
	check "$name: a period without unit is refused" refused Invalid "period=1000" device=$DEVICE period=1000
	echo nobody >/sys/bus/pci/devices/$DEVICE/driver_override
	check "$name: a device kept for another driver is refused" refused busy "driver_override" device=$DEVICE
	echo >/sys/bus/pci/devices/$DEVICE/driver_override
	if [ -n "$(own_driver $DEVICE)" ]; then
		give_back $DEVICE
		check "$name: bound to its own driver it is refused, with the way out" refused busy "drivers/$(own_driver $DEVICE)/unbind" device=$DEVICE
		take_away $DEVICE
	fi
	load cpus=1
	# shellcheck disable=SC2016 # for the shell that is started
	check "$name: a second load is refused" sh -c '! insmod "$LATKIT_MODULES/msi_latency.ko" 2>/dev/null'
	unload
}

for device in $E1000E $IGB; do
	is_equal "$device comes with its kernel's own driver" "$(driver_of "$device")" "$(own_driver "$device")"
	take_away "$device"
done
sessions
DEVICE=$EDU
facts edu msi
refusals edu
check "edu: MSI-X is refused" refused Invalid "has no MSI-X" device=$DEVICE vector=msix
comings edu msi
DEVICE=$E1000E
facts e1000e msix
refusals e1000e
comings e1000e "msi msix"
DEVICE=$IGB
facts igb msix
refusals igb
comings igb "msix msi"
DEVICE=$TESTDEV
check "a device of no family is refused" refused "No such device" "belongs to none of the families" device=$TESTDEV
# driver_override brings a device to the driver that its table does not have.
overridden() {
	log_from_here
	echo msi_latency >/sys/bus/pci/devices/$TESTDEV/driver_override
	insmod "$LATKIT_MODULES/msi_latency.ko" || return
	! msi-latency --device $TESTDEV --rebind --loops 10 >/dev/null 2>&1 || return
	! echo $TESTDEV >$DRIVER/bind || return
	unload
	echo >/sys/bus/pci/devices/$TESTDEV/driver_override
	our_log | grep -qF 'belongs to no family' || { our_log; return 1; }
	nothing_left
}
if command -v msi-latency >/dev/null; then
	check "a device of no family that is forced on the driver is refused" overridden
else
	skip "a device of no family that is forced on the driver is refused" "the programs are not built"
fi
tap_end
