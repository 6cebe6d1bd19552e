// SPDX-License-Identifier: GPL-2.0-only
/*
 * mmio_latency measures what it costs to read a register of a PCI device: the core stands still for
 * as long as the bus, a sleeping link or a bad endpoint likes. A pinned SCHED_FIFO kthread follows
 * a fixed grid and makes a burst of reads each period: one after idle (first), the others
 * back-to-back (read), with the time between two reads (gap). A read during which this CPU was
 * interrupted (irqs=on) is recorded as disturbed, one that firmware or an NMI interrupted
 * (irqs=off) as firmware; neither is ever a first or a read. On devices where it is safe, flush is
 * a posted write and the read that waits for it.
 *
 * A read is held against the counters of this CPU right before and right after its stamps. SMIs
 * count elsewhere, in a register that takes long to read: it is read before the burst, after a read
 * of more than twice the shortest one, and after a long gap. Firmware that is quicker is not
 * noticed, nor does it matter.
 *
 * The device keeps its driver: it is referenced, kept awake and only read, at the one word named.
 * Its removal, or its driver's, ends the session.
 *
 * Measuring disturbs: the CPU does nothing else during a read, and other users of the device wait.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/completion.h>
#include <linux/hrtimer.h>
#include <linux/io.h>
#include <linux/kernel_stat.h>
#include <linux/kthread.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/pm_runtime.h>
#include <linux/sched.h>
#include <linux/security.h>
#include <linux/seq_file.h>

#include "../core/arch.h"
#include "../core/lat.h"
#include "../pci/pci_facts.h"
#include "known.h"

#define LAT_DEFAULT_PERIOD "250us"
#define LAT_PARAMS_DEF "../mmio_latency/params.def"
#include "../core/params_table.h"

/* A gap this much longer than the loop makes it: no interrupt and no other thread is shorter. */
#define MMIO_LONG_GAP_NS	1000

/* The grid begins this long after start. */
#define MMIO_LEAD_NS	(2 * NSEC_PER_MSEC)

enum mmio_point {
	MMIO_FIRST,
	MMIO_READ,
	MMIO_GAP,
	MMIO_FLUSH,
	MMIO_DISTURBED,
	MMIO_FIRMWARE,
	MMIO_POINTS,
};

static const struct lat_point mmio_points[] = {
	[MMIO_FIRST] = { "first" },
	[MMIO_READ] = { "read" },
	[MMIO_GAP] = { "gap" },
	[MMIO_FLUSH] = { "flush" },
	[MMIO_DISTURBED] = { "disturbed" },
	[MMIO_FIRMWARE] = { "firmware" },
	{ NULL }
};

/**
 * struct mmio_target - the word that is read
 * @pdev: its device, referenced
 * @known: what is known about the device, or NULL
 * @bar: BAR
 * @offset: in the BAR
 * @width: bits
 * @reg: mapped, while a session runs
 * @flush: mapped, register that takes a 0, or NULL
 */
struct mmio_target {
	struct pci_dev *pdev;
	const struct mmio_known *known;
	int bar;
	u64 offset;
	unsigned int width;
	void __iomem *reg;
	void __iomem *flush;
};

/**
 * struct mmio_latency - the instrument
 * @lat: the core's
 * @target: the word; its device is referenced while a session runs
 * @bus: learns of the removal of the device
 * @cpu: counters of the measured CPU
 * @rec: recorders, NULL where a point is not enabled
 * @task: the reading thread, while a session runs
 * @ready: it is in its loop
 * @prioritised: result of setting its priority; the thread's
 * @period_ns: of the grid; copied before arming, as all below
 * @base_ns: beginning of the grid
 * @burst: reads per period
 * @irqs_on: interrupts are on around each read
 * @smi_known: this CPU counts SMIs
 * @smi: that count, before the burst; the thread's
 * @min_ns: shortest read so far; the thread's
 * @gap_ns: shortest recorded gap so far: what the loop itself costs; the thread writes, anybody
 * reads
 * @long_gaps: recorded gaps of more than @gap_ns and MMIO_LONG_GAP_NS; the thread writes, anybody
 * reads
 * @seq: reads so far; the thread's
 * @bursts: bursts that were recorded; the thread's
 * @empty_ns: what two stamps cost without a read between them
 * @probe_ns: what a read costs, as found at start
 * @turn_ns: from one read to the next, as found at start
 */
static struct mmio_latency {
	struct lat *lat;
	struct mmio_target target;
	struct notifier_block bus;
	struct lat_cpu *cpu;
	struct lat_rec *rec[MMIO_POINTS];
	struct task_struct *task;
	struct completion ready;
	int prioritised;
	u64 period_ns;
	u64 base_ns;
	u64 burst;
	bool irqs_on;
	bool smi_known;
	u64 smi;
	u64 min_ns;
	u64 gap_ns;
	u64 long_gaps;
	u64 seq;
	u64 bursts;
	u64 empty_ns;
	u64 probe_ns;
	u64 turn_ns;
} mmio;

/* ---- the measured path ---- */

