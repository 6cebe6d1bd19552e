/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the parts of the core share and no instrument needs.
 */
#ifndef LAT_CORE_INTERNAL_H
#define LAT_CORE_INTERNAL_H

#include <linux/seq_file.h>

#include "lat.h"
#include "percentile.h"

#define LAT_SERIES_MAX	4096	/* intervals of a series, before neighbours merge */

/**
 * struct lat_series - the closed intervals of one recorder
 * @n: how many
 * @room: entries allocated
 * @entries: ascending
 */
struct lat_series {
	unsigned int n;
	unsigned int room;
	struct lat_interval *entries;
};

/**
 * struct lat_snapshot - everything a door shows, as of one moment
 * @lat: the instrument, for what never changes
 * @parts: LAT_SNAP_*: what was asked for
 * @running: a session was running
 * @ended: a session had ended
 * @stop_reason: why, where @ended
 * @generation: of the session
 * @start_ns: when it was armed, instrument's clock
 * @stop_ns: when it stopped, where @ended
 * @start_real_ns: when it was armed, wall clock
 * @stop_real_ns: when it stopped, where @ended
 * @period_ns: of its grid
 * @points: bit mask of the enabled points
 * @npoints: how many those are
 * @ncpus: measured CPUs
 * @counter: enum lat_counter, summed over the CPUs
 * @facts: copy of the facts
 * @notes: copy of the notes, with those that follow from the counters
 * @params: copy of the parameter table
 * @nrecs: @npoints * @ncpus, or 0 before the first session
 * @rec: copies of the recorders, by point, then by CPU
 * @series: series of each of them
 */
struct lat_snapshot {
	struct lat *lat;
	unsigned int parts;
	bool running;
	bool ended;
	enum lat_stop stop_reason;
	u32 generation;
	u64 start_ns;
	u64 stop_ns;
	u64 start_real_ns;
	u64 stop_real_ns;
	u64 period_ns;
	unsigned int points;
	unsigned int npoints;
	unsigned int ncpus;
	u64 counter[LAT_COUNTERS];
	struct lat_list facts;
	struct lat_list notes;
	struct lat_param *params;
	unsigned int nrecs;
	struct lat_rec **rec;
	struct lat_series *series;
};

#define LAT_SNAP_RECS	BIT(0)
#define LAT_SNAP_SERIES	BIT(1)
#define LAT_SNAP_PARAMS	BIT(2)
#define LAT_SNAP_FACTS	BIT(3)

extern const char *const lat_counter_names[LAT_COUNTERS];
extern const char *const lat_stop_names[__LAT_STOP_MAX];
extern const char *const lat_severity_names[];

/* hist.c */
struct lat_rec *lat_rec_alloc(struct lat *lat, unsigned int cpu, unsigned int point);
void lat_rec_free(struct lat_rec *rec);
int lat_rec_linear(struct lat_rec *rec, u64 width_ns, u32 buckets);
struct lat_rec *lat_rec_copy(const struct lat_rec *rec);
void lat_rec_begin_interval(struct lat_rec *rec, u64 start_ns);
u64 lat_rec_count(const struct lat_rec *rec);
u64 lat_rec_missed(const struct lat_rec *rec);

/* chardev.c */
int lat_chardev_init(struct lat *lat);
void lat_chardev_exit(struct lat *lat);
int lat_stream_begin(struct lat *lat);
void lat_stream_end(struct lat *lat);
void lat_stream_free(struct lat *lat);
void lat_stream_add(struct lat_rec *rec, u64 seq, u64 stimulus_ns, s64 ns, u32 flags);

/* series.c */
void lat_series_take(struct lat *lat);
void lat_series_finish(struct lat *lat, u64 stop_ns);
int lat_series_copy(struct lat_series *series, struct lat_rec *rec, const struct lat_rec *seen,
		    bool running, struct lat_series *copy);
void lat_series_free(struct lat_series *series, unsigned int n);

/* session.c */
void lat_over_threshold(struct lat_rec *rec, const struct lat_sample *sample);
struct lat_snapshot *lat_snapshot_take(struct lat *lat, unsigned int parts);
void lat_snapshot_free(struct lat_snapshot *snap);

/* config.c */
int lat_config_init(struct lat *lat, struct lat_config *config, struct lat_why *why);
void lat_config_exit(struct lat_config *config);
int lat_config_rec(struct lat *lat, const struct lat_config *config, struct lat_rec *rec,
		   struct lat_why *why);

/* trust.c */
void *lat_list_add(struct lat_list *list);
int lat_list_copy(const struct lat_list *list, struct lat_list *copy);
void lat_list_clear(struct lat_list *list);
int lat_machine_init(struct lat *lat);
void lat_machine_exit(struct lat *lat);
void lat_machine_start(struct lat *lat);
void lat_machine_stop(struct lat *lat);
void lat_notes_static(struct lat *lat);
void lat_notes_counters(struct lat_snapshot *snap);

/* debugfs.c */
void lat_debugfs_init(struct lat *lat);
void lat_debugfs_exit(struct lat *lat);

/* genl.c */
int lat_genl_init(struct lat *lat);
void lat_genl_exit(struct lat *lat);
void lat_event_outlier_soon(struct lat *lat);
void lat_event_session(struct lat *lat, u8 cmd);

#endif /* LAT_CORE_INTERNAL_H */
