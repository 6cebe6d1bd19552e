#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# mmio_latency reads devices that their drivers go on using: reads are counted exactly, nobody
# notices, a device that goes away ends the session, and what cannot be read is refused with its
# reason. The guest speaks to its own QEMU: COM2 is a client of QEMU's monitor.
# lab: --net hub --device edu --device e1000e --device e1000e --device igb
# lab: --device nvme,serial=x,drive=disk --device qemu-xhci,id=usb --device usb-kbd,bus=usb.0
# lab: --device pci-testdev,membar=64K --device pci-testdev,membar=1024G --device e1000e,bus=root1,id=victim
# lab: --qemu -blockdev --qemu driver=null-co,node-name=disk,size=16777216,read-zeroes=on
# lab: --qemu -device --qemu pcie-root-port,id=root1,chassis=1,slot=1,addr=0x10
# lab: --qemu -qmp --qemu unix:@WORK@/qmp,server=on,wait=off
# lab: --qemu -chardev --qemu socket,id=qmp,path=@WORK@/qmp --qemu -serial --qemu chardev:qmp
# lab: --modprobe e1000e --modprobe igb --modprobe nvme --modprobe xhci_pci
# lab: --copy tests/lib/mmio-guest.sh --timeout 600
# shellcheck shell=dash source-path=SCRIPTDIR/../lib
. ./tap.sh
. ./guest.sh
. ./mmio-guest.sh

EDU=0000:00:04.0 E1000E=0000:00:05.0 PARTNER=0000:00:06.0 IGB=0000:00:07.0 NVME=0000:00:08.0
XHCI=0000:00:09.0 TESTDEV=0000:00:0a.0 HUGE=0000:00:0b.0 VICTIM=0000:01:00.0
PCI=/sys/bus/pci/devices
BURSTS=400 BURST=4

netdev_of() { basename $PCI/"$1"/net/*; }
driver_of() { basename "$(readlink "$PCI/$1/driver")"; }
config() { # DEVICE OFFSET BYTES [OCTAL...]: read config space as hex, or write it
	local device=$1 offset=$2 bytes=$3
	shift 3
	if [ $# = 0 ]; then
		dd if=$PCI/"$device"/config bs=1 skip="$offset" count="$bytes" 2>/dev/null | hexdump -ve '1/1 "%02x"'
	else
		# shellcheck disable=SC2059 # the format is the data
		printf "$*" | dd of=$PCI/"$device"/config bs=1 seek="$offset" count="$bytes" conv=notrunc 2>/dev/null
	fi
}

# ---- devices at work --------------------------------------------------------------

# The two ends of a wire, in two worlds.
wire() {
	local other
	unshare -n sleep 100000 >/dev/null 2>&1 &
	other=$!
	usleep 300000
	ip link set "$(netdev_of $PARTNER)" netns $other name far || return
	nsenter -t $other -n sh -c 'ip link set far up; ip addr add 10.0.0.2/24 dev far' || return
	ip addr add 10.0.0.1/24 dev "$(netdev_of $E1000E)"
	ip link set "$(netdev_of $E1000E)" up
	await 60 ping -c 1 -W 1 10.0.0.2
}

# What each driver does meanwhile, and what it counts of it.
work_of() {
	case $1 in
	"$E1000E") exec ping -q -c 100000 -i 0.01 10.0.0.2 >/dev/null ;;
	"$NVME") while dd if=/dev/nvme0n1 of=/dev/null bs=4k count=64 iflag=direct 2>/dev/null; do :; done ;;
	"$XHCI") while :; do
			echo 0 >/sys/bus/usb/devices/1-1/authorized
			echo 1 >/sys/bus/usb/devices/1-1/authorized
		done 2>/dev/null ;;
	"$IGB") while ip link set "$(netdev_of $IGB)" up && ip link set "$(netdev_of $IGB)" down; do usleep 200000; done ;;
	*) exec sleep 100000 ;;
	esac
}
counter_of() {
	case $1 in
	"$E1000E") cat $PCI/$E1000E/net/*/statistics/rx_packets ;;
	"$NVME") awk '{ print $1 }' /sys/block/nvme0n1/stat ;;
	"$XHCI") awk '/xhci/ { n += $2 + $3 } END { print n }' /proc/interrupts ;;
	"$IGB") cat $PCI/$IGB/net/*/carrier_changes ;;
	*) echo 0 ;;
	esac
}

at_work() { # NAME DEVICE DRIVER PARAMETER...
	local name="$1" device="$2" driver="$3" before worker
	shift 3
	is_equal "$name: is bound to ${driver:-nobody}" "$(readlink -f $PCI/"$device"/driver | sed 's,.*/,,')" "$driver"
	work_of "$device" & worker=$!
	before=$(counter_of "$device")
	log_from_here
	check "$name: a session ends" measure device="$device" count=$BURSTS burst=$BURST warmup=0 period=1ms "$@"
	check "$name: reads are counted exactly" reads_exact $BURSTS $BURST
	check "$name: nobody says a word" log_is_silent
	is_equal "$name: its driver has stayed" "$(field device_driver)" "${driver:-none}"
	[ -z "$driver" ] || check "$name: its driver goes on" expr "$(counter_of "$device")" '>' "$before"
	diag "$name: $(cat $DIR/current_value)"
	unload
	{ kill -9 $worker; wait $worker; } 2>/dev/null
}

