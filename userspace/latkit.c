// SPDX-License-Identifier: GPL-2.0-only
/*
 * latkit: what is not one instrument's own. `list` shows the instruments, what they are doing and
 * the devices they could measure; `show` prints a saved report or the state of an instrument;
 * `record` and `decode` are for the raw stream, `watch` follows a session of somebody else.
 */
#include <errno.h>
#include <getopt.h>
#include <libsmartcols.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/parse.h"
#include "lib/decode.h"
#include "lib/device.h"
#include "lib/module.h"
#include "lib/print.h"
#include "lib/record.h"
#include "lib/report_json.h"
#include "lib/session.h"
#include "lib/watch.h"

static const char * const instruments[] = {
	"msi_latency", "msi_jitter", "mmio_latency", "timer_latency", NULL,
};

/**
 * struct request - a command line that was understood
 * @what: argument of the command; NULL: none
 * @format: name of a format; NULL: the command's first
 * @style: how a report is to look
 * @output: file of the report or the stream; NULL: standard output
 * @duration_ns: end after this time; 0: not by itself
 * @partial: a stream that was cut is not refused
 */
struct request {
	const char *what;
	const char *format;
	struct lat_style style;
	const char *output;
	uint64_t duration_ns;
	bool partial;
};

/* ---- list ---- */

static void add_instrument(struct libscols_table *table, const char *name)
{
	static const char * const states[] = {
		[LAT_STATE_IDLE] = "idle", [LAT_STATE_RUNNING] = "running",
	};
	struct libscols_line *line = scols_table_new_line(table, NULL);
	struct lat_status status = { 0 };
	struct lat_error err;
	struct lat_nl nl;
	char sessions[16];

	scols_line_set_data(line, 0, name);
	if (!lat_module_is_loaded(name)) {
		scols_line_set_data(line, 1, "not loaded");
		return;
	}
	scols_line_set_data(line, 1, "loaded");
	if (!lat_nl_open(&nl, name, &err) && !lat_session_status(&nl, &status, &err)) {
		scols_line_set_data(line, 1, status.state < ARRAY_SIZE(states) ?
				    states[status.state] : "?");
		scols_line_set_data(line, 2, status.version);
		snprintf(sessions, sizeof(sessions), "%u", status.generation);
		scols_line_set_data(line, 3, sessions);
		scols_line_set_data(line, 4, lat_stop_name(status.stop_reason));
	} else {
		scols_line_set_data(line, 4, err.text);
	}
	lat_status_free(&status);
	lat_nl_close(&nl);
}

static enum lat_exit do_list(const struct request *request)
{
	static const char * const columns[] = {
		"INSTRUMENT", "STATE", "VERSION", "SESSIONS", "LAST",
	};
	struct libscols_table *table = scols_new_table();
	struct lat_devices devices;
	struct lat_error err;
	size_t i;

	(void)request;
	for (i = 0; table && i < ARRAY_SIZE(columns); i++)
		scols_table_new_column(table, columns[i], 0, 0);
	for (i = 0; table && instruments[i]; i++)
		add_instrument(table, instruments[i]);
	if (table) {
		scols_table_set_termforce(table, SCOLS_TERMFORCE_NEVER);
		scols_print_table(table);
	}
	scols_unref_table(table);
	if (lat_devices_list(&devices, &err)) {
		lat_complain("%s", err.text);
		return LAT_EXIT_ERROR;
	}
	if (devices.n) {
		putchar('\n');
		lat_devices_print(&devices, stdout);
	}
	lat_devices_free(&devices);
	return LAT_EXIT_OK;
}

/* ---- show ---- */

static const char *instrument_of(const char *word)
{
	size_t i;
	int n;

	for (n = 0; instruments[n]; n++) {
		for (i = 0; word[i] && (word[i] == '-' ? '_' : word[i]) == instruments[n][i]; i++)
			;
		if (!word[i] && !instruments[n][i])
			return instruments[n];
	}
	/* One that is not of this list speaks the same language. */
	return lat_module_is_loaded(word) ? word : NULL;
}

/* The results an instrument holds now; a session that runs goes on. */
static int load_instrument(const char *name, struct lat_report *report, struct lat_error *err)
{
	struct lat_status status = { 0 };
	struct lat_nl nl;
	int ret = lat_nl_open(&nl, name, err);

	*report = (struct lat_report){ .stop_reason = -1 };
	if (!ret)
		ret = lat_session_status(&nl, &status, err);
	if (!ret && status.generation)
		ret = lat_session_results(&nl, &status, err);
	if (!ret) {
		*report = status.report;
		status.report = (struct lat_report){ .stop_reason = -1 };
		report->tool = lat_strdup(name);
		report->version = lat_strdup(status.version ? status.version : LATKIT_VERSION);
	}
	lat_status_free(&status);
	lat_nl_close(&nl);
	return ret;
}

static enum lat_exit do_show(const struct request *request)
{
	const struct lat_printer *printer = lat_printer_find(request->format ? : "text");
	const char *instrument = instrument_of(request->what);
	struct lat_report report;
	struct lat_error err;
	int ret = instrument ? load_instrument(instrument, &report, &err) :
		lat_report_load(request->what, &report, &err);

