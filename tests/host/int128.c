// SPDX-License-Identifier: GPL-2.0-only
/*
 * Proves the 128-bit arithmetic against the compiler's own, and mean and standard deviation against
 * the definition. Compiled twice: as it is, and with __SIZEOF_INT128__ undefined, so that the way
 * 32-bit machines multiply is proved as well.
 */
#include "../../modules/core/int128.h"
#include "../lib/tap.h"

typedef unsigned __int128 wide;

#define ROUNDS	300000

static wide join(struct lat_u128 a) { return (wide)a.high << 64 | a.low; }

static struct lat_u128 split(wide a)
{
	return (struct lat_u128){ .low = a, .high = a >> 64 };
}

/* Any length is as likely as any other, and edges come often. */
static unsigned long long any64(void)
{
	static const unsigned long long edges[] = {
		0, 1, 2, 0x7fffffff, 0x80000000, 0xffffffff, 1ULL << 32, ~0ULL >> 1, 1ULL << 63,
		~0ULL,
	};

	if (tap_random() % 4 == 0)
		return edges[tap_random() % (sizeof(edges) / sizeof(edges[0]))];
	return tap_random() >> (tap_random() % 64);
}

static wide any128(void)
{
	return ((wide)any64() << 64 | any64()) >> (tap_random() % 128);
}

static void arithmetic(void)
{
	unsigned int n;

	for (n = 0; n < ROUNDS; n++) {
		wide a = any128(), b = any128();

		tap_case(join(lat_u128_add(split(a), split(b))) == (wide)(a + b), "round %u", n);
	}
	tap_claim("sums are those of the compiler, wrapping");
	for (n = 0; n < ROUNDS; n++) {
		wide a = any128(), b = any128();

		tap_case(join(lat_u128_sub(split(a), split(b))) == (wide)(a - b), "round %u", n);
		tap_case(lat_u128_less(split(a), split(b)) == (a < b), "round %u: order", n);
		tap_case(!lat_u128_less(split(a), split(a)), "round %u: less than itself", n);
	}
	tap_claim("differences and the order are those of the compiler");
	for (n = 0; n < ROUNDS; n++) {
		unsigned long long a = any64(), b = any64();

		tap_case(join(lat_u128_mul(a, b)) == (wide)a * b, "%llu * %llu", a, b);
	}
	tap_claim("products are exact");
	for (n = 0; n < ROUNDS / 10; n++) {
		unsigned long long divisor = any64() ?: 1;
		wide a = any128();

		tap_case(join(lat_u128_div(split(a), divisor)) == a / divisor, "round %u", n);
	}
	tap_claim("quotients are rounded down");
}

static void signs(void)
{
	unsigned int n;

	for (n = 0; n < ROUNDS; n++) {
		long long value = any64();
		struct lat_u128 a = lat_u128_signed(value);

		tap_case(join(a) == (wide)(__int128)value, "%lld is not extended", value);
		tap_case(lat_u128_negative(a) == (value < 0), "%lld: sign", value);
		tap_case(join(lat_u128_abs(a)) ==
			 (value < 0 ? -(wide)(__int128)value : (wide)value),
			 "%lld: magnitude", value);
	}
	tap_claim("signed values keep sign and magnitude");
}

static void roots(void)
{
	unsigned int n;

	for (n = 0; n < ROUNDS / 10; n++) {
		wide a = any128();
		wide root = lat_u128_sqrt(split(a));

		tap_case(root * root <= a, "round %u: too great", n);
		/* (root + 1)^2 may not fit: a - root^2 < 2 * root + 1 says the same. */
		tap_case(a - root * root <= 2 * root, "round %u: too small", n);
	}
	tap_case(lat_u128_sqrt(split(~(wide)0)) == ~0ULL, "of the greatest number");
	tap_case(lat_u128_sqrt(split(0)) == 0, "of 0");
	tap_claim("square roots are the greatest integer whose square fits");
}

/* Sums of a list of values. */
struct sums {
	struct lat_u128 sum;
	struct lat_u128 sumsq;
	unsigned long long count;
};

