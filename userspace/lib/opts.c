// SPDX-License-Identifier: GPL-2.0-only
/*
 * One table of options per tool: a row for each parameter of the instrument, made from its
 * params.def, then the rows every tool has. getopt_long() splits the words; all else (once only,
 * whole names only, strict values, hints for what other tools call so) is decided from the rows.
 */
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "core/parse.h"
#include "lib/cpulist.h"
#include "lib/opts.h"
#include "lib/trust.h"

#define US 1000ULL
#define S 1000000000ULL
#define HELP_WIDTH 80
#define HELP_COLUMN 28
#define ROWS_MAX 128

/* Longer than fits beside their names. */
#define HELP_LIMIT \
	"fail (exit 2) unless it holds: [POINT:]STAT OP VALUE, as 'p99.99<=50us', " \
	"'user:max<=100us', 'overruns=0', 'rate(80us)<=1/h'"
#define HELP_FORCE \
	"allow a period under 10 us, and taking a network interface that is up; " \
	"twice: the one with the default route"
#define HINT_PROCESS "cyclictest's; not needed, nothing is measured in this process"
#define HINT_PER_CPU "cyclictest's; use -c LIST: there is one measurement per CPU"

struct parser;

/**
 * struct row - one option
 * @name: long name; NULL: only a letter
 * @letter: short name; 0: none
 * @argument: name of its argument; NULL: it has none
 * @param: parameter it sets; NULL: none
 * @bare_ns: unit of a bare number, of a duration
 * @take: what it does, where it does not just set a parameter
 * @hint: it is not ours: what to use instead
 * @help: one line; NULL: not shown (an alias)
 * @repeats: may be given more than once
 */
struct row {
	const char *name;
	char letter;
	const char *argument;
	const char *param;
	uint64_t bare_ns;
	int (*take)(struct parser *parser, const char *value);
	const char *hint;
	const char *help;
	bool repeats;
};

/**
 * struct parser - a command line being read
 * @tool: whose
 * @options: what was understood so far
 * @err: what is wrong
 * @rows: the option table
 * @n_rows: rows of it
 * @seen: which were given
 * @on_threshold: value -T or --breaktrace imply for ``on_threshold``; NULL: neither was given
 */
struct parser {
	const struct lat_tool *tool;
	struct lat_options *options;
	struct lat_error *err;
	struct row rows[ROWS_MAX];
	size_t n_rows;
	bool seen[ROWS_MAX];
	const char *on_threshold;
};

/* ---- values ---- */

static bool is_word(const char *default_text)
{
	return isalpha((unsigned char)*default_text);
}

static int refuse_range(const struct lat_param_row *row, const char *text, struct lat_error *err)
{
	return lat_fail(err, -EINVAL, "'%s' is out of range: must be between %s and %s%s%s", text,
			row->min, row->max, is_word(row->default_text) ? ", or " : "",
			is_word(row->default_text) ? row->default_text : "");
}

static int parse_u64(const struct lat_param_row *row, const char *text,
		     struct lat_setting *setting, struct lat_error *err)
{
	unsigned long long value, min = 0, max = UINT64_MAX;

	(void)lat_parse_u64(row->min, &min);
	(void)lat_parse_u64(row->max, &max);
	switch (lat_parse_u64(text, &value)) {
	case LAT_PARSE_OK:
		break;
	case LAT_PARSE_RANGE:
		return refuse_range(row, text, err);
	default:
		return lat_fail(err, -EINVAL, "'%s' is not a whole number", text);
	}
	if (value < min || value > max)
		return refuse_range(row, text, err);
	setting->kind = LAT_VALUE_U64;
	setting->u64 = value;
	return 0;
}

static int parse_s64(const struct lat_param_row *row, const char *text,
		     struct lat_setting *setting, struct lat_error *err)
{
	long long value, min = INT64_MIN, max = INT64_MAX;

	(void)lat_parse_s64(row->min, &min);
	(void)lat_parse_s64(row->max, &max);
	switch (lat_parse_s64(text, &value)) {
	case LAT_PARSE_OK:
		break;
	case LAT_PARSE_RANGE:
		return refuse_range(row, text, err);
	default:
		return lat_fail(err, -EINVAL, "'%s' is not a whole number", text);
	}
	if (value < min || value > max)
		return refuse_range(row, text, err);
	setting->kind = LAT_VALUE_S64;
	setting->s64 = value;
	return 0;
}

static int parse_duration(const struct lat_param_row *row, const char *text, uint64_t bare_ns,
			  struct lat_setting *setting, struct lat_error *err)
{
	long long value, min = INT64_MIN, max = INT64_MAX;

