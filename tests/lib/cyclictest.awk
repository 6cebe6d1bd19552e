# SPDX-License-Identifier: GPL-2.0-only
# Reads the histogram that cyclictest -q -h N prints, the way plotting scripts do: comments and empty
# lines are skipped but for the summary, all else is a row of a number and a count per thread. Prints
# what it has understood; ends with status 1 at the first line that fits nowhere.
# Some awks take a number that begins with 0 for an octal one.
function decimal(text) { sub(/^0+/, "", text); return text + 0 }
function fail(why) { print "line " NR ": " why ": " $0; failed = 1; exit 1 }
/^# (Total|Min Latencies|Avg Latencies|Max Latencies|Histogram Overflows):/ {
	name = $0; sub(/^# /, "", name); sub(/:.*/, "", name)
	line = $0; sub(/^[^:]*:/, "", line)
	n = split(line, values, " ")
	if (n != threads) fail(n " values for " threads " threads")
	for (i = 1; i <= n; i++) of[name, i] = decimal(values[i])
	lines++
	next
}
/^#/ || /^$/ { next }
{
	if (NF < 2 || decimal($1) != rows + 0) fail("not row " rows + 0)
	if (!rows) threads = NF - 1
	if (NF != threads + 1) fail("not " threads " counts")
	if ($0 !~ /^[0-9]+ [0-9]+(\t[0-9]+)*$/) fail("not a row")
	for (i = 2; i <= NF; i++) sum[i - 1] += decimal($i)
	rows++
}
END {
	if (failed) exit 1
	if (lines != 5) fail("the summary has " lines + 0 " lines")
	print "threads " threads ", rows " rows
	for (i = 1; i <= threads; i++) {
		if (sum[i] != of["Total", i]) fail("total of thread " i " is not " sum[i])
		if (of["Min Latencies", i] > of["Avg Latencies", i] || of["Avg Latencies", i] > of["Max Latencies", i])
			fail("thread " i " is not in order")
		print "thread " i ": count " sum[i] + of["Histogram Overflows", i] ", max " of["Max Latencies", i]
	}
}
