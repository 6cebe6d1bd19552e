/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The one clock of an instrument. Latencies are taken on CLOCK_MONOTONIC, whose user-space twin the
 * vDSO reads; an instrument that judges somebody else's oscillator (msi_jitter) defines
 * LAT_CLOCK_RAW and takes CLOCK_MONOTONIC_RAW, which nobody steers.
 */
#ifndef LAT_CORE_CLOCK_H
#define LAT_CORE_CLOCK_H

#include <linux/timekeeping.h>

#ifdef LAT_CLOCK_RAW
#define LAT_CLOCK_NAME "CLOCK_MONOTONIC_RAW"
#else
#define LAT_CLOCK_NAME "CLOCK_MONOTONIC"
#endif

/**
 * lat_now() - the time, ns
 *
 * Context: any but NMI.
 */
static __always_inline u64 lat_now(void)
{
#ifdef LAT_CLOCK_RAW
	return ktime_get_raw_ns();
#else
	return ktime_get_ns();
#endif
}

#endif /* LAT_CORE_CLOCK_H */