/* One read of the word; the width is constant where it matters. */
static __always_inline u64 mmio_read(void __iomem *reg, unsigned int width)
{
	switch (width) {
	case 8:
		return readb(reg);
	case 16:
		return readw(reg);
#ifdef CONFIG_64BIT
	case 64:
		return readq(reg);
#endif
	default:
		return readl(reg);
	}
}

/* One read and when it was. */
struct mmio_sample {
	u64 start_ns;
	u64 end_ns;
	u64 value;
	bool stolen;
};

/* What counts whenever this CPU does something else than reading. */
static __always_inline u64 mmio_interruptions(bool irqs_on)
{
	return irqs_on ? lat_arch_this_cpu_interrupts() : lat_arch_this_cpu_nmis();
}

/* Interrupts are off on return. */
static __always_inline struct mmio_sample mmio_take(unsigned int width, bool irqs_on)
{
	void __iomem *reg = mmio.target.reg;
	struct mmio_sample sample;
	u64 before;

	if (!irqs_on)
		local_irq_disable();
	before = mmio_interruptions(irqs_on);
	sample.start_ns = lat_now();
	sample.value = mmio_read(reg, width);
	sample.end_ns = lat_now();
	sample.stolen = mmio_interruptions(irqs_on) != before;
	if (irqs_on)
		local_irq_disable();
	return sample;
}

/* A read or a gap took long: was there an SMI since we last looked? Interrupts are off. */
static noinline bool mmio_was_firmware(void)
{
	u64 smi;

	if (!mmio.smi_known || !lat_arch_this_cpu_smis(&smi) || smi == mmio.smi)
		return false;
	mmio.smi = smi;
	return true;
}

/* All ones may mean that nobody answered: then the device's second word says so too. */
static noinline bool mmio_is_gone(void)
{
	struct pci_dev *pdev = mmio.target.pdev;
	u16 command;

	return !pci_device_is_present(pdev) ||
	       pci_read_config_word(pdev, PCI_COMMAND, &command) ||
	       PCI_POSSIBLE_ERROR(command) || !(command & PCI_COMMAND_MEMORY);
}

/* Record one read. Interrupts are off. */
static __always_inline void mmio_record(const struct mmio_sample *sample, enum mmio_point point,
					bool irqs_on, bool record)
{
	u64 ns = sample->end_ns - sample->start_ns;

	if (unlikely(sample->stolen || ns > 2 * mmio.min_ns)) {
		/* Asked in either case: an SMI is charged to one read only. */
		if (mmio_was_firmware() || sample->stolen)
			point = irqs_on ? MMIO_DISTURBED : MMIO_FIRMWARE;
	} else if (unlikely(ns < mmio.min_ns)) {
		mmio.min_ns = ns;
	}
	if (likely(record && mmio.rec[point]))
		lat_record(mmio.rec[point], mmio.seq, sample->start_ns, ns, 0);
}

/* A gap longer than the loop makes it: somebody was here. */
static noinline void mmio_long_gap(void)
{
	WRITE_ONCE(mmio.long_gaps, mmio.long_gaps + 1);
	/* Firmware that came in the gap is not charged to the next read. */
	mmio_was_firmware();
}

/* Record the time between two reads. Interrupts are off. */
static __always_inline void mmio_record_gap(u64 from_ns, u64 to_ns)
{
	u64 ns = to_ns - from_ns;

	if (unlikely(ns < mmio.gap_ns))
		WRITE_ONCE(mmio.gap_ns, ns);
	else if (unlikely(ns > mmio.gap_ns + MMIO_LONG_GAP_NS))
		mmio_long_gap();
	if (likely(mmio.rec[MMIO_GAP]))
		lat_record(mmio.rec[MMIO_GAP], mmio.seq, from_ns, ns, 0);
}

/* Nobody answered? Interrupts are off, and on in between: this takes long. */
static noinline bool mmio_confirm(void)
{
	bool gone;

	local_irq_enable();
	gone = mmio_is_gone();
	local_irq_disable();
	return gone;
}

/* One burst; false: the device is gone. */
static __always_inline bool mmio_burst(unsigned int width, bool irqs_on, bool record)
{
	enum mmio_point point = MMIO_FIRST;
	struct mmio_sample sample;
	u64 last_ns = 0, i;

	for (i = 0; i < mmio.burst; i++) {
		bool all_ones;

		sample = mmio_take(width, irqs_on);
		mmio.seq++;
		if (likely(last_ns && record))
			mmio_record_gap(last_ns, sample.start_ns);
		all_ones = sample.value == GENMASK_ULL(width - 1, 0);
		if (unlikely(all_ones && mmio_confirm())) {
			local_irq_enable();
			return false;
		}
		mmio_record(&sample, point, irqs_on, record);
		/* What it took to confirm is no gap. */
		last_ns = unlikely(all_ones) ? 0 : sample.end_ns;
		point = MMIO_READ;
		local_irq_enable();
	}
	return true;
}

