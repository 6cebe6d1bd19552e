/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The machine as user space can see it, read at the start and at the end of a session: env{} of the
 * report, and what the tool's half of the trust notes is judged by.
 */
#ifndef LATKIT_ENV_H
#define LATKIT_ENV_H

#include "lib/cpulist.h"
#include "lib/report.h"

/**
 * struct lat_idle - one idle state of a CPU
 * @name: as the driver calls it
 * @latency_us: time to leave it
 * @time_us: time spent in it since boot
 */
struct lat_idle {
	char name[24];
	unsigned long long latency_us;
	unsigned long long time_us;
};

#define LAT_IDLE_MAX 12

/**
 * struct lat_env_cpu - one measured CPU
 * @cpu: its number
 * @governor: of its frequency; NULL: none
 * @siblings: CPUs that share its core, itself among them
 * @isolated: from the scheduler's load balancing
 * @idle: its idle states
 * @n_idle: how many
 * @interrupts: taken since boot, without the instrument's own
 */
struct lat_env_cpu {
	unsigned int cpu;
	char *governor;
	struct lat_cpuset siblings;
	bool isolated;
	struct lat_idle idle[LAT_IDLE_MAX];
	size_t n_idle;
	unsigned long long interrupts;
};

/**
 * struct lat_env - the machine at one moment
 * @clocksource: in use; NULL: unknown
 * @rt_runtime_us: RT throttling; -1: off; 0: unknown
 * @fair_server: the deadline fair server is on
 * @rt_tasks: threads of others that may run on a measured CPU at our priority or above
 * @rt_names: names of the first of them
 * @total_ticks: of all CPUs since boot
 * @idle_ticks: of them idle
 * @time_us: CLOCK_MONOTONIC of the snapshot
 * @cpus: the measured CPUs
 * @n_cpus: how many
 */
struct lat_env {
	char *clocksource;
	long rt_runtime_us;
	bool fair_server;
	unsigned int rt_tasks;
	char rt_names[128];
	unsigned long long total_ticks;
	unsigned long long idle_ticks;
	unsigned long long time_us;
	struct lat_env_cpu *cpus;
	size_t n_cpus;
};

/**
 * lat_env_read() - look at the machine
 * @env: filled; lat_env_free()
 * @measured: the measured CPUs
 * @instrument: its own interrupts are not counted
 * @priority: of the measuring threads, to find those at or above it; 0: do not look
 */
void lat_env_read(struct lat_env *env, const struct lat_cpuset *measured, const char *instrument,
		  int priority);
void lat_env_free(struct lat_env *env);

/* env{}: what does not change during a session, and what did. */
void lat_env_facts(const struct lat_env *start, const struct lat_env *end,
		   struct lat_facts *facts);

bool lat_env_has_hypervisor(void);

#endif /* LATKIT_ENV_H */
