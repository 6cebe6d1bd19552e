// SPDX-License-Identifier: GPL-2.0-only
/*
 * The forms a recorded stream can be printed in. A loss has its own line in each of them.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/decode.h"

static const struct flag_row {
	unsigned int flag;
	const char *name;
} flags[] = {
	{ LAT_SAMPLE_F_LATE, "late" },
	{ LAT_SAMPLE_F_WRONG_CPU, "wrong-cpu" },
};

/* Names of the flags, each between two texts, with a third between them. */
static void print_flags(unsigned int set, const char *before, const char *after,
			const char *between, FILE *f)
{
	bool any = false;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(flags); i++) {
		if (!(set & flags[i].flag))
			continue;
		fprintf(f, "%s%s%s%s", any ? between : "", before, flags[i].name, after);
		any = true;
	}
}

/* A text of the header as JSON; read_header() has refused what is not printable ASCII. */
static void print_json_text(const char *text, FILE *f)
{
	fputc('"', f);
	for (; *text; text++)
		fprintf(f, "%s%c", *text == '"' || *text == '\\' ? "\\" : "", *text);
	fputc('"', f);
}

/* ---- text ---- */

static void text_begin(const struct lat_stream *stream, FILE *f)
{
	fprintf(f, "# %s %s\n# %-10s %4s %10s %20s %14s flags\n", stream->instrument,
		stream->version, "point", "CPU", "number", "time (ns)", "latency (ns)");
}

static void text_record(const struct lat_stream *stream, const struct lat_sample *record, FILE *f)
{
	if (record->flags & LAT_SAMPLE_F_DROPPED) {
		fprintf(f, "# CPU %u: %lld records were lost here\n", record->cpu,
			(long long)record->latency_ns);
		return;
	}
	fprintf(f, "%-12s %4u %10" PRIu64 " %20" PRIu64 " %14" PRId64,
		lat_stream_point(stream, record->point), record->cpu, (uint64_t)record->seq,
		(uint64_t)record->time_ns, (int64_t)record->latency_ns);
	print_flags(record->flags, " ", "", "", f);
	fputc('\n', f);
}

static void text_end(const struct lat_stream_counts *counts, FILE *f)
{
	fprintf(f, "# %" PRIu64 " records, %" PRIu64 " lost\n", counts->records, counts->lost);
}

/* ---- csv ---- */

static void csv_begin(const struct lat_stream *stream, FILE *f)
{
	(void)stream;
	fputs("point,cpu,seq,time_ns,latency_ns,flags,lost\n", f);
}

static void csv_record(const struct lat_stream *stream, const struct lat_sample *record, FILE *f)
{
	if (record->flags & LAT_SAMPLE_F_DROPPED) {
		fprintf(f, ",%u,,,,,%lld\n", record->cpu, (long long)record->latency_ns);
		return;
	}
	fprintf(f, "%s,%u,%" PRIu64 ",%" PRIu64 ",%" PRId64 ",",
		lat_stream_point(stream, record->point), record->cpu, (uint64_t)record->seq,
		(uint64_t)record->time_ns, (int64_t)record->latency_ns);
	print_flags(record->flags, "", "", "+", f);
	fputs(",\n", f);
}

static void nothing_end(const struct lat_stream_counts *counts, FILE *f)
{
	(void)counts;
	(void)f;
}

/* ---- json lines ---- */

static void jsonl_begin(const struct lat_stream *stream, FILE *f)
{
	bool any = false;
	size_t i;

	fprintf(f, "{\"schema\":\"%s\",\"instrument\":", LAT_STREAM_SCHEMA);
	print_json_text(stream->instrument, f);
	fputs(",\"version\":", f);
	print_json_text(stream->version, f);
	fputs(",\"points\":[", f);
	for (i = 0; i < LAT_STREAM_POINTS; i++) {
		if (!stream->points[i])
			continue;
		fputs(any ? "," : "", f);
		print_json_text(stream->points[i], f);
		any = true;
	}
	fputs("]}\n", f);
}

static void jsonl_record(const struct lat_stream *stream, const struct lat_sample *record, FILE *f)
{
	if (record->flags & LAT_SAMPLE_F_DROPPED) {
		fprintf(f, "{\"cpu\":%u,\"lost\":%lld}\n", record->cpu,
			(long long)record->latency_ns);
		return;
	}
	fputs("{\"point\":", f);
	print_json_text(lat_stream_point(stream, record->point), f);
	fprintf(f, ",\"cpu\":%u,\"seq\":%" PRIu64 ",\"time_ns\":%" PRIu64 ",\"latency_ns\":%" PRId64
		",\"flags\":[", record->cpu, (uint64_t)record->seq, (uint64_t)record->time_ns,
		(int64_t)record->latency_ns);
	print_flags(record->flags, "\"", "\"", ",", f);
	fputs("]}\n", f);
}

static void jsonl_end(const struct lat_stream_counts *counts, FILE *f)
{
	fprintf(f, "{\"records\":%" PRIu64 ",\"lost\":%" PRIu64 "}\n", counts->records,
		counts->lost);
}

static const struct lat_decoder decoders[] = {
	{ "text", text_begin, text_record, text_end },
	{ "csv", csv_begin, csv_record, nothing_end },
	{ "jsonl", jsonl_begin, jsonl_record, jsonl_end },
};

const struct lat_decoder *lat_decoder_find(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(decoders); i++)
		if (!name || !strcmp(decoders[i].name, name))
			return &decoders[i];
	return NULL;
}

struct output {
	const struct lat_decoder *decoder;
	FILE *f;
};

static void print_record(const struct lat_stream *stream, const struct lat_sample *record,
			 void *context)
{
	const struct output *output = context;

	output->decoder->record(stream, record, output->f);
}

int lat_decode(const char *path, const struct lat_decoder *decoder, bool partial, FILE *f,
	       struct lat_stream_counts *counts, struct lat_error *err)
{
	struct output output = { .decoder = decoder, .f = f };
	bool is_stdin = !strcmp(path, "-");
	FILE *in = is_stdin ? stdin : fopen(path, "re");
	struct lat_stream stream = { 0 };
	int ret;

	*counts = (struct lat_stream_counts){ 0 };
	if (!in)
		return lat_fail(err, -errno, "%s: %s", path, strerror(errno));
	ret = lat_stream_read_header(in, path, partial, &stream, err);
	if (!ret) {
		decoder->begin(&stream, f);
		ret = lat_stream_read(in, path, partial, &stream, print_record, &output, counts,
				      err);
		decoder->end(counts, f);
	}
	lat_stream_free(&stream);
	if (!is_stdin)
		fclose(in);
	return ret;
}
