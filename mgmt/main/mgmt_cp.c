/* SPDX-License-Identifier: BSD-3-Clause */
#include "main/mgmt_cp.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "ipc/ipc.h"

#define ANSWER_TIMEOUT_MS 120000u
#define LINES_MAX 128u /* more than requests and streams at once */

struct line {
	int fd; /* -1: none */
	bool busy;
};

struct mgmt_cp {
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
	pthread_mutex_t lock; /* of all below */
	bool stopping;
	struct line lines[LINES_MAX];
};

struct mgmt_cp *mgmt_cp_new(const char *run_dir)
{
	struct mgmt_cp *cp = calloc(1, sizeof(*cp));

	if (!cp)
		return NULL;
	int n = snprintf(cp->path, sizeof(cp->path), "%s/%s", run_dir, IPC_SOCKET_NAME);
	if (n >= (int)sizeof(cp->path)) {
		free(cp);
		return NULL;
	}
	pthread_mutex_init(&cp->lock, NULL);
	for (unsigned i = 0; i < LINES_MAX; i++)
		cp->lines[i].fd = -1;
	return cp;
}

void mgmt_cp_free(struct mgmt_cp *cp)
{
	if (!cp)
		return;
	for (unsigned i = 0; i < LINES_MAX; i++)
		if (cp->lines[i].fd >= 0)
			close(cp->lines[i].fd);
	pthread_mutex_destroy(&cp->lock);
	free(cp);
}

void mgmt_cp_stop(struct mgmt_cp *cp)
{
	pthread_mutex_lock(&cp->lock);
	cp->stopping = true;
	for (unsigned i = 0; i < LINES_MAX; i++)
		if (cp->lines[i].fd >= 0)
			shutdown(cp->lines[i].fd, SHUT_RDWR);
	pthread_mutex_unlock(&cp->lock);
}

/* A line for one request: one that is open if there is any. NULL: all are busy, or we stop. */
static struct line *line_take(struct mgmt_cp *cp)
{
	struct line *found = NULL;

	pthread_mutex_lock(&cp->lock);
	for (unsigned i = 0; i < LINES_MAX && !cp->stopping; i++) {
		struct line *line = &cp->lines[i];

		if (!line->busy && (!found || line->fd >= 0))
			found = line;
		if (found && found->fd >= 0)
			break;
	}
	if (found)
		found->busy = true;
	pthread_mutex_unlock(&cp->lock);
	return found;
}

/* The one place that changes a line's descriptor, so that mgmt_cp_stop never meets a stranger's. */
static void line_set(struct mgmt_cp *cp, struct line *line, int fd)
{
	pthread_mutex_lock(&cp->lock);
	if (line->fd >= 0)
		close(line->fd);
	line->fd = fd;
	if (fd >= 0 && cp->stopping)
		shutdown(fd, SHUT_RDWR);
	pthread_mutex_unlock(&cp->lock);
}

static void line_give(struct mgmt_cp *cp, struct line *line)
{
	pthread_mutex_lock(&cp->lock);
	line->busy = false;
	pthread_mutex_unlock(&cp->lock);
}

static int line_open(struct mgmt_cp *cp, struct line *line)
{
	int fd = ipc_connect(cp->path, ANSWER_TIMEOUT_MS);

	if (fd < 0)
		return fd;
	line_set(cp, line, fd);
	return 0;
}

/* A connection that weir-cp closed since its last use is replaced; nothing was lost with it. */
static int line_send(struct mgmt_cp *cp, struct line *line, const json_t *request)
{
	bool fresh = line->fd < 0;
	int rc = fresh ? line_open(cp, line) : 0;
	char byte;

	if (rc == 0 && !fresh && recv(line->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) >= 0) {
		line_set(cp, line, -1);
		rc = line_open(cp, line);
	}
	return rc ? rc : ipc_send(line->fd, request);
}

/* True: the answer goes on. */
static bool rows_give(const json_t *message, bool (*row)(void *, json_t *), void *arg, bool *enough)
{
	json_t *rows = json_object_get(message, "rows"), *each;
	size_t i;

	if (!rows)
		return false;
	json_array_foreach(rows, i, each) if (!*enough && row && !row(arg, each)) *enough = true;
	return true;
}

static int line_receive(struct line *line, bool (*row)(void *, json_t *), void *arg,
	json_t **result, json_t **error, bool *enough)
{
	for (;;) {
		json_t *message;
		int rc = ipc_receive(line->fd, &message);

		if (rc)
			return rc;
		bool more = rows_give(message, row, arg, enough);
		if (!more) {
			*result = json_incref(json_object_get(message, "result"));
			*error = json_incref(json_object_get(message, "error"));
		}
		json_decref(message);
		if (!more && !*result && !*error)
			return -EPROTO;
		if (!more || *enough)
			return 0;
	}
}

int mgmt_cp_ask(void *ctx, json_t *request, bool (*row)(void *arg, json_t *row), void *arg,
	json_t **result, json_t **error)
{
	struct mgmt_cp *cp = ctx;
	struct line *line = request ? line_take(cp) : NULL;
	bool enough = false;

	*result = *error = NULL;
	if (!line) {
		json_decref(request);
		return request ? -EAGAIN : -ENOMEM;
	}
	int rc = line_send(cp, line, request);
	if (rc == 0)
		rc = line_receive(line, row, arg, result, error, &enough);
	if (rc || (enough && !*result && !*error))
		line_set(cp, line, -1);
	line_give(cp, line);
	json_decref(request);
	return rc;
}

int mgmt_cp_connect(void *ctx)
{
	struct mgmt_cp *cp = ctx;

	return ipc_connect(cp->path, ANSWER_TIMEOUT_MS);
}
