// SPDX-License-Identifier: GPL-2.0-only
/*
 * The door of the command line tools: one generic netlink family per instrument, named after its
 * module. Everything needs CAP_NET_ADMIN in the initial user namespace, and every refusal carries a
 * text. A dump is a walk over a snapshot taken at its start.
 */
#include <linux/jiffies.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <net/genetlink.h>
#include <net/sock.h>

#include "internal.h"

/* Buckets and the like in one message: well below the page that netlink gives a dump. */
#define LAT_GENL_CHUNK_BYTES	2048
/* An acknowledgment is written well within this. */
#define LAT_REFUSAL_JIFFIES	(2 * HZ)

/* The instrument of this module. Set before the family is registered, cleared after. */
static struct lat *lat_genl_lat;

static const struct nla_policy lat_genl_param_policy[LAT_A_MAX + 1] = {
	[LAT_A_NAME] = { .type = NLA_NUL_STRING, .len = 63 },
	[LAT_A_U64] = { .type = NLA_U64 },
	[LAT_A_S64] = { .type = NLA_S64 },
	[LAT_A_STR] = { .type = NLA_NUL_STRING, .len = LAT_PARAM_TEXT - 1 },
};

static const struct nla_policy lat_genl_set_policy[LAT_A_MAX + 1] = {
	[LAT_A_PARAM] = NLA_POLICY_NESTED(lat_genl_param_policy),
};

/* Of every other command: strict validation refuses whatever is not named. */
static const struct nla_policy lat_genl_no_policy[LAT_A_MAX + 1] = { };

static struct genl_family lat_genl_family;

/*
 * A place for a text that netlink reads twice, unlocked, after we have returned: once for its
 * length and once for itself. Nobody says when that is over, but a task that is here again has its
 * last acknowledgment. Context: lat->refusal_lock.
 */
static struct lat_refusal *lat_refusal_slot(struct lat *lat)
{
	struct lat_refusal *oldest = lat->refusal;
	unsigned int i;

	for (i = 0; i < LAT_REFUSALS; i++) {
		struct lat_refusal *refusal = &lat->refusal[i];

		if (!refusal->task || refusal->task == current)
			return refusal;
		if (time_before(refusal->when, oldest->when))
			oldest = refusal;
	}
	return time_after(jiffies, oldest->when + LAT_REFUSAL_JIFFIES) ? oldest : NULL;
}

/* Refuse with a text that lives until the acknowledgment is written. */
static int lat_genl_refuse(struct netlink_ext_ack *extack, const struct lat_why *why, int err)
{
	struct lat *lat = lat_genl_lat;
	struct lat_refusal *refusal;

	spin_lock(&lat->refusal_lock);
	refusal = lat_refusal_slot(lat);
	if (refusal)
		*refusal = (struct lat_refusal){ .task = current, .when = jiffies, .why = *why };
	spin_unlock(&lat->refusal_lock);
	if (extack)
		extack->_msg = refusal ? refusal->why.text : "too many requests to say why";
	return err;
}

/* ---- GET ---- */

static int lat_put_u64(struct sk_buff *skb, int type, u64 value)
{
	return nla_put_u64_64bit(skb, type, value, LAT_A_PAD);
}

static int lat_put_s64(struct sk_buff *skb, int type, s64 value)
{
	return nla_put_s64(skb, type, value, LAT_A_PAD);
}

/* The value of a row: a number where it is one, else text. */
static int lat_put_param_value(struct sk_buff *skb, const struct lat_param *param)
{
	switch (param->type) {
	case LAT_T_U64:
	case LAT_T_S64:
	case LAT_T_BOOL:
	case LAT_T_DURATION:
		if (!param->set)
			break;
		return lat_param_is_signed(param) ?
			lat_put_s64(skb, LAT_A_S64, param->number) :
			lat_put_u64(skb, LAT_A_U64, param->number);
	default:
		break;
	}
	return nla_put_string(skb, LAT_A_STR, param->text);
}

static int lat_put_param_bounds(struct sk_buff *skb, const struct lat_param *param)
{
	if (param->type == LAT_T_ENUM)
		return nla_put_string(skb, LAT_A_CHOICES, param->min);
	if (!param->min[0])
		return 0;
	return nla_put_string(skb, LAT_A_MIN, param->min) ?:
	       nla_put_string(skb, LAT_A_MAX, param->max);
}

