/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The user half of the point ``user``: one SCHED_FIFO thread per measured CPU that blocks in read()
 * on the instrument's character device, takes the time as soon as it is back, and writes it.
 */
#ifndef LATKIT_WAITERS_H
#define LATKIT_WAITERS_H

#include "lib/cpulist.h"

struct lat_waiter;

/**
 * struct lat_waiters - the threads of a run
 * @rows: one per CPU
 * @n: how many
 */
struct lat_waiters {
	struct lat_waiter *rows;
	size_t n;
};

/**
 * lat_waiters_start() - let every measured CPU have its waiter
 * @waiters: filled; lat_waiters_stop() in either case
 * @instrument: name of the module
 * @cpus: the measured CPUs
 * @priority: of SCHED_FIFO
 * @err: why not
 *
 * They are attached when it returns, so that a session that starts then misses nothing.
 *
 * Return: 0 or negative errno
 */
int lat_waiters_start(struct lat_waiters *waiters, const char *instrument,
		      const struct lat_cpuset *cpus, int priority, struct lat_error *err);

/* End them, wherever they are, and wait for that. */
void lat_waiters_stop(struct lat_waiters *waiters);

#endif /* LATKIT_WAITERS_H */
