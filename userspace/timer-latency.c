// SPDX-License-Identifier: GPL-2.0-only
/*
 * timer-latency: how long the machine takes from a timer's expiry to its handler, to the kernel
 * thread and to the user thread that wait for it. All it owns is its tables; the library does the
 * rest.
 */
#include "lib/tool.h"

#define LAT_DEFAULT_PERIOD "1ms"
#define LAT_PARAM LAT_PARAM_ROW

static const struct lat_param_row params[] = {
#include "core/params.def"
#include "timer_latency/params.def"
};

static const char * const points[] = { "irq", "thread", "user", NULL };

static const struct lat_tool tool = {
	.name = "timer-latency",
	.instrument = "timer_latency",
	.summary = "Measure the latency of timers on each CPU.",
	.points = points,
	.params = params,
	.n_params = ARRAY_SIZE(params),
	.shows_threads = true,
	.period_floor_ns = 10000,
};

int main(int argc, char **argv)
{
	return lat_tool_main(&tool, argc, argv);
}
