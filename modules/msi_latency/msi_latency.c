// SPDX-License-Identifier: GPL-2.0-only
/*
 * msi_latency measures how long a machine takes to react to a PCI device: a register write makes
 * the device send a message-signalled interrupt, and the time from before that write is taken in
 * the hard interrupt handler (irq), in its IRQ thread (thread), in a work item (work), in a user
 * thread woken from read() (user) and, where trigger and measured CPU differ, when a read-back of
 * the device has returned on the trigger's CPU (delivered): the message has then reached the host
 * bridge, so an outlier splits into a share of the bus and a share of the CPU.
 *
 * One trigger is under way per vector. A kthread follows a fixed grid; what it had to skip, because
 * the last stimulus was not done or because it was held up itself, is missed with its lateness. The
 * same thread sees to that: between the end of one stimulus and the next one it is the only one who
 * may touch the results.
 *
 * Measuring disturbs: one interrupt, and whatever of thread and work is measured, per period.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpu.h>
#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/irq.h>
#include <linux/kthread.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/sched/isolation.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "../core/arch.h"
#include "../core/lat.h"
#include "../msi/msi_dev.h"

#define LAT_DEFAULT_PERIOD "1ms"
#define LAT_PARAMS_DEF "../msi_latency/params.def"
#include "../core/params_table.h"

/* The session begins this long after start, so that the first stimulus finds everything armed. */
#define MSI_LEAD_NS	(2 * NSEC_PER_MSEC)
#define MSI_SILENT_TIMES	10
/* How long stop waits at most for the end of the last stimulus. */
#define MSI_LAST_NS	NSEC_PER_SEC
#define MSI_SKEW_ROUNDS	1000

enum msi_point {
	MSI_IRQ,
	MSI_THREAD,
	MSI_WORK,
	MSI_DELIVERED,
	MSI_USER,
	MSI_POINTS,
};

static const struct lat_point msi_points[] = {
	[MSI_IRQ] = { "irq" },
	[MSI_THREAD] = { "thread" },
	[MSI_WORK] = { "work" },
	[MSI_DELIVERED] = { "delivered" },
	[MSI_USER] = { "user" },
	{ NULL }
};

/* The points that end a stimulus asynchronously; "delivered" is taken by the trigger itself. */
static const enum msi_point msi_async_points[] = { MSI_IRQ, MSI_THREAD, MSI_WORK };

/**
 * struct msi_target - one measured CPU: its vector and the stimulus under way
 * @line: what to write to raise and to acknowledge
 * @rec: recorders, NULL where a point is not enabled
 * @cpu: measured CPU
 * @work_cpu: CPU of the work item
 * @seq: number of the stimulus, from 1; the trigger's
 * @stamp_ns: taken before the write; the trigger's, published by the write's own barrier
 * @recorded: it is not of the warm-up; the trigger's, as @stamp_ns
 * @late: the next period was due before the end; the trigger's
 * @done: number of the last stimulus that has ended at a point; that point's recorder's
 * @end_ns: when it did; as @done
 * @core: counters of this CPU
 * @irq: Linux interrupt number, 0: none requested
 * @threaded: the handler wakes the IRQ thread
 * @worked: the handler queues the work item
 * @user: the waiter's place, or NULL
 * @prioritised: result of setting the IRQ thread's priority; that thread's
 * @thread_ready: the IRQ thread has set its priority; that thread's
 * @work: the work item
 * @k: number of the period that is due next, from 0; the trigger's
 * @due_ns: when it is; the trigger's
 * @first_skip: first skipped period, as @k; the trigger's
 * @skips: periods skipped since; the trigger's
 * @free_ns: when the trigger could have served them; the trigger's
 * @warm: stimuli of the warm-up so far; the trigger's
 * @samples: stimuli recorded; the trigger's
 * @base_ns: due time of period 0 without dither
 */
struct msi_target {
	struct msi_line line;
	struct lat_rec *rec[MSI_POINTS];
	unsigned int cpu;
	unsigned int work_cpu;
	u64 seq;
	u64 stamp_ns;
	bool recorded;
	bool late;
	u64 done[MSI_POINTS];
	u64 end_ns[MSI_POINTS];
	struct lat_cpu *core;
	int irq;
	bool threaded;
	bool worked;
	struct lat_user *user;
	int prioritised;
	bool thread_ready;
	struct work_struct work;

	u64 k;
	u64 due_ns;
	u64 first_skip;
	u64 skips;
	u64 free_ns;
	u64 warm;
	u64 samples;
	u64 base_ns;
} ____cacheline_aligned;

/* What was measured about the path at start. */
struct msi_path {
	u64 rtt_hot_min_ns;
	u64 rtt_hot_max_ns;
	u64 rtt_idle_min_ns;
	u64 rtt_idle_max_ns;
	bool skew_known;
	s64 skew_low_ns;
	s64 skew_high_ns;
};

/**
 * struct msi_latency - the instrument
 * @lat: the core's
 * @dev: the device, NULL while none is bound; under lat->lock
 * @targets: one per measured CPU; from one start to the next start or unbind
 * @ntargets: how many
 * @trigger_cpu: CPU of the trigger thread
 * @trigger: that thread, while a session runs
 * @trigger_ready: it is in its loop
 * @trigger_prioritised: result of setting its priority
 * @wq: of the work items
 * @seed: of the dither
 * @path: measured at start
 * @period_ns: copied before arming, as all below
 * @block_ns: interrupts are held off this long after a trigger
 * @silent_ns: the device is silent after this
 * @dither: place each stimulus within its period
 * @delivered: read the device back
 */