/* Each width has its own loop, so that nothing is decided between the stamps. */
static noinline bool mmio_burst_of(bool record)
{
	bool irqs_on = mmio.irqs_on;

	switch (mmio.target.width) {
	case 8:
		return irqs_on ? mmio_burst(8, true, record) : mmio_burst(8, false, record);
	case 16:
		return irqs_on ? mmio_burst(16, true, record) : mmio_burst(16, false, record);
	case 64:
		return irqs_on ? mmio_burst(64, true, record) : mmio_burst(64, false, record);
	default:
		return irqs_on ? mmio_burst(32, true, record) : mmio_burst(32, false, record);
	}
}

/* A posted write, and the read that waits for it; false: the device is gone. */
static bool mmio_flush(bool record)
{
	struct mmio_sample sample;
	bool gone;
	u64 before;

	local_irq_disable();
	before = mmio_interruptions(false);
	sample.start_ns = lat_now();
	writel(0, mmio.target.flush);
	sample.value = mmio_read(mmio.target.reg, mmio.target.width);
	sample.end_ns = lat_now();
	sample.stolen = mmio_interruptions(false) != before;
	gone = sample.value == GENMASK_ULL(mmio.target.width - 1, 0) && mmio_confirm();
	if (!gone)
		mmio_record(&sample, MMIO_FLUSH, false, record);
	local_irq_enable();
	return !gone;
}

/* Periods from @k on, @n of them, were skipped. */
static void mmio_skipped(u64 k, u64 n, u64 now_ns)
{
	enum mmio_point point = mmio.rec[MMIO_FIRST] ? MMIO_FIRST : MMIO_READ;

	mmio.cpu->counter[LAT_OVERRUNS] += n;
	if (!mmio.rec[point])
		return;
	local_irq_disable();
	lat_missed(mmio.rec[point], mmio.seq, mmio.base_ns + k * mmio.period_ns, now_ns,
		   mmio.period_ns, n);
	local_irq_enable();
}

static void mmio_sleep_until(u64 wake_ns)
{
	ktime_t expires = ns_to_ktime(wake_ns);

	set_current_state(TASK_INTERRUPTIBLE);
	if (!kthread_should_stop())
		schedule_hrtimeout_range(&expires, 0, HRTIMER_MODE_ABS);
	__set_current_state(TASK_RUNNING);
}

/* Serve period @k; false: the session is over. */
static bool mmio_serve(u64 k)
{
	bool record = k >= mmio.lat->config.warmup;

	if (mmio.smi_known)
		lat_arch_this_cpu_smis(&mmio.smi);
	if (!mmio_burst_of(record) || (mmio.rec[MMIO_FLUSH] && !mmio_flush(record))) {
		lat_end(mmio.lat, LAT_STOP_DEVICE_REMOVED);
		return false;
	}
	mmio.bursts += record;
	if (mmio.bursts && mmio.bursts == mmio.lat->config.count) {
		lat_end(mmio.lat, LAT_STOP_COUNT);
		return false;
	}
	return true;
}

static int mmio_thread(void *unused)
{
	u64 k = 0, now_ns, next;
	bool active = true;

	mmio.prioritised = lat_set_priority(mmio.lat);
	complete(&mmio.ready);
	while (!kthread_should_stop()) {
		u64 due_ns = active ? mmio.base_ns + k * mmio.period_ns : KTIME_MAX;

		if (lat_now() < due_ns) {
			mmio_sleep_until(due_ns);
			continue;
		}
		active = mmio_serve(k);
		now_ns = lat_now();
		next = max(k + 1, div64_u64(now_ns - mmio.base_ns, mmio.period_ns) + 1);
		if (mmio.bursts && next > k + 1)
			mmio_skipped(k + 1, next - k - 1, now_ns);
		k = next;
	}
	return 0;
}

/* ---- the target ---- */

static bool mmio_has_phys(const struct lat *lat)
{
	return lat_param(lat, LAT_P_phys)->set;
}

/* The BAR of a device that a physical address lies in, or -1. */
static int mmio_bar_of(struct pci_dev *pdev, u64 phys)
{
	int bar;

	for (bar = 0; bar < PCI_STD_NUM_BARS; bar++) {
		unsigned long flags = pci_resource_flags(pdev, bar);

		if (flags & IORESOURCE_MEM && !(flags & IORESOURCE_UNSET) &&
		    pci_resource_len(pdev, bar) && phys >= pci_resource_start(pdev, bar) &&
		    phys <= pci_resource_end(pdev, bar))
			return bar;
	}
	return -1;
}

