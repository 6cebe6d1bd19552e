// SPDX-License-Identifier: GPL-2.0-only
/*
 * One function per thing that can take trust away, one table that runs them. A note is given only
 * for what was seen; what could not be read gives none.
 */
#include <errno.h>
#include <string.h>

#include "lib/trust.h"

/* An idle state that takes longer to leave than this adds to latencies of some us. */
#define IDLE_LATENCY_US 2
#define IDLE_SHARE_PERCENT 1
#define MACHINE_IDLE_PERCENT 90

const char * const lat_trust_codes[] = {
	/* this file and lib/tool.c */
	"clocksource", "clocksource-changed", "cli-placement", "fair-server", "governor",
	"hypervisor", "idle-states", "interrupts", "machine-idle", "not-isolated", "rt-tasks",
	"rt-throttling", "smt-sibling",
	/* the modules; tests/cli/run.sh compares */
	"aspm", "burst", "clock-backwards", "clock-changed", "clock-coarse", "clock-unstable",
	"debug-kernel", "drops", "emulated-device", "invalid", "lost", "mapping", "moderation",
	"nmi", "overruns", "pacer", "posted-msi", "prefetchable", "priority", "smi", "smi-unseen",
	"spurious", "torn", "tracing", "wrong-cpu",
	NULL,
};

int lat_trust_check_code(const char *code, struct lat_error *err)
{
	char names[640] = "";
	size_t used = 0;
	int i;

	for (i = 0; lat_trust_codes[i]; i++) {
		if (!strcmp(lat_trust_codes[i], code))
			return 0;
		used += snprintf(names + used, sizeof(names) - used, "%s%s", i ? ", " : "",
				 lat_trust_codes[i]);
	}
	return lat_fail(err, -EINVAL, "no trust code '%.60s'; there are %s", code, names);
}

static void judge_clocksource(const struct lat_env *start, const struct lat_env *end,
			      struct lat_report *report)
{
	/* Read without leaving the CPU. */
	static const char * const good[] = { "tsc", "arch_sys_counter", "kvm-clock" };
	size_t i;

	if (!start->clocksource || !end->clocksource)
		return;
	if (strcmp(start->clocksource, end->clocksource))
		lat_report_note(report, "clocksource-changed", LAT_SEVERITY_VOID, -1,
				"the clocksource changed from %s to %s during the session",
				start->clocksource, end->clocksource);
	for (i = 0; i < ARRAY_SIZE(good); i++)
		if (!strcmp(start->clocksource, good[i]))
			return;
	lat_report_note(report, "clocksource", LAT_SEVERITY_WARN, -1,
			"the clocksource is %s: reading it is slow and in every value",
			start->clocksource);
}

static void judge_hypervisor(const struct lat_env *start, const struct lat_env *end,
			     struct lat_report *report)
{
	(void)start;
	(void)end;
	if (lat_env_has_hypervisor())
		lat_report_note(report, "hypervisor", LAT_SEVERITY_WARN, -1,
				"this is a virtual machine: its host's latencies are in every value");
}

static void judge_scheduler(const struct lat_env *start, const struct lat_env *end,
			    struct lat_report *report)
{
	(void)end;
	/* From 6.12 on the fair server stands in for throttling, which then does nothing. */
	if (start->fair_server)
		lat_report_note(report, "fair-server", LAT_SEVERITY_INFO, -1,
				"the deadline fair server may run normal tasks before real-time ones");
	else if (start->rt_runtime_us > 0)
		lat_report_note(report, "rt-throttling", LAT_SEVERITY_INFO, -1,
				"real-time tasks are throttled (sched_rt_runtime_us is %ld; -1 is off)",
				start->rt_runtime_us);
	if (start->rt_tasks)
		lat_report_note(report, "rt-tasks", LAT_SEVERITY_WARN, -1,
				"%u other threads at or above our priority may run on measured CPUs: %s",
				start->rt_tasks, start->rt_names);
}

static void judge_load(const struct lat_env *start, const struct lat_env *end,
		       struct lat_report *report)
{
	unsigned long long total = end->total_ticks - start->total_ticks;
	unsigned long long idle = end->idle_ticks - start->idle_ticks;

	if (total && idle * 100 / total >= MACHINE_IDLE_PERCENT)
		lat_report_note(report, "machine-idle", LAT_SEVERITY_INFO, -1,
				"the machine was idle for %llu %%: nothing provoked long latencies",
				idle * 100 / total);
}

static void judge_idle(const struct lat_env_cpu *start, const struct lat_env_cpu *end,
		       unsigned long long elapsed_us, struct lat_report *report)
{
	size_t i;

	for (i = 0; i < start->n_idle && i < end->n_idle && elapsed_us; i++) {
		unsigned long long share =
			(end->idle[i].time_us - start->idle[i].time_us) * 100 / elapsed_us;

		if (end->idle[i].latency_us <= IDLE_LATENCY_US || share < IDLE_SHARE_PERCENT)
			continue;
		lat_report_note(report, "idle-states", LAT_SEVERITY_INFO, end->cpu,
				"%llu %% of the time in %s, which takes up to %llu us to leave",
				share, end->idle[i].name, end->idle[i].latency_us);
	}
}

static void judge_cpu(const struct lat_env_cpu *start, const struct lat_env_cpu *end,
		      unsigned long long elapsed_us, struct lat_report *report)
{
	unsigned long long interrupts = end->interrupts - start->interrupts;

	if (start->governor && strcmp(start->governor, "performance"))
		lat_report_note(report, "governor", LAT_SEVERITY_WARN, start->cpu,
				"its frequency governor is %s, not performance", start->governor);
	if (!start->isolated)
		lat_report_note(report, "not-isolated", LAT_SEVERITY_INFO, start->cpu,
				"it is not isolated (isolcpus=): other tasks run there");
	if (lat_cpuset_count(&start->siblings) > 1)
		lat_report_note(report, "smt-sibling", LAT_SEVERITY_WARN, start->cpu,
				"another CPU shares its core and may slow it down");
	judge_idle(start, end, elapsed_us, report);
	if (interrupts)
		lat_report_note(report, "interrupts", LAT_SEVERITY_INFO, start->cpu,
				"%llu interrupts beside the measured ones", interrupts);
}

void lat_trust_judge(const struct lat_env *start, const struct lat_env *end,
		     struct lat_report *report)
{
	static void (* const judges[])(const struct lat_env *start, const struct lat_env *end,
				       struct lat_report *report) = {
		judge_clocksource, judge_hypervisor, judge_scheduler, judge_load,
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(judges); i++)
		judges[i](start, end, report);
	for (i = 0; i < start->n_cpus && i < end->n_cpus; i++)
		judge_cpu(&start->cpus[i], &end->cpus[i], end->time_us - start->time_us, report);
}