	(void)lat_parse_duration(row->min, 0, &min);
	(void)lat_parse_duration(row->max, 0, &max);
	switch (lat_parse_duration(text, bare_ns, &value)) {
	case LAT_PARSE_OK:
		break;
	case LAT_PARSE_RANGE:
		return refuse_range(row, text, err);
	case LAT_PARSE_UNIT:
		return lat_fail(err, -EINVAL,
				"'%s' needs a whole number and a unit: ns, us, ms, s, m, h or d",
				text);
	default:
		return lat_fail(err, -EINVAL, "'%s' is not a time, as 250us", text);
	}
	if (value < min || value > max)
		return refuse_range(row, text, err);
	setting->kind = min < 0 ? LAT_VALUE_S64 : LAT_VALUE_U64;
	setting->s64 = value;
	setting->u64 = value;
	return 0;
}

static int parse_bool(const char *text, struct lat_setting *setting, struct lat_error *err)
{
	if (strcmp(text, "0") && strcmp(text, "1"))
		return lat_fail(err, -EINVAL, "'%s' must be 0 or 1", text);
	setting->kind = LAT_VALUE_U64;
	setting->u64 = *text == '1';
	return 0;
}

static int parse_enum(const struct lat_param_row *row, const char *text, struct lat_error *err)
{
	char *choices = lat_strdup(row->min), *rest = choices, *choice;
	bool found = false;

	while ((choice = strsep(&rest, "|")))
		found = found || !strcmp(choice, text);
	free(choices);
	return found ? 0 : lat_fail(err, -EINVAL, "'%s' must be one of %s", text, row->min);
}

int lat_param_parse(const struct lat_param_row *row, const char *text, uint64_t bare_ns,
		    struct lat_setting *setting, struct lat_error *err)
{
	struct lat_cpuset cpus;

	*setting = (struct lat_setting){ .name = row->name, .kind = LAT_VALUE_STR, .text = text };
	if (is_word(row->default_text) && !strcmp(text, row->default_text))
		return 0;
	switch (row->type) {
	case LAT_T_U64:
		return parse_u64(row, text, setting, err);
	case LAT_T_S64:
		return parse_s64(row, text, setting, err);
	case LAT_T_BOOL:
		return parse_bool(text, setting, err);
	case LAT_T_DURATION:
		return parse_duration(row, text, bare_ns, setting, err);
	case LAT_T_ENUM:
		return parse_enum(row, text, err);
	case LAT_T_CPULIST:
		return lat_cpulist_parse(text, LAT_CPUS_MAX, &cpus, err);
	default:
		return strlen(text) < 4096 ? 0 :
			lat_fail(err, -EINVAL, "'%.20s...' is too long", text);
	}
}

/* ---- what options do ---- */

static const struct lat_param_row *find_param(const struct lat_tool *tool, const char *name)
{
	size_t i;

	for (i = 0; i < tool->n_params; i++)
		if (!strcmp(tool->params[i].name, name))
			return &tool->params[i];
	return NULL;
}

/* A name of "a,b,c" that is no point of the instrument is refused here: the tool knows them. */
static int check_points(const struct lat_tool *tool, const char *text, struct lat_error *err)
{
	char *copy = lat_strdup(text), *rest = copy, *word, names[128] = "";
	bool good = true;
	size_t i, used = 0;

	for (i = 0; tool->points[i]; i++)
		used += snprintf(names + used, sizeof(names) - used, "%s%s", i ? ", " : "",
				 tool->points[i]);
	while (good && (word = strsep(&rest, ","))) {
		for (i = 0; tool->points[i] && strcmp(tool->points[i], word); i++)
			;
		good = tool->points[i] || !strcmp(text, "auto");
		if (!good)
			lat_fail(err, 0, "no point '%s'; there are %s", word, names);
	}
	free(copy);
	return good ? 0 : -EINVAL;
}

static int set_param(struct parser *parser, const char *name, const char *value, uint64_t bare_ns)
{
	struct lat_options *options = parser->options;
	struct lat_setting *setting = lat_options_setting(options, name);
	int ret = lat_param_parse(find_param(parser->tool, name), value, bare_ns, setting,
				  parser->err);

	if (!ret && !strcmp(name, "points"))
		ret = check_points(parser->tool, value, parser->err);
	options->given[setting - options->settings] = true;
	return ret;
}

static int take_threshold(struct parser *parser, const char *value)
{
	parser->on_threshold = "stop";
	return set_param(parser, "threshold", value, US);
}

