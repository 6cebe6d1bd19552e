// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writing and reading recorded streams. Nothing here knows the kernel: a reader of files needs the
 * layout of a record and this header only.
 */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/parse.h"
#include "lib/stream.h"

#define RECORD		sizeof(struct lat_sample)
#define HEADER_MAX	4096
#define BATCH		1024

/* The end record is the only one with this point; no sample has a number of 0. */
#define END_POINT	0xffff

#if __BYTE_ORDER == __LITTLE_ENDIAN
#define BYTE_ORDER_NAME "little"
#else
#define BYTE_ORDER_NAME "big"
#endif

void lat_stream_free(struct lat_stream *stream)
{
	size_t i;

	free(stream->instrument);
	free(stream->version);
	for (i = 0; i < LAT_STREAM_POINTS; i++)
		free(stream->points[i]);
	*stream = (struct lat_stream){ 0 };
}

const char *lat_stream_point(const struct lat_stream *stream, unsigned int index)
{
	return index < LAT_STREAM_POINTS && stream->points[index] ? stream->points[index] : "?";
}

/* ---- writing ---- */

int lat_stream_write(int fd, const void *bytes, size_t size)
{
	const char *p = bytes;

	while (size) {
		ssize_t n = write(fd, p, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		p += n;
		size -= n;
	}
	return 0;
}

int lat_stream_write_header(const struct lat_stream *stream, int fd)
{
	char *text = lat_format("instrument: %s\nversion: %s\norder: %s\n", stream->instrument,
				stream->version, BYTE_ORDER_NAME);
	char *all, *first;
	size_t i, size;
	int ret;

	for (i = 0; i < LAT_STREAM_POINTS; i++) {
		char *longer;

		if (!stream->points[i])
			continue;
		longer = lat_format("%spoint: %zu %s\n", text, i, stream->points[i]);
		free(text);
		text = longer;
	}
	/* The first line has the length of a record, so that a reader can take it alone. */
	size = (RECORD + strlen(text) + RECORD - 1) / RECORD * RECORD;
	first = lat_format("%s %-*zu\n", LAT_STREAM_SCHEMA,
			   (int)(RECORD - strlen(LAT_STREAM_SCHEMA) - 2), size);
	all = lat_alloc(size, 1);
	memset(all, '\n', size);
	memcpy(all, first, RECORD);
	memcpy(all + RECORD, text, strlen(text));
	ret = lat_stream_write(fd, all, size);
	free(all);
	free(first);
	free(text);
	return ret;
}

int lat_stream_write_end(const struct lat_stream_counts *counts, int fd)
{
	const struct lat_sample end = {
		.time_ns = counts->lost,
		.latency_ns = (int64_t)counts->records,
		.point = END_POINT,
	};

	return lat_stream_write(fd, &end, sizeof(end));
}

void lat_stream_count(struct lat_stream_counts *counts, const struct lat_sample *records,
		      size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (records[i].flags & LAT_SAMPLE_F_DROPPED)
			counts->lost += records[i].latency_ns > 0 ? records[i].latency_ns : 0;
		else
			counts->records++;
	}
}

/* ---- reading ---- */

static bool is_end(const struct lat_sample *record)
{
	return record->point == END_POINT && !record->seq;
}

static int refuse_cut(const char *name, struct lat_error *err)
{
	return lat_fail(err, -EINVAL, "%s: is cut: the end record is missing; %s", name,
			"--partial takes what is there");
}

static int read_size(const char first[RECORD + 1], size_t *size)
{
	size_t schema = strlen(LAT_STREAM_SCHEMA);
	unsigned long long value;
	char digits[RECORD + 1];
	size_t n;

	if (strncmp(first, LAT_STREAM_SCHEMA " ", schema + 1) || first[RECORD - 1] != '\n')
		return -EINVAL;
	n = strspn(first + schema + 1, "0123456789");
	memcpy(digits, first + schema + 1, n);
	digits[n] = 0;
	if (lat_parse_u64(digits, &value) != LAT_PARSE_OK || value < 2 * RECORD ||
	    value > HEADER_MAX || value % RECORD)
		return -EINVAL;
	*size = value;
	return 0;
}

static int take_point(struct lat_stream *stream, const char *value)
{
	unsigned long long index = LAT_STREAM_POINTS;
	const char *p = value;

	if (lat_parse_digits(&p, 10, &index) != LAT_PARSE_OK || index >= LAT_STREAM_POINTS ||
	    *p != ' ' || !p[1] || stream->points[index])
		return -EINVAL;
	stream->points[index] = lat_strdup(p + 1);
	return 0;
}

/* A line of the header; keys that are not known are passed over. */
static int take_line(struct lat_stream *stream, char *line, const char *name,
		     struct lat_error *err)
{
	char *value = strstr(line, ": "), *p;

	for (p = line; *p; p++)
		if ((unsigned char)*p < ' ' || (unsigned char)*p > '~')
			value = NULL;
	if (!value)
		return lat_fail(err, -EINVAL, "%s: its header is broken", name);
	*value = 0;
	value += 2;
	if (!strcmp(line, "order") && strcmp(value, BYTE_ORDER_NAME))
		return lat_fail(err, -EINVAL, "%s: was recorded with the other order of bytes (%s)",
				name, value);
	if (!strcmp(line, "point") && take_point(stream, value))
		return lat_fail(err, -EINVAL, "%s: its header has a broken point '%s'", name,
				value);
	if (!strcmp(line, "instrument") && !stream->instrument)
		stream->instrument = lat_strdup(value);
	if (!strcmp(line, "version") && !stream->version)
		stream->version = lat_strdup(value);
	return 0;
}

