// SPDX-License-Identifier: GPL-2.0-only
/*
 * PCI devices through libudev; the routes that would be cut through procfs.
 */
#include <dirent.h>
#include <errno.h>
#include <libsmartcols.h>
#include <libudev.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/device.h"

/* Offsets and bits of PCI configuration space. */
#define PCI_STATUS	0x06
#define PCI_STATUS_CAPS	0x10
#define PCI_CAPS	0x34
#define PCI_CAP_MSI	0x05
#define PCI_CAP_MSIX	0x11
#define IFF_UP_BIT	0x1
#define RTF_REJECT_BIT	0x200

static const struct family_row {
	unsigned int vendor;
	unsigned int device;
	const char *family;
} families[] = {
#define LAT_FAMILY(vendor, device, family) { vendor, device, family },
#include "lib/families.def"
#undef LAT_FAMILY
};

static const char *find_family(unsigned int vendor, unsigned int device)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(families); i++)
		if (families[i].vendor == vendor && families[i].device == device)
			return families[i].family;
	return NULL;
}

/* Vectors the device offers. An unprivileged reader sees 64 bytes: then they stay unknown. */
static void read_vectors(const char *syspath, struct lat_device *device)
{
	unsigned char config[256] = { 0 };
	char *path = lat_format("%s/config", syspath);
	FILE *f = fopen(path, "re");
	size_t n = f ? fread(config, 1, sizeof(config), f) : 0;
	unsigned int at, hops;

	if (f)
		fclose(f);
	free(path);
	if (n < sizeof(config) || !(config[PCI_STATUS] & PCI_STATUS_CAPS))
		return;
	at = config[PCI_CAPS] & 0xfc;
	for (hops = 0; at >= 0x40 && hops < 48; hops++) {
		unsigned int control = config[at + 2] | config[at + 3] << 8;

		if (config[at] == PCI_CAP_MSI)
			device->msi = 1U << (control >> 1 & 7);
		if (config[at] == PCI_CAP_MSIX)
			device->msix = (control & 0x7ff) + 1;
		at = config[at + 1] & 0xfc;
	}
}

static bool has_ipv4_default(const char *netdev)
{
	char *routes = lat_read_file("/proc/net/route"), *rest = routes, *line;
	bool found = false;

	while (!found && (line = strsep(&rest, "\n"))) {
		unsigned int destination, gateway, flags, mask;
		char name[64];

		found = sscanf(line, "%63s %x %x %x %*d %*d %*d %x", name, &destination, &gateway,
			       &flags, &mask) == 5 && !strcmp(name, netdev) && !destination &&
			!mask && !(flags & RTF_REJECT_BIT);
	}
	free(routes);
	return found;
}

static bool has_ipv6_default(const char *netdev)
{
	char *routes = lat_read_file("/proc/net/ipv6_route"), *rest = routes, *line;
	bool found = false;

	while (!found && (line = strsep(&rest, "\n"))) {
		unsigned int length, flags;
		char destination[33], name[64];

		found = sscanf(line, "%32s %x %*s %*x %*s %*x %*x %*x %x %63s", destination,
			       &length, &flags, name) == 4 && !strcmp(name, netdev) && !length &&
			strspn(destination, "0") == 32 && !(flags & RTF_REJECT_BIT);
	}
	free(routes);
	return found;
}

/* Through it, or through a bridge, bond or VLAN on top of it. */
static bool has_default_route(const char *netdev, int depth)
{
	char *path = lat_format("/sys/class/net/%s", netdev);
	DIR *directory = opendir(path);
	struct dirent *entry;
	bool found = has_ipv4_default(netdev) || has_ipv6_default(netdev);

	free(path);
	while (directory && !found && depth < 8 && (entry = readdir(directory)))
		if (!strncmp(entry->d_name, "upper_", 6))
			found = has_default_route(entry->d_name + 6, depth + 1);
	if (directory)
		closedir(directory);
	return found;
}

static void read_netdevs(struct udev *udev, struct udev_device *parent, struct lat_device *device)
{
	struct udev_enumerate *list = udev_enumerate_new(udev);
	struct udev_list_entry *entry;

	udev_enumerate_add_match_parent(list, parent);
	udev_enumerate_add_match_subsystem(list, "net");
	udev_enumerate_scan_devices(list);
	udev_list_entry_foreach(entry, udev_enumerate_get_list_entry(list)) {
		struct udev_device *net =
			udev_device_new_from_syspath(udev, udev_list_entry_get_name(entry));
		const char *flags = net ? udev_device_get_sysattr_value(net, "flags") : NULL;

		if (flags && strtoul(flags, NULL, 0) & IFF_UP_BIT) {
			const char *name = udev_device_get_sysname(net);

			if (!device->netdev)
				device->netdev = lat_strdup(name);
			if (has_default_route(name, 0))
				device->default_route = true;
		}
		udev_device_unref(net);
	}
	udev_enumerate_unref(list);
}

static unsigned int hex_attr(struct udev_device *dev, const char *name)
{
	const char *text = udev_device_get_sysattr_value(dev, name);

	return text ? strtoul(text, NULL, 16) : 0;
}

