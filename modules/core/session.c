// SPDX-License-Identifier: GPL-2.0-only
/*
 * The session: one start..stop of an instrument, everything that may end it (a count, a time, a
 * threshold, the machine going to sleep or down, the module going away), and consistent copies of
 * its results for the doors.
 */
#include <linux/cpu.h>
#include <linux/kernel.h>
#include <linux/kobject.h>
#include <linux/module.h>
#include <linux/pm_qos.h>
#include <linux/reboot.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/suspend.h>
#include <uapi/linux/sched/types.h>

#include "internal.h"

const char *const lat_counter_names[LAT_COUNTERS] = {
	[LAT_OVERRUNS] = "overruns",
	[LAT_LOST] = "lost",
	[LAT_SPURIOUS] = "spurious",
	[LAT_LATE] = "late",
	[LAT_WRONG_CPU] = "wrong_cpu",
	[LAT_INVALID] = "invalid",
	[LAT_DROPS] = "drops",
	[LAT_TORN] = "torn",
	[LAT_BURST] = "burst",
};

const char *const lat_stop_names[__LAT_STOP_MAX] = {
	[LAT_STOP_COUNT] = "count",
	[LAT_STOP_DURATION] = "duration",
	[LAT_STOP_THRESHOLD] = "threshold",
	[LAT_STOP_REQUEST] = "request",
	[LAT_STOP_DEVICE_REMOVED] = "device-removed",
	[LAT_STOP_DEVICE_SILENT] = "device-silent",
	[LAT_STOP_SUSPEND] = "suspend",
	[LAT_STOP_REBOOT] = "reboot",
	[LAT_STOP_ERROR] = "error",
};

const char *const lat_severity_names[] = {
	[LAT_SEVERITY_INFO] = "info",
	[LAT_SEVERITY_WARN] = "warn",
	[LAT_SEVERITY_VOID] = "void",
};

/* An idle request of one measured CPU. */
struct lat_qos {
	struct dev_pm_qos_request request;
	bool active;
};

/* Let the measured CPUs sleep no deeper than `idle` allows. */
static int lat_qos_add(struct lat *lat, struct lat_why *why)
{
	const struct lat_param *idle = lat_param(lat, LAT_P_idle);
	unsigned int i;
	int err;

	if (!idle->set)
		return 0;
	for (i = 0; i < lat->ncpus; i++) {
		struct device *dev = get_cpu_device(lat->cpu[i].cpu);

		if (!dev)
			continue;
		err = dev_pm_qos_add_request(dev, &lat->qos[i].request, DEV_PM_QOS_RESUME_LATENCY,
					     div_s64(idle->number, NSEC_PER_USEC));
		if (err < 0)
			return lat_refuse(why, err, "idle=%s: the limit on CPU %u was refused (%d)",
					  idle->text, lat->cpu[i].cpu, err);
		lat->qos[i].active = true;
	}
	return 0;
}

static void lat_qos_remove(struct lat *lat)
{
	unsigned int i;

	for (i = 0; i < lat->ncpus; i++) {
		if (lat->qos[i].active)
			dev_pm_qos_remove_request(&lat->qos[i].request);
		lat->qos[i].active = false;
	}
}

/* Free the results of a session. */
static void lat_session_free(struct lat *lat)
{
	unsigned int i, point;

	lat_stream_free(lat);
	mutex_lock(&lat->series_lock);
	lat_series_free(lat->series, lat->ncpus * LAT_POINTS_MAX);
	lat->series = NULL;
	for (i = 0; i < lat->ncpus; i++)
		for (point = 0; point < LAT_POINTS_MAX; point++)
			lat_rec_free(lat->cpu[i].rec[point]);
	kfree(lat->cpu);
	lat->cpu = NULL;
	kfree(lat->qos);
	lat->qos = NULL;
	lat->ncpus = 0;
	mutex_unlock(&lat->series_lock);
	lat_list_clear(&lat->facts);
	lat_list_clear(&lat->notes);
	lat_config_exit(&lat->config);
	lat->torn = 0;
	lat->ended = false;
}

