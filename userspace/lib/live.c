// SPDX-License-Identifier: GPL-2.0-only
/*
 * Once a second two questions over netlink, whatever the rate of samples is.
 */
#include <stdlib.h>
#include <string.h>

#include "core/bucket.h"
#include "lib/live.h"

int lat_live_begin(struct lat_live *live, struct lat_nl *nl, const struct lat_style *style,
		   bool terminal, struct lat_error *err)
{
	*live = (struct lat_live){ .nl = nl, .style = style, .terminal = terminal };
	return lat_session_status(nl, &live->status, err);
}

/* The highest bucket of @now that has more than in @before; false: none has. */
static bool highest_grown(const struct lat_hist *now, const struct lat_hist *before,
			  uint64_t *high_ns)
{
	size_t i = now->n, j = before->n;

	while (i--) {
		while (j && before->rows[j - 1].low_ns > now->rows[i].low_ns)
			j--;
		if (j && before->rows[j - 1].low_ns == now->rows[i].low_ns &&
		    before->rows[j - 1].count == now->rows[i].count)
			continue;
		*high_ns = lat_bucket_high(lat_bucket_index(now->rows[i].low_ns));
		return true;
	}
	return false;
}

static void show_recent(const struct lat_live *live, const struct lat_cell *cell, size_t i, FILE *f)
{
	static const struct lat_hist none;
	const struct lat_hist *before = i < live->n_before ? &live->before[i] : &none;
	uint64_t high_ns;

	if (!highest_grown(&cell->values, before, &high_ns))
		return;
	if (cell->max_ns > 0 && high_ns > (uint64_t)cell->max_ns)
		high_ns = cell->max_ns;
	if (live->style->nanoseconds)
		fprintf(f, "  last s: <= %llu ns", (unsigned long long)high_ns);
	else
		fprintf(f, "  last s: <= %.3f us", (double)high_ns / 1e3);
}

static void forget_before(struct lat_live *live)
{
	size_t i;

	for (i = 0; i < live->n_before; i++)
		free(live->before[i].rows);
	free(live->before);
	live->before = NULL;
	live->n_before = 0;
}

/* The histograms of now become those of before. */
static void keep(struct lat_live *live, const struct lat_point *point)
{
	size_t i, j;

	forget_before(live);
	live->before = lat_alloc(point->n_cells + 1, sizeof(*live->before));
	live->n_before = point->n_cells;
	for (i = 0; i < point->n_cells; i++)
		for (j = 0; j < point->cells[i].values.n; j++)
			lat_hist_push(&live->before[i], point->cells[i].values.rows[j].low_ns,
				      point->cells[i].values.rows[j].count);
}

static void end_line(struct lat_live *live, FILE *f)
{
	fputs(live->terminal ? "\033[K\n" : "\n", f);
	live->lines++;
}

static void rewind_terminal(struct lat_live *live, FILE *f)
{
	if (live->terminal && live->lines)
		fprintf(f, "\r\033[%uA", live->lines);
	live->lines = 0;
}

int lat_live_show(struct lat_live *live, FILE *f, struct lat_error *err)
{
	int ret = lat_session_histograms(live->nl, &live->status, err);
	const struct lat_point *point;
	char *load;
	size_t i;

	if (ret)
		return ret;
	point = lat_report_main_point(&live->status.report);
	if (!point || live->status.overtaken)
		return 0;
	rewind_terminal(live, f);
	if (live->terminal) {
		load = lat_read_file("/proc/loadavg");
		fprintf(f, "policy: fifo: loadavg: %s, point %s, %s", load ? load : "-",
			point->name, live->style->nanoseconds ? "ns" : "us");
		free(load);
		end_line(live, f);
	}
	for (i = 0; i < point->n_cells; i++) {
		lat_print_thread(&live->status.report, i, &point->cells[i], live->style, f);
		show_recent(live, &point->cells[i], i, f);
		end_line(live, f);
	}
	fflush(f);
	keep(live, point);
	return 0;
}

void lat_live_clear(struct lat_live *live, FILE *f)
{
	if (!live->terminal || !live->lines)
		return;
	rewind_terminal(live, f);
	fputs("\033[J", f);
	fflush(f);
}

void lat_live_end(struct lat_live *live)
{
	forget_before(live);
	lat_status_free(&live->status);
}
