/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The raw stream of an instrument in a file: a header that tells what is in it, the records as
 * /dev/<instrument> gives them, and an end record, so that a file that was cut is known to be.
 *
 * The header is text that ends at a multiple of a record's size: "latkit-stream/1 SIZE", a line
 * "key: value" for each of instrument, version, point (index and name; one for each point), order
 * (of bytes), then newlines up to SIZE bytes.
 */
#ifndef LATKIT_STREAM_H
#define LATKIT_STREAM_H

#include "lib/report.h"

#define LAT_STREAM_SCHEMA "latkit-stream/1"
#define LAT_STREAM_POINTS 16

/**
 * struct lat_stream - what a recorded stream says of itself
 * @instrument: the module
 * @version: its version
 * @points: names by index; NULL: there is no such point
 */
struct lat_stream {
	char *instrument;
	char *version;
	char *points[LAT_STREAM_POINTS];
};

/**
 * struct lat_stream_counts - what a stream comes to
 * @records: samples
 * @lost: samples that were dropped, as records among them tell
 */
struct lat_stream_counts {
	uint64_t records;
	uint64_t lost;
};

void lat_stream_free(struct lat_stream *stream);

/* A name for a record's point; "?" where the header has none. */
const char *lat_stream_point(const struct lat_stream *stream, unsigned int index);

/**
 * lat_stream_write_header() - begin a file
 * @stream: what it is of
 * @fd: the file
 *
 * Return: 0 or -errno
 */
int lat_stream_write_header(const struct lat_stream *stream, int fd);

/* Write all of it. Return: 0 or -errno. */
int lat_stream_write(int fd, const void *bytes, size_t size);

/* The end record. Return: 0 or -errno. */
int lat_stream_write_end(const struct lat_stream_counts *counts, int fd);

/* Add a batch of records to what was counted. */
void lat_stream_count(struct lat_stream_counts *counts, const struct lat_sample *records,
		      size_t n);

typedef void (*lat_stream_reader)(const struct lat_stream *stream,
				  const struct lat_sample *record, void *context);

/**
 * lat_stream_read_header() - read the header of a recorded stream
 * @f: the file, at its begin
 * @name: of the file, for messages
 * @partial: do not refuse a file that was cut
 * @stream: filled; freed by the caller in either case
 * @err: why the file is refused
 *
 * A regular file that is cut, or does not end with the end record, is refused here, before anything
 * of it is used.
 *
 * Return: 0 or negative errno
 */
int lat_stream_read_header(FILE *f, const char *name, bool partial, struct lat_stream *stream,
			   struct lat_error *err);

/**
 * lat_stream_read() - read the records behind a header
 * @f: the file
 * @name: of the file, for messages
 * @partial: do not refuse one that was cut
 * @stream: its header
 * @reader: called for each record
 * @context: handed to @reader
 * @counts: what there was
 * @err: why it ends early
 *
 * Return: 0 or negative errno
 */
int lat_stream_read(FILE *f, const char *name, bool partial, const struct lat_stream *stream,
		    lat_stream_reader reader, void *context, struct lat_stream_counts *counts,
		    struct lat_error *err);

#endif /* LATKIT_STREAM_H */
