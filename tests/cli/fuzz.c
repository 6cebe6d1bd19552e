// SPDX-License-Identifier: GPL-2.0-only
/*
 * Feeds the parsers with texts made from a seed: durations, CPU lists, limits, command lines and
 * reports, each grown from good examples by random changes. The sanitizers judge; beside them only
 * what must hold for any input is checked: what was accepted prints back to what it was.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/parse.h"
#include "lib/cpulist.h"
#include "lib/limit.h"
#include "lib/opts.h"
#include "lib/report_json.h"

static uint64_t state;

static unsigned int any(unsigned int below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (state >> 11) % below;
}

static void demand(bool holds, const char *what, const char *input)
{
	if (holds)
		return;
	fprintf(stderr, "fuzz: %s: \"%s\"\n", what, input);
	abort();
}

/* One random change: a byte replaced, removed, doubled, or a piece of another example put in. */
static void change(char *text, size_t room, const char *other)
{
	static const char bytes[] = "0123456789-,.:!=<>()usmhdnpxirqall{}[]\"\\ \t\x80\xff";
	size_t n = strlen(text), at = n ? any(n) : 0, piece;

	switch (any(4)) {
	case 0:
		if (n)
			text[at] = bytes[any(sizeof(bytes) - 1)];
		break;
	case 1:
		if (n)
			memmove(text + at, text + at + 1, n - at);
		break;
	case 2:
		if (n + 2 < room) {
			memmove(text + at + 1, text + at, n - at + 1);
			text[at] = bytes[any(sizeof(bytes) - 1)];
		}
		break;
	default:
		piece = strlen(other) ? any(strlen(other)) : 0;
		if (n + strlen(other + piece) + 1 < room)
			strcpy(text + at, other + piece);
	}
}

static void grow(char *text, size_t room, const char * const *examples, size_t n)
{
	unsigned int changes = any(6);

	snprintf(text, room, "%s", examples[any(n)]);
	while (changes--)
		change(text, room, examples[any(n)]);
}

static void fuzz_duration(void)
{
	static const char * const examples[] = {
		"250us", "1ms", "0", "10s", "-5ns", "365d", "9223372036854775807ns", "1h", "",
		"18446744073709551616", "0x10us", "+3m",
	};
	char text[128], again[32];
	long long ns = 0, same = 0;

	grow(text, sizeof(text), examples, ARRAY_SIZE(examples));
	if (lat_parse_duration(text, any(2) ? 1000 : 0, &ns) != LAT_PARSE_OK)
		return;
	snprintf(again, sizeof(again), "%lldns", ns);
	demand(lat_parse_duration(again, 0, &same) == LAT_PARSE_OK && same == ns,
	       "a duration does not come back", text);
}

static void fuzz_cpulist(void)
{
	static const char * const examples[] = {
		"0-3,5", "all", "!4", "!0-4095", "0,0,0", "8191", "7-3", "", "!", "1-", ",",
		"4294967296", "99999999999999999999",
	};
	struct lat_cpuset set, same;
	struct lat_error err;
	char text[128], *again;

	grow(text, sizeof(text), examples, ARRAY_SIZE(examples));
	if (lat_cpulist_parse(text, 64, &set, &err))
		return;
	again = lat_cpulist_text(&set);
	demand(!lat_cpulist_parse(again, 64, &same, &err) && !memcmp(&set, &same, sizeof(set)),
	       "a CPU list does not come back", text);
	free(again);
}

static void fuzz_limit(const struct lat_report *report)
{
	static const char * const points[] = { "irq", "thread", "user", NULL };
	static const char * const examples[] = {
		"p99.99<=50us", "user:max<=100us", "overruns=0", "rate(80us)<=1/h", "p99=50us",
		"irq:count>=18446744073709551615", "min>=-1ns", "thread:stddev < 1ms", "lost==0",
		"p0.0001<1s", "rate(0)<9223372036854775807/ns", ":", "irq:", "p",
	};
	struct lat_report copy = *report;
	struct lat_limit limit;
	struct lat_error err;
	char text[128];

	grow(text, sizeof(text), examples, ARRAY_SIZE(examples));
	if (lat_limit_parse(text, any(2) ? points : NULL, &limit, &err))
		return;
	copy.verdicts = NULL;
	copy.n_verdicts = 0;
	lat_limit_judge(&limit, &copy);
	demand(copy.n_verdicts == 1, "a limit has no verdict", text);
	free(copy.verdicts[0].limit);
	free(copy.verdicts[0].point);
	free(copy.verdicts[0].observed);
	free(copy.verdicts[0].text);
	free(copy.verdicts);
	free(limit.text);
}

