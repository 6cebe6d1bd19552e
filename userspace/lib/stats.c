// SPDX-License-Identifier: GPL-2.0-only
/*
 * Percentiles walk the histograms from the lowest value up. A value is the upper edge of its
 * bucket, and never above the greatest value that was seen in the histogram it comes from.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/bucket.h"
#include "core/parse.h"
#include "lib/stats.h"

static struct lat_percent default_rows[] = {
	{ "50", 50 * LAT_PERCENT_ONE },
	{ "90", 90 * LAT_PERCENT_ONE },
	{ "99", 99 * LAT_PERCENT_ONE },
	{ "99.9", 99900000000ULL },
	{ "99.99", 99990000000ULL },
	{ "99.999", 99999000000ULL },
};

const struct lat_percents lat_percents_default = { default_rows, ARRAY_SIZE(default_rows) };

int lat_percent_parse(const char *text, struct lat_percent *percent, struct lat_error *err)
{
	unsigned long long whole, fraction = 0;
	uint64_t scale = LAT_PERCENT_ONE;
	const char *p = text, *start;

	if (strlen(text) >= sizeof(percent->text) ||
	    lat_parse_digits(&p, 10, &whole) != LAT_PARSE_OK || whole >= 100)
		goto refuse;
	if (*p == '.') {
		start = ++p;
		if (lat_parse_digits(&p, 10, &fraction) != LAT_PARSE_OK || p - start > 9)
			goto refuse;
		for (; start < p; start++)
			scale /= 10;
	}
	if (*p)
		goto refuse;
	percent->scaled = whole * LAT_PERCENT_ONE + fraction * scale;
	if (!percent->scaled)
		goto refuse;
	strcpy(percent->text, text);
	return 0;

refuse:
	return lat_fail(err, -EINVAL,
			"'%s' is not a percentile; use a number over 0 and under 100, as 99.9",
			text);
}

int lat_percents_parse(const char *text, struct lat_percents *percents, struct lat_error *err)
{
	char *copy = lat_strdup(text), *rest = copy, *word;
	int ret = 0;

	*percents = (struct lat_percents){ 0 };
	while (!ret && (word = strsep(&rest, ","))) {
		percents->rows = lat_grow(percents->rows, percents->n, sizeof(*percents->rows));
		ret = lat_percent_parse(word, &percents->rows[percents->n++], err);
	}
	free(copy);
	if (ret) {
		free(percents->rows);
		*percents = (struct lat_percents){ 0 };
	}
	return ret;
}

uint64_t lat_cell_total(const struct lat_cell *cell, enum lat_scope scope)
{
	return scope == LAT_ALL ? cell->count + cell->missed + cell->lost : cell->count;
}

bool lat_cell_max(const struct lat_cell *cell, enum lat_scope scope, int64_t *max_ns)
{
	bool missed = scope == LAT_ALL && cell->missed;

	if (cell->count)
		*max_ns = cell->max_ns;
	if (missed && (!cell->count || (int64_t)cell->missed_max_ns > cell->max_ns))
		*max_ns = cell->missed_max_ns;
	return cell->count || missed;
}

/* Upper edge of the bucket that begins at @low, but not above @max. */
static int64_t upper_edge(uint64_t low, int64_t max)
{
	unsigned long long high = lat_bucket_high(lat_bucket_index(low));

	return max >= 0 && high > (unsigned long long)max ? max : (int64_t)high;
}

