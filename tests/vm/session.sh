#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# What may happen to a session: switches and garbage written to them, readers, limits that end it,
# tracing, CPUs and the device going away, modules coming and going, the machine falling asleep.
# lab: --device edu --smp 2
# shellcheck shell=dash
. ./tap.sh
. ./guest.sh

TRACING=/sys/kernel/tracing
CPU1=/sys/devices/system/cpu/cpu1/online
FILES="summary histogram outliers series config current_value enable"

count_of() { stat_of irq count; }
grows() { [ "$(count_of)" -gt "$1" ]; }
session_goes_on() { # NUMBER
	same "$(field session) $(cat "$DIR/enable")" "$1 1" && await 20 grows "$(count_of)"
}

# ---- switches and garbage ------------------------------------------------------

load warmup=0
check "samples come" await 20 grows 10
for text in 2 on 11 1x -1 '1 ' ' 1' 01 "
"; do
	check "enable refuses \"$text\"" refuses "Invalid argument" "$DIR/enable" "$text"
	check "reset refuses \"$text\"" refuses "Invalid argument" "$DIR/reset" "$text"
done
check "reset refuses 0, which means nothing" refuses "Invalid argument" "$DIR/reset" 0
check "reset is refused while a session runs" refuses "busy" "$DIR/reset" 1
log_from_here
check "enable is refused while a session runs" refuses "busy" "$DIR/enable" 1
is_equal "and the log says why" "$(our_log | grep -c 'a session is running')" 1
check "after all that the session goes on" session_goes_on 1

every_file() { for file in $FILES; do cat "$DIR/$file" || return; done >/dev/null; }
read_for() { # SECONDS
	local end=$(($(cut -d. -f1 /proc/uptime) + $1))
	while [ "$(cut -d. -f1 /proc/uptime)" -lt "$end" ]; do every_file || return; done
}
read_for 2 &
other=$!
check "every file can be read in a loop" read_for 2
wait $other
ok $? "by two readers at once"
small_reads() { dd if="$DIR/histogram" bs=1 2>/dev/null | tail -n 1 | grep -qE '^[a-z]+ 0 [a-z]+ [0-9]+ [0-9]+ [0-9]+$'; }
check "a file can be read byte by byte while it changes" small_reads
# One read is one moment: what is counted twice in a file agrees, though samples keep coming.
one_moment() {
	local tries=20
	while [ $tries -gt 0 ]; do
		cat "$DIR/current_value" "$DIR/summary" >/dev/null
		cat "$DIR/summary" >summary.copy
		awk '/^irq / && $3 ~ /^[0-9]+$/ && !n++ { if ($3 < 1 || $4 > $5 || $5 > $7) { print; exit 1 } }' summary.copy || return
		tries=$((tries - 1))
	done
}
check "a summary is of one moment" one_moment
check "the session has not noticed" session_goes_on 1

echo 0 >"$DIR/enable"
is_equal "0 ends the session" "$(cat "$DIR/enable") $(field stop_reason)" "0 request"
kept=$(count_of)
sleep 1
is_equal "its results stay and do not grow" "$(count_of)" "$kept"
check "0 may be written again" sh -c "echo 0 >$DIR/enable"
check "results are kept until they are reset" [ "$kept" -gt 10 ]
check "reset is possible now" sh -c "echo 1 >$DIR/reset"
is_equal "and forgets the results" "$(count_of)$(grep -cv '^#' "$DIR/histogram")$(grep -cv '^#' "$DIR/series")" 00
cycles() {
	local n=20
	while [ $n -gt 0 ]; do
		echo 1 >"$DIR/enable" && echo 0 >"$DIR/enable" && echo 1 >"$DIR/reset" || return
		n=$((n - 1))
	done
	same "$(field session)" 21
}
check "20 cycles of start, stop and reset" cycles
echo 1 >"$DIR/enable"
check "and one more measures" await 20 grows 10
held_by_reader() {
	exec 3<"$DIR/summary"
	! rmmod msi_latency 2>/dev/null
	local status=$?
	exec 3<&-
	return $status
}
check "an open file keeps the module" held_by_reader
check "rmmod ends a running session" unload
check "and leaves nothing behind" nothing_left

# ---- what ends a session ----------------------------------------------------------

measure duration=500ms warmup=0
is_equal "duration ends a session" "$(field stop_reason)" duration
check "about when it should" in_range "$(field ran_ns)" 500000000 60000000000
unload
measure threshold=1us on_threshold=stop warmup=0
is_equal "the first sample over the threshold ends a session" "$(field stop_reason)" threshold
check "and is shown" grep -q '^over irq 0 1 ' "$DIR/outliers"
unload
measure threshold=1us count=100 warmup=0 points=irq
is_equal "on_threshold=note goes on to the count" "$(field stop_reason) $(count_of)" "count 100"
is_equal "and keeps the last 16 outliers" "$(grep -c '^over irq ' "$DIR/outliers")" 16
is_equal "and says how many it did not keep" "$(sed -n 's/^# \([0-9]*\) older.*/\1/p' "$DIR/outliers")" 84
is_equal "only the points asked for are measured" "$(awk '$1 == "thread" || $1 == "work"' "$DIR/summary")" ""
unload
echo 1 >$TRACING/tracing_on
measure threshold=1us on_threshold=trace_off warmup=0
is_equal "trace_off ends a session" "$(field stop_reason)" threshold
is_equal "and tracing" "$(cat $TRACING/tracing_on)" 0
echo 1 >$TRACING/tracing_on
unload

