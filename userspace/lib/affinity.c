// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measured CPUs, their siblings, and the affinity of this process, on masks of any size.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/affinity.h"

void lat_measured_cpus(const char *list, struct lat_cpuset *measured)
{
	struct lat_cpuset online, isolated, asked;
	struct lat_error ignored;
	unsigned int cpu;

	memset(measured, 0, sizeof(*measured));
	lat_cpulist_read("/sys/devices/system/cpu/online", &online);
	lat_cpulist_read("/sys/devices/system/cpu/isolated", &isolated);
	if (strcmp(list, "auto")) {
		if (lat_cpulist_parse(list, LAT_CPUS_MAX, &asked, &ignored))
			return;
		for (cpu = 0; lat_cpuset_step(&asked, &cpu); cpu++)
			if (lat_cpuset_has(&online, cpu))
				lat_cpuset_add(measured, cpu);
		return;
	}
	for (cpu = 0; lat_cpuset_step(&isolated, &cpu); cpu++) {
		if (lat_cpuset_has(&online, cpu)) {
			lat_cpuset_add(measured, cpu);
			return;
		}
	}
	cpu = 0;
	if (lat_cpuset_step(&online, &cpu))
		lat_cpuset_add(measured, cpu);
}

void lat_add_siblings(const struct lat_cpuset *set, struct lat_cpuset *with)
{
	struct lat_cpuset siblings;
	unsigned int cpu, sibling;
	char path[96];

	for (cpu = 0; lat_cpuset_step(set, &cpu); cpu++) {
		snprintf(path, sizeof(path),
			 "/sys/devices/system/cpu/cpu%u/topology/thread_siblings_list", cpu);
		lat_cpulist_read(path, &siblings);
		for (sibling = 0; lat_cpuset_step(&siblings, &sibling); sibling++)
			lat_cpuset_add(with, sibling);
	}
}

/* Run on what is allowed now, without @avoid. false: that leaves nothing, or is refused. */
static bool run_without(const struct lat_cpuset *avoid)
{
	cpu_set_t *allowed = CPU_ALLOC(LAT_CPUS_MAX);
	size_t size = CPU_ALLOC_SIZE(LAT_CPUS_MAX);
	bool moved = false;
	unsigned int cpu;

	if (!allowed)
		return false;
	CPU_ZERO_S(size, allowed);
	if (!sched_getaffinity(0, size, allowed)) {
		for (cpu = 0; lat_cpuset_step(avoid, &cpu); cpu++)
			CPU_CLR_S(cpu, size, allowed);
		moved = CPU_COUNT_S(size, allowed) && !sched_setaffinity(0, size, allowed);
	}
	CPU_FREE(allowed);
	return moved;
}

bool lat_keep_off(const struct lat_cpuset *measured)
{
	struct lat_cpuset avoid = *measured;

	lat_add_siblings(measured, &avoid);
	return run_without(&avoid) || run_without(measured);
}
