// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loads a module by one finit_module() and says which errno came of it: "load FILE
 * [PARAMETER=VALUE]...". busybox's insmod tries a second system call when the first one fails, so
 * that everything the module has to say stands in the log twice. Linked statically: it starts at
 * once, also in a guest.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	char parameters[4096] = "";
	size_t length = 0;
	int i, fd;

	if (argc < 2)
		return 2;
	for (i = 2; i < argc && length < sizeof(parameters); i++)
		length += snprintf(parameters + length, sizeof(parameters) - length, "%s ",
				   argv[i]);
	fd = open(argv[1], O_RDONLY);
	if (fd < 0 || syscall(SYS_finit_module, fd, parameters, 0)) {
		fprintf(stderr, "%s: %s\n", argv[1], strerror(errno));
		return 1;
	}
	return 0;
}