static void add(struct sums *sums, long long value, unsigned long long times)
{
	unsigned long long magnitude = value;
	__int128 total = (__int128)value * times;

	if (value < 0)
		magnitude = -magnitude;
	sums->sum = lat_u128_add(sums->sum, split(total));
	sums->sumsq = lat_u128_add(sums->sumsq, split((wide)magnitude * magnitude * times));
	sums->count += times;
}

static void means(void)
{
	static const struct {
		long long sum;
		unsigned long long count;
		long long mean;
	} known[] = {
		{ 0, 1, 0 }, { 7, 2, 4 }, { -7, 2, -4 }, { 10, 3, 3 }, { 11, 3, 4 }, { -10, 3, -3 },
		{ -11, 3, -4 }, { 1, 1000, 0 }, { -499, 1000, 0 }, { -500, 1000, -1 },
		{ 0x7fffffffffffffffLL, 1, 0x7fffffffffffffffLL },
	};
	struct sums sums = { 0 };
	unsigned int n;

	for (n = 0; n < sizeof(known) / sizeof(known[0]); n++) {
		long long mean = lat_mean(lat_u128_signed(known[n].sum), known[n].count);

		tap_case(mean == known[n].mean, "%lld / %llu is %lld, not %lld", known[n].sum,
			 known[n].count, mean, known[n].mean);
	}
	tap_claim("means are rounded to the nearest, halves away from zero, negative ones too");

	add(&sums, -(1LL << 40), 3000000000000ULL);
	add(&sums, 1LL << 40, 1000000000000ULL);
	tap_case(lat_mean(sums.sum, sums.count) == -(1LL << 39), "%lld",
		 lat_mean(sums.sum, sums.count));
	tap_claim("a sum far beyond 64 bits has its exact mean");
}

/* sqrt(count * sumsq - sum^2) / count as the definition says, with room for it in 128 bits. */
static unsigned long long exact_stddev(const struct sums *sums)
{
	__int128 sum = join(sums->sum);
	wide square = join(sums->sumsq) * sums->count - (wide)(sum * sum);
	wide low = 0, high = (wide)1 << 63;

	while (low < high) {
		wide middle = low + (high - low + 1) / 2;

		if (middle * middle <= square)
			low = middle;
		else
			high = middle - 1;
	}
	return low / sums->count;
}

static void deviations(void)
{
	unsigned int n, i;

	for (n = 0; n < 20000; n++) {
		struct sums sums = { 0 };
		unsigned int shift = 28 + tap_random() % 34;

		for (i = tap_random() % 20 + 1; i; i--)
			add(&sums, (long long)tap_random() >> shift, tap_random() % 1000 + 1);
		tap_case(lat_stddev(sums.sum, sums.sumsq, sums.count) == exact_stddev(&sums),
			 "round %u: %llu, not %llu", n,
			 lat_stddev(sums.sum, sums.sumsq, sums.count), exact_stddev(&sums));
	}
	tap_claim("standard deviations of values of both signs are exact");
}

/* Two values as far as 2 * half apart, as often as each other, deviate by half. */
static void long_sessions(void)
{
	unsigned int bits, power;

	for (bits = 4; bits <= 36; bits++) {
		for (power = 0; power <= 40; power++) {
			struct sums sums = { 0 };
			unsigned long long half = 1ULL << (bits - 1), got;

			add(&sums, 1000, 1ULL << power);
			add(&sums, 1000 + 2 * half, 1ULL << power);
			got = lat_stddev(sums.sum, sums.sumsq, sums.count);
			/* With the values scaled down for lack of bits: to a millionth. */
			tap_case(got <= half && half - got <= half / 1000000 + 1,
				 "half 2^%u, 2^%u samples: %llu, not %llu", bits - 1, power + 1,
				 got, half);
		}
	}
	tap_claim("up to 2^41 samples of up to 68 s the deviation is right to a millionth");
	for (bits = 0; bits < 36; bits++) {
		struct sums sums = { 0 };

		add(&sums, 1LL << bits, 1000000000000ULL);
		tap_case(lat_stddev(sums.sum, sums.sumsq, sums.count) == 0, "2^%u: %llu", bits,
			 lat_stddev(sums.sum, sums.sumsq, sums.count));
	}
	tap_claim("10^12 equal samples have no deviation");
}

int main(void)
{
	arithmetic();
	signs();
	roots();
	means();
	deviations();
	long_sessions();
	return tap_end();
}
