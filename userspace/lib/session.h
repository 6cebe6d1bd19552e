/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A session as seen over netlink: the instrument's state and parameter table, setting, starting,
 * stopping, and reading the results into a report. Attributes end here; above are plain structs.
 */
#ifndef LATKIT_SESSION_H
#define LATKIT_SESSION_H

#include "lib/nl.h"
#include "lib/report.h"

/**
 * struct lat_param - one row of the parameter table, as the module tells it
 * @name: its name
 * @type: enum lat_type
 * @kind: which value below holds
 * @number: value of a number, bool or duration (ns)
 * @text: value of the others, or the word of a number that is not set
 * @default_text: as the module's parameter takes it
 * @min: smallest value, likewise; NULL: none
 * @max: greatest value, likewise; NULL: none
 * @choices: "a|b|c" of an enum; NULL otherwise
 * @help: one line
 */
struct lat_param {
	char *name;
	enum lat_type type;
	enum lat_param_kind { LAT_VALUE_NONE, LAT_VALUE_U64, LAT_VALUE_S64, LAT_VALUE_STR } kind;
	union {
		uint64_t u64;
		int64_t s64;
	} number;
	char *text;
	char *default_text;
	char *min;
	char *max;
	char *choices;
	char *help;
};

/**
 * struct lat_status - answer to LAT_CMD_GET
 * @version: the module's version
 * @state: what it is doing
 * @generation: number of the session; 0: none yet
 * @stop_reason: enum lat_stop; -1: absent
 * @params: the parameter table
 * @n_params: its rows
 * @overtaken: results that came were of another session than @generation
 * @report: everything of GET that belongs into a report: points, facts, counters, notes, times
 */
struct lat_status {
	char *version;
	enum lat_state state;
	uint32_t generation;
	int stop_reason;
	struct lat_param *params;
	size_t n_params;
	struct lat_report report;
	bool overtaken;
};

/* A value to set: as in struct lat_param. */
struct lat_setting {
	const char *name;
	enum lat_param_kind kind;
	uint64_t u64;
	int64_t s64;
	const char *text;
};

int lat_session_status(struct lat_nl *nl, struct lat_status *status, struct lat_error *err);
void lat_status_free(struct lat_status *status);
const struct lat_param *lat_status_param(const struct lat_status *status, const char *name);
/* The value in words, to be freed. */
char *lat_param_text(const struct lat_param *param);

/* One SET with all of them: either all are taken or none. */
int lat_session_set(struct lat_nl *nl, const struct lat_setting *settings, size_t n,
		    struct lat_error *err);
int lat_session_start(struct lat_nl *nl, struct lat_error *err);
/* Where none runs: 0 as well. */
int lat_session_stop(struct lat_nl *nl, struct lat_error *err);

/**
 * lat_session_results() - read the results into the report of a status
 * @nl: the connection
 * @status: of the same session
 * @err: why not
 *
 * Context: any state; while a session runs each (point, CPU) is of one moment.
 * Return: 0 or negative errno
 */
int lat_session_results(struct lat_nl *nl, struct lat_status *status, struct lat_error *err);

/**
 * lat_session_histograms() - read the histograms alone into the report of a status
 * @nl: the connection
 * @status: of the same session; what it had of results is forgotten
 * @err: why not
 *
 * Return: 0 or negative errno
 */
int lat_session_histograms(struct lat_nl *nl, struct lat_status *status, struct lat_error *err);

/* What the events of a session come to, seen by lat_session_events(). */
struct lat_progress {
	bool stopped;
	uint32_t generation;	/* only events of this session count */
	uint64_t outliers;
	uint64_t limits;
	int64_t worst_ns;
};

int lat_session_events(struct lat_nl *nl, struct lat_progress *progress);

/**
 * lat_session_max() - greatest sample of any point so far
 * @nl: the connection
 * @generation: of the session
 * @known: set to false where nothing was recorded yet
 * @max_ns: the greatest
 * @count: recorded at the first point, all CPUs together
 * @err: why not
 *
 * Return: 0 or negative errno
 */
int lat_session_max(struct lat_nl *nl, uint32_t generation, bool *known, int64_t *max_ns,
		    uint64_t *count, struct lat_error *err);

#endif /* LATKIT_SESSION_H */
