// SPDX-License-Identifier: GPL-2.0-only
/*
 * One screen for people: what was measured, a table per point and CPU, counters, a small picture,
 * trust in one line, and the verdict. Every line that is neither table nor picture starts with #.
 */
#include <inttypes.h>
#include <libsmartcols.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/bucket.h"
#include "lib/print.h"

#define PICTURE_ROWS 14
#define PICTURE_WIDTH 44
#define WORST_SHOWN 8

/* A value in the unit asked for; without the unit, which the header tells. */
static void value_text(const struct lat_style *style, int64_t ns, char *text, size_t size)
{
	uint64_t magnitude = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;

	if (style->nanoseconds)
		snprintf(text, size, "%" PRId64, ns);
	else
		snprintf(text, size, "%s%" PRIu64 ".%03u", ns < 0 ? "-" : "", magnitude / 1000,
			 (unsigned int)(magnitude % 1000));
}

static const char *unit(const struct lat_style *style)
{
	return style->nanoseconds ? "ns" : "us";
}

/* ---- header ---- */

static void print_time(const char *label, uint64_t real_ns, FILE *f)
{
	time_t seconds = real_ns / 1000000000;
	struct tm tm;
	char text[32];

	if (!real_ns || !gmtime_r(&seconds, &tm))
		return;
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm);
	fprintf(f, "%s%s", label, text);
}

static void print_fact(const struct lat_fact *fact, FILE *f)
{
	switch (fact->kind) {
	case LAT_FACT_NUMBER:
		fprintf(f, "%lld", fact->number);
		break;
	case LAT_FACT_BOOL:
		fputs(fact->number ? "yes" : "no", f);
		break;
	default:
		/* From outside: no control character reaches the terminal. */
		for (const char *p = fact->text ? fact->text : ""; *p; p++)
			fputc((unsigned char)*p < ' ' || *p == 0x7f ? '?' : *p, f);
	}
}

static void print_text(const char *text, FILE *f)
{
	print_fact(&(struct lat_fact){ .kind = LAT_FACT_TEXT, .text = (char *)text }, f);
}

/* "key value" of each fact that is there, with commas between. */
static void print_some(const struct lat_facts *facts, const char * const *keys, FILE *f)
{
	bool any = false;
	size_t i;

	for (i = 0; keys[i]; i++) {
		const struct lat_fact *fact = lat_fact_find(facts, keys[i]);

		if (!fact || (fact->kind == LAT_FACT_TEXT && !*fact->text))
			continue;
		fprintf(f, "%s%s ", any ? ", " : "", keys[i]);
		print_fact(fact, f);
		any = true;
	}
}

/* Durations of config{} are in ns whatever -n says: shown in the style's unit. */
static void print_duration(const struct lat_report *report, const struct lat_style *style,
			   const char *key, const char *label, FILE *f)
{
	const struct lat_fact *fact = lat_fact_find(&report->config, key);
	char text[32];

	if (!fact)
		return;
	if (fact->kind != LAT_FACT_NUMBER) {
		fprintf(f, "%s", label);
		print_fact(fact, f);
		return;
	}
	value_text(style, fact->number, text, sizeof(text));
	fprintf(f, "%s%s %s", label, text, unit(style));
}

static void print_config(const struct lat_report *report, const struct lat_style *style, FILE *f)
{
	static const char * const keys[] = { "cpus", "points", "priority", NULL };
	const struct lat_fact *idle = lat_fact_find(&report->config, "idle_ns");

	fputs("# ", f);
	print_some(&report->config, keys, f);
	print_duration(report, style, "period_ns", ", period ", f);
	if (report->elapsed_ns)
		fprintf(f, ", %.3f s", (double)report->elapsed_ns / 1e9);
	if (lat_stop_name(report->stop_reason))
		fprintf(f, ", stopped by %s", lat_stop_name(report->stop_reason));
	fputc('\n', f);
	if (idle && idle->kind == LAT_FACT_NUMBER)
		print_duration(report, style, "idle_ns",
			       "# Idle: the measured CPUs were held to a resume latency of ", f);
	else
		fputs("# Idle: left as the system has it", f);
	fputc('\n', f);
}