	if (!ret)
		ret = lat_print(&report, printer, &request->style, request->output, &err);
	if (ret)
		lat_complain("%s", err.text);
	lat_report_free(&report);
	return ret ? LAT_EXIT_ERROR : LAT_EXIT_OK;
}

/* ---- record, decode, watch ---- */

/* Instruments of others, as those of the tests, are as good. */
static char *module_of(const char *word)
{
	char *name = lat_strdup(word), *p;

	for (p = name; *p; p++)
		if (*p == '-')
			*p = '_';
	return name;
}

static enum lat_exit do_record(const struct request *request)
{
	char *name = module_of(request->what);
	struct lat_stream_counts counts;
	struct lat_error err;
	int ret = lat_record(name, request->output, request->duration_ns, &counts, &err);

	free(name);
	if (ret)
		lat_complain("%s", err.text);
	else
		lat_complain("%llu records, %llu lost", (unsigned long long)counts.records,
			     (unsigned long long)counts.lost);
	return ret ? LAT_EXIT_ERROR : LAT_EXIT_OK;
}

static enum lat_exit do_decode(const struct request *request)
{
	const char *path = request->output && strcmp(request->output, "-") ?
		request->output : NULL;
	FILE *f = path ? fopen(path, "we") : stdout;
	struct lat_stream_counts counts;
	struct lat_error err;
	int ret;

	if (!f) {
		lat_complain("%s: %s", path, strerror(errno));
		return LAT_EXIT_ERROR;
	}
	ret = lat_decode(request->what, lat_decoder_find(request->format), request->partial, f,
			 &counts, &err);
	errno = 0;
	if (path && (fflush(f) || ferror(f)) && !ret)
		ret = lat_fail(&err, -EIO, "%s: %s", path, strerror(errno));
	if (path)
		fclose(f);
	if (ret)
		lat_complain("%s", err.text);
	else if (counts.lost)
		lat_complain("%llu records were lost while they were recorded",
			     (unsigned long long)counts.lost);
	return ret ? LAT_EXIT_ERROR : LAT_EXIT_OK;
}

static enum lat_exit do_watch(const struct request *request)
{
	char *name = module_of(request->what);
	struct lat_error err;
	int ret = lat_watch(name, &request->style, &err);

	free(name);
	if (ret)
		lat_complain("%s", err.text);
	return ret ? LAT_EXIT_ERROR : LAT_EXIT_OK;
}

/* ---- command line ---- */

static enum lat_exit do_completion(const struct request *request);
static enum lat_exit do_help(const struct request *request);

static enum lat_exit do_version(const struct request *request)
{
	(void)request;
	printf("latkit %s\n", LATKIT_VERSION);
	return LAT_EXIT_OK;
}

/**
 * struct command - one thing latkit can do
 * @name: how it is called
 * @argument: name of its argument; NULL: it has none
 * @options: letters of the options it takes
 * @help: one line
 * @run: does it
 */
struct command {
	const char *name;
	const char *argument;
	const char *options;
	const char *help;
	enum lat_exit (*run)(const struct request *request);
};

static const struct command commands[] = {
	{ "list", NULL, "", "the instruments, what they do, and the devices", do_list },
	{ "show", "FILE|INSTRUMENT", "fonv", "a saved report, or what an instrument holds now",
	  do_show },
	{ "watch", "INSTRUMENT", "n", "follow a session that runs, without disturbing it",
	  do_watch },
	{ "record", "INSTRUMENT", "od", "every sample of a session, into a file", do_record },
	{ "decode", "FILE", "fop", "print what record has written", do_decode },
	{ "--help", NULL, "", "print this", do_help },
	{ "--version", NULL, "", "print the version", do_version },
	{ "--completion", NULL, "", "print the completion for bash", do_completion },
};

static const struct option options[] = {
	{ "format", required_argument, NULL, 'f' },
	{ "output", required_argument, NULL, 'o' },
	{ "duration", required_argument, NULL, 'd' },
	{ "nano", no_argument, NULL, 'n' },
	{ "verbose", no_argument, NULL, 'v' },
	{ "partial", no_argument, NULL, 'p' },
	{ 0 },
};

static enum lat_exit do_help(const struct request *request)
{
	size_t i;

	(void)request;
	puts("Usage: latkit COMMAND [OPTION]...\nWhat is not one instrument's own.\n\nCommands:");
	for (i = 0; i < ARRAY_SIZE(commands); i++)
		printf("  %s%s%-*s %s\n", commands[i].name, commands[i].argument ? " " : "",
		       25 - (int)strlen(commands[i].name) - !!commands[i].argument,
		       commands[i].argument ? commands[i].argument : "", commands[i].help);
	puts("\nOptions:\n"
	     "  --format FORMAT           show: text, json, cyclictest or xenomai; decode:\n"
	     "                            text, csv or jsonl (default text)\n"
	     "  -o, --output FILE         show, record, decode: write into FILE\n"
	     "  -d, --duration TIME       record: end after TIME; a bare number is s (default:\n"
	     "                            at the end of the session, or by SIGINT)\n"
	     "  --partial                 decode: take what is there of a file that was cut\n"
	     "  -n, --nano                show, watch: nanoseconds instead of microseconds\n"
	     "  -v, --verbose             show: everything the report knows\n\n"
	     "Exit status: 0 done, 1 could not be done, 129 usage.");
	return LAT_EXIT_OK;
}

