#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Tests the command line tools as far as they need neither root nor a latkit module: command lines,
# replayed reports, parsers, output. TAP on standard output. `UPDATE=1` writes the golden files
# anew: look at what changed. $TOOLS and $SANITIZED are where the tools are built, plain and with
# the sanitizers (build/userspace and build/userspace-san).
set -uo pipefail

HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
TOP=$(cd "$HERE/../.." && pwd)
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT
export LC_ALL=C LATKIT_RUN=$WORK/run
export ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1
unset LATKIT_MODULES

# shellcheck source=tests/lib/tap.sh
. "$TOP/tests/lib/tap.sh"

# claim STATUS SENTENCE [FILE THAT EXPLAINS]
claim() {
	ok "$1" "$2"
	[[ $1 == 0 || ! -s ${3:-} ]] || head -n 20 "$3" | sed 's/^/# /'
}

build() {
	TOOLS=${TOOLS:-$TOP/build/userspace}
	SANITIZED=${SANITIZED:-$TOP/build/userspace-san}
	make -s -C "$TOP/userspace" O="$TOOLS" all tests >"$WORK/make" 2>&1 &&
		make -s -C "$TOP/userspace" O="$SANITIZED" SANITIZE=1 all tests >>"$WORK/make" 2>&1
}

# ---- replayed reports --------------------------------------------------------

# golden NAME SENTENCE TOOL ARGUMENT...: its output and exit code are those of golden/NAME
golden() {
	local file=$HERE/golden/$1 sentence=$2
	shift 2
	"$@" >"$WORK/out" 2>"$WORK/err"
	printf '# exit %d\n' $? >>"$WORK/out"
	cat "$WORK/err" >>"$WORK/out"
	[[ -z ${UPDATE:-} ]] || cp "$WORK/out" "$file"
	diff "$file" "$WORK/out" >"$WORK/diff" 2>&1
	claim $? "$sentence" "$WORK/diff"
}