struct msi_latency {
	struct lat *lat;
	struct msi_dev *dev;
	struct msi_target *targets;
	unsigned int ntargets;
	unsigned int trigger_cpu;
	struct task_struct *trigger;
	struct completion trigger_ready;
	int trigger_prioritised;
	struct workqueue_struct *wq;
	u64 seed;
	struct msi_path path;

	u64 period_ns;
	u64 block_ns;
	u64 silent_ns;
	bool dither;
	bool delivered;
};

static struct msi_latency msi;

/* Record the end of a stimulus at a point and publish it. Context: as lat_record(). */
static __always_inline void msi_end(struct msi_target *target, enum msi_point point, u64 now_ns,
				    unsigned int cpu)
{
	struct lat_rec *rec = target->rec[point];
	u64 seq = target->seq;
	u32 flags = READ_ONCE(target->late) ? LAT_SAMPLE_F_LATE : 0;

	if (unlikely(smp_processor_id() != cpu)) {
		target->core->counter[LAT_WRONG_CPU]++;
		flags |= LAT_SAMPLE_F_WRONG_CPU;
	}
	/* The interrupt ends a stimulus even where it is not measured. */
	if (likely(target->recorded && rec))
		lat_record(rec, seq, target->stamp_ns, now_ns - target->stamp_ns, flags);
	target->end_ns[point] = now_ns;
	/* Pairs with msi_is_done(): whoever sees the end may touch the results. */
	smp_store_release(&target->done[point], seq);
}

/* All of the handler but the stamp: apart, so that nothing is saved on the stack before that. */
static noinline irqreturn_t msi_irq_at(struct msi_target *target, u64 now_ns)
{
	bool spurious = target->done[MSI_IRQ] == target->seq;

	if (target->user && !spurious)
		lat_user_wake(target->user, target->seq, target->seq, target->stamp_ns,
			      target->recorded);
	if (target->line.ack.reg)
		msi_ring(&target->line.ack);
	if (target->line.rearm.reg)
		msi_ring(&target->line.rearm);
	if (unlikely(spurious)) {
		target->core->counter[LAT_SPURIOUS]++;
		return IRQ_HANDLED;
	}
	if (target->worked)
		queue_work_on(target->work_cpu, msi.wq, &target->work);
	msi_end(target, MSI_IRQ, now_ns, target->cpu);
	return target->threaded ? IRQ_WAKE_THREAD : IRQ_HANDLED;
}

static irqreturn_t msi_irq(int irq, void *context)
{
	u64 now_ns = lat_now();

	return msi_irq_at(context, now_ns);
}

static irqreturn_t msi_thread(int irq, void *context)
{
	u64 now_ns = lat_now();
	struct msi_target *target = context;

	local_irq_disable();
	msi_end(target, MSI_THREAD, now_ns, target->cpu);
	local_irq_enable();
	if (unlikely(!target->thread_ready)) {
		target->prioritised = lat_set_priority(msi.lat);
		target->thread_ready = true;
	}
	return IRQ_HANDLED;
}

static void msi_work(struct work_struct *work)
{
	u64 now_ns = lat_now();
	struct msi_target *target = container_of(work, struct msi_target, work);

	local_irq_disable();
	msi_end(target, MSI_WORK, now_ns, target->work_cpu);
	local_irq_enable();
}

/* Has the last stimulus ended at a point? */
static bool msi_is_done(struct msi_target *target, enum msi_point point)
{
	/* Pairs with msi_end(). */
	return !target->rec[point] || smp_load_acquire(&target->done[point]) == target->seq;
}

/* Has the interrupt of the last stimulus come? */
static bool msi_has_arrived(const struct msi_target *target)
{
	/* Pairs with msi_end(). */
	return smp_load_acquire(&target->done[MSI_IRQ]) == target->seq;
}

/* At every point? The interrupt ends a stimulus even where it is not measured. */
static bool msi_is_idle(struct msi_target *target)
{
	return msi_has_arrived(target) && msi_is_done(target, MSI_THREAD) &&
	       msi_is_done(target, MSI_WORK) &&
	       !(target->user && lat_user_is_behind(target->user));
}

/* A number for each period, the same whenever it is asked for. */
static u64 msi_hash(u64 seed, u64 k)
{
	u64 x = seed + k * 0x9e3779b97f4a7c15ULL;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
	return x ^ (x >> 31);
}

/* When period @k of a target is due: on the grid, or uniformly within the period. */
static u64 msi_due(const struct msi_target *target, u64 k)
{
	u64 due_ns = target->base_ns + k * msi.period_ns;

	if (msi.dither)
		due_ns += mul_u64_u64_shr(msi.period_ns, msi_hash(msi.seed + target->cpu, k), 64);
	return due_ns;
}

/* The recorder of a point, if a period can be missed there: nobody misses what nobody waits for. */
static struct lat_rec *msi_missing_rec(const struct msi_target *target, enum msi_point point)
{
	if (point == MSI_USER && target->user && !READ_ONCE(target->user->owner))
		return NULL;
	return target->rec[point];
}

