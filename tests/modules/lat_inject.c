// SPDX-License-Identifier: GPL-2.0-only
/*
 * lat_inject disturbs a CPU for a known time at a known moment, and writes down when it began and
 * ended: the ground truth that the instruments are held against. Per period of a grid on
 * CLOCK_MONOTONIC (the moments k * period_ns + phase_ns) it makes one hold of at least hold_ns:
 *
 *	irqs	interrupts are off, in a thread of the highest priority
 *	smi	the machine is in system management mode, over and over, interrupts off in between:
 *		writes to port 0xb2 of a PC whose firmware has a handler for them
 *	preempt	preemption is off, in a thread of the highest priority; interrupts come
 *	fifo	a thread of the highest priority does not let go; interrupts come
 *	irq	an interrupt: a hard timer's handler does not return
 *	ipi	interprocessor interrupts come one after the other, sent from from_cpu
 *
 * A thread begins a few microseconds after the moment of the grid: it has to be woken first.
 *
 * A moment that is past when the last hold ends is left out. debugfs lat_inject/holds lists the
 * holds, lat_inject/active says whether any is to come. Loading starts, unloading stops.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpu.h>
#include <linux/debugfs.h>
#include <linux/hrtimer.h>
#include <linux/io.h>
#include <linux/kthread.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/timekeeping.h>
#include <uapi/linux/sched/types.h>

#define INJECT_HOLDS_MAX	1000000
#define INJECT_HOLD_MAX_NS	(100 * NSEC_PER_MSEC)
#define INJECT_APART_NS		(10 * NSEC_PER_USEC)	/* at least, between two holds */
#define INJECT_SMI_PORT		0xb2

static char *kind = "irqs";
module_param(kind, charp, 0444);
MODULE_PARM_DESC(kind, "what is done: irqs, smi, preempt, fifo, irq or ipi [irqs]");

static ulong hold_ns = 50000;
module_param(hold_ns, ulong, 0444);
MODULE_PARM_DESC(hold_ns, "for how long, ns, at most 100 ms [50000]");

static ulong period_ns = 10000000;
module_param(period_ns, ulong, 0444);
MODULE_PARM_DESC(period_ns, "period of the grid, ns [10000000]");

static ulong phase_ns;
module_param(phase_ns, ulong, 0444);
MODULE_PARM_DESC(phase_ns, "shift of the grid, less than its period, ns [0]");

static uint count = 100;
module_param(count, uint, 0444);
MODULE_PARM_DESC(count, "how many holds [100]");

static uint cpu;
module_param(cpu, uint, 0444);
MODULE_PARM_DESC(cpu, "CPU that is disturbed [0]");

static uint from_cpu;
module_param(from_cpu, uint, 0444);
MODULE_PARM_DESC(from_cpu, "CPU that sends, kind=ipi [0]");

/**
 * struct inject_kind - a way to disturb
 * @name: of the parameter kind
 * @irqs_off: with interrupts off
 * @preempt_off: with preemption off
 * @by_timer: in the handler of a hard timer, else in a thread
 * @hold: disturb until a time. Context: as the above say, on the CPU (ipi: on from_cpu).
 */
struct inject_kind {
	const char *name;
	bool irqs_off;
	bool preempt_off;
	bool by_timer;
	void (*hold)(u64 until_ns);
};

/* One hold: when it was known to be on first and last. */
struct inject_hold {
	u64 off_ns;
	u64 on_ns;
};

/**
 * struct inject - the injector
 * @kind: what it does
 * @holds: count of them; the first @done are valid
 * @done: written by whoever holds, after the hold; read by anybody
 * @next_ns: when the next hold is due; whoever holds
 * @timer: does it, unless @thread does
 * @thread: does it, or starts @timer; bound to the CPU
 * @dir: debugfs directory
 */
static struct inject {
	const struct inject_kind *kind;
	struct inject_hold *holds;
	unsigned int done;
	u64 next_ns;
	struct hrtimer timer;
	struct task_struct *thread;
	struct dentry *dir;
} inject;

static void inject_spin(u64 until_ns)
{
	while (ktime_get_ns() < until_ns)
		;
}

#ifdef CONFIG_X86
static void inject_smi(u64 until_ns)
{
	do {
		/* No command that any firmware knows; it only has to come back. */
		outb(0, INJECT_SMI_PORT);
	} while (ktime_get_ns() < until_ns);
}
#endif

static void inject_nothing(void *unused)
{
}

static void inject_ipi(u64 until_ns)
{
	do {
		smp_call_function_single(cpu, inject_nothing, NULL, true);
	} while (ktime_get_ns() < until_ns);
}

static const struct inject_kind inject_kinds[] = {
	{ "irqs", .irqs_off = true, .hold = inject_spin },
#ifdef CONFIG_X86
	{ "smi", .irqs_off = true, .hold = inject_smi },
#endif
	{ "preempt", .preempt_off = true, .hold = inject_spin },
	{ "fifo", .hold = inject_spin },
	{ "irq", .by_timer = true, .hold = inject_spin },
	{ "ipi", .hold = inject_ipi },
};

/* The first moment of the grid after a time. */
static u64 inject_grid_after(u64 ns)
{
	u64 rest;

	div64_u64_rem(ns + period_ns - phase_ns, period_ns, &rest);
	return ns + period_ns - rest;
}