replays() {
	local report name
	for report in "$HERE"/reports/*.json; do
		name=$(basename "$report" .json)
		golden "$name.txt" "$name prints as text" \
			"$SANITIZED/msi-latency" --replay "$report"
		golden "$name.full.txt" "$name prints in full, in ns" \
			"$SANITIZED/msi-latency" --replay "$report" -nv -H log
		golden "$name.json" "$name prints as json" \
			"$SANITIZED/msi-latency" --replay "$report" --format json
		head -n -1 "$HERE/golden/$name.json" >"$WORK/$name.json"
		"$HERE/validate.py" "$WORK/$name.json" >"$WORK/out" 2>&1
		claim $? "the json of $name is valid, and its numbers fit each other" "$WORK/out"
		"$SANITIZED/msi-latency" --replay "$WORK/$name.json" --format json >"$WORK/again" 2>&1
		cmp "$WORK/$name.json" "$WORK/again" >"$WORK/out" 2>&1
		claim $? "the json of $name reads back as the same" "$WORK/out"
	done
	golden linear.txt "a linear histogram is printed with over and under" \
		"$SANITIZED/msi-latency" --replay "$HERE/reports/normal.json" -H linear:1us:3
	golden percentiles.json "--percentiles chooses what is saved" "$SANITIZED/msi-latency" \
		--replay "$HERE/reports/counts.json" --format json --percentiles 10,99.9999
	foreign_formats
	golden show.txt "latkit show prints as the tool does" \
		"$SANITIZED/latkit" show "$HERE/reports/normal.json"
	! grep -q $'\e' "$HERE"/golden/*
	claim $? "no escape code is printed when the output is no terminal"
}

# The formats of other tools: of a report with a linear histogram, with log buckets only, and without
# anything; and what independent readers make of them.
foreign_formats() {
	local name format
	for name in timer normal nothing; do
		for format in cyclictest xenomai; do
			golden "$name.$format" "$name prints as $format's line" \
				"$SANITIZED/timer-latency" --replay "$HERE/reports/$name.json" --format $format
			golden "$name.$format.hist" "$name prints as $format's histogram" \
				"$SANITIZED/timer-latency" --replay "$HERE/reports/$name.json" --format $format -q -H 100
		done
	done
	golden timer.cyclictest.ns "cyclictest's line in ns" \
		"$SANITIZED/timer-latency" --replay "$HERE/reports/timer.json" --format cyclictest -q -n
	for name in timer normal; do
		"$SANITIZED/timer-latency" --replay "$HERE/reports/$name.json" --format cyclictest -q -H 100 |
			awk -f "$TOP/tests/lib/cyclictest.awk" >"$WORK/out" 2>&1
		claim $? "a reader of cyclictest -q -h 100 reads $name as well" "$WORK/out"
	done
	awk -f "$TOP/tests/lib/cyclictest.awk" "$HERE/cyclictest-2.4.txt" >"$WORK/out" 2>&1
	claim $? "and cyclictest's own output" "$WORK/out"
	diff <(sed 's/[0-9]\+/N/g; s/\( N\)\+/ N/g; /^N /d' "$HERE/cyclictest-2.4.txt" | sort -u) \
		<("$SANITIZED/timer-latency" --replay "$HERE/reports/timer.json" --format cyclictest -q -H 20 |
			sed '/^# timer-latency/d; /^# not counted/d; s/[0-9]\+/N/g; s/\( N\)\+/ N/g; /^N /d' | sort -u) >"$WORK/out"
	claim $? "line by line they differ in numbers only" "$WORK/out"
}

# Whatever is in the golden files: these numbers follow from the reports by hand.
numbers() {
	grep -Eq '^irq\+missed +0 10000 .* 40894\.463 ' "$HERE/golden/missed.txt"
	claim $? "a stall that was missed raises p99.9 from 8 us to 40 ms"
	grep -Eq '^irq\+missed\+lost +0 +1010 .* 8\.000 +inf ' "$HERE/golden/lost.txt"
	claim $? "lost stimuli rank as infinity"
	grep -Eq '^irq +0 15033434112 5\.000 5\.577 ' "$HERE/golden/counts.txt"
	claim $? "counts above 2^33 are not narrowed, nor is the mean"
	grep -Eq 'mean_ns": -[0-9]' "$HERE/golden/signed.json"
	claim $? "a mean below zero keeps its sign"
	grep -Eq ' 1099511627\.781 ' "$HERE/golden/big.txt"
	claim $? "a value of 18 minutes is told exactly"
	! grep -Eqi '\b(nan|inf)\b' "$HERE"/golden/*.json
	claim $? "no json has NaN or infinity"
}

# ---- recorded streams --------------------------------------------------------

# decode CODE NAME REGEX [OPTION...]
decode() {
	local want=$1 name=$2 regex=$3 code
	shift 3
	"$SANITIZED/latkit" decode "$WORK/$name.lat" "$@" >"$WORK/out" 2>&1
	code=$?
	[[ $code == "$want" ]] && grep -Eq -- "$regex" "$WORK/out"
	claim $? "decode of the stream '$name'${*:+ with $*}: exit $want, $regex" "$WORK/out"
}

streams() {
	local format
	"$HERE/streams.py" "$WORK" || return
	for format in text csv jsonl; do
		golden "stream.$format" "a stream prints as $format" \
			"$SANITIZED/latkit" decode "$WORK/good.lat" --format $format
		"$SANITIZED/latkit" decode - --format $format <"$WORK/good.lat" >"$WORK/out" 2>/dev/null
		diff <(sed '/^# exit/,$d' "$HERE/golden/stream.$format") "$WORK/out" >"$WORK/diff"
		claim $? "and so it does from a pipe: $format" "$WORK/diff"
	done
	"$SANITIZED/latkit" decode "$WORK/good.lat" --format jsonl 2>/dev/null | jq -e . >/dev/null
	claim $? "every line of jsonl is JSON"
	decode 0 good '17 records were lost while they were recorded'
	decode 0 empty '^# 0 records, 0 lost'
	decode 0 later '^irq +0 '
	decode 1 headless 'is not a stream written by latkit record'
	decode 1 nothing 'is not a stream'
	decode 1 short 'is not a stream'
	decode 1 huge-header 'is not a stream'
	decode 1 cut-header 'its header is cut'
	decode 1 cut-record 'is cut: it ends inside a record'
	decode 1 cut-end 'is cut: the end record is missing'
	decode 0 cut-record '^# 3 records, 17 lost' --partial
	decode 0 cut-end '^# 4 records, 17 lost' --partial
	decode 1 newer "its format is 'latkit-stream/2'"
	decode 1 other-order 'the other order of bytes'
	decode 1 nameless 'lacks instrument or version'
	decode 1 control 'its header is broken'
	decode 1 no-point 'record 1 cannot be: CPU 0, point 1'
	decode 1 no-number 'record 1 cannot be'
	decode 1 no-cpu 'record 1 cannot be: CPU 1048576'
	decode 1 lost-nothing 'record 1 cannot be'
	decode 1 miscounted 'its end record counts 5 records, 17 lost'
	decode 1 goes-on 'goes on behind its end'
	[[ $("$SANITIZED/latkit" decode "$WORK/cut-record.lat" 2>/dev/null | wc -l) == 0 ]]
	claim $? "of a file that is refused nothing is printed"
	"$SANITIZED/latkit" decode "$WORK/good.lat" -o /dev/full >"$WORK/out" 2>&1
	[[ $? == 1 ]] && grep -q 'No space left' "$WORK/out"
	claim $? "decode -o /dev/full is told and is exit 1" "$WORK/out"
	local round
	for round in $(seq 60); do
		python3 - "$WORK/good.lat" "$WORK/fuzz.lat" "$round" <<-'END'
		import random, sys
		data = bytearray(open(sys.argv[1], "rb").read())
		random.seed(int(sys.argv[3]))
		for _ in range(random.randint(1, 8)):
		    data[random.randrange(len(data))] = random.randrange(256)
		open(sys.argv[2], "wb").write(data[:random.randint(0, len(data))])
		END
		timeout 20 "$SANITIZED/latkit" decode "$WORK/fuzz.lat" --partial >"$WORK/out" 2>&1
		[[ $? -le 1 ]] || break
	done
	[[ $round == 60 ]]
	claim $? "60 streams with random bytes are decoded or refused" "$WORK/out"
}

# ---- limits ------------------------------------------------------------------

# limit CODE REPORT LIMIT REGEX
limit() {
	"$SANITIZED/msi-latency" --replay "$HERE/reports/$2.json" --limit "$3" >"$WORK/out" 2>&1
	local code=$?
	[[ $code == "$1" ]] && grep -Eq "$4" "$WORK/out"
	claim $? "$3 of $2 is exit $1" "$WORK/out"
}

limits() {
	limit 0 one 'max<=7777ns' 'Limit max<=7777ns: pass, irq CPU 2: 7.777 us'
	limit 2 one 'max<7777ns' ': fail, irq CPU 2: 7.777 us'
	limit 0 one 'max=8us' ': pass'
	limit 2 one 'min>=8us' ': fail'
	limit 1 one 'p99<=1s' 'no verdict.*it takes 1000'
	limit 1 empty 'max<=1s' 'no verdict.*too few'
	limit 1 nothing 'max<=1s' 'nothing was measured'
	limit 1 nothing 'overruns=0' 'was not counted'
	limit 1 one 'thread:max<=1s' 'point thread was not measured'
	limit 2 lost 'max<=1h' 'fail.*infinite'
	limit 2 lost 'p99<=1h' 'fail.*infinite'
	limit 2 lost 'lost=0' 'fail: 20'
	limit 0 lost 'lost<=20' 'pass: 20'
	limit 2 missed 'max<=49ms' 'fail.*50000.000 us'
	limit 0 normal 'irq:rate(20us)<=2000/h' 'pass.*2 in 10.123 s|no verdict'
	limit 2 normal 'rate(10us)<=1/h' 'fail'
	limit 1 normal 'rate(1ms)<=1/h' 'no verdict.*it takes 10800 s'
	limit 0 normal 'rate(1ms)<=0/h' 'pass'
	limit 0 normal 'thread:p50<8us' 'pass'
	limit 2 threshold 'max<=1s' 'Verdict: fail .stopped by the threshold'
	"$SANITIZED/msi-latency" --replay "$HERE/reports/normal.json" --require governor \
		>"$WORK/out" 2>&1
	[[ $? == 1 ]] && grep -q 'require governor: no verdict CPU 1' "$WORK/out"
	claim $? "--require of a note that is there is exit 1" "$WORK/out"
	"$SANITIZED/msi-latency" --replay "$HERE/reports/normal.json" --require smi >"$WORK/out" 2>&1
	claim $? "--require of a note that is not there is exit 0" "$WORK/out"
}

# ---- command lines -----------------------------------------------------------

command_lines() {
	local code regex words argv
	while IFS='|' read -r code regex words; do
		[[ $code != '#'* && -n $code ]] || continue
		set -f
		eval "argv=($words)" # quotes in the table are ours
		set +f
		(cd "$WORK" && "$SANITIZED/${argv[0]}" "${argv[@]:1}") >"$WORK/out" 2>&1
		local got=$?
		[[ $got == "$code" ]] && grep -Eq -- "$regex" "$WORK/out"
		claim $? "$words: exit $code" "$WORK/out"
	done <"$HERE/cmdlines"
}

# ---- reports that must be refused --------------------------------------------

# refused SENTENCE REGEX SED-SCRIPT: the report normal, changed, is not read
refused() {
	sed -E "$3" "$HERE/reports/normal.json" >"$WORK/bad.json"
	cmp -s "$HERE/reports/normal.json" "$WORK/bad.json" && claim 1 "$1: nothing was changed"
	"$SANITIZED/msi-latency" --replay "$WORK/bad.json" >"$WORK/out" 2>&1
	local code=$?
	[[ $code == 1 ]] && grep -Eq "$2" "$WORK/out"
	claim $? "$1 is refused" "$WORK/out"
}

bad_reports() {
	refused "a newer schema" "its schema is 'latkit-report/2'" 's,latkit-report/1,latkit-report/2,'
	refused "a foreign file" 'has no "schema"' 's/"schema"/"file_version"/'
	refused "a truncated report" 'not JSON' 's/"verdict".*//'
	refused "a count that is not the sum" 'count: not the sum' 's/"count":982/"count":983/'
	refused "a negative count" 'count: below zero' 's/"count":982/"count":-982/'
	refused "a count that is a text" 'count: not a whole number' 's/"count":982/"count":"982"/'
	refused "a missing member" 'negative: missing' 's/"negative":0,//'
	refused "a minimum above the maximum" 'min_ns: above max_ns' 's/"min_ns":4000/"min_ns":99999/'
	refused "a sum that cannot be" 'sum_ns: cannot be' 's/"sum_ns":"[0-9]+"/"sum_ns":"1"/'
	refused "a sum that is no number" 'sum_ns: not a decimal' 's/"sum_ns":"[0-9]+"/"sum_ns":"1e9"/'
	refused "a CPU listed twice" 'cpu: listed twice' 's/"cpu":3,"count"/"cpu":1,"count"/'
	refused "an outlier of no point" 'no such point' 's/"point":"irq","latency/"point":"x","latency/'
	refused "a limit that is none" 'no such statistic' 's/overruns=0/overrun=0/'
	refused "a severity that is none" 'not info, warn or void' 's/"warn"/"bad"/'
	refused "a stop reason that is none" 'stop_reason: unknown' \
		's/"stop_reason":"[a-z]+"/"stop_reason":"tired"/'
	refused "a time that is none" 'not an RFC 3339' 's/2026-01-02T03/2026-13-02T03/'
	refused "a key given twice" 'duplicate' 's/"tool":/"tool":"x","tool":/'
	: >"$WORK/bad.json"
	"$SANITIZED/msi-latency" --replay "$WORK/bad.json" >"$WORK/out" 2>&1
	[[ $? == 1 ]]
	claim $? "an empty file is refused" "$WORK/out"
	sed 's/"tool":/"later":{"x":[1]},"tool":/' "$HERE/reports/one.json" >"$WORK/later.json"
	"$SANITIZED/msi-latency" --replay "$WORK/later.json" >"$WORK/out" 2>&1
	claim $? "a member this version does not know is passed over" "$WORK/out"
}

