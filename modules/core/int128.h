/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Exact 128-bit sums: what a histogram needs so that sum, mean and standard deviation stay exact
 * however long a session runs, on 32-bit machines too. The hot path only adds; dividing and square
 * roots belong to readers and are written as plain loops, since the kernel has neither for 128
 * bits.
 *
 * Plain arithmetic without a kernel or C library call: modules and host tests compile this file.
 */
#ifndef LAT_CORE_INT128_H
#define LAT_CORE_INT128_H

/**
 * struct lat_u128 - an unsigned 128-bit number in two halves
 * @low: bits 63:0
 * @high: bits 127:64
 *
 * A signed number is kept in it as two's complement.
 */
struct lat_u128 {
	unsigned long long low;
	unsigned long long high;
};

/* @a + @b, wrapping. */
static inline struct lat_u128 lat_u128_add(struct lat_u128 a, struct lat_u128 b)
{
	struct lat_u128 sum = { .low = a.low + b.low, .high = a.high + b.high };

	sum.high += sum.low < a.low;
	return sum;
}

/* @a - @b, wrapping. */
static inline struct lat_u128 lat_u128_sub(struct lat_u128 a, struct lat_u128 b)
{
	return (struct lat_u128){
		.low = a.low - b.low,
		.high = a.high - b.high - (a.low < b.low),
	};
}

static inline int lat_u128_less(struct lat_u128 a, struct lat_u128 b)
{
	return a.high != b.high ? a.high < b.high : a.low < b.low;
}

/* A signed 64-bit number, sign extended. */
static inline struct lat_u128 lat_u128_signed(long long value)
{
	return (struct lat_u128){
		.low = (unsigned long long)value,
		.high = value < 0 ? ~0ULL : 0,
	};
}

static inline int lat_u128_negative(struct lat_u128 a)
{
	return a.high >> 63;
}

/* Magnitude of a signed number. */
static inline struct lat_u128 lat_u128_abs(struct lat_u128 a)
{
	return lat_u128_negative(a) ? lat_u128_sub((struct lat_u128){ 0 }, a) : a;
}

/* @a * @b, exact. */
static inline struct lat_u128 lat_u128_mul(unsigned long long a, unsigned long long b)
{
#ifdef __SIZEOF_INT128__
	unsigned __int128 product = (unsigned __int128)a * b;

	return (struct lat_u128){ .low = product, .high = product >> 64 };
#else
	unsigned long long al = (unsigned int)a, ah = a >> 32;
	unsigned long long bl = (unsigned int)b, bh = b >> 32;
	unsigned long long low = al * bl;
	unsigned long long mid = ah * bl + (low >> 32);
	unsigned long long mid2 = al * bh + (unsigned int)mid;

	return (struct lat_u128){
		.low = (mid2 << 32) | (unsigned int)low,
		.high = ah * bh + (mid >> 32) + (mid2 >> 32),
	};
#endif
}

/* @a << 1 with @bit shifted in. */
static inline struct lat_u128 lat_u128_shift_in(struct lat_u128 a, unsigned int bit)
{
	return (struct lat_u128){
		.low = a.low << 1 | bit,
		.high = a.high << 1 | a.low >> 63,
	};
}

/* Bit @n of @a. */
static inline unsigned int lat_u128_bit(struct lat_u128 a, unsigned int n)
{
	return (n < 64 ? a.low >> n : a.high >> (n - 64)) & 1;
}

/**
 * lat_u128_div() - long division
 * @a: dividend
 * @divisor: not 0
 *
 * Context: any; 128 steps, not for the hot path.
 * Return: the quotient, rounded down
 */
static inline struct lat_u128 lat_u128_div(struct lat_u128 a, unsigned long long divisor)
{
	struct lat_u128 quotient = { 0 }, rest = { 0 };
	const struct lat_u128 d = { .low = divisor };
	int n;

	for (n = 127; n >= 0; n--) {
		rest = lat_u128_shift_in(rest, lat_u128_bit(a, n));
		quotient = lat_u128_shift_in(quotient, 0);
		if (!lat_u128_less(rest, d)) {
			rest = lat_u128_sub(rest, d);
			quotient.low |= 1;
		}
	}
	return quotient;
}

/**
 * lat_u128_sqrt() - integer square root
 * @a: any value
 *
 * Context: any; 64 steps, not for the hot path.
 * Return: the greatest r with r * r <= @a
 */
static inline unsigned long long lat_u128_sqrt(struct lat_u128 a)
{
	unsigned long long root = 0;
	int n;

	for (n = 63; n >= 0; n--) {
		unsigned long long candidate = root | 1ULL << n;

		if (!lat_u128_less(a, lat_u128_mul(candidate, candidate)))
			root = candidate;
	}
	return root;
}

/**
 * lat_mean() - mean of a signed sum
 * @sum: two's complement
 * @count: not 0
 *
 * Context: any, not for the hot path.
 * Return: @sum / @count, rounded to the nearest, halves away from zero
 */
static inline long long lat_mean(struct lat_u128 sum, unsigned long long count)
{
	struct lat_u128 half = { .low = count / 2 };
	struct lat_u128 mean = lat_u128_div(lat_u128_add(lat_u128_abs(sum), half), count);

	return lat_u128_negative(sum) ? -(long long)mean.low : (long long)mean.low;
}

/**
 * lat_stddev() - standard deviation of a population
 * @sum: sum of the values, two's complement
 * @sumsq: sum of their squares
 * @count: how many, not 0
 *
 * sqrt(count * sumsq - sum^2) / count, in integers. Where count * sumsq would not fit into 128 bits
 * both are taken with less resolution.
 *
 * Context: any, not for the hot path.
 * Return: standard deviation, rounded down
 */
static inline unsigned long long lat_stddev(struct lat_u128 sum, struct lat_u128 sumsq,
					    unsigned long long count)
{
	struct lat_u128 abs_sum = lat_u128_abs(sum), square, scaled;
	unsigned int shift = 0;

	/* Scale the values by 2^-shift until the products fit. */
	while (abs_sum.high || (sumsq.high && sumsq.high >= ~0ULL / count)) {
		abs_sum.low = abs_sum.low >> 1 | abs_sum.high << 63;
		abs_sum.high >>= 1;
		sumsq.low = sumsq.low >> 2 | sumsq.high << 62;
		sumsq.high >>= 2;
		shift++;
	}
	square = lat_u128_mul(abs_sum.low, abs_sum.low);
	scaled = lat_u128_mul(sumsq.low, count);
	scaled.high += sumsq.high * count;
	if (lat_u128_less(scaled, square))
		return 0;
	scaled = lat_u128_sub(scaled, square);
	return lat_u128_div((struct lat_u128){ .low = lat_u128_sqrt(scaled) }, count).low << shift;
}

#endif /* LAT_CORE_INT128_H */
