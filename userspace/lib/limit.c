// SPDX-License-Identifier: GPL-2.0-only
/*
 * One table of statistics says what can be limited, in which unit, and how it is read off a
 * (point, CPU); parser and judge are driven by it.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/parse.h"
#include "lib/limit.h"

/* A rate is decided once the limit would allow this many (3/n: 95 % that it is not higher). */
#define RATE_EXPECTED_MIN 3

enum stat_unit {
	UNIT_LATENCY,	/* ns, of each (point, CPU) */
	UNIT_NUMBER,	/* of each (point, CPU) */
	UNIT_COUNTER,	/* of the session, by its name in counters{} */
	UNIT_RATE,	/* per time, of each (point, CPU) */
};

/* What a statistic comes to; @what as in struct lat_quantile. */
struct reading {
	enum lat_quantile_state what;
	int64_t low;	/* the value, or the least it can be */
	int64_t high;	/* the value, or the most it can be */
	uint64_t needed;
};

/**
 * struct lat_stat - one statistic that can be limited
 * @name: as it is written
 * @unit: its kind
 * @read: reads it off a cell; NULL for a counter
 */
struct lat_stat {
	const char *name;
	enum stat_unit unit;
	struct reading (*read)(const struct lat_cell *cell, const struct lat_limit *limit);
};

static struct reading known(int64_t value)
{
	return (struct reading){ .what = LAT_Q_KNOWN, .low = value, .high = value };
}

static const struct reading nothing = { .what = LAT_Q_FEW, .needed = 1 };

static struct reading read_min(const struct lat_cell *cell, const struct lat_limit *limit)
{
	(void)limit;
	return cell->count ? known(cell->min_ns) : nothing;
}

static struct reading read_max(const struct lat_cell *cell, const struct lat_limit *limit)
{
	int64_t max_ns;

	(void)limit;
	if (cell->lost)
		return (struct reading){ .what = LAT_Q_INFINITE };
	return lat_cell_max(cell, LAT_ALL, &max_ns) ? known(max_ns) : nothing;
}

static struct reading read_mean(const struct lat_cell *cell, const struct lat_limit *limit)
{
	double mean_ns;

	(void)limit;
	return lat_cell_mean(cell, &mean_ns) ? known((int64_t)mean_ns) : nothing;
}

static struct reading read_stddev(const struct lat_cell *cell, const struct lat_limit *limit)
{
	double stddev_ns;

	(void)limit;
	return lat_cell_stddev(cell, &stddev_ns) ? known((int64_t)stddev_ns) :
		(struct reading){ .what = LAT_Q_FEW, .needed = 2 };
}

static struct reading read_percentile(const struct lat_cell *cell, const struct lat_limit *limit)
{
	struct lat_quantile q = lat_cell_quantile(cell, LAT_ALL, &limit->percent);

	return (struct reading){
		.what = q.state, .low = q.ns, .high = q.ns, .needed = q.needed,
	};
}

static struct reading read_rate(const struct lat_cell *cell, const struct lat_limit *limit)
{
	uint64_t least, most;

	lat_cell_above(cell, limit->above_ns, &least, &most);
	return (struct reading){ .what = LAT_Q_KNOWN, .low = least, .high = most };
}

static struct reading read_count(const struct lat_cell *cell, const struct lat_limit *limit)
{
	(void)limit;
	return known(cell->count);
}

static struct reading read_missed(const struct lat_cell *cell, const struct lat_limit *limit)
{
	(void)limit;
	return known(cell->missed);
}

static struct reading read_negative(const struct lat_cell *cell, const struct lat_limit *limit)
{
	(void)limit;
	return known(cell->negative);
}