static enum lat_exit do_completion(const struct request *request)
{
	size_t i;

	(void)request;
	printf("# %s: GPL-2.0-only\n"
	       "# Completion of latkit for bash, made from its tables by --completion.\n"
	       "_latkit() {\n"
	       "\tlocal cur=${COMP_WORDS[COMP_CWORD]}\n"
	       "\tmapfile -t COMPREPLY < <(compgen -f -W '", "SPDX-License-Identifier");
	for (i = 0; i < ARRAY_SIZE(commands); i++)
		printf("%s ", commands[i].name);
	for (i = 0; options[i].name; i++)
		printf("--%s ", options[i].name);
	for (i = 0; instruments[i]; i++)
		printf("%s%s", instruments[i], instruments[i + 1] ? " " : "");
	puts("' -- \"$cur\")\n}\ncomplete -F _latkit latkit");
	return LAT_EXIT_OK;
}

static const struct command *find_command(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(commands); i++)
		if (!strcmp(commands[i].name, name))
			return &commands[i];
	return NULL;
}

static int take_duration(struct request *request, const char *text, struct lat_error *err)
{
	long long ns;

	if (lat_parse_duration(text, 1000000000, &ns) != LAT_PARSE_OK || ns <= 0)
		return lat_fail(err, -EINVAL, "'%s' is not a time above 0, as 10s", text);
	request->duration_ns = ns;
	return 0;
}

static int take_option(int c, const char *value, struct request *request, struct lat_error *err)
{
	switch (c) {
	case 'f':
		request->format = value;
		break;
	case 'o':
		request->output = value;
		break;
	case 'd':
		return take_duration(request, value, err);
	case 'n':
		request->style.nanoseconds = true;
		break;
	case 'p':
		request->partial = true;
		break;
	default:
		request->style.verbose = true;
	}
	return 0;
}

static int check_format(const struct command *command, const struct request *request,
			struct lat_error *err)
{
	char names[128] = "text, csv, jsonl";

	if (!request->format)
		return 0;
	if (command->run == do_show) {
		if (lat_printer_find(request->format))
			return 0;
		lat_printer_names(names, sizeof(names));
	} else if (lat_decoder_find(request->format)) {
		return 0;
	}
	return lat_fail(err, -EINVAL, "no format '%s'; there are %s", request->format, names);
}

/* Options of a command, behind its name. */
static int parse(int argc, char **argv, const struct command *command, struct request *request,
		 struct lat_error *err)
{
	int c, ret;

	opterr = 0;
	while ((c = getopt_long(argc, argv, ":o:d:nv", options, NULL)) != -1) {
		if (c == '?' || c == ':')
			return lat_fail(err, -EINVAL, c == ':' ? "option %s needs a value" :
					"unknown option %s", argv[optind - 1]);
		if (!strchr(command->options, c))
			return lat_fail(err, -EINVAL, "%s has no option %s", command->name,
					optarg && optarg == argv[optind - 1] ? argv[optind - 2] :
					argv[optind - 1]);
		ret = take_option(c, optarg, request, err);
		if (ret)
			return ret;
	}
	if (command->argument && optind < argc)
		request->what = argv[optind++];
	if (command->argument && !request->what)
		return lat_fail(err, -EINVAL, "%s needs %s", command->name, command->argument);
	if (optind < argc)
		return lat_fail(err, -EINVAL, "'%s' is too much", argv[optind]);
	return check_format(command, request, err);
}

int main(int argc, char **argv)
{
	struct request request = {
		.style.percents = lat_percents_default(),
	};
	const struct command *command = find_command(argc > 1 ? argv[1] : "");
	enum lat_exit code = LAT_EXIT_USAGE;
	struct lat_error err;

	/* Only which bytes are letters: numbers look the same everywhere. */
	setlocale(LC_CTYPE, "");
	signal(SIGPIPE, SIG_IGN);
	if (!command)
		lat_fail(&err, -EINVAL, argc > 1 ? "no command '%s'" : "a command is missing%s",
			 argc > 1 ? argv[1] : "");
	if (!command || parse(argc - 1, argv + 1, command, &request, &err))
		fprintf(stderr, "latkit: %s\nTry 'latkit --help'.\n", err.text);
	else
		code = command->run(&request);
	free(request.style.percents.rows);
	errno = 0;
	if ((fflush(stdout) || ferror(stdout)) && errno != EPIPE && code == LAT_EXIT_OK) {
		lat_complain("standard output: %s", strerror(errno));
		code = LAT_EXIT_ERROR;
	}
	return code;
}