/* Find the one BAR that ``phys`` lies in. The device is returned referenced. */
static int mmio_find_phys(struct lat *lat, struct mmio_target *target, struct lat_why *why)
{
	const struct lat_param *param = lat_param(lat, LAT_P_phys);
	u64 phys = param->number;
	struct pci_dev *pdev = NULL;
	unsigned int found = 0;

	if (security_locked_down(LOCKDOWN_DEV_MEM))
		return lat_refuse(why, -EPERM, "phys=%s: the kernel is locked down; use device=",
				  param->text);
	if (region_intersects(phys, target->width / 8, IORESOURCE_SYSTEM_RAM, IORES_DESC_NONE) !=
	    REGION_DISJOINT)
		return lat_refuse(why, -EINVAL, "phys=%s: is RAM, not a device", param->text);
	for_each_pci_dev(pdev) {
		int bar = mmio_bar_of(pdev, phys);

		if (bar < 0)
			continue;
		if (!found++) {
			target->pdev = pci_dev_get(pdev);
			target->bar = bar;
			target->offset = phys - pci_resource_start(pdev, bar);
		}
	}
	if (found == 1)
		return 0;
	pci_dev_put(target->pdev);
	target->pdev = NULL;
	return lat_refuse(why, -EINVAL, "phys=%s: lies in %s BAR of a PCI device", param->text,
			  found ? "more than one" : "no");
}

/* Find the device that is named. It is returned referenced. */
static int mmio_find_device(struct lat *lat, struct mmio_target *target, struct lat_why *why)
{
	const char *text = lat_param(lat, LAT_P_device)->text;
	unsigned int bus, devfn;
	int domain;

	if (!lat_parse_pci_address(text, &domain, &bus, &devfn))
		return lat_refuse(why, -EINVAL, "device=%s: must be a PCI address, as 0000:00:04.0",
				  text);
	target->pdev = pci_get_domain_bus_and_slot(domain, bus, devfn);
	if (!target->pdev)
		return lat_refuse(why, -ENODEV, "device=%s: there is no such PCI device", text);
	target->bar = lat_value(lat, LAT_P_bar);
	target->offset = lat_value(lat, LAT_P_offset);
	return 0;
}

/* What is known about a device. */
static const struct mmio_known *mmio_known_of(struct pci_dev *pdev)
{
	const struct pci_device_id *id = pci_match_id(mmio_ids, pdev);

	return id ? (const struct mmio_known *)id->driver_data : NULL;
}

/* The offset that is read where none is named. */
static int mmio_default_offset(struct lat *lat, struct mmio_target *target, struct lat_why *why)
{
	const struct mmio_known *known = target->known;

	if (mmio_has_phys(lat) || lat_param(lat, LAT_P_offset)->set)
		return 0;
	if (!known || known->bar != target->bar)
		return lat_refuse(why, -EINVAL,
				  "offset: no register of BAR %d of %s is known to be safe; name one",
				  target->bar, pci_name(target->pdev));
	target->offset = known->safe;
	return 0;
}

/*
 * Has the device this BAR, although the kernel has no resource for it? Kernels forget a BAR that
 * they found no place for; its type is still in the register, but for the type that is 0.
 */
static bool mmio_bar_has_no_place(struct pci_dev *pdev, int bar)
{
	u32 value = 0, below = 0;

	pci_read_config_dword(pdev, PCI_BASE_ADDRESS_0 + 4 * bar, &value);
	if (bar)
		pci_read_config_dword(pdev, PCI_BASE_ADDRESS_0 + 4 * (bar - 1), &below);
	/* The upper half of a 64-bit BAR is none of its own. */
	if (!(below & PCI_BASE_ADDRESS_SPACE_IO) && below & PCI_BASE_ADDRESS_MEM_TYPE_64)
		return false;
	return value && !PCI_POSSIBLE_ERROR(value);
}

/* Is the BAR one that can be read? */
static int mmio_check_bar(const struct mmio_target *target, struct lat_why *why)
{
	const char *name = pci_name(target->pdev);
	unsigned long flags = pci_resource_flags(target->pdev, target->bar);
	u64 length = pci_resource_len(target->pdev, target->bar);

	if (flags & IORESOURCE_IO)
		return lat_refuse(why, -EINVAL, "bar=%d: of %s is I/O ports, not memory",
				  target->bar, name);
	if (flags & IORESOURCE_UNSET ||
	    (length && !pci_resource_start(target->pdev, target->bar)) ||
	    (!length && mmio_bar_has_no_place(target->pdev, target->bar)))
		return lat_refuse(why, -EINVAL, "bar=%d: of %s was given no address", target->bar,
				  name);
	if (!(flags & IORESOURCE_MEM) || !length)
		return lat_refuse(why, -EINVAL, "bar=%d: %s has no such BAR", target->bar, name);
	return 0;
}

/* Is the word one that the BAR has? */
static int mmio_check_word(const struct mmio_target *target, struct lat_why *why)
{
	u64 length = pci_resource_len(target->pdev, target->bar), bytes = target->width / 8;

	if (target->offset % bytes)
		return lat_refuse(why, -EINVAL, "offset=0x%llx: is not a multiple of %llu",
				  target->offset, bytes);
	if (target->offset >= length || length - target->offset < bytes)
		return lat_refuse(why, -EINVAL, "offset=0x%llx: BAR %d of %s ends at 0x%llx",
				  target->offset, target->bar, pci_name(target->pdev), length);
	return 0;
}

