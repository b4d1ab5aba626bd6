/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <getopt.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/calls.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/rights.h"
#include "http/http_tls.h"
#include "main/mgmt_cp.h"
#include "main/mgmt_listen.h"
#include "main/mgmt_privileges.h"
#include "main/mgmt_routes.h"
#include "rest/rest_host.h"

#define LISTEN_MAX 8u
#define LISTEN_DEFAULT "127.0.0.1:8443"
#define TICK_US 250000
#define STOP_NS (3 * 1000000000ull) /* for requests that are under way */
#define ALLOCATE_MMAP 131072	    /* bytes: bodies and replies go back to the system */
#define ALLOCATE_ARENAS 2

static const char usage[] =
	"weir-mgmt --run-dir DIR --tls-dir DIR [options]\n"
	"  --run-dir DIR            where weir-cp's cp.sock is looked for\n"
	"  --tls-dir DIR            server.crt and server.key, made if missing; SIGHUP reads them "
	"again\n"
	"  --listen ADDRESS:PORT    may come several times (default " LISTEN_DEFAULT ")\n"
	"  --user NAME              becomes this user\n"
	"  --hsts                   tells browsers to come by https alone\n"
	"  --ltm-version X.Y.Z      of LTM, that clients are told (default " REST_VERSION_DEFAULT
	")\n"
	"  --check-generation       refuses changes made from an older generation of an object\n"
	"  --upload-dir DIR         for files that clients send; without it none are taken\n"
	"  --connections N          in all (default 256)\n"
	"  --connections-each N     of one address (default 32)\n"
	"  --head-timeout S         for a request's line and headers, with TLS (default 10)\n"
	"  --body-timeout S         for its body, and for the reply (default 30)\n"
	"  --idle-timeout S         between requests (default 60)\n"
	"  --debug                  more messages\n";

struct options {
	const char *run_dir, *tls_dir, *user;
	const char *listen[LISTEN_MAX];
	unsigned listen_count;
	struct http_options http;
	struct rest_settings rest;
	bool debug;
};

struct mgmt {
	struct options o;
	struct event_base *base;
	struct event *signals[3], *tick;
	struct mgmt_listen *listeners[LISTEN_MAX];
	struct mgmt_parts parts;
	struct http_route routes[MGMT_ROUTES_MAX];
	struct http_server *server;
	uint64_t stop_ns; /* when to end; 0: no end yet */
};

static bool number(const char *text, unsigned min, unsigned max, unsigned *value)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || n < min || n > max)
		return false;
	*value = (unsigned)n;
	return true;
}

static bool listen_option(struct options *o, const char *text)
{
	if (o->listen_count == LISTEN_MAX)
		return false;
	o->listen[o->listen_count++] = text;
	return true;
}

enum word {
	RUN_DIR,
	TLS_DIR,
	LISTEN,
	USER,
	HSTS,
	LTM_VERSION,
	CHECK_GENERATION,
	UPLOAD_DIR,
	CONNECTIONS,
	CONNECTIONS_EACH,
	HEAD_TIMEOUT,
	BODY_TIMEOUT,
	IDLE_TIMEOUT,
	DEBUG_MORE,
	HELP,
};

static bool option_take(struct options *o, int option, const char *value)
{
	struct http_options *h = &o->http;

	switch (option) {
	case RUN_DIR:
		o->run_dir = value;
		return true;
	case TLS_DIR:
		o->tls_dir = value;
		return true;
	case LISTEN:
		return listen_option(o, value);
	case USER:
		o->user = value;
		return true;
	case HSTS:
		return h->hsts = true;
	case LTM_VERSION:
		o->rest.version = value;
		return rest_version_ok(value);
	case CHECK_GENERATION:
		return o->rest.check_generation = true;
	case UPLOAD_DIR:
		o->rest.upload_dir = value;
		return true;
	case CONNECTIONS:
		return number(value, 1, 4096, &h->limits.connections);
	case CONNECTIONS_EACH:
		return number(value, 1, 4096, &h->limits.connections_each);
	case HEAD_TIMEOUT:
		return number(value, 1, 3600, &h->head_seconds);
	case BODY_TIMEOUT:
		return number(value, 1, 3600, &h->body_seconds);
	case IDLE_TIMEOUT:
		return number(value, 1, 3600, &h->idle_seconds);
	case DEBUG_MORE:
		return o->debug = true;
	}
	return false;
}

