/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Makes the parameter table of an instrument, the numbers of its own rows and its module
 * parameters. Included once, by the instrument, which says first where its rows stand and what its
 * period is:
 *
 *	#define LAT_DEFAULT_PERIOD "1ms"
 *	#define LAT_PARAMS_DEF "../msi_latency/params.def"
 *	#include "../core/params_table.h"
 */
#ifndef LAT_CORE_PARAMS_TABLE_H
#define LAT_CORE_PARAMS_TABLE_H

#include "params.h"

#define LAT_PARAM(name, type, def, min, max, help) LAT_P_##name,
enum lat_own_param {
	LAT_P_BEFORE_OWN = LAT_P_COMMON - 1,
#include LAT_PARAMS_DEF
	LAT_P_COUNT,
};
#undef LAT_PARAM

#define LAT_PARAM(_name, _type, _def, _min, _max, _help) [LAT_P_##_name] = { \
	.name = #_name, .type = LAT_T_##_type, .def = _def, .min = _min, .max = _max, \
	.help = _help, \
},
static struct lat_param lat_params[LAT_P_COUNT] = {
#include "params.def"
#include LAT_PARAMS_DEF
};
#undef LAT_PARAM

#define LAT_PARAM(_name, _type, _def, _min, _max, _help) \
	module_param_cb(_name, &lat_param_ops, &lat_params[LAT_P_##_name], 0444); \
	MODULE_PARM_DESC(_name, _help " [" _def "]");
#include "params.def"
#include LAT_PARAMS_DEF
#undef LAT_PARAM

#endif /* LAT_CORE_PARAMS_TABLE_H */
