/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * PCI devices as an instrument sees them: which can be measured, who drives them now, and what
 * would be lost if they were taken away.
 */
#ifndef LATKIT_DEVICE_H
#define LATKIT_DEVICE_H

#include "lib/util.h"

#define LAT_BDF_SIZE 24

/**
 * struct lat_device - one PCI device
 * @bdf: its address, 0000:00:04.0
 * @vendor: PCI vendor id
 * @device: PCI device id
 * @name: from the hardware database, else vendor:device
 * @family: how its interrupts are raised (lib/families.def); NULL: not known to this version
 * @driver: bound driver; NULL: none
 * @override: driver_override; NULL: none
 * @node: NUMA node; -1: none
 * @msi: MSI vectors; 0: none or unknown
 * @msix: MSI-X vectors; 0: none or unknown
 * @netdev: a network interface of it that is up; NULL: none is
 * @default_route: the default route goes through it
 */
struct lat_device {
	char bdf[LAT_BDF_SIZE];
	unsigned int vendor;
	unsigned int device;
	char *name;
	const char *family;
	char *driver;
	char *override;
	int node;
	unsigned int msi;
	unsigned int msix;
	char *netdev;
	bool default_route;
};

struct lat_devices {
	struct lat_device *rows;
	size_t n;
};

/**
 * lat_device_get() - look at one device
 * @bdf: its address
 * @device: filled; lat_device_free() in either case
 * @err: why not
 *
 * Return: 0 or -ENODEV
 */
int lat_device_get(const char *bdf, struct lat_device *device, struct lat_error *err);
void lat_device_free(struct lat_device *device);

/* All devices of a known family, by address. Return: 0 or negative errno. */
int lat_devices_list(struct lat_devices *devices, struct lat_error *err);
void lat_devices_free(struct lat_devices *devices);

/* Name of the driver a device is bound to now, to be freed; NULL: none. */
char *lat_device_driver(const char *bdf);

/* The table of lat_devices_list(), for people. */
void lat_devices_print(const struct lat_devices *devices, FILE *f);

#endif /* LATKIT_DEVICE_H */
