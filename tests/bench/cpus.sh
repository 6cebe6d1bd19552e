#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Third guest of the benchmark, ordinary mode with eight CPUs: how a session grows with them. Rows:
#	cpus N samples-per-CPU ns
#	cpus-read N ns bytes
# shellcheck shell=dash disable=SC2046,SC2086
# Figures are words, to be split.
. ./common.sh

DIR=/sys/kernel/debug/lat_dummy
for cpus in 1 2 4 8; do
	insmod "$LATKIT_MODULES/lat_dummy.ko" warmup=0 points=value cpus=0-$((cpus - 1))
	printf 'uniform 1000 100000 500000\n' >$DIR/program
	echo 1 >$DIR/enable
	await_idle
	out cpus $cpus 500000 "$(field ran_ns)"
	out cpus-read $cpus $(./clock read $DIR/summary)
	rmmod lat_dummy
done
exit 0
