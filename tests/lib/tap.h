/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * TAP for host tests in C. One claim is one line however many cases prove it: a loop calls
 * tap_case() for each case, which remembers and shows those that fail, and tap_claim() closes it.
 * The plan comes last, so a test that dies on the way has none and fails in scripts/check.
 */
#ifndef LATKIT_TEST_TAP_H
#define LATKIT_TEST_TAP_H

#include <stdarg.h>
#include <stdio.h>

static unsigned int tap_claims, tap_failed_claims;
static unsigned long long tap_cases, tap_failed_cases;

#define TAP_SHOWN	5	/* failing cases shown of each claim */

/* One case of the claim that is being proved. */
__attribute__((format(printf, 2, 3)))
static inline void tap_case(int holds, const char *fmt, ...)
{
	va_list args;

	tap_cases++;
	if (holds || tap_failed_cases++ >= TAP_SHOWN)
		return;
	va_start(args, fmt);
	printf("# ");
	vprintf(fmt, args);
	printf("\n");
	va_end(args);
}

/* The claim the cases since the last one were about; without a case nothing is proved. */
static inline void tap_claim(const char *sentence)
{
	int holds = tap_cases && !tap_failed_cases;

	tap_failed_claims += !holds;
	printf("%sok %u - %s\n", holds ? "" : "not ", ++tap_claims, sentence);
	if (!holds)
		printf("# %llu of %llu cases fail\n", tap_failed_cases, tap_cases);
	tap_cases = 0;
	tap_failed_cases = 0;
	fflush(stdout);
}

/* The plan, and the exit status of the test. */
static inline int tap_end(void)
{
	printf("1..%u\n", tap_claims);
	return !tap_claims || tap_failed_claims;
}

/* The same pseudo-random numbers in every run. */
static inline unsigned long long tap_random(void)
{
	static unsigned long long state = 0x2545f4914f6cdd1dULL;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state * 0x9e3779b97f4a7c15ULL;
}

#endif /* LATKIT_TEST_TAP_H */
