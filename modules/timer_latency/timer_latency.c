// SPDX-License-Identifier: GPL-2.0-only
/*
 * timer_latency measures how long a machine takes to react to a timer: a pinned hard hrtimer on
 * each measured CPU expires on a fixed grid, and the time since the expiry was due is taken in its
 * handler (irq), in a SCHED_FIFO kthread that the handler wakes (thread) and in a user thread that
 * it wakes from read() (user). One stimulus and three points show where the time goes.
 *
 * An expiry that was skipped because the handler ran late is missed at every point; an expiry that
 * came while a thread was still late for an earlier one is missed at that thread's point. What a
 * late thread records belongs to the oldest expiry it had not served.
 *
 * Measuring disturbs: one timer interrupt, and whatever of thread and user is measured, per period.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/smp.h>

#include "../core/lat.h"

#define LAT_DEFAULT_PERIOD "1ms"
#define LAT_PARAMS_DEF "../timer_latency/params.def"
#include "../core/params_table.h"

/* The grid begins this long after start, so that the first expiry finds everything armed. */
#define TIMER_LEAD_NS	(2 * NSEC_PER_MSEC)
/* How long stop waits for a thread that is still to serve the last expiry. */
#define TIMER_LAST_NS	(100 * NSEC_PER_MSEC)

enum timer_point {
	TIMER_IRQ,
	TIMER_THREAD,
	TIMER_USER,
};

static const struct lat_point timer_points[] = {
	[TIMER_IRQ] = { "irq" },
	[TIMER_THREAD] = { "thread" },
	[TIMER_USER] = { "user" },
	{ NULL }
};

/**
 * struct timer_cpu - one measured CPU
 * @timer: expires on the grid
 * @due_ns: next expiry; the handler's
 * @k: its number, from 0; the handler's
 * @period_ns: of this CPU's grid
 * @warmup: expiries before this number are not recorded
 * @irq: recorder of the handler, or NULL
 * @thread: recorder of the thread, or NULL
 * @task: that thread
 * @user: the waiter's place, or NULL
 * @limit: samples after which the timer stops, 0: none
 * @samples: where those are counted: by the first enabled point's recorder
 * @irq_samples: samples of the handler; the handler's
 * @thread_samples: samples of the thread; the thread's
 * @served: expiries the thread has dealt with; the thread's
 * @base_ns: expiry 0
 * @core: counters of this CPU
 * @cpu: its number
 * @prioritised: result of setting the thread's priority; the thread's
 * @ready: the thread is in its loop
 *
 * @k and @due_ns are also read by the thread, which runs on the same CPU: it sees them whole.
 */
struct timer_cpu {
	struct hrtimer timer;
	u64 due_ns;
	u64 k;
	u64 period_ns;
	u64 warmup;
	struct lat_rec *irq;
	struct lat_rec *thread;
	struct task_struct *task;
	struct lat_user *user;
	u64 limit;
	u64 *samples;
	u64 irq_samples;

	u64 thread_samples ____cacheline_aligned;
	u64 served;
	u64 base_ns;
	struct lat_cpu *core;
	unsigned int cpu;
	int prioritised;
	struct completion ready;
};

/**
 * struct timer_latency - the instrument
 * @lat: the core's
 * @cpus: one per measured CPU; from one start to the next
 * @ncpus: how many
 * @active: timers that have not reached their limit
 */
static struct timer_latency {
	struct lat *lat;
	struct timer_cpu *cpus;
	unsigned int ncpus;
	atomic_t active;
} timer_latency;

/*
 * The @n expiries behind the one numbered @k, due at @due_ns, were skipped: their handler would
 * have come at @now_ns at the earliest.
 */
static noinline void timer_skip(struct timer_cpu *cpu, u64 k, u64 due_ns, u64 now_ns, u64 n)
{
	u64 first = max(k + 1, cpu->warmup);

	if (first > k + n)
		return;
	cpu->core->counter[LAT_OVERRUNS] += k + n - first + 1;
	if (cpu->irq)
		lat_missed(cpu->irq, first + 1, due_ns + (first - k) * cpu->period_ns, now_ns,
			   cpu->period_ns, k + n - first + 1);
}