/* May side effects be forced? */
static int mmio_check_force(const struct lat *lat, struct lat_why *why)
{
	if (lat_value(lat, LAT_P_force_side_effects) && security_locked_down(LOCKDOWN_PCI_ACCESS))
		return lat_refuse(why, -EPERM, "force_side_effects: the kernel is locked down");
	return 0;
}

/* Does reading the word change the device? */
static int mmio_check_effects(const struct lat *lat, const struct mmio_target *target,
			      struct lat_why *why)
{
	const struct mmio_known *known = target->known;
	u64 last = target->offset + target->width / 8 - 1;
	const struct mmio_range *range;

	if (!known || known->bar != target->bar)
		return mmio_check_force(lat, why);
	if (target->width > known->width)
		return lat_refuse(why, -EINVAL, "width=%u: registers of %s (%s) have %u bits",
				  target->width, pci_name(target->pdev), known->name,
				  known->width);
	if (lat_value(lat, LAT_P_force_side_effects))
		return mmio_check_force(lat, why);
	for (range = known->effects; range->effect; range++)
		if (target->offset <= range->last && last >= range->first)
			return lat_refuse(why, -EINVAL,
					  "offset=0x%llx: %s; force_side_effects=1 reads it all the same",
					  target->offset, range->effect);
	return 0;
}

/* Find the word the parameters name; its device is returned referenced. */
static int mmio_find(struct lat *lat, struct mmio_target *target, struct lat_why *why)
{
	bool phys = mmio_has_phys(lat), device = lat_param(lat, LAT_P_device)->text[0];
	int err;

	*target = (struct mmio_target){ .width = 8 << lat_value(lat, LAT_P_width) };
	if (phys == device)
		return lat_refuse(why, -EINVAL, phys ? "device and phys: name one of them" :
				  "device: name the device to read, as device=0000:00:04.0");
	if (phys && lat_param(lat, LAT_P_offset)->set)
		return lat_refuse(why, -EINVAL, "offset: goes with device, not with phys");
	if (target->width == 64 && !IS_ENABLED(CONFIG_64BIT))
		return lat_refuse(why, -EINVAL, "width=64: this is a 32-bit kernel");
	err = phys ? mmio_find_phys(lat, target, why) : mmio_find_device(lat, target, why);
	if (err)
		return err;
	target->known = mmio_known_of(target->pdev);
	err = mmio_check_bar(target, why) ?: mmio_default_offset(lat, target, why) ?:
	      mmio_check_word(target, why) ?: mmio_check_effects(lat, target, why);
	if (err) {
		pci_dev_put(target->pdev);
		target->pdev = NULL;
	}
	return err;
}

/* The state a device says it is in; whoever writes to its configuration space need not tell us. */
static pci_power_t mmio_power_state(struct pci_dev *pdev)
{
	u16 control;

	/* Unknown is what an unbound device is left in. */
	if ((pdev->current_state != PCI_D0 && pdev->current_state != PCI_UNKNOWN) ||
	    !pdev->pm_cap || pci_read_config_word(pdev, pdev->pm_cap + PCI_PM_CTRL, &control) ||
	    PCI_POSSIBLE_ERROR(control))
		return pdev->current_state;
	return (__force pci_power_t)(control & PCI_PM_CTRL_STATE_MASK);
}

/* Is the device awake and does it answer? It is kept awake on success. */
static int mmio_wake(struct mmio_target *target, struct lat_why *why)
{
	struct pci_dev *pdev = target->pdev;
	pci_power_t state;
	u16 command = 0;
	int err;

	err = pm_runtime_get_sync(&pdev->dev);
	if (err < 0) {
		lat_refuse(why, err, "%s cannot be woken (%d)", pci_name(pdev), err);
		goto err_put;
	}
	err = -EIO;
	state = mmio_power_state(pdev);
	if (state != PCI_D0 && state != PCI_UNKNOWN) {
		lat_refuse(why, err, "%s sleeps (%s); its driver must wake it", pci_name(pdev),
			   pci_power_name(state));
		goto err_put;
	}
	pci_read_config_word(pdev, PCI_COMMAND, &command);
	if (PCI_POSSIBLE_ERROR(command)) {
		err = lat_refuse(why, -ENODEV, "%s does not answer", pci_name(pdev));
		goto err_put;
	}
	if (!(command & PCI_COMMAND_MEMORY)) {
		lat_refuse(why, err,
			   "%s does not decode memory: no driver has enabled it; echo 1 > /sys/bus/pci/devices/%s/enable",
			   pci_name(pdev), pci_name(pdev));
		goto err_put;
	}
	return 0;

err_put:
	pm_runtime_put(&pdev->dev);
	return err;
}

static void __iomem *mmio_map_word(const struct mmio_target *target, u64 offset, size_t bytes)
{
	return ioremap(pci_resource_start(target->pdev, target->bar) + offset, bytes);
}

static int mmio_map(struct mmio_target *target, bool flush, struct lat_why *why)
{
	target->reg = mmio_map_word(target, target->offset, target->width / 8);
	if (!target->reg)
		return lat_refuse(why, -ENOMEM, "the word cannot be mapped");
	if (!flush)
		return 0;
	target->flush = mmio_map_word(target, target->known->flush, sizeof(u32));
	if (target->flush)
		return 0;
	iounmap(target->reg);
	return lat_refuse(why, -ENOMEM, "the register of ``flush`` cannot be mapped");
}