static int lat_session_alloc_cpu(struct lat *lat, struct lat_cpu *cpu, struct lat_why *why)
{
	unsigned int point;
	int err;

	for (point = 0; point < LAT_POINTS_MAX; point++) {
		struct lat_rec *rec;

		if (!(lat->config.points & BIT(point)))
			continue;
		rec = lat_rec_alloc(lat, cpu->cpu, point);
		if (!rec)
			return lat_refuse(why, -ENOMEM, "no memory for the histograms");
		cpu->rec[point] = rec;
		err = lat_config_rec(lat, &lat->config, rec, why);
		if (err)
			return err;
	}
	return 0;
}

/* Memory for the results of a session. */
static int lat_session_alloc(struct lat *lat, struct lat_why *why)
{
	unsigned int n = cpumask_weight(lat->config.cpus), cpu, i = 0;
	int err;

	lat->cpu = kcalloc(n, sizeof(*lat->cpu), GFP_KERNEL);
	lat->qos = kcalloc(n, sizeof(*lat->qos), GFP_KERNEL);
	lat->series = kvcalloc(n * LAT_POINTS_MAX, sizeof(*lat->series), GFP_KERNEL);
	if (!lat->cpu || !lat->qos || !lat->series)
		return lat_refuse(why, -ENOMEM, "no memory for %u CPUs", n);
	lat->ncpus = n;
	for_each_cpu(cpu, lat->config.cpus)
		lat->cpu[i++].cpu = cpu;
	for (i = 0; i < n; i++) {
		err = lat_session_alloc_cpu(lat, &lat->cpu[i], why);
		if (err)
			return err;
	}
	return 0;
}

/* The series of every recorder begins with the session. */
static void lat_session_begin(struct lat *lat)
{
	unsigned int i, point;

	lat->start_ns = lat_now();
	lat->start_real_ns = ktime_get_real_ns();
	for (i = 0; i < lat->ncpus; i++) {
		for (point = 0; point < LAT_POINTS_MAX; point++) {
			struct lat_rec *rec = lat->cpu[i].rec[point];

			if (!rec)
				continue;
			rec->interval_ns = NSEC_PER_SEC;
			lat_rec_begin_interval(rec, lat->start_ns);
		}
	}
}

/* Arm the instrument while no CPU can go offline. */
static int lat_session_arm(struct lat *lat, struct lat_why *why)
{
	unsigned int cpu;
	int err = 0;

	cpus_read_lock();
	for_each_cpu(cpu, lat->config.used)
		if (!cpu_online(cpu))
			err = lat_refuse(why, -EINVAL, "CPU %u has just gone offline", cpu);
	if (!err) {
		lat_session_begin(lat);
		err = lat->ops->start(lat, why);
	}
	if (!err)
		lat->running = true;
	cpus_read_unlock();
	return err;
}

/* How often closed intervals are taken over: well before LAT_CLOSED of them are there. */
static unsigned long lat_series_delay(void)
{
	return msecs_to_jiffies(8 * MSEC_PER_SEC);
}

static int lat_start_locked(struct lat *lat, struct lat_why *why)
{
	struct lat_config config;
	s64 duration_ns;
	int err;

	if (lat->running)
		return lat_refuse(why, -EBUSY, "a session is running");
	if (lat->closed)
		return lat_refuse(why, -EBUSY, "the module is being unloaded");
	if (lat->asleep)
		return lat_refuse(why, -EBUSY, "the machine is going to sleep or down");
	err = lat_config_init(lat, &config, why);
	if (err)
		return err;

	lat_session_free(lat);
	lat->config = config;
	err = lat_session_alloc(lat, why);
	if (err)
		goto err_free;
	err = lat_qos_add(lat, why);
	if (err)
		goto err_remove_qos;
	lat_notes_static(lat);
	lat_machine_start(lat);
	atomic_set(&lat->end_cause, 0);
	lat->generation++;
	err = lat_stream_begin(lat);
	if (err) {
		lat_refuse(why, err, "no memory for the raw stream");
		goto err_remove_qos;
	}
	err = lat_session_arm(lat, why);
	if (err)
		goto err_end_stream;

	lat->ops->describe(lat);
	duration_ns = lat_value(lat, LAT_P_duration);
	if (duration_ns)
		queue_delayed_work(lat->wq, &lat->duration_work, nsecs_to_jiffies(duration_ns) + 1);
	queue_delayed_work(lat->wq, &lat->series_work, lat_series_delay());
	wake_up_interruptible(&lat->stream_wait);
	lat_event_session(lat, LAT_CMD_STARTED);
	pr_debug("session %u started\n", lat->generation);
	return 0;

err_end_stream:
	lat_stream_end(lat);
err_remove_qos:
	lat_qos_remove(lat);
err_free:
	lat_session_free(lat);
	return err;
}

