/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The contract between the core and an instrument. The core owns the session (one start..stop), the
 * parameters, the results and every door to them; an instrument owns its stimulus and calls
 * lat_record() where it takes a time.
 *
 * The core is compiled once into each module (the instrument's core.c includes core/all.c), so that
 * a module loads alone, with its own name in the log and its own THIS_MODULE.
 *
 * Lock order: device_lock -> lat->lock -> cpus_read_lock -> lat->series_lock. Nothing binds,
 * unbinds or removes debugfs files under lat->lock.
 */
#ifndef LAT_CORE_LAT_H
#define LAT_CORE_LAT_H

#include <linux/cpumask.h>
#include <linux/irq_work.h>
#include <linux/list.h>
#include <linux/miscdevice.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/rcuwait.h>
#include <linux/types.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include <latkit/latkit.h>

#include "clock.h"
#include "hist.h"
#include "params.h"
#include "trace.h"

#define LAT_POINTS_MAX	8	/* points of an instrument */
#define LAT_REFUSALS	64	/* netlink refusals under way at once */

/**
 * enum lat_counter - what went otherwise than planned, per measured CPU
 * @LAT_OVERRUNS: due periods that were skipped, once per stimulus
 * @LAT_LOST: stimuli whose interrupt never came
 * @LAT_SPURIOUS: interrupts without a stimulus
 * @LAT_LATE: stimuli that ended after the next period was due
 * @LAT_WRONG_CPU: samples taken on another CPU than the asked one
 * @LAT_INVALID: stamps of user space that were not accepted
 * @LAT_DROPS: raw stream records that were lost
 * @LAT_TORN: copies of results that stayed inconsistent after 64 tries
 * @LAT_BURST: messages too close to the last one to be a period
 * @LAT_COUNTERS: how many there are
 */
enum lat_counter {
	LAT_OVERRUNS,
	LAT_LOST,
	LAT_SPURIOUS,
	LAT_LATE,
	LAT_WRONG_CPU,
	LAT_INVALID,
	LAT_DROPS,
	LAT_TORN,
	LAT_BURST,
	LAT_COUNTERS,
};

/**
 * struct lat_point - a place where an instrument takes a time
 * @name: as in every interface
 * @is_signed: early and late are both meaningful
 */
struct lat_point {
	const char *name;
	bool is_signed;
};

/* A fact about device, placement or clock, for people and reports. */
struct lat_fact {
	char key[32];
	char value[128];
};

/* A note that says how far the numbers can be trusted. */
struct lat_trust {
	const char *code;
	enum lat_severity severity;
	int cpu;		/* -1: about none in particular */
	char text[160];
};

/**
 * struct lat_list - a growing list of facts or trust notes
 * @n: entries
 * @room: entries allocated
 * @size: bytes of an entry
 * @dropped: entries that found no memory
 * @entries: the entries
 */
struct lat_list {
	unsigned int n;
	unsigned int room;
	unsigned int size;
	unsigned int dropped;
	void *entries;
};

/**
 * struct lat_config - what a session runs with, resolved from the parameters
 * @cpus: measured CPUs
 * @used: @cpus and every other CPU the session needs: none of them may go offline
 * @points: bit mask of the enabled points
 * @period_ns: period of the grid
 * @phase_ns: shift of each further CPU's grid
 * @count: stimuli to record per measured CPU, 0: no limit
 * @warmup: first periods that are not recorded
 * @threshold_ns: 0: none
 * @priority: SCHED_FIFO priority of measuring threads
 *
 * Constant while a session runs, so the hot path reads it without ceremony.
 */
struct lat_config {
	cpumask_var_t cpus;
	cpumask_var_t used;
	unsigned int points;
	u64 period_ns;
	u64 phase_ns;
	u64 count;
	u64 warmup;
	u64 threshold_ns;
	int priority;
};

/**
 * struct lat_cpu - what the core keeps for one measured CPU
 * @cpu: its number
 * @rec: recorder of each point, NULL where the point is not enabled
 * @counter: enum lat_counter; each has one writer, the one that sees the event
 */
struct lat_cpu {
	unsigned int cpu;
	struct lat_rec *rec[LAT_POINTS_MAX];
	u64 counter[LAT_COUNTERS];
};

struct lat;

/**
 * struct lat_ops - an instrument
 * @name: module, debugfs directory and netlink family
 * @points: its points, ends with a NULL name
 * @params: its parameter table
 * @nparams: rows of @params
 * @check: is what the parameters ask for possible? Reads its arguments and immutable device facts
 *	only; may narrow @config->points where ``points=auto`` (@points_auto) and must add the CPUs
 *	it needs to @config->used. Context: process, lat->lock. May sleep. May fail, with a reason.
 * @start: arm the stimulus. Context: process, lat->lock, cpus_read_lock. May sleep. May fail, with
 *	a reason; then nothing is armed.
 * @stop: disarm it. After it no recorder runs or can run. Context: process, lat->lock,
 *	cpus_read_lock. May sleep. Cannot fail.
 * @describe: adds facts by lat_fact() and notes by lat_note(). Context: process, lat->lock. May
 *	sleep.
 * @current_value: writes the text of ECI's file of that name. Context: process.
 */
struct lat_ops {
	const char *name;
	const struct lat_point *points;
	struct lat_param *params;
	unsigned int nparams;
	int (*check)(struct lat *lat, struct lat_config *config, bool points_auto,
		     struct lat_why *why);
	int (*start)(struct lat *lat, struct lat_why *why);
	void (*stop)(struct lat *lat);
	void (*describe)(struct lat *lat);
	void (*current_value)(struct seq_file *m, const struct lat_rec *const *recs,
			      unsigned int n);
};

/**
 * struct lat_refusal - why a netlink request was refused
 * @task: who was told
 * @when: when that was, jiffies
 * @why: the text
 */
struct lat_refusal {
	const struct task_struct *task;
	unsigned long when;
	struct lat_why why;
};

/* State of the machine at the start of a session, to compare with at its end. */
struct lat_machine;

/**
 * struct lat - one instrument and its session
 * @ops: the instrument
 * @lock: serialises start, stop, settings and snapshots
 * @running: under @lock; flips inside cpus_read_lock too, for the CPU offline callback
 * @asleep: under @lock: the machine is going to sleep, no session may start
 * @closed: under @lock: the module goes away, no session may start
 * @generation: number of the session since load; under @lock
 * @ended: a session has ended, @stop_reason is valid; under @lock
 * @stop_reason: enum lat_stop; under @lock
 * @start_ns: instrument's clock when armed; under @lock
 * @stop_ns: instrument's clock when stopped; under @lock
 * @start_real_ns: wall clock when armed; under @lock
 * @stop_real_ns: wall clock when stopped; under @lock
 * @config: what the session runs with
 * @ncpus: measured CPUs; under @lock
 * @cpu: @ncpus measured CPUs, ascending; under @lock
 * @facts: of the session; under @lock
 * @notes: trust notes of the session; under @lock
 * @machine: state of the machine at start; under @lock
 * @torn: copies that stayed inconsistent; under @lock
 * @end_cause: enum lat_stop + 1 of a session that ends itself, 0 else; set once by anybody
 * @end_irq_work: brings that from any context to @end_work
 * @end_work: ends the session
 * @duration_work: ends the session after ``duration``
 * @series_work: takes over closed intervals
 * @series_lock: serialises the consumers of closed intervals
 * @series: series of each recorder; under @series_lock
 * @qos: idle requests, one per measured CPU
 * @wq: ends sessions and takes intervals over; bound to no CPU
 * @cpuhp_state: CPU hotplug state of this module
 * @cpuhp: node of it
 * @pm: sleep notifier
 * @reboot: reboot notifier
 * @misc: the character device
 * @readers: files of it that may read the stream; under @lock
 * @stream: rings of the running or last session, NULL while nobody read; under @lock
 * @stream_wait: readers of the stream wait here
 * @stream_irq_work: wakes them when a ring fills
 * @stream_work: wakes them every now and then
 * @drops: records that readers lost
 * @user: nr_cpu_ids waiters of the point ``user``
 * @event_irq_work: brings news of the recorders to @event_work
 * @event_work: tells them to whoever listens
 * @refusal_lock: protects @refusal
 * @refusal: texts that netlink refuses with
 * @dir: debugfs directory
 * @dir_eci: debugfs directory of ECI's name
 * @priv: the instrument's
 */
struct lat {
	const struct lat_ops *ops;
	struct mutex lock; /* serialises start, stop, settings and snapshots */
	bool running;
	bool asleep;
	bool closed;
	u32 generation;
	bool ended;
	enum lat_stop stop_reason;
	u64 start_ns;
	u64 stop_ns;
	u64 start_real_ns;
	u64 stop_real_ns;
	struct lat_config config;
	unsigned int ncpus;
	struct lat_cpu *cpu;
	struct lat_list facts;
	struct lat_list notes;
	struct lat_machine *machine;
	u64 torn;
	atomic_t end_cause;
	struct irq_work end_irq_work;
	struct work_struct end_work;
	struct delayed_work duration_work;
	struct delayed_work series_work;
	struct mutex series_lock; /* serialises the consumers of closed intervals */
	struct lat_series *series;
	struct lat_qos *qos;
	struct workqueue_struct *wq;
	int cpuhp_state;
	struct hlist_node cpuhp;
	struct notifier_block pm;
	struct notifier_block reboot;
	struct miscdevice misc;
	unsigned int readers;
	struct lat_stream *stream;
	wait_queue_head_t stream_wait;
	struct irq_work stream_irq_work;
	struct delayed_work stream_work;
	atomic64_t drops;
	struct lat_user *user;
	struct irq_work event_irq_work;
	struct work_struct event_work;
	spinlock_t refusal_lock; /* protects refusal */
	struct lat_refusal refusal[LAT_REFUSALS];
	struct dentry *dir;
	struct dentry *dir_eci;
	void *priv;
};

/**
 * lat_register() - bring an instrument to life, idle
 * @ops: the instrument
 * @priv: the instrument's
 *
 * Context: process, module init.
 * Return: the instrument, or ERR_PTR
 */
struct lat *lat_register(const struct lat_ops *ops, void *priv);

/**
 * lat_close() - shut every door and end a running session
 * @lat: the instrument
 *
 * After it nobody can start a session; results can no longer be read.
 *
 * Context: process, module exit, before the instrument lets go of its device.
 */
void lat_close(struct lat *lat);

/**
 * lat_free() - the mirror of lat_register(), after lat_close()
 * @lat: the instrument
 *
 * Context: process, module exit.
 */
void lat_free(struct lat *lat);

/**
 * lat_start() - start a session
 * @lat: the instrument
 * @why: the reason of a refusal
 *
 * Context: process.
 * Return: 0, -EBUSY while one runs or the machine goes to sleep, -EINVAL for a parameter, -ENOMEM,
 *	or what the instrument says
 */
int lat_start(struct lat *lat, struct lat_why *why);

/**
 * lat_stop() - end the running session
 * @lat: the instrument
 * @reason: why
 *
 * Context: process.
 * Return: 0, or -EALREADY where none runs
 */
int lat_stop(struct lat *lat, enum lat_stop reason);

/* lat_stop() for a caller that holds lat->lock. */
int lat_stop_locked(struct lat *lat, enum lat_stop reason);

/**
 * lat_reset() - forget the results of the last session
 * @lat: the instrument
 * @why: the reason of a refusal
 *
 * Context: process.
 * Return: 0, or -EBUSY while one runs
 */
int lat_reset(struct lat *lat, struct lat_why *why);

/**
 * lat_end() - let a session end itself
 * @lat: the instrument
 * @reason: why; the first one counts
 *
 * Context: any but NMI. The session ends a little later, in process context.
 */
void lat_end(struct lat *lat, enum lat_stop reason);

/**
 * lat_missed() - due periods were skipped
 * @rec: recorder of the point
 * @seq: number of the first skipped stimulus
 * @due_ns: when it was due
 * @now_ns: when the machine could serve again
 * @period_ns: distance to the next skipped one
 * @n: how many
 *
 * Their lateness, @now_ns - due, is known and recorded as missed.
 *
 * Context: as lat_record(), by whoever records @rec.
 */
void lat_missed(struct lat_rec *rec, u64 seq, u64 due_ns, u64 now_ns, u64 period_ns, u64 n);

/**
 * lat_rec_lost() - the end of a stimulus never came
 * @rec: recorder of the point
 *
 * Context: as lat_record(), by whoever records @rec.
 */
void lat_rec_lost(struct lat_rec *rec);

/**
 * lat_fact() - add a fact
 * @lat: the instrument
 * @key: its name
 * @fmt: its value
 *
 * Context: process, lat->lock; from start and describe.
 */
__printf(3, 4) void lat_fact(struct lat *lat, const char *key, const char *fmt, ...);

/**
 * lat_note() - add a trust note
 * @lat: the instrument
 * @code: short name, constant
 * @severity: how much it matters
 * @cpu: the CPU it is about, or -1
 * @fmt: one sentence
 *
 * Context: process, lat->lock; from start, stop and describe.
 */
__printf(5, 6) void lat_note(struct lat *lat, const char *code, enum lat_severity severity,
			     int cpu, const char *fmt, ...);

/**
 * lat_set_priority() - make the current thread SCHED_FIFO
 * @lat: the instrument
 *
 * Context: process, a thread of the running session.
 * Return: 0; where the kernel exports no way to an arbitrary priority, the FIFO priority it got
 */
int lat_set_priority(const struct lat *lat);

/**
 * lat_grid_base() - where the grid of a session begins
 * @lat: the instrument
 * @lead_ns: at least this long from now
 * @offset_ns: distance from the multiples of the period, or NULL: half a period, so that every
 *	session has the same phase to the kernel's tick, and not the tick's own; a period over 10 ms
 *	is then not aligned at all, for nobody wants to wait for its beginning
 *
 * Context: process, in start.
 * Return: time of the first stimulus, instrument's clock
 */
u64 lat_grid_base(const struct lat *lat, u64 lead_ns, const s64 *offset_ns);

/**
 * lat_parse_pci_address() - read an address as lspci prints it, with or without the domain
 * @text: as 0000:00:04.0 or 00:04.0
 * @domain: its domain
 * @bus: its bus
 * @devfn: its slot and function, as PCI_DEVFN()
 *
 * Context: any.
 * Return: it is one
 */
bool lat_parse_pci_address(const char *text, int *domain, unsigned int *bus, unsigned int *devfn);

/* What one reading of the clock costs, ns, as measured at start. Context: any, in a session. */
u64 lat_clock_read_ns(const struct lat *lat);

/**
 * struct lat_user - the waiter of one CPU for the point ``user``
 * @wait: the waiter sleeps here
 * @lock: serialises those who stamp, attach and end
 * @owner: file that waits, NULL: none; under @lock
 * @rec: recorder, NULL while no session measures ``user`` here; under @lock
 * @seq: number of the last stimulus; the instrument's
 * @oldest_seq: number of the oldest stimulus without a stamp; the instrument's while
 *	@done_seq == @seq, frozen otherwise
 * @oldest_ns: when it was; as @oldest_seq
 * @oldest_recorded: it is not of the warm-up; as @oldest_seq
 * @samples: stamps that were recorded; the waiter's
 * @done_seq: number of the last stimulus that was dealt with; the waiter's
 * @end_ns: its stamp; the waiter's
 * @ended: sessions that have ended here; under @lock
 * @period_ns: distance of the stimuli that a late waiter has missed
 */
struct lat_user {
	struct rcuwait wait;
	struct mutex lock; /* serialises those who stamp, attach and end */
	struct file *owner;
	struct lat_rec *rec;
	u64 seq;
	u64 oldest_seq;
	u64 oldest_ns;
	bool oldest_recorded;
	u64 done_seq;
	u64 samples;
	u64 end_ns;
	u32 ended;
	u64 period_ns;
};

/**
 * lat_user_begin() - a session measures the point ``user`` of a CPU
 * @lat: the instrument
 * @rec: its recorder
 * @period_ns: distance of the stimuli
 *
 * Context: process, lat->lock; from start, before the stimulus is armed.
 * Return: the waiter's place, for lat_user_wake()
 */
struct lat_user *lat_user_begin(struct lat *lat, struct lat_rec *rec, u64 period_ns);

/**
 * lat_user_end() - no stamp of a CPU is accepted any more
 * @lat: the instrument
 * @cpu: the CPU
 *
 * A stimulus whose stamp is still to come is lost.
 *
 * Context: process, lat->lock; from stop, after the stimulus was disarmed.
 */
void lat_user_end(struct lat *lat, unsigned int cpu);

/* Is there somebody who will stamp the last stimulus and has not yet? Context: any. */
static inline bool lat_user_is_behind(const struct lat_user *user)
{
	/* Pairs with lat_user_stamp(). */
	return READ_ONCE(user->owner) && smp_load_acquire(&user->done_seq) != user->seq;
}

/**
 * lat_user_wake() - tell the waiter of a stimulus
 * @user: its place
 * @seq: number of the stimulus
 * @last_seq: @seq, or the last one that was skipped together with it
 * @stimulus_ns: when it was
 * @recorded: it is not of the warm-up
 *
 * Context: hard interrupt, or interrupts off, on the measured CPU.
 */
static __always_inline void lat_user_wake(struct lat_user *user, u64 seq, u64 last_seq,
					  u64 stimulus_ns, bool recorded)
{
	if (!READ_ONCE(user->owner)) {
		/* Nobody waits: nothing is owed either. */
		user->seq = last_seq;
		WRITE_ONCE(user->done_seq, last_seq);
		return;
	}
	/* Pairs with the waiter's release: its stamp is seen with its number. */
	if (smp_load_acquire(&user->done_seq) == user->seq) {
		user->oldest_seq = seq;
		user->oldest_ns = stimulus_ns;
		user->oldest_recorded = recorded;
	}
	/* Pairs with lat_user_read(). */
	smp_store_release(&user->seq, last_seq);
	rcuwait_wake_up(&user->wait);
}

/* The row of a parameter. */
static inline const struct lat_param *lat_param(const struct lat *lat, unsigned int number)
{
	return &lat->ops->params[number];
}

/* Value of a number, bool, duration (ns), or the index of an enum; 0 where it is not set. */
static inline s64 lat_value(const struct lat *lat, unsigned int number)
{
	return lat_param(lat, number)->number;
}

/**
 * lat_record() - record a sample
 * @rec: recorder of the (point, measured CPU); the caller is its only writer
 * @seq: number of the stimulus on its CPU
 * @stimulus_ns: when it happened
 * @ns: the value
 * @flags: LAT_SAMPLE_F_*
 *
 * Context: hard interrupt, or interrupts off; not NMI. Wait-free.
 */
static __always_inline void lat_record(struct lat_rec *rec, u64 seq, u64 stimulus_ns, s64 ns,
				       u32 flags)
{
	if (trace_sample_enabled() || unlikely(ns < 0 || stimulus_ns >= rec->interval_end_ns))
		lat_rec_unusual(rec, seq, stimulus_ns, ns, flags);
	else
		lat_rec_add(rec, rec->values, ns, seq, stimulus_ns, ns, flags);
}

#endif /* LAT_CORE_LAT_H */
