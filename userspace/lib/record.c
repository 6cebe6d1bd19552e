// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads as much as there is and writes it on, and sleeps in between: the module wakes its readers
 * when a quarter of a ring has filled, so that one wake-up serves many records.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/affinity.h"
#include "lib/record.h"
#include "lib/session.h"
#include "lib/signals.h"

#define BATCH_BYTES (256 * 1024)

/**
 * struct recorder - a recording on its way
 * @instrument: the module
 * @name: of the file, for messages
 * @in: the device
 * @out: the file
 * @signals: told to stop?
 * @until_ns: when to end, CLOCK_MONOTONIC; 0: not by itself
 * @nl: connection to the instrument
 * @begun: the header is written
 * @batch: records on their way
 * @counts: what was written
 */
struct recorder {
	const char *instrument;
	const char *name;
	int in;
	int out;
	struct lat_signals signals;
	uint64_t until_ns;
	struct lat_nl nl;
	bool begun;
	char *batch;
	struct lat_stream_counts *counts;
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static int open_device(struct recorder *recorder, struct lat_error *err)
{
	char path[64];

	snprintf(path, sizeof(path), "/dev/%s", recorder->instrument);
	recorder->in = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (recorder->in >= 0)
		return 0;
	return lat_fail(err, -errno, "%s: %s%s", path, strerror(errno),
			errno == ENOENT ? "; is the module loaded?" :
			errno == EACCES ? "; it takes root" : "");
}

static int open_file(struct recorder *recorder, const char *path, struct lat_error *err)
{
	if (!path || !strcmp(path, "-")) {
		if (isatty(STDOUT_FILENO))
			return lat_fail(err, -EINVAL,
					"records are not for a terminal: give -o FILE, or a pipe");
		recorder->name = "standard output";
		recorder->out = STDOUT_FILENO;
		return 0;
	}
	recorder->name = path;
	recorder->out = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	return recorder->out >= 0 ? 0 : lat_fail(err, -errno, "%s: %s", path, strerror(errno));
}

static int write_failed(const struct recorder *recorder, int ret, struct lat_error *err)
{
	return ret ? lat_fail(err, ret, "%s: %s", recorder->name, strerror(-ret)) : 0;
}

/*
 * Which points there are is known once there is a session. It runs already, and its first records
 * wait: one question, one write.
 */
static int begin(struct recorder *recorder, struct lat_error *err)
{
	struct lat_stream stream = { .instrument = (char *)recorder->instrument };
	struct lat_status status;
	int ret = lat_session_status(&recorder->nl, &status, err);
	size_t i;

	for (i = 0; !ret && i < status.report.n_points; i++)
		if (status.report.points[i].index < LAT_STREAM_POINTS)
			stream.points[status.report.points[i].index] =
				status.report.points[i].name;
	stream.version = status.version ? status.version : "?";
	if (!ret)
		ret = write_failed(recorder, lat_stream_write_header(&stream, recorder->out), err);
	recorder->begun = true;
	lat_status_free(&status);
	return ret;
}

/* Stay away from what is measured, as far as it is known beforehand. */
static int connect_instrument(struct recorder *recorder, struct lat_error *err)
{
	struct lat_status status = { 0 };
	struct lat_cpuset measured;
	const struct lat_param *cpus;
	int ret = lat_nl_open(&recorder->nl, recorder->instrument, err);

	if (!ret)
		ret = lat_session_status(&recorder->nl, &status, err);
	cpus = ret ? NULL : lat_status_param(&status, "cpus");
	if (cpus && cpus->text) {
		lat_measured_cpus(cpus->text, &measured);
		lat_keep_off(&measured);
	}
	lat_status_free(&status);
	return ret;
}

/* One read; 1: the session has ended; 0: go on; negative errno. */
static int move(struct recorder *recorder, struct lat_error *err)
{
	ssize_t n = read(recorder->in, recorder->batch, BATCH_BYTES);
	int ret;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return -EAGAIN;
	if (n < 0)
		return lat_fail(err, -errno, "/dev/%s: %s", recorder->instrument, strerror(errno));
	if (!recorder->begun) {
		ret = begin(recorder, err);
		if (ret)
			return ret;
	}
	if (!n)
		return 1;
	ret = write_failed(recorder, lat_stream_write(recorder->out, recorder->batch, n), err);
	if (!ret)
		lat_stream_count(recorder->counts, (const struct lat_sample *)recorder->batch,
				 n / sizeof(struct lat_sample));
	return ret;
}

static int pump(struct recorder *recorder, struct lat_error *err)
{
	for (;;) {
		struct pollfd fds[] = {
			{ .fd = recorder->in, .events = POLLIN },
			{ .fd = recorder->signals.fd, .events = POLLIN },
		};
		uint64_t now = recorder->until_ns ? now_ns() : 0;
		int timeout_ms = -1, ret = move(recorder, err);

		if (ret > 0)
			return 0;
		if (ret && ret != -EAGAIN)
			return ret;
		if (lat_signals_count(&recorder->signals) ||
		    (recorder->until_ns && now >= recorder->until_ns))
			return 0;
		if (!ret)
			continue;
		if (recorder->until_ns) {
			uint64_t left_ms = (recorder->until_ns - now) / 1000000 + 1;

			timeout_ms = left_ms < 1000000 ? (int)left_ms : 1000000;
		}
		poll(fds, ARRAY_SIZE(fds), timeout_ms);
	}
}

int lat_record(const char *instrument, const char *path, uint64_t duration_ns,
	       struct lat_stream_counts *counts, struct lat_error *err)
{
	struct recorder recorder = {
		.instrument = instrument, .in = -1, .out = -1, .signals.fd = -1,
		.nl.family = -1,
		.until_ns = duration_ns ? now_ns() + duration_ns : 0,
		.batch = lat_alloc(BATCH_BYTES, 1), .counts = counts,
	};
	int ret = lat_signals_init(&recorder.signals);

	*counts = (struct lat_stream_counts){ 0 };
	if (ret)
		lat_fail(err, ret, "signalfd: %s", strerror(-ret));
	if (!ret)
		ret = open_device(&recorder, err);
	if (!ret)
		ret = connect_instrument(&recorder, err);
	if (!ret)
		ret = open_file(&recorder, path, err);
	if (!ret)
		ret = pump(&recorder, err);
	if (!ret && !recorder.begun)
		ret = lat_fail(err, -ENODATA, "no session of %s ran; nothing was recorded",
			       instrument);
	if (!ret)
		ret = write_failed(&recorder, lat_stream_write_end(counts, recorder.out), err);
	if (recorder.out >= 0 && recorder.out != STDOUT_FILENO && close(recorder.out) && !ret)
		ret = write_failed(&recorder, -errno, err);
	if (recorder.in >= 0)
		close(recorder.in);
	lat_nl_close(&recorder.nl);
	lat_signals_exit(&recorder.signals);
	free(recorder.batch);
	return ret;
}