static int take_breaktrace(struct parser *parser, const char *value)
{
	parser->on_threshold = "trace_off";
	return set_param(parser, "threshold", value, US);
}

/* Hexadecimal digits up to @end, which is stepped over; 0 ends the text. */
static bool take_hex(const char **p, char end, unsigned int max, unsigned int *number)
{
	unsigned long long value;

	if (lat_parse_digits(p, 16, &value) != LAT_PARSE_OK || value > max || **p != end)
		return false;
	*number = value;
	if (end)
		(*p)++;
	return true;
}

static int take_device(struct parser *parser, const char *value)
{
	unsigned int domain = 0, bus, slot, function;
	const char *p = value, *colon = strchr(value, ':');

	/* "04:00.0" is what lspci prints where there is only one domain. */
	if (colon && strchr(colon + 1, ':') && !take_hex(&p, ':', 0xffff, &domain))
		goto refuse;
	if (!take_hex(&p, ':', 0xff, &bus) || !take_hex(&p, '.', 0x1f, &slot) ||
	    !take_hex(&p, 0, 7, &function))
		goto refuse;
	free(parser->options->device);
	parser->options->device = lat_format("%04x:%02x:%02x.%x", domain, bus, slot, function);
	return set_param(parser, "device", parser->options->device, 0);
refuse:
	return lat_fail(parser->err, -EINVAL, "'%s' is not a PCI address, as 0000:00:04.0", value);
}

static int take_histogram(struct parser *parser, const char *value)
{
	struct lat_style *style = &parser->options->style;
	unsigned long long buckets;
	int ret;

	if (!strcmp(value, "log")) {
		style->histogram = LAT_HISTOGRAM_LOG;
		return 0;
	}
	style->histogram = LAT_HISTOGRAM_LINEAR;
	if (!strncmp(value, "linear:", 7))
		return set_param(parser, "linear", lat_strdup(value + 7), 0);
	if (lat_parse_u64(value, &buckets) != LAT_PARSE_OK || !buckets || buckets > 1000000)
		return lat_fail(parser->err, -EINVAL,
				"'%s' is not log, linear:WIDTH:BUCKETS (as linear:1us:100) or a number of 1 us buckets",
				value);
	style->rows = buckets;
	ret = set_param(parser, "linear", lat_format("1us:%llu", buckets), 0);
	return ret;
}

static int take_format(struct parser *parser, const char *value)
{
	char names[128];

	parser->options->printer = lat_printer_find(value);
	if (parser->options->printer)
		return 0;
	lat_printer_names(names, sizeof(names));
	return lat_fail(parser->err, -EINVAL, "no format '%s'; there are %s", value, names);
}

static int take_limit(struct parser *parser, const char *value)
{
	struct lat_options *options = parser->options;
	struct lat_limit limit;
	int ret = lat_limit_parse(value, parser->tool->points, &limit, parser->err);

	if (ret)
		return ret;
	options->limits = lat_grow(options->limits, options->n_limits, sizeof(limit));
	options->limits[options->n_limits++] = limit;
	return 0;
}

static int take_require(struct parser *parser, const char *value)
{
	struct lat_options *options = parser->options;
	char *copy = lat_strdup(value), *rest = copy, *code;
	int ret = 0;

	while (!ret && (code = strsep(&rest, ","))) {
		ret = lat_trust_check_code(code, parser->err);
		if (ret)
			break;
		options->require = lat_grow(options->require, options->n_require, sizeof(char *));
		options->require[options->n_require++] = lat_strdup(code);
	}
	free(copy);
	return ret;
}

static int take_percentiles(struct parser *parser, const char *value)
{
	struct lat_percents *percents = &parser->options->style.percents;

	free(percents->rows);
	return lat_percents_parse(value, percents, parser->err);
}

/* One thing at a time: --list and --restore do not measure, --replay does not either. */
static int set_action(struct parser *parser, enum lat_action action)
{
	if (parser->options->action != LAT_DO_RUN && parser->options->action != action)
		return lat_fail(parser->err, -EINVAL,
				"cannot be combined with another of --list, --restore, --replay");
	parser->options->action = action;
	return 0;
}

static int take_replay(struct parser *parser, const char *value)
{
	parser->options->replay = lat_strdup(value);
	return set_action(parser, LAT_DO_REPLAY);
}

static int take_restore(struct parser *parser, const char *value)
{
	(void)value;
	return set_action(parser, LAT_DO_RESTORE);
}

static int take_list(struct parser *parser, const char *value)
{
	(void)value;
	return set_action(parser, LAT_DO_LIST);
}

