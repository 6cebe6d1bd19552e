/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reports as JSON (latkit-report/1, described in Documentation/abi-report.rst): read and written
 * here and nowhere else.
 */
#ifndef LATKIT_REPORT_JSON_H
#define LATKIT_REPORT_JSON_H

#include "lib/stats.h"

/**
 * lat_report_load() - read a report saved as JSON
 * @path: the file; "-": standard input
 * @report: filled; freed by the caller in either case
 * @err: what is wrong with it, and where
 *
 * Refuses what is not a whole latkit-report/1, or does not add up.
 *
 * Return: 0 or negative errno
 */
int lat_report_load(const char *path, struct lat_report *report, struct lat_error *err);

/* The same from memory. */
int lat_report_parse(const char *text, size_t length, struct lat_report *report,
		     struct lat_error *err);

/* Write as JSON; errors stay in the stream's error flag. */
void lat_report_json(const struct lat_report *report, const struct lat_percents *percents,
		     FILE *f);

/* 128-bit sums as decimal text. Return of the readers: true if it is wholly a number that fits. */
void lat_s128_text(lat_s128_t value, char text[48]);
void lat_u128_text(lat_u128_t value, char text[48]);
bool lat_s128_parse(const char *text, lat_s128_t *value);
bool lat_u128_parse(const char *text, lat_u128_t *value);

#endif /* LATKIT_REPORT_JSON_H */