static void read_device(struct udev *udev, struct udev_device *dev, struct lat_device *device)
{
	const char *driver = udev_device_get_driver(dev);
	const char *override = udev_device_get_sysattr_value(dev, "driver_override");
	const char *node = udev_device_get_sysattr_value(dev, "numa_node");
	const char *name = udev_device_get_property_value(dev, "ID_MODEL_FROM_DATABASE");

	*device = (struct lat_device){
		.vendor = hex_attr(dev, "vendor"),
		.device = hex_attr(dev, "device"),
		.driver = driver ? lat_strdup(driver) : NULL,
		.node = node ? atoi(node) : -1,
	};
	snprintf(device->bdf, sizeof(device->bdf), "%s", udev_device_get_sysname(dev));
	if (override && *override && strcmp(override, "(null)"))
		device->override = lat_strdup(override);
	device->name = name ? lat_strdup(name) :
		lat_format("%04x:%04x", device->vendor, device->device);
	device->family = find_family(device->vendor, device->device);
	read_vectors(udev_device_get_syspath(dev), device);
	read_netdevs(udev, dev, device);
}

int lat_device_get(const char *bdf, struct lat_device *device, struct lat_error *err)
{
	struct udev *udev = udev_new();
	struct udev_device *dev = udev ?
		udev_device_new_from_subsystem_sysname(udev, "pci", bdf) : NULL;

	*device = (struct lat_device){ .node = -1 };
	if (dev)
		read_device(udev, dev, device);
	udev_device_unref(dev);
	udev_unref(udev);
	return dev ? 0 : lat_fail(err, -ENODEV, "%s: there is no such PCI device; see --list", bdf);
}

void lat_device_free(struct lat_device *device)
{
	free(device->name);
	free(device->driver);
	free(device->override);
	free(device->netdev);
	*device = (struct lat_device){ .node = -1 };
}

static int by_bdf(const void *a, const void *b)
{
	return strcmp(((const struct lat_device *)a)->bdf, ((const struct lat_device *)b)->bdf);
}

int lat_devices_list(struct lat_devices *devices, struct lat_error *err)
{
	struct udev *udev = udev_new();
	struct udev_enumerate *list = udev ? udev_enumerate_new(udev) : NULL;
	struct udev_list_entry *entry;

	*devices = (struct lat_devices){ 0 };
	if (!list) {
		udev_unref(udev);
		return lat_fail(err, -ENOMEM, "cannot list the PCI devices");
	}
	udev_enumerate_add_match_subsystem(list, "pci");
	udev_enumerate_scan_devices(list);
	udev_list_entry_foreach(entry, udev_enumerate_get_list_entry(list)) {
		struct udev_device *dev =
			udev_device_new_from_syspath(udev, udev_list_entry_get_name(entry));

		if (dev && find_family(hex_attr(dev, "vendor"), hex_attr(dev, "device"))) {
			devices->rows = lat_grow(devices->rows, devices->n, sizeof(*devices->rows));
			read_device(udev, dev, &devices->rows[devices->n++]);
		}
		udev_device_unref(dev);
	}
	udev_enumerate_unref(list);
	udev_unref(udev);
	if (devices->n)
		qsort(devices->rows, devices->n, sizeof(*devices->rows), by_bdf);
	return 0;
}

void lat_devices_free(struct lat_devices *devices)
{
	size_t i;

	for (i = 0; i < devices->n; i++)
		lat_device_free(&devices->rows[i]);
	free(devices->rows);
	*devices = (struct lat_devices){ 0 };
}

char *lat_device_driver(const char *bdf)
{
	char *path = lat_format("/sys/bus/pci/devices/%s/driver", bdf), target[512];
	ssize_t n = readlink(path, target, sizeof(target) - 1);

	free(path);
	if (n < 0)
		return NULL;
	target[n] = 0;
	return lat_strdup(strrchr(target, '/') ? strrchr(target, '/') + 1 : target);
}

static void vectors_text(const struct lat_device *device, char *text, size_t size)
{
	if (device->msi && device->msix)
		snprintf(text, size, "msi:%u msix:%u", device->msi, device->msix);
	else if (device->msi || device->msix)
		snprintf(text, size, "%s:%u", device->msi ? "msi" : "msix",
			 device->msi ? device->msi : device->msix);
	else
		snprintf(text, size, "-");
}

void lat_devices_print(const struct lat_devices *devices, FILE *f)
{
	static const char * const columns[] = {
		"DEVICE", "NAME", "FAMILY", "DRIVER", "VECTORS", "NODE", "NETWORK",
	};
	struct libscols_table *table = scols_new_table();
	size_t i;

	for (i = 0; table && i < ARRAY_SIZE(columns); i++)
		scols_table_new_column(table, columns[i], 0, 0);
	for (i = 0; table && i < devices->n; i++) {
		const struct lat_device *device = &devices->rows[i];
		struct libscols_line *line = scols_table_new_line(table, NULL);
		char text[64];

		scols_line_set_data(line, 0, device->bdf);
		scols_line_set_data(line, 1, device->name);
		scols_line_set_data(line, 2, device->family);
		scols_line_set_data(line, 3, device->driver ? device->driver : "-");
		vectors_text(device, text, sizeof(text));
		scols_line_set_data(line, 4, text);
		snprintf(text, sizeof(text), "%d", device->node);
		scols_line_set_data(line, 5, device->node < 0 ? "-" : text);
		snprintf(text, sizeof(text), "%s%s", device->netdev ? device->netdev : "-",
			 device->default_route ? " (default route)" : "");
		scols_line_set_data(line, 6, text);
	}
	if (table) {
		scols_table_set_stream(table, f);
		scols_table_set_termforce(table, SCOLS_TERMFORCE_NEVER);
		scols_print_table(table);
	}
	scols_unref_table(table);
}
