# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC3043,SC2034
# What guest tests of mmio_latency share: sessions of it, and what they counted. Sourced after
# guest.sh, whose helpers then look at this instrument.

DIR=/sys/kernel/debug/mmio_latency

load() { insmod "$LATKIT_MODULES/mmio_latency.ko" "$@"; }
unload() { rmmod mmio_latency; }

# A whole session, whatever ends it.
measure() { load "$@" && await_idle; }

# count_of POINT...: samples of the points together.
count_of() {
	local point all=0 count
	for point; do
		count=$(stat_of "$point" count)
		all=$((all + ${count:-0}))
	done
	echo $all
}
reads() { count_of first read disturbed firmware; }

# reads_exact BURSTS BURST: each burst has its reads, and a gap between each two of them.
reads_exact() {
	same "$(field stop_reason)" count || return
	same "$(reads) $(count_of gap)" "$(($1 * $2)) $(($1 * ($2 - 1)))"
}

# The kernel log has nothing but that the module was loaded, and what needs to be said no more.
log_is_silent() {
	dmesg | grep -vE 'mmio_latency: [^ ]*, (measuring|idle)$|crng init done' >lines
	same "$(cat lines)" ""
}

# refused TEXT PARAMETER...: with this text in the kernel log, and nothing is left behind.
refused() {
	local text="$1"
	shift
	dmesg -c >/dev/null
	if load "$@" 2>/dev/null; then
		unload
		echo "not refused"
		return 1
	fi
	dmesg | grep -qF -e "$text" || { echo "no '$text' in:"; dmesg; return 1; }
	[ ! -e $DIR ] || { echo "$DIR is there"; return 1; }
}
