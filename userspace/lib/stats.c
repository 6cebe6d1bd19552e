// SPDX-License-Identifier: GPL-2.0-only
/*
 * Statistics of one (point, CPU). Percentiles are the modules' own arithmetic
 * (core/percentile.h), so that a debugfs summary and a report of the same session agree.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/bucket.h"
#include "core/parse.h"
#include "core/percentile.h"
#include "lib/stats.h"

int lat_percent_parse(const char *text, struct lat_percent *percent, struct lat_error *err)
{
	unsigned long long whole, fraction = 0;
	const char *p = text, *start;
	unsigned int den = 100;

	if (strlen(text) >= sizeof(percent->text) ||
	    lat_parse_digits(&p, 10, &whole) != LAT_PARSE_OK || whole >= 100)
		goto refuse;
	if (*p == '.') {
		start = ++p;
		if (lat_parse_digits(&p, 10, &fraction) != LAT_PARSE_OK || p - start > 4)
			goto refuse;
		for (; start < p; start++)
			den *= 10;
	}
	percent->num = whole * (den / 100) + fraction;
	percent->den = den;
	if (*p || !percent->num)
		goto refuse;
	strcpy(percent->text, text);
	return 0;

refuse:
	return lat_fail(err, -EINVAL,
			"'%s' is not a percentile; use a number over 0 and under 100, as 99.9 (4 decimals at most)",
			text);
}

struct lat_percents lat_percents_default(void)
{
	struct lat_percents percents = { 0 };
	size_t i;

	for (i = 0; i < LAT_PERCENTILES; i++) {
		struct lat_percent *row;

		percents.rows = lat_grow(percents.rows, percents.n, sizeof(*percents.rows));
		row = &percents.rows[percents.n++];
		snprintf(row->text, sizeof(row->text), "%s", lat_percentiles[i].name);
		row->num = lat_percentiles[i].num;
		row->den = lat_percentiles[i].den;
	}
	return percents;
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

/* The rows of a histogram as the dense array the shared arithmetic walks. */
static void spread(const struct lat_hist *hist, unsigned long long counts[LAT_BUCKETS])
{
	size_t i;

	memset(counts, 0, LAT_BUCKETS * sizeof(counts[0]));
	for (i = 0; i < hist->n; i++)
		counts[lat_bucket_index(hist->rows[i].low_ns)] += hist->rows[i].count;
}

struct lat_quantile lat_cell_quantile(const struct lat_cell *cell, enum lat_scope scope,
				      const struct lat_percent *percent)
{
	unsigned long long below[LAT_BUCKETS], values[LAT_BUCKETS], missed[LAT_BUCKETS];
	const struct lat_percentile p = { percent->text, percent->num, percent->den };
	uint64_t total = lat_cell_total(cell, scope);
	unsigned int tail = p.den - p.num;
	struct lat_dist dist = {
		.below = cell->below.n ? below : NULL,
		.values = values,
		.missed = scope == LAT_ALL && cell->missed ? missed : NULL,
		.negative = cell->negative,
		.lost = scope == LAT_ALL ? cell->lost : 0,
	};
	int64_t max_ns = 0;
	long long ns = 0;

	/* Too few for any percentile: nothing to spread out. */
	if (total <= LAT_PERCENTILE_BEYOND)
		goto few;
	spread(&cell->below, below);
	spread(&cell->values, values);
	spread(&cell->late, missed);
	lat_cell_max(cell, scope, &max_ns);
	dist.max = max_ns;
	switch (lat_dist_percentile(&dist, &p, total, &ns)) {
	case LAT_RANK_VALUE:
		return (struct lat_quantile){ .state = LAT_Q_KNOWN, .ns = ns };
	case LAT_RANK_INFINITE:
		return (struct lat_quantile){ .state = LAT_Q_INFINITE };
	default:
		break;
	}
few:
	return (struct lat_quantile){
		.state = LAT_Q_FEW,
		.needed = ((uint64_t)LAT_PERCENTILE_BEYOND * p.den + tail - 1) / tail,
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
