/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From /dev/<instrument> into a file, without a look at what is in the records.
 */
#ifndef LATKIT_RECORD_H
#define LATKIT_RECORD_H

#include "lib/stream.h"

/**
 * lat_record() - record the raw stream of an instrument
 * @instrument: the module
 * @path: file to write; NULL or "-": standard output
 * @duration_ns: end after this time; 0: only with the session or by SIGINT or SIGTERM
 * @counts: what was recorded
 * @err: why not
 *
 * Waits for a session where none runs. What was recorded before an error stays in the file, which
 * then has no end record.
 *
 * Return: 0 or negative errno
 */
int lat_record(const char *instrument, const char *path, uint64_t duration_ns,
	       struct lat_stream_counts *counts, struct lat_error *err);

#endif /* LATKIT_RECORD_H */
