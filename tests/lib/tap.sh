# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# The one TAP writer of all shell tests, for bash on the host and for busybox's sh in a guest. A
# test file sources it, makes its claims with check, is_equal, ok and skip, and ends with tap_end:
# the plan is its last line, so a test that died on the way has none and fails in scripts/check.

TAP_COUNT=0
TAP_FAILED=0

# Print what a person may want to know, as TAP comments.
diag() { printf '%s\n' "$*" | sed 's/^/# /'; }

# ok STATUS SENTENCE: the claim SENTENCE is true if STATUS is 0.
ok() {
	TAP_COUNT=$((TAP_COUNT + 1))
	if [ "$1" = 0 ]; then
		printf 'ok %d - %s\n' "$TAP_COUNT" "$2"
	else
		TAP_FAILED=$((TAP_FAILED + 1))
		printf 'not ok %d - %s\n' "$TAP_COUNT" "$2"
	fi
}

# skip SENTENCE REASON: the claim could not be tried.
skip() {
	TAP_COUNT=$((TAP_COUNT + 1))
	printf 'ok %d - %s # SKIP %s\n' "$TAP_COUNT" "$1" "$2"
}

# check SENTENCE COMMAND...: the claim is COMMAND's exit status; a failing COMMAND's output is shown.
check() {
	local sentence="$1" output status
	shift
	output=$("$@" 2>&1)
	status=$?
	ok "$status" "$sentence"
	[ "$status" = 0 ] || [ -z "$output" ] || printf '%s\n' "$output" | head -n 40 | sed 's/^/# /'
}

# same GOT WANTED: for check; says what differs.
same() {
	[ "$1" = "$2" ] && return
	printf 'got:    %s\nwanted: %s\n' "$1" "$2"
	return 1
}

# is_equal SENTENCE GOT WANTED
is_equal() { check "$1" same "$2" "$3"; }

# in_range VALUE LOW HIGH: for check; whole numbers, bounds included.
in_range() {
	[ -n "$1" ] && [ "$1" -ge "$2" ] && [ "$1" -le "$3" ] && return
	printf '%s is not within %s..%s\n' "${1:-nothing}" "$2" "$3"
	return 1
}

# No more claims: the plan, and the exit status of the whole test.
tap_end() {
	printf '1..%d\n' "$TAP_COUNT"
	[ "$TAP_FAILED" = 0 ] && [ "$TAP_COUNT" -gt 0 ]
}