/* Record the skipped periods as missed. Only while no stimulus is under way. */
static void msi_flush_skips(struct msi_target *target)
{
	u64 k = target->first_skip, end = k + target->skips;
	enum msi_point point;

	for (point = 0; point < MSI_POINTS; point++)
		if (target->rec[point] && target->end_ns[point] > target->free_ns)
			target->free_ns = target->end_ns[point];
	if (target->user)
		target->free_ns = max(target->free_ns, target->user->end_ns);
	/* What is skipped before the first recorded stimulus belongs to the warm-up. */
	for (; target->samples && k < end; k++) {
		u64 due_ns = msi_due(target, k);

		target->core->counter[LAT_OVERRUNS]++;
		local_irq_disable();
		for (point = 0; point < MSI_POINTS; point++) {
			struct lat_rec *rec = msi_missing_rec(target, point);

			if (rec)
				lat_missed(rec, k + 1, due_ns, target->free_ns, msi.period_ns, 1);
		}
		local_irq_enable();
		/* A silent device leaves millions of them. */
		cond_resched();
	}
	target->skips = 0;
	target->free_ns = 0;
}

/* Go on to the first period after @now_ns; those before it, from @k on, are skipped. */
static void msi_skip_to(struct msi_target *target, u64 k, u64 now_ns)
{
	u64 first = k;

	/* Jump near, then walk: with dither the due times are not evenly spaced. */
	if (now_ns > target->base_ns)
		k = max_t(s64, k, (s64)div64_u64(now_ns - target->base_ns, msi.period_ns) - 1);
	while (msi_due(target, k) <= now_ns)
		k++;
	if (k > first) {
		if (!target->skips)
			target->first_skip = first;
		target->skips = k - target->first_skip;
		target->free_ns = max(target->free_ns, now_ns);
	}
	target->k = k;
	target->due_ns = msi_due(target, k);
}

/* Hold interrupts off for the asked time from now; the last look at the clock is part of it. */
static void msi_block(void)
{
	u64 until_ns = lat_now() + msi.block_ns - lat_clock_read_ns(msi.lat);

	while (lat_now() < until_ns)
		;
}

/* What may follow the write before interrupts are on again. */
static noinline void msi_after_raise(struct msi_target *target)
{
	u64 now_ns;

	if (msi.delivered) {
		msi_read_safe(msi.dev);
		now_ns = lat_now();
		if (target->recorded)
			lat_record(target->rec[MSI_DELIVERED], target->seq, target->stamp_ns,
				   now_ns - target->stamp_ns, 0);
	}
	if (msi.block_ns)
		msi_block();
}

/* Send the stimulus. */
static void msi_fire(struct msi_target *target)
{
	const struct msi_doorbell raise = target->line.raise;
	bool more = msi.delivered || msi.block_ns;

	target->seq = target->k + 1;
	target->recorded = target->warm == msi.lat->config.warmup;
	target->warm += !target->recorded;
	target->samples += target->recorded;
	WRITE_ONCE(target->late, false);

	local_irq_disable();
	target->stamp_ns = lat_now();
	/* The write orders what was published before it. */
	msi_ring(&raise);
	if (unlikely(more))
		msi_after_raise(target);
	local_irq_enable();
	msi_skip_to(target, target->k + 1, lat_now());
}

/* A period is due while the last stimulus has not ended. */
static void msi_overdue(struct msi_target *target, u64 now_ns)
{
	if (!target->late) {
		WRITE_ONCE(target->late, true);
		target->core->counter[LAT_LATE]++;
	}
	msi_skip_to(target, target->k, now_ns);
	/* It is not free before the stimulus has ended. */
	target->free_ns = 0;
}

/* Deal with a target whose period is due; false: the session is over for it. */
static bool msi_serve(struct msi_target *target, u64 now_ns)
{
	if (!msi_is_idle(target)) {
		if (!msi_has_arrived(target) && now_ns - target->stamp_ns >= msi.silent_ns) {
			lat_end(msi.lat, LAT_STOP_DEVICE_SILENT);
			return false;
		}
		if (now_ns >= target->due_ns)
			msi_overdue(target, now_ns);
		return true;
	}
	if (target->skips)
		msi_flush_skips(target);
	if (msi.lat->config.count && target->samples == msi.lat->config.count)
		return false;
	if (now_ns >= target->due_ns)
		msi_fire(target);
	return true;
}

/* When the trigger has to look at a target next. */
static u64 msi_wake_ns(struct msi_target *target)
{
	u64 silent_ns;

	if (msi_has_arrived(target))
		return target->due_ns;
	silent_ns = target->stamp_ns + msi.silent_ns;
	return min(silent_ns, target->due_ns);
}

static void msi_sleep_until(u64 wake_ns)
{
	ktime_t expires = ns_to_ktime(wake_ns);

	set_current_state(TASK_INTERRUPTIBLE);
	if (!kthread_should_stop())
		schedule_hrtimeout_range(&expires, 0, HRTIMER_MODE_ABS);
	__set_current_state(TASK_RUNNING);
}

/* Wait, and do nothing else, until the session's stop. */
static void msi_trigger_park(void)
{
	for (;;) {
		set_current_state(TASK_INTERRUPTIBLE);
		if (kthread_should_stop())
			break;
		schedule();
	}
	__set_current_state(TASK_RUNNING);
}