static int take_output(struct parser *parser, const char *value)
{
	if (!*value)
		return lat_fail(parser->err, -EINVAL, "needs a file name");
	parser->options->output = lat_strdup(value);
	return 0;
}

static int take_rebind(struct parser *parser, const char *value)
{
	(void)value;
	parser->options->rebind = true;
	return 0;
}

static int take_force(struct parser *parser, const char *value)
{
	(void)value;
	parser->options->force++;
	return 0;
}

static int take_default_system(struct parser *parser, const char *value)
{
	(void)value;
	parser->options->default_system = true;
	return 0;
}

static int take_quiet(struct parser *parser, const char *value)
{
	(void)value;
	parser->options->quiet = true;
	parser->options->style.quiet = true;
	return 0;
}

static int take_verbose(struct parser *parser, const char *value)
{
	(void)value;
	parser->options->style.verbose = true;
	return 0;
}

static int take_nanoseconds(struct parser *parser, const char *value)
{
	(void)value;
	parser->options->style.nanoseconds = true;
	return 0;
}

static int take_help(struct parser *parser, const char *value)
{
	(void)value;
	parser->options->action = LAT_DO_HELP;
	return 0;
}

static int take_version(struct parser *parser, const char *value)
{
	(void)value;
	parser->options->action = LAT_DO_VERSION;
	return 0;
}

static int take_completion(struct parser *parser, const char *value)
{
	(void)value;
	parser->options->action = LAT_DO_COMPLETION;
	return 0;
}

/* ---- the table ---- */

/* What a parameter's option has beside its row: a letter, a unit for bare numbers, an own hand. */
static const struct row param_extras[] = {
	{ .param = "cpus", .letter = 'c' },
	{ .param = "period", .letter = 'p', .bare_ns = US },
	{ .param = "priority", .letter = 'P' },
	{ .param = "duration", .letter = 'd', .bare_ns = S },
	{ .param = "count", .letter = 'l' },
	{ .param = "threshold", .letter = 'T', .bare_ns = US, .take = take_threshold },
	{ .param = "device", .take = take_device },
};

static const struct row alias_rows[] = {
	{ .name = "affinity", .argument = "LIST", .param = "cpus" },
	{ .name = "interval", .argument = "TIME", .param = "period", .bare_ns = US },
	{ .name = "loops", .argument = "N", .param = "count" },
	{ .letter = 'D', .argument = "TIME", .param = "duration", .bare_ns = S },
	{ .name = "breaktrace", .argument = "TIME", .param = "threshold", .take = take_breaktrace,
	  .help = "as -T TIME --on-threshold trace_off" },
};

static const struct row tool_rows[] = {
	{ .name = "histogram", .letter = 'H', .argument = "KIND", .take = take_histogram,
	  .help = "print all buckets: log, linear:WIDTH:BUCKETS, or N (linear:1us:N)" },
	{ .name = "percentiles", .argument = "LIST", .take = take_percentiles,
	  .help = "percentiles of the report (default 50,90,99,99.9,99.99,99.999)" },
	{ .name = "limit", .argument = "LIMIT", .take = take_limit, .repeats = true,
	  .help = HELP_LIMIT },
	{ .name = "require", .argument = "CODE", .take = take_require, .repeats = true,
	  .help = "no verdict (exit 1) if there is a trust note with this code" },
	{ .name = "format", .argument = "FORMAT", .take = take_format,
	  .help = "text, json, cyclictest or xenomai (default text)" },
	{ .name = "output", .letter = 'o', .argument = "FILE", .take = take_output,
	  .help = "write the report into FILE, whole or not at all" },
	{ .name = "replay", .argument = "FILE", .take = take_replay,
	  .help = "print a report saved with --format json (-: standard input)" },
	{ .name = "quiet", .letter = 'q', .take = take_quiet, .help = "no progress" },
	{ .name = "verbose", .letter = 'v', .take = take_verbose,
	  .help = "trust notes, settings and environment in full" },
	{ .name = "nano", .letter = 'n', .take = take_nanoseconds,
	  .help = "print nanoseconds instead of microseconds" },
	{ .name = "default-system", .take = take_default_system,
	  .help = "leave idle states alone (else --idle 0 holds the measured CPUs awake)" },
	{ .name = "force", .take = take_force, .repeats = true,
	  .help = HELP_FORCE },
	{ .name = "help", .letter = 'h', .take = take_help, .help = "print this" },
	{ .name = "version", .take = take_version, .help = "print the version" },
	{ .name = "completion", .take = take_completion, .help = "print the completion for bash" },
};

