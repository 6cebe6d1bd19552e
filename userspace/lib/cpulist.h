/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sets of CPUs of any size, read from and written as the lists people and sysfs use. The parser is
 * the modules' own (core/parse.h).
 */
#ifndef LATKIT_CPULIST_H
#define LATKIT_CPULIST_H

#include <sched.h>

#include "lib/util.h"

/* More CPUs than any kernel of today is built for (NR_CPUS is at most 8192). */
#define LAT_CPUS_MAX 8192

struct lat_cpuset {
	unsigned char bits[LAT_CPUS_MAX / 8];
};

void lat_cpuset_add(struct lat_cpuset *set, unsigned int cpu);
void lat_cpuset_remove(struct lat_cpuset *set, unsigned int cpu);
bool lat_cpuset_has(const struct lat_cpuset *set, unsigned int cpu);
unsigned int lat_cpuset_count(const struct lat_cpuset *set);

/**
 * lat_cpuset_step() - walk over a set
 * @set: the set: for (cpu = 0; lat_cpuset_step(set, &cpu); cpu++)
 * @cpu: in: where to look from; out: the first CPU from there up that is in the set
 *
 * Return: false: there is none
 */
bool lat_cpuset_step(const struct lat_cpuset *set, unsigned int *cpu);

/**
 * lat_cpulist_parse() - read a CPU list
 * @text: ``0-3,5``, ``all`` or ``!4``
 * @ncpus: CPUs are numbered below this
 * @set: filled
 * @err: why not
 *
 * Return: 0 or -EINVAL
 */
int lat_cpulist_parse(const char *text, unsigned int ncpus, struct lat_cpuset *set,
		      struct lat_error *err);

/* The set as a list ("0-3,5"), to be freed. */
char *lat_cpulist_text(const struct lat_cpuset *set);

/* Read a list from sysfs; an unreadable or empty file leaves the set empty. */
void lat_cpulist_read(const char *path, struct lat_cpuset *set);

#endif /* LATKIT_CPULIST_H */
