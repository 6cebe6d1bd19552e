#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Nanoseconds that repeat: in deterministic mode virtual time counts instructions, so the floor of a
# measurement is known, and what is injected must come out again, to the nanosecond.
# lab: --device edu --deterministic
# shellcheck shell=dash
. ./tap.sh
. ./guest.sh

# What 500 MSIs of edu took in this mode with a module that does nothing but take the time: 572 ns
# on 6.1 and QEMU 10 (566 to 568 on QEMU 7.2), min, mean and max. 5 % of it either way.
FLOOR_LOW=543 FLOOR_HIGH=601
PERIOD=1000000

SELF="trigger_cpu=self dither=0 period=1ms warmup=100"

# All that a session shows goes to $OUT, to be compared between runs, and stays in NAME.FILE here.
run() { # NAME PARAMETER...
	local name="$1" file
	shift
	# shellcheck disable=SC2086 # words
	measure $SELF "$@" || return
	for file in summary histogram outliers series config current_value; do
		cat "$DIR/$file" >"$name.$file"
		cp "$name.$file" "$OUT/"
	done
	unload
}

is_floor() { # SUMMARY COLUMN
	in_range "$(stat_of irq "$2" "$1")" $FLOOR_LOW $FLOOR_HIGH
}

raised_by() { # COLUMN NS
	in_range "$(($(stat_of irq "$1" block50.summary) - $(stat_of irq "$1" plain.summary)))" $(($2 - 100)) $(($2 + 100))
}

# ---- the floor -------------------------------------------------------------------

check "a session of edu on one CPU ends by itself" run plain points=irq count=500
is_equal "with 500 samples, none lost, none spurious, none skipped" \
	"$(stat_of irq count plain.summary) $(field lost plain.summary) $(field spurious plain.summary) $(field overruns plain.summary)" \
	"500 0 0 0"
for column in min mean max; do
	if [ "$KERNEL" = 6.1 ]; then
		check "irq $column is within 5 % of the floor of this mode, 572 ns" is_floor plain.summary $column
	else
		diag "irq $column: $(stat_of irq $column plain.summary) ns"
	fi
done

# ---- a known delay -----------------------------------------------------------------

check "interrupts are held off 50 us after each trigger" run block50 points=irq count=500 block_irq=50us
# PREEMPT_RT has timers of its own that may become due in those 50 us and come first.
COLUMNS="min mean max"
[ "$KERNEL" = 6.1 ] || COLUMNS=min
for column in $COLUMNS; do
	check "irq $column rises by 50 us, within 100 ns" raised_by "$column" 50000
done
all_raised() {
	awk '$1 == "irq" && $3 == "value" && $4 < 50000 { print; bad = 1 } END { exit bad }' block50.histogram
}
check "no sample is below 50 us" all_raised
is_equal "no period is skipped for it" "$(stat_of irq missed block50.summary)" 0

# ---- a stall cannot hide -------------------------------------------------------------

check "interrupts are held off 10 ms after each trigger at 1 ms" run block10 points=irq count=100 block_irq=10ms warmup=0
# Each stimulus is late by 10 ms and a little. The periods that were due until the machine was free
# again, ten of them, must stand in missed: one of 9 ms and a little, one of 8 ms, down to the little.
is_equal "100 stimuli were recorded" "$(stat_of irq count block10.summary)" 100
every_sample_10ms() { in_range "$(stat_of irq min block10.summary)" 10000000 10010000 && in_range "$(stat_of irq max block10.summary)" 10000000 10010000; }
# The tick has become due as well, 10 ms hold two of them, and may come first.
check "each took 10 ms and less than 10 us" every_sample_10ms
# By the numbers of the worst samples: seq counts periods, not stimuli.
step_of_seq() {
	awk '$1 == "worst" { print $4 }' block10.outliers | sort -n |
		awk 'NR > 1 { d = $1 - last; if (!(d % 11)) n++; else { print d; bad = 1 } } { last = $1 } END { exit bad || n < 15 }'
}
check "between two stimuli lie ten periods, by their numbers" step_of_seq
is_equal "each of them is missed: count + missed = periods due" \
	"$(($(stat_of irq count block10.summary) + $(stat_of irq missed block10.summary)))" 1100
is_equal "overruns says the same" "$(field overruns block10.summary)" 1000
# Lateness i * 1 ms + a little, i = 0..9: 100 of each, wherever the buckets' edges are.
missed_series() {
	local i n
	for i in 0 1 2 3 4 5 6 7 8 9; do
		n=$(awk -v low=$((i * PERIOD)) -v high=$((i * PERIOD + 100000)) '
			$1 == "irq" && $3 == "missed" && $5 >= low && $4 <= high { n += $6 } END { print n + 0 }' block10.histogram)
		same "$i ms: $n" "$i ms: 100" || return
	done
	same "$(buckets irq missed -1 block10.histogram)" 1000
}
check "each is missed with its own lateness, 9 ms down to 0" missed_series
check "the greatest lateness is 9 ms and a little" in_range "$(stat_of irq missed_max block10.summary)" 9000000 9100000
# Of 1100 due, the median is the 550th: five of the ten latenesses are below 5 ms, 500 samples.
check "the median of what was due is 5 ms" in_range "$(percentile irq due p50 block10.summary)" 5000000 5240000
check "the median of what was recorded knows nothing of it" \
	in_range "$(percentile irq recorded p50 block10.summary)" 10000000 10010000
check "p90 of what was due is the period next to the stall" \
	in_range "$(percentile irq due p90 block10.summary)" 9000000 9280000
check "p99 of what was due is the stall" in_range "$(percentile irq due p99 block10.summary)" 10000000 10010000
is_equal "trust says so" "$(grep -c '^trust: warn overruns: 1000 periods were skipped' block10.summary)" 1

# ---- all points, one CPU -----------------------------------------------------------------

check "thread and work come after irq" run points points=irq,thread,work count=500
ordered() {
	in_range "$(stat_of thread min points.summary)" "$(stat_of irq min points.summary)" 1000000 &&
		in_range "$(stat_of work min points.summary)" "$(stat_of irq min points.summary)" 1000000
}
check "in the order of their causes" ordered
is_equal "each 500 times" "$(stat_of irq count points.summary) $(stat_of thread count points.summary) $(stat_of work count points.summary)" \
	"500 500 500"
check "nothing is left behind" nothing_left
tap_end