/* Take hold of the target: reference, awake, mapped. */
static int mmio_get(struct lat *lat, struct lat_why *why)
{
	struct mmio_target *target = &mmio.target;
	int err;

	err = mmio_find(lat, target, why);
	if (err)
		return err;
	err = mmio_wake(target, why);
	if (err)
		goto err_put_device;
	err = mmio_map(target, lat->config.points & BIT(MMIO_FLUSH), why);
	if (err)
		goto err_put_power;
	return 0;

err_put_power:
	pm_runtime_put(&target->pdev->dev);
err_put_device:
	pci_dev_put(target->pdev);
	target->pdev = NULL;
	return err;
}

static void mmio_put(void)
{
	struct mmio_target *target = &mmio.target;

	if (target->flush)
		iounmap(target->flush);
	iounmap(target->reg);
	pm_runtime_put(&target->pdev->dev);
	pci_dev_put(target->pdev);
	target->pdev = NULL;
}

/* ---- start and stop ---- */

/* What a read, its turn of the loop, and its stamps cost: taken on the measured CPU. */
static long mmio_probe(void *unused)
{
	u64 start_ns, end_ns, last_ns = 0;
	unsigned int i;

	mmio.probe_ns = U64_MAX;
	mmio.empty_ns = U64_MAX;
	mmio.turn_ns = U64_MAX;
	for (i = 0; i < 16; i++) {
		local_irq_disable();
		start_ns = lat_now();
		mmio_read(mmio.target.reg, mmio.target.width);
		end_ns = lat_now();
		mmio.probe_ns = min(mmio.probe_ns, end_ns - start_ns);
		if (last_ns)
			mmio.turn_ns = min(mmio.turn_ns, start_ns - last_ns);
		last_ns = start_ns;
		start_ns = lat_now();
		end_ns = lat_now();
		mmio.empty_ns = min(mmio.empty_ns, end_ns - start_ns);
		local_irq_enable();
	}
	mmio.smi_known = lat_arch_this_cpu_smis(&mmio.smi);
	return 0;
}

static int mmio_start_thread(struct lat *lat, struct lat_why *why)
{
	unsigned int cpu = mmio.cpu->cpu;
	struct task_struct *task;

	init_completion(&mmio.ready);
	task = kthread_create_on_node(mmio_thread, NULL, cpu_to_node(cpu), "%s/%u", KBUILD_MODNAME,
				      cpu);
	if (IS_ERR(task))
		return lat_refuse(why, PTR_ERR(task), "the reading thread was refused (%ld)",
				  PTR_ERR(task));
	kthread_bind(task, cpu);
	mmio.base_ns = lat_grid_base(lat, MMIO_LEAD_NS, NULL);
	mmio.task = task;
	wake_up_process(task);
	wait_for_completion(&mmio.ready);
	return 0;
}

static int mmio_start(struct lat *lat, struct lat_why *why)
{
	unsigned int point;
	int err;

	err = mmio_get(lat, why);
	if (err)
		return err;
	mmio.cpu = &lat->cpu[0];
	for (point = 0; point < MMIO_POINTS; point++)
		mmio.rec[point] = mmio.cpu->rec[point];
	mmio.period_ns = lat->config.period_ns;
	mmio.burst = lat_value(lat, LAT_P_burst);
	mmio.irqs_on = lat_value(lat, LAT_P_irqs);
	mmio.seq = 0;
	mmio.bursts = 0;
	mmio.gap_ns = U64_MAX;
	mmio.long_gaps = 0;
	work_on_cpu(mmio.cpu->cpu, mmio_probe, NULL);
	mmio.min_ns = mmio.probe_ns;

	/* A thread that never pauses takes the CPU from all, and measures nothing after idle. */
	if (mmio.turn_ns * mmio.burst > mmio.period_ns / 10 * 9) {
		err = lat_refuse(why, -EINVAL,
				 "burst=%llu: a read each %llu ns leaves no pause in a period of %llu ns",
				 mmio.burst, mmio.turn_ns, mmio.period_ns);
		goto err_put;
	}
	err = mmio_start_thread(lat, why);
	if (err)
		goto err_put;
	return 0;

err_put:
	mmio_put();
	return err;
}

static void mmio_stop(struct lat *lat)
{
	kthread_stop(mmio.task);
	mmio.task = NULL;
	mmio_put();
}

/* The device, or the driver that has enabled it, goes away. */
static int mmio_bus_notify(struct notifier_block *nb, unsigned long action, void *data)
{
	struct lat *lat = mmio.lat;

	if (action != BUS_NOTIFY_DEL_DEVICE && action != BUS_NOTIFY_REMOVED_DEVICE &&
	    action != BUS_NOTIFY_UNBIND_DRIVER)
		return NOTIFY_DONE;
	mutex_lock(&lat->lock);
	if (lat->running && mmio.target.pdev && data == &mmio.target.pdev->dev)
		lat_stop_locked(lat, LAT_STOP_DEVICE_REMOVED);
	mutex_unlock(&lat->lock);
	return NOTIFY_OK;
}