static int msi_trigger(void *unused)
{
	unsigned int i, active = msi.ntargets;
	u64 now_ns, wake_ns;

	msi.trigger_prioritised = lat_set_priority(msi.lat);
	complete(&msi.trigger_ready);
	while (active && !kthread_should_stop()) {
		wake_ns = U64_MAX;
		for (i = 0, active = 0; i < msi.ntargets; i++) {
			struct msi_target *target = &msi.targets[i];

			now_ns = lat_now();
			if (now_ns >= msi_wake_ns(target) && !msi_serve(target, now_ns))
				continue;
			active++;
			wake_ns = min(wake_ns, msi_wake_ns(target));
		}
		if (active && wake_ns > lat_now())
			msi_sleep_until(wake_ns);
	}
	if (!active)
		lat_end(msi.lat, LAT_STOP_COUNT);
	msi_trigger_park();
	return 0;
}

/* ---- start and stop ---- */

static void msi_targets_free(void)
{
	kvfree(msi.targets);
	msi.targets = NULL;
	msi.ntargets = 0;
}

static void msi_user_end(struct msi_target *target)
{
	if (target->user)
		lat_user_end(msi.lat, target->cpu);
	target->user = NULL;
}

/* Free the vectors of the last session. */
static void msi_release(void)
{
	unsigned int i;

	for (i = 0; i < msi.ntargets; i++) {
		struct msi_target *target = &msi.targets[i];

		msi_user_end(target);
		if (!target->irq)
			continue;
		irq_set_affinity_and_hint(target->irq, NULL);
		free_irq(target->irq, target);
		target->irq = 0;
		cancel_work_sync(&target->work);
	}
	if (msi.dev)
		msi_vectors_free(msi.dev);
	msi_targets_free();
}

static int msi_targets_alloc(struct lat_why *why)
{
	struct lat *lat = msi.lat;
	unsigned int i, point;

	msi.targets = kvcalloc(lat->ncpus, sizeof(*msi.targets), GFP_KERNEL);
	if (!msi.targets)
		return lat_refuse(why, -ENOMEM, "no memory for %u CPUs", lat->ncpus);
	msi.ntargets = lat->ncpus;
	for (i = 0; i < lat->ncpus; i++) {
		struct msi_target *target = &msi.targets[i];
		const struct lat_param *work_cpu = lat_param(lat, LAT_P_work_cpu);

		target->core = &lat->cpu[i];
		target->cpu = target->core->cpu;
		for (point = 0; point < MSI_POINTS; point++)
			target->rec[point] = target->core->rec[point];
		target->threaded = target->rec[MSI_THREAD];
		target->worked = target->rec[MSI_WORK];
		target->work_cpu = target->cpu;
		if (work_cpu->set && kstrtouint(work_cpu->text, 10, &target->work_cpu))
			return lat_refuse(why, -EINVAL, "work_cpu=%s", work_cpu->text);
		INIT_WORK(&target->work, msi_work);
		if (target->rec[MSI_USER])
			target->user = lat_user_begin(lat, target->rec[MSI_USER],
						      lat->config.period_ns);
	}
	return 0;
}

/* Is the interrupt delivered where it was asked to be, and only there? */
static bool msi_affinity_effective(const struct msi_target *target)
{
	struct irq_data *data = irq_get_irq_data(target->irq);

	return data && cpumask_equal(irq_data_get_effective_affinity_mask(data),
				     cpumask_of(target->cpu));
}

static int msi_await_affinity(struct msi_target *target, struct lat_why *why)
{
	unsigned int tries;

	for (tries = 0; tries < 1000; tries++) {
		if (msi_affinity_effective(target))
			return 0;
		usleep_range(1000, 1100);
	}
	return lat_refuse(why, -EIO, "interrupt %d does not go to CPU %u alone, as asked",
			  target->irq, target->cpu);
}

static int msi_request_irq(struct msi_target *target, int irq, struct lat_why *why)
{
	int err = request_threaded_irq(irq, msi_irq, target->threaded ? msi_thread : NULL,
				       IRQF_NO_THREAD | IRQF_NOBALANCING, KBUILD_MODNAME, target);

	return err ? lat_refuse(why, err, "interrupt %d was refused (%d)", irq, err) : 0;
}

/*
 * x86 without interrupt remapping moves an interrupt that is in use only when the next one comes,
 * and here none comes before the first stimulus. One that starts up goes where it was told while it
 * was not in use, but before its first use it only seems so: request it, let it go, tell it, and
 * request it again.
 */
static int msi_request(struct msi_target *target, unsigned int vector, struct lat_why *why)
{
	int irq = pci_irq_vector(msi.dev->pdev, vector), err;

	err = msi_request_irq(target, irq, why);
	if (err)
		return err;
	free_irq(irq, target);
	err = irq_set_affinity_and_hint(irq, cpumask_of(target->cpu));
	if (err) {
		lat_refuse(why, err, "interrupt %d cannot be bound to CPU %u (%d)", irq,
			   target->cpu, err);
		goto err_clear_hint;
	}
	err = msi_request_irq(target, irq, why);
	if (err)
		goto err_clear_hint;
	target->irq = irq;
	return msi_await_affinity(target, why);

err_clear_hint:
	irq_set_affinity_and_hint(irq, NULL);
	return err;
}

/* One read of the safe register, ns. */
static u64 msi_rtt(void)
{
	unsigned long flags;
	u64 start_ns, end_ns;

	local_irq_save(flags);
	start_ns = lat_now();
	msi_read_safe(msi.dev);
	end_ns = lat_now();
	local_irq_restore(flags);
	return end_ns - start_ns;
}

