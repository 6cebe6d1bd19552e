/* SPDX-License-Identifier: GPL-2.0-only */
/* What old kernels lack of x86's <asm/processor.h>. */
#ifndef LAT_COMPAT_ASM_PROCESSOR_H
#define LAT_COMPAT_ASM_PROCESSOR_H

#include_next <asm/processor.h>
#include <linux/version.h>

#ifdef CONFIG_X86
/* 6.7, commit 22dc02f81cdd ("x86/cpu: Move logical package and die IDs into topology info") */
#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 13, 0)
/* Nobody tells a module: every CPU has a cache of its own, then. */
static inline u32 per_cpu_llc_id(unsigned int cpu)
{
	return cpu;
}
#elif LINUX_VERSION_CODE < KERNEL_VERSION(6, 7, 0)
static inline u32 per_cpu_llc_id(unsigned int cpu)
{
	return get_llc_id(cpu);
}
#endif
#endif /* CONFIG_X86 */

#endif /* LAT_COMPAT_ASM_PROCESSOR_H */
