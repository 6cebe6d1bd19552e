/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * The whole interface between the latkit modules and user space: one generic netlink family per
 * instrument, named after its module, all speaking the commands and attributes below, and the
 * fixed-size records that travel inside them and through the character devices.
 *
 * Every number is in the unit its name carries. An attribute that is absent means "unknown" or
 * "not set"; there are no sentinel values. Enumerations only grow at their end, nothing is ever
 * removed or reused, and user space ignores what it does not know.
 */
#ifndef _UAPI_LATKIT_LATKIT_H
#define _UAPI_LATKIT_LATKIT_H

#include <linux/types.h>

#ifdef __KERNEL__
#include <linux/build_bug.h>
#define LAT_UAPI_SIZE(type, size) static_assert(sizeof(type) == (size))
#else
#include <assert.h>
#define LAT_UAPI_SIZE(type, size) static_assert(sizeof(type) == (size), #type)
#endif

/* Never changes meaning; the module's own version travels as LAT_A_VERSION. */
#define LAT_GENL_VERSION	1
#define LAT_GENL_GROUP_EVENTS	"events"

/**
 * enum lat_cmd - generic netlink commands, the same for every instrument
 * @LAT_CMD_UNSPEC: never sent
 * @LAT_CMD_GET: state, facts, counters, trust notes, points and the parameter table
 * @LAT_CMD_SET: change parameters of an idle instrument (repeated LAT_A_PARAM)
 * @LAT_CMD_START: start a session; -EBUSY while one runs
 * @LAT_CMD_STOP: end the running session; results stay; -EALREADY where none runs
 * @LAT_CMD_RESET: forget the results of the last session; -EBUSY while one runs
 * @LAT_CMD_HIST_GET: dump: histograms, statistics, missed, linear, exceedance counters
 * @LAT_CMD_SERIES_GET: dump: the interval series
 * @LAT_CMD_OUTLIER_GET: dump: the worst samples and the last ones over the threshold
 * @LAT_CMD_STARTED: event: a session has started
 * @LAT_CMD_OUTLIER: event: a sample was over the threshold
 * @LAT_CMD_LIMIT: event: an exceedance limit was broken for the first time
 * @LAT_CMD_STOPPED: event: a session has ended, with its reason
 *
 * Every command needs CAP_NET_ADMIN in the initial user namespace.
 * @__LAT_CMD_MAX: one more than the last
 */
enum lat_cmd {
	LAT_CMD_UNSPEC,
	LAT_CMD_GET,
	LAT_CMD_SET,
	LAT_CMD_START,
	LAT_CMD_STOP,
	LAT_CMD_RESET,
	LAT_CMD_HIST_GET,
	LAT_CMD_SERIES_GET,
	LAT_CMD_OUTLIER_GET,
	LAT_CMD_STARTED,
	LAT_CMD_OUTLIER,
	LAT_CMD_LIMIT,
	LAT_CMD_STOPPED,
	__LAT_CMD_MAX,
};

#define LAT_CMD_MAX (__LAT_CMD_MAX - 1)

/* One flat space of attributes; which message or nest carries each stands behind it. */
enum lat_attr {
	LAT_A_UNSPEC,
	LAT_A_PAD,		/* alignment of 64-bit attributes */

	/* GET, HIST_GET, SERIES_GET, OUTLIER_GET, events */
	LAT_A_VERSION,		/* string: the module's version, for humans only */
	LAT_A_STATE,		/* u32: enum lat_state */
	LAT_A_GENERATION,	/* u32: number of the session since load, from 1; absent before */
	LAT_A_STOP_REASON,	/* u32: enum lat_stop; absent while running and before the first */
	LAT_A_START_NS,		/* u64, ns: instrument's clock when the session was armed */
	LAT_A_STOP_NS,		/* u64, ns: instrument's clock when it had stopped */
	LAT_A_START_REAL_NS,	/* u64, ns since the epoch, UTC */
	LAT_A_STOP_REAL_NS,	/* u64, ns since the epoch, UTC */

	/* repeated nests of GET */
	LAT_A_PARAM,		/* nest: one row of the parameter table; also in SET */
	LAT_A_INFO,		/* nest: KEY, VALUE: one fact about device, placement, clock */
	LAT_A_COUNTER,		/* nest: NAME, U64: one counter, summed over the CPUs */
	LAT_A_TRUST,		/* nest: NAME (code), SEVERITY, CPU if it is about one, TEXT */
	LAT_A_POINT,		/* nest: NAME, INDEX, FLAGS: one enabled point */