int lat_start(struct lat *lat, struct lat_why *why)
{
	int err;

	mutex_lock(&lat->lock);
	err = lat_start_locked(lat, why);
	mutex_unlock(&lat->lock);
	return err;
}

int lat_stop_locked(struct lat *lat, enum lat_stop reason)
{
	if (!lat->running)
		return -EALREADY;
	lat->ops->describe(lat);
	cpus_read_lock();
	lat->ops->stop(lat);
	lat->running = false;
	cpus_read_unlock();

	lat->stop_ns = lat_now();
	lat->stop_real_ns = ktime_get_real_ns();
	lat->stop_reason = reason;
	lat->ended = true;
	/* Neither takes lat->lock. */
	cancel_delayed_work_sync(&lat->duration_work);
	cancel_delayed_work_sync(&lat->series_work);
	lat_series_finish(lat, lat->stop_ns);
	lat_stream_end(lat);
	lat_machine_stop(lat);
	lat_qos_remove(lat);
	lat_event_session(lat, LAT_CMD_STOPPED);
	pr_debug("session %u stopped: %s\n", lat->generation, lat_stop_names[reason]);
	return 0;
}

int lat_stop(struct lat *lat, enum lat_stop reason)
{
	int err;

	mutex_lock(&lat->lock);
	err = lat_stop_locked(lat, reason);
	mutex_unlock(&lat->lock);
	return err;
}

int lat_reset(struct lat *lat, struct lat_why *why)
{
	int err = 0;

	mutex_lock(&lat->lock);
	if (lat->running)
		err = lat_refuse(why, -EBUSY, "a session is running");
	else
		lat_session_free(lat);
	mutex_unlock(&lat->lock);
	return err;
}

void lat_end(struct lat *lat, enum lat_stop reason)
{
	if (!atomic_cmpxchg(&lat->end_cause, 0, reason + 1))
		irq_work_queue(&lat->end_irq_work);
}

static void lat_end_irq_work(struct irq_work *work)
{
	struct lat *lat = container_of(work, struct lat, end_irq_work);

	queue_work(lat->wq, &lat->end_work);
}

static void lat_end_work(struct work_struct *work)
{
	struct lat *lat = container_of(work, struct lat, end_work);
	int cause;

	mutex_lock(&lat->lock);
	/* A cause that a later start has cleared belongs to a session that is over. */
	cause = atomic_read(&lat->end_cause);
	if (cause)
		lat_stop_locked(lat, cause - 1);
	mutex_unlock(&lat->lock);
}

static void lat_duration_work(struct work_struct *work)
{
	lat_end(container_of(work, struct lat, duration_work.work), LAT_STOP_DURATION);
}

static void lat_series_work(struct work_struct *work)
{
	struct lat *lat = container_of(work, struct lat, series_work.work);

	lat_series_take(lat);
	queue_delayed_work(lat->wq, &lat->series_work, lat_series_delay());
}

/* A sample was over the threshold. Context: as lat_record(). */
void lat_over_threshold(struct lat_rec *rec, const struct lat_sample *sample)
{
	struct lat *lat = rec->lat;

	trace_outlier(lat->ops->points[rec->point].name, rec->cpu, sample->seq, sample->time_ns,
		      sample->latency_ns);
	lat_event_outlier_soon(lat);
	switch (lat_value(lat, LAT_P_on_threshold)) {
	case 2: /* trace_off: the trace then ends with what made the sample late */
		tracing_off();
		fallthrough;
	case 1: /* stop */
		lat_end(lat, LAT_STOP_THRESHOLD);
		break;
	}
}

