// SPDX-License-Identifier: GPL-2.0-only
/*
 * Proves the parsers of what people type: durations and CPU lists. What is accepted must mean
 * exactly that, and everything else must be refused with the right kind of refusal. Texts are
 * handed over in memory of their very size, so that reading beyond the end stops the test.
 */
#include <stdlib.h>
#include <string.h>

#include "../../modules/core/parse.h"
#include "../lib/tap.h"

#define CPUS_MAX	8192

static const char *const kinds[] = { "OK", "EMPTY", "SYNTAX", "UNIT", "RANGE" };

/* A copy without a byte to spare. */
static char *exact(const char *text)
{
	size_t size = strlen(text) + 1;

	return memcpy(malloc(size), text, size);
}

static enum lat_parse duration(const char *text, unsigned long long bare_ns, long long *ns)
{
	char *copy = exact(text);
	enum lat_parse got = lat_parse_duration(copy, bare_ns, ns);

	free(copy);
	return got;
}

#define UNTOUCHED	(-4242424242LL)

static void durations(void)
{
	static const struct {
		const char *text;
		long long ns;
	} good[] = {
		{ "1ns", 1 }, { "1us", 1000 }, { "1ms", 1000000 }, { "1s", 1000000000 },
		{ "1m", 60000000000 }, { "1h", 3600000000000 }, { "1d", 86400000000000 },
		{ "0", 0 }, { "0s", 0 }, { "00", 0 }, { "-0", 0 }, { "250us", 250000 },
		{ "1000192ns", 1000192 }, { "10s\n", 10000000000 }, { "+5ms", 5000000 },
		{ "-5ms", -5000000 }, { "007us", 7000 }, { "4294967296ns", 4294967296 },
		{ "9223372036854775807ns", 0x7fffffffffffffffLL },
		{ "-9223372036854775807ns", -0x7fffffffffffffffLL },
		{ "106751d", 106751 * 86400000000000LL }, { "9223372036s", 9223372036000000000 },
	};
	static const struct {
		const char *text;
		enum lat_parse kind;
	} bad[] = {
		{ "", LAT_PARSE_EMPTY }, { "\n", LAT_PARSE_EMPTY },
		{ "1", LAT_PARSE_UNIT }, { "1000", LAT_PARSE_UNIT }, { "-1", LAT_PARSE_UNIT },
		{ "1x", LAT_PARSE_UNIT }, { "1sec", LAT_PARSE_UNIT }, { "1 ms", LAT_PARSE_UNIT },
		{ "1.5ms", LAT_PARSE_UNIT }, { "1MS", LAT_PARSE_UNIT }, { "1min", LAT_PARSE_UNIT },
		{ "0x10ns", LAT_PARSE_UNIT }, { "1e3us", LAT_PARSE_UNIT }, { "1u", LAT_PARSE_UNIT },
		{ "1n", LAT_PARSE_UNIT }, { "1\n\n", LAT_PARSE_UNIT },
		{ "ms", LAT_PARSE_SYNTAX }, { " 1ms", LAT_PARSE_SYNTAX }, { "-", LAT_PARSE_SYNTAX },
		{ "+", LAT_PARSE_SYNTAX }, { "--1ms", LAT_PARSE_SYNTAX },
		{ "+-1ms", LAT_PARSE_SYNTAX },
		{ "abc", LAT_PARSE_SYNTAX }, { "1ms2", LAT_PARSE_SYNTAX },
		{ ".5s", LAT_PARSE_SYNTAX },
		{ "9223372036854775808ns", LAT_PARSE_RANGE },
		{ "-9223372036854775808ns", LAT_PARSE_RANGE },
		{ "18446744073709551615ns", LAT_PARSE_RANGE },
		{ "18446744073709551616ns", LAT_PARSE_RANGE },
		{ "99999999999999999999999999999ms", LAT_PARSE_RANGE },
		{ "106752d", LAT_PARSE_RANGE }, { "9223372037s", LAT_PARSE_RANGE },
		{ "18446744073709551615d", LAT_PARSE_RANGE },
	};
	enum lat_parse got;
	long long ns;
	unsigned int i;

	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		ns = UNTOUCHED;
		got = duration(good[i].text, 0, &ns);
		tap_case(got == LAT_PARSE_OK && ns == good[i].ns, "%s: %s %lld, not %lld",
			 good[i].text, kinds[got], ns, good[i].ns);
	}
	tap_claim("a duration in any unit is exactly that many ns");
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		ns = UNTOUCHED;
		got = duration(bad[i].text, 0, &ns);
		tap_case(got == bad[i].kind && ns == UNTOUCHED, "\"%s\": %s, not %s", bad[i].text,
			 kinds[got], kinds[bad[i].kind]);
	}
	tap_claim("what is no duration is refused: nothing, no number, no unit, too great");
}

