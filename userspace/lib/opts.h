/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The command line of an instrument's tool. The option table is the instrument's parameter table
 * (params.def) with the tool's own rows behind it; parser, help and completion follow from it.
 */
#ifndef LATKIT_OPTS_H
#define LATKIT_OPTS_H

#include "lib/limit.h"
#include "lib/print.h"
#include "lib/session.h"

/* One row of a params.def. */
struct lat_param_row {
	const char *name;
	enum lat_type type;
	const char *default_text;
	const char *min;	/* of an enum: its choices */
	const char *max;
	const char *help;
};

#define LAT_PARAM_ROW(name, type, default_text, min, max, help) \
	{ #name, LAT_T_##type, default_text, min, max, help },

/**
 * struct lat_tool - what is one instrument's own in its tool
 * @name: of the program
 * @instrument: of the module and its netlink family
 * @summary: one line for --help
 * @points: its points, ending with NULL
 * @params: its parameter table
 * @n_params: rows of it
 * @takes_device: it measures a PCI device, which has to be found and may have to be taken
 * @reads_device: it reads a PCI device, which keeps its driver
 * @waits_by_default: points=auto has the point ``user``
 * @shows_threads: it shows a line per CPU while it runs, as cyclictest does
 * @period_floor_ns: a shorter period takes --force
 */
struct lat_tool {
	const char *name;
	const char *instrument;
	const char *summary;
	const char * const *points;
	const struct lat_param_row *params;
	size_t n_params;
	bool takes_device;
	bool reads_device;
	bool waits_by_default;
	bool shows_threads;
	uint64_t period_floor_ns;
};

/**
 * struct lat_options - a command line that was understood
 * @action: what to do
 * @settings: a value for each parameter but ``run``: given, or the default
 * @n_settings: how many
 * @given: which of them were given
 * @device: PCI address; NULL: not given
 * @restore: PCI address of --restore; NULL: all of them
 * @rebind: the device may be taken from its driver
 * @force: times --force was given
 * @default_system: leave the machine's idle settings alone
 * @quiet: no progress
 * @printer: the format
 * @style: how it is to look
 * @output: file of the report; NULL: standard output
 * @replay: saved report to print instead of measuring
 * @limits: --limit
 * @n_limits: how many
 * @require: --require
 * @n_require: how many
 */
struct lat_options {
	enum lat_action {
		LAT_DO_RUN, LAT_DO_LIST, LAT_DO_RESTORE, LAT_DO_REPLAY, LAT_DO_HELP,
		LAT_DO_VERSION, LAT_DO_COMPLETION,
	} action;
	struct lat_setting *settings;
	size_t n_settings;
	bool *given;
	char *device;
	char *restore;
	bool rebind;
	unsigned int force;
	bool default_system;
	bool quiet;
	const struct lat_printer *printer;
	struct lat_style style;
	char *output;
	char *replay;
	struct lat_limit *limits;
	size_t n_limits;
	char **require;
	size_t n_require;
};

/**
 * lat_opts_parse() - read a command line
 * @tool: whose
 * @argc: of main()
 * @argv: of main()
 * @options: filled; freed by the caller in either case
 * @err: what is wrong with it
 *
 * Return: 0 or -EINVAL
 */
int lat_opts_parse(const struct lat_tool *tool, int argc, char **argv,
		   struct lat_options *options, struct lat_error *err);
void lat_options_free(struct lat_options *options);

/* The value of a parameter in @options; NULL: there is no such parameter. */
struct lat_setting *lat_options_setting(const struct lat_options *options, const char *name);
bool lat_options_given(const struct lat_options *options, const char *name);

/**
 * lat_param_parse() - read the value of a parameter
 * @row: the parameter
 * @text: what was given; kept by @setting
 * @bare_ns: unit of a number without one, where it is a duration; 0: it is refused
 * @setting: filled
 * @err: the value, the reason and the range
 *
 * Return: 0 or -EINVAL
 */
int lat_param_parse(const struct lat_param_row *row, const char *text, uint64_t bare_ns,
		    struct lat_setting *setting, struct lat_error *err);

/* 80 columns. */
void lat_opts_help(const struct lat_tool *tool, FILE *f);
/* For bash. */
void lat_opts_completion(const struct lat_tool *tool, FILE *f);

#endif /* LATKIT_OPTS_H */
