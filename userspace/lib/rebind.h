/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Taking a device from its driver and giving it back. What has to be put back is written down, in
 * /run/latkit/rebind/<BDF>, before anything is touched, and removed after it was put back; while
 * the tool lives it holds a lock on that file, so that whoever finds it unlocked knows its owner
 * died.
 */
#ifndef LATKIT_REBIND_H
#define LATKIT_REBIND_H

#include "lib/device.h"

/**
 * struct lat_rebind - a device that was taken
 * @bdf: its address
 * @module: instrument that has it
 * @driver: driver it had before; NULL: none
 * @override: driver_override it had before; NULL: none
 * @pid: process that took it
 * @fd: the locked state file; -1: nothing is taken
 */
struct lat_rebind {
	char bdf[LAT_BDF_SIZE];
	char *module;
	char *driver;
	char *override;
	long pid;
	int fd;
};

#define LAT_REBIND_NONE { .fd = -1 }

/**
 * lat_rebind_take() - bind a device to an instrument's driver
 * @device: the device as it is now
 * @module: the instrument; its module is loaded and its parameter ``device`` names the device
 * @may_rebind: it may be taken from another driver
 * @force: 1: even with a network interface that is up; 2: even with the default route
 * @rebind: filled; lat_rebind_give_back() in either case
 * @err: why not, and the way out
 *
 * On failure the device has its old driver again.
 *
 * Return: 0 or negative errno
 */
int lat_rebind_take(const struct lat_device *device, const char *module, bool may_rebind,
		    unsigned int force, struct lat_rebind *rebind, struct lat_error *err);

/**
 * lat_rebind_give_back() - put the old driver back
 * @rebind: what was taken; nothing: 0
 * @err: what did not work; the state file then stays
 *
 * Return: 0 or negative errno
 */
int lat_rebind_give_back(struct lat_rebind *rebind, struct lat_error *err);

/**
 * lat_rebind_restore() - give back what runs that were killed have taken
 * @bdf: only this device; NULL: all of them
 * @stop: stops a session of that module and makes it forget the device
 * @err: what did not work
 *
 * Return: number of devices given back, or negative errno
 */
int lat_rebind_restore(const char *bdf, int (*stop)(const char *module, struct lat_error *err),
		       struct lat_error *err);

/**
 * lat_lock_instrument() - be the only tool of an instrument
 * @module: the instrument
 * @err: who has it
 *
 * Return: a descriptor to be closed, or negative errno
 */
int lat_lock_instrument(const char *module, struct lat_error *err);

#endif /* LATKIT_REBIND_H */
