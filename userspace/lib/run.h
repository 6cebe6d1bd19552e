/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The one part of a tool that touches the system: from options to a report, with everything put
 * back in between. Parsing and printing know nothing of it.
 */
#ifndef LATKIT_RUN_H
#define LATKIT_RUN_H

#include "lib/opts.h"

/**
 * lat_run() - measure
 * @tool: the instrument
 * @options: what was asked
 * @report: filled where something was measured; freed by the caller in either case
 *
 * Complaints go to stderr. When it returns, the session is stopped, the device is given back and
 * the module is as it was.
 *
 * Return: 0: there is a report; 1: there is none
 */
enum lat_exit lat_run(const struct lat_tool *tool, const struct lat_options *options,
		      struct lat_report *report);

/* --restore: give back what killed runs have taken. */
enum lat_exit lat_run_restore(const struct lat_options *options);

/* --list */
enum lat_exit lat_run_list(void);

/* --list of a tool that reads devices. */
enum lat_exit lat_run_list_bars(void);

#endif /* LATKIT_RUN_H */
