// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sets of CPUs: membership, the text form in both directions, and the lists sysfs shows.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/parse.h"
#include "lib/cpulist.h"

void lat_cpuset_add(struct lat_cpuset *set, unsigned int cpu)
{
	if (cpu < LAT_CPUS_MAX)
		set->bits[cpu / 8] |= 1U << cpu % 8;
}

void lat_cpuset_remove(struct lat_cpuset *set, unsigned int cpu)
{
	if (cpu < LAT_CPUS_MAX)
		set->bits[cpu / 8] &= ~(1U << cpu % 8);
}

bool lat_cpuset_has(const struct lat_cpuset *set, unsigned int cpu)
{
	return cpu < LAT_CPUS_MAX && (set->bits[cpu / 8] & 1U << cpu % 8);
}

bool lat_cpuset_step(const struct lat_cpuset *set, unsigned int *cpu)
{
	while (*cpu < LAT_CPUS_MAX && !lat_cpuset_has(set, *cpu))
		(*cpu)++;
	return *cpu < LAT_CPUS_MAX;
}

unsigned int lat_cpuset_count(const struct lat_cpuset *set)
{
	unsigned int cpu, n = 0;

	for (cpu = 0; lat_cpuset_step(set, &cpu); cpu++)
		n++;
	return n;
}

static void mark(unsigned int cpu, void *context)
{
	lat_cpuset_add(context, cpu);
}

int lat_cpulist_parse(const char *text, unsigned int ncpus, struct lat_cpuset *set,
		      struct lat_error *err)
{
	if (ncpus > LAT_CPUS_MAX)
		ncpus = LAT_CPUS_MAX;
	memset(set, 0, sizeof(*set));
	switch (lat_parse_cpulist(text, ncpus, mark, set)) {
	case LAT_PARSE_OK:
		return 0;
	case LAT_PARSE_EMPTY:
		return lat_fail(err, -EINVAL, "'%s' names no CPU", text);
	case LAT_PARSE_RANGE:
		return lat_fail(err, -EINVAL,
				"'%s' has a CPU over %u or a range that runs backwards", text,
				ncpus - 1);
	default:
		return lat_fail(err, -EINVAL, "'%s' is not a CPU list; use 0-3,5 or all or !4",
				text);
	}
}

char *lat_cpulist_text(const struct lat_cpuset *set)
{
	char *text = NULL;
	unsigned int cpu;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return lat_strdup("");
	for (cpu = 0; lat_cpuset_step(set, &cpu); cpu++) {
		unsigned int last = cpu;

		while (lat_cpuset_has(set, last + 1))
			last++;
		fprintf(f, "%s%u", ftell(f) > 0 ? "," : "", cpu);
		if (last > cpu)
			fprintf(f, "-%u", last);
		cpu = last;
	}
	fclose(f);
	return text;
}

void lat_cpulist_read(const char *path, struct lat_cpuset *set)
{
	char *text = lat_read_file("%s", path);
	struct lat_error ignored;

	memset(set, 0, sizeof(*set));
	if (text && *text && lat_cpulist_parse(text, LAT_CPUS_MAX, set, &ignored))
		memset(set, 0, sizeof(*set));
	free(text);
}