static const struct row bars_rows[] = {
	{ .name = "list", .take = take_list, .help = "list the PCI devices and their BARs" },
};

static const struct row device_rows[] = {
	{ .name = "list", .take = take_list, .help = "list the devices that can be measured" },
	{ .name = "rebind", .take = take_rebind,
	  .help = "take the device from its driver, and give it back at the end" },
	{ .name = "restore", .take = take_restore,
	  .help = "give back what a killed run has taken (with --device: only that device)" },
};

static const struct row foreign_rows[] = {
	{ .letter = 'a', .hint = "cyclictest's; use -c LIST (or --affinity LIST)" },
	{ .letter = 'b', .hint = "cyclictest's; use --breaktrace TIME, or -T TIME to only stop" },
	{ .letter = 'i', .hint = "cyclictest's; use -p TIME (or --interval TIME)" },
	{ .letter = 'm', .hint = HINT_PROCESS },
	{ .letter = 'N', .hint = "cyclictest's; use -n" },
	{ .letter = 'S', .hint = "cyclictest's; use -c all" },
	{ .letter = 't', .hint = HINT_PER_CPU },
	{ .name = "mlockall", .hint = HINT_PROCESS },
	{ .name = "smp", .hint = "cyclictest's; use -c all" },
	{ .name = "threads", .hint = HINT_PER_CPU },
	{ .name = "json", .hint = "rt-tests'; use --format json -o FILE" },
};

static const char *argument_name(const struct lat_param_row *param)
{
	static const char * const names[] = {
		[LAT_T_U64] = "N", [LAT_T_S64] = "N", [LAT_T_BOOL] = "0|1", [LAT_T_ENUM] = "WORD",
		[LAT_T_STRING] = "TEXT", [LAT_T_CPULIST] = "LIST", [LAT_T_DURATION] = "TIME",
	};

	return names[param->type];
}

/* The tool starts the session itself: `run` is the module's own business. */
static bool is_option(const struct lat_param_row *param)
{
	return strcmp(param->name, "run");
}

static void add_rows(struct parser *parser, const struct row *rows, size_t n)
{
	memcpy(&parser->rows[parser->n_rows], rows, n * sizeof(*rows));
	parser->n_rows += n;
}

static void add_param(struct parser *parser, const struct lat_param_row *param)
{
	struct row row = {
		.name = param->name, .argument = argument_name(param), .help = param->help,
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(param_extras); i++) {
		if (strcmp(param_extras[i].param, param->name))
			continue;
		row.letter = param_extras[i].letter;
		row.bare_ns = param_extras[i].bare_ns;
		row.take = param_extras[i].take;
	}
	row.param = param->name;
	add_rows(parser, &row, 1);
}

static void build_rows(struct parser *parser)
{
	const struct lat_tool *tool = parser->tool;
	size_t i;

	for (i = 0; i < tool->n_params; i++)
		if (is_option(&tool->params[i]))
			add_param(parser, &tool->params[i]);
	add_rows(parser, alias_rows, ARRAY_SIZE(alias_rows));
	if (tool->takes_device)
		add_rows(parser, device_rows, ARRAY_SIZE(device_rows));
	if (tool->reads_device)
		add_rows(parser, bars_rows, ARRAY_SIZE(bars_rows));
	add_rows(parser, tool_rows, ARRAY_SIZE(tool_rows));
	add_rows(parser, foreign_rows, ARRAY_SIZE(foreign_rows));
}

/* Options spell '_' as '-'. */
static char *option_name(const char *name)
{
	char *copy = lat_strdup(name), *p;

	for (p = copy; *p; p++)
		if (*p == '_')
			*p = '-';
	return copy;
}

/* "-p" or "--period", as it was typed. */
static void row_label(const struct row *row, bool is_long, char *text, size_t size)
{
	char *name = row->name ? option_name(row->name) : NULL;

	if (is_long || !row->letter)
		snprintf(text, size, "--%s", name);
	else
		snprintf(text, size, "-%c", row->letter);
	free(name);
}

/* Options that say the same thing count as one: -d and -D, -T and --breaktrace. */
static bool is_given_twice(const struct parser *parser, const struct row *row)
{
	size_t i;

	if (row->repeats)
		return false;
	for (i = 0; i < parser->n_rows; i++)
		if (parser->seen[i] && (&parser->rows[i] == row ||
					(row->param && parser->rows[i].param &&
					 !strcmp(row->param, parser->rows[i].param))))
			return true;
	return false;
}

