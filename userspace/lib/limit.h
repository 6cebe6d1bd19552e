/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Limits: `[POINT:]STAT OP VALUE` read into a struct, and held against a report. A latency carries
 * its unit, percentiles and maxima are over recorded and missed samples, and a limit that the
 * samples cannot decide is neither kept nor broken.
 */
#ifndef LATKIT_LIMIT_H
#define LATKIT_LIMIT_H

#include "lib/stats.h"

/**
 * struct lat_limit - one limit
 * @text: as it was given
 * @point: name of the point; empty: every point
 * @stat: row of the table of statistics (lib/limit.c)
 * @percent: of a percentile
 * @op: the comparison that must hold
 * @value: right side: ns of a latency, number of a counter, number per @per_ns of a rate
 * @per_ns: of a rate: the time @value is for
 * @above_ns: of a rate: the samples counted are above this
 */
struct lat_limit {
	char *text;
	char point[32];
	const struct lat_stat *stat;
	struct lat_percent percent;
	enum lat_op { LAT_LE, LAT_LT, LAT_GE, LAT_GT, LAT_EQ } op;
	int64_t value;
	uint64_t per_ns;
	uint64_t above_ns;
};

/**
 * lat_limit_parse() - read a limit
 * @text: `p99.99<=50us`, `user:max<=100us`, `overruns=0`, `rate(80us)<=1/h`, `p99=50us`
 * @points: names of the instrument's points, ending with NULL; NULL: any name will do
 * @limit: filled; @limit->text is to be freed
 * @err: what is wrong with it and how it is written
 *
 * Return: 0 or -EINVAL
 */
int lat_limit_parse(const char *text, const char * const *points, struct lat_limit *limit,
		    struct lat_error *err);

/* True if the limit is a rate: then @above_ns should be counted exactly by the module. */
bool lat_limit_is_rate(const struct lat_limit *limit);

/**
 * lat_limit_judge() - hold a limit against a report, and add what came out to its verdicts
 * @limit: the limit
 * @report: the session
 */
void lat_limit_judge(const struct lat_limit *limit, struct lat_report *report);

/* A trust note with @code takes the verdict away (--require); added to the verdicts as well. */
void lat_require_judge(const char *code, struct lat_report *report);

/**
 * lat_verdicts_again() - judge the limits a saved report brought along anew
 * @report: as it was loaded: its verdicts hold the limits' texts
 * @err: which limit cannot be read
 *
 * Return: 0 or -EINVAL
 */
int lat_verdicts_again(struct lat_report *report, struct lat_error *err);

#endif /* LATKIT_LIMIT_H */
