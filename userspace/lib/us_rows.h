/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A histogram as other tools print it: one row per microsecond. Made of the linear histogram where
 * there is one of 1 us, and is exact then; else of the log buckets, each counted at its lower edge.
 */
#ifndef LATKIT_US_ROWS_H
#define LATKIT_US_ROWS_H

#include "lib/report.h"

/* More rows than these are no use to anybody; what is above counts as over. */
#define LAT_US_ROWS_MAX 1000000

/**
 * struct lat_us_rows - counts of one (point, CPU), by whole microseconds
 * @rows: row N has the samples from N us up to N + 1 us
 * @n: number of rows
 * @in: samples in the rows
 * @over: samples above the last row
 * @exact: each is in the row where it belongs
 */
struct lat_us_rows {
	uint64_t *rows;
	size_t n;
	uint64_t in;
	uint64_t over;
	bool exact;
};

/**
 * lat_us_rows_wanted() - how many rows a report asks for
 * @report: the report
 * @point: the point that is printed
 * @wanted: what the command line says; 0: nothing
 *
 * Without a word from the command line these are the rows of the linear histogram, and without one
 * as many as it takes to show all samples.
 *
 * Return: 1 .. LAT_US_ROWS_MAX
 */
size_t lat_us_rows_wanted(const struct lat_report *report, const struct lat_point *point,
			  size_t wanted);

/**
 * lat_us_rows_make() - count into rows
 * @report: the report
 * @cell: the (point, CPU)
 * @n: number of rows
 * @made: filled; @rows is to be freed
 */
void lat_us_rows_make(const struct lat_report *report, const struct lat_cell *cell, size_t n,
		      struct lat_us_rows *made);

#endif /* LATKIT_US_ROWS_H */
