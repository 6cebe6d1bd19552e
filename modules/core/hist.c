// SPDX-License-Identifier: GPL-2.0-only
/*
 * The recorder's rare paths, its memory, and consistent copies of it. The hot path is in hist.h.
 */
#include <linux/irqflags.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/sort.h>

#include "internal.h"

/* A sample below zero: a signed point has buckets for it, an unsigned one counts it apart. */
static void lat_rec_negative(struct lat_rec *rec, u64 seq, u64 stimulus_ns, s64 ns, u32 flags)
{
	u64 magnitude = -(u64)ns;

	if (rec->below) {
		lat_rec_add(rec, rec->below, magnitude, seq, stimulus_ns, ns, flags);
		return;
	}
	/* One dummy bucket, which magnitude 0 falls into; the square is added apart. */
	raw_write_seqcount_begin(&rec->seqcount);
	rec->sumsq = lat_u128_add(rec->sumsq, lat_u128_mul(magnitude, magnitude));
	raw_write_seqcount_end(&rec->seqcount);
	lat_rec_add(rec, &rec->negative, 0, seq, stimulus_ns, ns, flags);
}

/* Keep the worst samples: replace the least of them once the table is full. */
static void lat_rec_worst(struct lat_rec *rec, const struct lat_sample *sample, u64 magnitude)
{
	unsigned int i, least = 0;
	u64 least_ns = U64_MAX;

	if (rec->worsts < LAT_WORST) {
		rec->worst[rec->worsts++] = *sample;
	} else {
		for (i = 0; i < LAT_WORST; i++) {
			u64 ns = abs(rec->worst[i].latency_ns);

			if (ns < least_ns) {
				least_ns = ns;
				least = i;
			}
		}
		if (magnitude > least_ns)
			rec->worst[least] = *sample;
	}
}

/* From which magnitude on a sample is worth the slow path. */
static u64 lat_rec_rare_ns(const struct lat_rec *rec)
{
	u64 rare_ns = U64_MAX;
	unsigned int i;

	if (rec->worsts < LAT_WORST)
		return 0;
	for (i = 0; i < LAT_WORST; i++)
		rare_ns = min_t(u64, rare_ns, abs(rec->worst[i].latency_ns) + 1);
	for (i = 0; i < rec->exceeds; i++)
		rare_ns = min_t(u64, rare_ns, rec->exceed[i].limit_ns + 1);
	if (rec->threshold_ns)
		rare_ns = min_t(u64, rare_ns, rec->threshold_ns + 1);
	return rare_ns;
}

static void lat_rec_rare(struct lat_rec *rec, u64 seq, u64 stimulus_ns, s64 ns, u32 flags)
{
	const struct lat_sample sample = {
		.seq = seq,
		.time_ns = stimulus_ns,
		.latency_ns = ns,
		.cpu = rec->cpu,
		.point = rec->point,
		.flags = flags,
	};
	u64 magnitude = abs(ns);
	unsigned int i;

	if (!rec->first_ns)
		rec->first_ns = stimulus_ns;
	for (i = 0; i < rec->exceeds; i++) {
		if (magnitude <= rec->exceed[i].limit_ns)
			continue;
		if (!rec->exceed[i].count++)
			lat_event_outlier_soon(rec->lat);
	}
	rec->now.over += magnitude > rec->over_ns;
	lat_rec_worst(rec, &sample, magnitude);
	if (rec->threshold_ns && magnitude > rec->threshold_ns) {
		rec->recent[rec->over++ % LAT_RECENT] = sample;
		lat_over_threshold(rec, &sample);
	}
	rec->rare_ns = lat_rec_rare_ns(rec);
}

