/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The tracepoints of an instrument, <instrument>:sample and <instrument>:outlier. Each module
 * brings its own pair: LAT_TRACE_SYSTEM, a bare word given by the Makefile, is the module's name.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM LAT_TRACE_SYSTEM

#if !defined(LAT_CORE_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define LAT_CORE_TRACE_H

#include <linux/tracepoint.h>

DECLARE_EVENT_CLASS(lat_value,
	TP_PROTO(const char *point, u32 cpu, u64 seq, u64 stimulus_ns, s64 latency_ns),
	TP_ARGS(point, cpu, seq, stimulus_ns, latency_ns),
	TP_STRUCT__entry(
		__field(u64, seq)
		__field(u64, stimulus_ns)
		__field(s64, latency_ns)
		__field(u32, cpu)
		__array(char, point, 16)
	),
	TP_fast_assign(
		__entry->seq = seq;
		__entry->stimulus_ns = stimulus_ns;
		__entry->latency_ns = latency_ns;
		__entry->cpu = cpu;
		strscpy(__entry->point, point, sizeof(__entry->point));
	),
	TP_printk("point=%s cpu=%u seq=%llu stimulus_ns=%llu latency_ns=%lld",
		  __entry->point, __entry->cpu, __entry->seq, __entry->stimulus_ns,
		  __entry->latency_ns)
);

/* Every sample, while the event is enabled. */
DEFINE_EVENT(lat_value, sample,
	TP_PROTO(const char *point, u32 cpu, u64 seq, u64 stimulus_ns, s64 latency_ns),
	TP_ARGS(point, cpu, seq, stimulus_ns, latency_ns)
);

/* Every sample over the threshold, while the event is enabled. */
DEFINE_EVENT(lat_value, outlier,
	TP_PROTO(const char *point, u32 cpu, u64 seq, u64 stimulus_ns, s64 latency_ns),
	TP_ARGS(point, cpu, seq, stimulus_ns, latency_ns)
);

#endif /* LAT_CORE_TRACE_H */

#undef TRACE_INCLUDE_PATH
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_PATH .
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