static enum hrtimer_restart timer_expire(struct hrtimer *timer)
{
	u64 now_ns = lat_now();
	struct timer_cpu *cpu = container_of(timer, struct timer_cpu, timer);
	u64 due_ns = cpu->due_ns, k = cpu->k, n = 1;

	if (unlikely(cpu->limit && READ_ONCE(*cpu->samples) >= cpu->limit)) {
		if (atomic_dec_and_test(&timer_latency.active))
			lat_end(timer_latency.lat, LAT_STOP_COUNT);
		return HRTIMER_NORESTART;
	}
	if (unlikely(now_ns - due_ns >= cpu->period_ns))
		n += div64_u64(now_ns - due_ns, cpu->period_ns);
	cpu->due_ns = due_ns + n * cpu->period_ns;
	WRITE_ONCE(cpu->k, k + n);
	if (cpu->thread)
		wake_up_process(cpu->task);
	if (cpu->user)
		lat_user_wake(cpu->user, k + 1, k + n, due_ns, k >= cpu->warmup);
	if (cpu->irq && likely(k >= cpu->warmup)) {
		cpu->irq_samples++;
		lat_record(cpu->irq, k + 1, due_ns, now_ns - due_ns, 0);
	}
	/* In the order of the expiries: the last one of all is told by LAT_A_LAST_NS. */
	if (unlikely(n > 1))
		timer_skip(cpu, k, due_ns, now_ns, n - 1);
	hrtimer_set_expires(timer, ns_to_ktime(cpu->due_ns));
	return HRTIMER_RESTART;
}

/* Serve the oldest expiry that was not served; those behind it, up to @expired, were missed. */
static void timer_serve(struct timer_cpu *cpu, u64 expired, u64 now_ns)
{
	u64 k = cpu->served, first = max(k + 1, cpu->warmup);

	local_irq_disable();
	if (k >= cpu->warmup) {
		WRITE_ONCE(cpu->thread_samples, cpu->thread_samples + 1);
		lat_record(cpu->thread, k + 1, cpu->base_ns + k * cpu->period_ns,
			   now_ns - (cpu->base_ns + k * cpu->period_ns),
			   expired > k + 1 ? LAT_SAMPLE_F_LATE : 0);
	}
	if (unlikely(first < expired))
		lat_missed(cpu->thread, first + 1, cpu->base_ns + first * cpu->period_ns, now_ns,
			   cpu->period_ns, expired - first);
	local_irq_enable();
	WRITE_ONCE(cpu->served, expired);
}

static int timer_thread(void *context)
{
	struct timer_cpu *cpu = context;
	u64 expired, now_ns;

	cpu->prioritised = lat_set_priority(timer_latency.lat);
	complete(&cpu->ready);
	for (;;) {
		set_current_state(TASK_INTERRUPTIBLE);
		expired = READ_ONCE(cpu->k);
		if (expired == cpu->served) {
			/* What has expired is served before the thread goes. */
			if (kthread_should_stop())
				break;
			schedule();
			/* The expiry first, so that one that comes now is not charged yet. */
			expired = READ_ONCE(cpu->k);
		}
		now_ns = lat_now();
		__set_current_state(TASK_RUNNING);
		if (expired != cpu->served)
			timer_serve(cpu, expired, now_ns);
	}
	__set_current_state(TASK_RUNNING);
	return 0;
}

/* ---- start and stop ---- */

