#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Proves the contract of scripts/lab on one kernel (the argument, 6.1 if none), in
# TAP on the host. Every run of the lab here is one or more of its promises; runs
# that do not depend on each other go in pairs, since the host has two CPUs.
set -uo pipefail

KERNEL=${1:-6.1}
TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
WORK=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null; rm -rf "$WORK"' EXIT
cd "$WORK" || exit 1
mkdir tmp
export TMPDIR=$WORK/tmp

COUNT=0 FAILED=0

ok() { # STATUS SENTENCE
	COUNT=$((COUNT + 1))
	if [[ $1 == 0 ]]; then
		printf 'ok %d - %s\n' "$COUNT" "$2"
	else
		FAILED=$((FAILED + 1))
		printf 'not ok %d - %s\n' "$COUNT" "$2"
	fi
}

skip() { # SENTENCE REASON
	COUNT=$((COUNT + 1))
	printf 'ok %d - %s # SKIP %s\n' "$COUNT" "$1" "$2"
}

# check SENTENCE COMMAND...: what a failing COMMAND printed is shown.
check() {
	local sentence=$1 output status
	shift
	output=$("$@" 2>&1)
	status=$?
	ok "$status" "$sentence"
	[[ $status == 0 || -z $output ]] || printf '%s\n' "$output" | head -n 20 | sed 's/^/# /'
}

is() { [[ $1 == "$2" ]] || { printf 'got %q, not %q\n' "$1" "$2"; return 1; }; }

# lab NAME ARGUMENT...: one run, leaving NAME.out, NAME.err, NAME.dmesg,
# NAME.status and its exit status in NAME.rc.
lab() {
	local name=$1
	shift
	"$TOP/scripts/lab" run --kernel "$KERNEL" --dmesg "$name.dmesg" --status "$name.status" "$@" >"$name.out" 2>"$name.err"
	printf '%s\n' "$?" >"$name.rc"
}

rc_is() { is "$(<"$1.rc")" "$2" || { tail -n 15 "$1.err"; return 1; }; }
said_by() { is "$(head -n 1 "$1.status")" "$2"; }

# ---- what the guests are given ----------------------------------------------

write_inputs() {
	head -c 3145728 /dev/urandom >blob
	mkdir directory
	echo inside >directory/file
	cp "$(command -v xz)" dynamic
	printf '#!/bin/sh\necho "script $*"\n' >script.sh
	chmod 750 script.sh
	cat >facts.sh <<-'END'
	echo "edu $(cat /sys/bus/pci/devices/0000:00:04.0/vendor /sys/bus/pci/devices/0000:00:04.0/device | xargs)"
	echo "nic $(cat /sys/bus/pci/devices/0000:00:05.0/vendor /sys/bus/pci/devices/0000:00:05.0/device | xargs)"
	echo "driver $(readlink /sys/bus/pci/devices/0000:00:05.0/driver | sed 's#.*/##')"
	echo "clock $(cat /sys/devices/system/clocksource/clocksource0/current_clocksource)"
	echo "cpus $(nproc)"
	echo "mounts $(for t in proc sysfs devtmpfs debugfs tracefs securityfs; do grep -c " $t " /proc/mounts; done | xargs)"
	echo "run $(grep -c ' /run tmpfs ' /proc/mounts)"
	echo "user $(id -u) $(id -un) $(awk -F: '$3 == 65534 { print $1 }' /etc/passwd)"
	echo "modules $(test -d "$LATKIT_MODULES" && echo there)"
	echo "stdin $(cat | wc -c)"
	echo "mode $(stat -c %a script.sh)"
	echo "append $(grep -o lab.test=yes /proc/cmdline)"
	echo "quoted $(printf '<%s>' "$@")"
	echo "$(./script.sh runs)"
	echo "directory $(cat directory/file)"
	echo "dynamic $(./dynamic --version | head -n 1 | cut -d' ' -f1)"
	END
}

# ---- the runs ---------------------------------------------------------------

run_exit_status() { lab seven -- sh -c 'exit 7'; }
run_bytes() {
	# shellcheck disable=SC2016 # for the guest's shell
	lab bytes --copy blob --out back -- sh -c \
		'cat blob; cat blob blob >&2; mkdir $OUT/deep; cp blob $OUT/deep/; echo text >$OUT/text; sleep 1000 & echo end >/dev/stderr'
}
run_facts() {
	local offline=()
	# Everything is in the cache by now: no network may be needed.
	! unshare -n true 2>/dev/null || offline=(unshare -n)
	# shellcheck disable=SC2016 # must arrive as it is
	"${offline[@]}" "$TOP/scripts/lab" run --kernel "$KERNEL" --device edu --device e1000e --net user --modprobe e1000e \
		--smp 2 --append lab.test=yes --copy blob --copy script.sh --copy facts.sh --copy directory --copy dynamic \
		-- sh facts.sh "two words" "it's" '$HOME' '' </etc/passwd >facts.out 2>facts.err
	printf '%s\n' "$?" >facts.rc
}
run_timeout() { lab timeout --timeout 12 -- sh -c 'echo "WARNING: test" >/dev/kmsg; echo before; sleep 1000'; }
run_dirty() { lab dirty -- sh -c 'echo "WARNING: test" >/dev/kmsg; exit 7'; }
run_panic() { lab panic -- sh -c 'echo c >/proc/sysrq-trigger; sleep 1000'; }
run_poweroff() { lab poweroff -- poweroff -f; }
run_deterministic() {
	lab "$1" --deterministic --device edu -- \
		sh -c 'cat /proc/timer_list /proc/interrupts /proc/uptime /proc/self/maps; dmesg; cat /proc/sys/kernel/random/uuid'
}
run_cheap_failures() {
	KERNEL=no-such-kernel lab nokernel -- true
	lab nodevice --device no-such-device -- true
	lab nooption --no-such-option -- true
	lab nofile --copy no-such-file -- true
	lab nomodule --modprobe no_such_module -- true
}

