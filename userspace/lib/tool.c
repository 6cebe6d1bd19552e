// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parse, run, print: the three are called here and nowhere else, and the exit code is decided here.
 */
#include <errno.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "lib/report_json.h"
#include "lib/run.h"
#include "lib/tool.h"

/* Sessions that did not end as asked: what they measured is printed, but the run has failed. */
static bool was_cut_short(const struct lat_report *report)
{
	static const bool cut[] = {
		[LAT_STOP_DEVICE_REMOVED] = true, [LAT_STOP_DEVICE_SILENT] = true,
		[LAT_STOP_SUSPEND] = true, [LAT_STOP_REBOOT] = true, [LAT_STOP_ERROR] = true,
	};

	return report->stop_reason >= 0 && (size_t)report->stop_reason < ARRAY_SIZE(cut) &&
		cut[report->stop_reason];
}

static enum lat_exit finish(const struct lat_options *options, const struct lat_report *report)
{
	struct lat_error err;

	if (lat_print(report, options->printer, &options->style, options->output, &err)) {
		lat_complain("%s", err.text);
		return LAT_EXIT_ERROR;
	}
	return lat_report_exit(report);
}

static enum lat_exit do_run(const struct lat_tool *tool, const struct lat_options *options)
{
	struct lat_report report;
	enum lat_exit code = lat_run(tool, options, &report), printed;

	/* There may be a report although the way down failed: it is not thrown away. */
	if (report.tool) {
		printed = finish(options, &report);
		if (was_cut_short(&report)) {
			lat_complain("the session was cut short: %s",
				     lat_stop_name(report.stop_reason));
			code = LAT_EXIT_ERROR;
		}
		if (code == LAT_EXIT_OK)
			code = printed;
	}
	lat_report_free(&report);
	return code;
}

static enum lat_exit do_replay(const struct lat_tool *tool, const struct lat_options *options)
{
	struct lat_report report;
	struct lat_error err;
	enum lat_exit code = LAT_EXIT_ERROR;
	size_t i;

	(void)tool;
	if (lat_report_load(options->replay, &report, &err)) {
		lat_complain("%s", err.text);
	} else {
		for (i = 0; i < options->n_limits; i++)
			lat_limit_judge(&options->limits[i], &report);
		for (i = 0; i < options->n_require; i++)
			lat_require_judge(options->require[i], &report);
		code = finish(options, &report);
	}
	lat_report_free(&report);
	return code;
}

static enum lat_exit do_list(const struct lat_tool *tool, const struct lat_options *options)
{
	(void)options;
	return tool->reads_device ? lat_run_list_bars() : lat_run_list();
}

static enum lat_exit do_restore(const struct lat_tool *tool, const struct lat_options *options)
{
	(void)tool;
	return lat_run_restore(options);
}

static enum lat_exit do_help(const struct lat_tool *tool, const struct lat_options *options)
{
	(void)options;
	lat_opts_help(tool, stdout);
	return LAT_EXIT_OK;
}

static enum lat_exit do_version(const struct lat_tool *tool, const struct lat_options *options)
{
	(void)options;
	printf("%s %s\n", tool->name, LATKIT_VERSION);
	return LAT_EXIT_OK;
}

static enum lat_exit do_completion(const struct lat_tool *tool, const struct lat_options *options)
{
	(void)options;
	lat_opts_completion(tool, stdout);
	return LAT_EXIT_OK;
}

/* Output that was not written is an error, unless nobody reads it any more. */
static enum lat_exit flush(enum lat_exit code)
{
	errno = 0;
	if ((fflush(stdout) || ferror(stdout)) && errno != EPIPE && code == LAT_EXIT_OK) {
		lat_complain("standard output: %s", errno ? strerror(errno) : "cannot be written");
		return LAT_EXIT_ERROR;
	}
	return code;
}

int lat_tool_main(const struct lat_tool *tool, int argc, char **argv)
{
	static enum lat_exit (* const actions[])(const struct lat_tool *tool,
						 const struct lat_options *options) = {
		[LAT_DO_RUN] = do_run,
		[LAT_DO_LIST] = do_list,
		[LAT_DO_RESTORE] = do_restore,
		[LAT_DO_REPLAY] = do_replay,
		[LAT_DO_HELP] = do_help,
		[LAT_DO_VERSION] = do_version,
		[LAT_DO_COMPLETION] = do_completion,
	};
	struct lat_options options;
	struct lat_error err;
	enum lat_exit code;

	/* Only which bytes are letters: numbers look the same everywhere. */
	setlocale(LC_CTYPE, "");
	signal(SIGPIPE, SIG_IGN);
	if (lat_opts_parse(tool, argc, argv, &options, &err)) {
		lat_complain("%s", err.text);
		fprintf(stderr, "Try '%s --help'.\n", tool->name);
		code = LAT_EXIT_USAGE;
	} else {
		code = flush(actions[options.action](tool, &options));
	}
	lat_options_free(&options);
	return code;
}
