// SPDX-License-Identifier: GPL-2.0-only
/*
 * From the parameters to what a session runs with. Everything is checked before anything is
 * touched; what cannot be meant is refused with the parameter's name, its value and the way out.
 */
#include <linux/cpu.h>
#include <linux/log2.h>
#include <linux/sched/isolation.h>

#include "internal.h"
#include "parse.h"

static void lat_mark_cpu(unsigned int cpu, void *mask)
{
	cpumask_set_cpu(cpu, mask);
}

/* The default: the first isolated CPU, else the first one. */
static unsigned int lat_default_cpu(void)
{
	unsigned int cpu;

	for_each_online_cpu(cpu)
		if (!housekeeping_test_cpu(cpu, HK_TYPE_DOMAIN))
			return cpu;
	return cpumask_first(cpu_online_mask);
}

/* Turn the list of CPUs into a mask of CPUs that are there. */
static int lat_config_cpus(struct lat *lat, struct cpumask *cpus, struct lat_why *why)
{
	const struct lat_param *param = lat_param(lat, LAT_P_cpus);
	unsigned int cpu;

	cpumask_clear(cpus);
	if (!param->set) {
		cpumask_set_cpu(lat_default_cpu(), cpus);
		return 0;
	}
	switch (lat_parse_cpulist(param->text, nr_cpu_ids, lat_mark_cpu, cpus)) {
	case LAT_PARSE_OK:
		break;
	case LAT_PARSE_RANGE:
		return lat_refuse(why, -EINVAL, "cpus=%s: this machine has the CPUs 0-%u",
				  param->text, nr_cpu_ids - 1);
	case LAT_PARSE_EMPTY:
		return lat_refuse(why, -EINVAL, "cpus=%s: names no CPU", param->text);
	default:
		return lat_refuse(why, -EINVAL,
				  "cpus=%s: must be a list as 0-3,5 or all or !4", param->text);
	}
	/* "all" and "!4" mean those that are there; a CPU named one by one must be. */
	if (param->text[0] == 'a' || param->text[0] == '!')
		cpumask_and(cpus, cpus, cpu_online_mask);
	for_each_cpu(cpu, cpus)
		if (!cpu_online(cpu))
			return lat_refuse(why, -EINVAL, "cpus=%s: CPU %u is %s", param->text, cpu,
					  cpu_possible(cpu) ? "offline" : "not there");
	if (cpumask_empty(cpus))
		return lat_refuse(why, -EINVAL, "cpus=%s: names no CPU that is online",
				  param->text);
	return 0;
}

/* Index of the point whose name is the @len characters at @name, or -1. */
static int lat_point_index(const struct lat *lat, const char *name, size_t len)
{
	int i;

	for (i = 0; lat->ops->points[i].name; i++)
		if (strlen(lat->ops->points[i].name) == len &&
		    !strncmp(lat->ops->points[i].name, name, len))
			return i;
	return -1;
}

/* "irq,thread,work" */
static void lat_point_names(const struct lat *lat, char *names, size_t size)
{
	size_t n = 0;
	int i;

	names[0] = '\0';
	for (i = 0; lat->ops->points[i].name; i++)
		n += scnprintf(names + n, size - n, "%s%s", i ? "," : "",
			       lat->ops->points[i].name);
}

static int lat_config_points(struct lat *lat, unsigned int *points, struct lat_why *why)
{
	const struct lat_param *param = lat_param(lat, LAT_P_points);
	const char *name = param->text;
	char known[64];
	int i;

	*points = 0;
	if (!param->set || !strcmp(param->text, "auto")) {
		for (i = 0; lat->ops->points[i].name; i++)
			*points |= BIT(i);
		return 0;
	}
	for (;;) {
		size_t len = strcspn(name, ",\n");

		i = lat_point_index(lat, name, len);
		if (i < 0) {
			lat_point_names(lat, known, sizeof(known));
			return lat_refuse(why, -EINVAL, "points=%s: \"%.*s\" is none of %s",
					  param->text, (int)len, name, known);
		}
		if (*points & BIT(i))
			return lat_refuse(why, -EINVAL, "points=%s: \"%.*s\" stands there twice",
					  param->text, (int)len, name);
		*points |= BIT(i);
		if (name[len] != ',')
			return 0;
		name += len + 1;
	}
}

/* Walk `exceed`: <point>:<duration>, …; with @rec, fill in the limits of its point. */
static int lat_config_exceed(struct lat *lat, unsigned int points, struct lat_rec *rec,
			     struct lat_why *why)
{
	const struct lat_param *param = lat_param(lat, LAT_P_exceed);
	unsigned int used[LAT_POINTS_MAX] = { 0 };
	const char *p = param->text;

	while (*p && *p != '\n') {
		size_t len = strcspn(p, ":,\n");
		int point = lat_point_index(lat, p, len);
		s64 limit_ns;

		if (point < 0 || p[len] != ':')
			return lat_refuse(why, -EINVAL,
					  "exceed=%s: must be <point>:<duration>, as irq:20us",
					  param->text);
		if (!(points & BIT(point)))
			return lat_refuse(why, -EINVAL, "exceed=%s: point %.*s is not measured",
					  param->text, (int)len, p);
		p += len + 1;
		if (lat_parse_duration_at(&p, 0, &limit_ns) != LAT_PARSE_OK || limit_ns <= 0 ||
		    (*p && *p != ',' && *p != '\n'))
			return lat_refuse(why, -EINVAL,
					  "exceed=%s: a limit needs a number and its unit, as irq:20us",
					  param->text);
		if (used[point]++ == LAT_EXCEED)
			return lat_refuse(why, -EINVAL,
					  "exceed=%s: more than %u limits for a point",
					  param->text, LAT_EXCEED);
		if (rec && rec->point == point) {
			rec->exceed[rec->exceeds++].limit_ns = limit_ns;
			rec->over_ns = min_t(u64, rec->over_ns, limit_ns);
		}
		if (*p == ',')
			p++;
	}
	return 0;
}