/* Grids of at most this period are aligned by themselves. */
#define LAT_ALIGN_NS	(10 * NSEC_PER_MSEC)

u64 lat_grid_base(const struct lat *lat, u64 lead_ns, const s64 *offset_ns)
{
	u64 period_ns = lat->config.period_ns, base_ns = lat_now() + lead_ns, rest;

	if (!offset_ns && period_ns > LAT_ALIGN_NS)
		return base_ns;
	div64_u64_rem(base_ns, period_ns, &rest);
	return base_ns - rest + period_ns + (offset_ns ? *offset_ns : period_ns / 2);
}

int lat_set_priority(const struct lat *lat)
{
	const struct sched_attr attr = {
		.size = sizeof(attr),
		.sched_policy = SCHED_FIFO,
		.sched_priority = lat->config.priority,
	};

	return sched_setattr_nocheck(current, &attr);
}

/* Present only because a refused offline is rolled back through it. */
static int lat_cpu_online(unsigned int cpu, struct hlist_node *node)
{
	return 0;
}

/* Runs under the write side of cpus_read_lock, inside which @running flips. */
static int lat_cpu_offline(unsigned int cpu, struct hlist_node *node)
{
	struct lat *lat = hlist_entry(node, struct lat, cpuhp);

	if (!lat->running || !cpumask_test_cpu(cpu, lat->config.used))
		return 0;
	pr_info("CPU %u stays online: a session uses it; stop the session first\n", cpu);
	return -EBUSY;
}

static int lat_pm_notify(struct notifier_block *nb, unsigned long action, void *unused)
{
	struct lat *lat = container_of(nb, struct lat, pm);

	switch (action) {
	case PM_SUSPEND_PREPARE:
	case PM_HIBERNATION_PREPARE:
	case PM_RESTORE_PREPARE:
		mutex_lock(&lat->lock);
		lat->asleep = true;
		lat_stop_locked(lat, LAT_STOP_SUSPEND);
		mutex_unlock(&lat->lock);
		break;
	case PM_POST_SUSPEND:
	case PM_POST_HIBERNATION:
	case PM_POST_RESTORE:
		mutex_lock(&lat->lock);
		lat->asleep = false;
		mutex_unlock(&lat->lock);
		break;
	}
	return NOTIFY_OK;
}

/* Some architectures cannot kexec while a CPU refuses to go offline. */
static int lat_reboot_notify(struct notifier_block *nb, unsigned long action, void *unused)
{
	struct lat *lat = container_of(nb, struct lat, reboot);

	mutex_lock(&lat->lock);
	lat->asleep = true;
	lat_stop_locked(lat, LAT_STOP_REBOOT);
	mutex_unlock(&lat->lock);
	return NOTIFY_OK;
}

/* Copies of the recorders, by point, then by CPU. */
static int lat_snapshot_recs(struct lat_snapshot *snap)
{
	struct lat *lat = snap->lat;
	unsigned int point, i;

	snap->nrecs = 0;
	snap->rec = kcalloc(max(1U, snap->npoints * snap->ncpus), sizeof(*snap->rec), GFP_KERNEL);
	if (!snap->rec)
		return -ENOMEM;
	for (point = 0; point < LAT_POINTS_MAX; point++) {
		for (i = 0; i < lat->ncpus && lat->cpu[i].rec[point]; i++) {
			struct lat_rec *copy = lat_rec_copy(lat->cpu[i].rec[point]);

			if (!copy)
				return -ENOMEM;
			lat->torn += copy->torn;
			snap->rec[snap->nrecs++] = copy;
		}
	}
	return 0;
}

