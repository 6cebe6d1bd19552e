/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Percentiles of a distribution kept in log-linear buckets: over what was recorded, over the
 * periods that were due and skipped (with their lateness), and over those whose end never came
 * (they rank as +infinity). A percentile is the upper edge of its bucket, never above the maximum,
 * and it does not exist where fewer than LAT_PERCENTILE_BEYOND samples lie beyond it.
 *
 * Plain arithmetic: modules and host tests compile this file.
 */
#ifndef LAT_CORE_PERCENTILE_H
#define LAT_CORE_PERCENTILE_H

#include "bucket.h"

#ifdef __KERNEL__
#include <linux/math64.h>
#define lat_div_rem(value, divisor, rest) div_u64_rem(value, divisor, rest)
#else
static inline unsigned long long lat_div_rem(unsigned long long value, unsigned int divisor,
					     unsigned int *rest)
{
	*rest = value % divisor;
	return value / divisor;
}
#endif

#define LAT_PERCENTILE_BEYOND	10

/**
 * struct lat_percentile - one percentile, as an exact fraction
 * @name: as people write it, without the p
 * @num: numerator
 * @den: denominator, at most a million
 */
struct lat_percentile {
	const char *name;
	unsigned int num;
	unsigned int den;
};

/* The ones every summary shows; ends with a NULL name. */
static const struct lat_percentile lat_percentiles[] = {
	{ "50", 1, 2 },
	{ "90", 9, 10 },
	{ "99", 99, 100 },
	{ "99.9", 999, 1000 },
	{ "99.99", 9999, 10000 },
	{ "99.999", 99999, 100000 },
	{ }
};

#define LAT_PERCENTILES (sizeof(lat_percentiles) / sizeof(lat_percentiles[0]) - 1)

/**
 * struct lat_dist - a distribution to take percentiles of
 * @below: LAT_BUCKETS counts of values below zero by magnitude, or NULL
 * @values: LAT_BUCKETS counts of values from zero up
 * @missed: LAT_BUCKETS counts of skipped periods by lateness, or NULL
 * @negative: values below zero that are in no bucket
 * @lost: stimuli whose end never came
 * @max: greatest value, of @missed too if that is given
 */
struct lat_dist {
	const unsigned long long *below;
	const unsigned long long *values;
	const unsigned long long *missed;
	unsigned long long negative;
	unsigned long long lost;
	long long max;
};

/* How many samples a distribution has, all kinds together. */
static inline unsigned long long lat_dist_count(const struct lat_dist *dist)
{
	unsigned long long count = dist->negative + dist->lost;
	unsigned int i;

	for (i = 0; i < LAT_BUCKETS; i++) {
		count += dist->values[i];
		if (dist->below)
			count += dist->below[i];
		if (dist->missed)
			count += dist->missed[i];
	}
	return count;
}

/* What lat_dist_percentile() found. */
enum lat_rank {
	LAT_RANK_VALUE,		/* a value */
	LAT_RANK_FEW,		/* too few samples beyond it */
	LAT_RANK_INFINITE,	/* a stimulus whose end never came */
};

/* Rank of a percentile among @count samples: the smallest r with r / count >= p, from 1. */
static inline unsigned long long lat_percentile_rank(const struct lat_percentile *p,
						     unsigned long long count)
{
	unsigned int rest;
	unsigned long long whole = lat_div_rem(count, p->den, &rest);

	/* No overflow: rest < den <= 10^6 and num <= den. */
	return whole * p->num + lat_div_rem((unsigned long long)rest * p->num + p->den - 1,
					    p->den, &rest);
}

/**
 * lat_dist_percentile() - one percentile of a distribution
 * @dist: the distribution
 * @p: which
 * @count: lat_dist_count() of @dist
 * @value: the percentile, ns, where LAT_RANK_VALUE is returned
 *
 * Context: any; walks the buckets, not for the hot path.
 * Return: enum lat_rank
 */
static inline enum lat_rank lat_dist_percentile(const struct lat_dist *dist,
						const struct lat_percentile *p,
						unsigned long long count, long long *value)
{
	unsigned long long rank = lat_percentile_rank(p, count), seen = dist->negative;
	long long edge = -1;
	unsigned int i;

	if (count - rank < LAT_PERCENTILE_BEYOND)
		return LAT_RANK_FEW;
	if (seen >= rank)
		goto found;
	for (i = LAT_BUCKETS; dist->below && i--;) {
		seen += dist->below[i];
		edge = -(long long)lat_bucket_low(i);
		if (seen >= rank)
			goto found;
	}
	for (i = 0; i < LAT_BUCKETS; i++) {
		seen += dist->values[i];
		if (dist->missed)
			seen += dist->missed[i];
		edge = (long long)(lat_bucket_high(i) & ~(1ULL << 63));
		if (seen >= rank)
			goto found;
	}
	return LAT_RANK_INFINITE;
found:
	*value = edge < dist->max ? edge : dist->max;
	return LAT_RANK_VALUE;
}

#endif /* LAT_CORE_PERCENTILE_H */