/* The linear histogram. */
static void lat_rec_add_linear(struct lat_rec *rec, s64 ns)
{
	u64 bucket;

	if (ns < 0) {
		rec->linear_under++;
		return;
	}
	if ((u64)ns >= rec->linear_width_ns * rec->linear_buckets) {
		rec->linear_over++;
		return;
	}
	/* The rounded reciprocal may miss by one. */
	bucket = mul_u64_u64_shr(ns, rec->linear_recip, 64);
	if (bucket * rec->linear_width_ns > (u64)ns)
		bucket--;
	else if ((bucket + 1) * rec->linear_width_ns <= (u64)ns)
		bucket++;
	rec->linear[bucket]++;
}

/* As lat_rec_rare_end(), of a sample that is an outlier or for the linear histogram. */
static noinline void lat_rec_slow_end(struct lat_rec *rec, u64 seq, u64 stimulus_ns, s64 ns,
				      u32 flags)
{
	/* As lat_rec_add() saw it: below zero, an unsigned point has no magnitude. */
	u64 magnitude = ns >= 0 || rec->below ? abs(ns) : 0;

	if (magnitude >= rec->rare_ns)
		lat_rec_rare(rec, seq, stimulus_ns, ns, flags);
	if (rec->linear)
		lat_rec_add_linear(rec, ns);
	/* Pairs with lat_stream_switch(): the bit is seen after the rings. */
	if (smp_load_acquire(&rec->extras) & LAT_EXTRA_STREAM)
		lat_stream_add_end(rec, seq, stimulus_ns, ns, flags);
	else
		raw_write_seqcount_end(&rec->seqcount);
}

/*
 * A sample for more than the histogram; ends what lat_rec_add() has begun. With a reader every
 * sample comes here: as from there, all ways out are tail calls.
 */
notrace noinline void lat_rec_rare_end(struct lat_rec *rec, u64 seq, u64 stimulus_ns, s64 ns,
				       u32 flags)
{
	/*
	 * A value below zero is above all limits here, and looked at again there. The acquire pairs
	 * with lat_stream_switch(): the bit is seen after the rings.
	 */
	if (likely((u64)ns < rec->rare_ns && smp_load_acquire(&rec->extras) == LAT_EXTRA_STREAM))
		lat_stream_add_end(rec, seq, stimulus_ns, ns, flags);
	else
		lat_rec_slow_end(rec, seq, stimulus_ns, ns, flags);
}

/* How many terms of now - due, now - due - period, … (@n of them) are above @limit_ns. */
static u64 lat_missed_above(u64 late_ns, u64 period_ns, u64 n, u64 limit_ns)
{
	if (late_ns <= limit_ns)
		return 0;
	return min(n, div64_u64(late_ns - limit_ns - 1, period_ns) + 1);
}

noinline void lat_missed(struct lat_rec *rec, u64 seq, u64 due_ns, u64 now_ns, u64 period_ns, u64 n)
{
	u64 late_ns = now_ns > due_ns ? now_ns - due_ns : 0;
	unsigned int i = lat_bucket_index(late_ns);
	u64 above, counted = 0;

	if (!n)
		return;
	raw_write_seqcount_begin(&rec->seqcount);
	if (!rec->first_ns)
		rec->first_ns = due_ns;
	rec->last_ns = due_ns + (n - 1) * period_ns;
	/*
	 * The latenesses fall by one period each. Walk the buckets from the greatest down and count
	 * those above each lower edge, so that a long stall costs buckets, not periods.
	 */
	for (; counted < n; i--) {
		u64 low = lat_bucket_low(i);

		above = low ? lat_missed_above(late_ns, period_ns, n, low - 1) : n;
		rec->missed[i] += above - counted;
		counted = above;
	}
	rec->missed_max_ns = max(rec->missed_max_ns, late_ns);
	rec->now.missed += n;
	for (i = 0; i < rec->exceeds; i++)
		rec->exceed[i].missed += lat_missed_above(late_ns, period_ns, n,
							  rec->exceed[i].limit_ns);
	raw_write_seqcount_end(&rec->seqcount);
}

