// SPDX-License-Identifier: GPL-2.0-only
/*
 * The request loop over libnl. libnl 3.7 drops the kernel's extended ACK, so it is read here: its
 * text, and the offset of the attribute it is about, from which the refused value is shown.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <netlink/genl/ctrl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <latkit/latkit.h>

#include "lib/nl.h"

/**
 * struct exchange - one request on its way
 * @reader: gets each message
 * @context: of @reader
 * @request: what was sent, to name the attribute that was refused
 * @err: gets the kernel's words
 * @ret: result so far
 * @done: ACK, error or end of dump was seen
 * @interrupted: the dump was inconsistent
 */
struct exchange {
	lat_nl_reader reader;
	void *context;
	struct nlmsghdr *request;
	struct lat_error *err;
	int ret;
	bool done;
	bool interrupted;
};

static void set_option(struct nl_sock *sock, int option)
{
	int one = 1;

	/* A kernel without it only says less. */
	(void)setsockopt(nl_socket_get_fd(sock), SOL_NETLINK, option, &one, sizeof(one));
}

static struct nl_sock *connect_socket(void)
{
	struct nl_sock *sock = nl_socket_alloc();

	if (!sock)
		return NULL;
	if (genl_connect(sock)) {
		nl_socket_free(sock);
		return NULL;
	}
	fcntl(nl_socket_get_fd(sock), F_SETFD, FD_CLOEXEC);
	/* A parameter table is larger than the page libnl reads by default. */
	nl_socket_enable_msg_peek(sock);
	set_option(sock, NETLINK_EXT_ACK);
	return sock;
}

int lat_nl_open(struct lat_nl *nl, const char *name, struct lat_error *err)
{
	*nl = (struct lat_nl){ .family = -1 };
	snprintf(nl->name, sizeof(nl->name), "%s", name);
	nl->request = connect_socket();
	if (!nl->request)
		return lat_fail(err, -EPROTONOSUPPORT, "cannot open a netlink socket");
	nl->family = genl_ctrl_resolve(nl->request, name);
	if (nl->family < 0)
		return lat_fail(err, -ENOENT, "no netlink family '%s': is the module loaded?",
				name);
	return 0;
}

void lat_nl_close(struct lat_nl *nl)
{
	if (nl->request)
		nl_socket_free(nl->request);
	if (nl->events)
		nl_socket_free(nl->events);
	*nl = (struct lat_nl){ .family = -1 };
}

int lat_nl_listen(struct lat_nl *nl, struct lat_error *err)
{
	int group = genl_ctrl_resolve_grp(nl->request, nl->name, LAT_GENL_GROUP_EVENTS);
	int ret;

	if (group < 0)
		return lat_fail(err, -ENOENT, "%s: its netlink family has no group '%s'", nl->name,
				LAT_GENL_GROUP_EVENTS);
	nl->events = connect_socket();
	if (!nl->events)
		return lat_fail(err, -EPROTONOSUPPORT, "cannot open a netlink socket");
	/* By hand, since libnl would turn the kernel's errno into its own. */
	ret = setsockopt(nl_socket_get_fd(nl->events), SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &group,
			 sizeof(group));
	if (ret) {
		ret = -errno;
		return lat_fail(err, ret, "%s: cannot listen to its events: %s%s", nl->name,
				strerror(-ret), ret == -EPERM ?
				"; it takes root (CAP_NET_ADMIN)" : "");
	}
	nl_socket_set_nonblocking(nl->events);
	return 0;
}

static void hand_over(struct nlmsghdr *message, lat_nl_reader reader, void *context)
{
	struct nlattr *attrs[LAT_A_MAX + 1];
	struct genlmsghdr *header = nlmsg_data(message);

	/* Unknown attributes of a newer module are skipped by nla_parse() itself. */
	if (!genlmsg_valid_hdr(message, 0) ||
	    nla_parse(attrs, LAT_A_MAX, genlmsg_attrdata(header, 0), genlmsg_attrlen(header, 0),
		      NULL))
		return;
	reader(header->cmd, attrs, message, context);
}

