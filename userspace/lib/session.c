// SPDX-License-Identifier: GPL-2.0-only
/*
 * Netlink attributes into plain structs and back. Attributes that are unknown are skipped, absent
 * ones leave their field as it is: absent is unknown, there are no sentinels to tell apart.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/parse.h"
#include "lib/session.h"

/* A dump that a new session interrupts is begun anew this often. */
#define DUMP_TRIES 5

static uint64_t u64_of(struct nlattr **attrs, int attr)
{
	return attrs[attr] && nla_len(attrs[attr]) >= 8 ? nla_get_u64(attrs[attr]) : 0;
}

static uint32_t u32_of(struct nlattr **attrs, int attr)
{
	return attrs[attr] && nla_len(attrs[attr]) >= 4 ? nla_get_u32(attrs[attr]) : 0;
}

static int64_t s64_of(struct nlattr **attrs, int attr)
{
	return (int64_t)u64_of(attrs, attr);
}

/* Text of an attribute, to be freed; NULL if it is absent. Never reads past its end. */
static char *text_of(struct nlattr **attrs, int attr)
{
	return attrs[attr] ? nla_strdup(attrs[attr]) : NULL;
}

static void read_param(struct nlattr **attrs, struct lat_status *status)
{
	struct lat_param *param;

	if (!attrs[LAT_A_NAME])
		return;
	status->params = lat_grow(status->params, status->n_params, sizeof(*status->params));
	param = &status->params[status->n_params++];
	*param = (struct lat_param){
		.name = text_of(attrs, LAT_A_NAME),
		.type = u32_of(attrs, LAT_A_TYPE),
		.text = text_of(attrs, LAT_A_STR),
		.default_text = text_of(attrs, LAT_A_DEFAULT),
		.min = text_of(attrs, LAT_A_MIN),
		.max = text_of(attrs, LAT_A_MAX),
		.choices = text_of(attrs, LAT_A_CHOICES),
		.help = text_of(attrs, LAT_A_HELP),
	};
	if (attrs[LAT_A_S64]) {
		param->kind = LAT_VALUE_S64;
		param->number.s64 = s64_of(attrs, LAT_A_S64);
	} else if (attrs[LAT_A_U64]) {
		param->kind = LAT_VALUE_U64;
		param->number.u64 = u64_of(attrs, LAT_A_U64);
	} else if (param->text) {
		param->kind = LAT_VALUE_STR;
	}
}

static void config_fact(struct lat_facts *config, const struct lat_param *param)
{
	char key[64], number[32];

	snprintf(key, sizeof(key), "%s%s", param->name,
		 param->type == LAT_T_DURATION ? "_ns" : "");
	switch (param->kind) {
	case LAT_VALUE_STR:
		lat_fact_text(config, key, param->text);
		break;
	case LAT_VALUE_S64:
		lat_fact_number(config, key, param->number.s64);
		break;
	case LAT_VALUE_U64:
		if (param->type == LAT_T_BOOL) {
			lat_fact_bool(config, key, param->number.u64);
		} else if (param->number.u64 <= INT64_MAX) {
			lat_fact_number(config, key, (long long)param->number.u64);
		} else {
			snprintf(number, sizeof(number), "%llu",
				 (unsigned long long)param->number.u64);
			lat_fact_text(config, key, number);
		}
		break;
	default:
		break;
	}
}

/* Which part of the report a fact belongs to, by how its key begins; else device{}. */
static struct lat_facts *section_of(struct lat_report *report, const char *key)
{
	static const struct section {
		const char *key;
		size_t offset;
	} sections[] = {
		{ "trigger", offsetof(struct lat_report, placement) },
		{ "measured", offsetof(struct lat_report, placement) },
		{ "relation", offsetof(struct lat_report, placement) },
		{ "irq", offsetof(struct lat_report, placement) },
		{ "work_cpu", offsetof(struct lat_report, placement) },
		{ "cpus", offsetof(struct lat_report, placement) },
		{ "remapp", offsetof(struct lat_report, placement) },
		{ "posted", offsetof(struct lat_report, placement) },
		{ "clock_skew", offsetof(struct lat_report, placement) },
		{ "clock", offsetof(struct lat_report, env) },
		{ "mmio_outliers", offsetof(struct lat_report, analysis) },
		{ "sched_outliers", offsetof(struct lat_report, analysis) },
		{ "loop_gap", offsetof(struct lat_report, analysis) },
		{ "dither", offsetof(struct lat_report, analysis) },
		{ "seed", offsetof(struct lat_report, analysis) },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(sections); i++)
		if (!strncmp(key, sections[i].key, strlen(sections[i].key)))
			return (struct lat_facts *)((char *)report + sections[i].offset);
	return &report->device;
}

