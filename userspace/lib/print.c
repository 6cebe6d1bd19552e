// SPDX-License-Identifier: GPL-2.0-only
/*
 * Formats by name, and where their text goes: standard output, or a file that is written beside its
 * final name, made durable and renamed, so that what is there is always one whole report.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/print.h"
#include "lib/report_json.h"

static void print_json(const struct lat_report *report, const struct lat_style *style, FILE *f)
{
	lat_report_json(report, &style->percents, f);
}

const struct lat_printer lat_printers[] = {
	{ "text", "one screen for people", lat_print_text },
	{ "json", LAT_REPORT_SCHEMA, print_json },
	{ "cyclictest", "rt-tests' cyclictest, of one point", lat_print_cyclictest },
	{ "eci", "Intel ECI's current_value", lat_print_eci },
	{ "xenomai", "Xenomai's latency", lat_print_xenomai },
	{ 0 },
};

const struct lat_printer *lat_printer_find(const char *name)
{
	const struct lat_printer *printer;

	for (printer = lat_printers; printer->name; printer++)
		if (!strcmp(printer->name, name))
			return printer;
	return NULL;
}

void lat_printer_names(char *names, size_t size)
{
	const struct lat_printer *printer;
	size_t used = 0;

	for (printer = lat_printers; printer->name && used < size; printer++)
		used += snprintf(names + used, size - used, "%s%s", used ? ", " : "",
				 printer->name);
}

/* 0, or the errno of the first write that failed; the stream is flushed. */
static int stream_error(FILE *f)
{
	errno = 0;
	if (fflush(f) || ferror(f))
		return errno ? -errno : -EIO;
	return 0;
}

static int print_stdout(const struct lat_report *report, const struct lat_printer *printer,
			const struct lat_style *style, struct lat_error *err)
{
	int ret;

	printer->print(report, style, stdout);
	ret = stream_error(stdout);
	if (!ret || ret == -EPIPE)
		return 0;
	return lat_fail(err, ret, "standard output: %s", strerror(-ret));
}

/* Not a regular file (a device, a pipe): there is nothing to rename over. */
static int print_special(const struct lat_report *report, const struct lat_printer *printer,
			 const struct lat_style *style, const char *path, struct lat_error *err)
{
	FILE *f = fopen(path, "we");
	int ret = f ? 0 : -errno;

	if (f) {
		printer->print(report, style, f);
		ret = stream_error(f);
		if (fclose(f) && !ret)
			ret = -errno;
	}
	return ret ? lat_fail(err, ret, "%s: %s", path, strerror(-ret)) : 0;
}

/* The directory too, or the rename may not survive a power cut. */
static void sync_directory(const char *path)
{
	char *copy = lat_strdup(path), *slash = strrchr(copy, '/');
	FILE *directory;

	if (slash)
		slash[slash == copy] = 0;
	directory = fopen(slash ? copy : ".", "re");
	if (directory) {
		fsync(fileno(directory));
		fclose(directory);
	}
	free(copy);
}

static int print_file(const struct lat_report *report, const struct lat_printer *printer,
		      const struct lat_style *style, const char *path, struct lat_error *err)
{
	char *temporary = lat_format("%s.XXXXXX", path);
	mode_t mask = umask(0);
	int fd = mkstemp(temporary), ret = fd < 0 ? -errno : 0;
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w");

	umask(mask);
	if (f) {
		printer->print(report, style, f);
		ret = stream_error(f);
		if (!ret && (fchmod(fd, 0666 & ~mask) || fsync(fd)))
			ret = -errno;
		if (fclose(f) && !ret)
			ret = -errno;
		if (!ret && rename(temporary, path))
			ret = -errno;
		if (ret)
			unlink(temporary);
		else
			sync_directory(path);
	}
	free(temporary);
	return ret ? lat_fail(err, ret, "%s: %s; the report was not written", path,
			      strerror(-ret)) : 0;
}

int lat_print(const struct lat_report *report, const struct lat_printer *printer,
	      const struct lat_style *style, const char *path, struct lat_error *err)
{
	struct stat st;

	if (!path || !strcmp(path, "-"))
		return print_stdout(report, printer, style, err);
	if (!stat(path, &st) && !S_ISREG(st.st_mode))
		return print_special(report, printer, style, path, err);
	return print_file(report, printer, style, path, err);
}
