// SPDX-License-Identifier: GPL-2.0-only
/*
 * The report as JSON, latkit-report/1: the one writer and the one reader of it. The writer puts
 * out one member at a time, so that the whole never stands in memory twice; jansson forms and
 * escapes every value. The reader trusts nothing: what is there must have the right type, fit, and
 * add up, or the file is refused with the place where it does not.
 */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "core/bucket.h"
#include "core/parse.h"
#include "lib/limit.h"
#include "lib/report_json.h"

#define FILE_MAX (256L << 20)
/* Greatest whole number every JSON reader keeps exactly. */
#define EXACT_MAX (1LL << 53)

/* ---- 128-bit numbers ---- */

void lat_u128_text(lat_u128_t value, char text[48])
{
	char digits[48];
	int n = 0;

	do {
		digits[n++] = '0' + (int)(value % 10);
		value /= 10;
	} while (value);
	while (n)
		*text++ = digits[--n];
	*text = 0;
}

void lat_s128_text(lat_s128_t value, char text[48])
{
	if (value < 0)
		*text++ = '-';
	lat_u128_text(value < 0 ? -(lat_u128_t)value : (lat_u128_t)value, text);
}

bool lat_u128_parse(const char *text, lat_u128_t *value)
{
	*value = 0;
	if (!*text)
		return false;
	for (; *text; text++) {
		if (*text < '0' || *text > '9' ||
		    __builtin_mul_overflow(*value, (lat_u128_t)10, value) ||
		    __builtin_add_overflow(*value, (lat_u128_t)(*text - '0'), value))
			return false;
	}
	return true;
}

bool lat_s128_parse(const char *text, lat_s128_t *value)
{
	bool negative = *text == '-';
	lat_u128_t magnitude;

	if (!lat_u128_parse(text + negative, &magnitude) || magnitude >> 127)
		return false;
	*value = negative ? -(lat_s128_t)magnitude : (lat_s128_t)magnitude;
	return true;
}

/* ---- writing ---- */

/**
 * struct writer - where a JSON text is being written
 * @f: the stream
 * @depth: open objects and arrays
 * @started: at each depth: a member is already there
 */
struct writer {
	FILE *f;
	unsigned int depth;
	bool started[8];
};

/* jansson refuses what is not UTF-8; of such a text the bytes that are not ASCII become '?'. */
static json_t *text_value(const char *text)
{
	json_t *value = json_string(text);
	char *copy, *p;

	if (value)
		return value;
	copy = lat_strdup(text);
	for (p = copy; *p; p++)
		if (*p & 0x80)
			*p = '?';
	value = json_string(copy);
	free(copy);
	return value;
}

static json_t *maybe_text(const char *text)
{
	return text ? text_value(text) : json_null();
}

/* A count that does not fit into JSON's 64 bits is not a count: no session lives that long. */
static json_t *number_value(uint64_t number)
{
	return number > INT64_MAX ? json_null() : json_integer((json_int_t)number);
}

static json_t *real_value(bool known, double real)
{
	return known && isfinite(real) ? json_real(real) : json_null();
}

