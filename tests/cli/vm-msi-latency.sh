#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Runs in a guest of scripts/lab and proves there what msi-latency promises about a real kernel:
# exit codes, what a device gets back, signals, privilege, two tools at once. The reports it writes
# into $OUT are for tests/cli/validate.py on the host. Needs `make -C userspace all tests`, then
# `tests/lib/guest-test 6.1 tests/cli/vm-msi-latency.sh`.
# lab: --device edu --device e1000e --net user --modprobe e1000e --modprobe pci-stub
# lab: --copy /usr/bin/setpriv
# shellcheck disable=SC2086 # $short is words
# shellcheck source=tests/lib/tap.sh
. ./tap.sh

EDU=0000:00:04.0
NIC=0000:00:05.0
STATE=/run/latkit/rebind
SYS=/sys/bus/pci/devices
WORK=$(mktemp -d)
OUT=${OUT:-$WORK}

# claim STATUS SENTENCE: a broken one shows what the last command printed
claim() {
	ok "$1" "$2"
	[ "$1" = 0 ] || sed 's/^/# /' "$WORK/out" "$WORK/err" 2>/dev/null
}

# run CODE SENTENCE COMMAND...: it must exit with CODE
run() {
	want=$1
	sentence=$2
	shift 2
	"$@" >"$WORK/out" 2>"$WORK/err"
	got=$?
	[ "$got" = "$want" ]
	claim $? "$sentence (exit $got)"
}

says() { grep -q "$1" "$WORK/out" "$WORK/err"; }

driver() { basename "$(readlink "$SYS/$1/driver" 2>/dev/null)"; }

override() { cat "$SYS/$1/driver_override"; }

# settled BDF DRIVER SENTENCE: the driver has it, and no trace of the run is left
settled() {
	[ "$(driver "$1")" = "$2" ] && [ ! -e "$STATE/$1" ] && ! grep -q '^msi_latency ' /proc/modules
	claim $? "$3"
}

# give_to BDF DRIVER: so that there is somebody to take it from
give_to() {
	echo "$2" >"$SYS/$1/driver_override"
	echo "$1" >"/sys/bus/pci/drivers/$2/bind"
}

# until_runs: a session runs, or 10 s have passed
until_runs() {
	i=0
	while [ "$i" -lt 100 ]; do
		latkit list | grep -q '^msi_latency *running' && return 0
		i=$((i + 1))
		usleep 100000
	done
	return 1
}

short="msi-latency --device $EDU -l 200 --warmup 10 -q"

# ---- plain runs ----
run 0 "a run by count ends as asked" $short
says '# Verdict: no verdict'
claim $? "without limits there is no verdict"
settled $EDU "" "an unbound device is unbound again, the module is unloaded"
run 0 "a limit that holds is exit 0" $short --limit 'irq:max<=10s' --limit 'irq:count>=200'
run 2 "a limit that is broken is exit 2" $short --limit 'irq:max<=1ns'
run 1 "too few samples for a limit is exit 1" $short --limit 'p99.999<=1s'
says 'it takes 1000000'
claim $? "and the number of samples it takes is told"
run 2 "stopped by -T is exit 2" msi-latency --device $EDU -T 1 -d 20 -q --warmup 10
run 0 "a duration ends as asked" msi-latency --device $EDU -d 1s -q
run 0 "the only device is found without --device" msi-latency -l 50 --warmup 0 -q
run 0 "a rate limit is counted exactly" $short --limit 'irq:rate(1s)<=1000/s' \
	--format json -o "$OUT/rate.json"
grep -q '"1000000000"' "$OUT/rate.json"
claim $? "and its count is in the report"
run 0 "a rate limit of all points starts too" $short --limit 'rate(1s)<=1000/s'
run 0 "json is written" $short --format json -o "$OUT/plain.json"
run 0 "json of two points" $short --points irq,thread --format json -o "$OUT/points.json"
run 0 "a linear histogram" $short -H linear:1us:50 --format json -o "$OUT/linear.json"
run 0 "latkit show prints the saved report" latkit show "$OUT/plain.json"
run 1 "--require turns a note into exit 1" $short --require hypervisor,emulated-device

