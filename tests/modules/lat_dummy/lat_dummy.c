// SPDX-License-Identifier: GPL-2.0-only
/*
 * lat_dummy measures nothing: it records, through the real core and all its doors, a sequence that
 * a test has written down beforehand, so that what comes out can be compared with what must come
 * out. It is an instrument like any other, with an unsigned point (value) and a signed one (delta).
 *
 * The sequence is a program, written to debugfs `program` while no session runs, one instruction a
 * line. Each of the first six is a stimulus (`missed`: N of them), due one period after the last:
 *
 *	value NS [N]		record NS at the point value, N times
 *	delta NS [N]		record NS at the point delta, N times
 *	uniform LOW HIGH [N]	record at value LOW + hash(k) % (HIGH - LOW + 1), k = 0 .. N - 1,
 *				where hash is dummy_hash(), splitmix64's
 *	during NS [N]		record at value what the clock says has passed, while it is set
 *				back by NS
 *	missed LATE_NS N	N periods were skipped, the first of them LATE_NS ago
 *	lost [N]		the end of the stimulus never comes
 *	back NS			set the clock back by NS
 *	unstable		the clock is found to be unstable
 *
 * A point that is not measured leaves its records out, not their periods. Every measured CPU
 * runs the whole program, `repeat` times. With pace=none the stimuli lie on the grid that begins
 * with the session, wherever the clock is; with pace=timer each is recorded from a hard timer when
 * it is due. Without a program it is "uniform 1000 100000 1000000".
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/debugfs.h>
#include <linux/hrtimer.h>
#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/uaccess.h>

#include "dummy.h"
#include "../../../modules/core/lat.h"

#define LAT_DEFAULT_PERIOD "1ms"
#define LAT_PARAMS_DEF "../../tests/modules/lat_dummy/params.def"
#include "../../../modules/core/params_table.h"

#define DUMMY_LINE	80	/* longest line of a program, with its newline */
#define DUMMY_NUMBERS	3	/* at most, in a line */
#define DUMMY_OPS_MAX	16777216
#define DUMMY_BATCH	256	/* stimuli recorded without interrupts, pace=none */

enum dummy_point {
	DUMMY_VALUE,
	DUMMY_DELTA,
};

static const struct lat_point dummy_points[] = {
	[DUMMY_VALUE] = { "value" },
	[DUMMY_DELTA] = { "delta", true },
	{ NULL }
};

enum dummy_kind {
	DUMMY_OP_VALUE,
	DUMMY_OP_DELTA,
	DUMMY_OP_UNIFORM,
	DUMMY_OP_DURING,
	DUMMY_OP_MISSED,
	DUMMY_OP_LOST,
	DUMMY_OP_BACK,
	DUMMY_OP_UNSTABLE,
};

/* How an instruction is written: its name, how many numbers it needs, and how many it takes. */
static const struct dummy_word {
	const char *name;
	int needs;
	int takes;
} dummy_words[] = {
	[DUMMY_OP_VALUE] = { "value", 1, 2 },
	[DUMMY_OP_DELTA] = { "delta", 1, 2 },
	[DUMMY_OP_UNIFORM] = { "uniform", 2, 3 },
	[DUMMY_OP_DURING] = { "during", 1, 2 },
	[DUMMY_OP_MISSED] = { "missed", 2, 2 },
	[DUMMY_OP_LOST] = { "lost", 0, 1 },
	[DUMMY_OP_BACK] = { "back", 1, 1 },
	[DUMMY_OP_UNSTABLE] = { "unstable", 0, 0 },
};

/**
 * struct dummy_op - an instruction
 * @ns: its time, or the low end of a range
 * @high_ns: the high end
 * @n: how often
 * @kind: enum dummy_kind
 */
struct dummy_op {
	s64 ns;
	s64 high_ns;
	u64 n;
	enum dummy_kind kind;
};

static const struct dummy_op dummy_default = {
	.kind = DUMMY_OP_UNIFORM, .ns = 1000, .high_ns = 100000, .n = 1000000,
};

/**
 * struct dummy_cpu - one measured CPU: how far it is in the program
 * @core: the core's part of it
 * @op: instruction that is next
 * @n: how often it was done already
 * @round: how often the program was run through
 * @k: period that is due next, from 0
 * @warm: stimuli of the warm-up so far
 * @samples: stimuli recorded at the first enabled point
 * @base_ns: when period 0 is due
 * @thread: bound to the CPU; records, or starts @timer there
 * @timer: records with pace=timer
 *
 * Its thread's or timer's, whichever records, from start to stop.
 */
