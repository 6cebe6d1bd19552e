// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reading the machine: sysfs, procfs and the scheduler's own calls. What cannot be read stays
 * unknown and is left out.
 */
#include <ctype.h>
#include <dirent.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "lib/env.h"

#define CLOCK_PATH "/sys/devices/system/clocksource/clocksource0"
#define CPU_PATH "/sys/devices/system/cpu/cpu%u"

static unsigned long long read_number(const char *path)
{
	char *text = lat_read_file("%s", path);
	unsigned long long number = text ? strtoull(text, NULL, 10) : 0;

	free(text);
	return number;
}

static void read_idle(struct lat_env_cpu *cpu)
{
	char path[128];

	while (cpu->n_idle < LAT_IDLE_MAX) {
		struct lat_idle *idle = &cpu->idle[cpu->n_idle];
		char *name = lat_read_file(CPU_PATH "/cpuidle/state%zu/name", cpu->cpu,
					   cpu->n_idle);

		if (!name)
			break;
		snprintf(idle->name, sizeof(idle->name), "%s", name);
		free(name);
		snprintf(path, sizeof(path), CPU_PATH "/cpuidle/state%zu/latency", cpu->cpu,
			 cpu->n_idle);
		idle->latency_us = read_number(path);
		snprintf(path, sizeof(path), CPU_PATH "/cpuidle/state%zu/time", cpu->cpu,
			 cpu->n_idle);
		idle->time_us = read_number(path);
		cpu->n_idle++;
	}
}

static void read_cpu(struct lat_env_cpu *env_cpu, unsigned int cpu,
		     const struct lat_cpuset *isolated)
{
	char path[96];

	*env_cpu = (struct lat_env_cpu){
		.cpu = cpu,
		.governor = lat_read_file(CPU_PATH "/cpufreq/scaling_governor", cpu),
		.isolated = lat_cpuset_has(isolated, cpu),
	};
	snprintf(path, sizeof(path), CPU_PATH "/topology/thread_siblings_list", cpu);
	lat_cpulist_read(path, &env_cpu->siblings);
	read_idle(env_cpu);
}

/*
 * /proc/interrupts has a column per online CPU, named in its first line. The table may be wide, so
 * it is read by the line.
 */
static void read_interrupts(struct lat_env *env, const char *instrument)
{
	FILE *f = fopen("/proc/interrupts", "re");
	size_t room = 0, n_columns = 0, i;
	unsigned int *columns = NULL;
	char *line = NULL, *p, *end;

	if (!f)
		return;
	if (getline(&line, &room, f) > 0) {
		for (p = line; (p = strstr(p, "CPU")); p += 3) {
			columns = lat_grow(columns, n_columns, sizeof(*columns));
			columns[n_columns++] = strtoul(p + 3, NULL, 10);
		}
	}
	while (getline(&line, &room, f) > 0) {
		p = strchr(line, ':');
		if (!p || strstr(line, instrument))
			continue;
		p++;
		for (i = 0; i < n_columns; i++) {
			unsigned long long count = strtoull(p, &end, 10);
			size_t c;

			if (end == p)
				break;
			p = end;
			for (c = 0; c < env->n_cpus; c++)
				if (env->cpus[c].cpu == columns[i])
					env->cpus[c].interrupts += count;
		}
	}
	free(columns);
	free(line);
	fclose(f);
}

static void read_ticks(struct lat_env *env)
{
	FILE *f = fopen("/proc/stat", "re");
	unsigned long long ticks[8] = { 0 };
	size_t i;

	if (!f)
		return;
	if (fscanf(f, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &ticks[0], &ticks[1],
		   &ticks[2], &ticks[3], &ticks[4], &ticks[5], &ticks[6], &ticks[7]) >= 5) {
		for (i = 0; i < ARRAY_SIZE(ticks); i++)
			env->total_ticks += ticks[i];
		env->idle_ticks = ticks[3] + ticks[4];
	}
	fclose(f);
}

static bool may_run_on_measured(pid_t tid, const struct lat_env *env)
{
	cpu_set_t *allowed = CPU_ALLOC(LAT_CPUS_MAX);
	size_t size = CPU_ALLOC_SIZE(LAT_CPUS_MAX), i;
	bool may = false;

	if (!allowed)
		return false;
	CPU_ZERO_S(size, allowed);
	if (!sched_getaffinity(tid, size, allowed))
		for (i = 0; i < env->n_cpus; i++)
			may = may || CPU_ISSET_S(env->cpus[i].cpu, size, allowed);
	CPU_FREE(allowed);
	return may;
}

