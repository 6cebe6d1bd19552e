// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the benchmark's guest needs to know about virtual time, in one small static program.
 *
 *	clock busy NS			lets NS pass; prints for how much the CPU was busy
 *	clock read FILE...		reads files whole; prints the time that took and the bytes
 *	clock time COMMAND...		runs COMMAND without its output; prints the time that took
 *	clock at PHASE PERIOD COMMAND	becomes COMMAND when CLOCK_MONOTONIC is PHASE
 *					past a multiple of PERIOD
 *
 * Busy time is what has passed less idle_sleeptime of /proc/timer_list; the first CPU's, for there
 * is one in deterministic mode. What reading that file takes is in every figure, with a session and
 * without one, so that it is not in their difference.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char text[1 << 20];

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static long long now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void sleep_until(long long ns)
{
	const struct timespec t = { ns / 1000000000, ns % 1000000000 };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL))
		;
}

/* Reads a file to its end; returns its bytes. */
static size_t read_file(const char *name)
{
	int fd = open(name, O_RDONLY);
	size_t bytes = 0;
	ssize_t n;

	if (fd < 0)
		fail(name);
	while ((n = read(fd, text + bytes, sizeof(text) - 1 - bytes)) > 0)
		bytes += n;
	if (n < 0)
		fail(name);
	text[bytes] = 0;
	close(fd);
	return bytes;
}

static long long idle_ns(void)
{
	const char *field;

	read_file("/proc/timer_list");
	field = strstr(text, ".idle_sleeptime");
	if (!field || !strchr(field, ':'))
		fail("idle_sleeptime");
	return atoll(strchr(field, ':') + 1);
}

static void busy(long long ns)
{
	long long start, passed, idle;

	idle_ns(); /* once for the caches */
	start = now_ns();
	idle = idle_ns();
	sleep_until(start + ns);
	passed = now_ns() - start;
	idle = idle_ns() - idle;
	printf("%lld\n", passed - idle);
}

static void run(char **command)
{
	long long start = now_ns();
	pid_t child = fork();
	int status;

	if (!child) {
		if (!freopen("/dev/null", "w", stdout))
			fail("/dev/null");
		execvp(command[0], command);
		fail(command[0]);
	}
	if (child < 0 || waitpid(child, &status, 0) < 0 || status)
		fail(command[0]);
	printf("%lld\n", now_ns() - start);
}

int main(int argc, char **argv)
{
	long long start, phase, period;
	size_t bytes = 0;
	int i;

	if (argc == 3 && !strcmp(argv[1], "busy")) {
		busy(atoll(argv[2]));
		return 0;
	}
	if (argc > 2 && !strcmp(argv[1], "read")) {
		start = now_ns();
		for (i = 2; i < argc; i++)
			bytes += read_file(argv[i]);
		printf("%lld %zu\n", now_ns() - start, bytes);
		return 0;
	}
	if (argc > 2 && !strcmp(argv[1], "time")) {
		run(argv + 2);
		return 0;
	}
	if (argc > 4 && !strcmp(argv[1], "at")) {
		phase = atoll(argv[2]);
		period = atoll(argv[3]);
		start = now_ns() + 1000000;
		sleep_until(start - start % period + period + phase);
		execvp(argv[4], argv + 4);
		fail(argv[4]);
	}
	fputs("usage: clock busy NS | read FILE... | time COMMAND... | ", stderr);
	fputs("at PHASE PERIOD COMMAND...\n", stderr);
	return 1;
}
