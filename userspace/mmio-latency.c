// SPDX-License-Identifier: GPL-2.0-only
/*
 * mmio-latency: what it costs to read a register of a PCI device, and who stole the rest. All it
 * owns is its tables; the library does the rest.
 */
#include "lib/tool.h"

#define LAT_DEFAULT_PERIOD "250us"
#define LAT_PARAM LAT_PARAM_ROW

static const struct lat_param_row params[] = {
#include "core/params.def"
#include "mmio_latency/params.def"
};

static const char * const points[] = {
	"first", "read", "gap", "flush", "disturbed", "firmware", NULL
};

static const struct lat_tool tool = {
	.name = "mmio-latency",
	.instrument = "mmio_latency",
	.summary = "Measure the latency of reading a register of a PCI device.",
	.points = points,
	.params = params,
	.n_params = ARRAY_SIZE(params),
	.period_floor_ns = 10000,
};

int main(int argc, char **argv)
{
	return lat_tool_main(&tool, argc, argv);
}