	/* members of those nests */
	LAT_A_NAME,		/* string */
	LAT_A_TYPE,		/* u32: enum lat_type */
	LAT_A_U64,		/* u64: value of a number, bool or duration (ns) */
	LAT_A_S64,		/* s64: value of a signed number or duration (ns) */
	LAT_A_STR,		/* string: value of an enum, cpulist or string */
	LAT_A_DEFAULT,		/* string: default, as the parameter takes it */
	LAT_A_MIN,		/* string: smallest value, as the parameter takes it */
	LAT_A_MAX,		/* string: largest value, as the parameter takes it */
	LAT_A_CHOICES,		/* string: "a|b|c" of an enum */
	LAT_A_HELP,		/* string: one line */
	LAT_A_KEY,		/* string: key of a fact */
	LAT_A_VALUE,		/* string: value of a fact */
	LAT_A_SEVERITY,		/* u32: enum lat_severity */
	LAT_A_TEXT,		/* string: one sentence for people */
	LAT_A_INDEX,		/* u32: number of a point, as in struct lat_sample */
	LAT_A_FLAGS,		/* u32: LAT_POINT_F_* of a point */
	LAT_A_CPU,		/* u32: logical CPU number */

	/* HIST_GET: one or more messages per (point, measured CPU) */
	LAT_A_COUNT,		/* u64: recorded samples = sum of buckets + NEGATIVE */
	LAT_A_NEGATIVE,		/* u64: samples below zero of an unsigned point */
	LAT_A_MIN_NS,		/* s64, ns: absent without samples */
	LAT_A_MAX_NS,		/* s64, ns: absent without samples */
	LAT_A_SUM,		/* struct lat_s128: exact sum, ns */
	LAT_A_SUMSQ,		/* struct lat_s128: exact sum of squares, ns^2 */
	LAT_A_FIRST_NS,		/* u64, ns: due time of the first stimulus recorded or missed */
	LAT_A_LAST_NS,		/* u64, ns: due time of the last stimulus recorded or missed */
	LAT_A_MISSED,		/* u64: periods that were due and skipped */
	LAT_A_MISSED_MAX_NS,	/* u64, ns: greatest lateness of a missed period */
	LAT_A_LOST,		/* u64: stimuli whose end never came: they rank as +infinity */
	LAT_A_TORN,		/* flag: the copy may be inconsistent, the writer never paused */
	LAT_A_HIST,		/* u32: enum lat_hist_kind of the BUCKETS in this message */
	LAT_A_BUCKETS,		/* array of struct lat_bucket, non-empty ones, ascending */
	LAT_A_EXCEED,		/* array of struct lat_exceed */
	LAT_A_LINEAR_WIDTH_NS,	/* u64, ns: bucket width of the linear histogram, if there is one */
	LAT_A_LINEAR_OVER,	/* u64: samples at or above its last edge */
	LAT_A_LINEAR_UNDER,	/* u64: samples below its first edge (negative) */

	/* SERIES_GET, OUTLIER_GET */
	LAT_A_INTERVALS,	/* array of struct lat_interval */
	LAT_A_OUTLIERS,		/* array of struct lat_sample, worst first */
	LAT_A_RECENT,		/* array of struct lat_sample over the threshold, oldest first */
	LAT_A_RECENT_DROPPED,	/* u64: older ones over the threshold that were overwritten */

	__LAT_A_MAX,
};

#define LAT_A_MAX (__LAT_A_MAX - 1)

/**
 * enum lat_state - what an instrument is doing
 * @LAT_STATE_IDLE: no session; the results of the last one, if any, can be read
 * @LAT_STATE_RUNNING: a session runs
 */
enum lat_state {
	LAT_STATE_IDLE,
	LAT_STATE_RUNNING,
};

/**
 * enum lat_stop - why a session ended
 * @LAT_STOP_COUNT: every measured CPU has recorded ``count`` stimuli
 * @LAT_STOP_DURATION: ``duration`` has passed
 * @LAT_STOP_THRESHOLD: a sample was over ``threshold`` and ``on_threshold`` said to stop
 * @LAT_STOP_REQUEST: somebody asked for it
 * @LAT_STOP_DEVICE_REMOVED: the device was unbound or unplugged
 * @LAT_STOP_DEVICE_SILENT: the device did not answer for ten times ``silent``
 * @LAT_STOP_SUSPEND: the machine is about to suspend or hibernate
 * @LAT_STOP_REBOOT: the machine is about to restart or power off
 * @LAT_STOP_ERROR: the instrument could not go on
 * @__LAT_STOP_MAX: one more than the last
 */
enum lat_stop {
	LAT_STOP_COUNT,
	LAT_STOP_DURATION,
	LAT_STOP_THRESHOLD,
	LAT_STOP_REQUEST,
	LAT_STOP_DEVICE_REMOVED,
	LAT_STOP_DEVICE_SILENT,
	LAT_STOP_SUSPEND,
	LAT_STOP_REBOOT,
	LAT_STOP_ERROR,
	__LAT_STOP_MAX,
};

/**
 * enum lat_type - type of a parameter
 * @LAT_T_U64: unsigned number, decimal or 0x
 * @LAT_T_S64: signed number
 * @LAT_T_BOOL: 0 or 1
 * @LAT_T_ENUM: one of LAT_A_CHOICES
 * @LAT_T_STRING: text
 * @LAT_T_CPULIST: list of CPUs, as ``0-3,5``, ``all`` or ``!4``
 * @LAT_T_DURATION: time; text form carries its unit (``250us``), number form is ns. Signed
 *	(LAT_A_S64) where LAT_A_MIN is negative.
 *
 * Where LAT_A_DEFAULT is a word (``auto``, ``any``) that word is a value too: the parameter is
 * then not set, and neither LAT_A_U64 nor LAT_A_S64 is present, but LAT_A_STR with the word.
 */