static void bare(void)
{
	long long ns = UNTOUCHED;

	tap_case(duration("25", 1000, &ns) == LAT_PARSE_OK && ns == 25000, "25 is %lld", ns);
	tap_case(duration("25", 1000000000, &ns) == LAT_PARSE_OK && ns == 25000000000, "%lld", ns);
	tap_case(duration("25ns", 1000, &ns) == LAT_PARSE_OK && ns == 25, "25ns is %lld", ns);
	tap_case(duration("25x", 1000, &ns) == LAT_PARSE_UNIT, "25x");
	tap_case(duration("18446744073709552", 1000, &ns) == LAT_PARSE_RANGE, "too great");
	tap_claim("a caller may give bare numbers a unit, what has one keeps it");
}

static void numbers(void)
{
	static const struct {
		const char *text;
		enum lat_parse kind;
		unsigned long long value;
	} u64s[] = {
		{ "0", LAT_PARSE_OK, 0 }, { "18446744073709551615", LAT_PARSE_OK, ~0ULL },
		{ "18446744073709551616", LAT_PARSE_RANGE, 0 }, { "0xff", LAT_PARSE_OK, 255 },
		{ "0XfF\n", LAT_PARSE_OK, 255 }, { "0xffffffffffffffff", LAT_PARSE_OK, ~0ULL },
		{ "0x10000000000000000", LAT_PARSE_RANGE, 0 }, { "0x", LAT_PARSE_SYNTAX, 0 },
		{ "", LAT_PARSE_EMPTY, 0 }, { "-1", LAT_PARSE_SYNTAX, 0 },
		{ "ff", LAT_PARSE_SYNTAX, 0 },
		{ "1k", LAT_PARSE_SYNTAX, 0 }, { " 1", LAT_PARSE_SYNTAX, 0 },
		{ "1 ", LAT_PARSE_SYNTAX, 0 },
		{ "0x1g", LAT_PARSE_SYNTAX, 0 }, { "0xx1", LAT_PARSE_SYNTAX, 0 },
	};
	static const struct {
		const char *text;
		enum lat_parse kind;
		long long value;
	} s64s[] = {
		{ "-1", LAT_PARSE_OK, -1 }, { "+7", LAT_PARSE_OK, 7 }, { "-", LAT_PARSE_EMPTY, 0 },
		{ "9223372036854775807", LAT_PARSE_OK, 0x7fffffffffffffffLL },
		{ "9223372036854775808", LAT_PARSE_RANGE, 0 }, { "--1", LAT_PARSE_SYNTAX, 0 },
	};
	unsigned int i;

	for (i = 0; i < sizeof(u64s) / sizeof(u64s[0]); i++) {
		char *copy = exact(u64s[i].text);
		unsigned long long value = 0;
		enum lat_parse got = lat_parse_u64(copy, &value);

		tap_case(got == u64s[i].kind && (got || value == u64s[i].value), "\"%s\": %s %llu",
			 copy, kinds[got], value);
		free(copy);
	}
	for (i = 0; i < sizeof(s64s) / sizeof(s64s[0]); i++) {
		char *copy = exact(s64s[i].text);
		long long value = 0;
		enum lat_parse got = lat_parse_s64(copy, &value);

		tap_case(got == s64s[i].kind && (got || value == s64s[i].value), "\"%s\": %s %lld",
			 copy, kinds[got], value);
		free(copy);
	}
	tap_claim("whole numbers, decimal and hexadecimal, with and without sign");
}

