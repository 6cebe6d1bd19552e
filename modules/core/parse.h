/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The text forms people type, read the same way by the modules, the command line tools and the
 * host tests: durations that carry their unit, and CPU lists. Strict: what is not wholly
 * understood is refused, nothing is clamped or guessed.
 *
 * Plain C without a kernel or C library call.
 */
#ifndef LAT_CORE_PARSE_H
#define LAT_CORE_PARSE_H

/* What a parser found; the callers own the words. */
enum lat_parse {
	LAT_PARSE_OK,
	LAT_PARSE_EMPTY,	/* nothing there */
	LAT_PARSE_SYNTAX,	/* not a number, or trailing text */
	LAT_PARSE_UNIT,		/* a number without a unit, or an unknown unit */
	LAT_PARSE_RANGE,	/* does not fit */
};

#define LAT_S64_MAX 0x7fffffffffffffffLL

static inline int lat_parse_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return 99;
}

/**
 * lat_parse_digits() - read an unsigned number at the start of a text
 * @text: in: where to start; out: the first character that is no digit
 * @base: 10 or 16
 * @value: the number
 *
 * Context: any.
 * Return: LAT_PARSE_OK, _EMPTY without a digit, _RANGE over 64 bits
 */
static inline enum lat_parse lat_parse_digits(const char **text, unsigned int base,
					      unsigned long long *value)
{
	const char *p = *text;
	unsigned long long v = 0;

	for (; (unsigned int)lat_parse_digit(*p) < base; p++) {
		unsigned int digit = lat_parse_digit(*p);

		if (__builtin_mul_overflow(v, (unsigned long long)base, &v) ||
		    __builtin_add_overflow(v, (unsigned long long)digit, &v))
			return LAT_PARSE_RANGE;
	}
	if (p == *text)
		return LAT_PARSE_EMPTY;
	*text = p;
	*value = v;
	return LAT_PARSE_OK;
}

/* The end of a value; the one newline of `echo` is forgiven. */
static inline int lat_parse_at_end(const char *p)
{
	return !*p || (*p == '\n' && !p[1]);
}

/**
 * lat_parse_u64() - read a whole unsigned number
 * @text: decimal, or hexadecimal with 0x
 * @value: the number
 *
 * Context: any.
 * Return: LAT_PARSE_OK, _EMPTY, _SYNTAX or _RANGE
 */
static inline enum lat_parse lat_parse_u64(const char *text, unsigned long long *value)
{
	unsigned int base = 10;
	enum lat_parse ret;

	if (lat_parse_at_end(text))
		return LAT_PARSE_EMPTY;
	if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
		base = 16;
		text += 2;
	}
	ret = lat_parse_digits(&text, base, value);
	if (ret != LAT_PARSE_OK)
		return ret == LAT_PARSE_EMPTY ? LAT_PARSE_SYNTAX : ret;
	return lat_parse_at_end(text) ? LAT_PARSE_OK : LAT_PARSE_SYNTAX;
}

/**
 * lat_parse_s64() - read a whole signed number
 * @text: decimal, with or without a sign
 * @value: the number
 *
 * Context: any.
 * Return: LAT_PARSE_OK, _EMPTY, _SYNTAX or _RANGE
 */
static inline enum lat_parse lat_parse_s64(const char *text, long long *value)
{
	int negative = *text == '-';
	unsigned long long magnitude;
	enum lat_parse ret;

	if (*text == '-' || *text == '+')
		text++;
	ret = lat_parse_u64(text, &magnitude);
	if (ret != LAT_PARSE_OK)
		return ret;
	if (magnitude > (unsigned long long)LAT_S64_MAX)
		return LAT_PARSE_RANGE;
	*value = negative ? -(long long)magnitude : (long long)magnitude;
	return LAT_PARSE_OK;
}

struct lat_unit {
	const char *name;
	unsigned long long ns;
};

/* Longest spelling of a letter first: "ms" must not be read as "m". Ends with a NULL name. */
static const struct lat_unit lat_units[] = {
	{ "ns", 1ULL },
	{ "us", 1000ULL },
	{ "ms", 1000000ULL },
	{ "s", 1000000000ULL },
	{ "m", 60 * 1000000000ULL },
	{ "h", 3600 * 1000000000ULL },
	{ "d", 86400 * 1000000000ULL },
	{ }
};

/* Length of @prefix if @text starts with it, else 0. */
static inline unsigned int lat_parse_prefix(const char *text, const char *prefix)
{
	unsigned int n = 0;

	while (prefix[n]) {
		if (text[n] != prefix[n])
			return 0;
		n++;
	}
	return n;
}

/**
 * lat_parse_duration_at() - read a duration at the start of a text
 * @text: in: where to start; out: first character behind the duration
 * @bare_ns: what a number without unit counts in, ns; 0: it is refused, except 0 itself
 * @ns: the duration, ns
 *
 * Context: any.
 * Return: LAT_PARSE_OK, _EMPTY, _SYNTAX, _UNIT or _RANGE
 */
