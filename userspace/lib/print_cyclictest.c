// SPDX-License-Identifier: GPL-2.0-only
/*
 * A report as cyclictest of rt-tests writes it: its histogram as after -q -h N, else its line per
 * thread with the load average before them. One point can be shown so; which one is said in a
 * comment, as all else that cyclictest's readers do not expect.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/print.h"
#include "lib/us_rows.h"

/* cyclictest writes down the numbers of the first cycles over the last row. */
static bool is_over(const struct lat_sample *sample, const struct lat_point *point,
		    const struct lat_cell *cell, size_t rows)
{
	return sample->point == point->index && sample->cpu == cell->cpu &&
		sample->latency_ns >= (int64_t)rows * 1000;
}

static int by_seq(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static int64_t mean_ns(const struct lat_cell *cell)
{
	return cell->count ? (int64_t)(cell->sum / (lat_s128_t)cell->count) : 0;
}

/* ---- a line per thread ---- */

/* In the unit of the style, rounded down as cyclictest does it. */
static long long in_unit(const struct lat_style *style, int64_t ns)
{
	return style->nanoseconds ? ns : ns / 1000;
}

void lat_print_thread(const struct lat_report *report, size_t index,
		      const struct lat_cell *cell, const struct lat_style *style, FILE *f)
{
	int width = style->nanoseconds ? 8 : 5;

	fprintf(f, "T:%2zu (%5d) P:%2lld I:%lld C:%7" PRIu64, index, 0,
		lat_report_setting(report, "priority"),
		lat_report_setting(report, "period_ns") / 1000, cell->count);
	if (cell->count)
		fprintf(f, " Min:%7lld Act:%*s Avg:%*lld Max:%8lld",
			in_unit(style, cell->min_ns), width, "-", width,
			in_unit(style, mean_ns(cell)), in_unit(style, cell->max_ns));
	else
		fprintf(f, " Min:%7s Act:%*s Avg:%*s Max:%8s", "-", width, "-", width, "-", "-");
}

static void print_threads(const struct lat_report *report, const struct lat_point *point,
			  const struct lat_style *style, FILE *f)
{
	const struct lat_fact *load = lat_fact_find(&report->env, "loadavg");
	size_t i;

	if (!style->quiet)
		fprintf(f, "policy: fifo: loadavg: %s%10s\n\n",
			load && load->kind == LAT_FACT_TEXT ? load->text : "-", "");
	for (i = 0; i < point->n_cells; i++) {
		lat_print_thread(report, i, &point->cells[i], style, f);
		fputc('\n', f);
	}
}

/* ---- the histogram ---- */

static void print_rows(const struct lat_us_rows *made, size_t n_cells, FILE *f)
{
	size_t row, i;

	fputs("# Histogram\n", f);
	for (row = 0; row < made[0].n; row++) {
		fprintf(f, "%06zu ", row);
		for (i = 0; i < n_cells; i++)
			fprintf(f, "%s%06" PRIu64, i ? "\t" : "", made[i].rows[row]);
		fputc('\n', f);
	}
}

/* The numbers that are known, ascending; the others are only counted. */
static void print_over(const struct lat_report *report, const struct lat_point *point,
		       const struct lat_cell *cell, const struct lat_us_rows *made, FILE *f)
{
	uint64_t *seqs = lat_alloc(report->n_worst + 1, sizeof(*seqs));
	size_t i, n = 0;

	for (i = 0; i < report->n_worst; i++)
		if (is_over(&report->worst[i], point, cell, made->n))
			seqs[n++] = report->worst[i].seq;
	qsort(seqs, n, sizeof(*seqs), by_seq);
	for (i = 0; i < n && i < made->n; i++)
		fprintf(f, " %05" PRIu64, seqs[i]);
	if (made->over > i)
		fprintf(f, " # %05" PRIu64 " others", made->over - i);
	fputc('\n', f);
	free(seqs);
}

/* One line of the summary: a title and a number for each thread. */
static void print_summary(const struct lat_point *point, const struct lat_us_rows *made, FILE *f)
{
	const struct lat_cell *cells = point->cells;
	size_t i;

	fputs("# Total:", f);
	for (i = 0; i < point->n_cells; i++)
		fprintf(f, " %09" PRIu64, made[i].in);
	fputs("\n# Min Latencies:", f);
	for (i = 0; i < point->n_cells; i++)
		fprintf(f, " %05lld", cells[i].count ? (long long)cells[i].min_ns / 1000 : 0);
	fputs("\n# Avg Latencies:", f);
	for (i = 0; i < point->n_cells; i++)
		fprintf(f, " %05lld", (long long)mean_ns(&cells[i]) / 1000);
	fputs("\n# Max Latencies:", f);
	for (i = 0; i < point->n_cells; i++)
		fprintf(f, " %05lld", cells[i].count ? (long long)cells[i].max_ns / 1000 : 0);
	fputs("\n# Histogram Overflows:", f);
	for (i = 0; i < point->n_cells; i++)
		fprintf(f, " %05" PRIu64, made[i].over);
	fputs("\n# Histogram Overflow at cycle number:\n", f);
}

static void print_histogram(const struct lat_report *report, const struct lat_point *point,
			    const struct lat_style *style, FILE *f)
{
	size_t i, n = lat_us_rows_wanted(report, point, style->rows);
	struct lat_us_rows *made = lat_alloc(point->n_cells, sizeof(*made));

	for (i = 0; i < point->n_cells; i++)
		lat_us_rows_make(report, &point->cells[i], n, &made[i]);
	if (!made[0].exact)
		fputs("# rows made of log buckets, up to 3.1 % wide, each at its lower edge\n", f);
	print_rows(made, point->n_cells, f);
	print_summary(point, made, f);
	for (i = 0; i < point->n_cells; i++) {
		fprintf(f, "# Thread %zu:", i);
		print_over(report, point, &point->cells[i], &made[i], f);
		free(made[i].rows);
	}
	fputc('\n', f);
	free(made);
}

/* ---- what cyclictest's readers do not expect, as comments ---- */

static void print_comments(const struct lat_report *report, const struct lat_point *point, FILE *f)
{
	const struct lat_fact *idle = lat_fact_find(&report->config, "idle_ns");
	uint64_t missed = 0, lost = 0, negative = 0;
	size_t i;

	if (idle && idle->kind == LAT_FACT_NUMBER)
		fprintf(f, "# /dev/cpu_dma_latency set to %lldus\n", idle->number / 1000);
	fprintf(f, "# %s %s, point %s; threads are CPUs", report->tool, report->version,
		point->name);
	for (i = 0; i < point->n_cells; i++) {
		fprintf(f, " %u", point->cells[i].cpu);
		missed += point->cells[i].missed;
		lost += point->cells[i].lost;
		negative += point->cells[i].negative;
	}
	fputc('\n', f);
	if (missed || lost || negative)
		fprintf(f, "# not counted here: %" PRIu64 " missed, %" PRIu64 " lost, %" PRIu64
			" below zero\n", missed, lost, negative);
}

void lat_print_cyclictest(const struct lat_report *report, const struct lat_style *style, FILE *f)
{
	const struct lat_point *point = lat_report_main_point(report);

	if (!point || !point->n_cells) {
		fputs("# Nothing was measured.\n", f);
		return;
	}
	print_comments(report, point, f);
	if (style->histogram == LAT_HISTOGRAM_NONE)
		print_threads(report, point, style, f);
	else
		print_histogram(report, point, style, f);
}
