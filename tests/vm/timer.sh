#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# timer_latency and its character device: four CPUs, all points, and everything a reader, a waiter
# and a command line can do wrong. timer.py judges the stream and the report of the first session.
# shellcheck disable=SC3043,SC2086
# lab: --smp 4 --timeout 900 --copy /usr/bin/setpriv --copy tests/lib/cyclictest.awk
. ./tap.sh
. ./guest.sh

DIR=/sys/kernel/debug/timer_latency
DEV=/dev/timer_latency
CYCLES=${CYCLES:-100}

begin() { insmod "$LATKIT_MODULES/timer_latency.ko" warmup=0 "$@"; }
end() { rmmod timer_latency; }
start() { echo 1 >$DIR/enable; }
stop() { echo 0 >$DIR/enable; }
# With exec, so that a job of it can be killed; what waits for ever fails.
probe() { exec timeout 200 stream-probe $DEV "$@"; }

# Samples of all points and CPUs of the last session.
recorded() { awk '/^#point .* min / { on = 1; next } /^#/ { on = 0 } on && NF > 3 { n += $3 } END { print n + 0 }' $DIR/summary; }

# exits CODE TEXT COMMAND...: COMMAND ends with CODE and says TEXT.
exits() {
	local code=$1 text=$2 output got
	shift 2
	output=$("$@" 2>&1)
	got=$?
	[ "$got" = "$code" ] && case "$output" in *"$text"*) return ;; esac
	printf 'exit %s: %s\n' "$got" "$output"
	return 1
}

# ---- ten seconds on four CPUs ----

begin
latkit record timer_latency -o "$OUT/stream.lat" 2>record.err &
recorder=$!
usleep 300000
check "ten seconds of all points on four CPUs are measured" timer-latency --points irq,thread,user -c all \
	-p 1000 -d 10 --warmup 0 --ring 4194304 -q --format json -o "$OUT/report.json"
wait $recorder
ok $? "a recording ends with the session"
is_equal "and says what it has" "$(cat record.err)" "latkit: $(recorded) records, 0 lost"
decodes() {
	same "$(latkit decode "$OUT/stream.lat" --format "$1" | grep -c "$2")" "$(recorded)"
}
check "decode prints a line a record: text" decodes text '^[iut]'
check "decode prints a line a record: csv" decodes csv '^[iut][a-z]*,'
check "decode prints a line a record: jsonl" decodes jsonl '^{"point":'
check "a report as cyclictest's is read by cyclictest's readers" sh -c "timer-latency --replay $OUT/report.json \
	--format cyclictest -q -H 100 | awk -f cyclictest.awk"
end

# ---- readers ----

begin points=irq,thread cpus=all period=1ms count=300 ring=1048576
check "only whole records are read and written, nonsense is refused" stream-probe $DEV sizes
check "without a session: O_NONBLOCK is EAGAIN, poll() waits, a signal interrupts" stream-probe $DEV idle

# session COMMAND...: the command runs beside a whole session that it was there before.
session() {
	"$@" >out 2>&1 &
	local pid=$!
	usleep 300000
	start || return
	await_idle || return
	wait $pid
	local status=$?
	cat out
	return $status
}
check "two readers have positions of their own: each gets all" session probe positions
is_equal "which is all that was recorded" "$(cat out)" "records $(recorded)"
check "poll() says when read() does not block, to the end" session probe poll
is_equal "and nothing is left out" "$(cat out)" "records $(recorded)"
again() {
	probe again >out &
	local pid=$!
	usleep 300000
	start && await_idle || return
	local first
	first=$(recorded)
	usleep 300000
	start && await_idle && wait $pid && same "$(cat out)" "first $first second $(recorded)"
}
check "the end of the session is end of file, the next read attaches to the next one" again
both() {
	stream-probe32 $DEV read >out32 &
	local pid=$!
	session probe read && wait $pid && same "$(cat out32)" "$(cat out)"
}
if command -v stream-probe32 >/dev/null; then
	check "32-bit user space reads the same" both
else
	skip "32-bit user space reads the same" "it was not built: no gcc -m32"
fi
is_equal "every record is one" "$(cat out)" "records $(recorded) lost 0 drops 0 bad 0"