static void read_info(struct nlattr **attrs, struct lat_status *status)
{
	char *key = text_of(attrs, LAT_A_KEY), *value = text_of(attrs, LAT_A_VALUE);
	long long number;

	/* Facts travel as text; what is wholly a decimal number is one in the report. */
	if (key && value && strspn(value, "-0123456789") == strlen(value) &&
	    lat_parse_s64(value, &number) == LAT_PARSE_OK)
		lat_fact_number(section_of(&status->report, key), key, number);
	else if (key && value)
		lat_fact_text(section_of(&status->report, key), key, value);
	free(key);
	free(value);
}

static void read_counter(struct nlattr **attrs, struct lat_status *status)
{
	char *name = text_of(attrs, LAT_A_NAME);

	if (name && attrs[LAT_A_U64])
		lat_fact_number(&status->report.counters, name,
				(long long)u64_of(attrs, LAT_A_U64));
	free(name);
}

static void read_trust(struct nlattr **attrs, struct lat_status *status)
{
	char *code = text_of(attrs, LAT_A_NAME), *text = text_of(attrs, LAT_A_TEXT);
	uint32_t severity = u32_of(attrs, LAT_A_SEVERITY);

	if (!lat_severity_name(severity))
		severity = LAT_SEVERITY_WARN;
	if (code)
		lat_report_note(&status->report, code, severity,
				attrs[LAT_A_CPU] ? (long)u32_of(attrs, LAT_A_CPU) : -1, "%s",
				text ? text : "");
	free(code);
	free(text);
}

static void read_point(struct nlattr **attrs, struct lat_status *status)
{
	struct lat_point *point;

	if (!attrs[LAT_A_NAME] || !attrs[LAT_A_INDEX])
		return;
	point = lat_report_point(&status->report, u32_of(attrs, LAT_A_INDEX));
	free(point->name);
	point->name = text_of(attrs, LAT_A_NAME);
	point->is_signed = u32_of(attrs, LAT_A_FLAGS) & LAT_POINT_F_SIGNED;
}

/* The repeated nests of GET, and who reads them. */
static const struct nest_row {
	int attr;
	void (*read)(struct nlattr **attrs, struct lat_status *status);
} nests[] = {
	{ LAT_A_PARAM, read_param },
	{ LAT_A_INFO, read_info },
	{ LAT_A_COUNTER, read_counter },
	{ LAT_A_TRUST, read_trust },
	{ LAT_A_POINT, read_point },
};

static void read_nests(const struct nlmsghdr *message, struct lat_status *status)
{
	struct nlattr *attrs[LAT_A_MAX + 1], *nest;
	size_t i;
	int rest;

	nlmsg_for_each_attr(nest, (struct nlmsghdr *)message, GENL_HDRLEN, rest) {
		for (i = 0; i < ARRAY_SIZE(nests); i++) {
			if (nla_type(nest) != nests[i].attr)
				continue;
			if (!nla_parse_nested(attrs, LAT_A_MAX, nest, NULL))
				nests[i].read(attrs, status);
		}
	}
}

