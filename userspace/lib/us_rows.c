// SPDX-License-Identifier: GPL-2.0-only
/*
 * Samples by whole microseconds, for the formats of other tools.
 */
#include <string.h>

#include "core/parse.h"
#include "lib/us_rows.h"

/* Rows of the linear histogram of 1 us; 0: there is none. The report tells them as "1us:100". */
static size_t linear_rows(const struct lat_report *report)
{
	const struct lat_fact *linear = lat_fact_find(&report->config, "linear");
	const char *colon = linear && linear->kind == LAT_FACT_TEXT ?
		strchr(linear->text, ':') : NULL;
	unsigned long long n;
	long long width_ns;
	char width[32];

	if (!colon || (size_t)(colon - linear->text) >= sizeof(width))
		return 0;
	memcpy(width, linear->text, colon - linear->text);
	width[colon - linear->text] = 0;
	if (lat_parse_duration(width, 0, &width_ns) != LAT_PARSE_OK || width_ns != 1000 ||
	    lat_parse_u64(colon + 1, &n) != LAT_PARSE_OK || n > LAT_US_ROWS_MAX)
		return 0;
	return n;
}

size_t lat_us_rows_wanted(const struct lat_report *report, const struct lat_point *point,
			  size_t wanted)
{
	size_t i, n = wanted ? wanted : linear_rows(report);
	int64_t max_ns = 0;

	for (i = 0; !n && i < point->n_cells; i++)
		if (point->cells[i].count && point->cells[i].max_ns > max_ns)
			max_ns = point->cells[i].max_ns;
	if (!n)
		n = (uint64_t)max_ns / 1000 + 1;
	return n < LAT_US_ROWS_MAX ? n : LAT_US_ROWS_MAX;
}

static void count(struct lat_us_rows *made, const struct lat_hist *hist, uint64_t min_ns)
{
	size_t i;

	for (i = 0; i < hist->n; i++) {
		/* The first bucket begins at or below the smallest sample. */
		uint64_t row = (i ? hist->rows[i].low_ns : min_ns) / 1000;

		if (row >= made->n) {
			made->over += hist->rows[i].count;
			continue;
		}
		made->rows[row] += hist->rows[i].count;
		made->in += hist->rows[i].count;
	}
}

void lat_us_rows_make(const struct lat_report *report, const struct lat_cell *cell, size_t n,
		      struct lat_us_rows *made)
{
	size_t linear = cell->linear.width_ns == 1000 ? linear_rows(report) : 0;

	*made = (struct lat_us_rows){
		.rows = lat_alloc(n, sizeof(*made->rows)), .n = n, .exact = linear >= n,
	};
	if (made->exact)
		made->over = cell->linear.over;
	count(made, made->exact ? &cell->linear.hist : &cell->values,
	      cell->min_ns > 0 ? cell->min_ns : 0);
}
