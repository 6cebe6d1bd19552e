// SPDX-License-Identifier: GPL-2.0-only
/*
 * How far the numbers can be trusted: facts and notes of a session, and what the machine did while
 * it ran (clock, NMIs, SMIs) that would make a number lie.
 */
#include <linux/slab.h>
#include <linux/tracepoint.h>

#include "arch.h"
#include "internal.h"

/* State of the machine when a session starts. */
struct lat_machine {
	bool clock_unstable;
	u32 clock_changes;
	u64 clock_read_ns;
	u64 clock_step_ns;
	u64 *nmi;	/* nr_cpu_ids counts */
	u64 *smi;	/* nr_cpu_ids counts, 0 where there is no counter */
};

/* A new entry, zeroed; NULL without memory, counted. */
void *lat_list_add(struct lat_list *list)
{
	void *entries, *entry;

	if (list->n == list->room) {
		entries = krealloc(list->entries, (list->room + 16) * list->size, GFP_KERNEL);
		if (!entries) {
			list->dropped++;
			return NULL;
		}
		list->entries = entries;
		list->room += 16;
	}
	entry = list->entries + list->n++ * list->size;
	memset(entry, 0, list->size);
	return entry;
}

int lat_list_copy(const struct lat_list *list, struct lat_list *copy)
{
	*copy = (struct lat_list){ .size = list->size };
	if (!list->n)
		return 0;
	copy->entries = kmemdup(list->entries, list->n * list->size, GFP_KERNEL);
	if (!copy->entries)
		return -ENOMEM;
	copy->n = list->n;
	copy->room = list->n;
	return 0;
}

void lat_list_clear(struct lat_list *list)
{
	kfree(list->entries);
	list->entries = NULL;
	list->n = 0;
	list->room = 0;
}

void lat_fact(struct lat *lat, const char *key, const char *fmt, ...)
{
	struct lat_fact *facts = lat->facts.entries, *fact = NULL;
	unsigned int i;
	va_list args;

	for (i = 0; i < lat->facts.n && !fact; i++)
		if (!strcmp(facts[i].key, key))
			fact = &facts[i];
	if (!fact)
		fact = lat_list_add(&lat->facts);
	if (!fact)
		return;
	strscpy(fact->key, key, sizeof(fact->key));
	va_start(args, fmt);
	vscnprintf(fact->value, sizeof(fact->value), fmt, args);
	va_end(args);
}

/* The entry for @code and @cpu: the one that is there, or a new one. */
static struct lat_trust *lat_list_note(struct lat_list *list, const char *code, int cpu)
{
	struct lat_trust *notes = list->entries, *note;
	unsigned int i;

	for (i = 0; i < list->n; i++)
		if (notes[i].cpu == cpu && !strcmp(notes[i].code, code))
			return &notes[i];
	note = lat_list_add(list);
	if (note) {
		note->code = code;
		note->cpu = cpu;
	}
	return note;
}

void lat_note(struct lat *lat, const char *code, enum lat_severity severity, int cpu,
	      const char *fmt, ...)
{
	struct lat_trust *note = lat_list_note(&lat->notes, code, cpu);
	va_list args;

	if (!note)
		return;
	note->severity = severity;
	va_start(args, fmt);
	vscnprintf(note->text, sizeof(note->text), fmt, args);
	va_end(args);
}

/* Debug options that make a kernel slow enough to distort what is measured. */
static const struct {
	bool on;
	const char *name;
} lat_debug_options[] = {
	{ IS_ENABLED(CONFIG_KASAN), "KASAN" },
	{ IS_ENABLED(CONFIG_KCSAN), "KCSAN" },
	{ IS_ENABLED(CONFIG_KMSAN), "KMSAN" },
	{ IS_ENABLED(CONFIG_UBSAN_TRAP), "UBSAN_TRAP" },
	{ IS_ENABLED(CONFIG_PROVE_LOCKING), "PROVE_LOCKING" },
	{ IS_ENABLED(CONFIG_LOCK_STAT), "LOCK_STAT" },
	{ IS_ENABLED(CONFIG_DEBUG_OBJECTS), "DEBUG_OBJECTS" },
	{ IS_ENABLED(CONFIG_DEBUG_ATOMIC_SLEEP), "DEBUG_ATOMIC_SLEEP" },
	{ IS_ENABLED(CONFIG_DEBUG_PREEMPT), "DEBUG_PREEMPT" },
	{ IS_ENABLED(CONFIG_DEBUG_KMEMLEAK), "DEBUG_KMEMLEAK" },
	{ IS_ENABLED(CONFIG_IRQSOFF_TRACER), "IRQSOFF_TRACER" },
	{ IS_ENABLED(CONFIG_PREEMPT_TRACER), "PREEMPT_TRACER" },
};