# ---- refusals ----
run 129 "an unknown option is a usage error" msi-latency --no-such-option
run 129 "a value out of range is a usage error" msi-latency -P 100
run 1 "a CPU that is not there is refused by the module" msi-latency --device $EDU -c 4000 -q
says 'cpus=4000'
claim $? "with the value that was refused"
settled $EDU "" "and nothing is left of it"
run 1 "a device that is not there is refused" msi-latency --device 0000:00:1e.7 -q
run 1 "disk full for the report is exit 1" $short -o /dev/full
run 1 "a missing module is exit 1" env LATKIT_MODULES=/nowhere $short
says 'LATKIT_MODULES'
claim $? "and the message says where it was looked for"

# ---- a device with another driver ----
if [ -d /sys/bus/pci/drivers/pci-stub ] && give_to $EDU pci-stub; then
	run 1 "a device that has a driver is not taken without --rebind" $short
	says 'rebind takes it'
	claim $? "and the way out is told"
	settled $EDU pci-stub "it still has its driver"
	run 0 "with --rebind it is measured" $short --rebind
	settled $EDU pci-stub "after success the driver is back"
	[ "$(override $EDU)" = pci-stub ]
	claim $? "and so is the driver_override"
	run 2 "a broken limit" $short --rebind --limit 'irq:max<=1ns'
	settled $EDU pci-stub "after a broken limit the driver is back"
	run 1 "a parameter the module refuses" msi-latency --device $EDU --rebind -c 4000 -q
	settled $EDU pci-stub "after a refused parameter the driver is back"
	run 1 "a session the module refuses to start" msi-latency --device $EDU --rebind -q \
		--block-irq 1ms --trigger-cpu 1 -c 0
	settled $EDU pci-stub "after a refused start the driver is back"

	for signal in INT TERM; do
		msi-latency --device $EDU --rebind -q --format json -o "$OUT/$signal.json" \
			>"$WORK/out" 2>"$WORK/err" &
		pid=$!
		until_runs
		kill -$signal $pid
		wait $pid
		got=$?
		[ $got = 0 ]
		claim $? "SIG$signal ends the run with exit 0 although inherited as ignored ($got)"
		settled $EDU pci-stub "after SIG$signal the driver is back"
		grep -q '"stop_reason": "request"' "$OUT/$signal.json"
		claim $? "after SIG$signal the report is whole"
	done

	msi-latency --device $EDU --rebind -q >"$WORK/out" 2>"$WORK/err" &
	pid=$!
	until_runs
	run 1 "a second tool is refused" $short --rebind
	says "$pid"
	claim $? "and told which process has it"
	run 1 "--restore leaves a living run alone" msi-latency --restore --device $EDU
	latkit list | grep -q '^msi_latency *running'
	claim $? "the first one goes on untouched"
	kill -KILL $pid
	wait $pid 2>/dev/null
	[ "$(driver $EDU)" = msi_latency ] && [ -e $STATE/$EDU ]
	claim $? "after SIGKILL the device is still taken, and written down"
	latkit list | grep -q '^msi_latency *running'
	claim $? "and the session still runs"
	run 0 "--restore gives it back" msi-latency --restore
	[ "$(driver $EDU)" = pci-stub ] && [ ! -e $STATE/$EDU ]
	claim $? "after SIGKILL and --restore the driver is back"
	latkit list | grep -q '^msi_latency *idle'
	claim $? "and the session was stopped"
	run 0 "--restore with nothing to do is no error" msi-latency --restore
	run 1 "--restore of a device nobody took is one" msi-latency --restore --device $EDU
	rmmod msi_latency

	# Twice SIGINT, as fast as a shell can.
	msi-latency --device $EDU --rebind -q >"$WORK/out" 2>"$WORK/err" &
	pid=$!
	until_runs
	kill -INT $pid
	kill -INT $pid
	wait $pid
	settled $EDU pci-stub "after two SIGINT the driver is back"
	echo $EDU >/sys/bus/pci/drivers/pci-stub/unbind
	echo >$SYS/$EDU/driver_override