static void msi_measure_rtt(struct msi_path *path)
{
	unsigned int i;

	path->rtt_hot_min_ns = U64_MAX;
	path->rtt_idle_min_ns = U64_MAX;
	msi_rtt();
	for (i = 0; i < 100; i++) {
		u64 ns = msi_rtt();

		path->rtt_hot_min_ns = min(path->rtt_hot_min_ns, ns);
		path->rtt_hot_max_ns = max(path->rtt_hot_max_ns, ns);
	}
	for (i = 0; i < 10; i++) {
		u64 ns;

		usleep_range(1000, 1100);
		ns = msi_rtt();
		path->rtt_idle_min_ns = min(path->rtt_idle_min_ns, ns);
		path->rtt_idle_max_ns = max(path->rtt_idle_max_ns, ns);
	}
}

/**
 * struct msi_skew - a ball between two CPUs
 * @ball: even: the caller's turn, odd: the partner's
 * @partner_ns: the partner's clock when it played
 * @ready: the partner plays
 * @quit: the caller has given up
 */
struct msi_skew {
	unsigned int ball;
	u64 partner_ns;
	bool ready;
	bool quit;
};

static int msi_skew_partner(void *context)
{
	struct msi_skew *skew = context;
	unsigned int round;

	preempt_disable();
	/* Pairs with msi_skew_play(). */
	smp_store_release(&skew->ready, true);
	for (round = 0; round < MSI_SKEW_ROUNDS; round++) {
		/* Pairs with the release of the caller. */
		while (smp_load_acquire(&skew->ball) != 2 * round + 1) {
			if (READ_ONCE(skew->quit))
				goto out;
			cpu_relax();
		}
		skew->partner_ns = lat_now();
		/* Pairs with msi_skew_await(). */
		smp_store_release(&skew->ball, 2 * round + 2);
	}
out:
	preempt_enable();
	while (!kthread_should_stop())
		schedule_timeout_interruptible(1);
	return 0;
}

/* Play until a time; false: the partner does not answer in time. */
static bool msi_skew_await(struct msi_skew *skew, unsigned int ball, u64 deadline_ns)
{
	/* Pairs with the release of the partner. */
	while (smp_load_acquire(&skew->ball) != ball) {
		if (lat_now() > deadline_ns)
			return false;
		cpu_relax();
	}
	return true;
}

/*
 * Bound the difference of the clocks of two CPUs: what the partner reads lies between two readings
 * of ours, whatever the way between them costs; the tightest of many rounds counts.
 */
static long msi_skew_play(void *context)
{
	struct msi_skew *skew = context;
	struct msi_path *path = &msi.path;
	u64 deadline_ns = lat_now() + 100 * NSEC_PER_MSEC;
	unsigned int round;

	path->skew_low_ns = S64_MIN;
	path->skew_high_ns = S64_MAX;
	/* Pairs with msi_skew_partner(). */
	while (!smp_load_acquire(&skew->ready)) {
		if (lat_now() > deadline_ns)
			return -ETIMEDOUT;
		usleep_range(50, 100);
	}
	for (round = 0; round < MSI_SKEW_ROUNDS; round++) {
		unsigned long flags;
		u64 before_ns, after_ns;
		bool answered;

		local_irq_save(flags);
		before_ns = lat_now();
		/* Pairs with msi_skew_partner(). */
		smp_store_release(&skew->ball, 2 * round + 1);
		answered = msi_skew_await(skew, 2 * round + 2, before_ns + NSEC_PER_MSEC);
		after_ns = lat_now();
		local_irq_restore(flags);
		if (!answered && !msi_skew_await(skew, 2 * round + 2, deadline_ns))
			return -ETIMEDOUT;
		if (!answered)
			continue;
		path->skew_low_ns = max_t(s64, path->skew_low_ns, skew->partner_ns - after_ns);
		path->skew_high_ns = min_t(s64, path->skew_high_ns, skew->partner_ns - before_ns);
		path->skew_known = true;
	}
	return 0;
}

static void msi_measure_skew(unsigned int cpu)
{
	struct msi_skew skew = { 0 };
	struct task_struct *partner;

	partner = kthread_create_on_node(msi_skew_partner, &skew, cpu_to_node(cpu),
					 "%s-skew", KBUILD_MODNAME);
	if (IS_ERR(partner))
		return;
	kthread_bind(partner, cpu);
	wake_up_process(partner);
	if (work_on_cpu(msi.trigger_cpu, msi_skew_play, &skew))
		msi.path.skew_known = false;
	WRITE_ONCE(skew.quit, true);
	kthread_stop(partner);
}

static void msi_measure_path(void)
{
	memset(&msi.path, 0, sizeof(msi.path));
	msi_measure_rtt(&msi.path);
	if (msi.trigger_cpu != msi.targets[0].cpu)
		msi_measure_skew(msi.targets[0].cpu);
}

static int msi_start_trigger(struct lat_why *why)
{
	struct task_struct *trigger;

	init_completion(&msi.trigger_ready);
	trigger = kthread_create_on_node(msi_trigger, NULL, cpu_to_node(msi.trigger_cpu),
					 "%s/%u", KBUILD_MODNAME, msi.trigger_cpu);
	if (IS_ERR(trigger))
		return lat_refuse(why, PTR_ERR(trigger), "the trigger thread was refused (%ld)",
				  PTR_ERR(trigger));
	kthread_bind(trigger, msi.trigger_cpu);
	msi.trigger = trigger;
	wake_up_process(trigger);
	wait_for_completion(&msi.trigger_ready);
	return 0;
}

