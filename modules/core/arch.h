/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What only the architecture or the timekeeping code knows about the machine, with "unknown" where
 * there is nothing to ask.
 */
#ifndef LAT_CORE_ARCH_H
#define LAT_CORE_ARCH_H

#include <linux/cpumask.h>
#include <linux/kernel_stat.h>
#include <linux/timekeeping.h>
#include <linux/topology.h>

#ifdef CONFIG_X86
#include <asm/hardirq.h>
#include <asm/msr.h>
#include <asm/pgtable.h>
#include <asm/processor.h>
#include <asm/tsc.h>
#endif

/* Has the counter behind the clock been found unreliable? */
static inline bool lat_arch_clock_unstable(void)
{
#ifdef CONFIG_X86
	return check_tsc_unstable();
#else
	return false;
#endif
}

/* How often the clocksource was changed since boot. */
static inline u32 lat_arch_clock_changes(void)
{
	struct system_time_snapshot snapshot;

	ktime_get_snapshot(&snapshot);
	return snapshot.cs_was_changed_seq;
}

/* NMIs a CPU has taken since boot; 0 where nobody counts. */
static inline u64 lat_arch_nmi_count(unsigned int cpu)
{
#ifdef CONFIG_X86
	return per_cpu(irq_stat, cpu).__nmi_count;
#else
	return 0;
#endif
}

/*
 * SMIs a CPU has taken since reset (Intel SDM vol. 4, MSR_SMI_COUNT; QEMU has it too); false: not
 * counted here. CPUs without the register raise a fault, which is caught.
 */
static inline bool lat_arch_smi_count(unsigned int cpu, u64 *count)
{
#ifdef CONFIG_X86
	return !rdmsrl_safe_on_cpu(cpu, MSR_SMI_COUNT, count);
#else
	return false;
#endif
}

/* The same for this CPU. Context: any, this CPU pinned. */
static inline bool lat_arch_this_cpu_smis(u64 *count)
{
#ifdef CONFIG_X86
	return !rdmsrl_safe(MSR_SMI_COUNT, count);
#else
	return false;
#endif
}

/* NMIs this CPU has taken: one load. Context: any, this CPU pinned. */
static __always_inline u64 lat_arch_this_cpu_nmis(void)
{
#ifdef CONFIG_X86
	return this_cpu_read(irq_stat.__nmi_count);
#else
	return 0;
#endif
}

/*
 * Interrupts and NMIs this CPU has taken, as a number that moves with each of them: a few loads.
 * x86 counts the vectors of the local APIC apart from those of devices. Softirqs and other threads
 * come on the heels of one of these and need no count of their own. Context: any, this CPU pinned.
 */
static __always_inline u64 lat_arch_this_cpu_interrupts(void)
{
	u64 count = this_cpu_read(kstat.irqs_sum);

#ifdef CONFIG_X86
	count += this_cpu_read(irq_stat.__nmi_count);
#ifdef CONFIG_X86_LOCAL_APIC
	count += this_cpu_read(irq_stat.apic_timer_irqs);
	count += this_cpu_read(irq_stat.apic_irq_work_irqs);
	count += this_cpu_read(irq_stat.apic_perf_irqs);
	count += this_cpu_read(irq_stat.irq_spurious_count);
#endif
#ifdef CONFIG_SMP
	count += this_cpu_read(irq_stat.irq_resched_count);
	count += this_cpu_read(irq_stat.irq_call_count);
#endif
#ifdef CONFIG_X86_THERMAL_VECTOR
	count += this_cpu_read(irq_stat.irq_thermal_count);
#endif
#ifdef CONFIG_X86_MCE_THRESHOLD
	count += this_cpu_read(irq_stat.irq_threshold_count);
#endif
#endif
	return count;
}

/* How the CPU may treat reads of a word. */
enum lat_mapping {
	LAT_MAPPING_UNKNOWN,
	LAT_MAPPING_UNCACHED,
	LAT_MAPPING_COMBINING,
	LAT_MAPPING_CACHED,
};

/*
 * How a word that ioremap() has mapped is mapped in truth: another mapping of the same page that
 * was there before decides. Context: process.
 */
static inline enum lat_mapping lat_arch_mapping(const void __iomem *address)
{
#ifdef CONFIG_X86
	unsigned int level;
	pte_t *pte = lookup_address((unsigned long)address, &level);

	if (!pte)
		return LAT_MAPPING_UNKNOWN;
	/* Linux's PAT: PCD is uncached with or without PWT, PWT alone is write-combining. */
	if (pte_flags(*pte) & _PAGE_PCD)
		return LAT_MAPPING_UNCACHED;
	return pte_flags(*pte) & _PAGE_PWT ? LAT_MAPPING_COMBINING : LAT_MAPPING_CACHED;
#else
	return LAT_MAPPING_UNCACHED;
#endif
}

/* Do two CPUs share their last-level cache? Where nobody says, no. */
static inline bool lat_arch_share_llc(unsigned int a, unsigned int b)
{
#ifdef CONFIG_X86
	return per_cpu_llc_id(a) == per_cpu_llc_id(b);
#else
	return false;
#endif
}

/**
 * lat_arch_relation() - how near two CPUs are
 * @a: a CPU
 * @b: a CPU
 *
 * Context: process.
 * Return: same, smt, llc, package or remote
 */
static inline const char *lat_arch_relation(unsigned int a, unsigned int b)
{
	if (a == b)
		return "same";
	if (cpumask_test_cpu(b, topology_sibling_cpumask(a)))
		return "smt";
	if (lat_arch_share_llc(a, b))
		return "llc";
	if (topology_physical_package_id(a) == topology_physical_package_id(b))
		return "package";
	return "remote";
}

#endif /* LAT_CORE_ARCH_H */
