// SPDX-License-Identifier: GPL-2.0-only
/* This module's own copy of the device code. */
#include "../msi/all.c"
