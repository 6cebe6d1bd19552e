#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Second guest of the benchmark: what measuring costs. Rows:
#	cost WHO SAMPLES ns		the CPU was busy for ns while SAMPLES periods passed
#	rate POINT WHO PERIOD-us count missed
#	growth WHAT SAMPLES ns		a session of lat_dummy took ns
#	memory WHEN kB
#	read WHAT ns bytes
#	readers WHETHER irq-max thread-max
# shellcheck shell=dash disable=SC2046,SC2086
# Figures are words, to be split.
. ./common.sh

# ---- cost per sample ----

# One cycle of all phases, in the middle of a session that is longer.
cost() { out cost "$1" $SAMPLES "$(./clock busy $WINDOW_NS)"; }
settle() { ./clock busy 1000000000 >/dev/null; }

settle
cost off
insmod "$LATKIT_MODULES/lat_floor.ko" stimulus=timer samples=6500 period_ns=$PERIOD_NS &
settle
cost bare
wait
rmmod lat_floor
for points in irq irq,thread; do
	insmod "$LATKIT_MODULES/timer_latency.ko" points=$points warmup=0 period=${PERIOD_NS}ns run=1
	settle
	cost "ours-$points"
	rmmod timer_latency
done
insmod "$LATKIT_MODULES/timer_latency.ko"
timer-latency --points user --priority 95 --cpus 0 --count 7000 --warmup 0 --period ${PERIOD_NS}ns --quiet >/dev/null &
settle
cost ours-user
wait
rmmod timer_latency
cyclictest $CYCLICTEST -l 7000 >/dev/null &
settle
cost cyclictest
wait
timerlat_on
timerlat_begin
settle
cost timerlat
timerlat_off
rtla timerlat hist $RTLA -d 12 >/dev/null &
./clock busy 5000000000 >/dev/null
cost rtla
wait

# ---- sustained rate ----

DIR=/sys/kernel/debug/timer_latency
rate() { # POINT PERIOD-us
	if [ "$1" = user ]; then
		timer-latency --points user --cpus 0 --count 5000 --warmup 500 --period "$2us" --quiet >/dev/null
	else
		rmmod timer_latency
		insmod "$LATKIT_MODULES/timer_latency.ko" "points=$1" cpus=0 count=5000 warmup=500 "period=$2us" run=1
		./clock busy 500000000 >/dev/null
		await_idle
	fi
	out rate "$1" ours "$2" $(awk -v point="$1" '/^#point .* min/ { on = 1 } /^# perc/ { on = 0 } on && $1 == point { print $3, $8 }' $DIR/summary)
}
insmod "$LATKIT_MODULES/timer_latency.ko"
for period in 20 10 7 6 5 4 3; do rate irq $period; done
for point in thread user; do
	for period in 50 30 25 20 15 12 10; do rate $point $period; done
done
rmmod timer_latency
# cyclictest skips what it has missed and does not count it: a sample that is late by n periods skips n.
for period in 50 30 25 20 15 12 10; do
	out rate user cyclictest $period 5000 "$(cyclictest -q -m -p 95 -t 1 -a 0 -i $period -l 5000 -h 1000 |
		awk -v period=$period '/^[0-9]/ { n += $2 * int($1 / period) } END { print n + 0 }')"
done

# ---- growth ----

DIR=/sys/kernel/debug/lat_dummy
free_kb() { echo 3 >/proc/sys/vm/drop_caches; awk '/^MemFree/ { print $2 }' /proc/meminfo; }
before=$(free_kb)
for points in value delta; do
	for n in 1000 2000 100000 200000 10000000; do
		[ $points = value ] || [ $n -le 200000 ] || continue
		insmod "$LATKIT_MODULES/lat_dummy.ko" warmup=0 points=$points
		printf 'uniform 1000 100000 %d\n' $n >$DIR/program
		echo 1 >$DIR/enable
		await_idle
		out growth $points $n "$(field ran_ns)"
		[ $points = delta ] || out memory $n $((before - $(free_kb)))
		rmmod lat_dummy
	done
done

# ---- reading ----

DIR=/sys/kernel/debug/timer_latency
insmod "$LATKIT_MODULES/timer_latency.ko" points=irq,thread count=$SAMPLES warmup=0 period=${PERIOD_NS}ns run=1
./clock busy $((WINDOW_NS + 200000000)) >/dev/null
await_idle
./clock read $DIR/summary >/dev/null
out read summary $(./clock read $DIR/summary)
out read dump $(./clock read $DIR/summary $DIR/histogram $DIR/outliers $DIR/series $DIR/config)
out read show-json "$(./clock time latkit show timer_latency --format json)" 0
out readers none $(row irq | cut -d' ' -f4) $(row thread | cut -d' ' -f4)
rmmod timer_latency
insmod "$LATKIT_MODULES/timer_latency.ko" points=irq,thread count=$SAMPLES warmup=0 period=${PERIOD_NS}ns
cat /dev/timer_latency >/dev/null &
echo 1 >$DIR/enable
while is_running; do
	./clock read $DIR/summary $DIR/histogram >/dev/null
	usleep 20000
done
out readers all $(row irq | cut -d' ' -f4) $(row thread | cut -d' ' -f4)
kill $! 2>/dev/null
wait
rmmod timer_latency
exit 0
