/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Statistics over one (point, CPU): percentiles over recorded, or over recorded, missed and lost
 * samples, mean and deviation from the exact sums. All rank arithmetic is in integers.
 */
#ifndef LATKIT_STATS_H
#define LATKIT_STATS_H

#include "lib/report.h"

/**
 * struct lat_percent - a percentile, exactly as it was written
 * @text: "99.9"
 * @num: numerator of the fraction, for core/percentile.h
 * @den: denominator, at most a million
 */
struct lat_percent {
	char text[16];
	unsigned int num;
	unsigned int den;
};

struct lat_percents {
	struct lat_percent *rows;
	size_t n;
};

enum lat_scope {
	LAT_RECORDED,	/* recorded samples only */
	LAT_ALL,	/* with missed periods, and lost stimuli as +infinity */
};

/**
 * struct lat_quantile - value of a percentile
 * @state: known; too few samples beyond it; or in the lost, which rank as +infinity
 * @ns: the value, where it is known
 * @needed: samples it takes, where they are too few
 */
struct lat_quantile {
	enum lat_quantile_state { LAT_Q_KNOWN, LAT_Q_FEW, LAT_Q_INFINITE } state;
	int64_t ns;
	uint64_t needed;
};

/* Read "99.9"; more than 0, less than 100, at most 4 decimals. Return: 0 or -EINVAL. */
int lat_percent_parse(const char *text, struct lat_percent *percent, struct lat_error *err);

/* Read "50,99,99.9"; the rows are to be freed. */
int lat_percents_parse(const char *text, struct lat_percents *percents, struct lat_error *err);

/* What is printed and saved unless --percentiles says otherwise; the rows are to be freed. */
struct lat_percents lat_percents_default(void);

struct lat_quantile lat_cell_quantile(const struct lat_cell *cell, enum lat_scope scope,
				      const struct lat_percent *percent);

/* Recorded, missed and lost together. */
uint64_t lat_cell_total(const struct lat_cell *cell, enum lat_scope scope);

/* Greatest of recorded and missed; false: there is neither. Lost stimuli are not looked at. */
bool lat_cell_max(const struct lat_cell *cell, enum lat_scope scope, int64_t *max_ns);

/* Of the recorded samples. false: too few (one for a mean, two for a deviation). */
bool lat_cell_mean(const struct lat_cell *cell, double *mean_ns);
bool lat_cell_stddev(const struct lat_cell *cell, double *stddev_ns);

/**
 * lat_cell_above() - how many samples, recorded, missed and lost, are above a limit
 * @cell: the (point, CPU)
 * @limit_ns: the limit
 * @least: surely above
 * @most: possibly above; equal to @least where it was counted exactly, or falls on an edge
 */
void lat_cell_above(const struct lat_cell *cell, uint64_t limit_ns, uint64_t *least,
		    uint64_t *most);

#endif /* LATKIT_STATS_H */
