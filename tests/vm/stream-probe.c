// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a program can do with /dev/<instrument>, right and wrong, as commands for the guest tests.
 * It needs the C library and the interface's header only, so that it is also built for 32-bit user
 * space. Exit status 0: what the command claims is so; 1: it is not, and a line says what.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <latkit/latkit.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define RECORD sizeof(struct lat_sample)
#define BATCH 2048

static const char *device;

static int wrong(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

static int wrong(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	putchar('\n');
	return 1;
}

static int open_device(int flags)
{
	int fd = open(device, flags | O_CLOEXEC);

	if (fd < 0) {
		printf("%s: %s\n", device, strerror(errno));
		exit(1);
	}
	return fd;
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void sleep_ms(unsigned int ms)
{
	usleep(ms * 1000);
}

/* What the last call made of it: its result, or -errno. */
static long outcome(ssize_t result)
{
	return result < 0 ? -errno : (long)result;
}

/* ---- readers ---- */

struct sums {
	uint64_t records;
	uint64_t lost;
	uint64_t drops;
	uint64_t bad;
};

static void add(struct sums *sums, const struct lat_sample *records, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (records[i].flags & LAT_SAMPLE_F_DROPPED) {
			sums->lost += records[i].latency_ns;
			sums->drops++;
			sums->bad += records[i].latency_ns <= 0;
		} else {
			sums->records++;
			sums->bad += !records[i].seq || !records[i].time_ns ||
				records[i].cpu > 4095 || records[i].point > 15;
		}
	}
}

/* Everything to the end of the session; reads of @n records. -1: an error. */
static int read_all(int fd, size_t n, struct sums *sums)
{
	static struct lat_sample batch[BATCH];
	ssize_t got;

	while ((got = read(fd, batch, n * RECORD)) > 0) {
		if (got % RECORD)
			return wrong("read() gave %zd bytes", got);
		add(sums, batch, got / RECORD);
	}
	return got ? wrong("read(): %s", strerror(errno)) : 0;
}

/* read: all of a session, and the sums on one line. */
static int do_read(char **args)
{
	struct sums sums = { 0 };
	int fd = open_device(O_RDONLY);

	(void)args;
	if (read_all(fd, BATCH, &sums))
		return 1;
	printf("records %" PRIu64 " lost %" PRIu64 " drops %" PRIu64 " bad %" PRIu64 "\n",
	       sums.records, sums.lost, sums.drops, sums.bad);
	return 0;
}

/* sleepy MS: open before the session, attach, sleep, and read on. */
static int do_sleepy(char **args)
{
	struct sums sums = { 0 };
	struct lat_sample one;
	int fd = open_device(O_RDONLY);

	if (read(fd, &one, RECORD) != RECORD)
		return wrong("no first record");
	add(&sums, &one, 1);
	sleep_ms(atoi(args[0]));
	if (read_all(fd, BATCH, &sums))
		return 1;
	printf("records %" PRIu64 " lost %" PRIu64 " drops %" PRIu64 " bad %" PRIu64 "\n",
	       sums.records, sums.lost, sums.drops, sums.bad);
	return 0;
}

/* again: the end of one session is the end of file, the next read waits for the next one. */
static int do_again(char **args)
{
	struct sums first = { 0 }, second = { 0 };
	int fd = open_device(O_RDONLY);

	(void)args;
	if (read_all(fd, 7, &first) || read_all(fd, 7, &second))
		return 1;
	printf("first %" PRIu64 " second %" PRIu64 "\n", first.records, second.records);
	return 0;
}

/* by_cell: so that two readers' records can be compared, whatever order the rings came in. */
static int by_cell(const void *a, const void *b)
{
	const struct lat_sample *x = a, *y = b;

	if (x->cpu != y->cpu)
		return x->cpu < y->cpu ? -1 : 1;
	if (x->seq != y->seq)
		return x->seq < y->seq ? -1 : 1;
	return (int)x->point - (int)y->point;
}

static size_t gather(int fd, size_t n, struct lat_sample *all, size_t room)
{
	size_t used = 0;
	ssize_t got;

	while (used + n <= room && (got = read(fd, all + used, n * RECORD)) > 0)
		used += got / RECORD;
	qsort(all, used, RECORD, by_cell);
	return used;
}

/* positions: two readers of one session each get all of it, at their own pace. */
static int do_positions(char **args)
{
	const size_t room = 1 << 16;
	struct lat_sample *a = calloc(room, RECORD), *b = calloc(room, RECORD);
	int slow = open_device(O_RDONLY), fast = open_device(O_RDONLY);
	size_t n, m;

	(void)args;
	if (!a || !b)
		return wrong("no memory");
	n = gather(fast, 1024, a, room);
	m = gather(slow, 1, b, room);
	if (!n || n != m || memcmp(a, b, n * RECORD))
		return wrong("one got %zu records, the other %zu, or not the same", n, m);
	printf("records %zu\n", n);
	return 0;
}

/* never: has it open for reading and never reads. dies: is killed in its loop. */
static int do_never(char **args)
{
	(void)args;
	open_device(O_RDONLY);
	return pause();
}

static int do_dies(char **args)
{
	static struct lat_sample batch[64];
	int fd = open_device(O_RDONLY), i;

	(void)args;
	for (i = 0; i < 20; i++)
		if (read(fd, batch, sizeof(batch)) <= 0)
			return wrong("read(): %s", strerror(errno));
	raise(SIGKILL);
	return 1;
}

/* ---- what is refused ---- */

/* sizes: whole records only, and nonsense is none. */
static int do_sizes(char **args)
{
	static const size_t sizes[] = { 0, 1, 31 }, writes[] = { 0, 1, 31, 33, 64 };
	struct lat_sample two[3] = { { .seq = 5, .time_ns = 5 } };
	const void *nowhere = (const char *)two - (uintptr_t)two;
	int fd = open_device(O_RDWR);
	long got;
	size_t i;

	(void)args;
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		got = outcome(read(fd, two, sizes[i]));
		if (got != -EINVAL)
			return wrong("a read of %zu bytes gives %ld", sizes[i], got);
	}
	for (i = 0; i < sizeof(writes) / sizeof(writes[0]); i++) {
		got = outcome(write(fd, two, writes[i]));
		if (got != -EINVAL && writes[i])
			return wrong("a write of %zu bytes gives %ld", writes[i], got);
	}
	got = outcome(write(fd, two, RECORD));
	if (got != -EINVAL)
		return wrong("a stamp from who waits for no CPU gives %ld", got);
	two[0] = (struct lat_sample){ .cpu = 100000 };
	got = outcome(write(fd, two, RECORD));
	if (got != -EINVAL)
		return wrong("waiting for CPU 100000 gives %ld", got);
	got = outcome(write(fd, nowhere, RECORD));
	if (got != -EFAULT)
		return wrong("a write from nowhere gives %ld", got);
	memset(two, 0xff, sizeof(two));
	got = outcome(write(fd, two, RECORD));
	if (got != -EINVAL)
		return wrong("nonsense gives %ld", got);
	return 0;
}

