// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reading and checking the rows of a parameter table. A value is taken as it is or refused with its
 * name, what was given and what is allowed; nothing is clamped.
 */
#include <linux/pci.h>

#include "lat.h"
#include "parse.h"

int lat_refuse(struct lat_why *why, int err, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vscnprintf(why->text, sizeof(why->text), fmt, args);
	va_end(args);
	return err;
}

/* A default that is a word (auto, any) is a value too: "not set". */
bool lat_param_is_word(const struct lat_param *param)
{
	switch (param->type) {
	case LAT_T_U64:
	case LAT_T_S64:
	case LAT_T_DURATION:
		return param->def[0] >= 'a' && param->def[0] <= 'z';
	default:
		return !strcmp(param->def, "auto");
	}
}

bool lat_param_is_signed(const struct lat_param *param)
{
	return (param->type == LAT_T_S64 || param->type == LAT_T_DURATION) &&
	       param->min[0] == '-';
}

/* The number of a text, as the type of the row reads it. */
static enum lat_parse lat_param_parse(const struct lat_param *param, const char *text, s64 *number)
{
	switch (param->type) {
	case LAT_T_DURATION:
		return lat_parse_duration(text, 0, number);
	case LAT_T_S64:
		return lat_parse_s64(text, number);
	default:
		return lat_parse_u64(text, (u64 *)number);
	}
}

static bool lat_param_in_range(const struct lat_param *param, s64 number)
{
	s64 min = 0, max = 0;

	(void)lat_param_parse(param, param->min, &min);
	(void)lat_param_parse(param, param->max, &max);
	if (param->type == LAT_T_U64 || param->type == LAT_T_BOOL)
		return (u64)number >= (u64)min && (u64)number <= (u64)max;
	return number >= min && number <= max;
}

static int lat_param_out_of_range(const struct lat_param *param, const char *text,
				  struct lat_why *why)
{
	return lat_refuse(why, -EINVAL, "%s=%s: must be between %s and %s%s%s", param->name, text,
			  param->min, param->max, lat_param_is_word(param) ? ", or " : "",
			  lat_param_is_word(param) ? param->def : "");
}

/* Index of the choice @text of an enum, or -1. */
static int lat_param_choice(const struct lat_param *param, const char *text)
{
	size_t len = strlen(text);
	const char *choice = param->min;
	int i;

	for (i = 0; ; i++) {
		size_t n = strcspn(choice, "|");

		if (n == len && !strncmp(choice, text, n))
			return i;
		if (!choice[n])
			return -1;
		choice += n + 1;
	}
}

static int lat_param_number(const struct lat_param *param, const char *text, s64 *number,
			    struct lat_why *why)
{
	switch (lat_param_parse(param, text, number)) {
	case LAT_PARSE_OK:
		break;
	case LAT_PARSE_UNIT:
		return lat_refuse(why, -EINVAL,
				  "%s=%s: needs a whole number and its unit: ns, us, ms, s, m, h or d",
				  param->name, text);
	case LAT_PARSE_RANGE:
		return lat_param_out_of_range(param, text, why);
	default:
		return lat_refuse(why, -EINVAL, "%s=%s: not a %s, must be between %s and %s",
				  param->name, text,
				  param->type == LAT_T_DURATION ? "duration" : "whole number",
				  param->min, param->max);
	}
	if (!lat_param_in_range(param, *number))
		return lat_param_out_of_range(param, text, why);
	return 0;
}

/**
 * lat_param_set() - set a parameter from text
 * @param: the row
 * @text: the value
 * @why: the reason of a refusal
 *
 * Context: process; the caller excludes every other user of the row.
 * Return: 0 or -EINVAL; the row keeps its value then
 */
int lat_param_set(struct lat_param *param, const char *text, struct lat_why *why)
{
	bool set = true;
	s64 number = 0;
	int err;

	if (strlen(text) >= sizeof(param->text))
		return lat_refuse(why, -EINVAL, "%s: the value is longer than %zu characters",
				  param->name, sizeof(param->text) - 1);

	if (lat_param_is_word(param) && !strcmp(text, param->def)) {
		set = false;
	} else if (param->type == LAT_T_ENUM) {
		number = lat_param_choice(param, text);
		if (number < 0)
			return lat_refuse(why, -EINVAL, "%s=%s: must be one of %s", param->name,
					  text, param->min);
	} else if (param->type != LAT_T_STRING && param->type != LAT_T_CPULIST) {
		err = lat_param_number(param, text, &number, why);
		if (err)
			return err;
	}
	strscpy(param->text, text, sizeof(param->text));
	param->number = number;
	param->set = set;
	return 0;
}

/**
 * lat_param_set_number() - set a numeric parameter from a number
 * @param: the row
 * @number: value; ns of a duration
 * @why: the reason of a refusal
 *
 * Context: as lat_param_set().
 * Return: 0 or -EINVAL
 */
int lat_param_set_number(struct lat_param *param, s64 number, struct lat_why *why)
{
	const char *unit = param->type == LAT_T_DURATION && number ? "ns" : "";
	char text[32];

	if (param->type == LAT_T_U64)
		snprintf(text, sizeof(text), "%llu", (u64)number);
	else
		snprintf(text, sizeof(text), "%lld%s", number, unit);
	return lat_param_set(param, text, why);
}

bool lat_parse_pci_address(const char *text, int *domain, unsigned int *bus, unsigned int *devfn)
{
	unsigned int d = 0, slot, function;
	int end = 0;

	if (sscanf(text, "%x:%x:%x.%x%n", &d, bus, &slot, &function, &end) != 4 || !end) {
		d = 0;
		end = 0;
		if (sscanf(text, "%x:%x.%x%n", bus, &slot, &function, &end) != 3 || !end)
			return false;
	}
	if ((text[end] && text[end] != '\n') || *bus > 255 || slot > 31 || function > 7)
		return false;
	*domain = d;
	*devfn = PCI_DEVFN(slot, function);
	return true;
}

/* The kernel's parameter code, before the module's init. */
static int lat_param_op_set(const char *text, const struct kernel_param *kp)
{
	struct lat_why why;
	int err = lat_param_set(kp->arg, text, &why);

	if (err)
		pr_err("%s\n", why.text);
	return err;
}

static int lat_param_op_get(char *buffer, const struct kernel_param *kp)
{
	const struct lat_param *param = kp->arg;

	return sysfs_emit(buffer, "%s\n", param->text);
}

const struct kernel_param_ops lat_param_ops = {
	.set = lat_param_op_set,
	.get = lat_param_op_get,
};

/**
 * lat_params_init() - give every row that was not set its default
 * @params: the table
 * @n: its rows
 *
 * Context: process, module init.
 * Return: 0, or -EINVAL if a default does not fit its own row
 */
int lat_params_init(struct lat_param *params, unsigned int n)
{
	struct lat_why why;
	unsigned int i;
	int err;

	for (i = 0; i < n; i++) {
		if (params[i].text[0])
			continue;
		err = lat_param_set(&params[i], params[i].def, &why);
		if (WARN(err, "%s", why.text))
			return err;
	}
	return 0;
}
