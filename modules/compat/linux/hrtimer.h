/* SPDX-License-Identifier: GPL-2.0-only */
/* What old kernels lack of <linux/hrtimer.h>. */
#ifndef LAT_COMPAT_LINUX_HRTIMER_H
#define LAT_COMPAT_LINUX_HRTIMER_H

#include_next <linux/hrtimer.h>
#include <linux/version.h>

/* 6.13, commit 908a1d775422 ("hrtimers: Introduce hrtimer_setup() to replace hrtimer_init()") */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
static inline void hrtimer_setup(struct hrtimer *timer,
				 enum hrtimer_restart (*function)(struct hrtimer *),
				 clockid_t clock_id, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock_id, mode);
	timer->function = function;
}
#endif

#endif /* LAT_COMPAT_LINUX_HRTIMER_H */
