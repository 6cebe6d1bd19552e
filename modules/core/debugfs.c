// SPDX-License-Identifier: GPL-2.0-only
/*
 * The door that needs nothing but cat: /sys/kernel/debug/<instrument>/. Every file is written from
 * a snapshot taken in open(), so one read is one moment however often seq_file starts over.
 */
#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "internal.h"

static const char *lat_point_name(const struct lat_snapshot *snap, const struct lat_rec *rec)
{
	return snap->lat->ops->points[rec->point].name;
}

/* Latencies without samples are shown as "-". */
static void lat_show_or_dash(struct seq_file *m, int width, bool known, s64 ns)
{
	if (known)
		seq_printf(m, " %*lld", width, ns);
	else
		seq_printf(m, " %*s", width, "-");
}

static void lat_show_state(struct seq_file *m, const struct lat_snapshot *snap)
{
	seq_printf(m, "instrument: %s\n", snap->lat->ops->name);
	seq_printf(m, "version: %s\n", LATKIT_VERSION);
	if (snap->running)
		seq_puts(m, "state: running\n");
	else
		seq_puts(m, "state: idle\n");
	if (snap->generation)
		seq_printf(m, "session: %u\n", snap->generation);
	if (snap->ended)
		seq_printf(m, "stop_reason: %s\n", lat_stop_names[snap->stop_reason]);
	if (snap->ncpus) {
		u64 end_ns = snap->running ? lat_now() : snap->stop_ns;

		seq_printf(m, "start_ns: %llu\n", snap->start_ns);
		/* It may have been set back meanwhile. */
		if (end_ns >= snap->start_ns)
			seq_printf(m, "ran_ns: %llu\n", end_ns - snap->start_ns);
		seq_printf(m, "period_ns: %llu\n", snap->period_ns);
	}
}

static void lat_show_facts(struct seq_file *m, const struct lat_snapshot *snap)
{
	const struct lat_fact *facts = snap->facts.entries;
	unsigned int i;

	for (i = 0; i < snap->facts.n; i++)
		seq_printf(m, "%s: %s\n", facts[i].key, facts[i].value);
}

static void lat_show_counters(struct seq_file *m, const struct lat_snapshot *snap)
{
	unsigned int i;

	for (i = 0; i < LAT_COUNTERS; i++)
		seq_printf(m, "%s: %llu\n", lat_counter_names[i], snap->counter[i]);
}

static void lat_show_notes(struct seq_file *m, const struct lat_snapshot *snap)
{
	const struct lat_trust *notes = snap->notes.entries;
	unsigned int i;

	seq_puts(m, "# trust: what the kernel can know; the command line tool looks at more\n");
	for (i = 0; i < snap->notes.n; i++) {
		seq_printf(m, "trust: %s %s: ", lat_severity_names[notes[i].severity],
			   notes[i].code);
		if (notes[i].cpu >= 0)
			seq_printf(m, "CPU %d: ", notes[i].cpu);
		seq_printf(m, "%s\n", notes[i].text);
	}
}

static void lat_show_stats_row(struct seq_file *m, const struct lat_snapshot *snap,
			       const struct lat_rec *rec)
{
	u64 count = lat_rec_count(rec), missed = lat_rec_missed(rec);

	seq_printf(m, "%-10s %4u %10llu", lat_point_name(snap, rec), rec->cpu, count);
	lat_show_or_dash(m, 10, count, rec->min_ns);
	lat_show_or_dash(m, 10, count, count ? lat_mean(rec->sum, count) : 0);
	lat_show_or_dash(m, 10, count, count ? lat_stddev(rec->sum, rec->sumsq, count) : 0);
	lat_show_or_dash(m, 10, count, rec->max_ns);
	seq_printf(m, " %10llu", missed);
	lat_show_or_dash(m, 10, missed, rec->missed_max_ns);
	seq_printf(m, " %6llu %8llu\n", rec->lost, rec->negative);
}

static void lat_show_stats(struct seq_file *m, const struct lat_snapshot *snap)
{
	unsigned int i;

	seq_puts(m, "# unit: ns\n");
	seq_printf(m, "#%-9s %4s %10s %10s %10s %10s %10s %10s %10s %6s %8s\n", "point", "cpu",
		   "count", "min", "mean", "stddev", "max", "missed", "missed_max", "lost",
		   "negative");
	for (i = 0; i < snap->nrecs; i++)
		lat_show_stats_row(m, snap, snap->rec[i]);
}

