// SPDX-License-Identifier: GPL-2.0-only
/*
 * lat_floor takes the bare times that no instrument can be below: a stimulus, a stamp on either
 * side of it, and nothing else. It shares no code with the instruments, for it is what they are
 * judged by.
 *
 *	edu, e1000e, igb-msi, igb-msix	write that raises an interrupt -> first line of its handler
 *	mmio				one 32-bit register read
 *	timer				expiry of a pinned hard timer -> first line of its handler
 *
 * Loading takes `samples` times, one per period, on the CPU that loads; the result is then in
 * debugfs lat_floor/result. It binds the device that is named and no other.
 *
 * Register facts: QEMU docs/specs/edu.rst; Linux drivers/net/ethernet/intel/e1000e/{regs,defines}.h
 * and 82571.c; drivers/net/ethernet/intel/igb/e1000_regs.h and igb_main.c (igb_configure_msix);
 * Intel 82576 and I210 datasheets, sections on EICR, EIMS, GPIE and IVAR.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/completion.h>
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/seq_file.h>
#include <linux/string.h>
#include <linux/timekeeping.h>

static char *stimulus = "timer";
module_param(stimulus, charp, 0444);
MODULE_PARM_DESC(stimulus, "edu, e1000e, igb-msi, igb-msix, mmio or timer [timer]");

static char *device = "";
module_param(device, charp, 0444);
MODULE_PARM_DESC(device, "PCI device, as 0000:00:04.0; timer needs none");

static uint samples = 1000;
module_param(samples, uint, 0444);
MODULE_PARM_DESC(samples, "how many [1000]");

static ulong period_ns = 1000000;
module_param(period_ns, ulong, 0444);
MODULE_PARM_DESC(period_ns, "from one to the next, ns [1000000]");

static ulong phase_ns;
module_param(phase_ns, ulong, 0444);
MODULE_PARM_DESC(phase_ns, "shift of the grid of the stimuli against multiples of the period, ns [0]");

static uint mmio_reg;
module_param(mmio_reg, uint, 0444);
MODULE_PARM_DESC(mmio_reg, "offset of the register in BAR 0 that stimulus=mmio reads [0]");

#define EDU_RAISE	0x60
#define EDU_ACK		0x64

#define E1000_ICR	0x00c0	/* read clears */
#define E1000_ITR	0x00c4
#define E1000_ICS	0x00c8
#define E1000_IMS	0x00d0
#define E1000_IMC	0x00d8
#define E1000_RXDMT0	0x10	/* a cause that every family has */

#define IGB_GPIE	0x1514
#define IGB_EICS	0x1520
#define IGB_EIMS	0x1524
#define IGB_EIMC	0x1528
#define IGB_EIAC	0x152c
#define IGB_EIAM	0x1530
#define IGB_EITR0	0x1680
#define IGB_IVAR0	0x1700
#define IGB_GPIE_NSICR	0x1
#define IGB_GPIE_MSIX	(0x10 | 0x40000000 | 0x80000000)	/* MSIX_MODE | EIAME | PBA */
#define IGB_EIMS_OTHER	0x80000000
#define IGB_IVAR_VALID	0x80

/**
 * struct floor_kind - a stimulus
 * @name: of the parameter
 * @vendor: of its device
 * @id: of its device; 0: any
 * @irq_flags: PCI_IRQ_* of its vector; 0: it has none
 * @raise_reg: a write here raises the interrupt
 * @raise_value: of this
 * @ack_reg: a write here acknowledges; 0: it needs none
 * @ack_value: of this
 * @enable: let the device send
 * @disable: let it send nothing any more
 */
struct floor_kind {
	const char *name;
	u16 vendor;
	u16 id;
	unsigned int irq_flags;
	u32 raise_reg;
	u32 raise_value;
	u32 ack_reg;
	u32 ack_value;
	void (*enable)(void);
	void (*disable)(void);
};

/**
 * struct floor - the measurement
 * @kind: what is measured
 * @pdev: the device
 * @regs: its BAR 0
 * @start_ns: stamp before the stimulus
 * @end_ns: stamp after it
 * @done: the handler has taken @end_ns
 * @timer: the timer that is measured
 * @wanted: the device that is named
 * @count: samples so far
 * @min_ns: smallest
 * @max_ns: greatest
 * @sum_ns: sum
 * @dir: debugfs directory
 */
static struct floor {
	const struct floor_kind *kind;
	struct pci_dev *pdev;
	u8 __iomem *regs;
	u64 start_ns;
	u64 end_ns;
	struct completion done;
	struct hrtimer timer;
	struct pci_dev *wanted;
	u64 count;
	u64 min_ns;
	u64 max_ns;
	u64 sum_ns;
	struct dentry *dir;
} bare;

static void floor_write(u32 reg, u32 value)
{
	writel(value, bare.regs + reg);
}

static void edu_nothing(void)
{
}

static void e1000e_disable(void)
{
	floor_write(E1000_IMC, ~0);
	readl(bare.regs + E1000_ICR);
}