# ---- tracepoints -------------------------------------------------------------------

echo >$TRACING/trace
load count=100 warmup=0 threshold=1us
echo 0 >"$DIR/enable"
check "tracefs shows the events sample and outlier" [ -e $TRACING/events/msi_latency/outlier/enable ]
echo 1 >$TRACING/events/msi_latency/enable
echo 1 >"$DIR/enable"
await_idle
echo 0 >$TRACING/events/msi_latency/enable
is_equal "every sample fires the event" "$(grep -c ' sample: point=irq cpu=0 seq=' $TRACING/trace)" 100
is_equal "every outlier too" "$(grep -c ' outlier: point=irq cpu=0 seq=' $TRACING/trace)" 100
is_equal "the greatest latency in the trace is the maximum" \
	"$(sed -n 's/.* sample: point=irq .*latency_ns=//p' $TRACING/trace | sort -n | tail -n 1)" "$(stat_of irq max)"
check "active tracing is noted in trust" grep -q '^trust: warn tracing:' "$DIR/summary"
unload

# ---- CPUs ----------------------------------------------------------------------------

load
log_from_here
check "the trigger's CPU cannot go offline" refuses "busy" $CPU1 0
is_equal "and the log says why, once" "$(our_log | grep -c 'CPU 1 stays online')" 1
is_equal "that is all it says" "$(our_log | wc -l)" 1
echo 0 >"$DIR/enable"
check "when the session is over, it can" sh -c "echo 0 >$CPU1"
echo 1 >"$DIR/enable"
check "a session starts on the CPU that is left" await 20 grows 10
is_equal "which then triggers as well" "$(field trigger_cpu)" 0
check "a CPU may come online meanwhile" sh -c "echo 1 >$CPU1"
check "and go again, for no session uses it" sh -c "echo 0 >$CPU1 && echo 1 >$CPU1"
unload
load cpus=1
is_equal "the other CPU can be measured" "$(field irq_affinity) $(field trigger_cpu)" "1 0"
check "a measured CPU cannot go offline" refuses "busy" $CPU1 0
unload
load points=irq trigger_cpu=self work_cpu=1
check "nor the one of the work item" refuses "busy" $CPU1 0
unload

# ---- the device -------------------------------------------------------------------------

load warmup=0
await 20 grows 10
echo "$DEVICE" >$DRIVER/unbind
is_equal "unbinding ends the session" "$(cat "$DIR/enable") $(field stop_reason)" "0 device-removed"
check "its results are kept" [ "$(count_of)" -gt 10 ]
is_equal "its interrupt is freed" "$(grep -c msi_latency /proc/interrupts)" 0
log_from_here
check "no session can start without a device" refuses "No such device" "$DIR/enable" 1
is_equal "and the log says what to do" "$(our_log | grep -c 'no device is bound')" 1
check "its results are kept even then" [ "$(count_of)" -gt 10 ]
echo "$DEVICE" >$DRIVER/bind
echo 1 >"$DIR/enable"
check "bound again, it measures again" await 20 grows 10
unload

# ---- load and unload ------------------------------------------------------------------------

hundred_times() {
	local n=100
	while [ $n -gt 0 ]; do
		load period=200us warmup=0 || return
		usleep $((n % 10 * 3000))
		unload || return
		n=$((n - 1))
	done
}
check "100 times insmod and rmmod while running" hundred_times
check "leave nothing behind" nothing_left

# ---- sleep ------------------------------------------------------------------------------------

load warmup=0
await 20 grows 10
# As far as the freezing of processes, and back after a second: all the kernel tells us of a sleep.
fall_asleep() {
	echo freezer >/sys/power/pm_test
	echo 1 >/sys/module/suspend/parameters/pm_test_delay
	echo freeze >/sys/power/state
}
if [ -e /sys/power/pm_test ] && grep -q freeze /sys/power/state; then
	check "the machine falls asleep and wakes up" fall_asleep
	is_equal "sleep ends the session" "$(cat "$DIR/enable") $(field stop_reason)" "0 suspend"
	check "its results are kept" [ "$(count_of)" -gt 10 ]
	echo 1 >"$DIR/enable"
	check "after it a session may start" await 20 grows 10
else
	skip "sleep ends the session" "this kernel cannot rehearse a sleep (pm_test)"
fi
unload
check "nothing is left behind in the end" nothing_left
tap_end
