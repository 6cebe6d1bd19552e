// SPDX-License-Identifier: GPL-2.0-only
/*
 * A file for each severity, in each a line "NAME COUNT" for each error and one of their total.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/aer.h"

static const char * const severities[] = { "correctable", "nonfatal", "fatal" };

static void read_severity(struct lat_aer *aer, const char *severity)
{
	char *text = lat_read_file("/sys/bus/pci/devices/%s/aer_dev_%s", aer->bdf, severity);
	char *rest = text, *line;

	while ((line = strsep(&rest, "\n"))) {
		struct lat_aer_row row = { .severity = severity };

		if (sscanf(line, "%31s %llu", row.name, &row.count) != 2)
			continue;
		aer->rows = lat_grow(aer->rows, aer->n, sizeof(*aer->rows));
		aer->rows[aer->n++] = row;
	}
	free(text);
}

void lat_aer_read(const char *bdf, struct lat_aer *aer)
{
	size_t i;

	*aer = (struct lat_aer){ .bdf = lat_strdup(bdf) };
	for (i = 0; i < ARRAY_SIZE(severities); i++)
		read_severity(aer, severities[i]);
}

void lat_aer_free(struct lat_aer *aer)
{
	free(aer->bdf);
	free(aer->rows);
	*aer = (struct lat_aer){ 0 };
}

static bool is_total(const struct lat_aer_row *row)
{
	return !strncmp(row->name, "TOTAL", strlen("TOTAL"));
}

void lat_aer_judge(const struct lat_aer *start, struct lat_report *report)
{
	char moved[128] = "", key[32];
	struct lat_aer end;
	size_t i, used = 0;

	if (!start->n)
		return;
	lat_aer_read(start->bdf, &end);
	for (i = 0; i < start->n && i < end.n; i++) {
		const struct lat_aer_row *row = &end.rows[i];
		unsigned long long more = row->count - start->rows[i].count;

		if (is_total(row)) {
			snprintf(key, sizeof(key), "aer_%s", row->severity);
			lat_fact_number(&report->device, key, (long long)more);
		} else if (more && used < sizeof(moved)) {
			used += snprintf(moved + used, sizeof(moved) - used, "%s%llu %s (%s)",
					 used ? ", " : "", more, row->name, row->severity);
		}
	}
	if (used)
		lat_report_note(report, "aer", LAT_SEVERITY_WARN, -1,
				"%s reported errors of its link during the session: %s",
				start->bdf, moved);
	lat_aer_free(&end);
}
