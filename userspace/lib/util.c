// SPDX-License-Identifier: GPL-2.0-only
/*
 * Errors as text, memory, small files and lists of facts: what every file of the library needs and
 * no library of the system offers in this form.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/util.h"

int lat_fail(struct lat_error *err, int code, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, args);
	va_end(args);
	return code;
}

void lat_complain(const char *fmt, ...)
{
	va_list args;

	fprintf(stderr, "%s: ", program_invocation_short_name);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputc('\n', stderr);
}

static void *must(void *memory)
{
	if (!memory) {
		lat_complain("out of memory");
		exit(LAT_EXIT_ERROR);
	}
	return memory;
}

void *lat_alloc(size_t n, size_t size)
{
	return must(calloc(n ? n : 1, size));
}

/* Room for one more row; the room doubles at each power of two. */
void *lat_grow(void *rows, size_t n, size_t size)
{
	if (n & (n - 1))
		return rows;
	return must(reallocarray(rows, n ? 2 * n : 1, size));
}

char *lat_strdup(const char *text)
{
	return must(strdup(text));
}

char *lat_format(const char *fmt, ...)
{
	va_list args;
	char *text;
	int n;

	va_start(args, fmt);
	n = vasprintf(&text, fmt, args);
	va_end(args);
	return must(n < 0 ? NULL : text);
}

char *lat_read_file(const char *path, ...)
{
	size_t used = 0, room = 4096;
	char *name, *text;
	va_list args;
	ssize_t n;
	int fd;

	va_start(args, path);
	n = vasprintf(&name, path, args);
	va_end(args);
	must(n < 0 ? NULL : name);
	fd = open(name, O_RDONLY | O_CLOEXEC);
	free(name);
	if (fd < 0)
		return NULL;

	text = lat_alloc(room, 1);
	for (;;) {
		n = read(fd, text + used, room - used - 1);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		used += n;
		if (room - used < 2) {
			room *= 2;
			text = must(realloc(text, room));
		}
	}
	if (n < 0) {
		int saved = errno;

		close(fd);
		free(text);
		errno = saved;
		return NULL;
	}
	close(fd);
	if (used && text[used - 1] == '\n')
		used--;
	text[used] = 0;
	return text;
}

int lat_write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	size_t length = strlen(text);
	int ret = 0;
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = write(fd, text, length);
	if (n < 0)
		ret = -errno;
	else if ((size_t)n != length)
		ret = -EIO;
	close(fd);
	return ret;
}

static struct lat_fact *fact_set(struct lat_facts *facts, const char *key,
				 enum lat_fact_kind kind)
{
	struct lat_fact *fact = (struct lat_fact *)lat_fact_find(facts, key);

	if (!fact) {
		facts->rows = lat_grow(facts->rows, facts->n, sizeof(*facts->rows));
		fact = &facts->rows[facts->n++];
		*fact = (struct lat_fact){ .key = lat_strdup(key) };
	}
	fact->kind = kind;
	return fact;
}

void lat_fact_text(struct lat_facts *facts, const char *key, const char *text)
{
	struct lat_fact *fact;
	char *copy;

	if (!text)
		return;
	copy = lat_strdup(text);
	fact = fact_set(facts, key, LAT_FACT_TEXT);
	free(fact->text);
	fact->text = copy;
}

void lat_fact_number(struct lat_facts *facts, const char *key, long long number)
{
	fact_set(facts, key, LAT_FACT_NUMBER)->number = number;
}

void lat_fact_bool(struct lat_facts *facts, const char *key, bool value)
{
	fact_set(facts, key, LAT_FACT_BOOL)->number = value;
}

const struct lat_fact *lat_fact_find(const struct lat_facts *facts, const char *key)
{
	size_t i;

	for (i = 0; i < facts->n; i++)
		if (!strcmp(facts->rows[i].key, key))
			return &facts->rows[i];
	return NULL;
}

void lat_facts_free(struct lat_facts *facts)
{
	size_t i;

	for (i = 0; i < facts->n; i++) {
		free(facts->rows[i].key);
		free(facts->rows[i].text);
	}
	free(facts->rows);
	*facts = (struct lat_facts){ 0 };
}
