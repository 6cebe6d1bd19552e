// SPDX-License-Identifier: GPL-2.0-only
/*
 * A run is a ladder of steps, each with what undoes it: signals, lock, module, netlink, parameters,
 * device, session. Whatever step fails or whoever says stop, the ladder is climbed down from where
 * it stands.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/aer.h"
#include "lib/affinity.h"
#include "lib/bars.h"
#include "lib/env.h"
#include "lib/live.h"
#include "lib/module.h"
#include "lib/rebind.h"
#include "lib/run.h"
#include "lib/signals.h"
#include "lib/trust.h"
#include "lib/waiters.h"

#define TICK_MS 1000
/* Without an event for so many ticks the state is asked for: events can be lost, states cannot. */
#define TICKS_PER_CHECK 5

/**
 * struct run - a measurement on its way
 * @tool: the instrument
 * @options: what was asked
 * @exceed: text of the parameter ``exceed``: as given, and what rate limits need
 * @signals: told to stop?
 * @lock: descriptor of the instrument's lock; -1: not held
 * @loaded: the module was loaded by this run
 * @nl: connection to it
 * @rebind: the device that was taken
 * @measured: CPUs that will be measured
 * @start: the machine before the session
 * @aer: errors of the device that is read, before the session
 * @waiters: threads of the point ``user``
 * @off_measured: this process keeps off the measured CPUs
 * @started: a session was started by this run and was not seen to end
 * @progress: what its events have told
 * @err: why the run ends early
 */
struct run {
	const struct lat_tool *tool;
	const struct lat_options *options;
	char *exceed;
	struct lat_signals signals;
	int lock;
	bool loaded;
	struct lat_nl nl;
	struct lat_rebind rebind;
	struct lat_cpuset measured;
	struct lat_env start;
	struct lat_aer aer;
	struct lat_waiters waiters;
	bool off_measured;
	bool started;
	struct lat_progress progress;
	struct lat_error err;
};

/* ---- going up ---- */

static int step_signals(struct run *run)
{
	int ret = lat_signals_init(&run->signals);

	return ret ? lat_fail(&run->err, ret, "signalfd: %s", strerror(-ret)) : 0;
}

static int step_lock(struct run *run)
{
	run->lock = lat_lock_instrument(run->tool->instrument, &run->err);
	return run->lock < 0 ? run->lock : 0;
}

static int step_root(struct run *run)
{
	if (!geteuid())
		return 0;
	return lat_fail(&run->err, -EPERM, "measuring takes root; try sudo %s", run->tool->name);
}

static int step_module(struct run *run)
{
	return lat_module_load(run->tool->instrument, &run->loaded, &run->err);
}

static int step_netlink(struct run *run)
{
	int ret = lat_nl_open(&run->nl, run->tool->instrument, &run->err);

	return ret ? ret : lat_nl_listen(&run->nl, &run->err);
}

static int refuse_running(struct run *run)
{
	struct lat_status status;
	int ret = lat_session_status(&run->nl, &status, &run->err);

	if (!ret && status.state == LAT_STATE_RUNNING)
		ret = lat_fail(&run->err, -EBUSY, "a session of %s runs already; %s",
			       run->tool->instrument,
			       "somebody else started it, and it was left alone");
	lat_status_free(&status);
	return ret;
}

/* "irq:20us" for each point the limit is about. */
static void add_exceed(struct run *run, const char *point, uint64_t above_ns)
{
	char *wanted = lat_format("%s:%lluns", point, (unsigned long long)above_ns), *longer;

	/* A limit may be named twice, by --exceed or another --limit: once is enough. */
	if (!strstr(run->exceed, wanted)) {
		longer = lat_format("%s%s%s", run->exceed, *run->exceed ? "," : "", wanted);
		free(run->exceed);
		run->exceed = longer;
	}
	free(wanted);
}

/* Is a point one of a list with commas? */
static bool names_point(const char *points, const char *point)
{
	const char *p = points;
	size_t n = strlen(point);

	while ((p = strstr(p, point))) {
		if ((p == points || p[-1] == ',') && (!p[n] || p[n] == ','))
			return true;
		p += n;
	}
	return false;
}

/* Named by --points; by default every point the module has. */
static bool is_measured(const struct run *run, const struct lat_report *report, const char *point)
{
	const char *points = lat_options_setting(run->options, "points")->text;

	if (!strcmp(points, "auto"))
		return !report->n_points || lat_report_find_point(report, point);
	return names_point(points, point);
}

