// SPDX-License-Identifier: GPL-2.0-only
/* This module's own copy of the core, with the clock of the test. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt
#include "dummy.h"
#include "../../../modules/core/all.c"

void dummy_take_series(struct lat *lat)
{
	lat_series_take(lat);
}
