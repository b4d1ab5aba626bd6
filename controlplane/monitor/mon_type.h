/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A monitor type is a struct mon_type. Types that talk over one socket (most) only say what to send and judge what
 * came; mon_stream.c does the rest. Others have start and stop of their own.
 */
#ifndef WEIR_MONITOR_MON_TYPE_H
#define WEIR_MONITOR_MON_TYPE_H

#include <stdbool.h>
#include <stddef.h>

#include "monitor/mon_config.h"

struct mon_probe;

enum mon_outcome {
	MON_MORE,	   /* not known yet */
	MON_GOOD,	   /* alive */
	MON_GOOD_DISABLED, /* alive, wants no new clients */
	MON_BAD,	   /* a failed probe */
	MON_BAD_NOW,	   /* down at once */
	MON_NOTHING,	   /* says nothing about the server */
};

struct mon_type {
	const char *name;
	bool stream;   /* TCP */
	bool datagram; /* UDP */
	bool tls;
	bool markable;	     /* others: its packets can carry the instance's mark, too */
	bool half_open;	     /* closes before the handshake is complete */
	bool framed;	     /* input() knows where an answer ends */
	bool advice;	     /* who does not answer says nothing */
	bool quiet_is_good;  /* with no recv: no answer is a good answer */
	unsigned port;	     /* used if the instance has none; 0: it must have one, or needs none */
	size_t private_size; /* of probe->own, zeroed at the start */

	/* Judges the fields; may fill in defaults. 0, or -EINVAL with fault. NULL: all are fine. */
	int (*check)(struct mon_monitor *m, struct mon_fault *fault);

	/*
	 * stream, datagram: connected. Sends with mon_send and returns MON_MORE, or the outcome.
	 * NULL: sends the monitor's send text.
	 */
	enum mon_outcome (*open)(struct mon_probe *p);

	/* All bytes that came and were not yet taken with mon_take; end: no more will come. */
	enum mon_outcome (*input)(struct mon_probe *p, const char *bytes, size_t length, bool end);

	/* Others: starts, ends with mon_probe_end, also at once. 0 or -errno: a fault of ours. */
	int (*start)(struct mon_probe *p);
	void (*stop)(struct mon_probe *p); /* gives back what start took; called once */
};

/* NULL: there is no such type. */
const struct mon_type *mon_type_find(const char *name);

/* All of them; ends with NULL. */
extern const struct mon_type *const mon_types[];

extern const struct mon_type mon_tcp, mon_tcp_half_open, mon_tcp_echo, mon_udp, mon_http, mon_https,
	mon_icmp, mon_gateway_icmp, mon_external, mon_agent_check, mon_dns, mon_smtp, mon_ftp,
	mon_nntp, mon_pop3, mon_imap, mon_redis, mon_sip, mon_radius, mon_mysql, mon_postgresql,
	mon_ldap, mon_snmp_dca;

/* Judges an answer by recv and recv-disable; end: it is complete. Without a pattern any byte is good. */
enum mon_outcome mon_judge(struct mon_probe *p, const char *bytes, size_t length, bool end);

#endif