/* idle: no session runs: O_NONBLOCK says so, poll() waits, a signal interrupts read(). */
static void on_alarm(int number)
{
	(void)number;
}

static int do_idle(char **args)
{
	const struct sigaction action = { .sa_handler = on_alarm };
	struct pollfd fds = { .events = POLLIN };
	struct lat_sample one;
	int fd = open_device(O_RDONLY | O_NONBLOCK), blocking = open_device(O_RDONLY);
	long got = outcome(read(fd, &one, RECORD));

	(void)args;
	if (got != -EAGAIN)
		return wrong("O_NONBLOCK without a session gives %ld", got);
	fds.fd = fd;
	if (poll(&fds, 1, 50))
		return wrong("poll() without a session says %#x", fds.revents);
	sigaction(SIGALRM, &action, NULL);
	alarm(1);
	got = outcome(read(blocking, &one, RECORD));
	return got == -EINTR ? 0 : wrong("an interrupted read() gives %ld", got);
}

/* poll: with a session, poll() says when a read will not block, and the end of it too. */
static int do_poll(char **args)
{
	static struct lat_sample batch[BATCH];
	int fd = open_device(O_RDONLY | O_NONBLOCK);
	struct pollfd fds = { .fd = fd, .events = POLLIN };
	uint64_t records = 0, again = 0;
	long got;

	(void)args;
	for (;;) {
		if (poll(&fds, 1, 20000) != 1)
			return wrong("poll() waits for ever after %" PRIu64 " records", records);
		if (fds.revents != POLLIN)
			return wrong("poll() says %#x", fds.revents);
		got = outcome(read(fd, batch, sizeof(batch)));
		if (got == -EAGAIN && again++ < 3)
			continue;
		if (got <= 0)
			break;
		records += got / RECORD;
	}
	printf("records %" PRIu64 "\n", records);
	return !got && records ? 0 : wrong("poll() said a read would not block, it gives %ld", got);
}

/* ---- stamps ---- */

static void pin(unsigned int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		printf("CPU %u: %s\n", cpu, strerror(errno));
}

static bool refuses(int fd, const struct lat_sample *stamp, const char *what, unsigned int *invalid)
{
	long got = outcome(write(fd, stamp, RECORD));

	++*invalid;
	return got == -EINVAL || wrong("a stamp %s gives %ld", what, got) != 1;
}

