/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Following a session that somebody else has started.
 */
#ifndef LATKIT_WATCH_H
#define LATKIT_WATCH_H

#include "lib/print.h"

/**
 * lat_watch() - show a session that runs until it ends
 * @instrument: the module
 * @style: unit
 * @err: why not
 *
 * Asks over netlink once a second, from a CPU that is not measured where there is one; the session
 * is neither stopped nor slowed. SIGINT or SIGTERM end the watching, not the session.
 *
 * Return: 0 or negative errno
 */
int lat_watch(const char *instrument, const struct lat_style *style, struct lat_error *err);

#endif /* LATKIT_WATCH_H */