static void on_status(int command, struct nlattr **attrs, const struct nlmsghdr *message,
		      void *context)
{
	struct lat_status *status = context;
	struct lat_report *report = &status->report;
	uint64_t start_ns = u64_of(attrs, LAT_A_START_NS), stop_ns = u64_of(attrs, LAT_A_STOP_NS);

	if (command != LAT_CMD_GET)
		return;
	if (attrs[LAT_A_VERSION]) {
		free(status->version);
		status->version = text_of(attrs, LAT_A_VERSION);
	}
	if (attrs[LAT_A_STATE])
		status->state = u32_of(attrs, LAT_A_STATE);
	if (attrs[LAT_A_GENERATION])
		status->generation = u32_of(attrs, LAT_A_GENERATION);
	if (attrs[LAT_A_STOP_REASON])
		status->stop_reason = u32_of(attrs, LAT_A_STOP_REASON);
	if (attrs[LAT_A_START_REAL_NS])
		report->start_real_ns = u64_of(attrs, LAT_A_START_REAL_NS);
	if (attrs[LAT_A_STOP_REAL_NS])
		report->stop_real_ns = u64_of(attrs, LAT_A_STOP_REAL_NS);
	if (stop_ns > start_ns)
		report->elapsed_ns = stop_ns - start_ns;
	read_nests(message, status);
}

int lat_session_status(struct lat_nl *nl, struct lat_status *status, struct lat_error *err)
{
	size_t i;
	int ret;

	*status = (struct lat_status){ .stop_reason = -1 };
	ret = lat_nl_ask(nl, lat_nl_request(nl, LAT_CMD_GET, NLM_F_ACK), on_status, status, err);
	status->report.stop_reason = status->stop_reason;
	for (i = 0; i < status->n_params; i++)
		config_fact(&status->report.config, &status->params[i]);
	return ret;
}

void lat_status_free(struct lat_status *status)
{
	size_t i;

	for (i = 0; i < status->n_params; i++) {
		struct lat_param *param = &status->params[i];

		free(param->name);
		free(param->text);
		free(param->default_text);
		free(param->min);
		free(param->max);
		free(param->choices);
		free(param->help);
	}
	free(status->params);
	free(status->version);
	lat_report_free(&status->report);
	*status = (struct lat_status){ .stop_reason = -1 };
}

const struct lat_param *lat_status_param(const struct lat_status *status, const char *name)
{
	size_t i;

	for (i = 0; i < status->n_params; i++)
		if (!strcmp(status->params[i].name, name))
			return &status->params[i];
	return NULL;
}

char *lat_param_text(const struct lat_param *param)
{
	const char *unit = param->type == LAT_T_DURATION ? "ns" : "";

	switch (param->kind) {
	case LAT_VALUE_S64:
		return lat_format("%lld%s", (long long)param->number.s64, unit);
	case LAT_VALUE_U64:
		return lat_format("%llu%s", (unsigned long long)param->number.u64, unit);
	default:
		return lat_strdup(param->text ? param->text : "");
	}
}

int lat_session_set(struct lat_nl *nl, const struct lat_setting *settings, size_t n,
		    struct lat_error *err)
{
	struct nl_msg *msg = lat_nl_request(nl, LAT_CMD_SET, NLM_F_ACK);
	size_t i;

	for (i = 0; i < n; i++) {
		struct nlattr *nest = nla_nest_start(msg, LAT_A_PARAM | NLA_F_NESTED);
		int ret = nest ? nla_put_string(msg, LAT_A_NAME, settings[i].name) : -1;

		if (!ret && settings[i].kind == LAT_VALUE_STR)
			ret = nla_put_string(msg, LAT_A_STR, settings[i].text);
		else if (!ret && settings[i].kind == LAT_VALUE_S64)
			ret = nla_put_s64(msg, LAT_A_S64, settings[i].s64);
		else if (!ret)
			ret = nla_put_u64(msg, LAT_A_U64, settings[i].u64);
		if (ret) {
			nlmsg_free(msg);
			return lat_fail(err, -EMSGSIZE, "%s: its value is too long",
					settings[i].name);
		}
		nla_nest_end(msg, nest);
	}
	return lat_nl_ask(nl, msg, NULL, NULL, err);
}

int lat_session_start(struct lat_nl *nl, struct lat_error *err)
{
	return lat_nl_ask(nl, lat_nl_request(nl, LAT_CMD_START, NLM_F_ACK), NULL, NULL, err);
}

