// SPDX-License-Identifier: GPL-2.0-only
/*
 * lat_record() as a function of its own, for scripts/bench-size to count what it executes.
 * Compiled, never linked or loaded.
 */
#include <linux/kernel.h>

#include "lat.h"

void lat_record_once(struct lat_rec *rec, u64 seq, u64 stimulus_ns, s64 ns, u32 flags);

notrace noinline void lat_record_once(struct lat_rec *rec, u64 seq, u64 stimulus_ns, s64 ns,
				      u32 flags)
{
	lat_record(rec, seq, stimulus_ns, ns, flags);
}

/* For its size. */
u64 lat_histogram_once[LAT_BUCKETS];