devices() {
	check "a wire between two e1000e carries packets" wire
	at_work edu $EDU ""
	at_work e1000e $E1000E e1000e
	at_work "e1000e, irqs on" $E1000E e1000e irqs=on cpus=1
	at_work igb $IGB igb
	at_work nvme $NVME nvme
	at_work "nvme, 64 bits" $NVME nvme width=64 offset=0
	at_work qemu-xhci $XHCI xhci_hcd
	at_work pci-testdev $TESTDEV "" width=8
	at_work "flush on e1000e" $E1000E e1000e points=first,read,gap,flush
	at_work "a word of ones, edu" $EDU "" offset=0x10
}

# ---- facts, addresses, power --------------------------------------------------------

facts() {
	measure device=$VICTIM count=10 burst=2 warmup=0
	for key in link payload aspm mapping iommu power_state empty_read_ns loop_gap_ns smi_counted; do
		check "the fact $key is told: $(field $key)" [ -n "$(field $key)" ]
	done
	unload
}

bar_address() { # DEVICE BAR
	sed -n "$(($2 + 1))s/ .*//p" $PCI/"$1"/resource
}
by_address() {
	measure phys=$(($(bar_address $EDU 0) + 4)) count=10 warmup=0 || return
	same "$(field device) $(field bar) $(field offset)" "$EDU 0 0x4"
}

power() {
	echo auto >$PCI/$EDU/power/control
	await 10 grep -q suspended $PCI/$EDU/power/runtime_status || return
	load device=$EDU
	grep -q active $PCI/$EDU/power/runtime_status || { echo "not held"; unload; return 1; }
	unload
	await 10 grep -q suspended $PCI/$EDU/power/runtime_status
	echo on >$PCI/$EDU/power/control
}

# ---- the program ------------------------------------------------------------------

lists() {
	mmio-latency --list >list || return
	if ! grep -q "^$EDU .* 0 .* 1M 32-bit" list || ! grep -q "^$E1000E .* e1000e .* I/O ports" list; then
		cat list
		return 1
	fi
}
eci() {
	load || return
	mmio-latency --device $E1000E --burst 3 -l 200 -T 100000 --format eci >said || return
	same "$(cat said)" "$(cat $DIR/current_value)"
}

# ---- the device goes -----------------------------------------------------------------

reading() { load device=$VICTIM burst=2 warmup=0 && await 20 has_reads; }
has_reads() { [ "$(reads)" -gt 20 ]; }
has_ended() {
	await_idle || return
	same "$(field stop_reason)" device-removed && has_reads
}
unbinding() {
	reading || return
	echo $VICTIM >/sys/bus/pci/drivers/e1000e/unbind
	has_ended && unload
}
qmp() { printf '%s\n' "$1" >/dev/ttyS1; }
unplugging() { # the driver's device, or nobody's
	reading || return
	qmp '{"execute":"device_del","arguments":{"id":"victim"}}'
	await 60 [ ! -e $PCI/$VICTIM ] || return
	has_ended && unload
}
reports_errors() {
	mmio-latency --device $VICTIM -d 3 --burst 2 -v >report 2>&1 &
	usleep 1500000
	qmp '{"execute":"human-monitor-command","arguments":{"command-line":"pcie_aer_inject_error victim BAD_TLP"}}'
	wait
	grep -q 'reported errors of its link.*BadTLP (correctable)' report || { cat report; return 1; }
}

goes() {
	stty -F /dev/ttyS1 raw -echo
	qmp '{"execute":"qmp_capabilities"}'
	check "errors of the link are told" reports_errors
	log_from_here
	check "unbinding the driver amid reads ends the session, the results stay" unbinding
	check "unbinding is silent" log_is_silent
	echo $VICTIM >/sys/bus/pci/drivers/e1000e/bind
	check "unplugging the device amid reads ends the session, the results stay" unplugging
	check "a device that has gone is refused" refused "there is no such PCI device" device=$VICTIM
}

