/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Generic netlink to one instrument: one request loop, which reads a reply to its end (ACK, error
 * or the end of a dump) before anything else is asked, and one socket for events.
 */
#ifndef LATKIT_NL_H
#define LATKIT_NL_H

#include <netlink/netlink.h>
#include <netlink/genl/genl.h>

#include "lib/util.h"

/**
 * struct lat_nl - connection to one instrument's family
 * @request: socket of requests
 * @events: socket of the events group; NULL until lat_nl_listen()
 * @family: number of the family
 * @name: name of the family
 */
struct lat_nl {
	struct nl_sock *request;
	struct nl_sock *events;
	int family;
	char name[32];
};

/* Called for each message of a reply or each event, with its attributes by number. */
typedef void (*lat_nl_reader)(int command, struct nlattr **attrs, const struct nlmsghdr *message,
			      void *context);

/**
 * lat_nl_open() - connect to the family of an instrument
 * @nl: filled; lat_nl_close() in either case
 * @name: its name
 * @err: why not
 *
 * Return: 0; -ENOENT: there is no such family; other negative errno
 */
int lat_nl_open(struct lat_nl *nl, const char *name, struct lat_error *err);
void lat_nl_close(struct lat_nl *nl);

/**
 * lat_nl_listen() - join the events group
 * @nl: the connection
 * @err: why not
 *
 * Return: 0 or negative errno
 */
int lat_nl_listen(struct lat_nl *nl, struct lat_error *err);

/* Hand each waiting event to @reader; does not block. Return: 0 or negative errno. */
int lat_nl_events(struct lat_nl *nl, lat_nl_reader reader, void *context);

/* A new request; NULL never. The caller adds attributes and gives it to lat_nl_ask(). */
struct nl_msg *lat_nl_request(const struct lat_nl *nl, int command, int flags);

/**
 * lat_nl_ask() - send a request and read its whole reply
 * @nl: the connection
 * @msg: the request; consumed
 * @reader: called for each message; may be NULL
 * @context: handed to @reader
 * @err: the kernel's words about the refusal and, where it says which, the attribute it is about
 *
 * Return: 0; -EINTR: a dump was inconsistent (a new session began), ask again; other negative errno
 */
int lat_nl_ask(struct lat_nl *nl, struct nl_msg *msg, lat_nl_reader reader, void *context,
	       struct lat_error *err);

#endif /* LATKIT_NL_H */
