// SPDX-License-Identifier: GPL-2.0-only
/*
 * A report as Intel's Edge Controls benchmarks write it: the text that debugfs `current_value` of
 * the same session has, to the byte. What stands in it is told by each module beside its
 * lat_ops.current_value.
 */
#include <inttypes.h>
#include <string.h>

#include "lib/print.h"

/**
 * struct block - the samples of some points, all CPUs
 * @count: how many
 * @min_ns: smallest, where there are any
 * @max_ns: greatest, where there are any
 * @sum: of all
 */
struct block {
	uint64_t count;
	int64_t min_ns;
	int64_t max_ns;
	lat_s128_t sum;
};

static void add_point(struct block *block, const struct lat_report *report, const char *name)
{
	const struct lat_point *point = lat_report_find_point(report, name);
	size_t i;

	for (i = 0; point && i < point->n_cells; i++) {
		const struct lat_cell *cell = &point->cells[i];

		if (!cell->count)
			continue;
		if (!block->count || cell->min_ns < block->min_ns)
			block->min_ns = cell->min_ns;
		if (!block->count || cell->max_ns > block->max_ns)
			block->max_ns = cell->max_ns;
		block->count += cell->count;
		block->sum += cell->sum;
	}
}

/* Halves away from zero, as the modules round. */
static int64_t mean_ns(const struct block *block)
{
	lat_s128_t half = (lat_s128_t)(block->count / 2);

	return (int64_t)((block->sum < 0 ? block->sum - half : block->sum + half) /
			 (lat_s128_t)block->count);
}

/* A number of analysis{}; a report that has none says so. */
static void print_number(const struct lat_report *report, const char *key, FILE *f)
{
	const struct lat_fact *fact = lat_fact_find(&report->analysis, key);

	if (fact && fact->kind == LAT_FACT_NUMBER)
		fprintf(f, "%lld", fact->number);
	else
		fputc('-', f);
}

static void print_mmio(const struct lat_report *report, FILE *f)
{
	struct block block = { 0 };

	add_point(&block, report, "first");
	add_point(&block, report, "read");
	if (!block.count) {
		fputs("Stats: loops= 0\n", f);
		return;
	}
	fprintf(f, "Stats: max= %" PRId64 " avg= %" PRId64 " min= %" PRId64 " total= %" PRIu64
		" loops= %" PRIu64 " mmio-outliers: ", block.max_ns, mean_ns(&block), block.min_ns,
		(uint64_t)block.sum, block.count);
	print_number(report, "mmio_outliers", f);
	fputs(" sched-outliers: ", f);
	print_number(report, "sched_outliers", f);
	fputc('\n', f);
}

static void print_msi(const struct lat_report *report, FILE *f)
{
	struct block block = { 0 };

	add_point(&block, report, "irq");
	fputs("************ RESULTS (ns) ************\n", f);
	if (block.count)
		fprintf(f, "* Max: %" PRId64 "\n* Avg: %" PRId64 "\n* Min: %" PRId64 "\n",
			block.max_ns, mean_ns(&block), block.min_ns);
}

void lat_print_eci(const struct lat_report *report, const struct lat_style *style, FILE *f)
{
	(void)style;
	if (report->tool && !strcmp(report->tool, "mmio-latency"))
		print_mmio(report, f);
	else
		print_msi(report, f);
}
