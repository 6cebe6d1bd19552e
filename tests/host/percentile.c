// SPDX-License-Identifier: GPL-2.0-only
/*
 * Proves the percentiles against sorted sequences: whatever the shape of the distribution, the
 * percentile of the buckets must be that of the sequence, at most 1/32 of it above and never above
 * the maximum, and must be withheld where fewer than ten samples lie beyond.
 */
#include <stdlib.h>
#include <string.h>

#include "../../modules/core/percentile.h"
#include "../lib/tap.h"

#define SAMPLES_MAX	20000

/* A sequence, and the same in buckets. */
static long long sequence[SAMPLES_MAX];
static unsigned int n;
static unsigned long long below[LAT_BUCKETS], values[LAT_BUCKETS], missed[LAT_BUCKETS];
static struct lat_dist dist;

static void clear(void)
{
	memset(below, 0, sizeof(below));
	memset(values, 0, sizeof(values));
	memset(missed, 0, sizeof(missed));
	dist = (struct lat_dist){ .values = values, .max = -(1LL << 62) };
	n = 0;
}

/* One sample, recorded or missed. */
static void add_to(unsigned long long *buckets, long long value)
{
	sequence[n++] = value;
	buckets[lat_bucket_index(value < 0 ? -value : value)]++;
	if (value > dist.max)
		dist.max = value;
}

static void add(long long value) { add_to(value < 0 ? below : values, value); }

static int compare(const void *a, const void *b)
{
	long long x = *(const long long *)a, y = *(const long long *)b;

	return x < y ? -1 : x > y;
}

/* The smallest rank whose share is at least num / den, in exact integers. */
static unsigned long long exact_rank(const struct lat_percentile *p, unsigned long long count)
{
	unsigned __int128 product = (unsigned __int128)count * p->num;

	return (product + p->den - 1) / p->den;
}

/* Every percentile of the distribution is that of the sequence. */
static void cases(const char *shape)
{
	const struct lat_percentile *p;
	unsigned long long count = lat_dist_count(&dist);

	qsort(sequence, n, sizeof(sequence[0]), compare);
	tap_case(count == n + dist.lost, "%s: counts %llu, not %llu", shape, count, n + dist.lost);
	for (p = lat_percentiles; p->name; p++) {
		unsigned long long rank = exact_rank(p, count);
		long long value = -123456789, exact, slack;
		enum lat_rank got = lat_dist_percentile(&dist, p, count, &value);

		if (count - rank < 10) {
			tap_case(got == LAT_RANK_FEW, "%s p%s of %llu: there, with %llu beyond",
				 shape, p->name, count, count - rank);
			continue;
		}
		if (rank > n) {
			tap_case(got == LAT_RANK_INFINITE, "%s p%s: not infinite", shape, p->name);
			continue;
		}
		exact = sequence[rank - 1];
		slack = (exact < 0 ? -exact : exact) / 32;
		/* The last bucket has no upper edge but the maximum. */
		if (exact >= (long long)LAT_BUCKET_LIMIT)
			slack = dist.max - exact;
		tap_case(got == LAT_RANK_VALUE && value >= exact && value <= exact + slack &&
			 value <= dist.max, "%s p%s of %llu: %lld, not %lld..%lld", shape, p->name,
			 count, value, exact, exact + slack);
	}
}

static void uniform(void)
{
	static const unsigned int sizes[] = { 20, 21, 99, 100, 101, 1000, 1009, 1010, 9999, 20000 };
	unsigned int i, k;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		clear();
		for (k = 0; k < sizes[i]; k++)
			add(tap_random() % 1000000);
		cases("uniform");
	}
	tap_claim("uniform values");
}

static void shapes(void)
{
	unsigned int k;

	clear();
	for (k = 0; k < 10000; k++)
		add(k % 10 ? 1000 + tap_random() % 50 : 1000000 + tap_random() % 5000);
	cases("two peaks");
	tap_claim("two peaks far apart, nine tenths in the lower one");

	clear();
	for (k = 0; k < 20000; k++)
		add(500 + 1000000000ULL / (1 + tap_random() % 1000000));
	cases("heavy tail");
	tap_claim("a heavy tail over six decades");

	clear();
	for (k = 0; k < 5000; k++)
		add(777);
	cases("equal");
	tap_case(dist.max == 777, "the greatest is %lld", dist.max);
	tap_claim("values that are all equal: every percentile is that value");

	clear();
	for (k = 0; k < 10000; k++)
		add((1LL << 32) + (long long)(tap_random() % (15ULL << 32)));
	cases("long");
	tap_claim("values above 2^32");

	clear();
	for (k = 0; k < 3000; k++)
		add((k % 3 ? 70LL : 100LL) * 1000000000LL);
	cases("overflow");
	tap_claim("values in the last bucket: the percentile is the maximum, not infinity");
}