void lat_rec_lost(struct lat_rec *rec)
{
	raw_write_seqcount_begin(&rec->seqcount);
	rec->lost++;
	raw_write_seqcount_end(&rec->seqcount);
}

/* Bytes of a recorder with the arrays behind it. */
static size_t lat_rec_size(bool is_signed)
{
	return sizeof(struct lat_rec) + (is_signed ? 2 : 1) * LAT_BUCKETS * sizeof(u64);
}

/* Let a recorder point at its own arrays. */
static void lat_rec_wire(struct lat_rec *rec, bool is_signed)
{
	u64 *arrays = (u64 *)(rec + 1);

	rec->missed = arrays;
	rec->below = is_signed ? arrays + LAT_BUCKETS : NULL;
}

/* Begin an interval at a moment. */
void lat_rec_begin_interval(struct lat_rec *rec, u64 start_ns)
{
	rec->now = (struct lat_interval){
		.start_ns = start_ns,
		.min_ns = S64_MAX,
		.max_ns = S64_MIN,
	};
	rec->interval_end_ns = start_ns + READ_ONCE(rec->interval_ns);
}

/* Samples over all intervals. */
static void lat_rec_fold(struct lat_rec *rec)
{
	rec->min_ns = min(rec->min_ns, rec->now.min_ns);
	rec->max_ns = max(rec->max_ns, rec->now.max_ns);
}

/* The stimulus lies behind the current interval: close that one and begin the next on its grid. */
static void lat_rec_new_interval(struct lat_rec *rec, u64 stimulus_ns)
{
	u64 interval_ns = READ_ONCE(rec->interval_ns);
	u64 rest;
	u32 head = rec->closed_head;

	/* Nobody takes closed intervals over: let this one grow, nothing is lost. */
	if (head - READ_ONCE(rec->closed_tail) >= LAT_CLOSED) {
		rec->interval_end_ns += interval_ns;
		return;
	}
	/* From the end on: an interval that has begun keeps its length, whatever the next one's. */
	div64_u64_rem(stimulus_ns - rec->interval_end_ns, interval_ns, &rest);
	lat_rec_fold(rec);
	rec->now.end_ns = stimulus_ns - rest;
	rec->closed[head % LAT_CLOSED] = rec->now;
	/* Pairs with lat_series_take(). */
	smp_store_release(&rec->closed_head, head + 1);
	lat_rec_begin_interval(rec, stimulus_ns - rest);
}

/* A sample that begins an interval, is below zero, or is traced. */
noinline void lat_rec_unusual(struct lat_rec *rec, u64 seq, u64 stimulus_ns, s64 ns, u32 flags)
{
	trace_sample(rec->lat->ops->points[rec->point].name, rec->cpu, seq, stimulus_ns, ns);
	if (stimulus_ns >= rec->interval_end_ns) {
		raw_write_seqcount_begin(&rec->seqcount);
		lat_rec_new_interval(rec, stimulus_ns);
		raw_write_seqcount_end(&rec->seqcount);
	}
	if (ns < 0)
		lat_rec_negative(rec, seq, stimulus_ns, ns, flags);
	else
		lat_rec_add(rec, rec->values, ns, seq, stimulus_ns, ns, flags);
}

/**
 * lat_rec_alloc() - a recorder, empty
 * @lat: the instrument
 * @cpu: measured CPU, whose memory it takes
 * @point: index of the point
 *
 * Context: process.
 * Return: the recorder, or NULL
 */
struct lat_rec *lat_rec_alloc(struct lat *lat, unsigned int cpu, unsigned int point)
{
	bool is_signed = lat->ops->points[point].is_signed;
	struct lat_rec *rec;