static int on_message(struct nl_msg *msg, void *arg)
{
	struct exchange *x = arg;
	struct nlmsghdr *message = nlmsg_hdr(msg);

	if (x->reader)
		hand_over(message, x->reader, x->context);
	return NL_OK;
}

static int on_ack(struct nl_msg *msg, void *arg)
{
	struct exchange *x = arg;

	(void)msg;
	x->done = true;
	return NL_STOP;
}

/* libnl's own answer to an interrupted dump would be an error with the rest still unread. */
static int on_interrupted(struct nl_msg *msg, void *arg)
{
	struct exchange *x = arg;

	(void)msg;
	x->interrupted = true;
	return NL_OK;
}

/* The end of a dump carries its result as an int. */
static int on_finish(struct nl_msg *msg, void *arg)
{
	struct exchange *x = arg;
	struct nlmsghdr *message = nlmsg_hdr(msg);
	int result = 0;

	if (nlmsg_datalen(message) >= (int)sizeof(result))
		memcpy(&result, nlmsg_data(message), sizeof(result));
	if (result < 0) {
		x->ret = result;
		snprintf(x->err->text, sizeof(x->err->text), "%s", strerror(-result));
	}
	x->done = true;
	return NL_STOP;
}

/* "name=value" of a LAT_A_PARAM nest, as far as it is one. */
static void describe_param(struct nlattr *param, char *text, size_t size)
{
	struct nlattr *attrs[LAT_A_MAX + 1];
	const char *name;

	*text = 0;
	if (nla_type(param) != LAT_A_PARAM || nla_parse_nested(attrs, LAT_A_MAX, param, NULL) ||
	    !attrs[LAT_A_NAME])
		return;
	name = nla_get_string(attrs[LAT_A_NAME]);
	if (attrs[LAT_A_STR])
		snprintf(text, size, "%s=%s", name, nla_get_string(attrs[LAT_A_STR]));
	else if (attrs[LAT_A_S64])
		snprintf(text, size, "%s=%lld", name, (long long)nla_get_s64(attrs[LAT_A_S64]));
	else if (attrs[LAT_A_U64])
		snprintf(text, size, "%s=%llu", name,
			 (unsigned long long)nla_get_u64(attrs[LAT_A_U64]));
	else
		snprintf(text, size, "%s", name);
}

/* Which of the parameters sent has the byte at @offset of the request? */
static void find_refused(struct nlmsghdr *request, uint32_t offset, char *text, size_t size)
{
	const char *at = (const char *)request + offset;
	struct nlattr *attr;
	int rest;

	*text = 0;
	nlmsg_for_each_attr(attr, request, GENL_HDRLEN, rest)
		if (at >= (char *)attr && at < (char *)attr + nla_total_size(nla_len(attr)))
			describe_param(attr, text, size);
}

static int on_error(struct sockaddr_nl *from, struct nlmsgerr *error, void *arg)
{
	struct exchange *x = arg;
	struct nlmsghdr *message = (struct nlmsghdr *)((char *)error - NLMSG_HDRLEN);
	struct nlattr *tlv[NLMSGERR_ATTR_MAX + 1] = { NULL };
	size_t skip = sizeof(*error);
	char refused[256] = "";

	(void)from;
	x->ret = error->error;
	x->done = true;
	if (!(message->nlmsg_flags & NLM_F_CAPPED))
		skip += error->msg.nlmsg_len - NLMSG_HDRLEN;
	skip = NLMSG_ALIGN(skip);
	if (message->nlmsg_flags & NLM_F_ACK_TLVS && message->nlmsg_len > NLMSG_HDRLEN + skip)
		nla_parse(tlv, NLMSGERR_ATTR_MAX, (struct nlattr *)((char *)error + skip),
			  message->nlmsg_len - NLMSG_HDRLEN - skip, NULL);
	if (tlv[NLMSGERR_ATTR_OFFS])
		find_refused(x->request, nla_get_u32(tlv[NLMSGERR_ATTR_OFFS]), refused,
			     sizeof(refused));
	lat_fail(x->err, 0, "%s%s%s", refused, *refused ? ": " : "",
		 tlv[NLMSGERR_ATTR_MSG] ? nla_get_string(tlv[NLMSGERR_ATTR_MSG]) :
		 x->ret == -EPERM ? "it takes root (CAP_NET_ADMIN)" : strerror(-x->ret));
	return NL_STOP;
}