/* ---- parameters and facts ---- */

static int mmio_check_flush(const struct mmio_target *target, struct lat_why *why)
{
	if (target->known && target->known->can_flush && target->known->bar == target->bar)
		return 0;
	return lat_refuse(why, -EINVAL,
			  "points: no register of %s is known that takes a write without effect, so no \"flush\"",
			  pci_name(target->pdev));
}

static int mmio_check_points(struct lat_config *config, bool points_auto)
{
	if (points_auto)
		config->points = BIT(MMIO_FIRST) | BIT(MMIO_READ) | BIT(MMIO_GAP);
	/* What was stolen from a read is shown wherever reads are. */
	if (config->points & (BIT(MMIO_FIRST) | BIT(MMIO_READ)))
		config->points |= BIT(MMIO_DISTURBED) | BIT(MMIO_FIRMWARE);
	return 0;
}

static int mmio_check(struct lat *lat, struct lat_config *config, bool points_auto,
		      struct lat_why *why)
{
	struct mmio_target target;
	int err;

	if (cpumask_weight(config->cpus) > 1)
		return lat_refuse(why, -EINVAL, "cpus=%s: one CPU reads, not %u",
				  lat_param(lat, LAT_P_cpus)->text,
				  cpumask_weight(config->cpus));
	mmio_check_points(config, points_auto);
	if (!(config->points & (BIT(MMIO_FIRST) | BIT(MMIO_READ))))
		return lat_refuse(why, -EINVAL, "points=%s: must have \"first\" or \"read\"",
				  lat_param(lat, LAT_P_points)->text);
	if (!points_auto && lat_value(lat, LAT_P_burst) == 1 &&
	    config->points & (BIT(MMIO_READ) | BIT(MMIO_GAP)))
		return lat_refuse(why, -EINVAL, "points=%s: \"read\" and \"gap\" need a burst of 2",
				  lat_param(lat, LAT_P_points)->text);
	err = mmio_find(lat, &target, why);
	if (err)
		return err;
	if (config->points & BIT(MMIO_FLUSH))
		err = mmio_check_flush(&target, why);
	pci_dev_put(target.pdev);
	return err;
}

static void mmio_describe_mapping(struct lat *lat, const struct mmio_target *target)
{
	static const char *const names[] = {
		[LAT_MAPPING_UNKNOWN] = "unknown",
		[LAT_MAPPING_UNCACHED] = "uncached",
		[LAT_MAPPING_COMBINING] = "write-combining",
		[LAT_MAPPING_CACHED] = "cached",
	};
	enum lat_mapping mapping = lat_arch_mapping(target->reg);

	lat_fact(lat, "mapping", "%s", names[mapping]);
	if (pci_resource_flags(target->pdev, target->bar) & IORESOURCE_PREFETCH)
		lat_note(lat, "prefetchable", LAT_SEVERITY_WARN, -1,
			 "BAR %d is prefetchable: bridges on the way may read ahead",
			 target->bar);
	if (mapping >= LAT_MAPPING_COMBINING)
		lat_note(lat, "mapping", LAT_SEVERITY_VOID, -1,
			 "BAR %d was mapped %s by somebody before: reads may be answered without the device",
			 target->bar, names[mapping]);
}

static void mmio_describe_target(struct lat *lat, const struct mmio_target *target)
{
	struct pci_dev *pdev = target->pdev;
	const struct device_driver *driver = READ_ONCE(pdev->dev.driver);

	lat_fact(lat, "device", "%s", pci_name(pdev));
	lat_fact(lat, "device_id", "%04x:%04x", pdev->vendor, pdev->device);
	lat_fact(lat, "device_kind", "%s", target->known ? target->known->name : "unknown");
	lat_fact(lat, "device_driver", "%s", driver ? driver->name : "none");
	lat_fact(lat, "bar", "%d", target->bar);
	lat_fact(lat, "offset", "0x%llx", target->offset);
	lat_fact(lat, "width", "%u", target->width);
	lat_fact(lat, "iommu", "%s", device_iommu_mapped(&pdev->dev) ? "yes" : "no");
	lat_describe_pci(lat, pdev);
	mmio_describe_mapping(lat, target);
}

/* Reads over the threshold. */
static u64 mmio_long_reads(const struct lat_rec *const *recs, unsigned int n)
{
	u64 over = 0;
	unsigned int i;

	for (i = 0; i < n; i++)
		if (recs[i] && (recs[i]->point == MMIO_FIRST || recs[i]->point == MMIO_READ))
			over += READ_ONCE(recs[i]->over);
	return over;
}