/* What a regular file tells before it is read: whether it ends as it should. */
static int check_end(FILE *f, const char *name, size_t header, struct lat_error *err)
{
	struct lat_sample last;
	struct stat st;

	if (fstat(fileno(f), &st) || !S_ISREG(st.st_mode))
		return 0;
	if (((uint64_t)st.st_size - header) % RECORD)
		return lat_fail(err, -EINVAL, "%s: is cut: it ends inside a record; %s", name,
				"--partial takes what is there");
	if ((uint64_t)st.st_size < header + RECORD ||
	    pread(fileno(f), &last, RECORD, (off_t)((uint64_t)st.st_size - RECORD)) != RECORD ||
	    !is_end(&last))
		return refuse_cut(name, err);
	return 0;
}

static int read_lines(FILE *f, const char *name, size_t size, struct lat_stream *stream,
		      struct lat_error *err)
{
	char text[HEADER_MAX + 1], *rest = text, *line;
	int ret = 0;

	if (fread(text, 1, size, f) != size || memchr(text, 0, size))
		return lat_fail(err, -EINVAL, "%s: its header is cut or broken", name);
	text[size] = 0;
	while (!ret && (line = strsep(&rest, "\n")))
		if (*line)
			ret = take_line(stream, line, name, err);
	if (!ret && (!stream->instrument || !stream->version))
		ret = lat_fail(err, -EINVAL, "%s: its header lacks instrument or version", name);
	return ret;
}

int lat_stream_read_header(FILE *f, const char *name, bool partial, struct lat_stream *stream,
			   struct lat_error *err)
{
	char first[RECORD + 1] = "";
	size_t size = 0;
	int ret;

	*stream = (struct lat_stream){ 0 };
	errno = 0;
	if (fread(first, 1, RECORD, f) != RECORD && ferror(f))
		return lat_fail(err, errno ? -errno : -EIO, "%s: %s", name, strerror(errno));
	if (!strncmp(first, "latkit-stream/", 14) &&
	    strncmp(first, LAT_STREAM_SCHEMA " ", strlen(LAT_STREAM_SCHEMA) + 1))
		return lat_fail(err, -EINVAL, "%s: its format is '%.*s', this program knows %s",
				name, (int)strcspn(first, "\n "), first, LAT_STREAM_SCHEMA);
	if (read_size(first, &size))
		return lat_fail(err, -EINVAL, "%s: is not a stream written by latkit record", name);
	ret = read_lines(f, name, size - RECORD, stream, err);
	if (!ret && !partial)
		ret = check_end(f, name, size, err);
	return ret;
}

/* A record of no CPU or of no known point was never written by an instrument. */
static int check_record(const struct lat_stream *stream, const struct lat_sample *record,
			uint64_t number, const char *name, struct lat_error *err)
{
	bool dropped = record->flags & LAT_SAMPLE_F_DROPPED;

	if (record->cpu <= 0xffff &&
	    (dropped ? record->latency_ns > 0 : record->seq &&
	     record->point < LAT_STREAM_POINTS && stream->points[record->point]))
		return 0;
	return lat_fail(err, -EINVAL, "%s: record %llu cannot be: CPU %u, point %u, number %llu",
			name, (unsigned long long)number, record->cpu, record->point,
			(unsigned long long)record->seq);
}

int lat_stream_read(FILE *f, const char *name, bool partial, const struct lat_stream *stream,
		    lat_stream_reader reader, void *context, struct lat_stream_counts *counts,
		    struct lat_error *err)
{
	struct lat_sample *batch = lat_alloc(BATCH, RECORD);
	struct lat_sample end = { 0 };
	uint64_t number = 0;
	bool ended = false;
	size_t bytes, i;
	int ret = 0;

	*counts = (struct lat_stream_counts){ 0 };
	do {
		bytes = fread(batch, 1, BATCH * RECORD, f);
		for (i = 0; !ret && i < bytes / RECORD; i++) {
			if (ended)
				ret = lat_fail(err, -EINVAL, "%s: goes on behind its end", name);
			if (is_end(&batch[i])) {
				end = batch[i];
				ended = true;
				continue;
			}
			if (ret)
				break;
			ret = check_record(stream, &batch[i], ++number, name, err);
			if (ret)
				break;
			lat_stream_count(counts, &batch[i], 1);
			reader(stream, &batch[i], context);
		}
	} while (!ret && bytes == BATCH * RECORD);
	if (!ret && ferror(f))
		ret = lat_fail(err, -EIO, "%s: cannot be read", name);
	if (!ret && !partial && (bytes % RECORD || !ended))
		ret = refuse_cut(name, err);
	if (!ret && ended && ((uint64_t)end.latency_ns != counts->records ||
			      end.time_ns != counts->lost))
		ret = lat_fail(err, -EINVAL,
			       "%s: its end record counts %lld records, %llu lost, there are others",
			       name, (long long)end.latency_ns, (unsigned long long)end.time_ns);
	free(batch);
	return ret;
}