struct nl_msg *lat_nl_request(const struct lat_nl *nl, int command, int flags)
{
	struct nl_msg *msg = nlmsg_alloc_size(65536);

	if (!msg || !genlmsg_put(msg, NL_AUTO_PORT, NL_AUTO_SEQ, nl->family, 0,
				 NLM_F_REQUEST | flags, command, LAT_GENL_VERSION)) {
		lat_complain("out of memory");
		exit(LAT_EXIT_ERROR);
	}
	return msg;
}

int lat_nl_ask(struct lat_nl *nl, struct nl_msg *msg, lat_nl_reader reader, void *context,
	       struct lat_error *err)
{
	struct exchange x = {
		.reader = reader, .context = context, .request = nlmsg_hdr(msg), .err = err,
	};
	struct nl_cb *cb = nl_cb_alloc(NL_CB_DEFAULT);
	int ret;

	nl_cb_set(cb, NL_CB_VALID, NL_CB_CUSTOM, on_message, &x);
	nl_cb_set(cb, NL_CB_ACK, NL_CB_CUSTOM, on_ack, &x);
	nl_cb_set(cb, NL_CB_FINISH, NL_CB_CUSTOM, on_finish, &x);
	nl_cb_set(cb, NL_CB_DUMP_INTR, NL_CB_CUSTOM, on_interrupted, &x);
	nl_cb_err(cb, NL_CB_CUSTOM, on_error, &x);

	ret = nl_send_auto(nl->request, msg);
	while (ret >= 0 && !x.done)
		ret = nl_recvmsgs(nl->request, cb);
	if (!x.done)
		x.ret = lat_fail(err, -EIO, "netlink: %s", nl_geterror(ret));
	nl_cb_put(cb);
	nlmsg_free(msg);
	if (!x.ret && x.interrupted)
		return lat_fail(err, -EINTR, "a new session began while the results were read");
	return x.ret;
}

struct event_reader {
	lat_nl_reader reader;
	void *context;
};

static int on_event(struct nl_msg *msg, void *arg)
{
	struct event_reader *events = arg;

	hand_over(nlmsg_hdr(msg), events->reader, events->context);
	return NL_OK;
}

/* Events answer no request: they have no number to check. */
static int accept_number(struct nl_msg *msg, void *arg)
{
	(void)msg;
	(void)arg;
	return NL_OK;
}

int lat_nl_events(struct lat_nl *nl, lat_nl_reader reader, void *context)
{
	struct event_reader events = { .reader = reader, .context = context };
	struct nl_cb *cb = nl_cb_alloc(NL_CB_DEFAULT);
	int ret;

	nl_cb_set(cb, NL_CB_VALID, NL_CB_CUSTOM, on_event, &events);
	nl_cb_set(cb, NL_CB_SEQ_CHECK, NL_CB_CUSTOM, accept_number, NULL);
	do {
		ret = nl_recvmsgs(nl->events, cb);
	} while (ret >= 0);
	nl_cb_put(cb);
	/* -NLE_NOMEM: events were dropped (ENOBUFS). The state is asked for anyway. */
	return ret == -NLE_AGAIN || ret == -NLE_NOMEM ? 0 : -EIO;
}
