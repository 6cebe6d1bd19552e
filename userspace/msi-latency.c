// SPDX-License-Identifier: GPL-2.0-only
/*
 * msi-latency: how long the machine takes from a device's interrupt message to the handler, the
 * thread and the work item that wait for it. All it owns is its tables; the library does the rest.
 */
#include "lib/tool.h"

#define LAT_DEFAULT_PERIOD "1ms"
#define LAT_PARAM LAT_PARAM_ROW

static const struct lat_param_row params[] = {
#include "core/params.def"
#include "msi_latency/params.def"
};

static const char * const points[] = { "irq", "thread", "work", "user", "delivered", NULL };

static const struct lat_tool tool = {
	.name = "msi-latency",
	.instrument = "msi_latency",
	.summary = "Measure the latency of a PCI device's message-signalled interrupts.",
	.points = points,
	.params = params,
	.n_params = ARRAY_SIZE(params),
	.takes_device = true,
	.waits_by_default = true,
	.period_floor_ns = 10000,
};

int main(int argc, char **argv)
{
	return lat_tool_main(&tool, argc, argv);
}
