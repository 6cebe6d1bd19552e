/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A session as it runs, one line per measured CPU as cyclictest shows it, from the histograms that
 * netlink gives at any time. The raw stream is not opened for it: that would cost on each sample.
 */
#ifndef LATKIT_LIVE_H
#define LATKIT_LIVE_H

#include "lib/print.h"
#include "lib/session.h"

/**
 * struct lat_live - what is shown, and what was shown last
 * @nl: connection to the instrument
 * @status: of the session, with its histograms of now
 * @style: unit
 * @terminal: lines are written over; else each update adds some
 * @lines: lines on the terminal now
 * @before: histograms of the CPUs shown at the last update
 * @n_before: how many
 */
struct lat_live {
	struct lat_nl *nl;
	struct lat_status status;
	const struct lat_style *style;
	bool terminal;
	unsigned int lines;
	struct lat_hist *before;
	size_t n_before;
};

/**
 * lat_live_begin() - get to know the session that runs
 * @live: filled; lat_live_end() in either case
 * @nl: connection to the instrument
 * @style: unit
 * @terminal: write over lines
 * @err: why not
 *
 * Return: 0 or negative errno
 */
int lat_live_begin(struct lat_live *live, struct lat_nl *nl, const struct lat_style *style,
		   bool terminal, struct lat_error *err);

/**
 * lat_live_show() - one update
 * @live: what is shown
 * @f: where to
 * @err: why not
 *
 * The last sample itself is not known here, so Act is "-"; behind the line stands the upper edge of
 * the highest bucket that has grown since the last update.
 *
 * Return: 0 or negative errno
 */
int lat_live_show(struct lat_live *live, FILE *f, struct lat_error *err);

/* Take the lines off a terminal. */
void lat_live_clear(struct lat_live *live, FILE *f);
void lat_live_end(struct lat_live *live);

#endif /* LATKIT_LIVE_H */