static void print_header(const struct lat_report *report, const struct lat_style *style, FILE *f)
{
	static const char * const machine[] = { "kernel", "preempt_rt", "cpu_model", NULL };
	static const char * const device[] = { "device", "family", "vector", "driver", NULL };

	fputs("# ", f);
	print_text(report->tool, f);
	fputc(' ', f);
	print_text(report->version, f);
	print_time(", ", report->start_real_ns, f);
	fputs("\n# Time unit is ", f);
	fputs(style->nanoseconds ? "nanoseconds (ns)\n# " : "microseconds (us)\n# ", f);
	print_some(&report->env, machine, f);
	fputs("\n# ", f);
	print_some(&report->device, device, f);
	fputc('\n', f);
	print_config(report, style, f);
}

/* ---- table ---- */

enum column {
	COL_POINT, COL_CPU, COL_COUNT, COL_MIN, COL_MEAN, COL_P50, COL_P99, COL_P999, COL_P9999,
	COL_MAX, COL_MISSED, COL_LOST, N_COLUMNS
};

static const struct column_row {
	const char *name;
	unsigned int num;	/* of a percentile */
	unsigned int den;
} columns[N_COLUMNS] = {
	[COL_POINT] = { "point", 0, 0 },
	[COL_CPU] = { "CPU", 0, 0 },
	[COL_COUNT] = { "count", 0, 0 },
	[COL_MIN] = { "min", 0, 0 },
	[COL_MEAN] = { "mean", 0, 0 },
	[COL_P50] = { "p50", 1, 2 },
	[COL_P99] = { "p99", 99, 100 },
	[COL_P999] = { "p99.9", 999, 1000 },
	[COL_P9999] = { "p99.99", 9999, 10000 },
	[COL_MAX] = { "max", 0, 0 },
	[COL_MISSED] = { "missed", 0, 0 },
	[COL_LOST] = { "lost", 0, 0 },
};

static void put_value(struct libscols_line *line, enum column column,
		      const struct lat_style *style, int64_t ns)
{
	char text[32];

	value_text(style, ns, text, sizeof(text));
	scols_line_set_data(line, column, text);
}

static void put_count(struct libscols_line *line, enum column column, uint64_t count)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRIu64, count);
	scols_line_set_data(line, column, text);
}

static void put_quantiles(struct libscols_line *line, const struct lat_cell *cell,
			  enum lat_scope scope, const struct lat_style *style, int64_t offset_ns)
{
	int column;

	for (column = 0; column < N_COLUMNS; column++) {
		const struct lat_percent percent = {
			.num = columns[column].num, .den = columns[column].den,
		};
		struct lat_quantile q;

		if (!percent.den)
			continue;
		q = lat_cell_quantile(cell, scope, &percent);
		if (q.state == LAT_Q_KNOWN)
			put_value(line, column, style, q.ns - offset_ns);
		else
			scols_line_set_data(line, column, q.state == LAT_Q_FEW ? "-" : "inf");
	}
}

