// SPDX-License-Identifier: GPL-2.0-only
/*
 * The life of a report: rows are found or added while it is read, everything is freed in one place,
 * and the verdict follows from what is in it.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "lib/report.h"

static const char * const stop_names[] = {
	[LAT_STOP_COUNT] = "count",
	[LAT_STOP_DURATION] = "duration",
	[LAT_STOP_THRESHOLD] = "threshold",
	[LAT_STOP_REQUEST] = "request",
	[LAT_STOP_DEVICE_REMOVED] = "device-removed",
	[LAT_STOP_DEVICE_SILENT] = "device-silent",
	[LAT_STOP_SUSPEND] = "suspend",
	[LAT_STOP_REBOOT] = "reboot",
	[LAT_STOP_ERROR] = "error",
};

static const char * const severity_names[] = {
	[LAT_SEVERITY_INFO] = "info",
	[LAT_SEVERITY_WARN] = "warn",
	[LAT_SEVERITY_VOID] = "void",
};

const char *lat_stop_name(int reason)
{
	return reason < 0 || (size_t)reason >= ARRAY_SIZE(stop_names) ? NULL : stop_names[reason];
}

const char *lat_severity_name(int severity)
{
	return severity < 0 || (size_t)severity >= ARRAY_SIZE(severity_names) ?
		NULL : severity_names[severity];
}

const char *lat_result_name(enum lat_result result)
{
	static const char * const names[] = {
		[LAT_PASS] = "pass", [LAT_BROKEN] = "fail", [LAT_UNKNOWN] = "no verdict",
	};

	return names[result];
}

struct lat_point *lat_report_point(struct lat_report *report, uint32_t index)
{
	struct lat_point *point;
	size_t i;

	for (i = 0; i < report->n_points; i++)
		if (report->points[i].index == index)
			return &report->points[i];
	report->points = lat_grow(report->points, report->n_points, sizeof(*report->points));
	point = &report->points[report->n_points++];
	*point = (struct lat_point){ .index = index };
	return point;
}

const struct lat_point *lat_report_main_point(const struct lat_report *report)
{
	const struct lat_point *point = lat_report_find_point(report, "user");

	if (!point)
		point = lat_report_find_point(report, "thread");
	return point || !report->n_points ? point : &report->points[0];
}

long long lat_report_setting(const struct lat_report *report, const char *key)
{
	const struct lat_fact *fact = lat_fact_find(&report->config, key);

	return fact && fact->kind == LAT_FACT_NUMBER ? fact->number : 0;
}

struct lat_cell *lat_point_cell(struct lat_point *point, uint32_t cpu)
{
	struct lat_cell *cell;
	size_t i;

	for (i = 0; i < point->n_cells; i++)
		if (point->cells[i].cpu == cpu)
			return &point->cells[i];
	point->cells = lat_grow(point->cells, point->n_cells, sizeof(*point->cells));
	cell = &point->cells[point->n_cells++];
	*cell = (struct lat_cell){ .cpu = cpu };
	return cell;
}

struct lat_series *lat_report_series(struct lat_report *report, uint32_t point, uint32_t cpu)
{
	struct lat_series *series;
	size_t i;

	for (i = 0; i < report->n_series; i++)
		if (report->series[i].point == point && report->series[i].cpu == cpu)
			return &report->series[i];
	report->series = lat_grow(report->series, report->n_series, sizeof(*report->series));
	series = &report->series[report->n_series++];
	*series = (struct lat_series){ .point = point, .cpu = cpu };
	return series;
}

const struct lat_point *lat_report_find_point(const struct lat_report *report, const char *name)
{
	size_t i;

	for (i = 0; i < report->n_points; i++)
		if (report->points[i].name && !strcmp(report->points[i].name, name))
			return &report->points[i];
	return NULL;
}

void lat_hist_push(struct lat_hist *hist, uint64_t low_ns, uint64_t count)
{
	hist->rows = lat_grow(hist->rows, hist->n, sizeof(*hist->rows));
	hist->rows[hist->n++] = (struct lat_bucket){ .low_ns = low_ns, .count = count };
}

uint64_t lat_hist_total(const struct lat_hist *hist)
{
	uint64_t total = 0;
	size_t i;

	for (i = 0; i < hist->n; i++)
		total += hist->rows[i].count;
	return total;
}

void lat_cell_exceed(struct lat_cell *cell, const struct lat_exceed *exceed)
{
	cell->exceed = lat_grow(cell->exceed, cell->n_exceed, sizeof(*exceed));
	cell->exceed[cell->n_exceed++] = *exceed;
}

void lat_series_push(struct lat_series *series, const struct lat_interval *interval)
{
	series->rows = lat_grow(series->rows, series->n, sizeof(*interval));
	series->rows[series->n++] = *interval;
}

void lat_report_worst(struct lat_report *report, const struct lat_sample *sample)
{
	report->worst = lat_grow(report->worst, report->n_worst, sizeof(*sample));
	report->worst[report->n_worst++] = *sample;
}

void lat_report_note(struct lat_report *report, const char *code, enum lat_severity severity,
		     long cpu, const char *fmt, ...)
{
	char text[1024];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	report->notes = lat_grow(report->notes, report->n_notes, sizeof(*report->notes));
	report->notes[report->n_notes++] = (struct lat_note){
		.code = lat_strdup(code),
		.severity = severity,
		.cpu = cpu,
		.text = lat_strdup(text),
	};
}

static void cell_free(struct lat_cell *cell)
{
	free(cell->values.rows);
	free(cell->below.rows);
	free(cell->late.rows);
	free(cell->linear.hist.rows);
	free(cell->exceed);
}

void lat_report_free(struct lat_report *report)
{
	struct lat_facts *facts[] = {
		&report->env, &report->config, &report->device, &report->placement,
		&report->analysis, &report->counters,
	};
	size_t i, j;

	for (i = 0; i < report->n_points; i++) {
		for (j = 0; j < report->points[i].n_cells; j++)
			cell_free(&report->points[i].cells[j]);
		free(report->points[i].cells);
		free(report->points[i].name);
	}
	for (i = 0; i < report->n_series; i++)
		free(report->series[i].rows);
	for (i = 0; i < report->n_notes; i++) {
		free(report->notes[i].code);
		free(report->notes[i].text);
	}
	for (i = 0; i < report->n_verdicts; i++) {
		free(report->verdicts[i].limit);
		free(report->verdicts[i].point);
		free(report->verdicts[i].observed);
		free(report->verdicts[i].text);
	}
	for (i = 0; i < ARRAY_SIZE(facts); i++)
		lat_facts_free(facts[i]);
	free(report->points);
	free(report->series);
	free(report->worst);
	free(report->notes);
	free(report->verdicts);
	free(report->tool);
	free(report->version);
	*report = (struct lat_report){ .stop_reason = -1 };
}

enum lat_exit lat_report_exit(const struct lat_report *report)
{
	bool unknown = false;
	size_t i;

	if (report->stop_reason == LAT_STOP_THRESHOLD)
		return LAT_EXIT_LIMIT;
	for (i = 0; i < report->n_verdicts; i++) {
		if (report->verdicts[i].result == LAT_BROKEN)
			return LAT_EXIT_LIMIT;
		if (report->verdicts[i].result == LAT_UNKNOWN)
			unknown = true;
	}
	return unknown ? LAT_EXIT_ERROR : LAT_EXIT_OK;
}

const char *lat_report_verdict(const struct lat_report *report)
{
	enum lat_exit code = lat_report_exit(report);

	if (code == LAT_EXIT_LIMIT)
		return "fail";
	return code == LAT_EXIT_OK && report->n_verdicts ? "pass" : "no verdict";
}