else
	skip "rebinding edu" "no pci-stub"
fi

# ---- a network card ----
if [ "$(driver $NIC)" = e1000e ]; then
	name=$(ls $SYS/$NIC/net)
	run 1 "e1000e is not taken without --rebind" msi-latency --device $NIC -l 10 -q
	ip link set "$name" up
	run 1 "an interface that is up is refused" msi-latency --device $NIC --rebind -l 10 -q
	says "$name"
	claim $? "and named"
	ip addr add 10.0.2.15/24 dev "$name"
	ip route add default via 10.0.2.2
	run 1 "the interface of the default route is refused with one --force" \
		msi-latency --device $NIC --rebind --force -l 10 -q
	says 'default route'
	claim $? "and that is the reason told"
	ip route del default
	ip link set "$name" down
	# Whether the module can measure it or not, e1000e must have it again.
	msi-latency --device $NIC --rebind -l 100 --warmup 0 -q >"$WORK/out" 2>"$WORK/err"
	settled $NIC e1000e "e1000e has its device again"
	[ -d "$SYS/$NIC/net" ] && ip link set "$(ls $SYS/$NIC/net)" up
	claim $? "and its interface comes up"
	ip link set "$(ls $SYS/$NIC/net)" down
else
	skip "taking a network card from e1000e" "no e1000e"
fi

# ---- a device that goes away ----
msi-latency --device $EDU -q --format json -o "$OUT/removed.json" >"$WORK/out" 2>"$WORK/err" &
pid=$!
until_runs
echo 1 >$SYS/$EDU/remove
wait $pid
got=$?
[ $got = 1 ] && grep -q '"stop_reason": "device-removed"' "$OUT/removed.json"
claim $? "a device that is unplugged ends the run with exit 1 and a report ($got)"
echo 1 >/sys/bus/pci/rescan

# ---- privilege ----
insmod "$LATKIT_MODULES/msi_latency.ko" device=$EDU period=1ms
nobody() { ./setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; }
if [ -x ./setpriv ]; then
	nobody genl-probe msi_latency commands >"$WORK/out" 2>"$WORK/err"
	[ "$(grep -c ': EPERM: ' "$WORK/out")" = 8 ]
	claim $? "uid 65534 gets EPERM from all 8 commands"
	nobody genl-probe msi_latency events >"$WORK/out" 2>"$WORK/err" &
	pid=$!
	usleep 300000
	echo 0 >/sys/kernel/debug/msi_latency/enable
	echo 1 >/sys/kernel/debug/msi_latency/enable
	wait $pid
	grep -q '^JOIN: EPERM' "$WORK/out" && grep -q '^EVENTS: 0' "$WORK/out"
	claim $? "uid 65534 cannot listen to events and gets none"
	nobody msi-latency -l 10 >"$WORK/out" 2>"$WORK/err"
	[ $? = 1 ] && says 'root'
	claim $? "msi-latency without root says that it takes root"
else
	skip "uid 65534" "no setpriv"
fi
run 1 "a session somebody else started is left alone" msi-latency --device $EDU -l 10 -q
latkit list | grep -q '^msi_latency *running'
claim $? "it still runs"
echo 0 >/sys/kernel/debug/msi_latency/enable
genl-probe msi_latency malformed >"$WORK/out" 2>"$WORK/err"
[ "$(grep -c ': OK:' "$WORK/out")" = 0 ] && [ "$(wc -l <"$WORK/out")" = 10 ]
claim $? "every malformed message is refused"
genl-probe msi_latency commands >"$WORK/out" 2>"$WORK/err"
grep -q '^GET: OK' "$WORK/out"
claim $? "and the family answers afterwards"
genl-probe msi_latency commands >"$WORK/out" 2>"$WORK/err"
echo 0 >/sys/kernel/debug/msi_latency/enable 2>/dev/null
run 0 "a module that was loaded before measures what it is told" \
	msi-latency --device $EDU -l 100 --warmup 0 -q
grep -q '^msi_latency ' /proc/modules
claim $? "and stays loaded"
rmmod msi_latency

tap_end