/* One row of a cell; @suffix tells what is in it. */
static void put_row(struct libscols_table *table, const struct lat_point *point,
		    const struct lat_cell *cell, enum lat_scope scope, const char *suffix,
		    const struct lat_style *style, int64_t offset_ns)
{
	struct libscols_line *line = scols_table_new_line(table, NULL);
	char *name = lat_format("%s%s", point->name, suffix);
	double mean_ns;
	int64_t max_ns;
	char *p;
	int column;

	for (p = name; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			*p = '?';
	for (column = 0; column < N_COLUMNS; column++)
		scols_line_set_data(line, column, "-");
	scols_line_set_data(line, COL_POINT, name);
	free(name);
	put_count(line, COL_CPU, cell->cpu);
	put_count(line, COL_COUNT, lat_cell_total(cell, scope));
	put_quantiles(line, cell, scope, style, offset_ns);
	if (scope == LAT_RECORDED && cell->count)
		put_value(line, COL_MIN, style, cell->min_ns - offset_ns);
	if (scope == LAT_RECORDED && lat_cell_mean(cell, &mean_ns))
		put_value(line, COL_MEAN, style, (int64_t)mean_ns - offset_ns);
	if (scope == LAT_ALL && cell->lost)
		scols_line_set_data(line, COL_MAX, "inf");
	else if (lat_cell_max(cell, scope, &max_ns))
		put_value(line, COL_MAX, style, max_ns - offset_ns);
	put_count(line, COL_MISSED, cell->missed);
	put_count(line, COL_LOST, cell->lost);
}

static struct libscols_table *new_table(const struct lat_report *report, FILE *f)
{
	struct libscols_table *table = scols_new_table();
	bool lost = false;
	size_t i, j;
	int column;

	for (i = 0; i < report->n_points; i++)
		for (j = 0; j < report->points[i].n_cells; j++)
			lost = lost || report->points[i].cells[j].lost;
	for (column = 0; table && column < N_COLUMNS; column++)
		scols_table_new_column(table, columns[column].name, 0,
				       (column == COL_POINT ? 0 : SCOLS_FL_RIGHT) |
				       (column == COL_LOST && !lost ? SCOLS_FL_HIDDEN : 0));
	if (table) {
		scols_table_set_stream(table, f);
		scols_table_set_termforce(table, SCOLS_TERMFORCE_NEVER);
	}
	return table;
}

static void print_table(const struct lat_report *report, const struct lat_style *style, FILE *f)
{
	const struct lat_fact *offset = lat_fact_find(&report->config, "print_offset_ns");
	struct libscols_table *table = new_table(report, f);
	size_t i, j;

	for (i = 0; table && i < report->n_points; i++) {
		const struct lat_point *point = &report->points[i];

		for (j = 0; j < point->n_cells; j++) {
			const struct lat_cell *cell = &point->cells[j];

			put_row(table, point, cell, LAT_RECORDED, "", style, 0);
			if (cell->missed || cell->lost)
				put_row(table, point, cell, LAT_ALL,
					cell->lost ? "+missed+lost" : "+missed", style, 0);
			if (offset && offset->kind == LAT_FACT_NUMBER && offset->number)
				put_row(table, point, cell, LAT_RECORDED, "-offset", style,
					offset->number);
		}
	}
	if (table && !scols_table_is_empty(table))
		scols_print_table(table);
	else
		fputs("# Nothing was measured.\n", f);
	scols_unref_table(table);
}

/* ---- picture ---- */

/* Counts of all CPUs of a point, by bucket: below zero, then from zero up. */
struct shape {
	uint64_t below[LAT_BUCKETS];
	uint64_t values[LAT_BUCKETS];
	uint64_t total;
};

static void add_hist(uint64_t counts[LAT_BUCKETS], const struct lat_hist *hist, uint64_t *total)
{
	size_t i;

	for (i = 0; i < hist->n; i++) {
		counts[lat_bucket_index(hist->rows[i].low_ns)] += hist->rows[i].count;
		*total += hist->rows[i].count;
	}
}

static struct shape *shape_of(const struct lat_point *point)
{
	struct shape *shape = lat_alloc(1, sizeof(*shape));
	size_t i;

	for (i = 0; i < point->n_cells; i++) {
		add_hist(shape->below, &point->cells[i].below, &shape->total);
		add_hist(shape->values, &point->cells[i].values, &shape->total);
	}
	return shape;
}

/* One axis over both: -LAT_BUCKETS .. LAT_BUCKETS - 1. */
static uint64_t count_at(const struct shape *shape, int at)
{
	return at < 0 ? shape->below[-at - 1] : shape->values[at];
}

static int64_t low_at(int at)
{
	unsigned long long high;

	if (at >= 0)
		return (int64_t)lat_bucket_low(at);
	high = lat_bucket_high(-at - 1);
	return high > INT64_MAX ? INT64_MIN : -(int64_t)high;
}

static void print_bar(const struct lat_style *style, int from, uint64_t count, uint64_t most,
		      FILE *f)
{
	/* A count of one is seen beside one of a million: the bar is its logarithm. */
	int width = count ? 1 + (int)((PICTURE_WIDTH - 1) * log((double)count) /
				      log(most > 1 ? (double)most : 2)) : 0;
	char text[32];

	value_text(style, low_at(from), text, sizeof(text));
	fprintf(f, "%14s |%.*s%*s %" PRIu64 "\n", text, width,
		"############################################", PICTURE_WIDTH - width, "", count);
}

static void print_picture(const struct lat_point *point, const struct lat_style *style, FILE *f)
{
	struct shape *shape = shape_of(point);
	int first = -(int)LAT_BUCKETS, last = LAT_BUCKETS - 1, step, at, i;
	uint64_t most = 0;

	if (!shape->total)
		goto out;
	while (!count_at(shape, first))
		first++;
	while (!count_at(shape, last))
		last--;
	step = (last - first) / PICTURE_ROWS + 1;
	fputs("\n# ", f);
	print_text(point->name, f);
	fprintf(f, ", all CPUs; from (%s), count on a logarithmic scale\n", unit(style));
	for (int pass = 0; pass < 2; pass++) {
		for (at = first; at <= last; at += step) {
			uint64_t count = 0;

			for (i = at; i < at + step && i <= last; i++)
				count += count_at(shape, i);
			if (pass)
				print_bar(style, at, count, most, f);
			else if (count > most)
				most = count;
		}
	}
out:
	free(shape);
}

/* ---- all buckets ---- */

static void print_hist(const struct lat_point *point, const struct lat_cell *cell,
		       const struct lat_style *style, FILE *f)
{
	bool linear = style->histogram == LAT_HISTOGRAM_LINEAR;
	const struct lat_hist *hist = linear ? &cell->linear.hist : &cell->values;
	char text[32];
	size_t i;

	if (linear && !cell->linear.width_ns)
		return;
	fputs("\n# histogram ", f);
	print_text(point->name, f);
	fprintf(f, " CPU %u: from (%s), count\n", cell->cpu, unit(style));
	for (i = linear ? 0 : cell->below.n; i--;) {
		value_text(style, low_at(-1 - (int)lat_bucket_index(cell->below.rows[i].low_ns)),
			   text, sizeof(text));
		fprintf(f, "%s %" PRIu64 "\n", text, (uint64_t)cell->below.rows[i].count);
	}
	if (cell->negative && !linear)
		fprintf(f, "below-zero %" PRIu64 "\n", cell->negative);
	if (linear)
		fprintf(f, "under %" PRIu64 "\n", cell->linear.under);
	for (i = 0; i < hist->n; i++) {
		value_text(style, (int64_t)hist->rows[i].low_ns, text, sizeof(text));
		fprintf(f, "%s %" PRIu64 "\n", text, (uint64_t)hist->rows[i].count);
	}
	if (linear)
		fprintf(f, "over %" PRIu64 "\n", cell->linear.over);
}

static void print_histograms(const struct lat_report *report, const struct lat_style *style,
			     FILE *f)
{
	size_t i, j;

	if (style->histogram == LAT_HISTOGRAM_NONE)
		return;
	for (i = 0; i < report->n_points; i++)
		for (j = 0; j < report->points[i].n_cells; j++)
			print_hist(&report->points[i], &report->points[i].cells[j], style, f);
}

/* ---- tail ---- */

static void print_counters(const struct lat_report *report, FILE *f)
{
	size_t i;

	fputs("# Counters:", f);
	for (i = 0; i < report->counters.n; i++) {
		fprintf(f, "%s %s ", i ? "," : "", report->counters.rows[i].key);
		print_fact(&report->counters.rows[i], f);
	}
	fputs(report->counters.n ? "\n" : " none\n", f);
}

static bool is_first_of_code(const struct lat_report *report, size_t at)
{
	size_t i;

	for (i = 0; i < at; i++)
		if (!strcmp(report->notes[i].code, report->notes[at].code))
			return false;
	return true;
}

static void print_notes(const struct lat_report *report, const struct lat_style *style, FILE *f)
{
	unsigned int n[3] = { 0 };
	int severity;
	bool any = false;
	size_t i;

	for (i = 0; i < report->n_notes; i++)
		n[report->notes[i].severity]++;
	fprintf(f, "# Trust: %u void, %u warnings, %u notes", n[LAT_SEVERITY_VOID],
		n[LAT_SEVERITY_WARN], n[LAT_SEVERITY_INFO]);
	for (severity = LAT_SEVERITY_VOID; severity >= LAT_SEVERITY_WARN; severity--) {
		for (i = 0; i < report->n_notes; i++) {
			if ((int)report->notes[i].severity != severity ||
			    !is_first_of_code(report, i))
				continue;
			fputs(any ? ", " : ": ", f);
			print_text(report->notes[i].code, f);
			any = true;
		}
	}
	fputs(report->n_notes && !style->verbose ? " (-v tells more)\n" : "\n", f);
	for (i = 0; style->verbose && i < report->n_notes; i++) {
		const struct lat_note *note = &report->notes[i];

		fprintf(f, "#   %s %s", lat_severity_name(note->severity), note->code);
		if (note->cpu >= 0)
			fprintf(f, " CPU %ld", note->cpu);
		fputs(": ", f);
		print_text(note->text, f);
		fputc('\n', f);
	}
}

static const char *name_of(const struct lat_report *report, uint32_t index)
{
	size_t i;

	for (i = 0; i < report->n_points; i++)
		if (report->points[i].index == index)
			return report->points[i].name;
	return "?";
}

static void print_worst(const struct lat_report *report, const struct lat_style *style, FILE *f)
{
	char text[32];
	size_t i;

	if (report->n_worst)
		fputs("# Worst samples: value, point, CPU, number, time (s)\n", f);
	for (i = 0; i < report->n_worst && i < WORST_SHOWN; i++) {
		const struct lat_sample *sample = &report->worst[i];

		value_text(style, sample->latency_ns, text, sizeof(text));
		fprintf(f, "#   %s ", text);
		print_text(name_of(report, sample->point), f);
		fprintf(f, " CPU %u #%" PRIu64 " %" PRIu64 ".%06u\n", sample->cpu,
			(uint64_t)sample->seq, (uint64_t)sample->time_ns / 1000000000,
			(unsigned int)(sample->time_ns % 1000000000 / 1000));
	}
}

static void print_facts(const char *title, const struct lat_facts *facts, FILE *f)
{
	size_t i;

	for (i = 0; i < facts->n; i++) {
		fprintf(f, "#   %s.", title);
		print_text(facts->rows[i].key, f);
		fputs(": ", f);
		print_fact(&facts->rows[i], f);
		fputc('\n', f);
	}
}

static void print_details(const struct lat_report *report, const struct lat_style *style, FILE *f)
{
	if (!style->verbose)
		return;
	print_worst(report, style, f);
	print_facts("device", &report->device, f);
	print_facts("placement", &report->placement, f);
	print_facts("config", &report->config, f);
	print_facts("analysis", &report->analysis, f);
	print_facts("env", &report->env, f);
}

static void print_verdict(const struct lat_report *report, FILE *f)
{
	size_t i;

	for (i = 0; i < report->n_verdicts; i++) {
		const struct lat_verdict *verdict = &report->verdicts[i];

		fputs("# Limit ", f);
		print_text(verdict->limit, f);
		fprintf(f, ": %s", lat_result_name(verdict->result));
		if (verdict->point) {
			fputs(", ", f);
			print_text(verdict->point, f);
		}
		if (verdict->cpu >= 0)
			fprintf(f, " CPU %ld", verdict->cpu);
		if (verdict->observed)
			fprintf(f, ": %s", verdict->observed);
		if (verdict->text) {
			fputs("; ", f);
			print_text(verdict->text, f);
		}
		fputc('\n', f);
	}
	fprintf(f, "# Verdict: %s", lat_report_verdict(report));
	if (report->stop_reason == LAT_STOP_THRESHOLD)
		fputs(" (stopped by the threshold)", f);
	else if (!report->n_verdicts)
		fputs(" (no limits given)", f);
	fputc('\n', f);
}

void lat_print_text(const struct lat_report *report, const struct lat_style *style, FILE *f)
{
	print_header(report, style, f);
	print_table(report, style, f);
	print_counters(report, f);
	if (report->n_points && style->histogram == LAT_HISTOGRAM_NONE)
		print_picture(&report->points[0], style, f);
	print_histograms(report, style, f);
	print_notes(report, style, f);
	print_details(report, style, f);
	print_verdict(report, f);
}