static void lat_note_debug(struct lat *lat)
{
	char names[120];
	size_t n = 0;
	int i;

	for (i = 0; i < ARRAY_SIZE(lat_debug_options); i++)
		if (lat_debug_options[i].on)
			n += scnprintf(names + n, sizeof(names) - n, "%s%s", n ? ", " : "",
				       lat_debug_options[i].name);
	if (n)
		lat_note(lat, "debug-kernel", LAT_SEVERITY_WARN, -1,
			 "the kernel is slowed by %s", names);
}

static void lat_count_active(struct tracepoint *tp, void *active)
{
	if (static_key_enabled(&tp->key))
		++*(unsigned int *)active;
}

static void lat_note_tracing(struct lat *lat)
{
	unsigned int active = 0;

	for_each_kernel_tracepoint(lat_count_active, &active);
	if (active)
		lat_note(lat, "tracing", LAT_SEVERITY_WARN, -1,
			 "%u tracepoints were active at start", active);
}

/**
 * lat_notes_static() - notes about how the kernel is built and what is switched on
 * @lat: the instrument
 *
 * Context: process, lat->lock.
 */
void lat_notes_static(struct lat *lat)
{
	lat_note_debug(lat);
	lat_note_tracing(lat);
}

int lat_machine_init(struct lat *lat)
{
	struct lat_machine *machine = kzalloc(sizeof(*machine), GFP_KERNEL);

	if (!machine)
		return -ENOMEM;
	machine->nmi = kcalloc(nr_cpu_ids, sizeof(u64), GFP_KERNEL);
	machine->smi = kcalloc(nr_cpu_ids, sizeof(u64), GFP_KERNEL);
	lat->machine = machine;
	if (machine->nmi && machine->smi)
		return 0;
	lat_machine_exit(lat);
	return -ENOMEM;
}

void lat_machine_exit(struct lat *lat)
{
	kfree(lat->machine->smi);
	kfree(lat->machine->nmi);
	kfree(lat->machine);
	lat->machine = NULL;
}

/* What reading the clock costs, and the smallest step it makes. */
static void lat_machine_clock(struct lat_machine *machine)
{
	u64 first, last, now, step = U64_MAX, cost = U64_MAX;
	unsigned int try, i;

	for (try = 0; try < 16; try++) {
		unsigned long flags;

		local_irq_save(flags);
		first = lat_now();
		last = first;
		for (i = 0; i < 64; i++) {
			now = lat_now();
			if (now > last)
				step = min(step, now - last);
			last = now;
		}
		local_irq_restore(flags);
		cost = min(cost, last - first);
	}
	machine->clock_read_ns = DIV_ROUND_CLOSEST_ULL(cost, 64);
	machine->clock_step_ns = step == U64_MAX ? 0 : step;
}

u64 lat_clock_read_ns(const struct lat *lat)
{
	return lat->machine->clock_read_ns;
}

/**
 * lat_machine_start() - note the state of the machine
 * @lat: the instrument
 *
 * Context: process, lat->lock.
 */
void lat_machine_start(struct lat *lat)
{
	struct lat_machine *machine = lat->machine;
	unsigned int cpu;

	lat_machine_clock(machine);
	lat_fact(lat, "clock", "%s", LAT_CLOCK_NAME);
	lat_fact(lat, "clock_read_ns", "%llu", machine->clock_read_ns);
	lat_fact(lat, "clock_step_ns", "%llu", machine->clock_step_ns);
	machine->clock_unstable = lat_arch_clock_unstable();
	machine->clock_changes = lat_arch_clock_changes();
	for_each_cpu(cpu, lat->config.used) {
		machine->nmi[cpu] = lat_arch_nmi_count(cpu);
		machine->smi[cpu] = 0;
		lat_arch_smi_count(cpu, &machine->smi[cpu]);
	}
	if (machine->clock_unstable)
		lat_note(lat, "clock-unstable", LAT_SEVERITY_WARN, -1,
			 "the TSC was marked unstable before the session");
	if (machine->clock_step_ns > NSEC_PER_USEC)
		lat_note(lat, "clock-coarse", LAT_SEVERITY_WARN, -1,
			 "the clock moves in steps of %llu ns", machine->clock_step_ns);
}