/* "p" and "rate" are spelled with their number behind; all else is the whole word. */
static const struct lat_stat stats[] = {
	{ "min", UNIT_LATENCY, read_min },
	{ "mean", UNIT_LATENCY, read_mean },
	{ "stddev", UNIT_LATENCY, read_stddev },
	{ "max", UNIT_LATENCY, read_max },
	{ "p", UNIT_LATENCY, read_percentile },
	{ "rate", UNIT_RATE, read_rate },
	{ "count", UNIT_NUMBER, read_count },
	{ "missed", UNIT_NUMBER, read_missed },
	{ "negative", UNIT_NUMBER, read_negative },
	{ "overruns", UNIT_COUNTER, NULL },
	{ "lost", UNIT_COUNTER, NULL },
	{ "spurious", UNIT_COUNTER, NULL },
	{ "late", UNIT_COUNTER, NULL },
	{ "wrong_cpu", UNIT_COUNTER, NULL },
	{ "invalid", UNIT_COUNTER, NULL },
	{ "drops", UNIT_COUNTER, NULL },
	{ "torn", UNIT_COUNTER, NULL },
	{ "burst", UNIT_COUNTER, NULL },
};

/* Longest spelling first: "<=" must not be read as "<". */
static const struct op_row {
	const char *text;
	enum lat_op op;
} ops[] = {
	{ "<=", LAT_LE }, { ">=", LAT_GE }, { "==", LAT_EQ },
	{ "<", LAT_LT }, { ">", LAT_GT }, { "=", LAT_EQ },
};

static const struct lat_stat *find_stat(const char *name, size_t length)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(stats); i++)
		if (strlen(stats[i].name) == length && !strncmp(stats[i].name, name, length))
			return &stats[i];
	return NULL;
}

static int fail_stat(const char *text, struct lat_error *err)
{
	char known_names[256] = "";
	size_t i, used = 0;

	for (i = 0; i < ARRAY_SIZE(stats); i++) {
		const char *shown = stats[i].name;

		if (!strcmp(shown, "p"))
			shown = "p99.9";
		else if (!strcmp(shown, "rate"))
			shown = "rate(80us)";
		used += snprintf(known_names + used, sizeof(known_names) - used, "%s%s",
				 i ? ", " : "", shown);
	}
	return lat_fail(err, -EINVAL, "limit '%s': no such statistic; there are %s", text,
			known_names);
}

static int parse_point(const char **p, const char * const *points, struct lat_limit *limit,
		       struct lat_error *err)
{
	const char *colon = strchr(*p, ':');
	char names[256] = "";
	size_t used = 0;
	int i;

	limit->point[0] = 0;
	if (!colon)
		return 0;
	if (colon == *p || (size_t)(colon - *p) >= sizeof(limit->point))
		return lat_fail(err, -EINVAL, "limit '%s': no such point", limit->text);
	memcpy(limit->point, *p, colon - *p);
	limit->point[colon - *p] = 0;
	*p = colon + 1;
	for (i = 0; points && points[i]; i++) {
		if (!strcmp(points[i], limit->point))
			return 0;
		used += snprintf(names + used, used < sizeof(names) ? sizeof(names) - used : 0,
				 "%s%s", i ? ", " : "", points[i]);
	}
	return points ? lat_fail(err, -EINVAL, "limit '%s': no point '%s'; there are %s",
				 limit->text, limit->point, names) : 0;
}

/* The statistic with what belongs to it: "p99.9", "rate(80us)", "max". */
static int parse_stat(const char **p, struct lat_limit *limit, struct lat_error *err)
{
	const char *start = *p, *end = start;
	char number[sizeof(limit->percent.text)];
	struct lat_error reason;
	long long above;

	while (islower((unsigned char)*end) || *end == '_')
		end++;
	limit->stat = find_stat(start, end - start);
	if (!limit->stat)
		return fail_stat(limit->text, err);
	if (limit->stat->read == read_percentile) {
		size_t length = strspn(end, "0123456789.");

		if (length >= sizeof(number))
			length = sizeof(number) - 1;
		memcpy(number, end, length);
		number[length] = 0;
		if (lat_percent_parse(number, &limit->percent, &reason))
			return lat_fail(err, -EINVAL, "limit '%s': %s", limit->text, reason.text);
		end += length;
	}
	if (limit->stat->unit == UNIT_RATE) {
		if (*end++ != '(' || lat_parse_duration_at(&end, 0, &above) != LAT_PARSE_OK ||
		    *end++ != ')' || above < 0)
			return lat_fail(err, -EINVAL,
					"limit '%s': a rate is written as rate(80us)<=1/h",
					limit->text);
		limit->above_ns = above;
	}
	*p = end;
	return 0;
}