/* The grid begins a little from now. */
static void msi_set_grid(void)
{
	u64 base_ns = lat_grid_base(msi.lat, MSI_LEAD_NS, NULL);
	bool at_once = lat_value(msi.lat, LAT_P_pattern);
	unsigned int i;

	for (i = 0; i < msi.ntargets; i++) {
		struct msi_target *target = &msi.targets[i];

		target->base_ns = base_ns + (at_once ? 0 : i * msi.lat->config.phase_ns);
		target->due_ns = msi_due(target, 0);
	}
}

static int msi_start(struct lat *lat, struct lat_why *why)
{
	struct msi_line *lines;
	unsigned int i;
	int err;

	msi_release();
	msi.period_ns = lat->config.period_ns;
	msi.block_ns = lat_value(lat, LAT_P_block_irq);
	msi.silent_ns = MSI_SILENT_TIMES * lat_value(lat, LAT_P_silent);
	msi.dither = lat_value(lat, LAT_P_dither);
	msi.delivered = lat->config.points & BIT(MSI_DELIVERED);
	msi.seed = lat_value(lat, LAT_P_seed) ?: get_random_u64();

	lines = kcalloc(lat->ncpus, sizeof(*lines), GFP_KERNEL);
	if (!lines)
		return lat_refuse(why, -ENOMEM, "no memory for %u CPUs", lat->ncpus);
	err = msi_targets_alloc(why);
	if (err)
		goto err_release;
	err = msi_vectors_alloc(msi.dev, lat->ncpus, lat_value(lat, LAT_P_vector), why);
	if (err)
		goto err_release;
	for (i = 0; i < msi.ntargets; i++) {
		err = msi_request(&msi.targets[i], i, why);
		if (err)
			goto err_release;
	}
	err = msi.dev->family->enable(msi.dev, lines, msi.ntargets);
	if (err) {
		lat_refuse(why, err, "the device's interrupts cannot be enabled (%d)", err);
		goto err_release;
	}
	for (i = 0; i < msi.ntargets; i++)
		msi.targets[i].line = lines[i];
	msi_measure_path();
	msi_set_grid();
	err = msi_start_trigger(why);
	if (err)
		goto err_disable;
	kfree(lines);
	return 0;

err_disable:
	msi.dev->family->disable(msi.dev);
err_release:
	msi_release();
	kfree(lines);
	return err;
}

/* A stimulus may be under way: its end belongs to the session. */
static void msi_await_end(struct msi_target *target)
{
	u64 silent_ns = lat_value(msi.lat, LAT_P_silent);
	u64 deadline_ns = lat_now() + min_t(u64, silent_ns, MSI_LAST_NS);
	unsigned int i;

	while (!msi_is_idle(target) && lat_now() < deadline_ns)
		usleep_range(50, 100);
	if (!msi_has_arrived(target))
		target->core->counter[LAT_LOST]++;
	for (i = 0; i < ARRAY_SIZE(msi_async_points); i++) {
		enum msi_point point = msi_async_points[i];

		if (msi_is_done(target, point) || !target->recorded)
			continue;
		local_irq_disable();
		lat_rec_lost(target->rec[point]);
		local_irq_enable();
	}
}

static void msi_stop(struct lat *lat)
{
	unsigned int i;

	kthread_stop(msi.trigger);
	msi.trigger = NULL;
	for (i = 0; i < msi.ntargets; i++)
		msi_await_end(&msi.targets[i]);
	msi.dev->family->disable(msi.dev);
	for (i = 0; i < msi.ntargets; i++) {
		/* For good: the results may go before the vectors do, and a message be late. */
		disable_irq(msi.targets[i].irq);
		flush_work(&msi.targets[i].work);
	}
	/* No recorder is left; what was skipped at the very end is missed as well. */
	for (i = 0; i < msi.ntargets; i++) {
		struct msi_target *target = &msi.targets[i];

		if (!msi_has_arrived(target))
			target->free_ns = lat_now();
		if (target->skips)
			msi_flush_skips(target);
		msi_user_end(target);
	}
}

/* ---- parameters ---- */

/* The default trigger: a housekeeping CPU that is neither measured nor a sibling of one. */
static int msi_housekeeping_cpu(const struct cpumask *cpus)
{
	unsigned int cpu, measured;

	for_each_online_cpu(cpu) {
		bool near = !housekeeping_test_cpu(cpu, HK_TYPE_DOMAIN);

		for_each_cpu(measured, cpus)
			near |= cpumask_test_cpu(cpu, topology_sibling_cpumask(measured));
		if (!near && !cpumask_test_cpu(cpu, cpus))
			return cpu;
	}
	return -1;
}

static int msi_check_cpu(const struct lat_param *param, unsigned int *cpu, struct lat_why *why)
{
	if (kstrtouint(param->text, 10, cpu))
		return lat_refuse(why, -EINVAL, "%s=%s: must be a CPU number", param->name,
				  param->text);
	if (*cpu >= nr_cpu_ids || !cpu_online(*cpu))
		return lat_refuse(why, -EINVAL, "%s=%s: CPU %u is %s", param->name, param->text,
				  *cpu, *cpu < nr_cpu_ids && cpu_possible(*cpu) ? "offline" :
				  "not there");
	return 0;
}

