/* SPDX-License-Identifier: BSD-3-Clause */
/* A log server: what its two ways of sending, datagrams and streams, share. */
#ifndef WEIR_NOTIFY_SYSLOG_H
#define WEIR_NOTIFY_SYSLOG_H

#include <openssl/ssl.h>

#include "notify/held.h"
#include "notify/notify_dial.h"

struct bufferevent;

struct syslog {
	struct receiver *r;
	const char *host, *local, *server_name; /* of the settings */
	uint16_t port;
	bool datagrams;
	SSL_CTX *context; /* NULL: no TLS */
	struct held held;
	struct notify_dial *dial; /* while it is looked up and connected */
	int fd;			  /* -1: not connected */
	struct event *check;	  /* whether what was sent is taken */
	struct event *readable;	  /* datagrams: a refusal */
	struct bufferevent *bev;  /* streams */
	uint64_t written;	  /* bytes put into bev */
	uint64_t heard;		  /* bytes that the server said */
	uint64_t since_ns;	  /* dialled or connected */
	uint64_t moved_ns;	  /* something was taken, or nothing waited */
	bool connected;
};

/* Sends; there is a connection and room. False: it failed, and receiver_failed was called. */
bool syslog_udp_send(struct syslog *s, const json_t *record, uint64_t test);
bool syslog_stream_send(struct syslog *s, const json_t *record, uint64_t test);

/* The socket is there: 0 or -errno. */
int syslog_udp_open(struct syslog *s);
int syslog_stream_open(struct syslog *s);

void syslog_udp_check(struct syslog *s);
void syslog_stream_check(struct syslog *s);
void syslog_stream_close(struct syslog *s);

#endif