/* `linear`: <width>:<buckets> */
static int lat_config_linear(struct lat *lat, u64 *width_ns, u32 *buckets, struct lat_why *why)
{
	const struct lat_param *param = lat_param(lat, LAT_P_linear);
	const char *p = param->text;
	u64 number;
	s64 width;

	*buckets = 0;
	if (!*p || *p == '\n')
		return 0;
	if (lat_parse_duration_at(&p, 0, &width) != LAT_PARSE_OK || *p != ':' ||
	    lat_parse_u64(p + 1, &number) != LAT_PARSE_OK)
		return lat_refuse(why, -EINVAL,
				  "linear=%s: must be <width>:<buckets>, as 1us:1000", param->text);
	if (width < 1 || width > NSEC_PER_SEC || number < 1 || number > 65536)
		return lat_refuse(why, -EINVAL,
				  "linear=%s: the width must be between 1ns and 1s, the buckets between 1 and 65536",
				  param->text);
	*width_ns = width;
	*buckets = number;
	return 0;
}

/**
 * lat_config_rec() - configure a recorder
 * @lat: the instrument
 * @config: what the session runs with
 * @rec: the recorder, new
 * @why: the reason of a refusal
 *
 * Context: process, lat->lock.
 * Return: 0, -EINVAL or -ENOMEM
 */
int lat_config_rec(struct lat *lat, const struct lat_config *config, struct lat_rec *rec,
		   struct lat_why *why)
{
	u32 buckets;
	u64 width_ns;
	int err;

	rec->threshold_ns = config->threshold_ns;
	err = lat_config_exceed(lat, config->points, rec, why);
	if (err)
		return err;
	if (rec->threshold_ns)
		rec->over_ns = rec->threshold_ns;
	err = lat_config_linear(lat, &width_ns, &buckets, why);
	if (err || !buckets)
		return err;
	err = lat_rec_linear(rec, width_ns, buckets);
	return err ? lat_refuse(why, err, "no memory for %u linear buckets", buckets) : 0;
}

/* What every instrument refuses, whatever its device. */
static int lat_config_fill(struct lat *lat, struct lat_config *config, struct lat_why *why)
{
	u64 width_ns;
	u32 buckets;
	int err;

	err = lat_config_cpus(lat, config->cpus, why);
	if (err)
		return err;
	cpumask_copy(config->used, config->cpus);
	err = lat_config_points(lat, &config->points, why);
	if (err)
		return err;

	config->period_ns = lat_value(lat, LAT_P_period);
	config->phase_ns = lat_param(lat, LAT_P_phase)->set ?
		(u64)lat_value(lat, LAT_P_phase) :
		div_u64(config->period_ns, cpumask_weight(config->cpus));
	if (lat_param(lat, LAT_P_phase)->set && config->phase_ns >= config->period_ns)
		return lat_refuse(why, -EINVAL, "phase=%s: must be less than the period (%s)",
				  lat_param(lat, LAT_P_phase)->text,
				  lat_param(lat, LAT_P_period)->text);
	config->count = lat_value(lat, LAT_P_count);
	config->warmup = lat_param(lat, LAT_P_warmup)->set ?
		(u64)lat_value(lat, LAT_P_warmup) :
		min(div64_u64(NSEC_PER_SEC, config->period_ns), 1000ULL);
	config->threshold_ns = lat_value(lat, LAT_P_threshold);
	config->priority = lat_value(lat, LAT_P_priority);
	if (lat_value(lat, LAT_P_on_threshold) && !config->threshold_ns)
		return lat_refuse(why, -EINVAL, "on_threshold=%s: needs a threshold",
				  lat_param(lat, LAT_P_on_threshold)->text);

	if (!is_power_of_2(lat_value(lat, LAT_P_ring)))
		return lat_refuse(why, -EINVAL, "ring=%s: must be a power of two",
				  lat_param(lat, LAT_P_ring)->text);
	err = lat_config_linear(lat, &width_ns, &buckets, why);
	if (err)
		return err;
	return lat->ops->check(lat, config, !lat_param(lat, LAT_P_points)->set, why);
}

/**
 * lat_config_init() - resolve and check the parameters
 * @lat: the instrument
 * @config: the result, for lat_config_exit()
 * @why: the reason of a refusal
 *
 * Context: process, lat->lock.
 * Return: 0, -ENOMEM, -EINVAL, or what the instrument's check says
 */
int lat_config_init(struct lat *lat, struct lat_config *config, struct lat_why *why)
{
	int err = -ENOMEM;

	memset(config, 0, sizeof(*config));
	if (!zalloc_cpumask_var(&config->cpus, GFP_KERNEL))
		return lat_refuse(why, err, "no memory");
	if (!zalloc_cpumask_var(&config->used, GFP_KERNEL)) {
		lat_refuse(why, err, "no memory");
		goto err_free_cpus;
	}
	err = lat_config_fill(lat, config, why);
	if (!err)
		/* Limits name points, and the instrument may have narrowed those. */
		err = lat_config_exceed(lat, config->points, NULL, why);
	if (err)
		goto err_free_used;
	return 0;

err_free_used:
	free_cpumask_var(config->used);
err_free_cpus:
	free_cpumask_var(config->cpus);
	memset(config, 0, sizeof(*config));
	return err;
}

void lat_config_exit(struct lat_config *config)
{
	free_cpumask_var(config->used);
	free_cpumask_var(config->cpus);
	memset(config, 0, sizeof(*config));
}