/* What the session has come to so far, and what stands in ECI's block. */
static void mmio_describe_results(struct lat *lat)
{
	if (READ_ONCE(mmio.gap_ns) != U64_MAX)
		lat_fact(lat, "loop_gap_ns", "%llu", READ_ONCE(mmio.gap_ns));
	lat_fact(lat, "mmio_outliers", "%llu",
		 mmio_long_reads((const struct lat_rec *const *)lat->cpu[0].rec, LAT_POINTS_MAX));
	lat_fact(lat, "sched_outliers", "%llu", READ_ONCE(mmio.long_gaps));
}

static void mmio_describe(struct lat *lat)
{
	/* Results are there until they are forgotten, the target while it is measured. */
	if (lat->ncpus)
		mmio_describe_results(lat);
	if (!lat->running)
		return;
	mmio_describe_target(lat, &mmio.target);
	lat_fact(lat, "burst", "%llu", mmio.burst);
	lat_fact(lat, "irqs", "%s", mmio.irqs_on ? "on" : "off");
	lat_fact(lat, "probe_ns", "%llu", mmio.probe_ns);
	lat_fact(lat, "empty_read_ns", "%llu", mmio.empty_ns);
	lat_fact(lat, "smi_counted", "%s", mmio.smi_known ? "yes" : "no");
	if (!mmio.smi_known)
		lat_note(lat, "smi-unseen", LAT_SEVERITY_INFO, mmio.cpu->cpu,
			 "this CPU counts no SMIs: a read that firmware interrupted stands among the others");
	if (mmio.prioritised)
		lat_note(lat, "priority", LAT_SEVERITY_WARN, mmio.cpu->cpu,
			 "the reading thread did not get priority %d (%d)", lat->config.priority,
			 mmio.prioritised);
}

static u64 mmio_rec_count(const struct lat_rec *rec)
{
	u64 count = rec->negative;
	unsigned int i;

	for (i = 0; i < LAT_BUCKETS; i++)
		count += rec->values[i];
	return count;
}

/*
 * ECI's block: undisturbed reads, first or not; of them those over the threshold; and gaps that
 * were longer than the loop makes them.
 */
static void mmio_current_value(struct seq_file *m, const struct lat_rec *const *recs,
			       unsigned int n)
{
	s64 min_ns = S64_MAX, max_ns = S64_MIN;
	struct lat_u128 sum = { 0 };
	u64 count = 0;
	unsigned int i;

	for (i = 0; i < n; i++) {
		if (recs[i]->point != MMIO_FIRST && recs[i]->point != MMIO_READ)
			continue;
		count += mmio_rec_count(recs[i]);
		sum = lat_u128_add(sum, recs[i]->sum);
		min_ns = min(min_ns, recs[i]->min_ns);
		max_ns = max(max_ns, recs[i]->max_ns);
	}
	if (!count) {
		seq_puts(m, "Stats: loops= 0\n");
		return;
	}
	seq_printf(m, "Stats: max= %lld avg= %lld min= %lld total= %llu loops= %llu mmio-outliers: %llu sched-outliers: %llu\n",
		   max_ns, lat_mean(sum, count), min_ns, sum.low, count, mmio_long_reads(recs, n),
		   READ_ONCE(mmio.long_gaps));
}

static const struct lat_ops mmio_ops = {
	.name = KBUILD_MODNAME,
	.points = mmio_points,
	.params = lat_params,
	.nparams = LAT_P_COUNT,
	.check = mmio_check,
	.start = mmio_start,
	.stop = mmio_stop,
	.describe = mmio_describe,
	.current_value = mmio_current_value,
};

/* A target named at load means: measure. */
static bool mmio_runs_at_load(void)
{
	return lat_params[LAT_P_device].text[0] || lat_params[LAT_P_phys].set ||
	       lat_params[LAT_P_run].number;
}

static int __init mmio_latency_init(void)
{
	struct lat_why why;
	int err;

	mmio.lat = lat_register(&mmio_ops, NULL);
	if (IS_ERR(mmio.lat))
		return PTR_ERR(mmio.lat);
	mmio.bus.notifier_call = mmio_bus_notify;
	err = bus_register_notifier(&pci_bus_type, &mmio.bus);
	if (err) {
		lat_refuse(&why, err, "the PCI bus cannot be watched (%d)", err);
		goto err_close;
	}
	if (mmio_runs_at_load()) {
		err = lat_start(mmio.lat, &why);
		if (err)
			goto err_unregister_bus;
	}
	pr_info("%s, %s\n", LATKIT_VERSION, mmio_runs_at_load() ? "measuring" : "idle");
	return 0;

err_unregister_bus:
	bus_unregister_notifier(&pci_bus_type, &mmio.bus);
err_close:
	pr_err("%s\n", why.text);
	lat_close(mmio.lat);
	lat_free(mmio.lat);
	return err;
}

static void __exit mmio_latency_exit(void)
{
	lat_close(mmio.lat);
	bus_unregister_notifier(&pci_bus_type, &mmio.bus);
	lat_free(mmio.lat);
}

module_init(mmio_latency_init);
module_exit(mmio_latency_exit);

MODULE_DESCRIPTION("Latency of reading a register of a PCI device");
MODULE_VERSION(LATKIT_VERSION);
MODULE_LICENSE("GPL");