static void few(void)
{
	const struct lat_percentile *p = &lat_percentiles[0];
	unsigned int k, count;
	long long value;

	clear();
	tap_case(lat_dist_percentile(&dist, p, 0, &value) == LAT_RANK_FEW, "of nothing");
	tap_claim("nothing has no percentile");
	clear();
	add(42);
	cases("one");
	tap_claim("one sample has no percentile");
	for (count = 1; count <= 40; count++) {
		clear();
		for (k = 0; k < count; k++)
			add(1000 + k);
		cases("few");
	}
	clear();
	for (k = 0; k < 19; k++)
		add(k);
	tap_case(lat_dist_percentile(&dist, p, 19, &value) == LAT_RANK_FEW, "the median of 19");
	add(19);
	tap_case(lat_dist_percentile(&dist, p, 20, &value) == LAT_RANK_VALUE && value == 9,
		 "the median of 20");
	tap_claim("the median needs 20 samples: ten must lie beyond it");
}

static void signed_points(void)
{
	unsigned int k;

	clear();
	dist.below = below;
	for (k = 0; k < 20000; k++)
		add((long long)(tap_random() % 200001) - 100000);
	cases("signed");
	tap_claim("a signed point: percentiles run over both sides of zero");

	clear();
	dist.below = below;
	for (k = 0; k < 3000; k++)
		add(-1 - (long long)(tap_random() % 100000));
	cases("all below");
	tap_claim("a signed point with nothing but values below zero");
}

/* Values below zero of an unsigned point are in no bucket, but they are samples. */
static void negatives(void)
{
	unsigned int k;
	long long value = 0;

	clear();
	for (k = 0; k < 1000; k++)
		add(100 + k);
	for (k = 0; k < 1000; k++)
		sequence[n++] = -1;
	dist.negative = 1000;
	cases("negatives");
	tap_case(lat_dist_percentile(&dist, &lat_percentiles[0], lat_dist_count(&dist), &value) ==
		 LAT_RANK_VALUE && value < 0, "the median is %lld", value);
	tap_claim("values below zero at an unsigned point rank below all others");
}

static void stalls(void)
{
	static const unsigned int losses[] = { 5, 11, 600 };
	unsigned int k, i;
	long long value;

	clear();
	dist.missed = missed;
	for (k = 0; k < 10000; k++)
		add(7000 + tap_random() % 1000);
	/* One stall of 50 ms at 1 kHz hides 50 periods. */
	for (k = 1; k <= 50; k++)
		add_to(missed, k * 1000000LL);
	cases("stall");
	lat_dist_percentile(&dist, &lat_percentiles[3], lat_dist_count(&dist), &value);
	tap_case(value > 39000000 && value < 42000000, "p99.9 is %lld", value);
	tap_claim("one stall of 50 ms in 10 s at 1 kHz shows in p99.9: 40 ms");

	for (i = 0; i < 3; i++) {
		clear();
		for (k = 0; k < 1000; k++)
			add(k);
		dist.lost = losses[i];
		cases("lost");
	}
	tap_claim("stimuli that never ended rank as infinite");

	for (i = 0; i < 300; i++) {
		unsigned int count = tap_random() % 3000;

		clear();
		dist.below = below;
		dist.missed = missed;
		dist.lost = tap_random() % 3 ? 0 : tap_random() % 100;
		for (k = 0; k < count; k++) {
			long long any = (long long)tap_random() >> (28 + tap_random() % 32);

			if (tap_random() % 4)
				add(any);
			else
				add_to(missed, any < 0 ? -any : any);
		}
		cases("mixed");
	}
	tap_claim("300 mixtures of recorded, missed and lost, on both sides of zero");
}

static void ranks(void)
{
	static const unsigned long long counts[] = {
		1, 2, 3, 999999, 1000000, 1000001, (1ULL << 32) - 1, 1ULL << 32, (1ULL << 32) + 7,
		1ULL << 53, 1000000000000ULL * 4096, ~0ULL,
	};
	const struct lat_percentile *p;
	unsigned int i;

	for (p = lat_percentiles; p->name; p++)
		for (i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
			tap_case(lat_percentile_rank(p, counts[i]) == exact_rank(p, counts[i]),
				 "p%s of %llu: %llu, not %llu", p->name, counts[i],
				 lat_percentile_rank(p, counts[i]), exact_rank(p, counts[i]));
	tap_claim("ranks are exact for counts up to 2^64");
}

static void huge_counts(void)
{
	unsigned long long count;
	long long value = 0;

	clear();
	values[lat_bucket_index(1000)] = 6000000000ULL;
	values[lat_bucket_index(50000)] = 3999000000ULL;
	values[lat_bucket_index(900000)] = 1000000ULL;
	dist.max = 900000;
	count = lat_dist_count(&dist);
	lat_dist_percentile(&dist, &lat_percentiles[0], count, &value);
	tap_case(value >= 1000 && value <= 1031, "p50 is %lld", value);
	lat_dist_percentile(&dist, &lat_percentiles[4], count, &value);
	tap_case(value >= 50000 && value <= 51562, "p99.99 is %lld", value);
	lat_dist_percentile(&dist, &lat_percentiles[5], count, &value);
	tap_case(value == 900000, "p99.999 is %lld", value);
	tap_claim("ten thousand million samples in three peaks");
}

int main(void)
{
	uniform();
	shapes();
	few();
	signed_points();
	negatives();
	stalls();
	ranks();
	huge_counts();
	return tap_end();
}