/**
 * lat_machine_stop() - compare with the state at start
 * @lat: the instrument
 *
 * Context: process, lat->lock.
 */
void lat_machine_stop(struct lat *lat)
{
	struct lat_machine *machine = lat->machine;
	unsigned int cpu;

	if (lat_arch_clock_changes() != machine->clock_changes)
		lat_note(lat, "clock-changed", LAT_SEVERITY_VOID, -1,
			 "the clocksource was changed during the session");
	if (lat_arch_clock_unstable() && !machine->clock_unstable)
		lat_note(lat, "clock-unstable", LAT_SEVERITY_VOID, -1,
			 "the TSC was marked unstable during the session");
	for_each_cpu(cpu, lat->config.used) {
		u64 nmi = lat_arch_nmi_count(cpu) - machine->nmi[cpu];
		u64 smi = machine->smi[cpu];

		if (nmi)
			lat_note(lat, "nmi", LAT_SEVERITY_INFO, cpu,
				 "%llu NMIs came during the session", nmi);
		if (lat_arch_smi_count(cpu, &smi) && smi != machine->smi[cpu])
			lat_note(lat, "smi", LAT_SEVERITY_WARN, cpu,
				 "%llu SMIs came during the session", smi - machine->smi[cpu]);
	}
}

/* Notes that follow from a counter. */
static const struct {
	enum lat_counter counter;
	const char *code;
	enum lat_severity severity;
	const char *text;
} lat_counter_notes[] = {
	{ LAT_OVERRUNS, "overruns", LAT_SEVERITY_WARN,
	  "periods were skipped; percentiles take their lateness in" },
	{ LAT_LOST, "lost", LAT_SEVERITY_WARN,
	  "interrupts never came; they rank as infinitely late" },
	{ LAT_SPURIOUS, "spurious", LAT_SEVERITY_INFO, "interrupts came without a stimulus" },
	{ LAT_WRONG_CPU, "wrong-cpu", LAT_SEVERITY_WARN,
	  "samples were taken on another CPU than the measured one" },
	{ LAT_INVALID, "invalid", LAT_SEVERITY_WARN,
	  "stamps of user space were not accepted" },
	{ LAT_DROPS, "drops", LAT_SEVERITY_INFO, "records of the raw stream were lost" },
	{ LAT_TORN, "torn", LAT_SEVERITY_WARN,
	  "copies of the results may be inconsistent, the writer never paused" },
	{ LAT_BURST, "burst", LAT_SEVERITY_INFO, "messages came too close together" },
};

/* Samples below zero at unsigned points: the clock stepped back. */
static u64 lat_snapshot_negative(const struct lat_snapshot *snap)
{
	u64 negative = 0;
	unsigned int i;

	for (i = 0; i < snap->nrecs; i++)
		negative += snap->rec[i]->negative;
	return negative;
}

static void lat_snapshot_note(struct lat_snapshot *snap, const char *code,
			      enum lat_severity severity, u64 count, const char *text)
{
	struct lat_trust *note = lat_list_note(&snap->notes, code, -1);

	if (!note)
		return;
	note->severity = severity;
	snprintf(note->text, sizeof(note->text), "%llu %s", count, text);
}

/**
 * lat_notes_counters() - add the notes that follow from counters
 * @snap: a snapshot with its counters and recorders
 *
 * Context: process.
 */
void lat_notes_counters(struct lat_snapshot *snap)
{
	u64 negative = lat_snapshot_negative(snap);
	int i;

	for (i = 0; i < ARRAY_SIZE(lat_counter_notes); i++) {
		u64 count = snap->counter[lat_counter_notes[i].counter];

		if (count)
			lat_snapshot_note(snap, lat_counter_notes[i].code,
					  lat_counter_notes[i].severity, count,
					  lat_counter_notes[i].text);
	}
	if (negative)
		lat_snapshot_note(snap, "clock-backwards", LAT_SEVERITY_VOID, negative,
				  "samples are below zero: the clock stepped back between CPUs or in time");
}
