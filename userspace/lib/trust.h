/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The tool's half of the trust notes: what only user space can see of how far the numbers carry.
 */
#ifndef LATKIT_TRUST_H
#define LATKIT_TRUST_H

#include "lib/env.h"

/**
 * lat_trust_judge() - add the notes that follow from the machine at start and end
 * @start: at the start of the session
 * @end: at its end
 * @report: gets the notes
 */
void lat_trust_judge(const struct lat_env *start, const struct lat_env *end,
		     struct lat_report *report);

/* Is @code one that the modules or this tool can give? Return: 0 or -EINVAL. */
int lat_trust_check_code(const char *code, struct lat_error *err);

/* Codes of the tool's half, then of the modules'; ends with NULL. */
extern const char * const lat_trust_codes[];

#endif /* LATKIT_TRUST_H */
