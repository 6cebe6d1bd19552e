// SPDX-License-Identifier: GPL-2.0-only
/*
 * On a terminal the lines are written over; elsewhere each second adds some, for a log.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/affinity.h"
#include "lib/live.h"
#include "lib/signals.h"
#include "lib/watch.h"

#define TICK_MS 1000

static int refuse_idle(struct lat_live *live, const char *instrument, struct lat_error *err)
{
	const struct lat_param *cpus = lat_status_param(&live->status, "cpus");
	struct lat_cpuset measured;

	if (live->status.state != LAT_STATE_RUNNING)
		return lat_fail(err, -ENODATA, "no session of %s runs; latkit show %s %s",
				instrument, instrument, "has the results of the last one");
	if (cpus && cpus->text) {
		lat_measured_cpus(cpus->text, &measured);
		lat_keep_off(&measured);
	}
	return 0;
}

/* Has the session that was watched ended, and why? */
static bool has_ended(struct lat_live *live, struct lat_progress *progress, const char **reason)
{
	struct lat_status status;
	struct lat_error ignored;
	bool ended;

	/* Gone with its module, or overtaken by the next one. */
	ended = lat_session_status(live->nl, &status, &ignored) ||
		status.state != LAT_STATE_RUNNING || status.generation != progress->generation;
	*reason = ended && status.generation == progress->generation ?
		lat_stop_name(status.stop_reason) : NULL;
	lat_status_free(&status);
	return ended;
}

static long now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Until a second has passed, the session has ended, or somebody says stop. */
static void sleep_a_tick(struct lat_live *live, struct lat_signals *signals,
			 struct lat_progress *progress)
{
	long until_ms = now_ms() + TICK_MS, left_ms;

	while (!progress->stopped && (left_ms = until_ms - now_ms()) > 0) {
		struct pollfd fds[] = {
			{ .fd = signals->fd, .events = POLLIN },
			{ .fd = nl_socket_get_fd(live->nl->events), .events = POLLIN },
		};

		if (poll(fds, ARRAY_SIZE(fds), (int)left_ms) > 0 &&
		    (fds[0].revents || lat_session_events(live->nl, progress)))
			break;
	}
}

static int follow(struct lat_live *live, struct lat_signals *signals, struct lat_error *err)
{
	struct lat_progress progress = { .generation = live->status.generation };
	const char *reason = NULL;
	bool ended;
	int ret = 0;

	do {
		sleep_a_tick(live, signals, &progress);
		ended = has_ended(live, &progress, &reason);
		/* The results of a session that has ended are its last, not those of the next. */
		if (!ended || reason)
			ret = lat_live_show(live, stdout, err);
	} while (!ret && !ended && !lat_signals_count(signals) && !ferror(stdout));
	if (reason)
		printf("# ended by %s\n", reason);
	return ret;
}

int lat_watch(const char *instrument, const struct lat_style *style, struct lat_error *err)
{
	struct lat_signals signals = { .fd = -1 };
	struct lat_live live = { 0 };
	struct lat_nl nl;
	int ret = lat_nl_open(&nl, instrument, err);

	if (!ret)
		ret = lat_nl_listen(&nl, err);
	if (!ret)
		ret = lat_signals_init(&signals);
	if (!ret)
		ret = lat_live_begin(&live, &nl, style, isatty(STDOUT_FILENO), err);
	if (!ret)
		ret = refuse_idle(&live, instrument, err);
	if (!ret)
		ret = follow(&live, &signals, err);
	lat_live_end(&live);
	lat_signals_exit(&signals);
	lat_nl_close(&nl);
	return ret;
}
