// SPDX-License-Identifier: GPL-2.0-only
/*
 * Asks an instrument's netlink family what no tool would ask: every command without privilege, the
 * events group, and messages that are malformed. Prints one line per question: its name, the errno
 * and the kernel's words.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include <latkit/latkit.h>

#include "lib/nl.h"

static void tell(const char *name, int ret, const struct lat_error *err)
{
	printf("%s: %s: %s\n", name, ret ? strerrorname_np(-ret) : "OK", ret ? err->text : "-");
}

static void ask(struct lat_nl *nl, const char *name, struct nl_msg *msg)
{
	struct lat_error err = { "" };
	int ret = lat_nl_ask(nl, msg, NULL, NULL, &err);

	tell(name, ret, &err);
}

static void put_count(struct nl_msg *msg)
{
	struct nlattr *nest = nla_nest_start(msg, LAT_A_PARAM | NLA_F_NESTED);

	nla_put_string(msg, LAT_A_NAME, "count");
	nla_put_u64(msg, LAT_A_U64, 5);
	nla_nest_end(msg, nest);
}

static void probe_commands(struct lat_nl *nl)
{
	static const struct command_row {
		const char *name;
		int command;
		int flags;
	} commands[] = {
		{ "GET", LAT_CMD_GET, NLM_F_ACK },
		{ "SET", LAT_CMD_SET, NLM_F_ACK },
		{ "START", LAT_CMD_START, NLM_F_ACK },
		{ "STOP", LAT_CMD_STOP, NLM_F_ACK },
		{ "RESET", LAT_CMD_RESET, NLM_F_ACK },
		{ "HIST_GET", LAT_CMD_HIST_GET, NLM_F_DUMP },
		{ "SERIES_GET", LAT_CMD_SERIES_GET, NLM_F_DUMP },
		{ "OUTLIER_GET", LAT_CMD_OUTLIER_GET, NLM_F_DUMP },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(commands); i++) {
		struct nl_msg *msg = lat_nl_request(nl, commands[i].command, commands[i].flags);

		if (commands[i].command == LAT_CMD_SET)
			put_count(msg);
		ask(nl, commands[i].name, msg);
	}
}

static void count_event(int command, struct nlattr **attrs, const struct nlmsghdr *message,
			void *context)
{
	(void)command;
	(void)attrs;
	(void)message;
	++*(unsigned int *)context;
}

static void probe_events(struct lat_nl *nl)
{
	struct lat_error err = { "" };
	unsigned int events = 0;
	int ret = lat_nl_listen(nl, &err);

	tell("JOIN", ret, &err);
	if (!nl->events)
		return;
	/* Whatever comes within a second, whether joining was refused or not. */
	nl_socket_set_nonblocking(nl->events);
	poll(&(struct pollfd){ .fd = nl_socket_get_fd(nl->events), .events = POLLIN }, 1, 1000);
	lat_nl_events(nl, count_event, &events);
	printf("EVENTS: %u\n", events);
}

static struct nl_msg *large_set(struct lat_nl *nl)
{
	struct nl_msg *msg = nlmsg_alloc_size(1 << 18);
	int i;

	genlmsg_put(msg, NL_AUTO_PORT, NL_AUTO_SEQ, nl->family, 0, NLM_F_REQUEST | NLM_F_ACK,
		    LAT_CMD_SET, LAT_GENL_VERSION);
	for (i = 0; i < 4000; i++)
		put_count(msg);
	return msg;
}

static struct nl_msg *truncated_nest(struct lat_nl *nl)
{
	struct nl_msg *msg = lat_nl_request(nl, LAT_CMD_SET, NLM_F_ACK);
	/* A nest whose only member claims to be longer than the nest. */
	struct nlattr inner = { .nla_len = 200, .nla_type = LAT_A_NAME };

	nla_put(msg, LAT_A_PARAM | NLA_F_NESTED, sizeof(inner), &inner);
	return msg;
}

static struct nl_msg *empty_nest(struct lat_nl *nl)
{
	struct nl_msg *msg = lat_nl_request(nl, LAT_CMD_SET, NLM_F_ACK);

	nla_put(msg, LAT_A_PARAM | NLA_F_NESTED, 0, NULL);
	return msg;
}

static struct nl_msg *unknown_attr(struct lat_nl *nl, int command)
{
	struct nl_msg *msg = lat_nl_request(nl, command, NLM_F_ACK);

	if (command == LAT_CMD_SET)
		put_count(msg);
	nla_put_u32(msg, LAT_A_MAX + 100, 1);
	return msg;
}

static struct nl_msg *unknown_member(struct lat_nl *nl)
{
	struct nl_msg *msg = lat_nl_request(nl, LAT_CMD_SET, NLM_F_ACK);
	struct nlattr *nest = nla_nest_start(msg, LAT_A_PARAM | NLA_F_NESTED);

	nla_put_string(msg, LAT_A_NAME, "count");
	nla_put_u64(msg, LAT_A_U64, 5);
	nla_put_u32(msg, LAT_A_MAX + 100, 1);
	nla_nest_end(msg, nest);
	return msg;
}

static struct nl_msg *unknown_param(struct lat_nl *nl)
{
	struct nl_msg *msg = lat_nl_request(nl, LAT_CMD_SET, NLM_F_ACK);
	struct nlattr *nest = nla_nest_start(msg, LAT_A_PARAM | NLA_F_NESTED);

	nla_put_string(msg, LAT_A_NAME, "no_such_parameter");
	nla_put_u64(msg, LAT_A_U64, 5);
	nla_nest_end(msg, nest);
	return msg;
}

static void probe_malformed(struct lat_nl *nl)
{
	nl_socket_set_buffer_size(nl->request, 1 << 19, 1 << 19);
	ask(nl, "4000-attributes", large_set(nl));
	ask(nl, "truncated-nest", truncated_nest(nl));
	ask(nl, "empty-nest", empty_nest(nl));
	ask(nl, "empty-set", lat_nl_request(nl, LAT_CMD_SET, NLM_F_ACK));
	ask(nl, "unknown-attribute-of-set", unknown_attr(nl, LAT_CMD_SET));
	ask(nl, "unknown-attribute-of-start", unknown_attr(nl, LAT_CMD_START));
	ask(nl, "unknown-attribute-of-get", unknown_attr(nl, LAT_CMD_GET));
	ask(nl, "unknown-member", unknown_member(nl));
	ask(nl, "unknown-parameter", unknown_param(nl));
	ask(nl, "unknown-command", lat_nl_request(nl, LAT_CMD_MAX + 50, NLM_F_ACK));
}

int main(int argc, char **argv)
{
	static const struct probe_row {
		const char *name;
		void (*probe)(struct lat_nl *nl);
	} probes[] = {
		{ "commands", probe_commands },
		{ "events", probe_events },
		{ "malformed", probe_malformed },
	};
	struct lat_error err;
	struct lat_nl nl;
	size_t i;

	if (argc == 3 && !lat_nl_open(&nl, argv[1], &err)) {
		for (i = 0; i < ARRAY_SIZE(probes); i++)
			if (!strcmp(probes[i].name, argv[2]))
				probes[i].probe(&nl);
		lat_nl_close(&nl);
		return 0;
	}
	fprintf(stderr, "usage: genl-probe FAMILY commands|events|malformed (%s)\n",
		argc == 3 ? err.text : "two words");
	return 1;
}