# ---- refusals ------------------------------------------------------------------------

asleep() {
	local at
	echo $IGB >/sys/bus/pci/drivers/igb/unbind
	# Its power management capability is at 0x40: control at 0x44.
	[ "$(config $IGB 64 1)" = 01 ] || { echo "no power management at 0x40"; return 1; }
	config $IGB 68 1 '\003'
	refused "sleeps (D3hot)" device=$IGB
	at=$?
	config $IGB 68 1 '\000'
	return $at
}
blind() {
	local at command
	command=$(config $EDU 4 2)
	config $EDU 4 2 '\000\000'
	refused "does not decode memory" device=$EDU
	at=$?
	config $EDU 4 2 '\007\000'
	[ "$at" = 0 ] || echo "command was $command"
	return $at
}

refusals() {
	check "a misaligned offset is refused" refused "is not a multiple of 4" device=$E1000E offset=0x6
	check "an offset at the end is refused" refused "ends at 0x20000" device=$E1000E offset=0x20000
	check "an offset far past the end is refused" refused "ends at 0x20000" device=$E1000E offset=0xfffffffffffc
	check "a word that begins in the BAR and ends behind it is refused" refused "is not a multiple of 8" device=$NVME offset=0x3ffc width=64
	check "an I/O BAR is refused" refused "is I/O ports" device=$E1000E bar=2 offset=0
	check "a BAR that is not there is refused" refused "has no such BAR" device=$EDU bar=1 offset=0
	check "the upper half of a BAR is refused" refused "has no such BAR" device=$NVME bar=1 offset=0
	check "a BAR number there cannot be is refused" refused "bar=6" device=$EDU bar=6
	check "a BAR without address is refused" refused "was given no address" device=$HUGE bar=2 offset=0
	check "a device that does not decode memory is refused" blind
	check "a device in D3 is refused" asleep
	check "RAM is refused" refused "is RAM" phys=0x1000000
	check "an address in no BAR is refused" refused "lies in no BAR" phys=0xfed00000
	check "a misaligned address is refused" refused "is not a multiple of 4" phys=$(($(bar_address $EDU 0) + 2))
	check "a width of 24 is refused" refused "width=24" device=$EDU width=24
	check "64 bits of a device that has 32 are refused" refused "have 32 bits" device=$EDU width=64
	check "a register that reading clears is refused" refused "ICR: reading clears it" device=$E1000E offset=0xc0
	check "a wide word that touches one is refused" refused "doorbells" device=$NVME offset=0x1000 width=64
	check "a register nobody knows must be named" refused "is known to be safe" device=$TESTDEV bar=2
	check "an address that is none is refused" refused "must be a PCI address" device=edu
	check "a device that is not there is refused" refused "there is no such PCI device" device=0000:00:1d.7
	check "two targets are refused" refused "name one of them" device=$EDU phys=0xfe000000
	check "no target is refused" refused "name the device to read" run=1
	check "an offset with phys is refused" refused "goes with device" phys=0xfe000000 offset=4
	check "two CPUs are refused" refused "one CPU reads" device=$EDU cpus=0-1
	check "a loop without pause is refused" refused "leaves no pause" device=$EDU burst=100000
	check "the point read without a burst is refused" refused "need a burst of 2" device=$EDU points=read
	check "flush where no register is known for it is refused" refused "takes a write without effect" device=$NVME points=first,flush
	check "side effects can be forced" measure device=$E1000E offset=0x4000 force_side_effects=1 count=5 warmup=0
	unload
}

not_for() { # TEXT OPTION...
	local text="$1"
	shift
	mmio-latency -l 5 "$@" >said 2>&1
	if [ $? != 1 ] || ! grep -qF "$text" said; then
		cat said
		return 1
	fi
}
lockdown() {
	load
	mount -t securityfs none /sys/kernel/security 2>/dev/null
	check "lockdown is raised" sh -c 'echo integrity >/sys/kernel/security/lockdown'
	check "phys is refused under lockdown" not_for "the kernel is locked down" --phys "$(($(bar_address $EDU 0) + 4))"
	check "side effects are refused under lockdown" not_for "the kernel is locked down" --device $E1000E --force-side-effects 1
	check "a device is read under lockdown" mmio-latency --device $EDU -l 10 --warmup 0
	unload
}

devices
facts
check "an address inside a BAR is that BAR's word" by_address
unload
check "a device is kept awake while it is read, and not longer" power
check "--list shows devices and BARs" lists
check "--format eci is current_value" eci
unload
goes
refusals
lockdown
tap_end