#define LAT_DEFAULT_PERIOD "1ms"
#define LAT_PARAM LAT_PARAM_ROW
static const struct lat_param_row params[] = {
#include "core/params.def"
#include "msi_latency/params.def"
};

static const char * const tool_points[] = { "irq", "thread", "work", "user", "delivered", NULL };

static const struct lat_tool tool = {
	.name = "msi-latency", .instrument = "msi_latency", .summary = "", .points = tool_points,
	.params = params, .n_params = ARRAY_SIZE(params), .takes_device = true,
	.period_floor_ns = 10000,
};

static void fuzz_command_line(void)
{
	static const char * const examples[] = {
		"-p", "100", "-d5", "--duration=1m", "-l", "1000", "--limit", "max<=5us", "-T",
		"50",
		"-H", "linear:1us:10", "--cpus", "0-3", "--device", "00:04.0", "--percentiles",
		"50,99.9", "--require", "hypervisor,smi", "--force", "--print-offset", "-1us", "-m",
		"--replay", "-", "--seed", "0xffffffffffffffff", "-vnq", "--points", "irq,thread",
	};
	char words[6][64], *argv[8] = { "msi-latency" };
	struct lat_options options;
	struct lat_error err;
	int i, n = 1 + (int)any(6);

	for (i = 0; i < n; i++) {
		grow(words[i], sizeof(words[i]), examples, ARRAY_SIZE(examples));
		argv[i + 1] = words[i];
	}
	lat_opts_parse(&tool, n + 1, argv, &options, &err);
	lat_options_free(&options);
}

static void fuzz_report(const char *good, size_t length)
{
	struct lat_percents percents = lat_percents_default();
	struct lat_style style = { .verbose = true, .percents = percents };
	char *text = lat_alloc(length + 4096, 1), *printed = NULL;
	struct lat_report report;
	struct lat_error err;
	unsigned int changes = any(4);
	size_t size;
	FILE *f;

	memcpy(text, good, length);
	while (changes--)
		change(text, length + 4096, good);
	if (!lat_report_parse(text, strlen(text), &report, &err)) {
		f = open_memstream(&printed, &size);
		lat_report_json(&report, &percents, f);
		fclose(f);
		lat_report_free(&report);
		demand(!lat_report_parse(printed, size, &report, &err),
		       "a report that was written is not read", printed);
		free(printed);
		f = open_memstream(&printed, &size);
		lat_print_text(&report, &style, f);
		fclose(f);
		free(printed);
	}
	lat_report_free(&report);
	free(percents.rows);
	free(text);
}

int main(int argc, char **argv)
{
	struct lat_report report;
	struct lat_error err;
	char *good;
	long i, rounds;

	if (argc < 4) {
		fprintf(stderr, "usage: cli-fuzz SEED ROUNDS REPORT...\n");
		return 1;
	}
	state = strtoull(argv[1], NULL, 0) * 2 + 1;
	rounds = atol(argv[2]);
	for (i = 0; i < rounds; i++) {
		const char *path = argv[3 + i % (argc - 3)];

		if (lat_report_load(path, &report, &err)) {
			fprintf(stderr, "fuzz: %s\n", err.text);
			return 1;
		}
		good = lat_read_file("%s", path);
		for (int j = 0; j < 40; j++) {
			fuzz_duration();
			fuzz_cpulist();
			fuzz_limit(&report);
			fuzz_command_line();
		}
		fuzz_report(good, strlen(good));
		free(good);
		lat_report_free(&report);
	}
	printf("%ld rounds from seed %s\n", rounds, argv[1]);
	return 0;
}