static inline enum lat_parse lat_parse_duration_at(const char **text, unsigned long long bare_ns,
						   long long *ns)
{
	const char *p = *text;
	int negative = *p == '-';
	const struct lat_unit *unit;
	unsigned long long number, scale = bare_ns;
	enum lat_parse ret;
	unsigned int n = 0;

	if (*p == '-' || *p == '+')
		p++;
	ret = lat_parse_digits(&p, 10, &number);
	if (ret == LAT_PARSE_EMPTY)
		return lat_parse_at_end(*text) ? LAT_PARSE_EMPTY : LAT_PARSE_SYNTAX;
	if (ret != LAT_PARSE_OK)
		return ret;

	for (unit = lat_units; unit->name; unit++) {
		n = lat_parse_prefix(p, unit->name);
		if (n)
			break;
	}
	if (unit->name) {
		scale = unit->ns;
		p += n;
	} else if (!scale && number) {
		return LAT_PARSE_UNIT;
	}
	if (__builtin_mul_overflow(number, scale, &number) ||
	    number > (unsigned long long)LAT_S64_MAX)
		return LAT_PARSE_RANGE;
	*ns = negative ? -(long long)number : (long long)number;
	*text = p;
	return LAT_PARSE_OK;
}

/**
 * lat_parse_duration() - read a whole duration
 * @text: a whole number and its unit: ns, us, ms, s, m, h or d
 * @bare_ns: what a number without unit counts in, ns; 0: it is refused, except 0 itself
 * @ns: the duration, ns
 *
 * Context: any.
 * Return: LAT_PARSE_OK, _EMPTY, _SYNTAX, _UNIT or _RANGE
 */
static inline enum lat_parse lat_parse_duration(const char *text, unsigned long long bare_ns,
						long long *ns)
{
	long long value;
	enum lat_parse ret = lat_parse_duration_at(&text, bare_ns, &value);

	if (ret != LAT_PARSE_OK)
		return ret;
	if (!lat_parse_at_end(text))
		return lat_parse_digit(*text) < 10 ? LAT_PARSE_SYNTAX : LAT_PARSE_UNIT;
	*ns = value;
	return LAT_PARSE_OK;
}

/**
 * lat_parse_cpulist() - read a CPU list
 * @text: numbers and ranges with commas between ("0-3,5"), "all", or "!" and a list for all others
 * @ncpus: CPUs are numbered 0 .. @ncpus - 1
 * @mark: called for each CPU of the list, ascending within a range; a CPU may come twice.
 *	For "!" the CPUs *not* in the list are marked.
 * @context: handed to @mark
 *
 * The empty list is refused, and so is a list that leaves none ("!all" of all).
 *
 * Context: any.
 * Return: LAT_PARSE_OK, _EMPTY, _SYNTAX, or _RANGE (a CPU number over @ncpus - 1, or a range
 *	that runs backwards)
 */
static inline enum lat_parse lat_parse_cpulist(const char *text, unsigned int ncpus,
					       void (*mark)(unsigned int cpu, void *context),
					       void *context)
{
	int invert = *text == '!';
	unsigned int cpu, marked = 0;
	const char *list;

	if (invert)
		text++;
	if (lat_parse_at_end(text))
		return LAT_PARSE_EMPTY;

	/* One walk checks the whole text, so that nothing is marked of a list that is refused. */
	for (list = text; !lat_parse_prefix(text, "all"); list++) {
		unsigned long long first, last;
		enum lat_parse ret = lat_parse_digits(&list, 10, &first);

		last = first;
		if (ret == LAT_PARSE_OK && *list == '-') {
			list++;
			ret = lat_parse_digits(&list, 10, &last);
		}
		if (ret == LAT_PARSE_RANGE)
			return ret;
		if (ret != LAT_PARSE_OK || (*list != ',' && !lat_parse_at_end(list)))
			return LAT_PARSE_SYNTAX;
		if (last < first || last >= ncpus)
			return LAT_PARSE_RANGE;
		if (*list != ',')
			break;
	}
	if (lat_parse_prefix(text, "all") && !lat_parse_at_end(text + 3))
		return LAT_PARSE_SYNTAX;

	for (cpu = 0; cpu < ncpus; cpu++) {
		int in = 0;

		if (lat_parse_prefix(text, "all"))
			in = 1;
		for (list = text; !in; list++) {
			unsigned long long first = 0, last;

			(void)lat_parse_digits(&list, 10, &first);
			last = first;
			if (*list == '-') {
				list++;
				(void)lat_parse_digits(&list, 10, &last);
			}
			in = cpu >= first && cpu <= last;
			if (*list != ',')
				break;
		}
		if (in == invert)
			continue;
		mark(cpu, context);
		marked++;
	}
	return marked ? LAT_PARSE_OK : LAT_PARSE_EMPTY;
}

#endif /* LAT_CORE_PARSE_H */
