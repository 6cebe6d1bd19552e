// SPDX-License-Identifier: GPL-2.0-only
/*
 * Signals by signalfd: blocked, so that no system call is cut short and no flag has to be global.
 */
#include <errno.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "lib/signals.h"

static bool is_ignored(int number)
{
	struct sigaction action;

	return !sigaction(number, NULL, &action) && action.sa_handler == SIG_IGN;
}

int lat_signals_init(struct lat_signals *signals)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	if (!is_ignored(SIGHUP))
		sigaddset(&set, SIGHUP);
	/* A shell starts background jobs with SIGINT ignored; telling them must work. */
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signals->count = 0;
	signals->fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return signals->fd < 0 ? -errno : 0;
}

void lat_signals_exit(struct lat_signals *signals)
{
	if (signals->fd >= 0)
		close(signals->fd);
	signals->fd = -1;
}

unsigned int lat_signals_count(struct lat_signals *signals)
{
	struct signalfd_siginfo seen;

	while (signals->fd >= 0 && read(signals->fd, &seen, sizeof(seen)) == sizeof(seen))
		signals->count++;
	return signals->count;
}