# ---- output ------------------------------------------------------------------

output() {
	local tool=$SANITIZED/msi-latency report=$HERE/reports/normal.json
	"$tool" --replay "$report" >/dev/full 2>"$WORK/out"
	[[ $? == 1 ]] && grep -q 'standard output: No space left' "$WORK/out"
	claim $? "a full standard output is told and is exit 1" "$WORK/out"
	"$tool" --help >/dev/full 2>"$WORK/out"
	[[ $? == 1 ]] && grep -q 'standard output: No space left' "$WORK/out"
	claim $? "so it is for --help" "$WORK/out"
	"$tool" --replay "$report" -o /dev/full 2>"$WORK/out"
	[[ $? == 1 ]] && grep -q '/dev/full: No space left' "$WORK/out"
	claim $? "-o /dev/full is told and is exit 1" "$WORK/out"
	"$tool" --replay "$report" -o "$WORK/no/such/file" 2>"$WORK/out"
	[[ $? == 1 ]] && grep -q 'No such file or directory; the report was not written' "$WORK/out"
	claim $? "-o into a directory that is not there is told and is exit 1" "$WORK/out"
	"$tool" --replay "$report" -o "$WORK" 2>"$WORK/out"
	[[ $? == 1 ]] && grep -q 'Is a directory' "$WORK/out"
	claim $? "-o onto a directory is told and is exit 1" "$WORK/out"
	( set +o pipefail
	  "$tool" --replay "$report" -v 2>"$WORK/out" | head -n 1 >/dev/null
	  printf '%s\n' "${PIPESTATUS[0]}" >"$WORK/code" )
	[[ $(cat "$WORK/code") == 0 && ! -s $WORK/out ]]
	claim $? "a reader that goes away is no error and nothing is said" "$WORK/out"
	mkdir "$WORK/dir"
	echo old >"$WORK/dir/report"
	"$tool" --replay "$report" --format json -o "$WORK/dir/report" 2>"$WORK/out" &&
		"$HERE/validate.py" "$WORK/dir/report" >>"$WORK/out" 2>&1 &&
		[[ $(ls "$WORK/dir") == report ]]
	claim $? "-o replaces a file by a whole report and leaves nothing beside it" "$WORK/out"
	[[ $(stat -c %a "$WORK/dir/report") == "$(printf '%o' $((0666 & ~$(umask))))" ]]
	claim $? "the file has the permissions the umask leaves"
	echo old >"$WORK/dir/report"
	(ulimit -f 1; trap '' XFSZ; exec "$tool" --replay "$report" --format json \
		-o "$WORK/dir/report" 2>"$WORK/dir.err")
	[[ $? == 1 && $(cat "$WORK/dir/report") == old && $(ls "$WORK/dir") == report ]]
	claim $? "a report that does not fit leaves the old file as it was" "$WORK/dir.err"
}

