/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The runner of every instrument's tool: it owns the order of things, signals, unwinding and exit
 * codes; a tool supplies its tables.
 */
#ifndef LATKIT_TOOL_H
#define LATKIT_TOOL_H

#include "lib/opts.h"

/**
 * lat_tool_main() - the main() of an instrument's tool
 * @tool: its tables
 * @argc: of main()
 * @argv: of main()
 *
 * Return: the exit code
 */
int lat_tool_main(const struct lat_tool *tool, int argc, char **argv);

#endif /* LATKIT_TOOL_H */