static void lat_show_percentile(struct seq_file *m, const struct lat_dist *dist,
				const struct lat_percentile *p, u64 count)
{
	s64 value = 0;

	switch (lat_dist_percentile(dist, p, count, &value)) {
	case LAT_RANK_VALUE:
		seq_printf(m, " %10lld", value);
		break;
	case LAT_RANK_FEW:
		seq_printf(m, " %10s", "-");
		break;
	case LAT_RANK_INFINITE:
		seq_printf(m, " %10s", "inf");
		break;
	}
}

/* The percentiles of a recorder, over what was recorded or over everything that was due. */
static void lat_show_percentiles_row(struct seq_file *m, const struct lat_snapshot *snap,
				     const struct lat_rec *rec, bool due)
{
	const struct lat_percentile *p;
	struct lat_dist dist = {
		.below = rec->below,
		.values = rec->values,
		.missed = due ? rec->missed : NULL,
		.negative = rec->negative,
		.lost = due ? rec->lost : 0,
		.max = rec->max_ns,
	};
	u64 count = lat_dist_count(&dist);

	/* Without missed periods there is no lateness either, and the maximum may be below zero. */
	if (due && lat_rec_missed(rec))
		dist.max = max_t(s64, dist.max, rec->missed_max_ns);
	seq_printf(m, "%-10s %4u %-9s", lat_point_name(snap, rec), rec->cpu,
		   due ? "due" : "recorded");
	for (p = lat_percentiles; p->name; p++)
		lat_show_percentile(m, &dist, p, count);
	seq_putc(m, '\n');
}

static void lat_show_percentiles(struct seq_file *m, const struct lat_snapshot *snap)
{
	const struct lat_percentile *p;
	unsigned int i;

	seq_puts(m, "# percentiles: due = recorded and missed and lost; - = fewer than 10 samples beyond\n");
	seq_printf(m, "#%-9s %4s %-9s", "point", "cpu", "over");
	for (p = lat_percentiles; p->name; p++)
		seq_printf(m, " %*sp%s", 9 - (int)strlen(p->name), "", p->name);
	seq_putc(m, '\n');
	for (i = 0; i < snap->nrecs; i++) {
		lat_show_percentiles_row(m, snap, snap->rec[i], true);
		lat_show_percentiles_row(m, snap, snap->rec[i], false);
	}
}

static void lat_show_exceed(struct seq_file *m, const struct lat_snapshot *snap)
{
	unsigned int i, limit;
	bool header = false;

	for (i = 0; i < snap->nrecs; i++) {
		const struct lat_rec *rec = snap->rec[i];

		for (limit = 0; limit < rec->exceeds; limit++) {
			if (!header)
				seq_puts(m, "# exceed: point cpu limit_ns recorded_above missed_above\n");
			header = true;
			seq_printf(m, "exceed: %s %u %llu %llu %llu\n", lat_point_name(snap, rec),
				   rec->cpu, rec->exceed[limit].limit_ns, rec->exceed[limit].count,
				   rec->exceed[limit].missed);
		}
	}
}

static void lat_show_summary(struct seq_file *m, const struct lat_snapshot *snap)
{
	lat_show_state(m, snap);
	lat_show_facts(m, snap);
	lat_show_counters(m, snap);
	if (snap->nrecs) {
		lat_show_stats(m, snap);
		lat_show_percentiles(m, snap);
		lat_show_exceed(m, snap);
	}
	lat_show_notes(m, snap);
}

static void lat_show_buckets(struct seq_file *m, const struct lat_snapshot *snap,
			     const struct lat_rec *rec, const char *kind, const u64 *buckets)
{
	unsigned int i;

	for (i = 0; buckets && i < LAT_BUCKETS; i++)
		if (buckets[i])
			seq_printf(m, "%s %u %s %llu %llu %llu\n", lat_point_name(snap, rec),
				   rec->cpu, kind, lat_bucket_low(i), lat_bucket_high(i),
				   buckets[i]);
}

static void lat_show_linear(struct seq_file *m, const struct lat_snapshot *snap,
			    const struct lat_rec *rec)
{
	u64 width_ns = rec->linear_width_ns;
	unsigned int i;

	for (i = 0; i < rec->linear_buckets; i++)
		if (rec->linear[i])
			seq_printf(m, "%s %u linear %llu %llu %llu\n", lat_point_name(snap, rec),
				   rec->cpu, i * width_ns, (i + 1) * width_ns - 1, rec->linear[i]);
	if (rec->linear_under)
		seq_printf(m, "%s %u linear-under - - %llu\n", lat_point_name(snap, rec),
			   rec->cpu, rec->linear_under);
	if (rec->linear_over)
		seq_printf(m, "%s %u linear-over %llu - %llu\n", lat_point_name(snap, rec),
			   rec->cpu, rec->linear_buckets * width_ns, rec->linear_over);
}