/* Value at @rank (from 1) of what is recorded and, in scope, missed; they must hold that many. */
static int64_t value_at(const struct lat_cell *cell, enum lat_scope scope, uint64_t rank)
{
	size_t i = cell->below.n, v = 0, m = 0, n_late = scope == LAT_ALL ? cell->late.n : 0;
	int64_t value = cell->min_ns;
	uint64_t seen = cell->negative;

	if (rank <= seen)
		return cell->max_ns < -1 ? cell->max_ns : -1;

	/* By magnitude, so the lowest value is the last row; its upper edge is its low magnitude. */
	while (i--) {
		seen += cell->below.rows[i].count;
		if (rank <= seen) {
			value = -(int64_t)cell->below.rows[i].low_ns;
			return value > cell->max_ns ? cell->max_ns : value;
		}
	}

	while (v < cell->values.n || m < n_late) {
		const struct lat_bucket *a = v < cell->values.n ? &cell->values.rows[v] : NULL;
		const struct lat_bucket *b = m < n_late ? &cell->late.rows[m] : NULL;
		int64_t high = INT64_MIN;

		if (a && b && a->low_ns != b->low_ns) {
			if (a->low_ns < b->low_ns)
				b = NULL;
			else
				a = NULL;
		}
		if (a) {
			high = upper_edge(a->low_ns, cell->max_ns);
			seen += a->count;
			v++;
		}
		if (b) {
			int64_t late = upper_edge(b->low_ns, cell->missed_max_ns);

			high = late > high ? late : high;
			seen += b->count;
			m++;
		}
		/* Never backwards, whatever a hand-made file says. */
		value = high > value || !cell->count ? high : value;
		if (rank <= seen)
			return value;
	}
	return value;
}

struct lat_quantile lat_cell_quantile(const struct lat_cell *cell, enum lat_scope scope,
				      const struct lat_percent *percent)
{
	const uint64_t whole = 100 * LAT_PERCENT_ONE;
	uint64_t total = lat_cell_total(cell, scope);
	uint64_t rank = ((lat_u128_t)total * percent->scaled + whole - 1) / whole;

	if (total - rank < LAT_BEYOND_MIN) {
		uint64_t tail = whole - percent->scaled;

		return (struct lat_quantile){
			.state = LAT_Q_FEW,
			.needed = ((lat_u128_t)LAT_BEYOND_MIN * whole + tail - 1) / tail,
		};
	}
	if (scope == LAT_ALL && rank > cell->count + cell->missed)
		return (struct lat_quantile){ .state = LAT_Q_INFINITE };
	return (struct lat_quantile){
		.state = LAT_Q_KNOWN,
		.ns = value_at(cell, scope, rank),
	};
}

bool lat_cell_mean(const struct lat_cell *cell, double *mean_ns)
{
	if (!cell->count)
		return false;
	*mean_ns = (double)((long double)cell->sum / cell->count);
	return true;
}

bool lat_cell_stddev(const struct lat_cell *cell, double *stddev_ns)
{
	long double mean, squares;

	if (cell->count < 2)
		return false;
	mean = (long double)cell->sum / cell->count;
	squares = (long double)cell->sumsq - mean * (long double)cell->sum;
	*stddev_ns = squares > 0 ? (double)sqrtl(squares / (cell->count - 1)) : 0;
	return true;
}

static void hist_above(const struct lat_hist *hist, uint64_t limit_ns, uint64_t *least,
		       uint64_t *most)
{
	size_t i;

	for (i = 0; i < hist->n; i++) {
		uint64_t low = hist->rows[i].low_ns;

		if (low > limit_ns)
			*least += hist->rows[i].count;
		if (lat_bucket_high(lat_bucket_index(low)) > limit_ns)
			*most += hist->rows[i].count;
	}
}

void lat_cell_above(const struct lat_cell *cell, uint64_t limit_ns, uint64_t *least,
		    uint64_t *most)
{
	int64_t max_ns;
	size_t i;

	*least = *most = cell->lost;
	if (lat_cell_max(cell, LAT_ALL, &max_ns) && max_ns <= (int64_t)limit_ns)
		return;
	for (i = 0; i < cell->n_exceed; i++) {
		if (cell->exceed[i].limit_ns != limit_ns)
			continue;
		*least += cell->exceed[i].count + cell->exceed[i].missed;
		*most = *least;
		return;
	}
	hist_above(&cell->values, limit_ns, least, most);
	hist_above(&cell->late, limit_ns, least, most);
}