static void put_raw(struct writer *w, json_t *value)
{
	json_dumpf(value, w->f, JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
	json_decref(value);
}

static void put_key(struct writer *w, const char *key)
{
	fprintf(w->f, "%s\n%*s", w->started[w->depth] ? "," : "", (int)w->depth * 2, "");
	w->started[w->depth] = true;
	if (key) {
		put_raw(w, text_value(key));
		fputs(": ", w->f);
	}
}

/* Consumes @value. */
static void put(struct writer *w, const char *key, json_t *value)
{
	put_key(w, key);
	put_raw(w, value);
}

static void put_open(struct writer *w, const char *key, char bracket)
{
	if (w->depth)
		put_key(w, key);
	fputc(bracket, w->f);
	w->started[++w->depth] = false;
}

static void put_close(struct writer *w, char bracket)
{
	w->depth--;
	if (w->started[w->depth + 1])
		fprintf(w->f, "\n%*s", (int)w->depth * 2, "");
	fputc(bracket, w->f);
}

static json_t *fact_value(const struct lat_fact *fact)
{
	switch (fact->kind) {
	case LAT_FACT_NUMBER:
		if (fact->number > EXACT_MAX || fact->number < -EXACT_MAX) {
			char text[32];

			snprintf(text, sizeof(text), "%lld", fact->number);
			return json_string(text);
		}
		return json_integer(fact->number);
	case LAT_FACT_BOOL:
		return json_boolean(fact->number);
	default:
		return maybe_text(fact->text);
	}
}

static void put_facts(struct writer *w, const char *key, const struct lat_facts *facts)
{
	size_t i;

	put_open(w, key, '{');
	for (i = 0; i < facts->n; i++)
		put(w, facts->rows[i].key, fact_value(&facts->rows[i]));
	put_close(w, '}');
}

static json_t *pair(json_t *a, json_t *b)
{
	json_t *array = json_array();

	json_array_append_new(array, a);
	json_array_append_new(array, b);
	return array;
}

static void append_hist(json_t *array, const struct lat_hist *hist)
{
	size_t i;

	for (i = 0; i < hist->n; i++)
		json_array_append_new(array, pair(number_value(hist->rows[i].low_ns),
						  number_value(hist->rows[i].count)));
}

/* A bucket below zero holds the magnitudes low..high: its lowest value is -high. */
static void append_below(json_t *array, const struct lat_hist *hist)
{
	size_t i = hist->n;

	while (i--) {
		unsigned int index = lat_bucket_index(hist->rows[i].low_ns);
		unsigned long long high = lat_bucket_high(index);
		json_int_t low = high > INT64_MAX ? INT64_MIN : -(json_int_t)high;

		json_array_append_new(array, pair(json_integer(low),
						  number_value(hist->rows[i].count)));
	}
}

static json_t *percentiles_value(const struct lat_cell *cell, const struct lat_percents *percents)
{
	json_t *object = json_object();
	size_t i;

	for (i = 0; i < percents->n; i++) {
		struct lat_quantile q = lat_cell_quantile(cell, LAT_ALL, &percents->rows[i]);

		json_object_set_new(object, percents->rows[i].text,
				    q.state == LAT_Q_KNOWN ? json_integer(q.ns) : json_null());
	}
	return object;
}

static json_t *missed_value(const struct lat_cell *cell)
{
	json_t *object = json_object(), *buckets = json_array();

	append_hist(buckets, &cell->late);
	json_object_set_new(object, "count", number_value(cell->missed));
	json_object_set_new(object, "max_ns",
			    cell->missed ? number_value(cell->missed_max_ns) : json_null());
	json_object_set_new(object, "buckets", buckets);
	return object;
}

static json_t *exceed_value(const struct lat_cell *cell)
{
	json_t *object = json_object();
	size_t i;

	for (i = 0; i < cell->n_exceed; i++) {
		json_t *row = json_object();
		char limit[32];

		snprintf(limit, sizeof(limit), "%" PRIu64, (uint64_t)cell->exceed[i].limit_ns);
		json_object_set_new(row, "count", number_value(cell->exceed[i].count));
		json_object_set_new(row, "missed", number_value(cell->exceed[i].missed));
		json_object_set_new(object, limit, row);
	}
	return object;
}

static json_t *linear_value(const struct lat_linear *linear)
{
	json_t *object, *buckets;

	if (!linear->width_ns)
		return json_null();
	object = json_object();
	buckets = json_array();
	append_hist(buckets, &linear->hist);
	json_object_set_new(object, "width_ns", number_value(linear->width_ns));
	json_object_set_new(object, "over", number_value(linear->over));
	json_object_set_new(object, "under", number_value(linear->under));
	json_object_set_new(object, "buckets", buckets);
	return object;
}

static void put_cell(struct writer *w, const struct lat_cell *cell,
		     const struct lat_percents *percents)
{
	double mean_ns = 0, stddev_ns = 0;
	bool has_mean = lat_cell_mean(cell, &mean_ns);
	bool has_stddev = lat_cell_stddev(cell, &stddev_ns);
	json_t *buckets = json_array();
	char text[48];

	put_open(w, NULL, '{');
	put(w, "cpu", json_integer(cell->cpu));
	put(w, "count", number_value(cell->count));
	put(w, "min_ns", cell->count ? json_integer(cell->min_ns) : json_null());
	put(w, "mean_ns", real_value(has_mean, mean_ns));
	put(w, "stddev_ns", real_value(has_stddev, stddev_ns));
	put(w, "max_ns", cell->count ? json_integer(cell->max_ns) : json_null());
	lat_s128_text(cell->sum, text);
	put(w, "sum_ns", json_string(text));
	lat_u128_text(cell->sumsq, text);
	put(w, "sumsq_ns2", json_string(text));
	put(w, "percentiles", percentiles_value(cell, percents));
	put(w, "negative", number_value(cell->negative));
	append_below(buckets, &cell->below);
	append_hist(buckets, &cell->values);
	put(w, "buckets", buckets);
	put(w, "missed", missed_value(cell));
	put(w, "lost", number_value(cell->lost));
	put(w, "exceed", exceed_value(cell));
	put(w, "linear", linear_value(&cell->linear));
	put(w, "torn", json_boolean(cell->torn));
	if (cell->first_ns) {
		put(w, "first_ns", number_value(cell->first_ns));
		put(w, "last_ns", number_value(cell->last_ns));
	}
	put_close(w, '}');
}

static void put_points(struct writer *w, const struct lat_report *report,
		       const struct lat_percents *percents)
{
	size_t i, j;

	put_open(w, "points", '[');
	for (i = 0; i < report->n_points; i++) {
		const struct lat_point *point = &report->points[i];

		put_open(w, NULL, '{');
		put(w, "name", text_value(point->name));
		put(w, "signed", json_boolean(point->is_signed));
		put_open(w, "cpus", '[');
		for (j = 0; j < point->n_cells; j++)
			put_cell(w, &point->cells[j], percents);
		put_close(w, ']');
		put_close(w, '}');
	}
	put_close(w, ']');
}

static const char *point_name(const struct lat_report *report, uint32_t index)
{
	size_t i;

	for (i = 0; i < report->n_points; i++)
		if (report->points[i].index == index)
			return report->points[i].name;
	return "unknown";
}

static json_t *interval_value(const struct lat_interval *row)
{
	json_t *array = json_array();

	json_array_append_new(array, number_value(row->start_ns));
	json_array_append_new(array, number_value(row->end_ns));
	json_array_append_new(array, number_value(row->count));
	json_array_append_new(array, number_value(row->missed));
	json_array_append_new(array, number_value(row->over));
	json_array_append_new(array, row->count ? json_integer(row->min_ns) : json_null());
	json_array_append_new(array, row->count ? json_integer(row->max_ns) : json_null());
	return array;
}

static void put_series(struct writer *w, const struct lat_report *report)
{
	size_t i, j;

	put_open(w, "series", '[');
	for (i = 0; i < report->n_series; i++) {
		const struct lat_series *series = &report->series[i];

		put_open(w, NULL, '{');
		put(w, "point", text_value(point_name(report, series->point)));
		put(w, "cpu", json_integer(series->cpu));
		put_open(w, "intervals", '[');
		for (j = 0; j < series->n; j++)
			put(w, NULL, interval_value(&series->rows[j]));
		put_close(w, ']');
		put_close(w, '}');
	}
	put_close(w, ']');
}

static const struct flag_row {
	unsigned int bit;
	const char *name;
} sample_flags[] = {
	{ LAT_SAMPLE_F_LATE, "late" },
	{ LAT_SAMPLE_F_WRONG_CPU, "wrong_cpu" },
};

static void put_outliers(struct writer *w, const struct lat_report *report)
{
	size_t i, j;

	put_open(w, "outliers", '[');
	for (i = 0; i < report->n_worst; i++) {
		const struct lat_sample *sample = &report->worst[i];
		json_t *row = json_object(), *flags = json_array();

		for (j = 0; j < ARRAY_SIZE(sample_flags); j++)
			if (sample->flags & sample_flags[j].bit)
				json_array_append_new(flags, json_string(sample_flags[j].name));
		json_object_set_new(row, "time_ns", number_value(sample->time_ns));
		json_object_set_new(row, "seq", number_value(sample->seq));
		json_object_set_new(row, "cpu", json_integer(sample->cpu));
		json_object_set_new(row, "point", text_value(point_name(report, sample->point)));
		json_object_set_new(row, "latency_ns", json_integer(sample->latency_ns));
		json_object_set_new(row, "flags", flags);
		put(w, NULL, row);
	}
	put_close(w, ']');
}

static void put_notes(struct writer *w, const struct lat_report *report)
{
	size_t i;

	put_open(w, "trust", '[');
	for (i = 0; i < report->n_notes; i++) {
		const struct lat_note *note = &report->notes[i];
		json_t *row = json_object();

		json_object_set_new(row, "code", text_value(note->code));
		json_object_set_new(row, "severity",
				    json_string(lat_severity_name(note->severity)));
		json_object_set_new(row, "cpu", note->cpu < 0 ? json_null() :
				    json_integer(note->cpu));
		json_object_set_new(row, "text", text_value(note->text));
		put(w, NULL, row);
	}
	put_close(w, ']');
}

static void put_limits(struct writer *w, const struct lat_report *report)
{
	size_t i;

	put_open(w, "limits", '[');
	for (i = 0; i < report->n_verdicts; i++) {
		const struct lat_verdict *verdict = &report->verdicts[i];
		json_t *row = json_object();

		json_object_set_new(row, "limit", text_value(verdict->limit));
		json_object_set_new(row, "result", json_string(lat_result_name(verdict->result)));
		json_object_set_new(row, "point", maybe_text(verdict->point));
		json_object_set_new(row, "cpu", verdict->cpu < 0 ? json_null() :
				    json_integer(verdict->cpu));
		json_object_set_new(row, "observed", maybe_text(verdict->observed));
		json_object_set_new(row, "text", maybe_text(verdict->text));
		put(w, NULL, row);
	}
	put_close(w, ']');
}

/* RFC 3339, UTC, with all nine digits. */
static json_t *time_value(uint64_t real_ns)
{
	time_t seconds = real_ns / 1000000000;
	char text[64], whole[32];
	struct tm tm;

	if (!real_ns || !gmtime_r(&seconds, &tm))
		return json_null();
	strftime(whole, sizeof(whole), "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(text, sizeof(text), "%s.%09uZ", whole, (unsigned int)(real_ns % 1000000000));
	return json_string(text);
}

void lat_report_json(const struct lat_report *report, const struct lat_percents *percents, FILE *f)
{
	struct writer w = { .f = f };

	put_open(&w, NULL, '{');
	put(&w, "schema", json_string(LAT_REPORT_SCHEMA));
	put(&w, "tool", text_value(report->tool));
	put(&w, "version", text_value(report->version));
	put(&w, "start_time", time_value(report->start_real_ns));
	put(&w, "end_time", time_value(report->stop_real_ns));
	put_facts(&w, "env", &report->env);
	put_facts(&w, "config", &report->config);
	put_facts(&w, "device", &report->device);
	put_facts(&w, "placement", &report->placement);
	put_points(&w, report, percents);
	put_series(&w, report);
	put_outliers(&w, report);
	put_facts(&w, "counters", &report->counters);
	put_facts(&w, "analysis", &report->analysis);
	put(&w, "stop_reason", maybe_text(lat_stop_name(report->stop_reason)));
	put_notes(&w, report);
	put_limits(&w, report);
	put(&w, "verdict", json_string(lat_report_verdict(report)));
	put_close(&w, '}');
	fputc('\n', f);
}

/* ---- reading ---- */

/**
 * struct reader - where in the text the reader is, and what went wrong first
 * @err: where the reason goes
 * @failed: something was refused: every further read returns nothing
 * @where: the member being read, for the message
 */
struct reader {
	struct lat_error *err;
	bool failed;
	char where[128];
};

static void refuse(struct reader *r, const char *key, const char *reason)
{
	if (!r->failed)
		lat_fail(r->err, -EINVAL, "%s%s%s: %s", r->where, *r->where && *key ? "." : "", key,
			 reason);
	r->failed = true;
}

/* A member that must be there and of the type; NULL after a refusal. */
static json_t *get(struct reader *r, json_t *object, const char *key, json_type type)
{
	static const char * const names[] = {
		[JSON_OBJECT] = "not an object", [JSON_ARRAY] = "not an array",
		[JSON_STRING] = "not a text", [JSON_INTEGER] = "not a whole number",
	};
	json_t *value = r->failed ? NULL : json_object_get(object, key);

	if (r->failed)
		return NULL;
	if (!value)
		refuse(r, key, "missing");
	else if (json_typeof(value) != type)
		refuse(r, key, names[type]);
	return r->failed ? NULL : value;
}

static bool is_absent(json_t *object, const char *key)
{
	json_t *value = json_object_get(object, key);

	return !value || json_is_null(value);
}

static uint64_t get_u64(struct reader *r, json_t *object, const char *key)
{
	json_int_t number = json_integer_value(get(r, object, key, JSON_INTEGER));

	if (number < 0) {
		refuse(r, key, "below zero");
		return 0;
	}
	return number;
}

static uint32_t get_u32(struct reader *r, json_t *object, const char *key)
{
	uint64_t number = get_u64(r, object, key);

	if (number > INT32_MAX)
		refuse(r, key, "too great");
	return number;
}

static char *get_text(struct reader *r, json_t *object, const char *key)
{
	const char *text = json_string_value(get(r, object, key, JSON_STRING));

	return lat_strdup(text ? text : "");
}

static bool get_bool(struct reader *r, json_t *object, const char *key)
{
	json_t *value = json_object_get(object, key);

	if (!r->failed && !json_is_boolean(value))
		refuse(r, key, "not true or false");
	return json_is_true(value);
}

static void get_facts(struct reader *r, json_t *root, const char *key, struct lat_facts *facts)
{
	json_t *object = get(r, root, key, JSON_OBJECT), *value;
	const char *name;

	json_object_foreach(object, name, value) {
		if (json_is_string(value))
			lat_fact_text(facts, name, json_string_value(value));
		else if (json_is_integer(value))
			lat_fact_number(facts, name, json_integer_value(value));
		else if (json_is_boolean(value))
			lat_fact_bool(facts, name, json_is_true(value));
	}
}

/* One bucket: [low, count], low ascending from one to the next. */
static bool get_bucket(struct reader *r, const char *key, json_t *row, json_int_t *low,
		       json_int_t *count)
{
	if (!json_is_array(row) || json_array_size(row) != 2 ||
	    !json_is_integer(json_array_get(row, 0)) ||
	    !json_is_integer(json_array_get(row, 1)) ||
	    json_integer_value(json_array_get(row, 1)) <= 0) {
		refuse(r, key, "a bucket is [low_ns, count], count over zero");
		return false;
	}
	*low = json_integer_value(json_array_get(row, 0));
	*count = json_integer_value(json_array_get(row, 1));
	return true;
}

static void get_hist(struct reader *r, json_t *object, const char *key, bool is_signed,
		     struct lat_hist *hist, struct lat_hist *below)
{
	json_t *array = get(r, object, key, JSON_ARRAY), *row;
	json_int_t low, count, previous = INT64_MIN;
	uint64_t total = 0;
	size_t i;

	json_array_foreach(array, i, row) {
		if (!get_bucket(r, key, row, &low, &count))
			return;
		if (i && low <= previous)
			refuse(r, key, "buckets are not ascending");
		if (low < 0 && !is_signed)
			refuse(r, key, "a bucket below zero, at a point that has no sign");
		if (__builtin_add_overflow(total, (uint64_t)count, &total) || total > INT64_MAX)
			refuse(r, key, "the buckets' sum does not fit");
		if (r->failed)
			return;
		previous = low;
		if (low < 0)
			lat_hist_push(below, lat_bucket_low(lat_bucket_index(-(uint64_t)low)),
				      count);
		else
			lat_hist_push(hist, low, count);
	}
	/* Read from the lowest value up, but kept by ascending magnitude. */
	for (i = 0; below && i < below->n / 2; i++) {
		struct lat_bucket swap = below->rows[i];

		below->rows[i] = below->rows[below->n - 1 - i];
		below->rows[below->n - 1 - i] = swap;
	}
}

static void get_missed(struct reader *r, json_t *object, struct lat_cell *cell)
{
	json_t *missed = get(r, object, "missed", JSON_OBJECT);

	if (!missed)
		return;
	cell->missed = get_u64(r, missed, "count");
	get_hist(r, missed, "buckets", false, &cell->late, NULL);
	if (cell->missed)
		cell->missed_max_ns = get_u64(r, missed, "max_ns");
	if (cell->missed != lat_hist_total(&cell->late))
		refuse(r, "missed.count", "not the sum of its buckets");
}

static void get_exceed(struct reader *r, json_t *object, struct lat_cell *cell)
{
	json_t *rows = get(r, object, "exceed", JSON_OBJECT), *row;
	const char *limit;

	json_object_foreach(rows, limit, row) {
		struct lat_exceed exceed;
		unsigned long long ns;

		if (lat_parse_u64(limit, &ns) != LAT_PARSE_OK || !json_is_object(row)) {
			refuse(r, "exceed", "a row is \"limit in ns\": {count, missed}");
			return;
		}
		exceed.limit_ns = ns;
		exceed.count = get_u64(r, row, "count");
		exceed.missed = get_u64(r, row, "missed");
		if (exceed.count > cell->count || exceed.missed > cell->missed)
			refuse(r, "exceed", "more above a limit than there are");
		lat_cell_exceed(cell, &exceed);
	}
}

static void get_linear(struct reader *r, json_t *object, struct lat_linear *linear)
{
	json_t *value;

	if (is_absent(object, "linear"))
		return;
	value = get(r, object, "linear", JSON_OBJECT);
	if (!value)
		return;
	linear->width_ns = get_u64(r, value, "width_ns");
	linear->over = get_u64(r, value, "over");
	linear->under = get_u64(r, value, "under");
	get_hist(r, value, "buckets", false, &linear->hist, NULL);
	if (!linear->width_ns)
		refuse(r, "linear.width_ns", "zero");
}

static void get_range(struct reader *r, json_t *object, struct lat_cell *cell)
{
	lat_s128_t sum;

	cell->min_ns = json_integer_value(get(r, object, "min_ns", JSON_INTEGER));
	cell->max_ns = json_integer_value(get(r, object, "max_ns", JSON_INTEGER));
	if (cell->min_ns > cell->max_ns)
		refuse(r, "min_ns", "above max_ns");
	sum = cell->sum;
	if (!cell->torn && (sum < (lat_s128_t)cell->min_ns * (lat_s128_t)cell->count ||
			    sum > (lat_s128_t)cell->max_ns * (lat_s128_t)cell->count))
		refuse(r, "sum_ns", "cannot be, with this count, min_ns and max_ns");
}

static void get_sums(struct reader *r, json_t *object, struct lat_cell *cell)
{
	const char *sum = json_string_value(get(r, object, "sum_ns", JSON_STRING));
	const char *sumsq = json_string_value(get(r, object, "sumsq_ns2", JSON_STRING));

	if (r->failed)
		return;
	if (!lat_s128_parse(sum, &cell->sum))
		refuse(r, "sum_ns", "not a decimal number of at most 127 bits");
	if (!lat_u128_parse(sumsq, &cell->sumsq))
		refuse(r, "sumsq_ns2", "not a decimal number of at most 128 bits");
}

static void get_cell(struct reader *r, json_t *object, struct lat_point *point, size_t i)
{
	struct lat_cell *cell;
	uint64_t total;
	uint32_t cpu;

	snprintf(r->where, sizeof(r->where), "points[%u].cpus[%zu]", point->index, i);
	if (!json_is_object(object)) {
		refuse(r, "", "not an object");
		return;
	}
	cpu = get_u32(r, object, "cpu");
	if (r->failed)
		return;
	if (lat_point_cell(point, cpu) != &point->cells[i]) {
		refuse(r, "cpu", "listed twice");
		return;
	}
	cell = &point->cells[i];
	cell->count = get_u64(r, object, "count");
	cell->negative = get_u64(r, object, "negative");
	cell->lost = get_u64(r, object, "lost");
	cell->torn = get_bool(r, object, "torn");
	get_hist(r, object, "buckets", point->is_signed, &cell->values, &cell->below);
	get_missed(r, object, cell);
	get_exceed(r, object, cell);
	get_linear(r, object, &cell->linear);
	get_sums(r, object, cell);
	if (!is_absent(object, "first_ns")) {
		cell->first_ns = get_u64(r, object, "first_ns");
		cell->last_ns = get_u64(r, object, "last_ns");
	}
	total = lat_hist_total(&cell->values) + lat_hist_total(&cell->below) + cell->negative;
	if (!r->failed && total != cell->count)
		refuse(r, "count", "not the sum of its buckets");
	if (!r->failed && (cell->missed > INT64_MAX - cell->count ||
			   cell->lost > INT64_MAX - cell->count - cell->missed))
		refuse(r, "count", "with missed and lost it does not fit");
	if (!r->failed && cell->count)
		get_range(r, object, cell);
}

static void get_points(struct reader *r, json_t *root, struct lat_report *report)
{
	json_t *array = get(r, root, "points", JSON_ARRAY), *row, *cells, *cell;
	struct lat_point *point;
	size_t i, j;

	json_array_foreach(array, i, row) {
		snprintf(r->where, sizeof(r->where), "points[%zu]", i);
		if (!json_is_object(row) || i > UINT16_MAX) {
			refuse(r, "", "not an object, or too many");
			return;
		}
		point = lat_report_point(report, i);
		point->name = get_text(r, row, "name");
		point->is_signed = get_bool(r, row, "signed");
		cells = get(r, row, "cpus", JSON_ARRAY);
		json_array_foreach(cells, j, cell) {
			get_cell(r, cell, point, j);
			if (r->failed)
				return;
		}
	}
	r->where[0] = 0;
}

static uint32_t get_point_name(struct reader *r, json_t *object, const struct lat_report *report)
{
	const char *name = json_string_value(get(r, object, "point", JSON_STRING));
	const struct lat_point *point = name ? lat_report_find_point(report, name) : NULL;

	if (!point) {
		refuse(r, "point", "no such point in points[]");
		return 0;
	}
	return point->index;
}

static bool get_interval(json_t *row, struct lat_interval *interval)
{
	json_int_t number[7] = { 0 };
	size_t i;

	if (!json_is_array(row) || json_array_size(row) != ARRAY_SIZE(number))
		return false;
	for (i = 0; i < ARRAY_SIZE(number); i++) {
		json_t *value = json_array_get(row, i);

		if (!json_is_integer(value) && !(i >= 5 && !number[2] && json_is_null(value)))
			return false;
		number[i] = json_integer_value(value);
		if (i < 5 && number[i] < 0)
			return false;
	}
	*interval = (struct lat_interval){
		.start_ns = number[0], .end_ns = number[1], .count = number[2],
		.missed = number[3], .over = number[4], .min_ns = number[5], .max_ns = number[6],
	};
	return true;
}

static void get_series(struct reader *r, json_t *root, struct lat_report *report)
{
	json_t *array = get(r, root, "series", JSON_ARRAY), *row, *intervals, *interval;
	size_t i, j;

	json_array_foreach(array, i, row) {
		struct lat_interval one;
		struct lat_series *series;
		uint32_t point, cpu;

		snprintf(r->where, sizeof(r->where), "series[%zu]", i);
		point = get_point_name(r, row, report);
		cpu = get_u32(r, row, "cpu");
		intervals = get(r, row, "intervals", JSON_ARRAY);
		if (r->failed)
			return;
		series = lat_report_series(report, point, cpu);
		json_array_foreach(intervals, j, interval) {
			if (!get_interval(interval, &one)) {
				refuse(r, "intervals",
				       "a row is [start, end, count, missed, over, min, max]");
				return;
			}
			lat_series_push(series, &one);
		}
	}
	r->where[0] = 0;
}

static void get_outliers(struct reader *r, json_t *root, struct lat_report *report)
{
	json_t *array = get(r, root, "outliers", JSON_ARRAY), *row, *flags, *flag;
	size_t i, j, k;

	json_array_foreach(array, i, row) {
		struct lat_sample sample = { 0 };

		snprintf(r->where, sizeof(r->where), "outliers[%zu]", i);
		sample.time_ns = get_u64(r, row, "time_ns");
		sample.seq = get_u64(r, row, "seq");
		sample.cpu = get_u32(r, row, "cpu");
		sample.point = get_point_name(r, row, report);
		sample.latency_ns = json_integer_value(get(r, row, "latency_ns", JSON_INTEGER));
		flags = get(r, row, "flags", JSON_ARRAY);
		if (r->failed)
			return;
		json_array_foreach(flags, j, flag)
			for (k = 0; k < ARRAY_SIZE(sample_flags); k++)
				if (json_is_string(flag) &&
				    !strcmp(json_string_value(flag), sample_flags[k].name))
					sample.flags |= sample_flags[k].bit;
		lat_report_worst(report, &sample);
	}
	r->where[0] = 0;
}

static void get_notes(struct reader *r, json_t *root, struct lat_report *report)
{
	json_t *array = get(r, root, "trust", JSON_ARRAY), *row;
	size_t i;

	json_array_foreach(array, i, row) {
		const char *code, *severity, *text;
		int level = 0;
		long cpu;

		snprintf(r->where, sizeof(r->where), "trust[%zu]", i);
		code = json_string_value(get(r, row, "code", JSON_STRING));
		severity = json_string_value(get(r, row, "severity", JSON_STRING));
		text = json_string_value(get(r, row, "text", JSON_STRING));
		while (severity && lat_severity_name(level) &&
		       strcmp(severity, lat_severity_name(level)))
			level++;
		if (!lat_severity_name(level))
			refuse(r, "severity", "not info, warn or void");
		if (r->failed)
			return;
		cpu = is_absent(row, "cpu") ? -1 : (long)get_u32(r, row, "cpu");
		lat_report_note(report, code, level, cpu, "%s", text);
	}
	r->where[0] = 0;
}

/* Only what was asked is read; what came of it is judged anew. */
static void get_limits(struct reader *r, json_t *root, struct lat_report *report)
{
	json_t *array = get(r, root, "limits", JSON_ARRAY), *row;
	size_t i;

	json_array_foreach(array, i, row) {
		snprintf(r->where, sizeof(r->where), "limits[%zu]", i);
		report->verdicts = lat_grow(report->verdicts, report->n_verdicts,
					    sizeof(*report->verdicts));
		report->verdicts[report->n_verdicts++] = (struct lat_verdict){
			.limit = get_text(r, row, "limit"),
			.cpu = -1,
		};
	}
	r->where[0] = 0;
}

static void get_stop(struct reader *r, json_t *root, struct lat_report *report)
{
	const char *name;
	int reason = 0;

	report->stop_reason = -1;
	if (is_absent(root, "stop_reason"))
		return;
	name = json_string_value(get(r, root, "stop_reason", JSON_STRING));
	while (name && lat_stop_name(reason) && strcmp(name, lat_stop_name(reason)))
		reason++;
	if (!lat_stop_name(reason))
		refuse(r, "stop_reason", "unknown");
	report->stop_reason = reason;
}

static uint64_t get_time(struct reader *r, json_t *root, const char *key)
{
	unsigned long long fraction = 0;
	const char *text, *p, *start;
	struct tm tm = { 0 };
	int digits;
	time_t seconds;

	if (is_absent(root, key))
		return 0;
	text = json_string_value(get(r, root, key, JSON_STRING));
	p = text ? strptime(text, "%Y-%m-%dT%H:%M:%S", &tm) : NULL;
	if (p && *p == '.') {
		start = ++p;
		if (lat_parse_digits(&p, 10, &fraction) != LAT_PARSE_OK || p - start > 9)
			p = NULL;
		for (digits = p ? p - start : 9; digits < 9; digits++)
			fraction *= 10;
	}
	seconds = timegm(&tm);
	if (!p || strcmp(p, "Z") || seconds <= 0 || seconds > 9000000000) {
		refuse(r, key, "not an RFC 3339 time in UTC");
		return 0;
	}
	return (uint64_t)seconds * 1000000000 + fraction;
}

static void get_report(struct reader *r, json_t *root, struct lat_report *report)
{
	const struct lat_fact *elapsed;

	report->tool = get_text(r, root, "tool");
	report->version = get_text(r, root, "version");
	report->start_real_ns = get_time(r, root, "start_time");
	report->stop_real_ns = get_time(r, root, "end_time");
	get_facts(r, root, "env", &report->env);
	get_facts(r, root, "config", &report->config);
	get_facts(r, root, "device", &report->device);
	get_facts(r, root, "placement", &report->placement);
	get_facts(r, root, "counters", &report->counters);
	if (!is_absent(root, "analysis"))
		get_facts(r, root, "analysis", &report->analysis);
	get_points(r, root, report);
	get_series(r, root, report);
	get_outliers(r, root, report);
	get_notes(r, root, report);
	get_limits(r, root, report);
	get_stop(r, root, report);
	elapsed = lat_fact_find(&report->env, "elapsed_ns");
	if (elapsed && elapsed->kind == LAT_FACT_NUMBER && elapsed->number > 0)
		report->elapsed_ns = elapsed->number;
}

static int read_root(json_t *root, const json_error_t *reason, struct lat_report *report,
		     struct lat_error *err)
{
	struct reader r = { .err = err };
	const char *schema;

	*report = (struct lat_report){ .stop_reason = -1 };
	if (!root)
		return lat_fail(err, -EINVAL, "not JSON: %s (line %d)", reason->text,
				reason->line);
	schema = json_string_value(json_object_get(root, "schema"));
	if (!schema)
		return lat_fail(err, -EINVAL, "not a latkit report: it has no \"schema\"");
	if (strcmp(schema, LAT_REPORT_SCHEMA))
		return lat_fail(err, -EINVAL, "its schema is '%.60s'; this version reads %s",
				schema, LAT_REPORT_SCHEMA);
	get_report(&r, root, report);
	if (r.failed)
		return -EINVAL;
	return lat_verdicts_again(report, err);
}

int lat_report_parse(const char *text, size_t length, struct lat_report *report,
		     struct lat_error *err)
{
	json_error_t reason;
	json_t *root = json_loadb(text, length, JSON_REJECT_DUPLICATES, &reason);
	int ret = read_root(root, &reason, report, err);

	json_decref(root);
	return ret;
}

int lat_report_load(const char *path, struct lat_report *report, struct lat_error *err)
{
	FILE *f = strcmp(path, "-") ? fopen(path, "re") : stdin;
	struct lat_error inner;
	json_error_t reason;
	struct stat st;
	json_t *root;
	int ret;

	*report = (struct lat_report){ .stop_reason = -1 };
	if (!f) {
		ret = -errno;
		return lat_fail(err, ret, "%s: %s", path, strerror(-ret));
	}
	if (fstat(fileno(f), &st) || S_ISDIR(st.st_mode) || st.st_size > FILE_MAX) {
		if (f != stdin)
			fclose(f);
		return lat_fail(err, -EINVAL, "%s: %s", path, S_ISDIR(st.st_mode) ?
				"Is a directory" : "larger than any report");
	}
	root = json_loadf(f, JSON_REJECT_DUPLICATES, &reason);
	ret = read_root(root, &reason, report, &inner);
	json_decref(root);
	if (f != stdin)
		fclose(f);
	return ret ? lat_fail(err, ret, "%s: %s", path, inner.text) : 0;
}