enum lat_type {
	LAT_T_U64,
	LAT_T_S64,
	LAT_T_BOOL,
	LAT_T_ENUM,
	LAT_T_STRING,
	LAT_T_CPULIST,
	LAT_T_DURATION,
};

/**
 * enum lat_severity - weight of a trust note
 * @LAT_SEVERITY_INFO: worth knowing when the numbers are compared
 * @LAT_SEVERITY_WARN: the numbers may be wrong or not representative
 * @LAT_SEVERITY_VOID: the numbers must not be used
 */
enum lat_severity {
	LAT_SEVERITY_INFO,
	LAT_SEVERITY_WARN,
	LAT_SEVERITY_VOID,
};

/**
 * enum lat_hist_kind - which histogram a HIST_GET message carries buckets of
 * @LAT_HIST_VALUES: values from zero up
 * @LAT_HIST_BELOW: values below zero of a signed point, by magnitude
 * @LAT_HIST_MISSED: lateness of the periods that were skipped
 * @LAT_HIST_LINEAR: values in the linear histogram
 */
enum lat_hist_kind {
	LAT_HIST_VALUES,
	LAT_HIST_BELOW,
	LAT_HIST_MISSED,
	LAT_HIST_LINEAR,
};

/* LAT_A_FLAGS of a point */
#define LAT_POINT_F_SIGNED	(1U << 0)	/* early and late are both meaningful */

/* flags of struct lat_sample */
#define LAT_SAMPLE_F_LATE	(1U << 0)	/* ended after the next period was due */
#define LAT_SAMPLE_F_WRONG_CPU	(1U << 1)	/* taken on another CPU than the asked one */
#define LAT_SAMPLE_F_DROPPED	(1U << 2)	/* stream only: latency_ns records were lost here */

/**
 * struct lat_bucket - one bucket of a histogram
 * @low_ns: smallest value that falls into the bucket, ns
 * @count: how many did
 */
struct lat_bucket {
	__u64 low_ns;
	__u64 count;
};

LAT_UAPI_SIZE(struct lat_bucket, 16);

/**
 * struct lat_s128 - a signed 128-bit sum in two halves
 * @low: bits 63:0
 * @high: bits 127:64, carries the sign
 */
struct lat_s128 {
	__u64 low;
	__s64 high;
};

LAT_UAPI_SIZE(struct lat_s128, 16);

/**
 * struct lat_exceed - exact count of the values above one limit
 * @limit_ns: the limit, ns
 * @count: recorded samples above it
 * @missed: missed periods whose lateness is above it
 */
struct lat_exceed {
	__u64 limit_ns;
	__u64 count;
	__u64 missed;
};

LAT_UAPI_SIZE(struct lat_exceed, 24);

/**
 * struct lat_sample - one measured value, as an outlier and in the raw stream
 * @seq: number of the stimulus on its CPU, from 1
 * @time_ns: when the stimulus happened, instrument's clock
 * @latency_ns: the value
 * @cpu: measured CPU
 * @point: index of the point
 * @flags: LAT_SAMPLE_F_*
 */
struct lat_sample {
	__u64 seq;
	__u64 time_ns;
	__s64 latency_ns;
	__u32 cpu;
	__u16 point;
	__u16 flags;
};

LAT_UAPI_SIZE(struct lat_sample, 32);

/*
 * The character device /dev/<instrument> speaks whole struct lat_sample, in both directions.
 *
 * A file that is only read is a reader of the raw stream: every sample recorded from its first
 * read() on, or from the start of the session if it was open before that. A gap is told in-band by
 * a record with LAT_SAMPLE_F_DROPPED. End of file is the end of the session; the next read() waits
 * for the next one.
 *
 * A file becomes the waiter of a CPU, for the point ``user``, by writing a sample whose @seq is 0
 * and whose @cpu is that CPU. From then on read() blocks until the next stimulus of that CPU and
 * returns it: @seq, @time_ns of the stimulus, @cpu, @point. The waiter takes its own time on the
 * instrument's clock at once and writes it back as @time_ns with the same @seq. A stamp is accepted
 * on that CPU only, once per @seq, not before the stimulus and not in the future; any other is
 * refused with -EINVAL and counted as invalid.
 */

/**
 * struct lat_interval - one interval of the series of a (point, CPU)
 * @start_ns: when it began, instrument's clock
 * @end_ns: when it ended
 * @count: samples recorded in it
 * @missed: periods missed in it
 * @over: samples in it above ``threshold``, or above the lowest ``exceed`` limit without one
 * @min_ns: smallest sample; not meaningful where @count is 0
 * @max_ns: largest sample; not meaningful where @count is 0
 */
struct lat_interval {
	__u64 start_ns;
	__u64 end_ns;
	__u64 count;
	__u64 missed;
	__u64 over;
	__s64 min_ns;
	__s64 max_ns;
};

LAT_UAPI_SIZE(struct lat_interval, 56);

#endif /* _UAPI_LATKIT_LATKIT_H */
