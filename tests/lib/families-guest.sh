# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC3043,SC2034
# What guest tests of the device families share: the devices as the "# lab:" lines of those tests put
# them, the kernel's own drivers of them, and a whole session whose counts are exact. Sourced after
# guest.sh.

COUNT=2000
WARMUP=1000
# Pairs of the kernel's own driver and its device; edu has none.
EDU=0000:00:04.0 E1000E=0000:00:05.0 IGB=0000:00:06.0

driver_of() { basename "$(readlink "/sys/bus/pci/devices/$1/driver" 2>/dev/null)"; }
# The kernel's own driver, none for edu.
own_driver() {
	case $1 in
	"$E1000E") echo e1000e ;;
	"$IGB") echo igb ;;
	esac
}
give_back() { [ -z "$(own_driver "$1")" ] || echo "$1" >"/sys/bus/pci/drivers/$(own_driver "$1")/bind"; }
take_away() { [ -z "$(own_driver "$1")" ] || echo "$1" >"/sys/bus/pci/drivers/$(own_driver "$1")/unbind"; }

# ---- what a session counts, per measured CPU ------------------------------------

# interrupts_of CPU: of the module's lines, all that arrived there.
interrupts_of() {
	awk -v column=$(($1 + 2)) '/ msi_latency$/ { n += $column } END { print n + 0 }' /proc/interrupts
}
sum_of_buckets() { # POINT CPU
	awk -v point="$1" -v cpu="$2" '$1 == point && $2 == cpu && $3 == "value" { n += $6 } END { print n + 0 }' "$DIR/histogram"
}
count_of() { # POINT CPU
	awk -v point="$1" -v cpu="$2" '/^#point .* over / { exit } $1 == point && $2 == cpu { print $4 == "" ? 0 : $3 }' "$DIR/summary"
}
# Every CPU has its share, and together they have all that arrived anywhere.
counts_exact() { # CPUS...
	local cpu all=0
	for cpu; do
		same "$cpu $(sum_of_buckets irq "$cpu") $(count_of irq "$cpu")" "$cpu $COUNT $COUNT" || return
		all=$((all + $(interrupts_of "$cpu")))
	done
	same "$all" "$(interrupts)" || return
	same "$all" $(($# * (COUNT + WARMUP) + $(field spurious)))
}
nothing_wrong() { same "$(field lost) $(field wrong_cpu) $(field torn)" "0 0 0"; }

# session NAME CPUS PARAMETER...: measured from start to end.
session() {
	local name="$1" cpus="$2"
	shift 2
	check "$name: a session of $COUNT at 1 ms ends" measure count=$COUNT warmup=$WARMUP "$@"
	is_equal "$name: the reason is the count" "$(field stop_reason)" count
	# shellcheck disable=SC2086 # one word a CPU
	check "$name: count + warmup + spurious = growth of /proc/interrupts, on each CPU" counts_exact $cpus
	check "$name: lost 0, wrong_cpu 0, torn 0" nothing_wrong
	diag "$name: irq min mean max $(stat_of irq min | xargs) / $(stat_of irq mean | xargs) / $(stat_of irq max | xargs) ns, spurious $(field spurious), late $(field late), overruns $(field overruns)"
}
# end NAME: the session's module goes.
end() {
	check "$1: rmmod succeeds" unload
	check "$1: nothing is left behind" nothing_left
}
