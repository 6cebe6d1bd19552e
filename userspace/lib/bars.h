/* SPDX-License-Identifier: GPL-2.0-only */
/* What of the PCI devices can be read: their BARs. */
#ifndef LATKIT_BARS_H
#define LATKIT_BARS_H

#include "lib/util.h"

/* The table of all BARs of all PCI devices, for people. Return: how many, or negative errno. */
int lat_bars_print(FILE *f, struct lat_error *err);

#endif /* LATKIT_BARS_H */