static int timer_thread_start(struct timer_cpu *cpu, struct lat_why *why)
{
	struct task_struct *task;

	init_completion(&cpu->ready);
	task = kthread_create_on_node(timer_thread, cpu, cpu_to_node(cpu->cpu), "%s/%u",
				      KBUILD_MODNAME, cpu->cpu);
	if (IS_ERR(task))
		return lat_refuse(why, PTR_ERR(task), "the thread of CPU %u was refused (%ld)",
				  cpu->cpu, PTR_ERR(task));
	kthread_bind(task, cpu->cpu);
	cpu->task = task;
	wake_up_process(task);
	wait_for_completion(&cpu->ready);
	return 0;
}

/* Runs on the CPU: a pinned timer expires where it was started. */
static void timer_arm(void *context)
{
	struct timer_cpu *cpu = context;

	hrtimer_start(&cpu->timer, ns_to_ktime(cpu->due_ns), HRTIMER_MODE_ABS_PINNED_HARD);
}

static void timer_free(void)
{
	kvfree(timer_latency.cpus);
	timer_latency.cpus = NULL;
	timer_latency.ncpus = 0;
}

static void timer_threads_stop(void)
{
	unsigned int i;

	for (i = 0; i < timer_latency.ncpus; i++) {
		if (timer_latency.cpus[i].task)
			kthread_stop(timer_latency.cpus[i].task);
		timer_latency.cpus[i].task = NULL;
	}
}

/* Which point's samples reach the limit. */
static u64 *timer_counted(struct timer_cpu *cpu)
{
	if (cpu->irq)
		return &cpu->irq_samples;
	return cpu->thread ? &cpu->thread_samples : &cpu->user->samples;
}

static void timer_cpu_init(struct timer_cpu *cpu, struct lat_cpu *core, unsigned int i)
{
	const struct lat_config *config = &timer_latency.lat->config;

	hrtimer_setup(&cpu->timer, timer_expire, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_PINNED_HARD);
	cpu->core = core;
	cpu->cpu = core->cpu;
	cpu->period_ns = config->period_ns + i * lat_value(timer_latency.lat, LAT_P_distance);
	cpu->warmup = config->warmup;
	cpu->limit = config->count;
	cpu->irq = core->rec[TIMER_IRQ];
	cpu->thread = core->rec[TIMER_THREAD];
	if (core->rec[TIMER_USER])
		cpu->user = lat_user_begin(timer_latency.lat, core->rec[TIMER_USER],
					   cpu->period_ns);
	cpu->samples = timer_counted(cpu);
}

static void timer_set_grid(struct lat *lat)
{
	const struct lat_param *offset = lat_param(lat, LAT_P_offset);
	u64 base_ns = lat_grid_base(lat, TIMER_LEAD_NS, offset->set ? &offset->number : NULL);
	unsigned int i;

	for (i = 0; i < timer_latency.ncpus; i++) {
		struct timer_cpu *cpu = &timer_latency.cpus[i];

		cpu->base_ns = base_ns + i * lat->config.phase_ns;
		cpu->due_ns = cpu->base_ns;
	}
}

static int timer_start(struct lat *lat, struct lat_why *why)
{
	unsigned int i;
	int err = 0;

	timer_free();
	timer_latency.cpus = kvcalloc(lat->ncpus, sizeof(*timer_latency.cpus), GFP_KERNEL);
	if (!timer_latency.cpus)
		return lat_refuse(why, -ENOMEM, "no memory for %u CPUs", lat->ncpus);
	timer_latency.ncpus = lat->ncpus;
	atomic_set(&timer_latency.active, lat->ncpus);
	for (i = 0; i < lat->ncpus; i++)
		timer_cpu_init(&timer_latency.cpus[i], &lat->cpu[i], i);
	for (i = 0; i < lat->ncpus && !err; i++)
		if (timer_latency.cpus[i].thread)
			err = timer_thread_start(&timer_latency.cpus[i], why);
	if (err)
		goto err_stop_threads;
	timer_set_grid(lat);
	for (i = 0; i < lat->ncpus; i++)
		smp_call_function_single(timer_latency.cpus[i].cpu, timer_arm,
					 &timer_latency.cpus[i], true);
	return 0;

err_stop_threads:
	timer_threads_stop();
	for (i = 0; i < lat->ncpus; i++)
		if (timer_latency.cpus[i].user)
			lat_user_end(lat, timer_latency.cpus[i].cpu);
	timer_free();
	return err;
}