/* stamps CPU OTHER N: each of N stimuli is stamped wrongly in every way, and then rightly. */
static int do_stamps(char **args)
{
	unsigned int cpu = atoi(args[0]), other = atoi(args[1]), n = atoi(args[2]), i;
	struct lat_sample stimulus, stamp, request = { .cpu = cpu };
	int fd = open_device(O_RDWR), second = open_device(O_RDWR);
	struct pollfd fds = { .fd = fd, .events = POLLIN };
	unsigned int invalid = 0;
	long got;

	if (write(fd, &request, RECORD) != RECORD)
		return wrong("waiting for CPU %u: %s", cpu, strerror(errno));
	got = outcome(write(second, &request, RECORD));
	if (got != -EBUSY)
		return wrong("a second waiter of the CPU gives %ld", got);
	got = outcome(write(fd, &request, RECORD));
	if (got != -EBUSY)
		return wrong("waiting twice gives %ld", got);
	if (poll(&fds, 1, 0) != 1 || fds.revents != POLLERR)
		return wrong("poll() of a waiter says %#x", fds.revents);
	puts("ready");
	fflush(stdout);
	pin(cpu);
	for (i = 0; i < n; i++) {
		got = outcome(read(fd, &stimulus, RECORD));
		if (got != RECORD || stimulus.cpu != cpu || !stimulus.seq)
			return wrong("read() of a waiter gives %ld, CPU %u", got, stimulus.cpu);
		stamp = stimulus;
		stamp.time_ns = now_ns() + 1000000000;
		if (!refuses(fd, &stamp, "of the future", &invalid))
			return 1;
		stamp.time_ns = stimulus.time_ns - 1;
		if (!refuses(fd, &stamp, "before its stimulus", &invalid))
			return 1;
		stamp.time_ns = now_ns();
		stamp.seq = stimulus.seq + 1000000;
		if (!refuses(fd, &stamp, "of another stimulus", &invalid))
			return 1;
		stamp.seq = stimulus.seq;
		pin(other);
		if (!refuses(fd, &stamp, "from another CPU", &invalid))
			return 1;
		pin(cpu);
		got = outcome(write(fd, &stamp, RECORD));
		if (got != RECORD)
			return wrong("the right stamp gives %ld", got);
		/* The same again: the stimulus has its stamp. */
		if (!refuses(fd, &stamp, "given twice", &invalid))
			return 1;
	}
	printf("invalid %u\n", invalid);
	return 0;
}

/* ---- churn ---- */

static void set_enable(const char *path, const char *value)
{
	int fd = open(path, O_WRONLY);

	if (fd < 0 || write(fd, value, 1) != 1)
		printf("%s: %s\n", path, strerror(errno));
	close(fd);
}

/* One reader of the churn: what it does is chosen by @kind. */
static void churn_child(unsigned int kind, unsigned int cpu)
{
	static struct lat_sample batch[64];
	struct lat_sample request = { .cpu = cpu };
	int fd = open_device(kind == 3 ? O_RDWR : kind == 2 ? O_RDONLY | O_NONBLOCK : O_RDONLY);

	switch (kind) {
	case 0:	/* reads for ever: is killed in read() */
		for (;;)
			if (read(fd, batch, sizeof(batch)) < 0)
				break;
		break;
	case 1:	/* to the end of the session */
		while (read(fd, batch, RECORD) > 0)
			;
		break;
	case 2:	/* opens, looks, and is gone */
		(void)!read(fd, batch, sizeof(batch));
		break;
	case 3:	/* a waiter that dies without a stamp */
		(void)!write(fd, &request, RECORD);
		(void)!read(fd, batch, RECORD);
		raise(SIGKILL);
		break;
	default: /* has it open and never reads */
		pause();
	}
	_exit(0);
}

/* churn N ENABLE: N sessions, each with readers that come and go as they like. */
static int do_churn(char **args)
{
	unsigned int n = atoi(args[0]), i, k;
	pid_t pids[5];

	srand(1);
	for (i = 0; i < n; i++) {
		/* Now some are there before the session, now all come into it. */
		bool before = rand() % 2;

		if (!before)
			set_enable(args[1], "1");
		for (k = 0; k < 5; k++) {
			pids[k] = fork();
			if (!pids[k])
				churn_child(k, rand() % 4);
		}
		if (before)
			set_enable(args[1], "1");
		usleep(rand() % 4000);
		if (rand() % 2)
			kill(pids[0], SIGKILL);
		set_enable(args[1], "0");
		for (k = 0; k < 5; k++)
			kill(pids[k], SIGKILL);
		for (k = 0; k < 5; k++)
			waitpid(pids[k], NULL, 0);
	}
	return 0;
}

static const struct command {
	const char *name;
	int arguments;
	int (*run)(char **args);
} commands[] = {
	{ "read", 0, do_read },
	{ "sleepy", 1, do_sleepy },
	{ "again", 0, do_again },
	{ "positions", 0, do_positions },
	{ "never", 0, do_never },
	{ "dies", 0, do_dies },
	{ "sizes", 0, do_sizes },
	{ "idle", 0, do_idle },
	{ "poll", 0, do_poll },
	{ "stamps", 3, do_stamps },
	{ "churn", 2, do_churn },
};

int main(int argc, char **argv)
{
	size_t i;

	for (i = 0; argc > 2 && i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (strcmp(argv[2], commands[i].name) || argc != 3 + commands[i].arguments)
			continue;
		device = argv[1];
		return commands[i].run(argv + 3);
	}
	fprintf(stderr, "usage: stream-probe DEVICE COMMAND [ARGUMENT]...\n");
	return 129;
}