# ---- signals, as far as they need no kernel ----------------------------------

signals() {
	local signal pid code
	mkfifo "$WORK/fifo"
	for signal in INT TERM; do
		# A background job of a script has SIGINT ignored; setsid and env give it back.
		env --default-signal=INT,TERM "$SANITIZED/msi-latency" --replay - \
			-o "$WORK/interrupted" <"$WORK/fifo" >"$WORK/out" 2>&1 &
		pid=$!
		exec 9>"$WORK/fifo"
		sleep 0.3
		kill -$signal "$pid"
		wait "$pid"
		code=$?
		exec 9>&-
		[[ $code -gt 128 && ! -e $WORK/interrupted ]]
		claim $? "SIG$signal ends a replay that waits for its input, and no file appears" "$WORK/out"
	done
}

# ---- what follows from tables ------------------------------------------------

tables() {
	local tool name codes
	for tool in msi-latency latkit; do
		[[ -z $("$TOOLS/$tool" --help | awk 'length > 80') ]]
		claim $? "$tool --help keeps to 80 columns"
		"$TOOLS/$tool" --completion >"$WORK/completion" && bash -n "$WORK/completion"
		claim $? "$tool --completion is good bash"
	done
	"$TOOLS/msi-latency" --help >"$WORK/help"
	"$TOOLS/msi-latency" --completion >"$WORK/completion"
	: >"$WORK/out"
	while read -r name; do
		name=--${name//_/-}
		grep -q -- "$name " "$WORK/help" || echo "no $name in --help" >>"$WORK/out"
		grep -Eq -- "${name}[ ']" "$WORK/completion" || echo "no $name in completion" >>"$WORK/out"
	done < <(sed -n 's/^LAT_PARAM(\([a-z_]*\),.*/\1/p' "$TOP"/modules/{core,msi_latency}/params.def |
		grep -vx run)
	[[ ! -s $WORK/out ]]
	claim $? "every parameter but run is an option with help and completion" "$WORK/out"

	codes=$("$TOOLS/msi-latency" --require '?' 2>&1 | sed -n 's/.*there are //p' | tr -d ' ')
	: >"$WORK/out"
	while read -r name; do
		[[ ,$codes, == *,$name,* ]] || echo "--require does not know $name" >>"$WORK/out"
	done < <(grep -rhozP 'lat_note\(lat, "\K[a-z-]+' "$TOP/modules" | tr '\0' '\n'
		grep -rhoP '^\s*\{ LAT_[A-Z_]+, "\K[a-z-]+(?=", LAT_SEV)' "$TOP/modules/core"
		grep -rhoP 'lat_report_note\(report, "\K[a-z-]+' "$TOP/userspace")
	[[ ! -s $WORK/out ]]
	claim $? "--require knows every code modules and tools can give" "$WORK/out"
}

# ---- parsers under the sanitizers --------------------------------------------

fuzz() {
	local seed=${SEED:-20260102}
	"$SANITIZED/cli-fuzz" "$seed" "${ROUNDS:-400}" "$HERE"/reports/*.json >"$WORK/out" 2>&1
	claim $? "parsers survive ${ROUNDS:-400} rounds from seed $seed" "$WORK/out"
}

# ---- what it costs -----------------------------------------------------------

costs() {
	local kib
	kib=$(/usr/bin/time -f %M "$TOOLS/msi-latency" --replay "$HERE/reports/normal.json" \
		2>&1 >/dev/null | tail -n 1)
	[[ $kib -le 8192 ]]
	claim $? "a replay takes at most 8 MiB ($kib KiB)"
}

if ! build; then
	echo "1..0 # the tools do not build"
	sed 's/^/# /' "$WORK/make"
	exit 1
fi
ALL="replays numbers streams limits command_lines bad_reports output signals tables fuzz costs"
for part in ${PARTS:-$ALL}; do
	"$part"
done
tap_end