struct dummy_cpu {
	struct lat_cpu *core;
	size_t op;
	u64 n;
	u64 round;
	u64 k;
	u64 warm;
	u64 samples;
	u64 base_ns;
	struct task_struct *thread;
	struct hrtimer timer;
};

/**
 * struct dummy - the instrument
 * @lat: the core's
 * @ops: the program; under lat->lock, constant while a session runs, as @nops
 * @nops: its instructions
 * @room: instructions allocated
 * @line: what was written of a line so far; under lat->lock
 * @line_length: its characters
 * @lines: complete lines
 * @cpus: one per measured CPU, while a session runs
 * @active: measured CPUs that are not at the end of the program
 * @first: the first enabled point
 * @repeat: copied before arming, as all below
 * @warmup: stimuli that are not recorded
 * @count: stimuli to record
 * @period_ns: from one stimulus to the next
 */
static struct dummy {
	struct lat *lat;
	struct dummy_op *ops;
	size_t nops;
	size_t room;
	char line[DUMMY_LINE];
	size_t line_length;
	unsigned int lines;
	struct dummy_cpu *cpus;
	atomic_t active;
	enum dummy_point first;
	u64 repeat;
	u64 warmup;
	u64 count;
	u64 period_ns;
} dummy;

u64 dummy_clock_back_ns;
bool dummy_clock_unstable;

/* The finalizer of splitmix64. */
static u64 dummy_hash(u64 k)
{
	u64 x = (k + 1) * 0x9e3779b97f4a7c15ULL;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
	return x ^ (x >> 31);
}

/* ---- one stimulus ---- */

/* A sample at a point, where it is measured and the warm-up is over. */
static void dummy_record(struct dummy_cpu *cpu, enum dummy_point point, u64 stimulus_ns, s64 ns)
{
	struct lat_rec *rec = cpu->core->rec[point];

	if (!rec || cpu->warm < dummy.warmup)
		return;
	cpu->samples += point == dummy.first;
	lat_record(rec, cpu->k + 1, stimulus_ns, ns, 0);
}

/* What the clock says has passed while it was set back. */
static s64 dummy_during(u64 back_ns)
{
	u64 start_ns = lat_now();

	WRITE_ONCE(dummy_clock_back_ns, dummy_clock_back_ns + back_ns);
	return lat_now() - start_ns;
}

static void dummy_missed(struct dummy_cpu *cpu, const struct dummy_op *op, u64 due_ns)
{
	enum dummy_point point;

	cpu->core->counter[LAT_OVERRUNS] += op->n;
	for (point = DUMMY_VALUE; point <= DUMMY_DELTA; point++)
		if (cpu->core->rec[point])
			lat_missed(cpu->core->rec[point], cpu->k + 1, due_ns, due_ns + op->ns,
				   dummy.period_ns, op->n);
}

static void dummy_lost(struct dummy_cpu *cpu)
{
	enum dummy_point point;

	cpu->core->counter[LAT_LOST]++;
	for (point = DUMMY_VALUE; point <= DUMMY_DELTA; point++)
		if (cpu->core->rec[point])
			lat_rec_lost(cpu->core->rec[point]);
}

/* Do an instruction once; returns how many periods that took. */
static u64 dummy_do(struct dummy_cpu *cpu, const struct dummy_op *op)
{
	u64 due_ns = cpu->base_ns + cpu->k * dummy.period_ns, rest;

	switch (op->kind) {
	case DUMMY_OP_VALUE:
		dummy_record(cpu, DUMMY_VALUE, due_ns, op->ns);
		return 1;
	case DUMMY_OP_DELTA:
		dummy_record(cpu, DUMMY_DELTA, due_ns, op->ns);
		return 1;
	case DUMMY_OP_UNIFORM:
		div64_u64_rem(dummy_hash(cpu->n), op->high_ns - op->ns + 1, &rest);
		dummy_record(cpu, DUMMY_VALUE, due_ns, op->ns + rest);
		return 1;
	case DUMMY_OP_DURING:
		dummy_record(cpu, DUMMY_VALUE, due_ns, dummy_during(op->ns));
		return 1;
	case DUMMY_OP_MISSED:
		dummy_missed(cpu, op, due_ns);
		cpu->n = op->n;
		return op->n;
	case DUMMY_OP_LOST:
		dummy_lost(cpu);
		return 1;
	case DUMMY_OP_BACK:
		WRITE_ONCE(dummy_clock_back_ns, dummy_clock_back_ns + op->ns);
		return 0;
	case DUMMY_OP_UNSTABLE:
		WRITE_ONCE(dummy_clock_unstable, true);
		return 0;
	}
	return 0;
}

