/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * SIGINT, SIGTERM and SIGHUP as a file descriptor: nothing is interrupted, and whoever waits asks
 * how often it was told to stop. The first means stop and print, the second drop.
 */
#ifndef LATKIT_SIGNALS_H
#define LATKIT_SIGNALS_H

#include "lib/util.h"

/**
 * struct lat_signals - signals seen so far
 * @fd: readable when one has come
 * @count: how many
 */
struct lat_signals {
	int fd;
	unsigned int count;
};

/* Caught even when inherited as ignored, but for SIGHUP: nohup means it. Return: 0 or -errno. */
int lat_signals_init(struct lat_signals *signals);
void lat_signals_exit(struct lat_signals *signals);

/* How many have come; does not wait. */
unsigned int lat_signals_count(struct lat_signals *signals);

#endif /* LATKIT_SIGNALS_H */
