// SPDX-License-Identifier: GPL-2.0-only
/*
 * The series of a recorder: count, minimum, maximum, missed and over per interval. The recorder
 * closes intervals into a short ring that only it writes; here, in process context and never on its
 * path, they are taken over. When 4,096 are there, neighbours merge and the interval doubles, so a
 * series always covers the whole session.
 */
#include "internal.h"

/* Add @more to the interval before it. */
static void lat_interval_merge(struct lat_interval *interval, const struct lat_interval *more)
{
	interval->end_ns = more->end_ns;
	interval->count += more->count;
	interval->missed += more->missed;
	interval->over += more->over;
	interval->min_ns = min(interval->min_ns, more->min_ns);
	interval->max_ns = max(interval->max_ns, more->max_ns);
}

static void lat_series_halve(struct lat_series *series)
{
	unsigned int i;

	for (i = 0; i + 1 < series->n; i += 2) {
		series->entries[i / 2] = series->entries[i];
		lat_interval_merge(&series->entries[i / 2], &series->entries[i + 1]);
	}
	if (i < series->n)
		series->entries[i / 2] = series->entries[i];
	series->n = (series->n + 1) / 2;
}

/* Room for one more; false: it could not grow. */
static bool lat_series_grow(struct lat_series *series)
{
	unsigned int room = max(64U, series->room * 2);
	struct lat_interval *entries;

	if (series->n < series->room)
		return true;
	if (series->room >= LAT_SERIES_MAX)
		return false;
	entries = kvmalloc_array(room, sizeof(*entries), GFP_KERNEL);
	if (!entries)
		return false;
	if (series->n)
		memcpy(entries, series->entries, series->n * sizeof(*entries));
	kvfree(series->entries);
	series->entries = entries;
	series->room = room;
	return true;
}

static void lat_series_add(struct lat_series *series, struct lat_rec *rec,
			   const struct lat_interval *interval)
{
	if (!lat_series_grow(series)) {
		if (series->n < 2)
			return;
		lat_series_halve(series);
		WRITE_ONCE(rec->interval_ns, rec->interval_ns * 2);
	}
	series->entries[series->n++] = *interval;
}

/* Take over the closed intervals before @head. Context: lat->series_lock. */
static void lat_series_take_rec(struct lat_series *series, struct lat_rec *rec, u32 head)
{
	u32 tail = rec->closed_tail;

	for (; tail != head; tail++)
		lat_series_add(series, rec, &rec->closed[tail % LAT_CLOSED]);
	/* The slots may be written again only after they were read. */
	smp_store_release(&rec->closed_tail, tail);
}

/* The recorder that series @n is of; NULL where the point is not enabled. */
static struct lat_rec *lat_series_rec(const struct lat *lat, unsigned int n)
{
	return lat->cpu[n / LAT_POINTS_MAX].rec[n % LAT_POINTS_MAX];
}

/**
 * lat_series_take() - take over what the recorders have closed
 * @lat: the instrument
 *
 * Context: process.
 */
void lat_series_take(struct lat *lat)
{
	unsigned int n;

	mutex_lock(&lat->series_lock);
	for (n = 0; n < lat->ncpus * LAT_POINTS_MAX; n++) {
		struct lat_rec *rec = lat_series_rec(lat, n);
		u32 head;

		if (!rec)
			continue;
		/* Pairs with lat_rec_new_interval(). */
		head = smp_load_acquire(&rec->closed_head);
		lat_series_take_rec(&lat->series[n], rec, head);
	}
	mutex_unlock(&lat->series_lock);
}

/**
 * lat_series_finish() - close the last intervals of a session
 * @lat: the instrument, stopped
 * @stop_ns: when
 *
 * Context: process, lat->lock.
 */
void lat_series_finish(struct lat *lat, u64 stop_ns)
{
	unsigned int n;

	lat_series_take(lat);
	mutex_lock(&lat->series_lock);
	for (n = 0; n < lat->ncpus * LAT_POINTS_MAX; n++) {
		struct lat_rec *rec = lat_series_rec(lat, n);
		struct lat_interval last;

		if (!rec || (!rec->now.count && !rec->now.missed))
			continue;
		last = rec->now;
		last.end_ns = stop_ns;
		lat_series_add(&lat->series[n], rec, &last);
	}
	mutex_unlock(&lat->series_lock);
}

/**
 * lat_series_copy() - a copy of a series as of the moment of a copy of its recorder
 * @series: the series
 * @rec: its recorder
 * @seen: a copy of @rec, made since lat->series_lock was taken
 * @running: the session runs: the interval that is being filled belongs to the series
 * @copy: the copy
 *
 * Context: process, lat->series_lock.
 * Return: 0 or -ENOMEM
 */
int lat_series_copy(struct lat_series *series, struct lat_rec *rec, const struct lat_rec *seen,
		    bool running, struct lat_series *copy)
{
	bool open = running && (seen->now.count || seen->now.missed);

	/* What was closed after the copy is still open in it. */
	lat_series_take_rec(series, rec, seen->closed_head);
	copy->n = series->n + open;
	copy->entries = NULL;
	if (!copy->n)
		return 0;
	copy->entries = kvmalloc_array(copy->n, sizeof(*copy->entries), GFP_KERNEL);
	if (!copy->entries)
		return -ENOMEM;
	if (series->n)
		memcpy(copy->entries, series->entries, series->n * sizeof(*copy->entries));
	if (open) {
		copy->entries[series->n] = seen->now;
		copy->entries[series->n].end_ns = seen->last_ns;
	}
	return 0;
}

void lat_series_free(struct lat_series *series, unsigned int n)
{
	unsigned int i;

	for (i = 0; series && i < n; i++)
		kvfree(series[i].entries);
	kvfree(series);
}