/* The series that goes with those copies. Context: lat->series_lock since before them. */
static int lat_snapshot_series(struct lat_snapshot *snap)
{
	struct lat *lat = snap->lat;
	unsigned int point, i, n = 0;
	int err = 0;

	snap->series = kvcalloc(max(1U, snap->nrecs), sizeof(*snap->series), GFP_KERNEL);
	if (!snap->series)
		return -ENOMEM;
	for (point = 0; point < LAT_POINTS_MAX; point++)
		for (i = 0; i < lat->ncpus && lat->cpu[i].rec[point] && !err; i++, n++)
			err = lat_series_copy(&lat->series[i * LAT_POINTS_MAX + point],
					      lat->cpu[i].rec[point], snap->rec[n],
					      snap->running, &snap->series[n]);
	return err;
}

static int lat_snapshot_recs_and_series(struct lat_snapshot *snap)
{
	int err;

	mutex_lock(&snap->lat->series_lock);
	err = lat_snapshot_recs(snap) ?: lat_snapshot_series(snap);
	mutex_unlock(&snap->lat->series_lock);
	return err;
}

static int lat_snapshot_fill(struct lat_snapshot *snap)
{
	struct lat *lat = snap->lat;
	unsigned int i, counter;
	int err = 0;

	snap->running = lat->running;
	snap->ended = lat->ended;
	snap->stop_reason = lat->stop_reason;
	snap->generation = lat->generation;
	snap->start_ns = lat->start_ns;
	snap->stop_ns = lat->stop_ns;
	snap->start_real_ns = lat->start_real_ns;
	snap->stop_real_ns = lat->stop_real_ns;
	snap->period_ns = lat->config.period_ns;
	snap->points = lat->ncpus ? lat->config.points : 0;
	snap->npoints = hweight32(snap->points);
	snap->ncpus = lat->ncpus;

	if (snap->parts & LAT_SNAP_SERIES)
		err = lat_snapshot_recs_and_series(snap);
	else if (snap->parts & LAT_SNAP_RECS)
		err = lat_snapshot_recs(snap);
	for (i = 0; i < lat->ncpus; i++)
		for (counter = 0; counter < LAT_COUNTERS; counter++)
			snap->counter[counter] += READ_ONCE(lat->cpu[i].counter[counter]);
	snap->counter[LAT_TORN] += lat->torn;
	snap->counter[LAT_DROPS] += atomic64_read(&lat->drops);
	if (!err && snap->parts & LAT_SNAP_PARAMS) {
		snap->params = kvmalloc_array(lat->ops->nparams, sizeof(*snap->params),
					      GFP_KERNEL);
		if (!snap->params)
			return -ENOMEM;
		memcpy(snap->params, lat->ops->params,
		       lat->ops->nparams * sizeof(*snap->params));
	}
	if (!err && snap->parts & LAT_SNAP_FACTS) {
		lat->ops->describe(lat);
		err = lat_list_copy(&lat->facts, &snap->facts) ?:
		      lat_list_copy(&lat->notes, &snap->notes);
		if (!err)
			lat_notes_counters(snap);
	}
	return err;
}

/**
 * lat_snapshot_take() - what a door shows, as of one moment
 * @lat: the instrument
 * @parts: LAT_SNAP_*
 *
 * Context: process.
 * Return: for lat_snapshot_free(), or ERR_PTR(-ENOMEM)
 */
struct lat_snapshot *lat_snapshot_take(struct lat *lat, unsigned int parts)
{
	struct lat_snapshot *snap = kzalloc(sizeof(*snap), GFP_KERNEL);
	int err;

	if (!snap)
		return ERR_PTR(-ENOMEM);
	snap->lat = lat;
	snap->parts = parts;
	mutex_lock(&lat->lock);
	err = lat_snapshot_fill(snap);
	mutex_unlock(&lat->lock);
	if (err) {
		lat_snapshot_free(snap);
		return ERR_PTR(err);
	}
	return snap;
}

void lat_snapshot_free(struct lat_snapshot *snap)
{
	unsigned int i;

	for (i = 0; i < snap->nrecs; i++)
		lat_rec_free(snap->rec[i]);
	lat_series_free(snap->series, snap->nrecs);
	kfree(snap->rec);
	kvfree(snap->params);
	lat_list_clear(&snap->facts);
	lat_list_clear(&snap->notes);
	kfree(snap);
}

