/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The parameter table of an instrument: one row makes the module parameter, the netlink setting and
 * the line of debugfs `config`. Rows are written down in params.def files; an instrument gets its
 * table from params_table.h.
 */
#ifndef LAT_CORE_PARAMS_H
#define LAT_CORE_PARAMS_H

#include <linux/moduleparam.h>
#include <latkit/latkit.h>

#define LAT_PARAM_TEXT	256	/* longest text of a value, with its NUL */

/* Reason of a refusal, for people: what was refused, its value and the way out. */
struct lat_why {
	char text[256];
};

/**
 * lat_refuse() - refuse with a reason
 * @why: where the reason goes
 * @err: negative errno
 * @fmt: one sentence, without a newline
 *
 * Context: process.
 * Return: @err
 */
__printf(3, 4) int lat_refuse(struct lat_why *why, int err, const char *fmt, ...);

/**
 * struct lat_param - one row of the table and its value
 * @name: as in every interface
 * @type: enum lat_type
 * @def: default, as text
 * @min: smallest value, as text; of an enum: its choices
 * @max: greatest value, as text
 * @help: one line
 * @number: value of a number, bool, duration (ns), or the index of an enum
 * @set: false: the value is the word @def (auto, any)
 * @text: value as text
 *
 * The first six never change. The value is written before the module's init by the kernel's
 * parameter code, later under lat->lock.
 */
struct lat_param {
	const char *name;
	enum lat_type type;
	const char *def;
	const char *min;
	const char *max;
	const char *help;

	s64 number;
	bool set;
	char text[LAT_PARAM_TEXT];
};

extern const struct kernel_param_ops lat_param_ops;

int lat_param_set(struct lat_param *param, const char *text, struct lat_why *why);
int lat_param_set_number(struct lat_param *param, s64 number, struct lat_why *why);
bool lat_param_is_word(const struct lat_param *param);
bool lat_param_is_signed(const struct lat_param *param);
int lat_params_init(struct lat_param *params, unsigned int n);

/* Numbers of the common rows: the same in every instrument, so that the core can use them. */
#define LAT_PARAM(name, type, def, min, max, help) LAT_P_##name,
enum lat_common_param {
#include "params.def"
	LAT_P_COMMON,
};

#undef LAT_PARAM

#endif /* LAT_CORE_PARAMS_H */