/* Is the program, or what was asked of it, done? */
static bool dummy_is_done(const struct dummy_cpu *cpu)
{
	return (dummy.repeat && cpu->round == dummy.repeat) ||
	       (dummy.count && cpu->samples == dummy.count);
}

/* Go one step further in the program. Context: interrupts off, on the CPU. */
static void dummy_step(struct dummy_cpu *cpu)
{
	const struct dummy_op *op = &dummy.ops[cpu->op];
	u64 periods = dummy_do(cpu, op);

	cpu->k += periods;
	if (cpu->warm < dummy.warmup)
		cpu->warm += periods;
	if (++cpu->n < op->n)
		return;
	cpu->n = 0;
	if (++cpu->op < dummy.nops)
		return;
	cpu->op = 0;
	cpu->round++;
}

/* ---- who does the steps ---- */

static void dummy_done(void)
{
	if (atomic_dec_and_test(&dummy.active))
		lat_end(dummy.lat, LAT_STOP_COUNT);
}

/* Record as fast as it goes. The intervals of the series are taken over on the way. */
static void dummy_run(struct dummy_cpu *cpu)
{
	unsigned int i;

	while (!dummy_is_done(cpu) && !kthread_should_stop()) {
		local_irq_disable();
		for (i = 0; i < DUMMY_BATCH && !dummy_is_done(cpu); i++)
			dummy_step(cpu);
		local_irq_enable();
		dummy_take_series(dummy.lat);
		cond_resched();
	}
	dummy_done();
}

/* Record every stimulus that is due. */
static enum hrtimer_restart dummy_timer(struct hrtimer *timer)
{
	struct dummy_cpu *cpu = container_of(timer, struct dummy_cpu, timer);
	u64 now_ns = ktime_get_ns();

	while (!dummy_is_done(cpu) && cpu->base_ns + cpu->k * dummy.period_ns <= now_ns)
		dummy_step(cpu);
	if (dummy_is_done(cpu)) {
		dummy_done();
		return HRTIMER_NORESTART;
	}
	hrtimer_set_expires(timer, ns_to_ktime(cpu->base_ns + cpu->k * dummy.period_ns));
	return HRTIMER_RESTART;
}

static int dummy_thread(void *context)
{
	struct dummy_cpu *cpu = context;

	if (lat_value(dummy.lat, LAT_P_pace))
		hrtimer_start(&cpu->timer, ns_to_ktime(cpu->base_ns), HRTIMER_MODE_ABS_PINNED_HARD);
	else
		dummy_run(cpu);
	for (;;) {
		set_current_state(TASK_INTERRUPTIBLE);
		if (kthread_should_stop())
			break;
		schedule();
	}
	__set_current_state(TASK_RUNNING);
	return 0;
}

/* ---- the instrument ---- */

static int dummy_check(struct lat *lat, struct lat_config *config, bool points_auto,
		       struct lat_why *why)
{
	if (dummy.line_length)
		return lat_refuse(why, -EINVAL, "the program ends in the middle of line %u",
				  dummy.lines + 1);
	return 0;
}

static void dummy_stop(struct lat *lat)
{
	unsigned int i;

	for (i = 0; i < lat->ncpus; i++) {
		if (dummy.cpus[i].thread)
			kthread_stop(dummy.cpus[i].thread);
		hrtimer_cancel(&dummy.cpus[i].timer);
	}
	kvfree(dummy.cpus);
	dummy.cpus = NULL;
}

static int dummy_start_cpu(struct dummy_cpu *cpu, struct lat_why *why)
{
	struct task_struct *thread;

	thread = kthread_create_on_node(dummy_thread, cpu, cpu_to_node(cpu->core->cpu), "%s/%u",
					KBUILD_MODNAME, cpu->core->cpu);
	if (IS_ERR(thread))
		return lat_refuse(why, PTR_ERR(thread), "no thread for CPU %u", cpu->core->cpu);
	kthread_bind(thread, cpu->core->cpu);
	cpu->thread = thread;
	return 0;
}

