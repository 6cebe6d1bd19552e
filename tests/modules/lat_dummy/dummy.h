/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The clock of the dummy instrument, which a test can let misbehave: it steps back, or is found to
 * be unstable. Included before the core, whose own questions to the clock then come here; not a
 * line of the core knows about it. And the one thing of the core that no other instrument calls.
 */
#ifndef LAT_DUMMY_DUMMY_H
#define LAT_DUMMY_DUMMY_H

/* Without it <linux/timekeeping.h> does not compile on older kernels. */
#include <linux/ktime.h>

#include "../../../modules/core/arch.h"
#include "../../../modules/core/clock.h"

/* How far the clock was set back so far, ns; written by the program, read by everybody. */
extern u64 dummy_clock_back_ns;
/* The clock is unstable from now on; as above. */
extern bool dummy_clock_unstable;

/* The time, ns. Context: any but NMI. */
static __always_inline u64 dummy_now(void)
{
	return lat_now() - READ_ONCE(dummy_clock_back_ns);
}

#define lat_now() dummy_now()
#define lat_arch_clock_unstable() READ_ONCE(dummy_clock_unstable)

struct lat;

/* Take over the intervals that the recorders have closed. Context: process. */
void dummy_take_series(struct lat *lat);

#endif /* LAT_DUMMY_DUMMY_H */
