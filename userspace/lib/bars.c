// SPDX-License-Identifier: GPL-2.0-only
/*
 * Devices through libudev, BARs through the file `resource` of each: "START END FLAGS" a line, the
 * first six are the BARs.
 */
#include <errno.h>
#include <inttypes.h>
#include <libsmartcols.h>
#include <libudev.h>
#include <stdlib.h>
#include <string.h>

#include "lib/bars.h"

#define BARS 6
/* Flags of a resource (linux/ioport.h). */
#define IORESOURCE_IO		0x00000100
#define IORESOURCE_MEM		0x00000200
#define IORESOURCE_PREFETCH	0x00002000
#define IORESOURCE_MEM_64	0x00100000
#define IORESOURCE_UNSET	0x20000000

enum { DEVICE, NAME, DRIVER, BAR, ADDRESS, SIZE, KIND, COLUMNS };

static const char * const columns[COLUMNS] = {
	"DEVICE", "NAME", "DRIVER", "BAR", "ADDRESS", "SIZE", "KIND",
};

static void print_size(uint64_t size, char *text, size_t room)
{
	static const char units[] = "BKMGTPE";
	size_t unit = 0;

	while (size && size % 1024 == 0 && units[unit + 1]) {
		size /= 1024;
		unit++;
	}
	snprintf(text, room, "%" PRIu64 "%c", size, units[unit]);
}

/* What it is, and with it whether it can be measured. */
static void print_kind(uint64_t start, uint64_t flags, char *text, size_t room)
{
	if (flags & IORESOURCE_IO)
		snprintf(text, room, "I/O ports");
	else if (!start || flags & IORESOURCE_UNSET)
		snprintf(text, room, "no address");
	else
		snprintf(text, room, "%s-bit%s", flags & IORESOURCE_MEM_64 ? "64" : "32",
			 flags & IORESOURCE_PREFETCH ? " prefetchable" : "");
}

static void add_bar(struct libscols_table *table, struct udev_device *device, int bar,
		    const uint64_t resource[3])
{
	const char *name = udev_device_get_property_value(device, "ID_MODEL_FROM_DATABASE");
	const char *driver = udev_device_get_driver(device);
	struct libscols_line *line = scols_table_new_line(table, NULL);
	char text[64];

	scols_line_set_data(line, DEVICE, udev_device_get_sysname(device));
	snprintf(text, sizeof(text), "%s:%s", udev_device_get_sysattr_value(device, "vendor") + 2,
		 udev_device_get_sysattr_value(device, "device") + 2);
	scols_line_set_data(line, NAME, name ? name : text);
	scols_line_set_data(line, DRIVER, driver ? driver : "-");
	snprintf(text, sizeof(text), "%d", bar);
	scols_line_set_data(line, BAR, text);
	snprintf(text, sizeof(text), "0x%" PRIx64, resource[0]);
	scols_line_set_data(line, ADDRESS, text);
	print_size(resource[1] - resource[0] + 1, text, sizeof(text));
	scols_line_set_data(line, SIZE, text);
	print_kind(resource[0], resource[2], text, sizeof(text));
	scols_line_set_data(line, KIND, text);
}

/* Return: how many BARs the device has. */
static int add_bars(struct libscols_table *table, struct udev_device *device)
{
	char *text = lat_read_file("%s/resource", udev_device_get_syspath(device));
	char *rest = text, *line;
	int bar, n = 0;

	for (bar = 0; bar < BARS && (line = strsep(&rest, "\n")); bar++) {
		uint64_t resource[3];

		if (sscanf(line, "%" SCNx64 " %" SCNx64 " %" SCNx64, &resource[0], &resource[1],
			   &resource[2]) != 3 ||
		    !(resource[2] & (IORESOURCE_IO | IORESOURCE_MEM)))
			continue;
		add_bar(table, device, bar, resource);
		n++;
	}
	free(text);
	return n;
}

int lat_bars_print(FILE *f, struct lat_error *err)
{
	struct udev *udev = udev_new();
	struct udev_enumerate *list = udev ? udev_enumerate_new(udev) : NULL;
	struct libscols_table *table = scols_new_table();
	struct udev_list_entry *entry;
	int i, n = 0;

	if (!list || !table) {
		n = lat_fail(err, -ENOMEM, "cannot list the PCI devices");
		goto out;
	}
	for (i = 0; i < COLUMNS; i++)
		scols_table_new_column(table, columns[i], 0,
				       i == ADDRESS || i == SIZE ? SCOLS_FL_RIGHT : 0);
	udev_enumerate_add_match_subsystem(list, "pci");
	/* Sorted by their paths, which end in their addresses. */
	udev_enumerate_scan_devices(list);
	udev_list_entry_foreach(entry, udev_enumerate_get_list_entry(list)) {
		struct udev_device *device =
			udev_device_new_from_syspath(udev, udev_list_entry_get_name(entry));

		if (device)
			n += add_bars(table, device);
		udev_device_unref(device);
	}
	scols_table_set_stream(table, f);
	scols_table_set_termforce(table, SCOLS_TERMFORCE_NEVER);
	if (n)
		scols_print_table(table);
out:
	scols_unref_table(table);
	udev_enumerate_unref(list);
	udev_unref(udev);
	return n;
}