static int msi_check_trigger(struct lat *lat, struct lat_config *config, struct lat_why *why)
{
	const struct lat_param *param = lat_param(lat, LAT_P_trigger_cpu);
	unsigned int measured = cpumask_first(config->cpus);
	int cpu;

	if (param->set && strcmp(param->text, "self"))
		return msi_check_cpu(param, &msi.trigger_cpu, why);
	if (param->set && cpumask_weight(config->cpus) > 1)
		return lat_refuse(why, -EINVAL, "trigger_cpu=self: takes one measured CPU, not %u",
				  cpumask_weight(config->cpus));
	cpu = param->set ? -1 : msi_housekeeping_cpu(config->cpus);
	msi.trigger_cpu = cpu < 0 ? measured : cpu;
	return 0;
}

/* By default ``user`` is measured where somebody already waits for it, on every measured CPU. */
static bool msi_has_waiters(const struct lat *lat, const struct cpumask *cpus)
{
	unsigned int cpu;

	for_each_cpu(cpu, cpus)
		if (!READ_ONCE(lat->user[cpu].owner))
			return false;
	return true;
}

static int msi_check_points(struct lat *lat, struct lat_config *config, bool points_auto,
			    struct lat_why *why)
{
	if (points_auto && !msi_has_waiters(lat, config->cpus))
		config->points &= ~BIT(MSI_USER);
	if (!cpumask_test_cpu(msi.trigger_cpu, config->cpus) ||
	    !(config->points & BIT(MSI_DELIVERED)))
		return 0;
	if (!points_auto)
		return lat_refuse(why, -EINVAL,
				  "points: \"delivered\" needs a trigger_cpu that is not measured");
	config->points &= ~BIT(MSI_DELIVERED);
	return 0;
}

static int msi_check(struct lat *lat, struct lat_config *config, bool points_auto,
		     struct lat_why *why)
{
	const struct lat_param *work_cpu = lat_param(lat, LAT_P_work_cpu);
	unsigned int cpu, ncpus = cpumask_weight(config->cpus);
	int err;

	if (!msi.dev)
		return lat_refuse(why, -ENODEV,
				  "no device is bound; load with device=0000:00:04.0, or set device and bind it");
	if (!msi_is_wanted(msi.dev))
		return lat_refuse(why, -ENODEV, "device=%s: is not bound to this module, %s is",
				  lat_param(lat, LAT_P_device)->text, pci_name(msi.dev->pdev));
	err = msi_vectors_check(msi.dev, ncpus, lat_value(lat, LAT_P_vector), why);
	if (err)
		return err;
	err = msi_check_trigger(lat, config, why);
	if (err)
		return err;
	cpumask_set_cpu(msi.trigger_cpu, config->used);
	if (work_cpu->set) {
		err = msi_check_cpu(work_cpu, &cpu, why);
		if (err)
			return err;
		cpumask_set_cpu(cpu, config->used);
	}
	if (lat_value(lat, LAT_P_block_irq) &&
	    (ncpus > 1 || msi.trigger_cpu != cpumask_first(config->cpus)))
		return lat_refuse(why, -EINVAL,
				  "block_irq=%s: trigger and measured CPU must be the same (trigger_cpu=self)",
				  lat_param(lat, LAT_P_block_irq)->text);
	return msi_check_points(lat, config, points_auto, why);
}

/* ---- facts ---- */

static void msi_describe_device(struct lat *lat)
{
	const struct msi_dev *dev = msi.dev;

	lat_fact(lat, "device", "%s", pci_name(dev->pdev));
	lat_fact(lat, "device_id", "%04x:%04x", dev->pdev->vendor, dev->pdev->device);
	lat_fact(lat, "family", "%s", dev->family->name);
	if (dev->family->emulated(dev->pdev))
		lat_note(lat, "emulated-device", LAT_SEVERITY_INFO, -1,
			 "%s is an emulation: its times are the emulator's", pci_name(dev->pdev));
}

/* "irq" where there is one measured CPU, else "irq_cpu3" */
static void msi_fact_of(struct lat *lat, const char *key, unsigned int cpu, const char *value)
{
	char name[32];

	if (msi.ntargets > 1)
		snprintf(name, sizeof(name), "%s_cpu%u", key, cpu);
	else
		snprintf(name, sizeof(name), "%s", key);
	lat_fact(lat, name, "%s", value);
}

static void msi_describe_target(struct lat *lat, const struct msi_target *target)
{
	struct irq_data *data = irq_get_irq_data(target->irq);
	char text[64];

	snprintf(text, sizeof(text), "%d", target->irq);
	msi_fact_of(lat, "irq", target->cpu, text);
	msi_fact_of(lat, "relation", target->cpu, lat_arch_relation(msi.trigger_cpu, target->cpu));
	if (!data)
		return;
	snprintf(text, sizeof(text), "%*pbl",
		 cpumask_pr_args(irq_data_get_effective_affinity_mask(data)));
	msi_fact_of(lat, "irq_affinity", target->cpu, text);
	msi_fact_of(lat, "irq_chip", target->cpu, irq_data_get_irq_chip(data)->name);
}

