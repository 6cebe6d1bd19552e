/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Bucket arithmetic of the log-linear histogram: every power of two is split into LAT_BUCKET_SUB
 * equal buckets, so a bucket is never wider than 1/32 (3.1 %) of the values it counts, and values
 * below 64 have a bucket each. One more bucket at the end takes everything from
 * LAT_BUCKET_LIMIT (68.7 s) up, so that no value is ever lost.
 *
 * Plain arithmetic without a kernel or C library call: the modules, the command line tools and the
 * host tests compile this same file.
 */
#ifndef LAT_CORE_BUCKET_H
#define LAT_CORE_BUCKET_H

#define LAT_BUCKET_SUB_BITS	5
#define LAT_BUCKET_SUB		(1U << LAT_BUCKET_SUB_BITS)
#define LAT_BUCKET_VALUE_BITS	36
#define LAT_BUCKET_LIMIT	(1ULL << LAT_BUCKET_VALUE_BITS)
/* The last bucket, for values from LAT_BUCKET_LIMIT up. */
#define LAT_BUCKET_OVER		((LAT_BUCKET_VALUE_BITS - LAT_BUCKET_SUB_BITS + 1) * LAT_BUCKET_SUB)
#define LAT_BUCKETS		(LAT_BUCKET_OVER + 1)

/**
 * lat_bucket_index() - the bucket a value falls into
 * @value: any 64-bit value, ns
 *
 * Context: any. Straight-line code: one bit scan, two shifts.
 * Return: 0 .. LAT_BUCKETS - 1
 */
static inline unsigned int lat_bucket_index(unsigned long long value)
{
	/* Below 2 * SUB the "octave" is always the same: one bucket per value. */
	unsigned int shift = 63 - LAT_BUCKET_SUB_BITS -
			     __builtin_clzll(value | (2 * LAT_BUCKET_SUB - 1));
	unsigned int index = (shift << LAT_BUCKET_SUB_BITS) + (unsigned int)(value >> shift);

	return index < LAT_BUCKET_OVER ? index : LAT_BUCKET_OVER;
}

/**
 * lat_bucket_low() - the smallest value of a bucket
 * @index: 0 .. LAT_BUCKETS - 1
 *
 * Context: any.
 * Return: lower edge, ns, inclusive
 */
static inline unsigned long long lat_bucket_low(unsigned int index)
{
	unsigned int shift;

	if (index < 2 * LAT_BUCKET_SUB)
		return index;
	shift = (index >> LAT_BUCKET_SUB_BITS) - 1;
	return (unsigned long long)(index - (shift << LAT_BUCKET_SUB_BITS)) << shift;
}

/**
 * lat_bucket_high() - the greatest value of a bucket
 * @index: 0 .. LAT_BUCKETS - 1
 *
 * Context: any.
 * Return: upper edge, ns, inclusive; ~0ULL for the last bucket
 */
static inline unsigned long long lat_bucket_high(unsigned int index)
{
	return index < LAT_BUCKET_OVER ? lat_bucket_low(index + 1) - 1 : ~0ULL;
}

#endif /* LAT_CORE_BUCKET_H */