int lat_session_stop(struct lat_nl *nl, struct lat_error *err)
{
	int ret = lat_nl_ask(nl, lat_nl_request(nl, LAT_CMD_STOP, NLM_F_ACK), NULL, NULL, err);

	return ret == -EALREADY ? 0 : ret;
}

/* ---- results ---- */

static lat_s128_t s128_of(struct nlattr *attr)
{
	struct lat_s128 halves;

	if (nla_len(attr) < (int)sizeof(halves))
		return 0;
	memcpy(&halves, nla_data(attr), sizeof(halves));
	return (lat_s128_t)(((lat_u128_t)(uint64_t)halves.high << 64) | halves.low);
}

static void read_buckets(struct nlattr *attr, struct lat_hist *hist)
{
	struct lat_bucket bucket;
	int i, n = nla_len(attr) / (int)sizeof(bucket);

	for (i = 0; i < n; i++) {
		memcpy(&bucket, (char *)nla_data(attr) + i * sizeof(bucket), sizeof(bucket));
		lat_hist_push(hist, bucket.low_ns, bucket.count);
	}
}

static struct lat_hist *hist_of(struct lat_cell *cell, uint32_t kind)
{
	switch (kind) {
	case LAT_HIST_VALUES:
		return &cell->values;
	case LAT_HIST_BELOW:
		return &cell->below;
	case LAT_HIST_MISSED:
		return &cell->late;
	case LAT_HIST_LINEAR:
		return &cell->linear.hist;
	default:
		return NULL;
	}
}

static void read_exceed(struct nlattr *attr, struct lat_cell *cell)
{
	struct lat_exceed exceed;
	int i, n = nla_len(attr) / (int)sizeof(exceed);

	for (i = 0; i < n; i++) {
		memcpy(&exceed, (char *)nla_data(attr) + i * sizeof(exceed), sizeof(exceed));
		lat_cell_exceed(cell, &exceed);
	}
}

/* A dump's message is about one (point, CPU) of the session that was asked for; else: false. */
static bool is_ours(struct nlattr **attrs, struct lat_status *status)
{
	if (!attrs[LAT_A_INDEX] || !attrs[LAT_A_CPU])
		return false;
	if (attrs[LAT_A_GENERATION] && u32_of(attrs, LAT_A_GENERATION) != status->generation)
		status->overtaken = true;
	return !status->overtaken;
}

static struct lat_cell *cell_of(struct nlattr **attrs, struct lat_report *report)
{
	struct lat_point *point;

	point = lat_report_point(report, u32_of(attrs, LAT_A_INDEX));
	if (!point->name)
		point->name = attrs[LAT_A_NAME] ? text_of(attrs, LAT_A_NAME) :
			lat_format("point%u", point->index);
	return lat_point_cell(point, u32_of(attrs, LAT_A_CPU));
}

static void on_hist(int command, struct nlattr **attrs, const struct nlmsghdr *message,
		    void *context)
{
	struct lat_status *status = context;
	static const struct field_row {
		int attr;
		size_t offset;
	} fields[] = {
		{ LAT_A_COUNT, offsetof(struct lat_cell, count) },
		{ LAT_A_NEGATIVE, offsetof(struct lat_cell, negative) },
		{ LAT_A_MIN_NS, offsetof(struct lat_cell, min_ns) },
		{ LAT_A_MAX_NS, offsetof(struct lat_cell, max_ns) },
		{ LAT_A_FIRST_NS, offsetof(struct lat_cell, first_ns) },
		{ LAT_A_LAST_NS, offsetof(struct lat_cell, last_ns) },
		{ LAT_A_MISSED, offsetof(struct lat_cell, missed) },
		{ LAT_A_MISSED_MAX_NS, offsetof(struct lat_cell, missed_max_ns) },
		{ LAT_A_LOST, offsetof(struct lat_cell, lost) },
		{ LAT_A_LINEAR_WIDTH_NS, offsetof(struct lat_cell, linear.width_ns) },
		{ LAT_A_LINEAR_OVER, offsetof(struct lat_cell, linear.over) },
		{ LAT_A_LINEAR_UNDER, offsetof(struct lat_cell, linear.under) },
	};
	struct lat_cell *cell;
	struct lat_hist *hist;
	size_t i;

	(void)message;
	if (command != LAT_CMD_HIST_GET || !is_ours(attrs, status))
		return;
	cell = cell_of(attrs, &status->report);
	for (i = 0; i < ARRAY_SIZE(fields); i++) {
		if (attrs[fields[i].attr]) {
			uint64_t value = u64_of(attrs, fields[i].attr);

			memcpy((char *)cell + fields[i].offset, &value, sizeof(value));
		}
	}
	if (attrs[LAT_A_SUM])
		cell->sum = s128_of(attrs[LAT_A_SUM]);
	if (attrs[LAT_A_SUMSQ])
		cell->sumsq = (lat_u128_t)s128_of(attrs[LAT_A_SUMSQ]);
	if (attrs[LAT_A_TORN])
		cell->torn = true;
	if (attrs[LAT_A_EXCEED])
		read_exceed(attrs[LAT_A_EXCEED], cell);
	hist = attrs[LAT_A_BUCKETS] ? hist_of(cell, u32_of(attrs, LAT_A_HIST)) : NULL;
	if (hist)
		read_buckets(attrs[LAT_A_BUCKETS], hist);
}

