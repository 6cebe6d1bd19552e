// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rebinding through sysfs, and the state that survives a tool that is killed in between. Each step
 * can be done again, so giving back works from wherever a dead run has stopped.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/rebind.h"

#define STATE_HEAD "latkit-rebind 1"

static const char *run_directory(void)
{
	const char *directory = getenv("LATKIT_RUN");

	return directory && *directory ? directory : "/run/latkit";
}

static char *state_path(const char *bdf)
{
	return lat_format("%s/rebind/%s", run_directory(), bdf);
}

static int make_directories(struct lat_error *err)
{
	char *rebind = lat_format("%s/rebind", run_directory());
	int ret = 0;

	if ((mkdir(run_directory(), 0755) && errno != EEXIST) ||
	    (mkdir(rebind, 0755) && errno != EEXIST)) {
		ret = -errno;
		lat_fail(err, ret, "%s: cannot be made: %s", rebind, strerror(-ret));
	}
	free(rebind);
	return ret;
}

/* ---- the state file ---- */

static bool is_name(const char *text)
{
	if (!*text || *text == '.')
		return false;
	for (; *text; text++)
		if (!isalnum((unsigned char)*text) && !strchr("_-.:", *text))
			return false;
	return true;
}

static void forget(struct lat_rebind *rebind)
{
	free(rebind->module);
	free(rebind->driver);
	free(rebind->override);
	if (rebind->fd >= 0)
		close(rebind->fd);
	*rebind = (struct lat_rebind)LAT_REBIND_NONE;
}

/* Open and lock the state of a device. -EBUSY: its owner lives; -ENOENT: there is none. */
static int state_open(const char *bdf, struct lat_rebind *rebind, struct lat_error *err)
{
	static const struct key_row {
		const char *key;
		size_t offset;
	} keys[] = {
		{ "module ", offsetof(struct lat_rebind, module) },
		{ "driver ", offsetof(struct lat_rebind, driver) },
		{ "override ", offsetof(struct lat_rebind, override) },
	};
	char *path = state_path(bdf), *text, *rest, *line;
	bool good, locked;
	size_t i;

	*rebind = (struct lat_rebind)LAT_REBIND_NONE;
	snprintf(rebind->bdf, sizeof(rebind->bdf), "%s", bdf);
	rebind->fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	if (rebind->fd < 0) {
		int ret = -errno;

		lat_fail(err, ret, "%s: %s", path, strerror(-ret));
		free(path);
		return ret;
	}
	locked = !flock(rebind->fd, LOCK_EX | LOCK_NB);
	text = lat_read_file("%s", path);
	rest = text;
	line = strsep(&rest, "\n");
	good = line && !strcmp(line, STATE_HEAD);
	while (good && (line = strsep(&rest, "\n"))) {
		for (i = 0; i < ARRAY_SIZE(keys); i++) {
			char **field = (char **)((char *)rebind + keys[i].offset);
			size_t n = strlen(keys[i].key);

			if (strncmp(line, keys[i].key, n) || *field || !strcmp(line + n, "-"))
				continue;
			good = is_name(line + n);
			*field = lat_strdup(line + n);
		}
		if (!strncmp(line, "pid ", 4))
			rebind->pid = atol(line + 4);
	}
	free(text);
	good = good && rebind->module;
	if (!locked)
		lat_fail(err, 0, "%s: in use by process %ld, which is alive", bdf, rebind->pid);
	else if (!good)
		lat_fail(err, 0, "%s: not a state this version can read; nothing was done", path);
	free(path);
	if (locked && good)
		return 0;
	forget(rebind);
	return locked ? -EINVAL : -EBUSY;
}