/* The parameter ``exceed`` with what rate limits need, over the first @n_points points. */
static void build_exceed(struct run *run, const struct lat_report *report, size_t n_points)
{
	const struct lat_options *options = run->options;
	size_t i, p;

	free(run->exceed);
	run->exceed = lat_strdup(lat_options_setting(options, "exceed")->text);
	for (i = 0; i < options->n_limits; i++) {
		const struct lat_limit *limit = &options->limits[i];

		for (p = 0; lat_limit_is_rate(limit) && p < n_points; p++)
			if (is_measured(run, report, run->tool->points[p]) &&
			    (!limit->point[0] || !strcmp(limit->point, run->tool->points[p])))
				add_exceed(run, run->tool->points[p], limit->above_ns);
	}
}

static int set_exceed(struct run *run)
{
	const struct lat_setting setting = {
		.name = "exceed", .kind = LAT_VALUE_STR, .text = run->exceed,
	};

	return lat_session_set(&run->nl, &setting, 1, &run->err);
}

/* Rates are exact only where the module counts what is above them. */
static int exceed_from_limits(struct run *run, const struct lat_report *report)
{
	const struct lat_options *options = run->options;
	size_t i, n_points = 0;

	for (i = 0; i < options->n_limits; i++) {
		const struct lat_limit *limit = &options->limits[i];

		if (limit->point[0] && !is_measured(run, report, limit->point))
			return lat_fail(&run->err, -EINVAL,
					"limit '%s': point %s is not measured; see --points",
					limit->text, limit->point);
	}
	while (run->tool->points[n_points])
		n_points++;
	build_exceed(run, report, n_points);
	if (!strcmp(run->exceed, lat_options_setting(options, "exceed")->text))
		return 0;
	return set_exceed(run);
}

static int step_parameters(struct run *run)
{
	const struct lat_options *options = run->options;
	int ret = refuse_running(run);

	if (ret)
		return ret;
	/* All of them: what somebody set before must not leak into this run. */
	return lat_session_set(&run->nl, options->settings, options->n_settings, &run->err);
}

/* Without --device: the one that is bound to us, else the only one there is. */
static int find_device(struct run *run, char bdf[LAT_BDF_SIZE])
{
	struct lat_devices devices;
	const struct lat_device *found = NULL;
	size_t i, n = 0;
	int ret;

	if (run->options->device) {
		snprintf(bdf, LAT_BDF_SIZE, "%s", run->options->device);
		return 0;
	}
	ret = lat_devices_list(&devices, &run->err);
	if (ret)
		return ret;
	for (i = 0; i < devices.n; i++) {
		const struct lat_device *device = &devices.rows[i];

		if (device->driver && !strcmp(device->driver, run->tool->instrument)) {
			found = device;
			n = 1;
			break;
		}
		if (device->driver && !run->options->rebind)
			continue;
		found = device;
		n++;
	}
	if (n == 1)
		snprintf(bdf, LAT_BDF_SIZE, "%s", found->bdf);
	else
		ret = lat_fail(&run->err, -ENODEV, "%s; choose one with --device, see --list", n ?
			       "more than one device can be measured" :
			       "no device can be measured without taking it from its driver");
	lat_devices_free(&devices);
	return ret;
}

static int step_device(struct run *run)
{
	struct lat_setting setting = { .name = "device", .kind = LAT_VALUE_STR };
	struct lat_device device;
	char bdf[LAT_BDF_SIZE];
	int ret;

	if (!run->tool->takes_device)
		return 0;
	ret = find_device(run, bdf);
	if (!ret && !run->options->device) {
		setting.text = bdf;
		ret = lat_session_set(&run->nl, &setting, 1, &run->err);
	}
	if (ret)
		return ret;
	ret = lat_device_get(bdf, &device, &run->err);
	if (!ret)
		ret = lat_rebind_take(&device, run->tool->instrument, run->options->rebind,
				      run->options->force, &run->rebind, &run->err);
	lat_device_free(&device);
	return ret;
}

static int step_limits(struct run *run)
{
	struct lat_status status;
	int ret = lat_session_status(&run->nl, &status, &run->err);

	if (!ret)
		ret = exceed_from_limits(run, &status.report);
	lat_status_free(&status);
	return ret;
}