static int take_row(struct parser *parser, const struct row *row, bool is_long, const char *value)
{
	struct lat_error reason;
	char label[64];
	int ret;

	row_label(row, is_long, label, sizeof(label));
	if (row->hint)
		return lat_fail(parser->err, -EINVAL, "option %s is %s", label, row->hint);
	if (is_given_twice(parser, row))
		return lat_fail(parser->err, -EINVAL, "option %s is given twice", label);
	parser->seen[row - parser->rows] = true;
	if (row->take)
		ret = row->take(parser, value);
	else
		ret = set_param(parser, row->param, value, row->bare_ns);
	if (ret) {
		reason = *parser->err;
		lat_fail(parser->err, 0, "option %s: %.900s", label, reason.text);
	}
	return ret;
}

static int refuse_unknown(struct parser *parser, const char *word)
{
	size_t i, length = strcspn(word, "=");
	char near[128] = "";

	for (i = 0; i < parser->n_rows && length > 3; i++) {
		char *name = parser->rows[i].name ? option_name(parser->rows[i].name) : NULL;

		if (name && !parser->rows[i].hint && !strncmp(name, word + 2, length - 2) &&
		    strlen(near) + strlen(name) + 6 < sizeof(near))
			sprintf(near + strlen(near), "%s--%s", *near ? ", " : "", name);
		free(name);
	}
	return lat_fail(parser->err, -EINVAL, "unknown option %.*s%s%s", (int)length, word,
			*near ? "; options are not shortened: " : "", near);
}

static int walk(struct parser *parser, int argc, char **argv, const struct option *longs,
		const char *letters)
{
	size_t i;

	opterr = 0;
	optind = 0;
	for (;;) {
		const char *word = argv[optind ? optind : 1];
		int index = -1, c = getopt_long(argc, argv, letters, longs, &index);
		const struct row *row = NULL;
		int ret;

		if (c == -1)
			break;
		if (c == ':')
			return lat_fail(parser->err, -EINVAL, "option %.60s needs a value",
					optopt < 256 && word && word[1] != '-' ?
					(char[]){ '-', optopt, 0 } : word);
		if (c == '?' && (word && word[0] == '-' && word[1] == '-'))
			return optopt ? lat_fail(parser->err, -EINVAL, "option %.*s takes no value",
						 (int)strcspn(word, "="), word) :
				refuse_unknown(parser, word);
		if (c == '?')
			return refuse_unknown(parser, (char[]){ '-', optopt, 0 });
		if (index >= 0) {
			row = &parser->rows[c - 256];
			if (strcspn(word + 2, "=") != strlen(longs[index].name))
				return refuse_unknown(parser, word);
		}
		for (i = 0; !row && i < parser->n_rows; i++)
			if (parser->rows[i].letter == c)
				row = &parser->rows[i];
		ret = take_row(parser, row, index >= 0, optarg);
		if (ret)
			return ret;
	}
	if (optind < argc)
		return lat_fail(parser->err, -EINVAL, "'%s' is not an option", argv[optind]);
	return 0;
}

static int split(struct parser *parser, int argc, char **argv)
{
	struct option *longs = lat_alloc(parser->n_rows + 1, sizeof(*longs));
	char letters[2 + 2 * ROWS_MAX + 1] = "+:";
	size_t i, n = 0, used = 2;
	int ret;

	for (i = 0; i < parser->n_rows; i++) {
		const struct row *row = &parser->rows[i];

		if (row->name)
			longs[n++] = (struct option){
				.name = option_name(row->name),
				.has_arg = row->argument ? required_argument : no_argument,
				.val = 256 + (int)i,
			};
		if (row->letter) {
			letters[used++] = row->letter;
			if (row->argument)
				letters[used++] = ':';
		}
	}
	ret = walk(parser, argc, argv, longs, letters);
	while (n--)
		free((char *)longs[n].name);
	free(longs);
	return ret;
}

/* ---- the whole command line ---- */

static int set_defaults(struct parser *parser)
{
	const struct lat_tool *tool = parser->tool;
	struct lat_options *options = parser->options;
	size_t i;

	options->settings = lat_alloc(tool->n_params, sizeof(*options->settings));
	options->given = lat_alloc(tool->n_params, sizeof(*options->given));
	for (i = 0; i < tool->n_params; i++) {
		const struct lat_param_row *param = &tool->params[i];
		int ret;

		if (!is_option(param))
			continue;
		ret = lat_param_parse(param, param->default_text, 0,
				      &options->settings[options->n_settings++], parser->err);
		if (ret)
			return ret;
	}
	return 0;
}