static int lat_put_param(struct sk_buff *skb, const struct lat_param *param)
{
	struct nlattr *nest = nla_nest_start(skb, LAT_A_PARAM);

	if (!nest || nla_put_string(skb, LAT_A_NAME, param->name) ||
	    nla_put_u32(skb, LAT_A_TYPE, param->type) ||
	    nla_put_string(skb, LAT_A_DEFAULT, param->def) ||
	    nla_put_string(skb, LAT_A_HELP, param->help) || lat_put_param_bounds(skb, param) ||
	    lat_put_param_value(skb, param))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int lat_put_fact(struct sk_buff *skb, const struct lat_fact *fact)
{
	struct nlattr *nest = nla_nest_start(skb, LAT_A_INFO);

	if (!nest || nla_put_string(skb, LAT_A_KEY, fact->key) ||
	    nla_put_string(skb, LAT_A_VALUE, fact->value))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int lat_put_counter(struct sk_buff *skb, unsigned int counter, u64 value)
{
	struct nlattr *nest = nla_nest_start(skb, LAT_A_COUNTER);

	if (!nest || nla_put_string(skb, LAT_A_NAME, lat_counter_names[counter]) ||
	    lat_put_u64(skb, LAT_A_U64, value))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int lat_put_note(struct sk_buff *skb, const struct lat_trust *note)
{
	struct nlattr *nest = nla_nest_start(skb, LAT_A_TRUST);

	if (!nest || nla_put_string(skb, LAT_A_NAME, note->code) ||
	    nla_put_u32(skb, LAT_A_SEVERITY, note->severity) ||
	    (note->cpu >= 0 && nla_put_u32(skb, LAT_A_CPU, note->cpu)) ||
	    nla_put_string(skb, LAT_A_TEXT, note->text))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int lat_put_point(struct sk_buff *skb, const struct lat_point *point, unsigned int index)
{
	struct nlattr *nest = nla_nest_start(skb, LAT_A_POINT);

	if (!nest || nla_put_string(skb, LAT_A_NAME, point->name) ||
	    nla_put_u32(skb, LAT_A_INDEX, index) ||
	    nla_put_u32(skb, LAT_A_FLAGS, point->is_signed ? LAT_POINT_F_SIGNED : 0))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/* The enabled points; before the first session those the instrument has. */
static int lat_put_points(struct sk_buff *skb, const struct lat_snapshot *snap)
{
	const struct lat_point *points = snap->lat->ops->points;
	unsigned int i;
	int err = 0;

	for (i = 0; points[i].name && !err; i++)
		if (!snap->points || snap->points & BIT(i))
			err = lat_put_point(skb, &points[i], i);
	return err;
}

static int lat_put_state(struct sk_buff *skb, const struct lat_snapshot *snap)
{
	if (nla_put_string(skb, LAT_A_VERSION, LATKIT_VERSION) ||
	    nla_put_u32(skb, LAT_A_STATE, snap->running ? LAT_STATE_RUNNING : LAT_STATE_IDLE))
		return -EMSGSIZE;
	if (snap->generation && nla_put_u32(skb, LAT_A_GENERATION, snap->generation))
		return -EMSGSIZE;
	if (snap->ncpus && (lat_put_u64(skb, LAT_A_START_NS, snap->start_ns) ||
			    lat_put_u64(skb, LAT_A_START_REAL_NS, snap->start_real_ns)))
		return -EMSGSIZE;
	if (snap->ended && (nla_put_u32(skb, LAT_A_STOP_REASON, snap->stop_reason) ||
			    lat_put_u64(skb, LAT_A_STOP_NS, snap->stop_ns) ||
			    lat_put_u64(skb, LAT_A_STOP_REAL_NS, snap->stop_real_ns)))
		return -EMSGSIZE;
	return 0;
}

static int lat_put_get(struct sk_buff *skb, const struct lat_snapshot *snap)
{
	const struct lat_fact *facts = snap->facts.entries;
	const struct lat_trust *notes = snap->notes.entries;
	unsigned int i;
	int err = lat_put_state(skb, snap) ?: lat_put_points(skb, snap);

	for (i = 0; i < LAT_COUNTERS && !err; i++)
		err = lat_put_counter(skb, i, snap->counter[i]);
	for (i = 0; i < snap->facts.n && !err; i++)
		err = lat_put_fact(skb, &facts[i]);
	for (i = 0; i < snap->notes.n && !err; i++)
		err = lat_put_note(skb, &notes[i]);
	for (i = 0; i < snap->lat->ops->nparams && !err; i++)
		err = lat_put_param(skb, &snap->params[i]);
	return err;
}

/* A reply of at most @size bytes. */
static struct sk_buff *lat_genl_get_reply(const struct genl_info *info,
					  const struct lat_snapshot *snap, size_t size)
{
	struct sk_buff *skb = genlmsg_new(size, GFP_KERNEL);
	void *header;

	if (!skb)
		return ERR_PTR(-ENOMEM);
	header = genlmsg_put(skb, info->snd_portid, info->snd_seq, &lat_genl_family, 0,
			     LAT_CMD_GET);
	if (!header || lat_put_get(skb, snap)) {
		nlmsg_free(skb);
		return ERR_PTR(-EMSGSIZE);
	}
	genlmsg_end(skb, header);
	return skb;
}

static int lat_genl_get(struct sk_buff *request, struct genl_info *info)
{
	struct lat_snapshot *snap;
	struct sk_buff *skb;
	size_t size = SZ_16K;

	snap = lat_snapshot_take(lat_genl_lat,
				 LAT_SNAP_PARAMS | LAT_SNAP_FACTS | LAT_SNAP_RECS);
	if (IS_ERR(snap))
		return PTR_ERR(snap);
	do {
		skb = lat_genl_get_reply(info, snap, size);
		size *= 2;
	} while (PTR_ERR_OR_ZERO(skb) == -EMSGSIZE && size <= SZ_1M);
	lat_snapshot_free(snap);
	if (IS_ERR(skb))
		return PTR_ERR(skb);
	return genlmsg_reply(skb, info);
}

/* ---- SET ---- */

static struct lat_param *lat_param_find(const struct lat *lat, const char *name)
{
	unsigned int i;

	for (i = 0; i < lat->ops->nparams; i++)
		if (!strcmp(lat->ops->params[i].name, name))
			return &lat->ops->params[i];
	return NULL;
}

/* A number for a row that takes one. */
static int lat_genl_set_number(struct lat_param *param, const struct nlattr *attr,
			       struct lat_why *why)
{
	bool is_signed = attr->nla_type == LAT_A_S64;
	s64 number = is_signed ? nla_get_s64(attr) : (s64)nla_get_u64(attr);

	if (param->type == LAT_T_ENUM || param->type == LAT_T_STRING ||
	    param->type == LAT_T_CPULIST)
		return lat_refuse(why, -EINVAL, "%s: takes text, not a number", param->name);
	if (is_signed != lat_param_is_signed(param))
		return lat_refuse(why, -EINVAL, "%s: takes a%s number", param->name,
				  is_signed ? "n unsigned" : " signed");
	if (!is_signed && param->type == LAT_T_DURATION && number < 0)
		return lat_refuse(why, -EINVAL, "%s: must be between %s and %s", param->name,
				  param->min, param->max);
	return lat_param_set_number(param, number, why);
}

/* Does a text hold nothing but what people can read? It goes into reports. */
static bool lat_is_printable(const char *text)
{
	for (; *text; text++)
		if (*text < ' ' || *text > '~')
			return false;
	return true;
}

static int lat_genl_set_param(struct lat *lat, const struct nlattr *nest,
			      struct netlink_ext_ack *extack, struct lat_why *why)
{
	struct nlattr *tb[LAT_A_MAX + 1];
	struct lat_param *param;
	int err;

	err = nla_parse_nested(tb, LAT_A_MAX, nest, lat_genl_param_policy, extack);
	if (err)
		return lat_refuse(why, err, "a parameter needs its name and one value");
	if (!tb[LAT_A_NAME] || !!tb[LAT_A_U64] + !!tb[LAT_A_S64] + !!tb[LAT_A_STR] != 1)
		return lat_refuse(why, -EINVAL, "a parameter needs its name and one value");
	param = lat_param_find(lat, nla_data(tb[LAT_A_NAME]));
	if (!param)
		return lat_refuse(why, -EINVAL, "there is no such parameter");
	if (tb[LAT_A_U64])
		return lat_genl_set_number(param, tb[LAT_A_U64], why);
	if (tb[LAT_A_S64])
		return lat_genl_set_number(param, tb[LAT_A_S64], why);
	if (!lat_is_printable(nla_data(tb[LAT_A_STR])))
		return lat_refuse(why, -EINVAL, "%s: the value has unprintable characters",
				  param->name);
	return lat_param_set(param, nla_data(tb[LAT_A_STR]), why);
}

/* All of a message or nothing. Context: lat->lock. */
static int lat_genl_set_all(struct lat *lat, struct genl_info *info, struct lat_why *why)
{
	size_t size = lat->ops->nparams * sizeof(*lat->ops->params);
	struct lat_param *before;
	struct nlattr *attr;
	unsigned int n = 0;
	int rem, err = 0;

	if (lat->running)
		return lat_refuse(why, -EBUSY, "a session is running; stop it first");
	before = kvmalloc(size, GFP_KERNEL);
	if (!before)
		return lat_refuse(why, -ENOMEM, "no memory");
	memcpy(before, lat->ops->params, size);
	nlmsg_for_each_attr(attr, info->nlhdr, GENL_HDRLEN, rem) {
		if (n++ == lat->ops->nparams)
			err = lat_refuse(why, -EINVAL, "more parameters than there are (%u)",
					 lat->ops->nparams);
		else
			err = lat_genl_set_param(lat, attr, info->extack, why);
		if (err)
			break;
	}
	if (!err && !n)
		err = lat_refuse(why, -EINVAL, "nothing to set");
	if (err)
		memcpy(lat->ops->params, before, size);
	kvfree(before);
	return err;
}

static int lat_genl_set(struct sk_buff *skb, struct genl_info *info)
{
	struct lat *lat = lat_genl_lat;
	struct lat_why why;
	int err;

	mutex_lock(&lat->lock);
	err = lat_genl_set_all(lat, info, &why);
	mutex_unlock(&lat->lock);
	return err ? lat_genl_refuse(info->extack, &why, err) : 0;
}

/* ---- START, STOP, RESET ---- */

static int lat_genl_start(struct sk_buff *skb, struct genl_info *info)
{
	struct lat_why why;
	int err = lat_start(lat_genl_lat, &why);

	return err ? lat_genl_refuse(info->extack, &why, err) : 0;
}

static int lat_genl_stop(struct sk_buff *skb, struct genl_info *info)
{
	int err = lat_stop(lat_genl_lat, LAT_STOP_REQUEST);

	if (err)
		NL_SET_ERR_MSG(info->extack, "no session is running");
	return err;
}

static int lat_genl_reset(struct sk_buff *skb, struct genl_info *info)
{
	struct lat_why why;
	int err = lat_reset(lat_genl_lat, &why);

	return err ? lat_genl_refuse(info->extack, &why, err) : 0;
}

/* ---- dumps ---- */

/**
 * struct lat_dump - a dump under way
 * @snap: what is dumped
 * @rec: index of the recorder that comes next
 * @section: of it
 * @next: position within the section
 */
struct lat_dump {
	struct lat_snapshot *snap;
	unsigned int rec;
	unsigned int section;
	unsigned int next;
};

static int lat_dump_start(struct netlink_callback *cb, unsigned int parts)
{
	struct lat_dump *dump = kzalloc(sizeof(*dump), GFP_KERNEL);

	if (!dump)
		return -ENOMEM;
	dump->snap = lat_snapshot_take(lat_genl_lat, parts);
	if (IS_ERR(dump->snap)) {
		int err = PTR_ERR(dump->snap);

		kfree(dump);
		return err;
	}
	cb->args[0] = (long)dump;
	return 0;
}

static int lat_dump_start_recs(struct netlink_callback *cb)
{
	return lat_dump_start(cb, LAT_SNAP_RECS);
}

static int lat_dump_start_series(struct netlink_callback *cb)
{
	return lat_dump_start(cb, LAT_SNAP_SERIES);
}

static int lat_dump_done(struct netlink_callback *cb)
{
	struct lat_dump *dump = (struct lat_dump *)cb->args[0];

	if (dump) {
		lat_snapshot_free(dump->snap);
		kfree(dump);
	}
	return 0;
}

/* What every message of a dump begins with. */
static int lat_put_rec(struct sk_buff *skb, const struct lat_dump *dump)
{
	const struct lat_rec *rec = dump->snap->rec[dump->rec];

	return nla_put_u32(skb, LAT_A_GENERATION, dump->snap->generation) ?:
	       nla_put_string(skb, LAT_A_NAME, dump->snap->lat->ops->points[rec->point].name) ?:
	       nla_put_u32(skb, LAT_A_INDEX, rec->point) ?:
	       nla_put_u32(skb, LAT_A_CPU, rec->cpu);
}

static struct lat_s128 lat_s128(struct lat_u128 value)
{
	return (struct lat_s128){ .low = value.low, .high = value.high };
}

static int lat_put_stats(struct sk_buff *skb, const struct lat_rec *rec)
{
	struct lat_s128 sum = lat_s128(rec->sum), sumsq = lat_s128(rec->sumsq);
	u64 count = lat_rec_count(rec), missed = lat_rec_missed(rec);

	if (lat_put_u64(skb, LAT_A_COUNT, count) ||
	    lat_put_u64(skb, LAT_A_NEGATIVE, rec->negative) ||
	    lat_put_u64(skb, LAT_A_MISSED, missed) || lat_put_u64(skb, LAT_A_LOST, rec->lost) ||
	    nla_put_64bit(skb, LAT_A_SUM, sizeof(sum), &sum, LAT_A_PAD) ||
	    nla_put_64bit(skb, LAT_A_SUMSQ, sizeof(sumsq), &sumsq, LAT_A_PAD))
		return -EMSGSIZE;
	if (count && (lat_put_s64(skb, LAT_A_MIN_NS, rec->min_ns) ||
		      lat_put_s64(skb, LAT_A_MAX_NS, rec->max_ns)))
		return -EMSGSIZE;
	if (missed && lat_put_u64(skb, LAT_A_MISSED_MAX_NS, rec->missed_max_ns))
		return -EMSGSIZE;
	if (rec->first_ns && (lat_put_u64(skb, LAT_A_FIRST_NS, rec->first_ns) ||
			      lat_put_u64(skb, LAT_A_LAST_NS, rec->last_ns)))
		return -EMSGSIZE;
	if (rec->torn && nla_put_flag(skb, LAT_A_TORN))
		return -EMSGSIZE;
	if (rec->linear && (lat_put_u64(skb, LAT_A_LINEAR_WIDTH_NS, rec->linear_width_ns) ||
			    lat_put_u64(skb, LAT_A_LINEAR_OVER, rec->linear_over) ||
			    lat_put_u64(skb, LAT_A_LINEAR_UNDER, rec->linear_under)))
		return -EMSGSIZE;
	if (rec->exceeds && nla_put_64bit(skb, LAT_A_EXCEED,
					  rec->exceeds * sizeof(rec->exceed[0]), rec->exceed,
					  LAT_A_PAD))
		return -EMSGSIZE;
	return 0;
}

/* The counts of one histogram of a recorder. */
struct lat_bucket_array {
	const u64 *counts;
	unsigned int n;
	u64 width_ns;	/* of the linear one, else 0 */
};

static struct lat_bucket_array lat_rec_array(const struct lat_rec *rec, enum lat_hist_kind kind)
{
	switch (kind) {
	case LAT_HIST_VALUES:
		return (struct lat_bucket_array){ rec->values, LAT_BUCKETS };
	case LAT_HIST_BELOW:
		return (struct lat_bucket_array){ rec->below, rec->below ? LAT_BUCKETS : 0 };
	case LAT_HIST_MISSED:
		return (struct lat_bucket_array){ rec->missed, LAT_BUCKETS };
	case LAT_HIST_LINEAR:
		return (struct lat_bucket_array){ rec->linear, rec->linear_buckets,
						  rec->linear_width_ns };
	}
	return (struct lat_bucket_array){ };
}

/* The next non-empty bucket from @from on; the end where there is none. */
static unsigned int lat_next_bucket(const struct lat_bucket_array *array, unsigned int from)
{
	while (from < array->n && !array->counts[from])
		from++;
	return from;
}

/* As many buckets as go into one message; moves @next on. */
static int lat_put_buckets(struct sk_buff *skb, const struct lat_bucket_array *array,
			   unsigned int *next)
{
	const unsigned int most = LAT_GENL_CHUNK_BYTES / sizeof(struct lat_bucket);
	unsigned int i = lat_next_bucket(array, *next), n;
	struct nlattr *attr;

	if (nla_align_64bit(skb, LAT_A_PAD))
		return -EMSGSIZE;
	attr = nla_nest_start_noflag(skb, LAT_A_BUCKETS);
	if (!attr)
		return -EMSGSIZE;
	for (n = 0; i < array->n && n < most; n++) {
		const struct lat_bucket bucket = {
			.low_ns = array->width_ns ? i * array->width_ns : lat_bucket_low(i),
			.count = array->counts[i],
		};

		if (nla_append(skb, sizeof(bucket), &bucket))
			return -EMSGSIZE;
		i = lat_next_bucket(array, i + 1);
	}
	nla_nest_end(skb, attr);
	*next = i;
	return 0;
}

/* Section 0 of a recorder is its statistics, the others its histograms. */
static int lat_put_hist(struct sk_buff *skb, struct lat_dump *dump)
{
	const struct lat_rec *rec = dump->snap->rec[dump->rec];
	struct lat_bucket_array array;
	int err;

	if (!dump->section) {
		err = lat_put_stats(skb, rec);
		if (!err)
			dump->section++;
		return err;
	}
	array = lat_rec_array(rec, dump->section - 1);
	err = nla_put_u32(skb, LAT_A_HIST, dump->section - 1) ?:
	      lat_put_buckets(skb, &array, &dump->next);
	if (!err && dump->next == array.n) {
		dump->section++;
		dump->next = 0;
	}
	return err;
}

/* Is there another message for this recorder? Goes past empty histograms. */
static bool lat_more_hist(struct lat_dump *dump)
{
	const struct lat_rec *rec = dump->snap->rec[dump->rec];

	for (; dump->section <= LAT_HIST_LINEAR + 1; dump->section++, dump->next = 0) {
		struct lat_bucket_array array;

		if (!dump->section)
			return true;
		array = lat_rec_array(rec, dump->section - 1);
		if (lat_next_bucket(&array, dump->next) < array.n)
			return true;
	}
	return false;
}

static int lat_put_series(struct sk_buff *skb, struct lat_dump *dump)
{
	const struct lat_series *series = &dump->snap->series[dump->rec];
	unsigned int n = min_t(unsigned int, series->n - dump->next,
			       LAT_GENL_CHUNK_BYTES / sizeof(struct lat_interval));
	int err = nla_put_64bit(skb, LAT_A_INTERVALS, n * sizeof(struct lat_interval),
				&series->entries[dump->next], LAT_A_PAD);

	if (!err)
		dump->next += n;
	return err;
}

static bool lat_more_series(struct lat_dump *dump)
{
	return dump->next < dump->snap->series[dump->rec].n;
}

static int lat_put_outliers(struct sk_buff *skb, struct lat_dump *dump)
{
	const struct lat_rec *rec = dump->snap->rec[dump->rec];
	unsigned int n = min_t(u64, rec->over, LAT_RECENT), i;
	struct lat_sample recent[LAT_RECENT];

	for (i = 0; i < n; i++)
		recent[i] = rec->recent[(rec->over - n + i) % LAT_RECENT];
	if (nla_put_64bit(skb, LAT_A_OUTLIERS, rec->worsts * sizeof(rec->worst[0]), rec->worst,
			  LAT_A_PAD) ||
	    nla_put_64bit(skb, LAT_A_RECENT, n * sizeof(recent[0]), recent, LAT_A_PAD) ||
	    lat_put_u64(skb, LAT_A_RECENT_DROPPED, rec->over - n))
		return -EMSGSIZE;
	dump->section++;
	return 0;
}

static bool lat_more_outliers(struct lat_dump *dump)
{
	return !dump->section && dump->snap->rec[dump->rec]->worsts;
}

/* What differs between the dumps. */
struct lat_dump_ops {
	u8 cmd;
	bool (*more)(struct lat_dump *dump);
	int (*put)(struct sk_buff *skb, struct lat_dump *dump);
};

/* One message; an error leaves skb and position as they were. */
static int lat_dump_message(struct sk_buff *skb, struct netlink_callback *cb,
			    struct lat_dump *dump, const struct lat_dump_ops *ops)
{
	struct lat_dump before = *dump;
	void *header = genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
				   &lat_genl_family, NLM_F_MULTI, ops->cmd);

	if (!header)
		return -EMSGSIZE;
	genl_dump_check_consistent(cb, header);
	if (lat_put_rec(skb, dump) || ops->put(skb, dump)) {
		genlmsg_cancel(skb, header);
		*dump = before;
		return -EMSGSIZE;
	}
	genlmsg_end(skb, header);
	return 0;
}

static int lat_dump(struct sk_buff *skb, struct netlink_callback *cb,
		    const struct lat_dump_ops *ops)
{
	struct lat_dump *dump = (struct lat_dump *)cb->args[0];
	int err;

	/* A session that started in between makes the dump inconsistent with the next one. */
	cb->seq = READ_ONCE(lat_genl_lat->generation) + 1;
	for (; dump->rec < dump->snap->nrecs; dump->rec++, dump->section = 0, dump->next = 0) {
		while (ops->more(dump)) {
			err = lat_dump_message(skb, cb, dump, ops);
			if (err)
				return skb->len ?: err;
		}
	}
	return skb->len;
}

static int lat_dump_hist(struct sk_buff *skb, struct netlink_callback *cb)
{
	static const struct lat_dump_ops ops = { LAT_CMD_HIST_GET, lat_more_hist, lat_put_hist };

	return lat_dump(skb, cb, &ops);
}

static int lat_dump_series(struct sk_buff *skb, struct netlink_callback *cb)
{
	static const struct lat_dump_ops ops = {
		LAT_CMD_SERIES_GET, lat_more_series, lat_put_series
	};

	return lat_dump(skb, cb, &ops);
}

static int lat_dump_outliers(struct sk_buff *skb, struct netlink_callback *cb)
{
	static const struct lat_dump_ops ops = {
		LAT_CMD_OUTLIER_GET, lat_more_outliers, lat_put_outliers
	};

	return lat_dump(skb, cb, &ops);
}

/* ---- the family ---- */

static const struct genl_ops lat_genl_ops[] = {
	{ .cmd = LAT_CMD_GET, .flags = GENL_ADMIN_PERM, .doit = lat_genl_get },
	{ .cmd = LAT_CMD_SET, .flags = GENL_ADMIN_PERM, .doit = lat_genl_set,
	  .policy = lat_genl_set_policy, .maxattr = LAT_A_MAX },
	{ .cmd = LAT_CMD_START, .flags = GENL_ADMIN_PERM, .doit = lat_genl_start },
	{ .cmd = LAT_CMD_STOP, .flags = GENL_ADMIN_PERM, .doit = lat_genl_stop },
	{ .cmd = LAT_CMD_RESET, .flags = GENL_ADMIN_PERM, .doit = lat_genl_reset },
	{ .cmd = LAT_CMD_HIST_GET, .flags = GENL_ADMIN_PERM, .start = lat_dump_start_recs,
	  .dumpit = lat_dump_hist, .done = lat_dump_done },
	{ .cmd = LAT_CMD_SERIES_GET, .flags = GENL_ADMIN_PERM, .start = lat_dump_start_series,
	  .dumpit = lat_dump_series, .done = lat_dump_done },
	{ .cmd = LAT_CMD_OUTLIER_GET, .flags = GENL_ADMIN_PERM, .start = lat_dump_start_recs,
	  .dumpit = lat_dump_outliers, .done = lat_dump_done },
};

static const struct genl_multicast_group lat_genl_groups[] = {
	{ .name = LAT_GENL_GROUP_EVENTS, .flags = GENL_MCAST_CAP_NET_ADMIN },
};

static struct genl_family lat_genl_family __ro_after_init = {
	.name = KBUILD_MODNAME,
	.version = LAT_GENL_VERSION,
	.module = THIS_MODULE,
	.maxattr = LAT_A_MAX,
	.policy = lat_genl_no_policy,
	.parallel_ops = true,
	.ops = lat_genl_ops,
	.n_ops = ARRAY_SIZE(lat_genl_ops),
	.mcgrps = lat_genl_groups,
	.n_mcgrps = ARRAY_SIZE(lat_genl_groups),
};

/* ---- events ---- */

/* Does anybody want to hear? Context: any. */
static bool lat_genl_has_listeners(void)
{
	return genl_has_listeners(&lat_genl_family, &init_net, 0);
}

/**
 * lat_event_outlier_soon() - samples over the threshold or a limit are to be told
 * @lat: the instrument
 *
 * Context: as lat_record(). They are told a little later, from process context, the last of each
 * recorder.
 */
void lat_event_outlier_soon(struct lat *lat)
{
	if (lat_genl_has_listeners())
		irq_work_queue(&lat->event_irq_work);
}

/* Begin an event; NULL without listeners or memory: an event is a courtesy. */
static struct sk_buff *lat_event_new(struct lat *lat, u8 cmd, void **header)
{
	struct sk_buff *skb;

	if (!lat_genl_has_listeners())
		return NULL;
	skb = genlmsg_new(NLMSG_GOODSIZE, GFP_KERNEL);
	if (!skb)
		return NULL;
	*header = genlmsg_put(skb, 0, 0, &lat_genl_family, 0, cmd);
	if (*header && !nla_put_u32(skb, LAT_A_GENERATION, lat->generation))
		return skb;
	nlmsg_free(skb);
	return NULL;
}

static void lat_event_send(struct sk_buff *skb, void *header)
{
	genlmsg_end(skb, header);
	/* Nobody listens any more: that is no error. */
	genlmsg_multicast(&lat_genl_family, skb, 0, 0, GFP_KERNEL);
}

/**
 * lat_event_session() - tell that a session has started or stopped
 * @lat: the instrument
 * @cmd: LAT_CMD_STARTED or LAT_CMD_STOPPED
 *
 * Context: process, lat->lock.
 */
void lat_event_session(struct lat *lat, u8 cmd)
{
	void *header;
	struct sk_buff *skb = lat_event_new(lat, cmd, &header);

	if (!skb)
		return;
	if (lat_put_u64(skb, LAT_A_START_NS, lat->start_ns) ||
	    (cmd == LAT_CMD_STOPPED && (nla_put_u32(skb, LAT_A_STOP_REASON, lat->stop_reason) ||
					lat_put_u64(skb, LAT_A_STOP_NS, lat->stop_ns)))) {
		nlmsg_free(skb);
		return;
	}
	lat_event_send(skb, header);
}

/* Context: process, lat->series_lock, which keeps @rec. */
static void lat_event_rec(struct lat *lat, struct lat_rec *rec, u8 cmd, int type, const void *value,
			  size_t size)
{
	void *header;
	struct sk_buff *skb = lat_event_new(lat, cmd, &header);

	if (!skb)
		return;
	if (nla_put_string(skb, LAT_A_NAME, lat->ops->points[rec->point].name) ||
	    nla_put_u32(skb, LAT_A_INDEX, rec->point) || nla_put_u32(skb, LAT_A_CPU, rec->cpu) ||
	    nla_put_64bit(skb, type, size, value, LAT_A_PAD)) {
		nlmsg_free(skb);
		return;
	}
	lat_event_send(skb, header);
}

/* What was over since the last event: the last sample, and limits broken for the first time. */
static void lat_event_rec_news(struct lat *lat, struct lat_rec *rec)
{
	struct lat_exceed exceed[LAT_EXCEED];
	struct lat_sample last;
	unsigned int i, seq, tries = 0;
	u64 over;

	do {
		seq = raw_read_seqcount(&rec->seqcount);
		over = READ_ONCE(rec->over);
		last = rec->recent[(over - 1) % LAT_RECENT];
		memcpy(exceed, rec->exceed, sizeof(exceed));
	} while (((seq & 1) || read_seqcount_retry(&rec->seqcount, seq)) && ++tries < 64);
	if (over != rec->told_over) {
		rec->told_over = over;
		lat_event_rec(lat, rec, LAT_CMD_OUTLIER, LAT_A_RECENT, &last, sizeof(last));
	}
	for (i = 0; i < rec->exceeds; i++) {
		if (!exceed[i].count || rec->told_limits & BIT(i))
			continue;
		rec->told_limits |= BIT(i);
		lat_event_rec(lat, rec, LAT_CMD_LIMIT, LAT_A_EXCEED, &exceed[i],
			      sizeof(exceed[i]));
	}
}

static void lat_event_work(struct work_struct *work)
{
	struct lat *lat = container_of(work, struct lat, event_work);
	unsigned int i, point;

	mutex_lock(&lat->series_lock);
	for (i = 0; i < lat->ncpus; i++)
		for (point = 0; point < LAT_POINTS_MAX; point++)
			if (lat->cpu[i].rec[point])
				lat_event_rec_news(lat, lat->cpu[i].rec[point]);
	mutex_unlock(&lat->series_lock);
}

static void lat_event_irq_work(struct irq_work *work)
{
	struct lat *lat = container_of(work, struct lat, event_irq_work);

	queue_work(lat->wq, &lat->event_work);
}

/**
 * lat_genl_init() - register the family
 * @lat: the instrument
 *
 * Context: process, module init.
 * Return: 0 or a negative errno
 */
int lat_genl_init(struct lat *lat)
{
	init_irq_work(&lat->event_irq_work, lat_event_irq_work);
	INIT_WORK(&lat->event_work, lat_event_work);
	spin_lock_init(&lat->refusal_lock);
	lat_genl_lat = lat;
	return genl_register_family(&lat_genl_family);
}

/* Nobody can be told anything after it. Context: process, module exit; @lat has no session. */
void lat_genl_exit(struct lat *lat)
{
	irq_work_sync(&lat->event_irq_work);
	cancel_work_sync(&lat->event_work);
	genl_unregister_family(&lat_genl_family);
}