static int parse_op(const char **p, struct lat_limit *limit, struct lat_error *err)
{
	size_t i;

	while (*(*p) == ' ')
		(*p)++;
	for (i = 0; i < ARRAY_SIZE(ops); i++) {
		size_t n = lat_parse_prefix(*p, ops[i].text);

		if (!n)
			continue;
		limit->op = ops[i].op;
		*p += n;
		while (*(*p) == ' ')
			(*p)++;
		return 0;
	}
	return lat_fail(err, -EINVAL, "limit '%s': expected <=, <, >=, > or = after the statistic",
			limit->text);
}

static int parse_latency(const char *p, struct lat_limit *limit, struct lat_error *err)
{
	long long ns;

	switch (lat_parse_duration(p, 0, &ns)) {
	case LAT_PARSE_OK:
		/* "p99=50us" is how it is spelled for shells: nobody means exactly. */
		if (limit->op == LAT_EQ)
			limit->op = LAT_LE;
		limit->value = ns;
		return 0;
	case LAT_PARSE_UNIT:
		return lat_fail(err, -EINVAL,
				"limit '%s': '%s' needs a unit: ns, us, ms, s, m, h or d",
				limit->text, p);
	case LAT_PARSE_RANGE:
		return lat_fail(err, -ERANGE, "limit '%s': '%s' does not fit", limit->text, p);
	default:
		return lat_fail(err, -EINVAL, "limit '%s': '%s' is not a time, as 50us",
				limit->text, p);
	}
}

static int parse_number(const char *p, struct lat_limit *limit, struct lat_error *err)
{
	unsigned long long number;

	if (lat_parse_u64(p, &number) != LAT_PARSE_OK || number > INT64_MAX)
		return lat_fail(err, -EINVAL, "limit '%s': '%s' is not a whole number",
				limit->text, p);
	limit->value = number;
	return 0;
}

static int parse_rate(const char *p, struct lat_limit *limit, struct lat_error *err)
{
	unsigned long long number;
	const struct lat_unit *unit;

	if (lat_parse_digits(&p, 10, &number) != LAT_PARSE_OK || number > INT64_MAX || *p++ != '/')
		goto refuse;
	if (limit->op == LAT_GE || limit->op == LAT_GT)
		return lat_fail(err, -EINVAL, "limit '%s': a rate is limited with <=", limit->text);
	if (limit->op == LAT_EQ)
		limit->op = LAT_LE;
	for (unit = lat_units; unit->name; unit++) {
		if (strcmp(unit->name, p))
			continue;
		limit->value = number;
		limit->per_ns = unit->ns;
		return 0;
	}
refuse:
	return lat_fail(err, -EINVAL,
			"limit '%s': a rate is a number per time, as 1/h (s, m, h or d)",
			limit->text);
}

int lat_limit_parse(const char *text, const char * const *points, struct lat_limit *limit,
		    struct lat_error *err)
{
	static int (* const values[])(const char *p, struct lat_limit *limit,
				      struct lat_error *err) = {
		[UNIT_LATENCY] = parse_latency,
		[UNIT_NUMBER] = parse_number,
		[UNIT_COUNTER] = parse_number,
		[UNIT_RATE] = parse_rate,
	};
	const char *p;
	int ret;