/* With pace=timer the grid lies on multiples of the period, and begins when all is armed. */
static u64 dummy_base_ns(const struct lat *lat)
{
	u64 base_ns = ktime_get_ns() + NSEC_PER_MSEC, rest;

	if (!lat_value(lat, LAT_P_pace))
		return lat->start_ns;
	div64_u64_rem(base_ns, dummy.period_ns, &rest);
	return base_ns - rest + dummy.period_ns;
}

static int dummy_start(struct lat *lat, struct lat_why *why)
{
	unsigned int i;
	int err = 0;

	dummy.first = lat->config.points & BIT(DUMMY_VALUE) ? DUMMY_VALUE : DUMMY_DELTA;
	dummy.repeat = lat_value(lat, LAT_P_repeat);
	dummy.warmup = lat->config.warmup;
	dummy.count = lat->config.count;
	dummy.period_ns = lat->config.period_ns;
	dummy.cpus = kvcalloc(lat->ncpus, sizeof(*dummy.cpus), GFP_KERNEL);
	if (!dummy.cpus)
		return lat_refuse(why, -ENOMEM, "no memory for %u CPUs", lat->ncpus);
	atomic_set(&dummy.active, lat->ncpus);
	for (i = 0; i < lat->ncpus; i++) {
		dummy.cpus[i].core = &lat->cpu[i];
		dummy.cpus[i].base_ns = dummy_base_ns(lat);
		hrtimer_setup(&dummy.cpus[i].timer, dummy_timer, CLOCK_MONOTONIC,
			      HRTIMER_MODE_ABS_PINNED_HARD);
	}
	for (i = 0; i < lat->ncpus && !err; i++)
		err = dummy_start_cpu(&dummy.cpus[i], why);
	if (err) {
		dummy_stop(lat);
		return err;
	}
	for (i = 0; i < lat->ncpus; i++)
		wake_up_process(dummy.cpus[i].thread);
	return 0;
}

static void dummy_describe(struct lat *lat)
{
	lat_fact(lat, "program_lines", "%u", dummy.lines);
}

static const struct lat_ops dummy_ops = {
	.name = KBUILD_MODNAME,
	.points = dummy_points,
	.params = lat_params,
	.nparams = LAT_P_COUNT,
	.check = dummy_check,
	.start = dummy_start,
	.stop = dummy_stop,
	.describe = dummy_describe,
};

/* ---- the program ---- */

static int dummy_add(const struct dummy_op *op)
{
	if (dummy.nops == dummy.room) {
		size_t room = max_t(size_t, 1024, dummy.room * 2);
		struct dummy_op *ops;

		if (room > DUMMY_OPS_MAX)
			return -EFBIG;
		ops = kvmalloc_array(room, sizeof(*ops), GFP_KERNEL);
		if (!ops)
			return -ENOMEM;
		if (dummy.nops)
			memcpy(ops, dummy.ops, dummy.nops * sizeof(*ops));
		kvfree(dummy.ops);
		dummy.ops = ops;
		dummy.room = room;
	}
	dummy.ops[dummy.nops++] = *op;
	return 0;
}

/* Back to the default program. */
static void dummy_forget(void)
{
	dummy.nops = 0;
	dummy.line_length = 0;
	dummy.lines = 0;
	WRITE_ONCE(dummy_clock_back_ns, 0);
	WRITE_ONCE(dummy_clock_unstable, false);
}

/* Numbers of a line to an instruction; false: they make no sense. */
static bool dummy_fill(struct dummy_op *op, const s64 *number, int n)
{
	const struct dummy_word *word = &dummy_words[op->kind];
	bool range = op->kind == DUMMY_OP_UNIFORM;
	int times = op->kind == DUMMY_OP_LOST ? 0 : range ? 2 : 1;

	if (n < word->needs || n > word->takes)
		return false;
	op->ns = times ? number[0] : 0;
	op->high_ns = range ? number[1] : 0;
	op->n = n > times ? number[times] : 1;
	if (n > times && number[times] <= 0)
		return false;
	if (range && op->high_ns < op->ns)
		return false;
	return op->ns >= 0 || op->kind == DUMMY_OP_VALUE || op->kind == DUMMY_OP_DELTA;
}