/* Write it beside its name, lock it, make it durable, then give it its name. */
static int state_write(struct lat_rebind *rebind, struct lat_error *err)
{
	char *path = state_path(rebind->bdf), *temporary = lat_format("%s.%ld", path, rebind->pid);
	char *text = lat_format(STATE_HEAD "\nmodule %s\ndriver %s\noverride %s\npid %ld\n",
				rebind->module, rebind->driver ? rebind->driver : "-",
				rebind->override ? rebind->override : "-", rebind->pid);
	ssize_t length = (ssize_t)strlen(text);
	int ret = 0;

	rebind->fd = open(temporary, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (rebind->fd < 0 || flock(rebind->fd, LOCK_EX | LOCK_NB) ||
	    write(rebind->fd, text, length) != length || fsync(rebind->fd) ||
	    rename(temporary, path)) {
		ret = errno ? -errno : -EIO;
		lat_fail(err, ret, "%s: cannot be written: %s; the device was not touched", path,
			 strerror(-ret));
		unlink(temporary);
		if (rebind->fd >= 0)
			close(rebind->fd);
		rebind->fd = -1;
	}
	free(text);
	free(temporary);
	free(path);
	return ret;
}

static void state_remove(struct lat_rebind *rebind)
{
	char *path = state_path(rebind->bdf);

	unlink(path);
	free(path);
	forget(rebind);
}

/* ---- sysfs ---- */

static int write_bdf(const char *bdf, const char *text, struct lat_error *err, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* Write into a file of the PCI bus; @fmt makes its path. */
static int write_bdf(const char *bdf, const char *text, struct lat_error *err, const char *fmt, ...)
{
	char path[256];
	va_list args;
	int ret;

	va_start(args, fmt);
	vsnprintf(path, sizeof(path), fmt, args);
	va_end(args);
	ret = lat_write_file(path, text);
	return ret ? lat_fail(err, ret, "%s: %s: %s", bdf, path, strerror(-ret)) : 0;
}

static int unbind(const char *bdf, const char *driver, struct lat_error *err)
{
	return write_bdf(bdf, bdf, err, "/sys/bus/pci/drivers/%s/unbind", driver);
}

/* bind answers with an error if another driver was faster: what counts is who has it. */
static int bind(const char *bdf, const char *driver, struct lat_error *err)
{
	int ret = write_bdf(bdf, bdf, err, "/sys/bus/pci/drivers/%s/bind", driver);
	char *now = lat_device_driver(bdf);

	if (now && !strcmp(now, driver))
		ret = 0;
	else if (!ret)
		ret = lat_fail(err, -ENODEV, "%s: driver %s did not take it", bdf, driver);
	free(now);
	return ret;
}

/* An empty line clears an override. */
static int set_override(const char *bdf, const char *driver, struct lat_error *err)
{
	return write_bdf(bdf, driver ? driver : "\n", err,
			 "/sys/bus/pci/devices/%s/driver_override", bdf);
}

static int put_back(const struct lat_rebind *rebind, struct lat_error *err)
{
	const char *bdf = rebind->bdf;
	char *now = lat_device_driver(bdf);
	char *path = lat_format("/sys/bus/pci/devices/%s", bdf);
	int ret = 0;

	/* Unplugged meanwhile: there is nothing to give back. */
	if (access(path, F_OK))
		goto out;
	/* It was the instrument's before as well: there is nothing to change. */
	if (rebind->driver && !strcmp(rebind->driver, rebind->module))
		goto out;
	if (now && !strcmp(now, rebind->module)) {
		ret = unbind(bdf, now, err);
		if (ret)
			goto out;
		free(now);
		now = NULL;
	}
	ret = set_override(bdf, rebind->override, err);
	if (ret || !rebind->driver || (now && !strcmp(now, rebind->driver)))
		goto out;
	if (now) {
		ret = lat_fail(err, -EBUSY, "%s: driver %s has it now; it was not given back to %s",
			       bdf, now, rebind->driver);
		goto out;
	}
	ret = bind(bdf, rebind->driver, err);
out:
	free(path);
	free(now);
	return ret;
}

/* ---- taking ---- */

static int may_take(const struct lat_device *device, const char *module, bool may_rebind,
		    unsigned int force, struct lat_error *err)
{
	if (!device->driver)
		return 0;
	if (!may_rebind)
		return lat_fail(err, -EBUSY, "%s: driver %s has it; %s", device->bdf,
				device->driver,
				"--rebind takes it, and gives it back at the end");
	if (device->default_route && force < 2)
		return lat_fail(err, -EBUSY, "%s: the default route goes through it (%s); %s",
				device->bdf, device->netdev,
				"to cut it all the same give --force twice");
	if (device->netdev && !force)
		return lat_fail(err, -EBUSY, "%s: its network interface %s is up; %s",
				device->bdf, device->netdev,
				"take it down (ip link set ... down) or give --force");
	(void)module;
	return 0;
}

static int bind_to(const struct lat_device *device, const char *module, struct lat_error *err)
{
	int ret = 0;

	if (device->driver)
		ret = unbind(device->bdf, device->driver, err);
	/*
	 * Not overridden to the module: then its own table decides what it can measure, while an
	 * override would hand it any device at all.
	 */
	if (!ret && device->override)
		ret = set_override(device->bdf, NULL, err);
	if (!ret)
		ret = bind(device->bdf, module, err);
	if (ret == -ENODEV)
		lat_fail(err, 0, "%s: module %s cannot measure this device; see --list",
			 device->bdf, module);
	return ret;
}

int lat_rebind_take(const struct lat_device *device, const char *module, bool may_rebind,
		    unsigned int force, struct lat_rebind *rebind, struct lat_error *err)
{
	bool ours = device->driver && !strcmp(device->driver, module);
	struct lat_error later;
	int ret;

	*rebind = (struct lat_rebind)LAT_REBIND_NONE;
	ret = make_directories(err);
	if (ret)
		return ret;
	ret = state_open(device->bdf, rebind, err);
	/* A run that was killed left it to us: what it wrote down is what has to be put back. */
	if (!ret && ours)
		return 0;
	if (!ret) {
		ret = lat_fail(err, -EBUSY, "%s: a killed run has not given it back; %s",
			       device->bdf, "use --restore");
		forget(rebind);
	}
	if (ret != -ENOENT)
		return ret;
	if (!ours)
		ret = may_take(device, module, may_rebind, force, err);
	else
		ret = 0;
	if (ret)
		return ret;

	snprintf(rebind->bdf, sizeof(rebind->bdf), "%s", device->bdf);
	rebind->module = lat_strdup(module);
	rebind->driver = device->driver ? lat_strdup(device->driver) : NULL;
	rebind->override = device->override ? lat_strdup(device->override) : NULL;
	rebind->pid = getpid();
	ret = state_write(rebind, err);
	if (ret) {
		forget(rebind);
		return ret;
	}
	if (!ours)
		ret = bind_to(device, module, err);
	if (!ret)
		return 0;
	if (lat_rebind_give_back(rebind, &later))
		lat_complain("%s", later.text);
	return ret;
}

int lat_rebind_give_back(struct lat_rebind *rebind, struct lat_error *err)
{
	int ret;

	if (rebind->fd < 0)
		return 0;
	ret = put_back(rebind, err);
	if (ret)
		forget(rebind);
	else
		state_remove(rebind);
	return ret;
}

static int restore_one(const char *bdf, int (*stop)(const char *module, struct lat_error *err),
		       struct lat_error *err)
{
	struct lat_rebind rebind;
	int ret = state_open(bdf, &rebind, err);

	if (ret)
		return ret;
	ret = stop(rebind.module, err);
	if (ret) {
		forget(&rebind);
		return ret;
	}
	return lat_rebind_give_back(&rebind, err);
}

int lat_rebind_restore(const char *bdf, int (*stop)(const char *module, struct lat_error *err),
		       struct lat_error *err)
{
	char *path = lat_format("%s/rebind", run_directory());
	DIR *directory = opendir(path);
	struct lat_error one;
	struct dirent *entry;
	int n = 0, ret = 0;

	free(path);
	if (bdf) {
		if (directory)
			closedir(directory);
		ret = restore_one(bdf, stop, err);
		if (ret == -ENOENT)
			return lat_fail(err, ret, "%s: no run has taken it", bdf);
		return ret ? ret : 1;
	}
	while (directory && (entry = readdir(directory))) {
		int failed;

		/* A temporary name has one more dot than an address. */
		if (entry->d_name[0] == '.' || strlen(entry->d_name) >= LAT_BDF_SIZE ||
		    strchr(entry->d_name, '.') != strrchr(entry->d_name, '.'))
			continue;
		failed = restore_one(entry->d_name, stop, &one);
		if (!failed) {
			n++;
			continue;
		}
		/* The others are given back all the same. */
		if (ret)
			lat_complain("%s", err->text);
		*err = one;
		ret = failed;
	}
	if (directory)
		closedir(directory);
	return ret ? ret : n;
}

int lat_lock_instrument(const char *module, struct lat_error *err)
{
	char *path = lat_format("%s/%s.lock", run_directory(), module), *owner;
	int ret = make_directories(err), fd;

	if (ret)
		goto out;
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (fd < 0) {
		ret = lat_fail(err, -errno, "%s: %s", path, strerror(errno));
		goto out;
	}
	if (flock(fd, LOCK_EX | LOCK_NB)) {
		owner = lat_read_file("%s", path);
		ret = lat_fail(err, -EBUSY, "%s is in use by process %s; %s", module,
			       owner && *owner ? owner : "of somebody else",
			       "only one can measure with it at a time");
		free(owner);
		close(fd);
		goto out;
	}
	if (ftruncate(fd, 0) || dprintf(fd, "%ld\n", (long)getpid()) < 0)
		lat_complain("%s: %s", path, strerror(errno));
	ret = fd;
out:
	free(path);
	return ret;
}