/* A user thread may be about to stamp the last expiry. */
static void timer_await_user(const struct timer_cpu *cpu)
{
	u64 deadline_ns = lat_now() + TIMER_LAST_NS;

	while (lat_user_is_behind(cpu->user) && lat_now() < deadline_ns)
		usleep_range(50, 100);
}

static void timer_stop(struct lat *lat)
{
	unsigned int i;

	for (i = 0; i < timer_latency.ncpus; i++)
		hrtimer_cancel(&timer_latency.cpus[i].timer);
	timer_threads_stop();
	for (i = 0; i < timer_latency.ncpus; i++) {
		struct timer_cpu *cpu = &timer_latency.cpus[i];

		if (!cpu->user)
			continue;
		timer_await_user(cpu);
		lat_user_end(lat, cpu->cpu);
	}
}

/* ---- parameters and facts ---- */

static int timer_check(struct lat *lat, struct lat_config *config, bool points_auto,
		       struct lat_why *why)
{
	const struct lat_param *offset = lat_param(lat, LAT_P_offset);

	if (points_auto)
		config->points = BIT(TIMER_IRQ) | BIT(TIMER_THREAD);
	if (offset->set && (u64)offset->number >= config->period_ns)
		return lat_refuse(why, -EINVAL, "offset=%s: must be less than the period (%s)",
				  offset->text, lat_param(lat, LAT_P_period)->text);
	return 0;
}

static void timer_describe(struct lat *lat)
{
	unsigned int i;
	u32 phase_ns;

	for (i = 0; i < timer_latency.ncpus; i++) {
		const struct timer_cpu *cpu = &timer_latency.cpus[i];
		char key[32];

		div_u64_rem(cpu->base_ns, TICK_NSEC, &phase_ns);
		snprintf(key, sizeof(key), "tick_phase_ns_cpu%u", cpu->cpu);
		lat_fact(lat, key, "%u", phase_ns);
		if (cpu->prioritised)
			lat_note(lat, "priority", LAT_SEVERITY_WARN, cpu->cpu,
				 "the thread did not get priority %d (%d)", lat->config.priority,
				 cpu->prioritised);
	}
	if (timer_latency.ncpus)
		lat_fact(lat, "tick_ns", "%lu", TICK_NSEC);
}

static const struct lat_ops timer_ops = {
	.name = KBUILD_MODNAME,
	.points = timer_points,
	.params = lat_params,
	.nparams = LAT_P_COUNT,
	.check = timer_check,
	.start = timer_start,
	.stop = timer_stop,
	.describe = timer_describe,
};

static int __init timer_latency_init(void)
{
	struct lat_why why;
	int err;

	timer_latency.lat = lat_register(&timer_ops, NULL);
	if (IS_ERR(timer_latency.lat))
		return PTR_ERR(timer_latency.lat);
	if (lat_params[LAT_P_run].number) {
		err = lat_start(timer_latency.lat, &why);
		if (err)
			goto err_close;
	}
	pr_info("%s, %s\n", LATKIT_VERSION,
		lat_params[LAT_P_run].number ? "measuring" : "idle");
	return 0;

err_close:
	pr_err("%s\n", why.text);
	lat_close(timer_latency.lat);
	lat_free(timer_latency.lat);
	return err;
}

static void __exit timer_latency_exit(void)
{
	lat_close(timer_latency.lat);
	lat_free(timer_latency.lat);
	timer_free();
}

module_init(timer_latency_init);
module_exit(timer_latency_exit);

MODULE_DESCRIPTION("Latency of timers, in the interrupt, a kernel thread and a user thread");
MODULE_VERSION(LATKIT_VERSION);
MODULE_LICENSE("GPL");
