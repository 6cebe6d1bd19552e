// SPDX-License-Identifier: GPL-2.0-only
/*
 * A report as Xenomai's latency writes it: for each point the header (RTT, RTH), a line per
 * measured CPU (RTD), and the whole (RTS); with a histogram its rows (HSD) and statistics (HSH,
 * HSS). The points are its test modes: user -t0, thread -t1, irq -t2. A thread of Linux has no
 * second kernel to switch from: msw is 0.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/print.h"
#include "lib/us_rows.h"

/* Xenomai's words for the points it has too. */
static const char *mode_of(const char *point)
{
	static const char * const modes[][2] = {
		{ "user", "periodic user-mode task" },
		{ "thread", "in-kernel periodic task" },
		{ "irq", "in-kernel timer handler" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(modes); i++)
		if (!strcmp(point, modes[i][0]))
			return modes[i][1];
	return point;
}

static void print_clock(uint64_t ns, FILE *f)
{
	uint64_t s = ns / 1000000000;

	fprintf(f, "%02" PRIu64 ":%02" PRIu64 ":%02" PRIu64, s / 3600, s / 60 % 60, s % 60);
}

/**
 * struct total - what a line tells of one CPU or of all
 * @count: samples
 * @min_ns: smallest
 * @max_ns: greatest
 * @sum: of all
 * @missed: Xenomai's overruns
 */
struct total {
	uint64_t count;
	int64_t min_ns;
	int64_t max_ns;
	lat_s128_t sum;
	uint64_t missed;
};

static void add_cell(struct total *total, const struct lat_cell *cell)
{
	total->missed += cell->missed;
	if (!cell->count)
		return;
	if (!total->count || cell->min_ns < total->min_ns)
		total->min_ns = cell->min_ns;
	if (!total->count || cell->max_ns > total->max_ns)
		total->max_ns = cell->max_ns;
	total->count += cell->count;
	total->sum += cell->sum;
}

/* Up to the column msw; a CPU without samples has no numbers. */
static void print_total(const char *name, const struct total *total, FILE *f)
{
	if (total->count)
		fprintf(f, "%s|%11.3f|%11.3f|%11.3f|%8" PRIu64 "|%6u|", name,
			(double)total->min_ns / 1e3,
			(double)(total->sum / (lat_s128_t)total->count) / 1e3,
			(double)total->max_ns / 1e3, total->missed, 0);
	else
		fprintf(f, "%s|%11s|%11s|%11s|%8" PRIu64 "|%6u|", name, "-", "-", "-",
			total->missed, 0);
}

/* ---- histograms: smallest and greatest of each interval of the series, and all samples ---- */

enum { HIST_MIN, HIST_AVG, HIST_MAX, N_HISTS };

static void count_series(const struct lat_report *report, const struct lat_point *point,
			 struct lat_us_rows hists[N_HISTS])
{
	size_t i, j;

	for (i = 0; i < report->n_series; i++) {
		const struct lat_series *series = &report->series[i];

		for (j = 0; series->point == point->index && j < series->n; j++) {
			const struct lat_interval *interval = &series->rows[j];
			size_t last = hists[HIST_MIN].n - 1;
			int64_t min = interval->min_ns < 0 ? 0 : interval->min_ns / 1000;
			int64_t max = interval->max_ns < 0 ? 0 : interval->max_ns / 1000;

			if (!interval->count)
				continue;
			hists[HIST_MIN].rows[(size_t)min < last ? (size_t)min : last]++;
			hists[HIST_MAX].rows[(size_t)max < last ? (size_t)max : last]++;
		}
	}
}

/* The last row has, as Xenomai's, everything above it. */
static void count_samples(const struct lat_report *report, const struct lat_point *point,
			  struct lat_us_rows *all)
{
	struct lat_us_rows one;
	size_t i, row;

	for (i = 0; i < point->n_cells; i++) {
		lat_us_rows_make(report, &point->cells[i], all->n, &one);
		for (row = 0; row < all->n; row++)
			all->rows[row] += one.rows[row];
		all->rows[all->n - 1] += one.over;
		free(one.rows);
	}
}

static void print_rows(const struct lat_us_rows *hist, const char *name, FILE *f)
{
	size_t row;

	fputs("---|--param|----lat range-|--samples\n", f);
	for (row = 0; row < hist->n; row++)
		if (hist->rows[row])
			fprintf(f, "HSD|    %s| %3zu -%3zu | %8" PRIu64 "\n", name, row, row + 1,
				hist->rows[row]);
}

static void print_statistics(const struct lat_us_rows *hist, const char *name, FILE *f)
{
	double mean = 0, variance = 0;
	uint64_t total = 0;
	size_t row;

	for (row = 0; row < hist->n; row++) {
		total += hist->rows[row];
		mean += (double)row * (double)hist->rows[row];
	}
	if (total)
		mean /= (double)total;
	for (row = 0; row < hist->n; row++)
		variance += (double)hist->rows[row] * ((double)row - mean) * ((double)row - mean);
	fprintf(f, "HSS|    %s| %9" PRIu64 "| %10.3f| %10.3f\n", name, total, mean,
		total > 1 ? sqrt(variance / (double)(total - 1)) : 0);
}

static void print_histograms(const struct lat_report *report, const struct lat_point *point,
			     const struct lat_style *style, FILE *f)
{
	static const char * const names[N_HISTS] = { "min", "avg", "max" };
	struct lat_us_rows hists[N_HISTS];
	size_t i, n = lat_us_rows_wanted(report, point, style->rows);

	for (i = 0; i < N_HISTS; i++)
		hists[i] = (struct lat_us_rows){ .rows = lat_alloc(n, sizeof(uint64_t)), .n = n };
	count_series(report, point, hists);
	count_samples(report, point, &hists[HIST_AVG]);
	for (i = 0; i < N_HISTS; i++)
		print_rows(&hists[i], names[i], f);
	fputs("HSH|--param|--samples-|--average--|---stddev--\n", f);
	for (i = 0; i < N_HISTS; i++) {
		print_statistics(&hists[i], names[i], f);
		free(hists[i].rows);
	}
}

static void print_whole(const struct lat_report *report, const struct total *all, FILE *f)
{
	uint64_t asked_ns = lat_report_setting(report, "duration_ns");

	fputs("---|-----------|-----------|-----------|--------|------|-------------------------\n",
	      f);
	print_total("RTS", all, f);
	fputs("    ", f);
	print_clock(report->elapsed_ns, f);
	fputc('/', f);
	print_clock(asked_ns ? asked_ns : report->elapsed_ns, f);
	fputc('\n', f);
}

static void print_lines(const struct lat_report *report, const struct lat_point *point,
			const struct lat_style *style, FILE *f)
{
	struct total all = { 0 };
	size_t i;

	fputs("RTT|  ", f);
	print_clock(report->elapsed_ns, f);
	fprintf(f, "  (%s, %lld us period, priority %lld)\n", mode_of(point->name),
		lat_report_setting(report, "period_ns") / 1000,
		lat_report_setting(report, "priority"));
	fputs("RTH|----lat min|----lat avg|----lat max|-overrun|---msw|---lat best|--lat worst\n",
	      f);
	for (i = 0; i < point->n_cells; i++) {
		struct total one = { 0 };

		add_cell(&one, &point->cells[i]);
		add_cell(&all, &point->cells[i]);
		print_total("RTD", &one, f);
		if (all.count)
			fprintf(f, "%11.3f|%11.3f\n", (double)all.min_ns / 1e3,
				(double)all.max_ns / 1e3);
		else
			fprintf(f, "%11s|%11s\n", "-", "-");
	}
	if (style->histogram != LAT_HISTOGRAM_NONE && point->n_cells)
		print_histograms(report, point, style, f);
	print_whole(report, &all, f);
}

void lat_print_xenomai(const struct lat_report *report, const struct lat_style *style, FILE *f)
{
	size_t i;

	fprintf(f, "== Sampling period: %lld us\n== All results in microseconds\n",
		lat_report_setting(report, "period_ns") / 1000);
	for (i = 0; i < report->n_points; i++) {
		const struct lat_point *point = &report->points[i];

		fprintf(f, "== Test mode: %s\n", mode_of(point->name));
		print_lines(report, point, style, f);
	}
}