/* The numbers of a line, from the blank before the first on; how many there are, or -EINVAL. */
static int dummy_numbers(char *text, s64 *number)
{
	char *word;
	int n = 0;

	while (text) {
		word = strsep(&text, " ");
		if (n == DUMMY_NUMBERS || kstrtos64(word, 10, &number[n++]))
			return -EINVAL;
	}
	return n;
}

static int dummy_parse(char *line)
{
	struct dummy_op op = { 0 };
	s64 number[DUMMY_NUMBERS];
	char *rest = line, *name = strsep(&rest, " ");
	int n = dummy_numbers(rest, number), i;

	for (i = 0; n >= 0 && i < ARRAY_SIZE(dummy_words); i++) {
		op.kind = i;
		if (!strcmp(name, dummy_words[i].name) && dummy_fill(&op, number, n))
			return dummy_add(&op);
	}
	pr_err("program: line %u is not understood\n", dummy.lines + 1);
	return -EINVAL;
}

/* Take over the characters of one write; lines may be cut anywhere. */
static int dummy_take(const char *text, size_t n)
{
	size_t i;
	int err;

	for (i = 0; i < n; i++) {
		if (dummy.line_length == DUMMY_LINE - 1)
			return -EINVAL;
		if (text[i] != '\n') {
			dummy.line[dummy.line_length++] = text[i];
			continue;
		}
		dummy.line[dummy.line_length] = '\0';
		err = dummy_parse(dummy.line);
		if (err)
			return err;
		dummy.line_length = 0;
		dummy.lines++;
	}
	return 0;
}

/* Opening the file begins a new program. */
static int dummy_program_open(struct inode *inode, struct file *file)
{
	int err = 0;

	mutex_lock(&dummy.lat->lock);
	if (dummy.lat->running)
		err = -EBUSY;
	else
		dummy_forget();
	mutex_unlock(&dummy.lat->lock);
	return err;
}

static ssize_t dummy_program_write(struct file *file, const char __user *from, size_t n,
				   loff_t *pos)
{
	char *text;
	int err;

	n = min_t(size_t, n, PAGE_SIZE);
	text = memdup_user(from, n);
	if (IS_ERR(text))
		return PTR_ERR(text);
	mutex_lock(&dummy.lat->lock);
	err = dummy.lat->running ? -EBUSY : dummy_take(text, n);
	mutex_unlock(&dummy.lat->lock);
	kfree(text);
	*pos += err ? 0 : n;
	return err ?: n;
}

/* At the end of a writer: a program without an instruction is the default. */
static int dummy_program_release(struct inode *inode, struct file *file)
{
	mutex_lock(&dummy.lat->lock);
	if (!dummy.nops)
		dummy_add(&dummy_default);
	mutex_unlock(&dummy.lat->lock);
	return 0;
}

static const struct file_operations dummy_program_fops = {
	.owner = THIS_MODULE,
	.open = dummy_program_open,
	.write = dummy_program_write,
	.release = dummy_program_release,
};

static int __init lat_dummy_init(void)
{
	struct lat_why why;
	int err;

	err = dummy_add(&dummy_default);
	if (err)
		return err;
	dummy.lat = lat_register(&dummy_ops, NULL);
	if (IS_ERR(dummy.lat)) {
		err = PTR_ERR(dummy.lat);
		goto err_free_ops;
	}
	debugfs_create_file("program", 0200, dummy.lat->dir, NULL, &dummy_program_fops);
	if (lat_params[LAT_P_run].number) {
		err = lat_start(dummy.lat, &why);
		if (err)
			goto err_close;
	}
	return 0;

err_close:
	pr_err("%s\n", why.text);
	lat_close(dummy.lat);
	lat_free(dummy.lat);
err_free_ops:
	kvfree(dummy.ops);
	return err;
}

static void __exit lat_dummy_exit(void)
{
	lat_close(dummy.lat);
	lat_free(dummy.lat);
	kvfree(dummy.ops);
}

module_init(lat_dummy_init);
module_exit(lat_dummy_exit);

MODULE_DESCRIPTION("An instrument that records what it is told to, to test the core");
MODULE_VERSION(LATKIT_VERSION);
MODULE_LICENSE("GPL");
