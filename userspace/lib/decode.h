/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A recorded stream as text, one line a record.
 */
#ifndef LATKIT_DECODE_H
#define LATKIT_DECODE_H

#include "lib/stream.h"

/**
 * struct lat_decoder - one form of text
 * @name: for --format
 * @begin: prints what stands before the records
 * @record: prints one; one that tells of a loss as such
 * @end: prints what stands behind them
 */
struct lat_decoder {
	const char *name;
	void (*begin)(const struct lat_stream *stream, FILE *f);
	void (*record)(const struct lat_stream *stream, const struct lat_sample *record, FILE *f);
	void (*end)(const struct lat_stream_counts *counts, FILE *f);
};

/* NULL: the first one, text. Return: NULL if there is none of that name. */
const struct lat_decoder *lat_decoder_find(const char *name);

/**
 * lat_decode() - print a recorded stream
 * @path: the file; "-": standard input
 * @decoder: how
 * @partial: print what is there of a file that was cut
 * @f: where to
 * @counts: what there was
 * @err: why not
 *
 * Return: 0 or negative errno
 */
int lat_decode(const char *path, const struct lat_decoder *decoder, bool partial, FILE *f,
	       struct lat_stream_counts *counts, struct lat_error *err);

#endif /* LATKIT_DECODE_H */