static void on_series(int command, struct nlattr **attrs, const struct nlmsghdr *message,
		      void *context)
{
	struct lat_status *status = context;
	struct lat_interval interval;
	struct lat_series *series;
	int i, n;

	(void)message;
	if (command != LAT_CMD_SERIES_GET || !is_ours(attrs, status) || !attrs[LAT_A_INTERVALS])
		return;
	series = lat_report_series(&status->report, u32_of(attrs, LAT_A_INDEX),
				   u32_of(attrs, LAT_A_CPU));
	n = nla_len(attrs[LAT_A_INTERVALS]) / (int)sizeof(interval);
	for (i = 0; i < n; i++) {
		memcpy(&interval, (char *)nla_data(attrs[LAT_A_INTERVALS]) + i * sizeof(interval),
		       sizeof(interval));
		lat_series_push(series, &interval);
	}
}

static bool has_sample(const struct lat_report *report, const struct lat_sample *sample)
{
	size_t i;

	for (i = 0; i < report->n_worst; i++)
		if (report->worst[i].seq == sample->seq && report->worst[i].cpu == sample->cpu &&
		    report->worst[i].point == sample->point)
			return true;
	return false;
}

static void on_outliers(int command, struct nlattr **attrs, const struct nlmsghdr *message,
			void *context)
{
	static const int arrays[] = { LAT_A_OUTLIERS, LAT_A_RECENT };
	struct lat_status *status = context;
	struct lat_sample sample;
	size_t a;
	int i;

	(void)message;
	if (command != LAT_CMD_OUTLIER_GET || !is_ours(attrs, status))
		return;
	for (a = 0; a < ARRAY_SIZE(arrays); a++) {
		struct nlattr *attr = attrs[arrays[a]];
		int n = attr ? nla_len(attr) / (int)sizeof(sample) : 0;

		for (i = 0; i < n; i++) {
			memcpy(&sample, (char *)nla_data(attr) + i * sizeof(sample),
			       sizeof(sample));
			if (!has_sample(&status->report, &sample))
				lat_report_worst(&status->report, &sample);
		}
	}
}

static void forget_results(struct lat_report *report)
{
	struct lat_report old = {
		.points = report->points, .n_points = report->n_points,
		.series = report->series, .n_series = report->n_series,
		.worst = report->worst, .n_worst = report->n_worst,
	};
	size_t i;

	report->points = NULL;
	report->n_points = 0;
	for (i = 0; i < old.n_points; i++) {
		struct lat_point *point = lat_report_point(report, old.points[i].index);

		point->name = old.points[i].name ? lat_strdup(old.points[i].name) : NULL;
		point->is_signed = old.points[i].is_signed;
	}
	report->series = NULL;
	report->n_series = 0;
	report->worst = NULL;
	report->n_worst = 0;
	lat_report_free(&old);
}

/* Buckets may come in several messages of any order; everything above wants them ascending. */
static int by_low(const void *a, const void *b)
{
	const struct lat_bucket *x = a, *y = b;

	return (x->low_ns > y->low_ns) - (x->low_ns < y->low_ns);
}