static int step_machine(struct run *run)
{
	const struct lat_setting *cpus = lat_options_setting(run->options, "cpus");
	const struct lat_setting *priority = lat_options_setting(run->options, "priority");

	lat_measured_cpus(cpus ? cpus->text : "auto", &run->measured);
	run->off_measured = lat_keep_off(&run->measured);
	lat_env_read(&run->start, &run->measured, run->tool->instrument,
		     priority ? (int)priority->u64 : 0);
	return 0;
}

/* The point ``user`` takes a thread on each measured CPU, which has to wait before the start. */
static int step_waiters(struct run *run)
{
	const struct lat_setting *points = lat_options_setting(run->options, "points");
	const struct lat_setting *priority = lat_options_setting(run->options, "priority");
	bool is_auto = !strcmp(points->text, "auto");

	if (is_auto ? !run->tool->waits_by_default : !names_point(points->text, "user"))
		return 0;
	return lat_waiters_start(&run->waiters, run->tool->instrument, &run->measured,
				 (int)priority->u64, &run->err);
}

/*
 * With points=auto the module may leave out the last ones where this machine has no use for them,
 * and then refuses to count what is above a limit there: ask again for fewer.
 */
static int start_with_fewer(struct run *run)
{
	const char *given = lat_options_setting(run->options, "exceed")->text;
	struct lat_status status;
	size_t n_points = 0;
	int ret = lat_session_status(&run->nl, &status, &run->err);

	while (run->tool->points[n_points])
		n_points++;
	while (!ret && n_points--) {
		build_exceed(run, &status.report, n_points);
		ret = set_exceed(run);
		if (ret)
			break;
		ret = lat_session_start(&run->nl, &run->err);
		if (ret != -EINVAL || !strcmp(run->exceed, given))
			break;
		ret = 0;
	}
	lat_status_free(&status);
	return ret;
}

/* Before the session where the device is known by then: phys= is found by the module. */
static int step_errors(struct run *run)
{
	if (run->tool->reads_device && run->options->device)
		lat_aer_read(run->options->device, &run->aer);
	return 0;
}

static void find_errors(struct run *run, const struct lat_report *report)
{
	const struct lat_fact *device = lat_fact_find(&report->device, "device");

	if (run->tool->reads_device && !run->aer.bdf && device && device->kind == LAT_FACT_TEXT)
		lat_aer_read(device->text, &run->aer);
}

static int step_start(struct run *run)
{
	struct lat_status status;
	int ret = lat_session_start(&run->nl, &run->err);

	if (ret == -EINVAL &&
	    strcmp(run->exceed, lat_options_setting(run->options, "exceed")->text))
		ret = start_with_fewer(run);
	if (ret)
		return ret;
	run->started = true;
	ret = lat_session_status(&run->nl, &status, &run->err);
	run->progress.generation = status.generation;
	/* So short a session that it is over already: its event may have come before we knew. */
	run->progress.stopped = !ret && status.state == LAT_STATE_IDLE;
	find_errors(run, &status.report);
	lat_status_free(&status);
	return ret;
}

static int go_up(struct run *run)
{
	static int (* const steps[])(struct run *run) = {
		step_signals, step_root, step_lock, step_module, step_netlink, step_parameters,
		step_device, step_limits, step_machine, step_waiters, step_errors,
		step_start,
	};
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < ARRAY_SIZE(steps); i++) {
		if (i && lat_signals_count(&run->signals))
			return lat_fail(&run->err, -EINTR, "stopped before anything was measured");
		ret = steps[i](run);
	}
	return ret;
}

/* ---- waiting ---- */

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Seconds the session will last at most; 0: until it is told to stop. */
static double expected_s(const struct lat_options *options)
{
	const struct lat_setting *count = lat_options_setting(options, "count");
	const struct lat_setting *period = lat_options_setting(options, "period");
	const struct lat_setting *duration = lat_options_setting(options, "duration");
	double by_count = count && period ? (double)count->u64 * (double)period->u64 / 1e9 : 0;
	double by_time = duration ? (double)duration->u64 / 1e9 : 0;

	if (by_count > 0 && (by_count < by_time || by_time <= 0))
		return by_count;
	return by_time;
}

