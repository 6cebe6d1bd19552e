/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The errors a PCIe device has reported (AER), as the kernel counts them in sysfs: what moved
 * during a session was on the link while it was measured.
 */
#ifndef LATKIT_AER_H
#define LATKIT_AER_H

#include "lib/report.h"

/**
 * struct lat_aer - a device's counters at one moment
 * @bdf: its address; NULL: no device yet
 * @n: counters; 0: the device or the kernel has none
 * @rows: severity, name and count of each
 */
struct lat_aer {
	char *bdf;
	size_t n;
	struct lat_aer_row {
		const char *severity;
		char name[32];
		unsigned long long count;
	} *rows;
};

/* Context: any; lat_aer_free(). A device without counters has none of them: no error. */
void lat_aer_read(const char *bdf, struct lat_aer *aer);
void lat_aer_free(struct lat_aer *aer);

/* What moved since @start: facts, and a note if anything did. Says nothing where nobody counts. */
void lat_aer_judge(const struct lat_aer *start, struct lat_report *report);

#endif /* LATKIT_AER_H */
