# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash disable=SC2034
# What the guests of the benchmark share; for busybox's sh. Every figure is a line of $OUT/figures.
. ./tap.sh
. ./guest.sh
PATH=$PATH:/work

SAMPLES=4000
PERIOD_NS=997000
WINDOW_NS=$((SAMPLES * PERIOD_NS))
# Same priority, CPU and period as ours.
CYCLICTEST="-q -m -N -p 95 -t 1 -a 0 -i 997"
RTLA="-n -b 100 -p 997 -c 0 -P f:95"

ln -sfn /sys/kernel/tracing tracing

out() { echo "$@" >>"$OUT/figures"; }

# The row of a point: count min mean max.
row() { awk -v point="$1" '/^#point .* min/ { on = 1 } /^# perc/ { on = 0 } on && $1 == point { print $3, $4, $5, $7 }' "$DIR/summary"; }

# The tracer alone, with nobody who reads it.
timerlat_on() {
	echo 2048 >tracing/buffer_size_kb
	echo 997 >tracing/osnoise/timerlat_period_us
}
timerlat_begin() {
	echo 1 >tracing/tracing_on
	echo timerlat >tracing/current_tracer
}
timerlat_off() {
	echo nop >tracing/current_tracer
	echo >tracing/trace
	echo 7 >tracing/buffer_size_kb
	echo 1 >tracing/tracing_on
}