static int by_latency(const void *a, const void *b)
{
	const struct lat_sample *x = a, *y = b;

	return (x->latency_ns < y->latency_ns) - (x->latency_ns > y->latency_ns);
}

static void sort_results(struct lat_report *report)
{
	size_t i, j, k;

	for (i = 0; i < report->n_points; i++) {
		for (j = 0; j < report->points[i].n_cells; j++) {
			struct lat_cell *cell = &report->points[i].cells[j];
			struct lat_hist *hists[] = {
				&cell->values, &cell->below, &cell->late, &cell->linear.hist,
			};

			for (k = 0; k < ARRAY_SIZE(hists); k++)
				if (hists[k]->n)
					qsort(hists[k]->rows, hists[k]->n,
					      sizeof(hists[k]->rows[0]), by_low);
		}
	}
	if (report->n_worst)
		qsort(report->worst, report->n_worst, sizeof(*report->worst), by_latency);
}

int lat_session_results(struct lat_nl *nl, struct lat_status *status, struct lat_error *err)
{
	static const struct dump_row {
		int command;
		lat_nl_reader reader;
	} dumps[] = {
		{ LAT_CMD_HIST_GET, on_hist },
		{ LAT_CMD_SERIES_GET, on_series },
		{ LAT_CMD_OUTLIER_GET, on_outliers },
	};
	int ret = 0, tries = 0;
	size_t i;

	do {
		forget_results(&status->report);
		status->overtaken = false;
		for (i = 0, ret = 0; !ret && i < ARRAY_SIZE(dumps); i++)
			ret = lat_nl_ask(nl, lat_nl_request(nl, dumps[i].command, NLM_F_DUMP),
					 dumps[i].reader, status, err);
	} while (ret == -EINTR && ++tries < DUMP_TRIES);
	sort_results(&status->report);
	if (!ret && status->overtaken)
		ret = lat_fail(err, -EINTR, "%s: another session has begun, %s", nl->name,
			       "and its results took the place of this one's");
	return ret;
}

int lat_session_histograms(struct lat_nl *nl, struct lat_status *status, struct lat_error *err)
{
	int ret;

	forget_results(&status->report);
	status->overtaken = false;
	ret = lat_nl_ask(nl, lat_nl_request(nl, LAT_CMD_HIST_GET, NLM_F_DUMP), on_hist, status,
			 err);
	sort_results(&status->report);
	return ret;
}

static void on_progress(int command, struct nlattr **attrs, const struct nlmsghdr *message,
			void *context)
{
	struct lat_progress *progress = context;

	(void)message;
	if (attrs[LAT_A_GENERATION] && u32_of(attrs, LAT_A_GENERATION) != progress->generation)
		return;
	switch (command) {
	case LAT_CMD_STOPPED:
		progress->stopped = true;
		break;
	case LAT_CMD_OUTLIER:
		progress->outliers++;
		break;
	case LAT_CMD_LIMIT:
		progress->limits++;
		break;
	default:
		break;
	}
}

int lat_session_events(struct lat_nl *nl, struct lat_progress *progress)
{
	return lat_nl_events(nl, on_progress, progress);
}

int lat_session_max(struct lat_nl *nl, uint32_t generation, bool *known, int64_t *max_ns,
		    uint64_t *count, struct lat_error *err)
{
	struct lat_status status = { .generation = generation };
	const struct lat_report *report = &status.report;
	size_t i, j;
	int ret = lat_nl_ask(nl, lat_nl_request(nl, LAT_CMD_HIST_GET, NLM_F_DUMP), on_hist, &status,
			     err);

	*known = false;
	*count = 0;
	for (i = 0; i < report->n_points; i++) {
		for (j = 0; j < report->points[i].n_cells; j++) {
			const struct lat_cell *cell = &report->points[i].cells[j];

			if (!i)
				*count += cell->count;
			if (cell->count && (!*known || cell->max_ns > *max_ns)) {
				*max_ns = cell->max_ns;
				*known = true;
			}
		}
	}
	lat_status_free(&status);
	return ret;
}
