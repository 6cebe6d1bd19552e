/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A measurement as plain structs: what a run leaves behind, what a saved file is read into, and
 * what every printer prints. Nothing here knows netlink or the machine.
 */
#ifndef LATKIT_REPORT_H
#define LATKIT_REPORT_H

#include <latkit/latkit.h>

#include "lib/util.h"

#define LAT_REPORT_SCHEMA "latkit-report/1"

typedef __int128 lat_s128_t;
typedef unsigned __int128 lat_u128_t;

/**
 * struct lat_hist - non-empty buckets of one histogram, ascending
 * @rows: lower edge and count of each
 * @n: number of rows
 */
struct lat_hist {
	struct lat_bucket *rows;
	size_t n;
};

/**
 * struct lat_linear - the linear histogram, where one was asked for
 * @width_ns: width of a bucket; 0: there is none
 * @over: samples at or above the last edge
 * @under: samples below zero
 * @hist: the buckets
 */
struct lat_linear {
	uint64_t width_ns;
	uint64_t over;
	uint64_t under;
	struct lat_hist hist;
};

/**
 * struct lat_cell - everything one (point, CPU) has counted
 * @cpu: measured CPU
 * @count: recorded samples: the sum of @values, @below and @negative
 * @negative: samples below zero of an unsigned point
 * @min_ns: smallest sample; meaningful where @count is not 0
 * @max_ns: greatest sample; meaningful where @count is not 0
 * @sum: exact sum, ns
 * @sumsq: exact sum of squares, ns^2
 * @first_ns: due time of the first stimulus recorded or missed; 0: unknown
 * @last_ns: due time of the last one; 0: unknown
 * @missed: periods that were due and skipped
 * @missed_max_ns: greatest lateness of one of them
 * @lost: stimuli whose end never came
 * @torn: the copy may be inconsistent
 * @values: histogram from zero up
 * @below: histogram below zero of a signed point, by magnitude
 * @late: histogram of the lateness of missed periods
 * @linear: the linear histogram
 * @exceed: exact counts above given limits
 * @n_exceed: how many
 */
struct lat_cell {
	uint32_t cpu;
	uint64_t count;
	uint64_t negative;
	int64_t min_ns;
	int64_t max_ns;
	lat_s128_t sum;
	lat_u128_t sumsq;
	uint64_t first_ns;
	uint64_t last_ns;
	uint64_t missed;
	uint64_t missed_max_ns;
	uint64_t lost;
	bool torn;
	struct lat_hist values;
	struct lat_hist below;
	struct lat_hist late;
	struct lat_linear linear;
	struct lat_exceed *exceed;
	size_t n_exceed;
};

struct lat_point {
	char *name;
	uint32_t index;
	bool is_signed;
	struct lat_cell *cells;
	size_t n_cells;
};

/* The interval series of one (point, CPU). */
struct lat_series {
	uint32_t point;
	uint32_t cpu;
	struct lat_interval *rows;
	size_t n;
};

struct lat_note {
	char *code;
	enum lat_severity severity;
	long cpu;		/* -1: about no CPU in particular */
	char *text;
};

/* One --limit or --require and what became of it; filled by lib/limit.c. */
struct lat_verdict {
	char *limit;		/* as it was given; "require CODE" */
	enum lat_result { LAT_PASS, LAT_BROKEN, LAT_UNKNOWN } result;
	char *point;		/* where the worst value was; NULL: a counter */
	long cpu;		/* -1: about no CPU */
	char *observed;		/* the worst value with its unit; NULL: there is none */
	char *text;		/* one sentence, where there is something to say */
};

/**
 * struct lat_report - one session
 * @tool: name of the tool
 * @version: version of the tool
 * @start_real_ns: begin, ns since the epoch; 0: unknown
 * @stop_real_ns: end, ns since the epoch; 0: unknown
 * @elapsed_ns: length of the session on the instrument's clock; 0: unknown
 * @env: the machine
 * @config: each parameter with the value the module reported
 * @device: what was measured
 * @placement: trigger and measured CPUs
 * @analysis: what an instrument adds
 * @counters: the session's counters
 * @points: enabled points
 * @n_points: how many
 * @series: interval series
 * @n_series: how many
 * @worst: worst samples, worst first
 * @n_worst: how many
 * @notes: trust notes of the module and the tool
 * @n_notes: how many
 * @verdicts: limits
 * @n_verdicts: how many
 * @stop_reason: enum lat_stop; -1: the session did not stop, or never started
 */
struct lat_report {
	char *tool;
	char *version;
	uint64_t start_real_ns;
	uint64_t stop_real_ns;
	uint64_t elapsed_ns;
	struct lat_facts env;
	struct lat_facts config;
	struct lat_facts device;
	struct lat_facts placement;
	struct lat_facts analysis;
	struct lat_facts counters;
	struct lat_point *points;
	size_t n_points;
	struct lat_series *series;
	size_t n_series;
	struct lat_sample *worst;
	size_t n_worst;
	struct lat_note *notes;
	size_t n_notes;
	struct lat_verdict *verdicts;
	size_t n_verdicts;
	int stop_reason;
};

/* Rows of stop reasons and severities by their number; NULL past the end. */
const char *lat_stop_name(int reason);
const char *lat_severity_name(int severity);
const char *lat_result_name(enum lat_result result);

/* Find or add; a point that is added has no name. */
struct lat_point *lat_report_point(struct lat_report *report, uint32_t index);
struct lat_cell *lat_point_cell(struct lat_point *point, uint32_t cpu);
struct lat_series *lat_report_series(struct lat_report *report, uint32_t point, uint32_t cpu);
const struct lat_point *lat_report_find_point(const struct lat_report *report, const char *name);

/* The point a single-point format shows: user, else thread, else the first; NULL: there is none. */
const struct lat_point *lat_report_main_point(const struct lat_report *report);

/* A number of config{}; 0 where it is not set. */
long long lat_report_setting(const struct lat_report *report, const char *key);

void lat_hist_push(struct lat_hist *hist, uint64_t low_ns, uint64_t count);
uint64_t lat_hist_total(const struct lat_hist *hist);
void lat_cell_exceed(struct lat_cell *cell, const struct lat_exceed *exceed);
void lat_series_push(struct lat_series *series, const struct lat_interval *interval);
void lat_report_worst(struct lat_report *report, const struct lat_sample *sample);
void lat_report_note(struct lat_report *report, const char *code, enum lat_severity severity,
		     long cpu, const char *fmt, ...) __attribute__((format(printf, 5, 6)));
void lat_report_free(struct lat_report *report);

/**
 * lat_report_verdict() - the verdict over limits, --require and -T
 * @report: the session
 *
 * Return: "pass", "fail" or "no verdict"
 */
const char *lat_report_verdict(const struct lat_report *report);

/* The exit code the verdict asks for: 2 if broken, 1 if it cannot be given, else 0. */
enum lat_exit lat_report_exit(const struct lat_report *report);

#endif /* LATKIT_REPORT_H */