static void e1000e_enable(void)
{
	e1000e_disable();
	floor_write(E1000_ITR, 0);
	floor_write(E1000_IMS, E1000_RXDMT0);
}

static void igb_disable(void)
{
	floor_write(IGB_EIMC, ~0);
	floor_write(IGB_EIAC, 0);
	floor_write(IGB_EIAM, 0);
	e1000e_disable();
}

static void igb_msi_enable(void)
{
	igb_disable();
	floor_write(IGB_GPIE, IGB_GPIE_NSICR);
	floor_write(IGB_EITR0, 0);
	floor_write(IGB_EIMS, IGB_EIMS_OTHER);
	floor_write(E1000_IMS, E1000_RXDMT0);
}

static void igb_msix_enable(void)
{
	igb_disable();
	floor_write(IGB_GPIE, IGB_GPIE_MSIX | IGB_GPIE_NSICR);
	floor_write(IGB_IVAR0, IGB_IVAR_VALID);
	floor_write(IGB_EITR0, 0);
	floor_write(IGB_EIAC, 1);
	floor_write(IGB_EIMS, 1);
}

static const struct floor_kind floor_kinds[] = {
	{ "edu", 0x1234, 0x11e8, PCI_IRQ_MSI, EDU_RAISE, 1, EDU_ACK, 1, edu_nothing, edu_nothing },
	{ "e1000e", 0x8086, 0x10d3, PCI_IRQ_MSI, E1000_ICS, E1000_RXDMT0, E1000_ICR, E1000_RXDMT0,
	  e1000e_enable, e1000e_disable },
	{ "igb-msi", 0x8086, 0x10c9, PCI_IRQ_MSI, E1000_ICS, E1000_RXDMT0, E1000_ICR, E1000_RXDMT0,
	  igb_msi_enable, igb_disable },
	{ "igb-msix", 0x8086, 0x10c9, PCI_IRQ_MSIX, IGB_EICS, 1, 0, 0,
	  igb_msix_enable, igb_disable },
	{ "mmio" },
	{ "timer" },
};

static bool floor_is(const char *name)
{
	return !strcmp(bare.kind->name, name);
}

static void floor_add(u64 ns)
{
	bare.count++;
	bare.min_ns = min(bare.min_ns, ns);
	bare.max_ns = max(bare.max_ns, ns);
	bare.sum_ns += ns;
}

/* When the next stimulus is due: on the grid, after now. */
static u64 floor_due_ns(void)
{
	u64 now_ns = ktime_get_ns(), rest;

	div64_u64_rem(now_ns + period_ns - phase_ns, period_ns, &rest);
	return now_ns + period_ns - rest;
}

static void floor_sleep(void)
{
	ktime_t expires = ns_to_ktime(floor_due_ns());

	set_current_state(TASK_UNINTERRUPTIBLE);
	schedule_hrtimeout_range(&expires, 0, HRTIMER_MODE_ABS);
}

/* ---- raise -> handler ---- */

static irqreturn_t floor_irq(int irq, void *unused)
{
	bare.end_ns = ktime_get_ns();
	if (bare.kind->ack_reg)
		floor_write(bare.kind->ack_reg, bare.kind->ack_value);
	complete(&bare.done);
	return IRQ_HANDLED;
}

static int floor_raise(void)
{
	u8 __iomem *reg = bare.regs + bare.kind->raise_reg;
	u32 value = bare.kind->raise_value;

	reinit_completion(&bare.done);
	preempt_disable();
	bare.start_ns = ktime_get_ns();
	writel(value, reg);
	preempt_enable();
	if (!wait_for_completion_timeout(&bare.done, HZ))
		return -ETIMEDOUT;
	floor_add(bare.end_ns - bare.start_ns);
	return 0;
}

static int floor_measure_irq(void)
{
	int irq, err;

	err = pci_alloc_irq_vectors(bare.pdev, 1, 1, bare.kind->irq_flags);
	if (err < 0)
		return err;
	irq = pci_irq_vector(bare.pdev, 0);
	err = request_irq(irq, floor_irq, IRQF_NO_THREAD | IRQF_NOBALANCING, KBUILD_MODNAME, &bare);
	if (err)
		goto err_free_vectors;
	irq_set_affinity_and_hint(irq, cpumask_of(raw_smp_processor_id()));
	bare.kind->enable();
	while (!err && bare.count < samples) {
		floor_sleep();
		err = floor_raise();
	}
	bare.kind->disable();
	/* A moderated message may still be under way. */
	msleep(20);
	irq_set_affinity_and_hint(irq, NULL);
	free_irq(irq, &bare);
err_free_vectors:
	pci_free_irq_vectors(bare.pdev);
	return err;
}

/* ---- the others ---- */