/* The CPUs a list has marked, and how often anything was marked. */
struct marks {
	unsigned int calls;
	unsigned char cpu[CPUS_MAX];
};

static void mark(unsigned int cpu, void *context)
{
	struct marks *marks = context;

	marks->calls++;
	if (cpu < CPUS_MAX)
		marks->cpu[cpu] = 1;
}

static enum lat_parse cpulist(const char *text, unsigned int ncpus, struct marks *marks)
{
	char *copy = exact(text);
	enum lat_parse got;

	memset(marks, 0, sizeof(*marks));
	got = lat_parse_cpulist(copy, ncpus, mark, marks);
	free(copy);
	return got;
}

/* "1101": which of the first CPUs are marked. */
static int is_marked(const struct marks *marks, const char *expected)
{
	unsigned int cpu, wanted = strlen(expected);

	for (cpu = 0; cpu < CPUS_MAX; cpu++)
		if (marks->cpu[cpu] != (cpu < wanted && expected[cpu] == '1'))
			return 0;
	return 1;
}

static void cpulists(void)
{
	static struct marks marks;
	static const struct {
		const char *text;
		const char *marked;
	} good[] = {
		{ "0", "100000" }, { "0-4", "111110" }, { "5", "000001" }, { "1,3", "010100" },
		{ "0-1,4-5", "110011" }, { "!4-5", "111100" }, { "all", "111111" },
		{ "!0", "011111" },
		{ "all\n", "111111" }, { "2\n", "001000" }, { "3,1", "010100" },
		{ "1,1", "010000" },
		{ "1-3,2-4", "011110" }, { "0-0", "100000" }, { "!0-1,3", "001011" },
		{ "005", "000001" },
	};
	static const struct {
		const char *text;
		enum lat_parse kind;
	} bad[] = {
		{ "", LAT_PARSE_EMPTY }, { "\n", LAT_PARSE_EMPTY }, { "!", LAT_PARSE_EMPTY },
		{ "!all", LAT_PARSE_EMPTY }, { "!0-5", LAT_PARSE_EMPTY },
		{ "4-0", LAT_PARSE_RANGE }, { "6", LAT_PARSE_RANGE }, { "0-6", LAT_PARSE_RANGE },
		{ "4095", LAT_PARSE_RANGE }, { "4294967296", LAT_PARSE_RANGE },
		{ "18446744073709551616", LAT_PARSE_RANGE }, { "!6", LAT_PARSE_RANGE },
		{ "0-", LAT_PARSE_SYNTAX }, { "-1", LAT_PARSE_SYNTAX }, { ",", LAT_PARSE_SYNTAX },
		{ "0,,1", LAT_PARSE_SYNTAX }, { "1-3,", LAT_PARSE_SYNTAX },
		{ ",1", LAT_PARSE_SYNTAX },
		{ "0-1-2", LAT_PARSE_SYNTAX }, { "a", LAT_PARSE_SYNTAX },
		{ "all,1", LAT_PARSE_SYNTAX },
		{ "allx", LAT_PARSE_SYNTAX }, { "0 1", LAT_PARSE_SYNTAX },
		{ "!!1", LAT_PARSE_SYNTAX },
		{ "0x1", LAT_PARSE_SYNTAX }, { "1,all", LAT_PARSE_SYNTAX },
		{ "0-a", LAT_PARSE_SYNTAX },
		{ "1,!2", LAT_PARSE_SYNTAX }, { "0\n\n", LAT_PARSE_SYNTAX },
	};
	enum lat_parse got;
	unsigned int i;

	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		got = cpulist(good[i].text, 6, &marks);
		tap_case(got == LAT_PARSE_OK && is_marked(&marks, good[i].marked), "%s: %s",
			 good[i].text, kinds[got]);
	}
	got = cpulist("4095", 4096, &marks);
	tap_case(got == LAT_PARSE_OK && marks.calls == 1 && marks.cpu[4095], "4095 of 4096");
	got = cpulist("all", CPUS_MAX, &marks);
	tap_case(got == LAT_PARSE_OK && marks.calls == CPUS_MAX, "all of %u", CPUS_MAX);
	got = cpulist("0-8191", CPUS_MAX, &marks);
	tap_case(got == LAT_PARSE_OK && marks.calls == CPUS_MAX, "0-8191");
	tap_claim("CPU lists mark exactly the CPUs they name");
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		got = cpulist(bad[i].text, 6, &marks);
		tap_case(got == bad[i].kind && !marks.calls, "\"%s\": %s, not %s, %u marked",
			 bad[i].text, kinds[got], kinds[bad[i].kind], marks.calls);
	}
	tap_claim("what is no list, or names a CPU that cannot be, is refused and marks nothing");
}

