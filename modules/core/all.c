// SPDX-License-Identifier: GPL-2.0-only
/*
 * The whole core in one piece. Each instrument's core.c includes this file, so that the core is
 * compiled once into each module: its own name in the log, its own THIS_MODULE, no load order.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "lat.h"

/* Only here, and only for our own events: kernel headers that come later have some, too. */
#define CREATE_TRACE_POINTS
#include "trace.h"
#undef CREATE_TRACE_POINTS

#include "params.c"
#include "hist.c"
#include "series.c"
#include "chardev.c"
#include "config.c"
#include "trust.c"
#include "genl.c"
#include "session.c"
#include "debugfs.c"
