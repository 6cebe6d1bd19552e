// SPDX-License-Identifier: GPL-2.0-only
/*
 * Threads that wait for a stimulus. Their loop is two system calls and a look at the clock; all
 * they need is allocated, locked and touched before it begins.
 */
#include <errno.h>
#include <fcntl.h>
#include <latkit/latkit.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "lib/waiters.h"

#define STACK_BYTES (64 * 1024)

/**
 * struct lat_waiter - one thread
 * @cpu: its CPU
 * @fd: the device, attached to that CPU
 * @thread: the thread, where @running
 * @running: it was created
 * @quit: it is to end
 * @ready: posted when it is about to wait
 */
struct lat_waiter {
	unsigned int cpu;
	int fd;
	pthread_t thread;
	bool running;
	atomic_bool quit;
	sem_t ready;
};

/* Only there to interrupt read(). */
static void interrupt(int number)
{
	(void)number;
}

static void *wait_and_stamp(void *context)
{
	struct lat_waiter *waiter = context;
	struct lat_sample sample = { 0 };
	struct timespec now;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	clock_gettime(CLOCK_MONOTONIC, &now);
	sem_post(&waiter->ready);
	while (!atomic_load_explicit(&waiter->quit, memory_order_relaxed)) {
		ssize_t n = read(waiter->fd, &sample, sizeof(sample));

		clock_gettime(CLOCK_MONOTONIC, &now);
		if (n < 0 && errno == EINTR)
			continue;
		/* The end of the session, or of the module. */
		if (n != sizeof(sample))
			break;
		sample.time_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
		/* A stamp that is refused is counted by the module; the next may be in order. */
		if (write(waiter->fd, &sample, sizeof(sample)) < 0 && errno == EBADF)
			break;
	}
	return NULL;
}

/* Tell the module which CPU this file waits for. */
static int attach(struct lat_waiter *waiter, const char *instrument, struct lat_error *err)
{
	const struct lat_sample request = { .cpu = waiter->cpu };
	char path[64];

	snprintf(path, sizeof(path), "/dev/%s", instrument);
	waiter->fd = open(path, O_RDWR | O_CLOEXEC);
	if (waiter->fd < 0)
		return lat_fail(err, -errno, "%s: %s", path, strerror(errno));
	if (write(waiter->fd, &request, sizeof(request)) == sizeof(request))
		return 0;
	return lat_fail(err, -errno, "%s: CPU %u cannot be waited for: %s", path, waiter->cpu,
			errno == EBUSY ? "somebody else does" : strerror(errno));
}

/* Everything about a thread that has to be right before it runs. */
static int attributes(pthread_attr_t *attr, unsigned int cpu, int priority)
{
	const struct sched_param param = { .sched_priority = priority };
	size_t size = CPU_ALLOC_SIZE(cpu + 1);
	cpu_set_t *set = CPU_ALLOC(cpu + 1);
	int ret;

	if (!set)
		return ENOMEM;
	CPU_ZERO_S(size, set);
	CPU_SET_S(cpu, size, set);
	ret = pthread_attr_init(attr);
	if (!ret) {
		pthread_attr_setstacksize(attr, STACK_BYTES);
		pthread_attr_setinheritsched(attr, PTHREAD_EXPLICIT_SCHED);
		pthread_attr_setschedpolicy(attr, SCHED_FIFO);
		pthread_attr_setschedparam(attr, &param);
		ret = pthread_attr_setaffinity_np(attr, size, set);
	}
	CPU_FREE(set);
	return ret;
}

static int start(struct lat_waiter *waiter, int priority, struct lat_error *err)
{
	pthread_attr_t attr;
	int ret = attributes(&attr, waiter->cpu, priority);

	if (!ret) {
		ret = pthread_create(&waiter->thread, &attr, wait_and_stamp, waiter);
		pthread_attr_destroy(&attr);
	}
	if (ret == EPERM)
		return lat_fail(err, -ret, "SCHED_FIFO %d was refused on CPU %u: it takes %s",
				priority, waiter->cpu,
				"CAP_SYS_NICE, and with RT group scheduling a cpu.rt_runtime_us above 0");
	if (ret)
		return lat_fail(err, -ret, "no thread for CPU %u: %s", waiter->cpu, strerror(ret));
	waiter->running = true;
	sem_wait(&waiter->ready);
	return 0;
}

int lat_waiters_start(struct lat_waiters *waiters, const char *instrument,
		      const struct lat_cpuset *cpus, int priority, struct lat_error *err)
{
	/* Not restarted: read() must come back. */
	const struct sigaction action = { .sa_handler = interrupt };
	unsigned int cpu;
	int ret = 0;

	sigaction(SIGUSR1, &action, NULL);
	/* What is touched stays; what is not is not brought in. */
	if (mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT))
		return lat_fail(err, -errno, "memory cannot be locked: %s", strerror(errno));
	waiters->n = 0;
	waiters->rows = lat_alloc(lat_cpuset_count(cpus), sizeof(*waiters->rows));
	for (cpu = 0; !ret && lat_cpuset_step(cpus, &cpu); cpu++) {
		struct lat_waiter *waiter = &waiters->rows[waiters->n++];

		waiter->cpu = cpu;
		sem_init(&waiter->ready, 0, 0);
		ret = attach(waiter, instrument, err);
		if (!ret)
			ret = start(waiter, priority, err);
	}
	return ret;
}

static void stop(struct lat_waiter *waiter)
{
	const struct timespec pause = { .tv_nsec = 1000000 };

	atomic_store(&waiter->quit, true);
	/* A signal may come just before read(): tell it until it has heard. */
	while (waiter->running && pthread_tryjoin_np(waiter->thread, NULL) == EBUSY) {
		pthread_kill(waiter->thread, SIGUSR1);
		nanosleep(&pause, NULL);
	}
	if (waiter->fd >= 0)
		close(waiter->fd);
	sem_destroy(&waiter->ready);
}

void lat_waiters_stop(struct lat_waiters *waiters)
{
	size_t i;

	for (i = 0; i < waiters->n; i++)
		stop(&waiters->rows[i]);
	free(waiters->rows);
	*waiters = (struct lat_waiters){ 0 };
}
