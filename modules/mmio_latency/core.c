// SPDX-License-Identifier: GPL-2.0-only
/* This module's own copy of the core. */
#include "../core/all.c"