static void show_progress(struct run *run, double elapsed_s)
{
	double total_s = expected_s(run->options);
	struct lat_error ignored;
	int64_t max_ns = 0;
	uint64_t count;
	bool known;

	if (lat_session_max(&run->nl, run->progress.generation, &known, &max_ns, &count, &ignored))
		return;
	fprintf(stderr, "\r%.0f s", elapsed_s);
	if (total_s > 0)
		fprintf(stderr, ", %.0f s to go", total_s > elapsed_s ? total_s - elapsed_s : 0);
	fprintf(stderr, ", %llu recorded", (unsigned long long)count);
	if (known && run->options->style.nanoseconds)
		fprintf(stderr, ", max %lld ns", (long long)max_ns);
	else if (known)
		fprintf(stderr, ", max %.3f us", (double)max_ns / 1e3);
	fputs("   ", stderr);
}

static bool has_stopped(struct run *run)
{
	struct lat_status status;
	struct lat_error ignored;
	bool stopped = lat_session_status(&run->nl, &status, &ignored) ||
		status.state == LAT_STATE_IDLE;

	lat_status_free(&status);
	return stopped;
}

/* Sleeps until the session ends or somebody says stop; wakes once a second to say how it goes. */
static void wait_for_end(struct run *run)
{
	bool shows = isatty(STDERR_FILENO) && !run->options->quiet;
	double begin_s = now_s(), tick_s = begin_s;
	struct lat_live live = { 0 };
	unsigned int ticks = 0;
	struct lat_error ignored;
	bool threads = shows && run->tool->shows_threads &&
		!lat_live_begin(&live, &run->nl, &run->options->style, true, &ignored);

	if (expected_s(run->options) <= 0 && !run->options->quiet && !run->progress.stopped)
		lat_complain("neither --duration nor --count: runs until told to stop (Ctrl-C)");
	while (!run->progress.stopped && !lat_signals_count(&run->signals)) {
		struct pollfd fds[] = {
			{ .fd = run->signals.fd, .events = POLLIN },
			{ .fd = nl_socket_get_fd(run->nl.events), .events = POLLIN },
		};
		double left_s = tick_s + TICK_MS / 1e3 - now_s();

		poll(fds, ARRAY_SIZE(fds), left_s > 0 ? (int)(left_s * 1000) + 1 : 0);
		if (fds[1].revents)
			lat_session_events(&run->nl, &run->progress);
		if (now_s() - tick_s < TICK_MS / 1e3)
			continue;
		tick_s = now_s();
		if (threads)
			lat_live_show(&live, stderr, &ignored);
		else if (shows)
			show_progress(run, tick_s - begin_s);
		if (++ticks % TICKS_PER_CHECK == 0 && has_stopped(run))
			run->progress.stopped = true;
	}
	if (threads)
		lat_live_clear(&live, stderr);
	else if (shows && ticks)
		fputs("\r\033[K", stderr);
	lat_live_end(&live);
}

/* ---- the report ---- */

/* The device's state, if it was unplugged, and its results come from the module all the same. */
static int collect(struct run *run, struct lat_report *report)
{
	struct lat_status status;
	int ret = lat_session_status(&run->nl, &status, &run->err);

	if (!ret)
		ret = lat_session_results(&run->nl, &status, &run->err);
	if (!ret) {
		*report = status.report;
		status.report = (struct lat_report){ .stop_reason = -1 };
		report->tool = lat_strdup(run->tool->name);
		report->version = lat_strdup(LATKIT_VERSION);
		if (status.version)
			lat_fact_text(&report->env, "module_version", status.version);
	}
	lat_status_free(&status);
	return ret;
}

static void complete(struct run *run, struct lat_report *report)
{
	const struct lat_options *options = run->options;
	struct lat_env end;
	size_t i;

	lat_env_read(&end, &run->measured, run->tool->instrument, 0);
	lat_env_facts(&run->start, &end, &report->env);
	if (report->elapsed_ns)
		lat_fact_number(&report->env, "elapsed_ns", (long long)report->elapsed_ns);
	lat_trust_judge(&run->start, &end, report);
	lat_aer_judge(&run->aer, report);
	lat_env_free(&end);
	if (!run->off_measured)
		lat_report_note(report, "cli-placement", LAT_SEVERITY_WARN, -1,
				"every CPU is measured, so this tool ran on one of them");
	for (i = 0; i < options->n_limits; i++)
		lat_limit_judge(&options->limits[i], report);
	for (i = 0; i < options->n_require; i++)
		lat_require_judge(options->require[i], report);
}