/* What options mean together, once all are read. */
static int settle(struct parser *parser)
{
	struct lat_options *options = parser->options;
	struct lat_setting *period = lat_options_setting(options, "period");
	struct lat_setting *threshold = lat_options_setting(options, "threshold");
	bool acts = lat_options_given(options, "on_threshold") &&
		strcmp(lat_options_setting(options, "on_threshold")->text, "note");

	if (options->action == LAT_DO_HELP || options->action == LAT_DO_VERSION ||
	    options->action == LAT_DO_COMPLETION)
		return 0;
	if (parser->on_threshold) {
		if (lat_options_given(options, "on_threshold") &&
		    !strcmp(parser->on_threshold, "trace_off"))
			return lat_fail(parser->err, -EINVAL,
					"--breaktrace says --on-threshold trace_off already");
		if (!lat_options_given(options, "on_threshold"))
			lat_options_setting(options, "on_threshold")->text = parser->on_threshold;
	}
	if (acts && !threshold->u64)
		return lat_fail(parser->err, -EINVAL, "--on-threshold needs a threshold: -T TIME");
	if (!options->default_system && !lat_options_given(options, "idle"))
		*lat_options_setting(options, "idle") = (struct lat_setting){
			.name = "idle", .kind = LAT_VALUE_U64,
		};
	if (options->default_system && lat_options_given(options, "idle"))
		return lat_fail(parser->err, -EINVAL,
				"--default-system and --idle contradict each other");
	if (period && period->u64 < parser->tool->period_floor_ns && !options->force)
		return lat_fail(parser->err, -EINVAL,
				"option -p: a period of %llu ns may leave the machine no time for anything else; --force allows it",
				(unsigned long long)period->u64);
	if (options->action == LAT_DO_RESTORE && options->device)
		options->restore = lat_strdup(options->device);
	return 0;
}

int lat_opts_parse(const struct lat_tool *tool, int argc, char **argv,
		   struct lat_options *options, struct lat_error *err)
{
	struct parser *parser = lat_alloc(1, sizeof(*parser));
	int ret;

	*parser = (struct parser){ .tool = tool, .options = options, .err = err };
	*options = (struct lat_options){
		.printer = &lat_printers[0],
		.style.percents = lat_percents_default(),
	};
	build_rows(parser);
	ret = set_defaults(parser);
	if (!ret)
		ret = split(parser, argc, argv);
	if (!ret)
		ret = settle(parser);
	free(parser);
	return ret;
}

void lat_options_free(struct lat_options *options)
{
	size_t i;

	for (i = 0; i < options->n_limits; i++)
		free(options->limits[i].text);
	for (i = 0; i < options->n_require; i++)
		free(options->require[i]);
	free(options->limits);
	free(options->require);
	free(options->settings);
	free(options->given);
	free(options->device);
	free(options->restore);
	free(options->output);
	free(options->replay);
	free(options->style.percents.rows);
	*options = (struct lat_options){ 0 };
}

struct lat_setting *lat_options_setting(const struct lat_options *options, const char *name)
{
	size_t i;

	for (i = 0; i < options->n_settings; i++)
		if (!strcmp(options->settings[i].name, name))
			return &options->settings[i];
	return NULL;
}

bool lat_options_given(const struct lat_options *options, const char *name)
{
	const struct lat_setting *setting = lat_options_setting(options, name);

	return setting && options->given[setting - options->settings];
}

/* ---- help and completion ---- */

/* Words of @text from HELP_COLUMN to HELP_WIDTH; the cursor stands at @column. */
static void wrap(FILE *f, const char *text, int column)
{
	if (column >= HELP_COLUMN) {
		fputc('\n', f);
		column = 0;
	}
	fprintf(f, "%*s", HELP_COLUMN - column, "");
	column = HELP_COLUMN;
	while (*text) {
		int length = (int)strcspn(text, " ");

		if (column > HELP_COLUMN && column + 1 + length > HELP_WIDTH) {
			fprintf(f, "\n%*s", HELP_COLUMN, "");
			column = HELP_COLUMN;
		}
		if (column > HELP_COLUMN)
			column += fprintf(f, " ");
		column += fprintf(f, "%.*s", length, text);
		text += length;
		text += strspn(text, " ");
	}
	fputc('\n', f);
}