	*limit = (struct lat_limit){ .text = lat_strdup(text) };
	p = limit->text + strspn(limit->text, " ");
	ret = parse_point(&p, points, limit, err);
	if (!ret)
		ret = parse_stat(&p, limit, err);
	if (!ret && limit->stat->unit == UNIT_COUNTER && limit->point[0])
		ret = lat_fail(err, -EINVAL, "limit '%s': '%s' is of the session, not of a point",
			       text, limit->stat->name);
	if (!ret)
		ret = parse_op(&p, limit, err);
	if (!ret)
		ret = values[limit->stat->unit](p, limit, err);
	if (ret) {
		free(limit->text);
		limit->text = NULL;
	}
	return ret;
}

bool lat_limit_is_rate(const struct lat_limit *limit)
{
	return limit->stat->unit == UNIT_RATE;
}

static bool holds(enum lat_op op, int64_t left, int64_t right)
{
	switch (op) {
	case LAT_LE:
		return left <= right;
	case LAT_LT:
		return left < right;
	case LAT_GE:
		return left >= right;
	case LAT_GT:
		return left > right;
	default:
		return left == right;
	}
}

static char *show(const struct lat_limit *limit, const struct reading *reading, uint64_t elapsed_ns)
{
	if (reading->what == LAT_Q_INFINITE)
		return lat_strdup("infinite (a stimulus was lost)");
	if (reading->what == LAT_Q_FEW)
		return NULL;
	switch (limit->stat->unit) {
	case UNIT_LATENCY:
		return lat_format("%.3f us", (double)reading->high / 1e3);
	case UNIT_RATE:
		return lat_format("%lld in %.3f s", (long long)reading->high,
				  (double)elapsed_ns / 1e9);
	default:
		return lat_format("%lld", (long long)reading->high);
	}
}

/* A rate compares counts: what was seen, and what the limit allows in the time there was. */
static enum lat_result judge_rate(const struct lat_limit *limit, const struct reading *reading,
				  uint64_t elapsed_ns, char **text)
{
	lat_u128_t allowed = (lat_u128_t)limit->value * elapsed_ns;
	lat_u128_t least = (lat_u128_t)reading->low * limit->per_ns;
	lat_u128_t most = (lat_u128_t)reading->high * limit->per_ns;
	bool strict = limit->op == LAT_LT;

	if (least > allowed || (strict && least == allowed && least))
		return LAT_BROKEN;
	if (most > allowed || (strict && most == allowed && most)) {
		*text = lat_strdup("not counted exactly; give the limit when the session starts");
		return LAT_UNKNOWN;
	}
	/* A limit of none at all is broken by one, and kept by none. */
	if (limit->value && allowed < (lat_u128_t)RATE_EXPECTED_MIN * limit->per_ns) {
		*text = lat_format("%.0f s are too short to tell; it takes %.0f s",
				   (double)elapsed_ns / 1e9, (double)RATE_EXPECTED_MIN *
				   (double)limit->per_ns / (double)limit->value / 1e9);
		return LAT_UNKNOWN;
	}
	return LAT_PASS;
}

static enum lat_result judge_value(const struct lat_limit *limit, const struct reading *reading,
				   char **text)
{
	bool upper = limit->op == LAT_LE || limit->op == LAT_LT || limit->op == LAT_EQ;

	switch (reading->what) {
	case LAT_Q_INFINITE:
		return upper ? LAT_BROKEN : LAT_PASS;
	case LAT_Q_FEW:
		*text = lat_format("too few samples; it takes %llu",
				   (unsigned long long)reading->needed);
		return LAT_UNKNOWN;
	default:
		return holds(limit->op, reading->high, limit->value) ? LAT_PASS : LAT_BROKEN;
	}
}

/* Severity of a result: broken over unknown over kept; among equals the higher value. */
static bool is_worse(const struct lat_verdict *worst, const struct reading *worst_reading,
		     enum lat_result result, const struct reading *reading)
{
	static const int weight[] = { [LAT_PASS] = 0, [LAT_UNKNOWN] = 1, [LAT_BROKEN] = 2 };

	if (weight[result] != weight[worst->result])
		return weight[result] > weight[worst->result];
	return reading->high > worst_reading->high;
}