static bool options_parse(int argc, char **argv, struct options *o)
{
	static const struct option known[] = {{"run-dir", 1, NULL, RUN_DIR},
		{"tls-dir", 1, NULL, TLS_DIR}, {"listen", 1, NULL, LISTEN}, {"user", 1, NULL, USER},
		{"hsts", 0, NULL, HSTS}, {"ltm-version", 1, NULL, LTM_VERSION},
		{"check-generation", 0, NULL, CHECK_GENERATION},
		{"upload-dir", 1, NULL, UPLOAD_DIR}, {"connections", 1, NULL, CONNECTIONS},
		{"connections-each", 1, NULL, CONNECTIONS_EACH},
		{"head-timeout", 1, NULL, HEAD_TIMEOUT}, {"body-timeout", 1, NULL, BODY_TIMEOUT},
		{"idle-timeout", 1, NULL, IDLE_TIMEOUT}, {"debug", 0, NULL, DEBUG_MORE},
		{"help", 0, NULL, HELP}, {0}};
	int c;

	while ((c = getopt_long(argc, argv, "", known, NULL)) >= 0)
		if (!option_take(o, c, optarg))
			return false;
	if (o->listen_count == 0)
		listen_option(o, LISTEN_DEFAULT);
	return optind == argc && o->run_dir && o->tls_dir;
}

static void certificate_load(const struct mgmt *m)
{
	char why[512];

	if (http_tls_load(m->o.tls_dir, why, sizeof(why)))
		log_error("certificate: refused, the one before stays: %s", why);
	else
		log_notice("certificate: read again");
}

static void stop_begin(struct mgmt *m)
{
	for (unsigned i = 0; i < m->o.listen_count; i++) {
		mgmt_listen_free(m->listeners[i]);
		m->listeners[i] = NULL;
	}
	http_server_stop(m->server);
	m->stop_ns = clock_ns() + STOP_NS;
}

static void on_signal(evutil_socket_t signal_number, short what, void *ctx)
{
	struct mgmt *m = ctx;

	if (signal_number == SIGHUP) {
		certificate_load(m);
	} else if (!m->stop_ns) {
		log_notice("signal %d: stop", (int)signal_number);
		stop_begin(m);
	}
}

static void on_tick(evutil_socket_t fd, short what, void *ctx)
{
	struct mgmt *m = ctx;

	http_server_sweep(m->server);
	rest_cpu_sample();
	if (!m->stop_ns) {
		for (unsigned i = 0; i < m->o.listen_count; i++)
			mgmt_listen_resume(m->listeners[i]);
	} else if (http_server_active(m->server) == 0 || clock_ns() >= m->stop_ns) {
		event_base_loopbreak(m->base);
	}
}

/* Everything that needs privileges, then without them the certificate, then the rest. */
static int privileges_use(struct mgmt *m)
{
	char why[512];
	struct identity id;
	int rc = rights_identity("--user", m->o.user, &id);

	for (unsigned i = 0; rc == 0 && i < m->o.listen_count; i++) {
		m->listeners[i] = mgmt_listen_new(m->o.listen[i]);
		if (!m->listeners[i])
			rc = -EINVAL;
	}
	if (rc == 0)
		rc = mgmt_privileges_directory(m->o.tls_dir, &id);
	if (rc == 0 && m->o.rest.upload_dir)
		rc = mgmt_privileges_directory(m->o.rest.upload_dir, &id);
	if (rc == 0)
		rc = rights_drop(&id, -1); /* ports below 1024 are open */
	if (rc)
		return rc;
	rc = http_tls_make(m->o.tls_dir, why, sizeof(why));
	if (rc == 0)
		rc = http_tls_load(m->o.tls_dir, why, sizeof(why));
	if (rc)
		log_error("certificate: %s", why);
	return rc ? rc : calls_refuse(CALLS_OWN | CALLS_PROCESSES | CALLS_REMOTE);
}