static int floor_measure_mmio(void)
{
	u8 __iomem *reg = bare.regs + mmio_reg;

	while (bare.count < samples) {
		floor_sleep();
		local_irq_disable();
		bare.start_ns = ktime_get_ns();
		readl(reg);
		bare.end_ns = ktime_get_ns();
		local_irq_enable();
		floor_add(bare.end_ns - bare.start_ns);
	}
	return 0;
}

static enum hrtimer_restart floor_timer(struct hrtimer *timer)
{
	bare.end_ns = ktime_get_ns();
	floor_add(bare.end_ns - ktime_to_ns(hrtimer_get_expires(timer)));
	if (bare.count == samples) {
		complete(&bare.done);
		return HRTIMER_NORESTART;
	}
	hrtimer_set_expires(timer, ns_to_ktime(floor_due_ns()));
	return HRTIMER_RESTART;
}

static int floor_measure_timer(void)
{
	hrtimer_setup(&bare.timer, floor_timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_PINNED_HARD);
	hrtimer_start(&bare.timer, ns_to_ktime(floor_due_ns()), HRTIMER_MODE_ABS_PINNED_HARD);
	wait_for_completion(&bare.done);
	hrtimer_cancel(&bare.timer);
	return 0;
}

/* ---- the device ---- */

static int floor_measure_device(struct pci_dev *pdev)
{
	int err;

	err = pci_enable_device_mem(pdev);
	if (err)
		return err;
	err = pci_request_region(pdev, 0, KBUILD_MODNAME);
	if (err)
		goto err_disable;
	bare.pdev = pdev;
	bare.regs = pci_iomap(pdev, 0, 0);
	err = -ENOMEM;
	if (!bare.regs)
		goto err_release;
	pci_set_master(pdev);
	err = floor_is("mmio") ? floor_measure_mmio() : floor_measure_irq();
	pci_clear_master(pdev);
	pci_iounmap(pdev, bare.regs);
err_release:
	pci_release_region(pdev, 0);
err_disable:
	pci_disable_device(pdev);
	return err;
}

static int floor_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	return pdev == bare.wanted ? 0 : -ENODEV;
}

/* The name of the device is checked again in probe: an ID may stand for several devices. */
static struct pci_device_id floor_ids[2];

static struct pci_driver floor_driver = {
	.name = KBUILD_MODNAME,
	.id_table = floor_ids,
	.probe = floor_probe,
	.driver.probe_type = PROBE_FORCE_SYNCHRONOUS,
};

static int floor_with_device(void)
{
	unsigned int domain, bus, slot, function;
	int err;

	if (sscanf(device, "%x:%x:%x.%x", &domain, &bus, &slot, &function) != 4)
		return -EINVAL;
	bare.wanted = pci_get_domain_bus_and_slot(domain, bus, PCI_DEVFN(slot, function));
	if (!bare.wanted)
		return -ENODEV;
	err = -EINVAL;
	if (bare.kind->vendor &&
	    (bare.wanted->vendor != bare.kind->vendor || bare.wanted->device != bare.kind->id))
		goto out_put;
	floor_ids[0] = (struct pci_device_id){
		PCI_DEVICE(bare.wanted->vendor, bare.wanted->device)
	};
	err = pci_register_driver(&floor_driver);
	if (err)
		goto out_put;
	err = -EBUSY;
	if (bare.wanted->dev.driver == &floor_driver.driver)
		err = floor_measure_device(bare.wanted);
	pci_unregister_driver(&floor_driver);
out_put:
	pci_dev_put(bare.wanted);
	return err;
}

/* ---- the result ---- */

static int floor_result_show(struct seq_file *m, void *unused)
{
	seq_puts(m, "# stimulus count min_ns mean_ns max_ns sum_ns\n");
	seq_printf(m, "%s %llu %llu %llu %llu %llu\n", bare.kind->name, bare.count, bare.min_ns,
		   div64_u64(bare.sum_ns + bare.count / 2, bare.count), bare.max_ns, bare.sum_ns);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(floor_result);

static int __init lat_floor_init(void)
{
	unsigned int i;
	int err;

	for (i = 0; i < ARRAY_SIZE(floor_kinds); i++)
		if (!strcmp(floor_kinds[i].name, stimulus))
			bare.kind = &floor_kinds[i];
	if (!bare.kind || !samples || !period_ns || phase_ns >= period_ns)
		return -EINVAL;
	init_completion(&bare.done);
	bare.min_ns = U64_MAX;
	err = floor_is("timer") ? floor_measure_timer() : floor_with_device();
	if (err) {
		pr_err("stimulus=%s device=%s: %d\n", stimulus, device, err);
		return err;
	}
	bare.dir = debugfs_create_dir(KBUILD_MODNAME, NULL);
	debugfs_create_file("result", 0444, bare.dir, NULL, &floor_result_fops);
	return 0;
}

static void __exit lat_floor_exit(void)
{
	debugfs_remove(bare.dir);
}

module_init(lat_floor_init);
module_exit(lat_floor_exit);

MODULE_DESCRIPTION("The bare stimuli of the instruments and nothing else");
MODULE_LICENSE("GPL");