static void look_at_thread(struct lat_env *env, const char *pid, const char *tid, int priority)
{
	struct sched_param param;
	pid_t id = atoi(tid);
	int policy = sched_getscheduler(id);
	char *name;

	if (policy != SCHED_FIFO && policy != SCHED_RR)
		return;
	if (sched_getparam(id, &param) || param.sched_priority < priority ||
	    !may_run_on_measured(id, env))
		return;
	name = lat_read_file("/proc/%s/task/%s/comm", pid, tid);
	/* Part of the kernel's own machinery: it sleeps unless CPUs or tasks are moved. */
	if (name && strncmp(name, "migration/", 10) && strncmp(name, "idle_inject/", 12)) {
		size_t used = strlen(env->rt_names);

		if (env->rt_tasks < 4)
			snprintf(env->rt_names + used, sizeof(env->rt_names) - used, "%s%s (%d)",
				 used ? ", " : "", name, param.sched_priority);
		env->rt_tasks++;
	}
	free(name);
}

static void read_tasks(struct lat_env *env, int priority)
{
	DIR *proc = opendir("/proc");
	struct dirent *process, *thread;

	while (proc && (process = readdir(proc))) {
		char *path;
		DIR *tasks;

		if (!isdigit((unsigned char)process->d_name[0]))
			continue;
		path = lat_format("/proc/%s/task", process->d_name);
		tasks = opendir(path);
		free(path);
		while (tasks && (thread = readdir(tasks)))
			if (isdigit((unsigned char)thread->d_name[0]))
				look_at_thread(env, process->d_name, thread->d_name, priority);
		if (tasks)
			closedir(tasks);
	}
	if (proc)
		closedir(proc);
}

static bool has_fair_server(unsigned int cpu)
{
	char *text = lat_read_file("/sys/kernel/debug/sched/fair_server/cpu%u/runtime", cpu);
	bool on = text && strtoull(text, NULL, 10);

	free(text);
	return on;
}

void lat_env_read(struct lat_env *env, const struct lat_cpuset *measured, const char *instrument,
		  int priority)
{
	struct lat_cpuset isolated;
	struct timespec now;
	unsigned int cpu;
	char *text;

	*env = (struct lat_env){
		.clocksource = lat_read_file("%s/current_clocksource", CLOCK_PATH),
	};
	clock_gettime(CLOCK_MONOTONIC, &now);
	env->time_us = now.tv_sec * 1000000ULL + now.tv_nsec / 1000;
	text = lat_read_file("/proc/sys/kernel/sched_rt_runtime_us");
	env->rt_runtime_us = text ? atol(text) : 0;
	free(text);
	lat_cpulist_read("/sys/devices/system/cpu/isolated", &isolated);
	for (cpu = 0; lat_cpuset_step(measured, &cpu); cpu++) {
		env->cpus = lat_grow(env->cpus, env->n_cpus, sizeof(*env->cpus));
		read_cpu(&env->cpus[env->n_cpus++], cpu, &isolated);
		env->fair_server = env->fair_server || has_fair_server(cpu);
	}
	read_interrupts(env, instrument);
	read_ticks(env);
	if (priority)
		read_tasks(env, priority);
}

void lat_env_free(struct lat_env *env)
{
	size_t i;

	for (i = 0; i < env->n_cpus; i++)
		free(env->cpus[i].governor);
	free(env->cpus);
	free(env->clocksource);
	*env = (struct lat_env){ 0 };
}

/* Value of "key : value" in /proc/cpuinfo, first CPU; to be freed. */
static char *cpuinfo(const char *key)
{
	FILE *f = fopen("/proc/cpuinfo", "re");
	char *line = NULL, *value = NULL;
	size_t room = 0, n = strlen(key);

	while (f && !value && getline(&line, &room, f) > 0) {
		char *colon = strchr(line, ':');

		if (*line == '\n')
			break;
		if (!colon || strncmp(line, key, n) || !isspace((unsigned char)line[n]))
			continue;
		value = lat_strdup(colon + 1 + strspn(colon + 1, " "));
		value[strcspn(value, "\n")] = 0;
	}
	free(line);
	if (f)
		fclose(f);
	return value;
}