static int server_start(struct mgmt *m)
{
	m->parts.cp = mgmt_cp_new(m->o.run_dir);
	if (!m->parts.cp) {
		log_error("%s: not a path for a socket", m->o.run_dir);
		return -EINVAL;
	}
	m->parts.rest = rest_new(&m->o.rest);
	if (!m->parts.rest)
		return -ENOMEM;
	m->o.http.routes = m->routes;
	m->o.http.route_count = mgmt_routes(m->routes, &m->parts);
	m->server = http_server_new(&m->o.http);
	if (!m->server)
		return -EIO;
	for (unsigned i = 0; i < m->o.listen_count; i++) {
		int rc = mgmt_listen_start(m->listeners[i], m->base, m->server);

		if (rc)
			return rc;
		log_notice("https://%s: serving", m->o.listen[i]);
	}
	return 0;
}

static int events_init(struct mgmt *m)
{
	static const int numbers[] = {SIGTERM, SIGINT, SIGHUP};
	struct timeval tick = {.tv_usec = TICK_US};

	signal(SIGPIPE, SIG_IGN);
	m->base = event_base_new();
	if (!m->base)
		return -ENOMEM;
	for (int i = 0; i < 3; i++) {
		m->signals[i] = evsignal_new(m->base, numbers[i], on_signal, m);
		if (!m->signals[i] || event_add(m->signals[i], NULL))
			return -ENOMEM;
	}
	m->tick = event_new(m->base, -1, EV_PERSIST, on_tick, m);
	return m->tick && event_add(m->tick, &tick) == 0 ? 0 : -ENOMEM;
}

static void mgmt_fini(struct mgmt *m)
{
	for (unsigned i = 0; i < LISTEN_MAX; i++)
		mgmt_listen_free(m->listeners[i]);
	if (m->parts.cp)
		mgmt_cp_stop(m->parts.cp);
	http_server_free(m->server);
	rest_free(m->parts.rest);
	mgmt_cp_free(m->parts.cp);
	http_tls_unload();
	for (int i = 0; i < 3; i++)
		if (m->signals[i])
			event_free(m->signals[i]);
	if (m->tick)
		event_free(m->tick);
	if (m->base)
		event_base_free(m->base);
	libevent_global_shutdown();
}

int main(int argc, char **argv)
{
	static struct mgmt m = {.o.http = {.limits = {.connections = 256,
						   .connections_each = 32,
						   .handled = 32,
						   .handled_each = 8,
						   .bodies = 96u << 20,
						   .bodies_each = 48u << 20,
						   .streams_each = 8},
					.head_seconds = 10,
					.body_seconds = 30,
					.idle_seconds = 60,
					.turn_seconds = 5}};

	if (!options_parse(argc, argv, &m.o)) {
		fputs(usage, stderr);
		return 2;
	}
	log_init("weir-mgmt", m.o.debug ? LOG_LEVEL_DEBUG : LOG_LEVEL_NOTICE);
	umask(0077);
	mallopt(M_MMAP_THRESHOLD, ALLOCATE_MMAP);
	mallopt(M_ARENA_MAX, ALLOCATE_ARENAS);
	int rc = events_init(&m);
	if (rc == 0)
		rc = privileges_use(&m);
	if (rc == 0)
		rc = server_start(&m);
	if (rc == 0)
		event_base_dispatch(m.base);
	mgmt_fini(&m);
	return rc ? EXIT_FAILURE : EXIT_SUCCESS;
}