static int measure(struct run *run, struct lat_report *report)
{
	int ret;

	wait_for_end(run);
	ret = lat_session_stop(&run->nl, &run->err);
	if (ret)
		return ret;
	run->started = false;
	if (lat_signals_count(&run->signals) > 1)
		return lat_fail(&run->err, -EINTR, "stopped twice: the results were dropped");
	ret = collect(run, report);
	if (!ret)
		complete(run, report);
	return ret;
}

/* ---- going down ---- */

/* A device that is given back must not be taken again by the next probe. */
static void forget_device(struct lat_nl *nl)
{
	const struct lat_setting none = { .name = "device", .kind = LAT_VALUE_STR, .text = "" };
	struct lat_error ignored;

	(void)lat_session_set(nl, &none, 1, &ignored);
}

static int go_down(struct run *run)
{
	struct lat_error err;
	int failed = 0;

	if (run->started && lat_session_stop(&run->nl, &err)) {
		lat_complain("%s", err.text);
		failed = 1;
	}
	lat_waiters_stop(&run->waiters);
	if (run->nl.family > 0 && run->rebind.fd >= 0 && run->rebind.module &&
	    !(run->rebind.driver && !strcmp(run->rebind.driver, run->rebind.module)))
		forget_device(&run->nl);
	if (lat_rebind_give_back(&run->rebind, &err)) {
		lat_complain("%s; try --restore", err.text);
		failed = 1;
	}
	lat_nl_close(&run->nl);
	if (run->loaded && lat_module_unload(run->tool->instrument, &err)) {
		lat_complain("%s", err.text);
		failed = 1;
	}
	if (run->lock >= 0)
		close(run->lock);
	lat_env_free(&run->start);
	lat_aer_free(&run->aer);
	lat_signals_exit(&run->signals);
	free(run->exceed);
	return failed;
}

enum lat_exit lat_run(const struct lat_tool *tool, const struct lat_options *options,
		      struct lat_report *report)
{
	struct run run = {
		.tool = tool, .options = options, .signals.fd = -1, .lock = -1,
		.nl.family = -1, .rebind = LAT_REBIND_NONE,
	};
	int ret;

	*report = (struct lat_report){ .stop_reason = -1 };
	ret = go_up(&run);
	if (!ret)
		ret = measure(&run, report);
	if (ret)
		lat_complain("%s", run.err.text);
	return go_down(&run) || ret ? LAT_EXIT_ERROR : LAT_EXIT_OK;
}

/* ---- the other actions ---- */

static int stop_session(const char *module, struct lat_error *err)
{
	struct lat_nl nl;
	int ret;

	/* Unloaded meanwhile: nothing runs. */
	if (!lat_module_is_loaded(module))
		return 0;
	ret = lat_nl_open(&nl, module, err);
	if (!ret)
		ret = lat_session_stop(&nl, err);
	if (!ret)
		forget_device(&nl);
	lat_nl_close(&nl);
	return ret;
}

enum lat_exit lat_run_restore(const struct lat_options *options)
{
	struct lat_error err;
	int n = lat_rebind_restore(options->restore, stop_session, &err);

	if (n < 0) {
		lat_complain("%s", err.text);
		return LAT_EXIT_ERROR;
	}
	if (!options->quiet)
		lat_complain(n == 1 ? "1 device was given back" : "%d devices were given back", n);
	return LAT_EXIT_OK;
}

enum lat_exit lat_run_list(void)
{
	struct lat_devices devices;
	struct lat_error err;

	if (lat_devices_list(&devices, &err)) {
		lat_complain("%s", err.text);
		return LAT_EXIT_ERROR;
	}
	if (devices.n)
		lat_devices_print(&devices, stdout);
	else
		lat_complain("no device here is of a family that can be measured");
	lat_devices_free(&devices);
	return LAT_EXIT_OK;
}

enum lat_exit lat_run_list_bars(void)
{
	struct lat_error err;
	int n = lat_bars_print(stdout, &err);

	if (n < 0) {
		lat_complain("%s", err.text);
		return LAT_EXIT_ERROR;
	}
	if (!n)
		lat_complain("no PCI device here has a BAR");
	return LAT_EXIT_OK;
}