static void lat_show_histogram(struct seq_file *m, const struct lat_snapshot *snap)
{
	unsigned int i;

	seq_puts(m, "# point cpu kind low_ns high_ns count\n");
	for (i = 0; i < snap->nrecs; i++) {
		const struct lat_rec *rec = snap->rec[i];

		lat_show_buckets(m, snap, rec, "below", rec->below);
		lat_show_buckets(m, snap, rec, "value", rec->values);
		lat_show_buckets(m, snap, rec, "missed", rec->missed);
		if (rec->negative)
			seq_printf(m, "%s %u negative - - %llu\n", lat_point_name(snap, rec),
				   rec->cpu, rec->negative);
		if (rec->linear)
			lat_show_linear(m, snap, rec);
	}
}

static void lat_show_sample(struct seq_file *m, const struct lat_snapshot *snap, const char *kind,
			    const struct lat_sample *sample)
{
	seq_printf(m, "%s %s %u %llu %llu %lld %s%s%s\n", kind,
		   snap->lat->ops->points[sample->point].name, sample->cpu, sample->seq,
		   sample->time_ns, sample->latency_ns,
		   sample->flags & LAT_SAMPLE_F_LATE ? "late" : "",
		   sample->flags & LAT_SAMPLE_F_WRONG_CPU ? "wrong_cpu" : "",
		   sample->flags ? "" : "-");
}

static void lat_show_outliers(struct seq_file *m, const struct lat_snapshot *snap)
{
	unsigned int i, n;

	seq_puts(m, "# kind point cpu seq time_ns latency_ns flags\n");
	for (i = 0; i < snap->nrecs; i++) {
		const struct lat_rec *rec = snap->rec[i];
		u64 first = rec->over > LAT_RECENT ? rec->over - LAT_RECENT : 0, k;

		for (n = 0; n < rec->worsts; n++)
			lat_show_sample(m, snap, "worst", &rec->worst[n]);
		if (first)
			seq_printf(m, "# %llu older ones over the threshold are not kept\n", first);
		for (k = first; k < rec->over; k++)
			lat_show_sample(m, snap, "over", &rec->recent[k % LAT_RECENT]);
	}
}

static void lat_show_series(struct seq_file *m, const struct lat_snapshot *snap)
{
	unsigned int i, n;

	seq_puts(m, "# point cpu start_ns end_ns count min_ns max_ns missed over\n");
	for (i = 0; i < snap->nrecs; i++) {
		for (n = 0; n < snap->series[i].n; n++) {
			const struct lat_interval *interval = &snap->series[i].entries[n];

			seq_printf(m, "%s %u %llu %llu %llu", lat_point_name(snap, snap->rec[i]),
				   snap->rec[i]->cpu, interval->start_ns, interval->end_ns,
				   interval->count);
			lat_show_or_dash(m, 0, interval->count, interval->min_ns);
			lat_show_or_dash(m, 0, interval->count, interval->max_ns);
			seq_printf(m, " %llu %llu\n", interval->missed, interval->over);
		}
	}
}

static void lat_show_config(struct seq_file *m, const struct lat_snapshot *snap)
{
	unsigned int i;

	for (i = 0; i < snap->lat->ops->nparams; i++)
		seq_printf(m, "%s: %s\n", snap->params[i].name, snap->params[i].text);
}

static void lat_show_current_value(struct seq_file *m, const struct lat_snapshot *snap)
{
	snap->lat->ops->current_value(m, (const struct lat_rec *const *)snap->rec, snap->nrecs);
}

/* A file that is read: its name, what it needs of a snapshot, and how it is written. */
struct lat_file {
	const char *name;
	unsigned int parts;
	void (*show)(struct seq_file *m, const struct lat_snapshot *snap);
	bool eci;	/* also in ECI's directory */
};

static const struct lat_file lat_files[] = {
	{ "summary", LAT_SNAP_RECS | LAT_SNAP_FACTS, lat_show_summary },
	{ "histogram", LAT_SNAP_RECS, lat_show_histogram },
	{ "outliers", LAT_SNAP_RECS, lat_show_outliers },
	{ "series", LAT_SNAP_SERIES, lat_show_series },
	{ "config", LAT_SNAP_PARAMS, lat_show_config },
	{ "current_value", LAT_SNAP_RECS, lat_show_current_value, true },
};

/* An open file: the snapshot and who writes it. */
struct lat_open {
	const struct lat_file *file;
	struct lat_snapshot *snap;
};

static int lat_file_show(struct seq_file *m, void *unused)
{
	const struct lat_open *open = m->private;

	open->file->show(m, open->snap);
	return 0;
}

