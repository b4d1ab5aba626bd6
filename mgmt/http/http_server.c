/* SPDX-License-Identifier: BSD-3-Clause */
#include "http/http_server.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "http/http_exchange.h"
#include "http/http_tls.h"

#define HEAD_MAX (64u << 10) /* bytes of a request's line and headers, and of a reply's */
#define STREAM_END_US 10000
#define IDLE_SPARE 30u /* s: the library's own limit is there for clients that take no reply */

/* The target is decoded once, by http_request_target, not here. */
static size_t unescape_not(void *cls, struct MHD_Connection *connection, char *text)
{
	return strlen(text);
}

static void library_log(void *cls, const char *format, va_list ap)
{
	char line[512];

	vsnprintf(line, sizeof(line), format, ap);
	line[strcspn(line, "\r\n")] = '\0';
	log_debug("http: %s", line);
}

static void on_connection(void *cls, struct MHD_Connection *connection, void **context,
	enum MHD_ConnectionNotificationCode code)
{
	struct http_server *s = cls;

	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		const union MHD_ConnectionInfo *info =
			MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);

		*context = http_table_find(s->table, info->connect_fd);
	} else if (*context) {
		http_table_remove(s->table, *context);
		*context = NULL;
	}
}

static struct MHD_Daemon *daemon_start(struct http_server *s)
{
	const struct http_options *o = &s->options;
	unsigned flags = MHD_USE_TLS | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL |
			 MHD_ALLOW_SUSPEND_RESUME | MHD_USE_NO_LISTEN_SOCKET | MHD_USE_ITC |
			 MHD_USE_ERROR_LOG;

	struct MHD_OptionItem items[] = {
		{MHD_OPTION_EXTERNAL_LOGGER, (intptr_t)library_log, NULL},
		{MHD_OPTION_HTTPS_CERT_CALLBACK2, 0, http_tls_pair},
		{MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)http_tls_priorities},
		{MHD_OPTION_UNESCAPE_CALLBACK, (intptr_t)unescape_not, NULL},
		{MHD_OPTION_URI_LOG_CALLBACK, (intptr_t)http_exchange_begin, s},
		{MHD_OPTION_NOTIFY_COMPLETED, (intptr_t)http_exchange_end, s},
		{MHD_OPTION_NOTIFY_CONNECTION, (intptr_t)on_connection, s},
		{MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1, NULL},
		{MHD_OPTION_CONNECTION_LIMIT, 2 * o->limits.connections, NULL},
		{MHD_OPTION_CONNECTION_TIMEOUT, o->idle_seconds + IDLE_SPARE, NULL},
		{MHD_OPTION_CONNECTION_MEMORY_LIMIT, HEAD_MAX, NULL},
		{MHD_OPTION_END, 0, NULL},
	};

	return MHD_start_daemon(flags, 0, NULL, NULL, http_exchange_step, s, MHD_OPTION_ARRAY,
		items, MHD_OPTION_END);
}

struct http_server *http_server_new(const struct http_options *options)
{
	struct http_server *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->options = *options;
	s->table = http_table_new(&options->limits);
	s->pool = s->table ? http_pool_new(s->table, options->limits.handled) : NULL;
	s->daemon = s->pool ? daemon_start(s) : NULL;
	if (s->daemon)
		return s;
	log_error("http: the server cannot be started");
	http_server_free(s);
	return NULL;
}

void http_server_add(struct http_server *s, int fd, const struct sockaddr *addr, socklen_t length)
{
	struct http_place *place =
		http_table_add(s->table, fd, addr, http_exchange_until(s->options.head_seconds, 0));

	if (!place) {
		close(fd);
		return;
	}
	/* Closes it if it fails, and has told on_connection if it ever got so far. */
	if (MHD_add_connection(s->daemon, fd, addr, length) != MHD_YES &&
		http_table_find(s->table, fd) == place)
		http_table_remove(s->table, place);
}

void http_server_sweep(struct http_server *s)
{
	http_table_sweep(s->table, clock_ns());
	http_pool_sweep(s->pool, clock_ns());
}

void http_server_stop(struct http_server *s)
{
	atomic_store(&s->stopping, true);
	http_table_stop(s->table);
	http_pool_stop(s->pool);
}

unsigned http_server_active(struct http_server *s)
{
	return http_table_active(s->table);
}

/* The library wants all connections back that were suspended before it can end. */
static void daemon_stop(struct http_server *s)
{
	http_server_stop(s);
	http_pool_wait(s->pool);
	while (atomic_load(&s->streams) > 0)
		usleep(STREAM_END_US);
	MHD_stop_daemon(s->daemon);
}

void http_server_free(struct http_server *s)
{
	if (!s)
		return;
	if (s->daemon)
		daemon_stop(s);
	http_pool_free(s->pool);
	http_table_free(s->table);
	free(s);
}