/* One hold with its stamps. All else is done before the last of them, so as not to add to it. */
static void inject_hold(void)
{
	struct inject_hold *hold = &inject.holds[inject.done];
	const struct inject_kind *how = inject.kind;

	if (how->irqs_off)
		local_irq_disable();
	if (how->preempt_off)
		preempt_disable();
	hold->off_ns = ktime_get_ns();
	inject.next_ns = inject_grid_after(hold->off_ns + hold_ns + INJECT_APART_NS);
	how->hold(hold->off_ns + hold_ns);
	hold->on_ns = ktime_get_ns();
	if (how->preempt_off)
		preempt_enable();
	if (how->irqs_off)
		local_irq_enable();
	/* Pairs with the readers: the hold is complete. */
	smp_store_release(&inject.done, inject.done + 1);
}

static enum hrtimer_restart inject_timer(struct hrtimer *timer)
{
	inject_hold();
	if (inject.done == count)
		return HRTIMER_NORESTART;
	hrtimer_set_expires(timer, ns_to_ktime(inject.next_ns));
	return HRTIMER_RESTART;
}

static void inject_sleep_until(u64 wake_ns)
{
	ktime_t expires = ns_to_ktime(wake_ns);

	set_current_state(TASK_INTERRUPTIBLE);
	if (!kthread_should_stop())
		schedule_hrtimeout_range(&expires, 0, HRTIMER_MODE_ABS);
	__set_current_state(TASK_RUNNING);
}

/* Hold whenever it is due. A thread that is told to stop has slept too short. */
static void inject_run(void)
{
	while (inject.done < count) {
		inject_sleep_until(inject.next_ns);
		if (kthread_should_stop())
			return;
		inject_hold();
	}
}

static int inject_thread(void *unused)
{
	const struct sched_attr attr = {
		.size = sizeof(attr),
		.sched_policy = SCHED_FIFO,
		.sched_priority = 99,
	};
	int err = sched_setattr_nocheck(current, &attr);

	if (err)
		pr_err("the thread did not get priority 99 (%d)\n", err);
	inject.next_ns = inject_grid_after(ktime_get_ns());
	if (inject.kind->by_timer)
		hrtimer_start(&inject.timer, ns_to_ktime(inject.next_ns),
			      HRTIMER_MODE_ABS_PINNED_HARD);
	else
		inject_run();
	for (;;) {
		set_current_state(TASK_INTERRUPTIBLE);
		if (kthread_should_stop())
			break;
		schedule();
	}
	__set_current_state(TASK_RUNNING);
	return 0;
}

/* ---- what it has done ---- */

static int inject_holds_show(struct seq_file *m, void *unused)
{
	/* Pairs with inject_hold(). */
	unsigned int i, n = smp_load_acquire(&inject.done);

	seq_puts(m, "# seq off_ns on_ns\n");
	for (i = 0; i < n; i++)
		seq_printf(m, "%u %llu %llu\n", i + 1, inject.holds[i].off_ns,
			   inject.holds[i].on_ns);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(inject_holds);

static int inject_active_show(struct seq_file *m, void *unused)
{
	seq_printf(m, "%d\n", READ_ONCE(inject.done) < count);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(inject_active);

/* ---- load and unload ---- */

static int inject_check(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(inject_kinds); i++)
		if (!strcmp(inject_kinds[i].name, kind))
			inject.kind = &inject_kinds[i];
	if (!inject.kind) {
		pr_err("kind=%s: there is none of that name here\n", kind);
		return -EINVAL;
	}
	if (!period_ns || phase_ns >= period_ns || hold_ns > INJECT_HOLD_MAX_NS || !count ||
	    count > INJECT_HOLDS_MAX) {
		pr_err("hold_ns, period_ns, phase_ns or count is out of its range\n");
		return -EINVAL;
	}
	if (cpu >= nr_cpu_ids || !cpu_online(cpu) || from_cpu >= nr_cpu_ids ||
	    !cpu_online(from_cpu)) {
		pr_err("CPU %u or %u is not online\n", cpu, from_cpu);
		return -EINVAL;
	}
	return 0;
}

static int inject_start(void)
{
	unsigned int on = inject.kind->hold == inject_ipi ? from_cpu : cpu;

	hrtimer_setup(&inject.timer, inject_timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_PINNED_HARD);
	inject.thread = kthread_create_on_node(inject_thread, NULL, cpu_to_node(on), "%s/%u",
					       KBUILD_MODNAME, on);
	if (IS_ERR(inject.thread))
		return PTR_ERR(inject.thread);
	kthread_bind(inject.thread, on);
	wake_up_process(inject.thread);
	return 0;
}

static int __init lat_inject_init(void)
{
	int err = inject_check();

	if (err)
		return err;
	inject.holds = kvcalloc(count, sizeof(*inject.holds), GFP_KERNEL);
	if (!inject.holds)
		return -ENOMEM;
	err = inject_start();
	if (err) {
		kvfree(inject.holds);
		return err;
	}
	inject.dir = debugfs_create_dir(KBUILD_MODNAME, NULL);
	debugfs_create_file("holds", 0444, inject.dir, NULL, &inject_holds_fops);
	debugfs_create_file("active", 0444, inject.dir, NULL, &inject_active_fops);
	return 0;
}

static void __exit lat_inject_exit(void)
{
	debugfs_remove(inject.dir);
	kthread_stop(inject.thread);
	hrtimer_cancel(&inject.timer);
	kvfree(inject.holds);
}

module_init(lat_inject_init);
module_exit(lat_inject_exit);

MODULE_DESCRIPTION("Known disturbances at known moments, to test what measures them");
MODULE_LICENSE("GPL");
