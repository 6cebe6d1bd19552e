#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# What a session counts adds up: 2,000 stimuli of edu at 1 ms, seen through every file.
# lab: --device edu --smp 2
# shellcheck shell=dash
. ./tap.sh
. ./guest.sh

POINTS="irq thread work delivered"
# Limits on the upper edge of a bucket, so that the histogram can tell the exact number above.
IRQ_1=51199 IRQ_2=1015807 THREAD_1=212991

adds_up() { # POINT
	same "$(buckets "$1" value)" 2000 && same "$(stat_of "$1" count)" 2000
}
in_order() { # POINT
	local min mean max
	min=$(stat_of "$1" min) mean=$(stat_of "$1" mean) max=$(stat_of "$1" max)
	in_range "$mean" "$min" "$max" && in_range "$min" 1 "$max"
}
percentiles_in_order() { # POINT OVER
	local last=0 p value
	for p in p50 p90 p99; do
		value=$(percentile "$1" "$2" "$p")
		in_range "$value" "$last" 100000000000 || return
		last=$value
	done
	same "$(percentile "$1" "$2" p99.999)" -
}
# The outermost buckets that are not empty hold minimum and maximum.
edges_hold() { # POINT
	awk -v point="$1" -v min="$(stat_of "$1" min)" -v max="$(stat_of "$1" max)" '
		$1 == point && $3 == "value" { if (!n++) { low = $4; high = $5 } last_low = $4; last_high = $5 }
		END { if (min < low || min > high || max < last_low || max > last_high) {
			print min, "in", low, high, max, "in", last_low, last_high; exit 1 } }' "$DIR/histogram"
}
linear_adds_up() { # POINT
	local over
	over=$(awk -v point="$1" '$1 == point && $3 == "linear-over" { print $6 }' "$DIR/histogram")
	same "$(($(buckets "$1" linear) + ${over:-0}))" 2000
}
# Both histograms see the same samples above edges they share: 64 * 20,480 ns and 5 * 20,480 ns.
linear_agrees() { # POINT
	local over
	over=$(awk -v point="$1" '$1 == point && $3 == "linear-over" { print $6 }' "$DIR/histogram")
	same "${over:-0} $((${over:-0} + $(buckets "$1" linear 102399)))" \
		"$(buckets "$1" value 1310719) $(buckets "$1" value 102399)"
}
exceed_agrees() { # POINT LIMIT
	same "$(awk -v point="$1" -v limit="$2" '$1 == "exceed:" && $2 == point && $4 == limit { print $5, $6 }' "$DIR/summary")" \
		"$(buckets "$1" value "$2") $(buckets "$1" missed "$2")"
}
series_adds_up() { # POINT
	same "$(awk -v point="$1" '$1 == point { n += $5; m += $8 } END { print n + 0, m + 0 }' "$DIR/series")" \
		"2000 $(buckets "$1" missed)"
}
series_extremes() { # POINT
	same "$(awk -v point="$1" '$1 == point && $5 { if (!k++ || $6 < min) min = $6; if ($7 > max) max = $7 }
		END { print min, max }' "$DIR/series")" "$(stat_of "$1" min) $(stat_of "$1" max)"
}
series_without_gap() { # POINT
	awk -v point="$1" '$1 == point { if (end && $3 != end) { print $3, "after", end; exit 1 } end = $4 }' "$DIR/series"
}
worst_is_max() { # POINT
	same "$(awk -v point="$1" '$1 == "worst" && $2 == point { print $6 }' "$DIR/outliers" | sort -rn | head -n 1)" \
		"$(stat_of "$1" max)"
}
sixteen_worst() { # POINT
	same "$(grep -c "^worst $1 " "$DIR/outliers")" 16
}
missed_is_overruns() { # POINT
	same "$(stat_of "$1" missed) $(buckets "$1" missed)" "$(field overruns) $(field overruns)"
}
eci_text() {
	same "$(cat "$1")" "************ RESULTS (ns) ************
* Max: $(stat_of irq max)
* Avg: $(stat_of irq mean)
* Min: $(stat_of irq min)"
}
byte_by_byte() { # FILE
	dd if="$DIR/$1" bs=1 2>/dev/null | cmp - "$DIR/$1"
}
irq_thread_priority() {
	awk '{ print $18 }' "/proc/$(threads "irq/$(field irq)-")/stat"
}

insmod "$LATKIT_MODULES/msi_latency.ko" device="$DEVICE" period=1ms count=2000 linear=20480ns:64 \
	"exceed=irq:${IRQ_1}ns,irq:${IRQ_2}ns,thread:${THREAD_1}ns"
ok $? "insmod alone loads it"
is_equal "insmod alone starts a session" "$(cat "$DIR/enable")" 1
is_equal "summary says it is running" "$(field state)" running
check "it is bound to the device it was told" [ -e "$DRIVER/$DEVICE" ]
check "2000 stimuli end the session" await_idle
is_equal "the reason is the count" "$(field stop_reason)" count
for point in $POINTS; do
	check "$point: 2000 = sum of buckets = count" adds_up "$point"
	check "$point: min <= mean <= max" in_order "$point"
	check "$point: min and max lie in the outermost buckets" edges_hold "$point"
	check "$point: percentiles rise, and p99.999 of 2000 is withheld" percentiles_in_order "$point" due
	check "$point: the linear histogram and its overflow make 2000" linear_adds_up "$point"
	check "$point: linear and log histogram agree above common edges" linear_agrees "$point"
	check "$point: the series adds up to the histogram" series_adds_up "$point"
	check "$point: the series has the same extremes" series_extremes "$point"
	check "$point: the series has no gap" series_without_gap "$point"
	check "$point: 16 worst samples are kept" sixteen_worst "$point"
	check "$point: the worst of them is the maximum" worst_is_max "$point"
	check "$point: every skipped period is missed" missed_is_overruns "$point"
done
check "exceed counts exactly what is above: irq, first limit" exceed_agrees irq $IRQ_1
check "exceed counts exactly what is above: irq, second limit" exceed_agrees irq $IRQ_2
check "exceed counts exactly what is above: thread" exceed_agrees thread $THREAD_1
is_equal "count + warmup + spurious = growth of its line in /proc/interrupts" \
	"$(interrupts)" $((2000 + 1000 + $(field spurious)))
is_equal "lost 0, spurious 0, wrong_cpu 0, torn 0" \
	"$(field lost) $(field spurious) $(field wrong_cpu) $(field torn)" "0 0 0 0"
is_equal "trigger and measured CPU are apart by default" "$(field trigger_cpu)" 1
is_equal "the interrupt goes to the measured CPU alone" \
	"$(cat "/proc/irq/$(field irq)/effective_affinity_list")" 0
is_equal "the IRQ thread has the asked priority" "$(irq_thread_priority)" "-96"
is_equal "an emulated device is called one" "$(grep -c '^trust: info emulated-device:' "$DIR/summary")" 1
check "current_value is ECI's text" eci_text "$DIR/current_value"
check "and also in the directory of ECI's name" eci_text "${DIR}_test/current_value"
is_equal "config shows a parameter as it was given" "$(field count "$DIR/config")" 2000
for file in summary histogram outliers series config current_value; do
	check "$file read byte by byte is the same" byte_by_byte $file
done
check "rmmod succeeds" unload
check "nothing is left behind" nothing_left
tap_end
