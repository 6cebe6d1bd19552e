/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The few things every file of the library needs: an error text that travels to whoever prints it,
 * memory that is there or ends the program, small files read whole, and lists that grow.
 */
#ifndef LATKIT_UTIL_H
#define LATKIT_UTIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* Exit codes of every tool: design.md, section 6. */
enum lat_exit {
	LAT_EXIT_OK = 0,
	LAT_EXIT_ERROR = 1,
	LAT_EXIT_LIMIT = 2,
	LAT_EXIT_USAGE = 129,
};

/**
 * struct lat_error - why something failed, in words for people
 * @text: object, reason and way out; the program's name is put before it by who prints it
 */
struct lat_error {
	char text[1024];
};

/**
 * lat_fail() - fill in an error
 * @err: filled; text that does not fit is cut
 * @code: what to return, negative
 * @fmt: printf format and arguments
 *
 * Return: @code, so that a failure is one statement
 */
int lat_fail(struct lat_error *err, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Print "<program>: <text>" to stderr. */
void lat_complain(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/*
 * Memory. Running out ends the program with exit code 1: what the machine was lent stays written
 * in the rebind state, from where --restore gives it back.
 */
void *lat_alloc(size_t n, size_t size);
void *lat_grow(void *rows, size_t n, size_t size);
char *lat_strdup(const char *text);
char *lat_format(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/**
 * lat_read_file() - read a small file (sysfs, procfs) whole, without its last newline
 * @path: printf format of its path, and arguments
 *
 * Return: the text, to be freed; NULL with errno set
 */
char *lat_read_file(const char *path, ...) __attribute__((format(printf, 1, 2)));

/**
 * lat_write_file() - write a text to an existing file with one write(), as sysfs wants it
 * @path: the file
 * @text: what to write
 *
 * Return: 0 or -errno
 */
int lat_write_file(const char *path, const char *text);

/**
 * struct lat_fact - one named value of env{}, config{}, device{}, placement{}, counters{}
 * @key: its name
 * @kind: which of the two values below holds
 * @number: whole number, or 0 and 1
 * @text: text
 */
struct lat_fact {
	char *key;
	enum lat_fact_kind { LAT_FACT_TEXT, LAT_FACT_NUMBER, LAT_FACT_BOOL } kind;
	long long number;
	char *text;
};

struct lat_facts {
	struct lat_fact *rows;
	size_t n;
};

void lat_fact_text(struct lat_facts *facts, const char *key, const char *text);
void lat_fact_number(struct lat_facts *facts, const char *key, long long number);
void lat_fact_bool(struct lat_facts *facts, const char *key, bool value);
const struct lat_fact *lat_fact_find(const struct lat_facts *facts, const char *key);
void lat_facts_free(struct lat_facts *facts);

#endif /* LATKIT_UTIL_H */