static void lat_init(struct lat *lat, const struct lat_ops *ops, void *priv)
{
	lat->ops = ops;
	lat->priv = priv;
	mutex_init(&lat->lock);
	mutex_init(&lat->series_lock);
	lat->facts.size = sizeof(struct lat_fact);
	lat->notes.size = sizeof(struct lat_trust);
	init_irq_work(&lat->end_irq_work, lat_end_irq_work);
	INIT_WORK(&lat->end_work, lat_end_work);
	INIT_DELAYED_WORK(&lat->duration_work, lat_duration_work);
	INIT_DELAYED_WORK(&lat->series_work, lat_series_work);
	lat->pm.notifier_call = lat_pm_notify;
	lat->reboot.notifier_call = lat_reboot_notify;
}

/* Everything of a new instrument that can fail, but the doors. */
static int lat_register_parts(struct lat *lat)
{
	int err;

	err = lat_params_init(lat->ops->params, lat->ops->nparams);
	if (err)
		return err;
	err = lat_machine_init(lat);
	if (err)
		return err;
	err = -ENOMEM;
	lat->wq = alloc_workqueue("%s", WQ_UNBOUND, 0, lat->ops->name);
	if (!lat->wq)
		goto err_exit_machine;
	err = cpuhp_setup_state_multi(CPUHP_AP_ONLINE_DYN, "latkit:online", lat_cpu_online,
				      lat_cpu_offline);
	if (err < 0)
		goto err_destroy_wq;
	lat->cpuhp_state = err;
	err = cpuhp_state_add_instance_nocalls(lat->cpuhp_state, &lat->cpuhp);
	if (err)
		goto err_remove_state;
	err = register_pm_notifier(&lat->pm);
	if (err)
		goto err_remove_instance;
	err = register_reboot_notifier(&lat->reboot);
	if (err)
		goto err_unregister_pm;
	return 0;

err_unregister_pm:
	unregister_pm_notifier(&lat->pm);
err_remove_instance:
	cpuhp_state_remove_instance_nocalls(lat->cpuhp_state, &lat->cpuhp);
err_remove_state:
	cpuhp_remove_multi_state(lat->cpuhp_state);
err_destroy_wq:
	destroy_workqueue(lat->wq);
err_exit_machine:
	lat_machine_exit(lat);
	return err;
}

/* The mirror of lat_register_parts(). */
static void lat_unregister_parts(struct lat *lat)
{
	unregister_reboot_notifier(&lat->reboot);
	unregister_pm_notifier(&lat->pm);
	cpuhp_state_remove_instance_nocalls(lat->cpuhp_state, &lat->cpuhp);
	cpuhp_remove_multi_state(lat->cpuhp_state);
	irq_work_sync(&lat->end_irq_work);
	cancel_work_sync(&lat->end_work);
	destroy_workqueue(lat->wq);
	lat_session_free(lat);
	lat_machine_exit(lat);
}

struct lat *lat_register(const struct lat_ops *ops, void *priv)
{
	struct lat *lat = kzalloc(sizeof(*lat), GFP_KERNEL);
	int err;

	if (!lat)
		return ERR_PTR(-ENOMEM);
	lat_init(lat, ops, priv);
	err = lat_register_parts(lat);
	if (err) {
		kfree(lat);
		return ERR_PTR(err);
	}
	err = lat_chardev_init(lat);
	if (err)
		goto err_unregister_parts;
	err = lat_genl_init(lat);
	if (err)
		goto err_exit_chardev;
	lat_debugfs_init(lat);
	return lat;

err_exit_chardev:
	lat_chardev_exit(lat);
err_unregister_parts:
	lat_unregister_parts(lat);
	kfree(lat);
	return ERR_PTR(err);
}

void lat_close(struct lat *lat)
{
	lat_debugfs_exit(lat);
	mutex_lock(&lat->lock);
	lat->closed = true;
	lat_stop_locked(lat, LAT_STOP_REQUEST);
	mutex_unlock(&lat->lock);
	lat_genl_exit(lat);
}

void lat_free(struct lat *lat)
{
	lat_chardev_exit(lat);
	lat_unregister_parts(lat);
	kfree(lat);
}
