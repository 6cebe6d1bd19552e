/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The table of formats. A printer turns a report into text on a stream; it never touches the
 * machine, so that a live run and --replay print through the same code.
 */
#ifndef LATKIT_PRINT_H
#define LATKIT_PRINT_H

#include "lib/stats.h"

/**
 * struct lat_style - how a report is to look
 * @nanoseconds: print ns instead of us
 * @verbose: trust notes, configuration and environment in full
 * @quiet: the result only, in formats that tell more
 * @histogram: print all buckets: none, the log ones or the linear ones
 * @rows: rows of 1 us in formats that have them; 0: as the report has it
 * @percents: percentiles of formats that have a list of them
 */
struct lat_style {
	bool nanoseconds;
	bool verbose;
	bool quiet;
	enum lat_histogram {
		LAT_HISTOGRAM_NONE,
		LAT_HISTOGRAM_LOG,
		LAT_HISTOGRAM_LINEAR,
	} histogram;
	size_t rows;
	struct lat_percents percents;
};

/**
 * struct lat_printer - one format
 * @name: for --format
 * @help: what it is for
 * @print: writes the report; errors stay in the stream's error flag
 */
struct lat_printer {
	const char *name;
	const char *help;
	void (*print)(const struct lat_report *report, const struct lat_style *style, FILE *f);
};

/* Ends with a NULL name. */
extern const struct lat_printer lat_printers[];
const struct lat_printer *lat_printer_find(const char *name);
/* "text, json, ...": for messages. */
void lat_printer_names(char *names, size_t size);

/**
 * lat_print() - print a report to standard output or into a file
 * @report: the report
 * @printer: the format
 * @style: how it is to look
 * @path: NULL or "-": standard output; else the file, replaced as a whole or not at all
 * @err: why not
 *
 * A reader of standard output that went away is no error.
 *
 * Return: 0 or negative errno
 */
int lat_print(const struct lat_report *report, const struct lat_printer *printer,
	      const struct lat_style *style, const char *path, struct lat_error *err);

void lat_print_text(const struct lat_report *report, const struct lat_style *style, FILE *f);
void lat_print_cyclictest(const struct lat_report *report, const struct lat_style *style, FILE *f);
void lat_print_xenomai(const struct lat_report *report, const struct lat_style *style, FILE *f);

/**
 * lat_print_thread() - cyclictest's line about one thread, without its newline
 * @report: for priority and period
 * @index: number of the thread
 * @cell: its results
 * @style: unit
 * @f: where to
 *
 * Neither the thread's number nor the last sample is in a report: they are printed as 0 and "-".
 */
void lat_print_thread(const struct lat_report *report, size_t index, const struct lat_cell *cell,
		      const struct lat_style *style, FILE *f);

void lat_print_eci(const struct lat_report *report, const struct lat_style *style, FILE *f);

#endif /* LATKIT_PRINT_H */