static char *help_text(const struct parser *parser, const struct row *row)
{
	const struct lat_param_row *param =
		row->param ? find_param(parser->tool, row->param) : NULL;
	const char *unit = row->bare_ns == US ? "; a bare number is us" :
		row->bare_ns == S ? "; a bare number is s" : "";

	if (!param || row->take == take_breaktrace)
		return lat_strdup(row->help);
	if (param->type == LAT_T_ENUM)
		return lat_format("%s: %s (default %s)", row->help, param->min,
				  param->default_text);
	if (*param->min && param->type != LAT_T_BOOL)
		return lat_format("%s (default %s, %s to %s%s)", row->help, param->default_text,
				  param->min, param->max, unit);
	return *param->default_text && !is_word(param->default_text) ?
		lat_format("%s (default %s)", row->help, param->default_text) :
		lat_strdup(row->help);
}

static void help_row(const struct parser *parser, const struct row *row, FILE *f)
{
	char *name = row->name ? option_name(row->name) : NULL;
	char *text = help_text(parser, row);
	char letter[5] = "    ";
	int column;

	if (row->letter)
		snprintf(letter, sizeof(letter), "-%c, ", row->letter);
	column = fprintf(f, "  %s--%s%s%s ", letter, name, row->argument ? " " : "",
			 row->argument ? row->argument : "");
	wrap(f, text, column);
	free(text);
	free(name);
}

static struct parser *table_of(const struct lat_tool *tool)
{
	struct parser *parser = lat_alloc(1, sizeof(*parser));

	parser->tool = tool;
	build_rows(parser);
	return parser;
}

void lat_opts_help(const struct lat_tool *tool, FILE *f)
{
	struct parser *parser = table_of(tool);
	size_t i;

	fprintf(f, "Usage: %s [OPTION]...\n%s\n\nWhat is measured:\n", tool->name, tool->summary);
	for (i = 0; i < parser->n_rows; i++)
		if (parser->rows[i].help && parser->rows[i].param)
			help_row(parser, &parser->rows[i], f);
	fprintf(f, "\nThe tool:\n");
	for (i = 0; i < parser->n_rows; i++)
		if (parser->rows[i].help && !parser->rows[i].param)
			help_row(parser, &parser->rows[i], f);
	fprintf(f,
		"\nAlso understood: --affinity (--cpus), --interval (--period), --loops (--count),\n"
		"-D (--duration).\n\n"
		"Exit status: 0 as asked or by SIGINT or SIGTERM, and no limit broken; 1 could\n"
		"not measure, or too few samples for a limit; 2 a limit broken or stopped by\n"
		"-T; 129 usage.\n");
	free(parser);
}

void lat_opts_completion(const struct lat_tool *tool, FILE *f)
{
	struct parser *parser = table_of(tool);
	const struct lat_printer *printer;
	const char *words_end = "' -- \"$cur\"); return ;;\n";
	char function[64], *p;
	size_t i;

	snprintf(function, sizeof(function), "_%s", tool->name);
	for (p = function; *p; p++)
		if (*p == '-')
			*p = '_';
	fprintf(f, "# %s: GPL-2.0-only\n"
		"# Completion of %s for bash, made from its option table by --completion.\n"
		"%s() {\n"
		"\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
		"\tCOMPREPLY=()\n"
		"\tcase $prev in\n", "SPDX-License-Identifier", tool->name, function);
	fprintf(f, "\t--format) mapfile -t COMPREPLY < <(compgen -W '");
	for (printer = lat_printers; printer->name; printer++)
		fprintf(f, "%s%s", printer == lat_printers ? "" : " ", printer->name);
	fputs(words_end, f);
	fprintf(f, "\t-o|--output|--replay) mapfile -t COMPREPLY < <(compgen -f%s", words_end + 1);
	for (i = 0; i < tool->n_params; i++) {
		char *name = option_name(tool->params[i].name), *choices;

		choices = lat_strdup(tool->params[i].type == LAT_T_BOOL ? "0|1" :
				     tool->params[i].min);
		for (p = choices; *p; p++)
			if (*p == '|')
				*p = ' ';
		if (is_option(&tool->params[i]) && (tool->params[i].type == LAT_T_ENUM ||
						    tool->params[i].type == LAT_T_BOOL))
			fprintf(f, "\t--%s) mapfile -t COMPREPLY < <(compgen -W '%s%s", name,
				choices, words_end);
		free(choices);
		free(name);
	}
	fprintf(f, "\tesac\n\tmapfile -t COMPREPLY < <(compgen -W '");
	for (i = 0; i < parser->n_rows; i++) {
		char *name;

		if (parser->rows[i].hint || !parser->rows[i].name)
			continue;
		name = option_name(parser->rows[i].name);
		fprintf(f, "%s--%s", i ? " " : "", name);
		free(name);
	}
	fprintf(f, "' -- \"$cur\")\n}\ncomplete -F %s %s\n", function, tool->name);
	free(parser);
}