static void judge_cells(const struct lat_limit *limit, struct lat_report *report,
			struct lat_verdict *worst)
{
	struct reading worst_reading = { 0 };
	bool any = false;
	size_t i, j;

	for (i = 0; i < report->n_points; i++) {
		const struct lat_point *point = &report->points[i];

		if (limit->point[0] && strcmp(limit->point, point->name))
			continue;
		for (j = 0; j < point->n_cells; j++) {
			struct reading reading = limit->stat->read(&point->cells[j], limit);
			enum lat_result result;
			char *text = NULL;

			if (limit->stat->unit == UNIT_RATE)
				result = judge_rate(limit, &reading, report->elapsed_ns, &text);
			else
				result = judge_value(limit, &reading, &text);
			if (any && !is_worse(worst, &worst_reading, result, &reading)) {
				free(text);
				continue;
			}
			any = true;
			worst_reading = reading;
			free(worst->point);
			free(worst->observed);
			free(worst->text);
			worst->result = result;
			worst->point = lat_strdup(point->name);
			worst->cpu = point->cells[j].cpu;
			worst->observed = show(limit, &reading, report->elapsed_ns);
			worst->text = text;
		}
	}
	if (!any)
		worst->text = limit->point[0] ?
			lat_format("point %s was not measured", limit->point) :
			lat_strdup("nothing was measured");
}

static void judge_counter(const struct lat_limit *limit, const struct lat_report *report,
			  struct lat_verdict *verdict)
{
	const struct lat_fact *counter = lat_fact_find(&report->counters, limit->stat->name);

	if (!counter) {
		verdict->text = lat_format("%s was not counted", limit->stat->name);
		return;
	}
	verdict->observed = lat_format("%lld", counter->number);
	verdict->result = holds(limit->op, counter->number, limit->value) ? LAT_PASS : LAT_BROKEN;
}

static struct lat_verdict *add_verdict(struct lat_report *report, char *limit)
{
	struct lat_verdict *verdict;

	report->verdicts = lat_grow(report->verdicts, report->n_verdicts,
				    sizeof(*report->verdicts));
	verdict = &report->verdicts[report->n_verdicts++];
	*verdict = (struct lat_verdict){ .limit = limit, .result = LAT_UNKNOWN, .cpu = -1 };
	return verdict;
}

void lat_limit_judge(const struct lat_limit *limit, struct lat_report *report)
{
	struct lat_verdict *verdict = add_verdict(report, lat_strdup(limit->text));

	if (limit->stat->unit == UNIT_COUNTER)
		judge_counter(limit, report, verdict);
	else
		judge_cells(limit, report, verdict);
}

void lat_require_judge(const char *code, struct lat_report *report)
{
	struct lat_verdict *verdict = add_verdict(report, lat_format("require %s", code));
	size_t i;

	verdict->result = LAT_PASS;
	for (i = 0; i < report->n_notes; i++) {
		const struct lat_note *note = &report->notes[i];

		if (strcmp(note->code, code))
			continue;
		verdict->result = LAT_UNKNOWN;
		verdict->cpu = note->cpu;
		verdict->text = lat_strdup(note->text);
		return;
	}
}

int lat_verdicts_again(struct lat_report *report, struct lat_error *err)
{
	struct lat_verdict *old = report->verdicts;
	size_t n = report->n_verdicts, i;
	struct lat_limit limit;
	int ret = 0;

	report->verdicts = NULL;
	report->n_verdicts = 0;
	for (i = 0; i < n; i++) {
		unsigned int prefix = lat_parse_prefix(old[i].limit, "require ");

		if (!ret && prefix) {
			lat_require_judge(old[i].limit + prefix, report);
		} else if (!ret) {
			ret = lat_limit_parse(old[i].limit, NULL, &limit, err);
			if (!ret) {
				lat_limit_judge(&limit, report);
				free(limit.text);
			}
		}
		free(old[i].limit);
		free(old[i].point);
		free(old[i].observed);
		free(old[i].text);
	}
	free(old);
	return ret;
}
