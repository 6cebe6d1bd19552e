/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which CPUs are measured, and staying away from them: the tool must not disturb what it measures.
 */
#ifndef LATKIT_AFFINITY_H
#define LATKIT_AFFINITY_H

#include "lib/cpulist.h"

/**
 * lat_measured_cpus() - the CPUs a session will measure
 * @list: the parameter ``cpus``; "auto": the first isolated CPU, else the first online one
 * @measured: filled with those of them that are online
 *
 * Only to keep away and to look at them beforehand: the module decides, and reports, which they
 * are.
 */
void lat_measured_cpus(const char *list, struct lat_cpuset *measured);

/* Add the SMT siblings of each CPU of @set to @with. */
void lat_add_siblings(const struct lat_cpuset *set, struct lat_cpuset *with);

/**
 * lat_keep_off() - move this process off the measured CPUs and, if it can, off their siblings
 * @measured: the measured CPUs
 *
 * Return: true if it is off the measured CPUs
 */
bool lat_keep_off(const struct lat_cpuset *measured);

#endif /* LATKIT_AFFINITY_H */