# A guest that says something is heard while it runs, its QMP socket answers, and
# a signal to the lab leaves nothing behind.
signal_scene() {
	local lab_pid deadline=$((SECONDS + 60))
	mkdir signal
	TMPDIR=$WORK/signal "$TOP/scripts/lab" run --kernel "$KERNEL" --qmp signal/qmp --status signal.status \
		-- sh -c 'echo ready; sleep 1000' >signal.out 2>signal.err &
	lab_pid=$!
	until grep -qs ready signal.out || ((SECONDS > deadline)); do sleep 0.1; done
	grep -qs ready signal.out && kill -0 "$lab_pid"
	echo "$?" >live.rc
	if command -v python3 >/dev/null; then
		python3 - signal/qmp >qmp.out 2>&1 <<-'END'
		import json, socket, sys
		s = socket.socket(socket.AF_UNIX)
		s.connect(sys.argv[1])
		f = s.makefile("rw")
		f.readline()
		for command in ("qmp_capabilities", "query-status"):
		    f.write(json.dumps({"execute": command}) + "\n")
		    f.flush()
		    print(f.readline().strip())
		END
	fi
	kill -TERM "$lab_pid"
	wait "$lab_pid"
	echo "$?" >signal.rc
}

both() {
	local other
	"$1" &
	other=$!
	"$2"
	wait "$other"
}
first() { run_deterministic first; }
second() { run_deterministic second; }

# ---- the verdicts -----------------------------------------------------------

fact() { is "$(sed -n "s/^$1 //p" facts.out)" "$2"; }
stderr_bytes() { cat blob blob >expected && echo end >>expected && cmp expected bytes.err; }
failed_125() {
	local name
	for name; do
		if ! rc_is "$name" 125 || ! said_by "$name" "lab 125"; then
			echo "that was $name"
			return 1
		fi
	done
}
panic_125() { rc_is panic 125 && grep -q 'Kernel panic' panic.err; }
nothing_left() { rc_is signal 143 && is "$(ls -A signal)$(pgrep -f "$WORK/signal")" ""; }

verdicts() {
	check "COMMAND's exit status is the exit status" rc_is seven 7
	check "--status says that COMMAND set it" said_by seven "command 7"
	check "stdout is exact and apart, 3 MiB of any bytes" cmp blob bytes.out
	check "stderr is exact and apart, 6 MiB of any bytes, and can be reopened" stderr_bytes
	check "a process left behind by COMMAND does not hold the guest up" rc_is bytes 0
	check "\$OUT comes back to --out" cmp blob back/deep/blob
	check "\$OUT comes back whole" is "$(cat back/text)" text
	check "a run needs no network once the kernel is in the cache" rc_is facts 0
	check "the first --device is 0000:00:04.0" fact edu "0x1234 0x11e8"
	check "the next --device is 0000:00:05.0" fact nic "0x8086 0x10d3"
	check "--modprobe loads a module of the guest's kernel" fact driver e1000e
	check "the clocksource is tsc" fact clock tsc
	check "--smp sets the number of CPUs" fact cpus 2
	check "proc, sysfs, devtmpfs, debugfs, tracefs and securityfs are mounted" fact mounts "1 1 1 1 1 1"
	check "/run is mounted" fact run 1
	check "COMMAND runs as root, and nobody is known" fact user "0 root nobody"
	check "\$LATKIT_MODULES is a directory" fact modules there
	check "stdin is not passed" fact stdin 0
	check "--copy keeps the mode" fact mode 750
	check "--append reaches the kernel" fact append lab.test=yes
	check "COMMAND's arguments arrive as they were" fact quoted "<two words><it's><\$HOME><>"
	check "a copied script runs" fact script runs
	check "a directory is copied" fact directory inside
	check "a copied program finds its shared libraries" fact dynamic xz
	check "a run that takes too long ends with 124, also with a dirty log" rc_is timeout 124
	check "what it printed before is there" is "$(<timeout.out)" before
	check "--status names all, the strongest first" is "$(xargs <timeout.status)" "timeout 124 log 126"
	check "a kernel log that is not clean makes it 126, before COMMAND's own" rc_is dirty 126
	check "and the lines are printed" grep -q 'WARNING: test' dirty.err
	check "the kernel log goes to --dmesg" grep -q 'WARNING: test' dirty.dmesg
	check "unknown kernel, device, option, file or module: 125" failed_125 nokernel nodevice nooption nofile nomodule
	check "a guest that dies or switches off before COMMAND ends: 125" failed_125 poweroff panic
	check "and a panic's lines are printed" panic_125
	check "a deterministic run repeats to the byte" cmp first.out second.out
	check "output is passed on while the guest runs" is "$(<live.rc)" 0
	if [[ -e qmp.out ]]; then
		check "the QMP socket answers" grep -q running qmp.out
	else
		skip "the QMP socket answers" "no python3"
	fi
	check "SIGTERM ends the lab and leaves nothing behind" nothing_left
}

PLAN=37
printf '1..%d\n' "$PLAN"
"$TOP/scripts/kernels" fetch "$KERNEL" || { echo "Bail out! no kernel $KERNEL"; exit 1; }
write_inputs
both run_exit_status run_bytes
both run_facts run_timeout
both run_dirty run_panic
both run_poweroff signal_scene
both first second
run_cheap_failures
verdicts
[[ $COUNT == "$PLAN" ]] || { echo "# planned $PLAN, ran $COUNT"; FAILED=1; }
((FAILED == 0))