bool lat_env_has_hypervisor(void)
{
	char *flags = cpuinfo("flags"), *rest = flags, *word;
	bool found = !access("/sys/hypervisor/type", F_OK);

	while (!found && rest && (word = strsep(&rest, " ")))
		found = !strcmp(word, "hypervisor");
	free(flags);
	return found;
}

static void take_text(struct lat_facts *facts, const char *key, char *text)
{
	/* What the kernel prints for a list it does not have. */
	if (text && *text && strcmp(text, "(null)") && strcmp(text, " (null)"))
		lat_fact_text(facts, key, text);
	free(text);
}

static bool is_rt(const struct utsname *uts)
{
	char *flag = lat_read_file("/sys/kernel/realtime");
	bool rt = (flag && *flag == '1') || strstr(uts->version, "PREEMPT_RT");

	free(flag);
	return rt;
}

static void idle_fact(const struct lat_env_cpu *start, const struct lat_env_cpu *end,
		      unsigned long long elapsed_us, struct lat_facts *facts)
{
	char key[32], text[256] = "";
	size_t i, used = 0;

	for (i = 0; i < end->n_idle && i < start->n_idle && elapsed_us; i++)
		used += snprintf(text + used, used < sizeof(text) ? sizeof(text) - used : 0,
				 "%s%s %llu%%", i ? ", " : "", end->idle[i].name, 100 *
				 (end->idle[i].time_us - start->idle[i].time_us) / elapsed_us);
	snprintf(key, sizeof(key), "cpu%u_idle", end->cpu);
	if (*text)
		lat_fact_text(facts, key, text);
}

static void cpu_facts(const struct lat_env *start, const struct lat_env *end,
		      struct lat_facts *facts)
{
	char key[40];
	size_t i;

	for (i = 0; i < start->n_cpus; i++) {
		const struct lat_env_cpu *cpu = &start->cpus[i];
		char *siblings = lat_cpulist_text(&cpu->siblings);

		snprintf(key, sizeof(key), "cpu%u_governor", cpu->cpu);
		if (cpu->governor)
			lat_fact_text(facts, key, cpu->governor);
		snprintf(key, sizeof(key), "cpu%u_siblings", cpu->cpu);
		take_text(facts, key, siblings);
		if (i >= end->n_cpus)
			continue;
		idle_fact(cpu, &end->cpus[i], end->time_us - start->time_us, facts);
		snprintf(key, sizeof(key), "cpu%u_interrupts", cpu->cpu);
		lat_fact_number(facts, key, (long long)(end->cpus[i].interrupts - cpu->interrupts));
	}
}

void lat_env_facts(const struct lat_env *start, const struct lat_env *end,
		   struct lat_facts *facts)
{
	struct utsname uts;

	uname(&uts);
	lat_fact_text(facts, "kernel", uts.release);
	lat_fact_text(facts, "kernel_version", uts.version);
	lat_fact_text(facts, "machine", uts.machine);
	lat_fact_bool(facts, "preempt_rt", is_rt(&uts));
	take_text(facts, "cmdline", lat_read_file("/proc/cmdline"));
	take_text(facts, "cpu_model", cpuinfo("model name"));
	lat_fact_bool(facts, "hypervisor", lat_env_has_hypervisor());
	take_text(facts, "cpus_online", lat_read_file("/sys/devices/system/cpu/online"));
	take_text(facts, "cpus_isolated", lat_read_file("/sys/devices/system/cpu/isolated"));
	take_text(facts, "cpus_nohz_full", lat_read_file("/sys/devices/system/cpu/nohz_full"));
	take_text(facts, "idle_driver",
		  lat_read_file("/sys/devices/system/cpu/cpuidle/current_driver"));
	take_text(facts, "loadavg", lat_read_file("/proc/loadavg"));
	lat_fact_text(facts, "clocksource", start->clocksource);
	lat_fact_text(facts, "clocksource_end", end->clocksource);
	if (start->rt_runtime_us)
		lat_fact_number(facts, "sched_rt_runtime_us", start->rt_runtime_us);
	lat_fact_bool(facts, "fair_server", start->fair_server);
	if (end->total_ticks > start->total_ticks)
		lat_fact_number(facts, "idle_percent",
				(long long)((end->idle_ticks - start->idle_ticks) * 100 /
					    (end->total_ticks - start->total_ticks)));
	cpu_facts(start, end, facts);
}