stream-probe $DEV never >/dev/null &
never=$!
stream-probe $DEV dies >/dev/null 2>&1 &
dies=$!
check "a session with a reader that never reads and one that dies ends as asked" session true
is_equal "and has lost nothing" "$(field stop_reason) $(stat_of irq count | xargs)" "count 300 300 300 300"
is_equal "what was never read is not counted as dropped" "$(field drops)" 0
kill $never
wait $dies
is_equal "the one died in its loop" $? 137
end

begin points=irq,thread cpus=all period=1ms count=2000 ring=4096
check "a reader that sleeps over a small ring reads on" session probe sleepy 1000
# shellcheck disable=SC2046 # words
set -- $(cat out)
is_equal "what it lost is told in-band: records + lost = recorded" "$(($2 + $4))" "$(recorded)"
check "by at least one record for a CPU" in_range "$6" 4 100000
is_equal "and counted as drops" "$(field drops)" "$4"
is_equal "all other records are good" "$8" 0
end

# ---- the waiter ----

begin points=irq,user cpus=0-1 period=20ms
stamps() {
	probe stamps 0 1 20 >out &
	local pid=$!
	await 10 grep -q ready out || return
	start || return
	wait $pid || { cat out; return 1; }
	stop
	same "$(grep invalid out)" "invalid $(field invalid)"
}
check "stamps that are wrong in any way are refused, and each is counted" stamps
check "the right ones are in the histogram" in_range "$(stat_of user count | head -n 1)" 20 20
check "irq is measured on, whatever the waiter does" in_range "$(stat_of irq count | head -n 1)" 20 100000
end

# ---- somebody watches ----

begin
watched() {
	timer-latency -c all -d 4 -q -o report.txt &
	local pid=$!
	await 20 is_running && latkit watch timer_latency >watch.txt && wait $pid &&
		grep -q '^# ended by duration$' watch.txt && grep -q '^T: 3 (.*Act: *- ' watch.txt &&
		! grep -q "$(printf '\033')" watch.txt && grep -q 'stopped by duration' report.txt
}
check "latkit watch shows a session of somebody else and ends with it" watched
check "without a session it says so" exits 1 "no session of timer_latency runs" latkit watch timer_latency
shown() {
	timer-latency -c 0-1 -d 4 >report.txt 2>/dev/tty2 &
	usleep 3500000
	cat /dev/vcs2 >screen
	wait $! && grep -q 'T: 1 (' screen && ! grep -q 'T: 1 (.*T: 1 (' screen && grep -q 'loadavg' screen
}
if [ -e /dev/vcs2 ]; then
	check "on a terminal there is one line per CPU, written over" shown
else
	skip "on a terminal there is one line per CPU, written over" "no virtual console here"
fi

# ---- command lines ----

two() {
	timer-latency -d 3 -q -o report.txt &
	local pid=$!
	await 20 is_running
	exits 1 "is in use by process" timer-latency -d 1 -q && wait $pid
}
check "a second tool is refused, the first one goes on" two
check "an absent CPU is named" exits 1 "cpus=9" timer-latency -c 9 -d 1
echo 0 >/sys/devices/system/cpu/cpu3/online
check "an offline CPU is named" exits 1 "CPU 3" timer-latency -c 3 -d 1
echo 1 >/sys/devices/system/cpu/cpu3/online
check "without the right to SCHED_FIFO the way out is named" exits 1 CAP_SYS_NICE \
	./setpriv --bounding-set -sys_nice --inh-caps -sys_nice timer-latency --points user -d 1 -q
unlimited() {
	timer-latency -c 0 >/dev/null 2>err &
	local pid=$!
	await 20 is_running && sleep 1 && kill -INT $pid && wait $pid && grep -q 'runs until told to stop' err
}
check "without a limit it runs until it is told to stop, and says so" unlimited
end

# ---- over and over ----

begin points=irq,thread,user cpus=all period=100us
check "$CYCLES sessions with readers that come, go and are killed" stream-probe $DEV churn "$CYCLES" $DIR/enable
is_equal "the instrument has counted them" "$(field session)" "$CYCLES"
end
check "nothing is left of the module" sh -c "! grep -q timer_latency /proc/modules && [ ! -e $DEV ] && [ ! -e $DIR ]"
is_equal "nor a thread" "$(threads timer_latency)" ""
tap_end