static int lat_file_open(struct inode *inode, struct file *file)
{
	const struct dentry *dentry = file->f_path.dentry;
	struct lat *lat = inode->i_private;
	struct lat_open *open = kzalloc(sizeof(*open), GFP_KERNEL);
	unsigned int i;
	int err;

	if (!open)
		return -ENOMEM;
	for (i = 0; i < ARRAY_SIZE(lat_files); i++)
		if (!strcmp(dentry->d_name.name, lat_files[i].name))
			open->file = &lat_files[i];
	open->snap = lat_snapshot_take(lat, open->file->parts);
	if (IS_ERR(open->snap)) {
		err = PTR_ERR(open->snap);
		goto err_free_open;
	}
	err = single_open(file, lat_file_show, open);
	if (err)
		goto err_free_snapshot;
	return 0;

err_free_snapshot:
	lat_snapshot_free(open->snap);
err_free_open:
	kfree(open);
	return err;
}

static int lat_file_release(struct inode *inode, struct file *file)
{
	struct lat_open *open = ((struct seq_file *)file->private_data)->private;

	lat_snapshot_free(open->snap);
	kfree(open);
	return single_release(inode, file);
}

static const struct file_operations lat_file_fops = {
	.owner = THIS_MODULE,
	.open = lat_file_open,
	.read = seq_read,
	.llseek = seq_lseek,
	.release = lat_file_release,
};

/* "0" or "1", perhaps with the newline of echo; anything else is refused. */
static int lat_read_switch(const char __user *from, size_t n, bool *on)
{
	char text[3] = "";

	if (n < 1 || n > 2 || copy_from_user(text, from, n))
		return n < 1 || n > 2 ? -EINVAL : -EFAULT;
	if ((text[0] != '0' && text[0] != '1') || (n == 2 && text[1] != '\n'))
		return -EINVAL;
	*on = text[0] == '1';
	return 0;
}

static ssize_t lat_enable_write(struct file *file, const char __user *from, size_t n, loff_t *pos)
{
	struct lat *lat = file_inode(file)->i_private;
	struct lat_why why;
	bool on;
	int err;

	err = lat_read_switch(from, n, &on);
	if (err)
		return err;
	if (on) {
		err = lat_start(lat, &why);
		if (err)
			pr_err("%s\n", why.text);
	} else {
		/* Off is off, whoever switched it off. */
		err = lat_stop(lat, LAT_STOP_REQUEST);
		if (err == -EALREADY)
			err = 0;
	}
	return err ?: n;
}

static ssize_t lat_enable_read(struct file *file, char __user *to, size_t n, loff_t *pos)
{
	struct lat *lat = file_inode(file)->i_private;
	bool running;

	mutex_lock(&lat->lock);
	running = lat->running;
	mutex_unlock(&lat->lock);
	return simple_read_from_buffer(to, n, pos, running ? "1\n" : "0\n", 2);
}

static const struct file_operations lat_enable_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.read = lat_enable_read,
	.write = lat_enable_write,
	.llseek = default_llseek,
};

static ssize_t lat_reset_write(struct file *file, const char __user *from, size_t n, loff_t *pos)
{
	struct lat_why why;
	bool on;
	int err;

	err = lat_read_switch(from, n, &on);
	if (!err && !on)
		err = -EINVAL;
	if (!err)
		err = lat_reset(file_inode(file)->i_private, &why);
	return err ?: n;
}

static const struct file_operations lat_reset_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.write = lat_reset_write,
	.llseek = default_llseek,
};

/**
 * lat_debugfs_init() - make the files
 * @lat: the instrument
 *
 * A kernel without debugfs measures without them: no return value is looked at.
 *
 * Context: process, module init.
 */
void lat_debugfs_init(struct lat *lat)
{
	char eci[48];
	unsigned int i;

	snprintf(eci, sizeof(eci), "%s_test", lat->ops->name);
	lat->dir = debugfs_create_dir(lat->ops->name, NULL);
	lat->dir_eci = lat->ops->current_value ? debugfs_create_dir(eci, NULL) : NULL;
	for (i = 0; i < ARRAY_SIZE(lat_files); i++) {
		if (lat_files[i].eci && !lat->ops->current_value)
			continue;
		debugfs_create_file(lat_files[i].name, 0444, lat->dir, lat, &lat_file_fops);
		if (lat_files[i].eci)
			debugfs_create_file(lat_files[i].name, 0444, lat->dir_eci, lat,
					    &lat_file_fops);
	}
	debugfs_create_file("enable", 0600, lat->dir, lat, &lat_enable_fops);
	debugfs_create_file("reset", 0200, lat->dir, lat, &lat_reset_fops);
}

void lat_debugfs_exit(struct lat *lat)
{
	debugfs_remove(lat->dir_eci);
	debugfs_remove(lat->dir);
}