	rec = kvzalloc_node(lat_rec_size(is_signed), GFP_KERNEL, cpu_to_node(cpu));
	if (!rec)
		return NULL;
	rec->closed = kvzalloc_node(LAT_CLOSED * sizeof(*rec->closed), GFP_KERNEL,
				    cpu_to_node(cpu));
	if (!rec->closed) {
		kvfree(rec);
		return NULL;
	}
	seqcount_init(&rec->seqcount);
	lat_rec_wire(rec, is_signed);
	rec->lat = lat;
	rec->cpu = cpu;
	rec->point = point;
	rec->min_ns = S64_MAX;
	rec->max_ns = S64_MIN;
	rec->over_ns = U64_MAX;
	return rec;
}

void lat_rec_free(struct lat_rec *rec)
{
	if (!rec)
		return;
	kvfree(rec->closed);
	kvfree(rec->linear);
	kvfree(rec);
}

/**
 * lat_rec_linear() - give a recorder a linear histogram
 * @rec: the recorder, before it is armed
 * @width_ns: bucket width
 * @buckets: how many
 *
 * Context: process.
 * Return: 0 or -ENOMEM
 */
int lat_rec_linear(struct lat_rec *rec, u64 width_ns, u32 buckets)
{
	rec->linear = kvzalloc_node(buckets * sizeof(u64), GFP_KERNEL, cpu_to_node(rec->cpu));
	if (!rec->linear)
		return -ENOMEM;
	rec->linear_width_ns = width_ns;
	rec->linear_buckets = buckets;
	rec->linear_recip = div64_u64(U64_MAX, width_ns);
	rec->extras |= LAT_EXTRA_LINEAR;
	return 0;
}

/* Worst first; of equals the earlier one. */
static int lat_sample_cmp(const void *a, const void *b)
{
	const struct lat_sample *x = a, *y = b;
	u64 x_ns = abs(x->latency_ns), y_ns = abs(y->latency_ns);

	if (x_ns != y_ns)
		return x_ns < y_ns ? 1 : -1;
	return x->seq > y->seq ? 1 : -1;
}

/**
 * lat_rec_copy() - a consistent copy of a recorder
 * @rec: the recorder, running or not
 *
 * It is marked torn, and may be inconsistent, where it could not be had in 64 tries.
 *
 * Context: process.
 * Return: a copy to lat_rec_free(), or NULL without memory
 */
struct lat_rec *lat_rec_copy(const struct lat_rec *rec)
{
	size_t size = lat_rec_size(rec->below);
	size_t linear_size = rec->linear_buckets * sizeof(u64);
	struct lat_rec *copy = kvmalloc(size, GFP_KERNEL);
	u64 *linear = NULL;
	unsigned int tries, seq = 1;

	if (rec->linear)
		linear = kvmalloc(linear_size, GFP_KERNEL);
	if (!copy || (rec->linear && !linear)) {
		kvfree(linear);
		kvfree(copy);
		return NULL;
	}
	for (tries = 0; tries < 64; tries++) {
		seq = raw_read_seqcount(&rec->seqcount);
		memcpy(copy, rec, size);
		if (linear)
			memcpy(linear, rec->linear, linear_size);
		if (!(seq & 1) && !read_seqcount_retry(&rec->seqcount, seq))
			break;
	}
	copy->torn = tries == 64;
	lat_rec_wire(copy, rec->below);
	copy->closed = NULL;
	copy->linear = linear;
	lat_rec_fold(copy);
	sort(copy->worst, copy->worsts, sizeof(copy->worst[0]), lat_sample_cmp, NULL);
	return copy;
}

/* Samples in the buckets of one array. */
static u64 lat_buckets_sum(const u64 *buckets)
{
	u64 sum = 0;
	unsigned int i;

	for (i = 0; i < LAT_BUCKETS; i++)
		sum += buckets[i];
	return sum;
}

/* Recorded samples: the sum of the buckets, so that they cannot disagree with it. */
u64 lat_rec_count(const struct lat_rec *rec)
{
	return lat_buckets_sum(rec->values) + rec->negative +
	       (rec->below ? lat_buckets_sum(rec->below) : 0);
}

u64 lat_rec_missed(const struct lat_rec *rec)
{
	return lat_buckets_sum(rec->missed);
}