static void msi_describe_path(struct lat *lat)
{
	const struct msi_path *path = &msi.path;

	lat_fact(lat, "rtt_hot_ns", "%llu..%llu", path->rtt_hot_min_ns, path->rtt_hot_max_ns);
	lat_fact(lat, "rtt_after_idle_ns", "%llu..%llu", path->rtt_idle_min_ns,
		 path->rtt_idle_max_ns);
	if (path->skew_known)
		lat_fact(lat, "clock_skew_ns", "%lld..%lld", path->skew_low_ns,
			 path->skew_high_ns);
}

static void msi_describe_priority(struct lat *lat)
{
	unsigned int i;

	if (msi.trigger_prioritised)
		lat_note(lat, "priority", LAT_SEVERITY_WARN, msi.trigger_cpu,
			 "the trigger thread did not get priority %d (%d)", lat->config.priority,
			 msi.trigger_prioritised);
	for (i = 0; i < msi.ntargets; i++)
		if (msi.targets[i].prioritised)
			lat_note(lat, "priority", LAT_SEVERITY_WARN, msi.targets[i].cpu,
				 "the interrupt thread did not get priority %d (%d)",
				 lat->config.priority, msi.targets[i].prioritised);
}

static void msi_describe(struct lat *lat)
{
	unsigned int i;

	if (msi.dev) {
		msi_describe_device(lat);
		msi_describe_route(lat, msi.dev);
	}
	if (!msi.targets)
		return;
	lat_fact(lat, "vector", "%s", msi.dev->msix ? "msix" : "msi");
	lat_fact(lat, "trigger_cpu", "%u", msi.trigger_cpu);
	lat_fact(lat, "dither", "%u", msi.dither);
	if (msi.dither)
		lat_fact(lat, "seed", "%llu", msi.seed);
	for (i = 0; i < msi.ntargets; i++)
		msi_describe_target(lat, &msi.targets[i]);
	msi_describe_path(lat);
	msi_describe_priority(lat);
}

/* ECI's live text, over all measured CPUs. */
static void msi_current_value(struct seq_file *m, const struct lat_rec *const *recs, unsigned int n)
{
	s64 min_ns = S64_MAX, max_ns = S64_MIN;
	struct lat_u128 sum = { 0 };
	unsigned int i, bucket;
	u64 count = 0;

	for (i = 0; i < n; i++) {
		if (recs[i]->point != MSI_IRQ)
			continue;
		for (bucket = 0; bucket < LAT_BUCKETS; bucket++)
			count += recs[i]->values[bucket];
		count += recs[i]->negative;
		sum = lat_u128_add(sum, recs[i]->sum);
		min_ns = min(min_ns, recs[i]->min_ns);
		max_ns = max(max_ns, recs[i]->max_ns);
	}
	seq_puts(m, "************ RESULTS (ns) ************\n");
	if (!count)
		return;
	seq_printf(m, "* Max: %lld\n* Avg: %lld\n* Min: %lld\n", max_ns, lat_mean(sum, count),
		   min_ns);
}

static const struct lat_ops msi_ops = {
	.name = KBUILD_MODNAME,
	.points = msi_points,
	.params = lat_params,
	.nparams = LAT_P_COUNT,
	.check = msi_check,
	.start = msi_start,
	.stop = msi_stop,
	.describe = msi_describe,
	.current_value = msi_current_value,
};

/* ---- binding, load and unload ---- */

static void msi_bound(struct msi_dev *dev)
{
	msi.dev = dev;
}

static void msi_unbound(struct msi_dev *dev)
{
	msi_release();
	msi.dev = NULL;
}

static struct msi_binding msi_my_binding = {
	.row = LAT_P_device,
	.bound = msi_bound,
	.unbound = msi_unbound,
};

/* A device named at load means: measure. */
static bool msi_runs_at_load(void)
{
	return lat_params[LAT_P_device].text[0] || lat_params[LAT_P_run].number;
}

static int __init msi_latency_init(void)
{
	struct lat_why why;
	int err;

	msi.wq = alloc_workqueue("%s-work", WQ_HIGHPRI, 0, KBUILD_MODNAME);
	if (!msi.wq)
		return -ENOMEM;
	msi.lat = lat_register(&msi_ops, NULL);
	if (IS_ERR(msi.lat)) {
		err = PTR_ERR(msi.lat);
		goto err_destroy_wq;
	}
	msi_my_binding.lat = msi.lat;
	err = msi_bind_init(&msi_my_binding, &why);
	if (err)
		goto err_close;
	if (msi_runs_at_load())
		err = lat_start(msi.lat, &why);
	if (err)
		goto err_unbind;
	pr_info("%s, %s\n", LATKIT_VERSION, msi_runs_at_load() ? "measuring" : "idle");
	return 0;

err_unbind:
	lat_close(msi.lat);
	msi_bind_exit();
	goto err_free;
err_close:
	lat_close(msi.lat);
err_free:
	pr_err("%s\n", why.text);
	lat_free(msi.lat);
err_destroy_wq:
	destroy_workqueue(msi.wq);
	return err;
}

static void __exit msi_latency_exit(void)
{
	lat_close(msi.lat);
	msi_bind_exit();
	lat_free(msi.lat);
	destroy_workqueue(msi.wq);
}

module_init(msi_latency_init);
module_exit(msi_latency_exit);

MODULE_DESCRIPTION("Latency of message-signalled interrupts of a PCI device");
MODULE_VERSION(LATKIT_VERSION);
MODULE_LICENSE("GPL");
