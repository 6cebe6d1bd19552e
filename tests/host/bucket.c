// SPDX-License-Identifier: GPL-2.0-only
/*
 * Proves the bucket arithmetic of the log-linear histogram on every edge of every bucket: that no
 * value is lost, none falls into two buckets, and none is misplaced by more than a 32nd of itself.
 */
#include "../../modules/core/bucket.h"
#include "../lib/tap.h"

static void round_trip(void)
{
	unsigned int i;

	for (i = 0; i < LAT_BUCKETS; i++) {
		unsigned long long low = lat_bucket_low(i), high = lat_bucket_high(i);

		tap_case(lat_bucket_index(low) == i, "bucket %u: its lowest value %llu is in %u", i,
			 low, lat_bucket_index(low));
		tap_case(lat_bucket_index(high) == i, "bucket %u: its highest value %llu is in %u",
			 i, high, lat_bucket_index(high));
		tap_case(lat_bucket_index(low + (high - low) / 2) == i,
			 "bucket %u: its middle is elsewhere", i);
	}
	tap_claim("the lowest, highest and middle value of every bucket fall into it");
}

static void no_gap(void)
{
	unsigned int i;

	tap_case(lat_bucket_low(0) == 0, "the first bucket begins at %llu", lat_bucket_low(0));
	for (i = 1; i < LAT_BUCKETS; i++)
		tap_case(lat_bucket_low(i) == lat_bucket_high(i - 1) + 1,
			 "bucket %u begins at %llu, the one before ends at %llu", i,
			 lat_bucket_low(i), lat_bucket_high(i - 1));
	tap_case(lat_bucket_high(LAT_BUCKETS - 1) == ~0ULL, "the last bucket ends");
	tap_claim("buckets follow each other without gap or overlap, from 0 to the last value");
}

static void narrow(void)
{
	unsigned int i;

	for (i = 0; i < LAT_BUCKET_OVER; i++) {
		unsigned long long low = lat_bucket_low(i);
		unsigned long long width = lat_bucket_high(i) - low + 1;

		tap_case(width == 1 || width * 32 <= low, "bucket %u: %llu wide at %llu", i, width,
			 low);
		tap_case(i >= 64 || width == 1, "bucket %u is %llu wide", i, width);
	}
	tap_claim("a bucket is one value, or at most 1/32 of its lowest value wide");
}

/* Every power of two and its neighbours, which are where shifts go wrong. */
static void powers(void)
{
	unsigned int bit;

	for (bit = 0; bit < 64; bit++) {
		unsigned long long power = 1ULL << bit;
		unsigned int before = lat_bucket_index(power - 1), at = lat_bucket_index(power);

		tap_case(bit < 37 ? at == before + 1 || power == 1 : at == before,
			 "2^%u: %u after %u", bit, at, before);
		tap_case(at < LAT_BUCKETS, "2^%u: index %u", bit, at);
		tap_case((bit >= 36) == (at == LAT_BUCKET_OVER), "2^%u: index %u", bit, at);
	}
	tap_claim("powers of two up to 2^36 begin a bucket, from there on all are in the last one");
}

static void known(void)
{
	static const struct {
		unsigned long long value;
		unsigned int index;
	} values[] = {
		{ 0, 0 }, { 1, 1 }, { 63, 63 }, { 64, 64 }, { 65, 64 }, { 66, 65 }, { 127, 95 },
		{ 128, 96 }, { 1023, 191 }, { 1024, 192 }, { 1000000, 509 },
		{ 1ULL << 32, 896 }, { (1ULL << 32) - 1, 895 }, { 0xffffffffffULL, 1024 },
		{ (1ULL << 36) - 1, 1023 }, { 1ULL << 36, 1024 }, { ~0ULL, 1024 },
	};
	unsigned int i;

	for (i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		tap_case(lat_bucket_index(values[i].value) == values[i].index,
			 "%llu is in bucket %u, not %u", values[i].value,
			 lat_bucket_index(values[i].value), values[i].index);
	tap_claim("values worked out by hand are where they belong, above 2^32 too");
}

static void ordered(void)
{
	unsigned int n;

	for (n = 0; n < 2000000; n++) {
		unsigned long long a = tap_random() >> (tap_random() % 64);
		unsigned long long b = tap_random() >> (tap_random() % 64);
		unsigned int i = lat_bucket_index(a);

		tap_case((a <= b) ? i <= lat_bucket_index(b) : i >= lat_bucket_index(b),
			 "%llu and %llu are in the wrong order", a, b);
		tap_case(lat_bucket_low(i) <= a && a <= lat_bucket_high(i),
			 "%llu is outside of its bucket %u", a, i);
	}
	tap_claim("two million random values keep their order and lie inside their buckets");
}

static void small(void)
{
	tap_case(LAT_BUCKETS * 8 <= 9 * 1024, "%u buckets are %u bytes", LAT_BUCKETS,
		 LAT_BUCKETS * 8);
	tap_case(LAT_BUCKET_LIMIT > 17000000000ULL, "ends at %llu ns", LAT_BUCKET_LIMIT);
	tap_claim("a histogram takes at most 9 KiB and resolves values of more than 17 s");
}

int main(void)
{
	round_trip();
	no_gap();
	narrow();
	powers();
	known();
	ordered();
	small();
	return tap_end();
}