static void any_text(char *text, const char *alphabet)
{
	unsigned int i, length = tap_random() % 12, letters = strlen(alphabet);

	for (i = 0; i < length; i++)
		text[i] = alphabet[tap_random() % letters];
	text[length] = '\0';
}

static void fuzz(void)
{
	static struct marks marks;
	char text[64];
	unsigned int i, accepted = 0, marked = 0;

	for (i = 0; i < 300000; i++) {
		long long ns = UNTOUCHED, again = UNTOUCHED;
		enum lat_parse got;

		any_text(text, "0123456789999nummshd-+. x\n");
		got = duration(text, 0, &ns);
		if (got != LAT_PARSE_OK) {
			tap_case(ns == UNTOUCHED, "\"%s\" is refused and stored", text);
			continue;
		}
		accepted++;
		snprintf(text, sizeof(text), "%lldns", ns);
		tap_case(duration(text, 0, &again) == LAT_PARSE_OK && again == ns, "%s", text);
	}
	tap_case(accepted > 1000, "only %u texts were durations", accepted);
	tap_claim("300,000 random texts: an accepted duration reads the same when written in ns");

	for (i = 0; i < 100000; i++) {
		enum lat_parse got;

		any_text(text, "0123456789--,,!al\n");
		got = cpulist(text, 64, &marks);
		tap_case((got == LAT_PARSE_OK) == (marks.calls > 0), "\"%s\": %s marked %u", text,
			 kinds[got], marks.calls);
		tap_case(!memchr(marks.cpu + 64, 1, CPUS_MAX - 64), "\"%s\" marks beyond", text);
		marked += got == LAT_PARSE_OK;
	}
	tap_case(marked > 1000, "only %u texts were lists", marked);
	tap_claim("100,000 random texts: a list marks what exists, or nothing and is refused");
}

/* Any set of CPUs, written as a list or as the list of all others, comes back. */
static void sets(void)
{
	static struct marks marks;
	unsigned int i, cpu;

	for (i = 0; i < 2000; i++) {
		unsigned int ncpus = 2 + tap_random() % 62, length = 0;
		int invert = tap_random() % 2;
		unsigned char set[64];
		char text[512] = "";

		for (cpu = 0; cpu < ncpus; cpu++)
			set[cpu] = tap_random() % 3 == 0;
		set[tap_random() % ncpus] = !invert;
		if (invert)
			length += sprintf(text, "!");
		for (cpu = 0; cpu < ncpus; cpu++) {
			unsigned int last = cpu;

			if (set[cpu] == invert)
				continue;
			while (last + 1 < ncpus && set[last + 1] != invert)
				last++;
			length += sprintf(text + length, "%s%u",
					  length > (unsigned int)invert ? "," : "", cpu);
			if (last > cpu)
				length += sprintf(text + length, "-%u", last);
			cpu = last;
		}
		if (length == (unsigned int)invert || !memchr(set, 1, ncpus))
			continue;
		tap_case(cpulist(text, ncpus, &marks) == LAT_PARSE_OK &&
			 !memcmp(marks.cpu, set, ncpus), "%s of %u", text, ncpus);
	}
	tap_claim("2,000 random sets of CPUs come back from their lists");
}

int main(void)
{
	durations();
	bare();
	numbers();
	cpulists();
	fuzz();
	sets();
	return tap_end();
}
