/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An instrument's kernel module: loaded idle if it is not there yet, and then unloaded again.
 */
#ifndef LATKIT_MODULE_H
#define LATKIT_MODULE_H

#include "lib/util.h"

/**
 * lat_module_load() - have an instrument's module in the kernel
 * @name: of the module; $LATKIT_MODULES/NAME.ko comes before the installed one
 * @loaded: set to true if it had to be loaded, and so is ours to unload
 * @err: why not, and the way out
 *
 * Return: 0 or negative errno
 */
int lat_module_load(const char *name, bool *loaded, struct lat_error *err);

/* Return: 0 or negative errno. */
int lat_module_unload(const char *name, struct lat_error *err);

bool lat_module_is_loaded(const char *name);

#endif /* LATKIT_MODULE_H */
