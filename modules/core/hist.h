/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The recorder of one (point, measured CPU): the hot path of every instrument. A sample is added by
 * straight-line arithmetic on memory that only this recorder writes; whatever is rare (an outlier,
 * a new series interval, a value below zero, a reader of the raw stream) leaves it for good through
 * one predicted branch each.
 */
#ifndef LAT_CORE_HIST_H
#define LAT_CORE_HIST_H

#include <linux/seqlock.h>
#include <latkit/latkit.h>

#include "bucket.h"
#include "int128.h"

#define LAT_WORST	16	/* worst samples kept */
#define LAT_RECENT	16	/* last samples over the threshold kept */
#define LAT_EXCEED	4	/* exceedance limits of a point */
#define LAT_CLOSED	64	/* closed intervals waiting to be taken over, a power of two */

struct lat;

/* What lat_record() does beside the histogram; the stream comes and goes with its readers. */
#define LAT_EXTRA_LINEAR	BIT(0)
#define LAT_EXTRA_STREAM	BIT(1)

/**
 * struct lat_rec - recorder and results of one (point, measured CPU)
 * @seqcount: odd while the one writer is inside; readers copy and retry
 * @extras: LAT_EXTRA_*
 * @rare_ns: magnitudes from here up take the slow path: lowest of threshold + 1, exceedance
 *	limits + 1 and the smallest of the worst samples + 1
 * @interval_end_ns: stimuli from here on belong to a new interval of the series
 * @now: the interval of the series that is being filled
 * @last_ns: time of the last stimulus recorded or missed
 * @sum: exact sum, two's complement, ns
 * @sumsq: exact sum of squares, ns^2
 * @negative: samples below zero of an unsigned point
 * @below: LAT_BUCKETS counts by magnitude of a signed point, else NULL
 * @missed: LAT_BUCKETS counts of skipped periods by lateness
 * @lat: the instrument
 * @cpu: measured CPU
 * @point: index of the point
 * @min_ns: smallest sample of the intervals before @now
 * @max_ns: greatest sample of the intervals before @now
 * @missed_max_ns: greatest lateness of a skipped period
 * @lost: stimuli whose end never came
 * @first_ns: time of the first stimulus recorded or missed, 0 before it
 * @threshold_ns: 0: none
 * @over_ns: a sample above it is "over" in the series
 * @exceeds: limits in use
 * @exceed: limits and their exact counters
 * @worsts: worst samples kept
 * @worst: worst samples, in no order
 * @over: samples over the threshold so far
 * @recent: the last of them, at [@over % LAT_RECENT]
 * @linear_width_ns: bucket width of the linear histogram
 * @linear_buckets: its buckets
 * @linear_recip: 2^64 / @linear_width_ns, rounded down
 * @linear_over: samples at or above its last edge
 * @linear_under: samples below zero
 * @linear: @linear_buckets counts, or NULL
 * @stream: rings of the raw stream, where LAT_EXTRA_STREAM is set
 * @closed: LAT_CLOSED closed intervals, single producer, single consumer
 * @closed_head: next to be written; the recorder's
 * @closed_tail: next to be taken over; the consumer's, under lat->series_lock
 * @interval_ns: length of an interval; written by the consumer
 * @told_over: @over when it was last told; under lat->series_lock
 * @told_limits: limits whose breaking was told; under lat->series_lock
 * @torn: of a copy: it may be inconsistent
 * @values: counts of the values from zero up
 *
 * All but @closed_tail and @interval_ns has one writer, the recorder, inside @seqcount. What is
 * configuration is written before the session is armed.
 */
struct lat_rec {
	seqcount_t seqcount;
	u32 extras;
	u64 rare_ns;
	u64 interval_end_ns;
	struct lat_interval now;
	u64 last_ns;
	struct lat_u128 sum;
	struct lat_u128 sumsq;
	u64 negative;
	u64 *below;

	u64 *missed;
	struct lat *lat;
	u32 cpu;
	u32 point;
	s64 min_ns;
	s64 max_ns;
	u64 missed_max_ns;
	u64 lost;
	u64 first_ns;
	u64 threshold_ns;
	u64 over_ns;
	u32 exceeds;
	struct lat_exceed exceed[LAT_EXCEED];
	u32 worsts;
	struct lat_sample worst[LAT_WORST];
	u64 over;
	struct lat_sample recent[LAT_RECENT];
	u64 linear_width_ns;
	u32 linear_buckets;
	u64 linear_recip;
	u64 linear_over;
	u64 linear_under;
	u64 *linear;
	struct lat_stream *stream;
	struct lat_interval *closed;
	u32 closed_head;
	u32 closed_tail;
	u64 interval_ns;
	u64 told_over;
	u32 told_limits;
	bool torn;

	u64 values[LAT_BUCKETS];
};

void lat_rec_unusual(struct lat_rec *rec, u64 seq, u64 stimulus_ns, s64 ns, u32 flags);
void lat_rec_rare_end(struct lat_rec *rec, u64 seq, u64 stimulus_ns, s64 ns, u32 flags);

/*
 * The arithmetic of one sample. @buckets and @magnitude are chosen by its sign. What is rare is
 * left to one function that also ends the write: a tail call, for which nothing has to be saved
 * before.
 */
static __always_inline void lat_rec_add(struct lat_rec *rec, u64 *buckets, u64 magnitude,
					u64 seq, u64 stimulus_ns, s64 ns, u32 flags)
{
	/* Pairs with the retry loop of lat_rec_copy(). */
	raw_write_seqcount_begin(&rec->seqcount);
	buckets[lat_bucket_index(magnitude)]++;
	rec->sum = lat_u128_add(rec->sum, lat_u128_signed(ns));
	rec->sumsq = lat_u128_add(rec->sumsq, lat_u128_mul(magnitude, magnitude));
	rec->now.count++;
	if (unlikely(ns < rec->now.min_ns))
		rec->now.min_ns = ns;
	if (unlikely(ns > rec->now.max_ns))
		rec->now.max_ns = ns;
	rec->last_ns = stimulus_ns;
	if (unlikely(magnitude >= rec->rare_ns || READ_ONCE(rec->extras)))
		lat_rec_rare_end(rec, seq, stimulus_ns, ns, flags);
	else
		raw_write_seqcount_end(&rec->seqcount);
}

#endif /* LAT_CORE_HIST_H */
