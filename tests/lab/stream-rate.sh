#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Whether a reader keeps up: lat_dummy records 200,000 samples a second of virtual time, one every
# 5 us from a hard timer, and `latkit record` on the same and only CPU has to have all of them in its
# file, with the default ring.
# once: a reader that is a process
# lab: --deterministic --mem 256
. ./tap.sh
. ./guest.sh

DIR=/sys/kernel/debug/lat_dummy
SAMPLES=200000

insmod "$LATKIT_MODULES/lat_dummy.ko" pace=timer period=5us warmup=0 points=value
printf 'uniform 1000 100000 %d\n' $SAMPLES >$DIR/program
latkit record lat_dummy -o stream.lat 2>said &
usleep 50000
echo 1 >$DIR/enable
check "the session ends by itself" await_idle
wait $!
ok $? "the recording ends with it"
summary=$(cat $DIR/summary)
is_equal "200,000 records in the file, none lost" "$(cat said)" "latkit: $SAMPLES records, 0 lost"
is_equal "no drop is counted" "$(field drops)" 0
latkit decode stream.lat | grep -n -A 1 -B 1 'were lost' | sed 's/^/# /'
check "decode finds the same" sh -c "latkit decode stream.lat | tail -n 1 | grep -qx '# $SAMPLES records, 0 lost'"
# The stimuli lie on the grid: the last is 199,999 periods after the first, but for what was skipped.
took() { latkit decode stream.lat --format csv | awk -F, 'NR == 2 { first = $4 } END { print $4 - first }'; }
is_equal "in one second of virtual time" "$(took)" $(((SAMPLES - 1) * 5000))
printf '%s\n' "$summary" >"$OUT/summary"
rmmod lat_dummy
tap_end
