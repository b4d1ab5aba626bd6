/* SPDX-License-Identifier: BSD-3-Clause */
/* The server runs in the main thread; each test is a client in a thread of its own. */
#include "ipc/ipc_server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/check.h"
#include "base/clock.h"

#define ROWS 200000u

static char path[64];
static struct event_base *base;
static atomic_uint produced, freed, gone;
static struct ipc_request *parked;

static void on_gone(void *ctx)
{
	parked = NULL;
	gone++;
}

static enum ipc_step rows_next(struct ipc_request *r, void *ctx)
{
	unsigned *n = ctx;

	for (unsigned i = 0; i < 100 && *n < ROWS; i++) {
		ipc_row(r, json_pack("{s:i,s:s}", "number", (int)(*n)++, "text",
				   "some text of a row"));
		produced++;
	}
	if (*n < ROWS)
		return IPC_MORE;
	ipc_reply(r, json_pack("{s:i}", "count", (int)*n));
	return IPC_END;
}

static void rows_free(void *ctx)
{
	free(ctx);
	freed++;
}

static void handler(struct ipc_request *r, void *ctx)
{
	static const struct ipc_stream stream = {rows_next, rows_free};
	const char *op = json_string_value(json_object_get(ipc_request_body(r), "op"));

	if (!strcmp(op, "peer")) {
		ipc_reply(r, json_pack("{s:i,s:i}", "uid", (int)ipc_request_peer(r)->uid, "pid",
				     (int)ipc_request_peer(r)->pid));
	} else if (!strcmp(op, "rows")) {
		ipc_stream(r, &stream, calloc(1, sizeof(unsigned)));
	} else if (!strcmp(op, "park")) {
		parked = r;
		ipc_request_on_gone(r, on_gone, NULL);
	} else if (!strcmp(op, "unpark")) {
		ipc_reply(parked, json_object());
		ipc_reply(r, json_object());
	} else {
		ipc_reply_error(
			r, &(struct ipc_error){.code = 400, .object = op, .reason = "unknown"});
	}
}

static int client_new(void)
{
	int fd = ipc_connect(path, 20000);

	CHECK(fd >= 0);
	return fd;
}

static void ask(int fd, const char *op, int id)
{
	json_t *request = json_pack("{s:s,s:i}", "op", op, "id", id);

	CHECK_INT(ipc_send(fd, request), 0);
	json_decref(request);
}

static json_t *answer(int fd, int id)
{
	json_t *message = NULL;

	CHECK_INT(ipc_receive(fd, &message), 0);
	CHECK_INT(json_integer_value(json_object_get(message, "id")), id);
	return message;
}

static void test_answers_in_order(void)
{
	int fd = client_new();

	ask(fd, "peer", 1);
	ask(fd, "nonsense", 2);
	ask(fd, "peer", 3);
	json_t *m = answer(fd, 1);
	CHECK_INT(
		json_integer_value(json_object_get(json_object_get(m, "result"), "pid")), getpid());
	json_decref(m);
	m = answer(fd, 2);
	json_t *error = json_object_get(m, "error");
	CHECK_INT(json_integer_value(json_object_get(error, "code")), 400);
	CHECK_STR(json_string_value(json_object_get(error, "object")), "nonsense");
	CHECK_STR(json_string_value(json_object_get(error, "field")), "");
	CHECK_STR(json_string_value(json_object_get(error, "text")), "unknown");
	json_decref(m);
	json_decref(answer(fd, 3));
	close(fd);
}

static void expect_refused(const void *bytes, size_t length, int code)
{
	int fd = client_new();
	json_t *m = NULL;

	CHECK(send(fd, bytes, length, MSG_NOSIGNAL) == (ssize_t)length);
	CHECK_INT(ipc_receive(fd, &m), 0);
	CHECK_INT(json_integer_value(json_object_get(json_object_get(m, "error"), "code")), code);
	json_decref(m);
	CHECK_INT(ipc_receive(fd, &m), -EPIPE);
	close(fd);
}

static void test_bad_frames(void)
{
	expect_refused("\0\0\0\4nope", 8, 400);
	expect_refused("\0\0\0\2[]", 6, 400);
	expect_refused("\0\0\0\0", 4, 400);
	expect_refused("\377\377\377\377", 4, 413);
	expect_refused("\0\0\0\x0d{\"a\":1,\"a\":2}", 17, 400);
	int fd = client_new();
	CHECK(send(fd, "\0\0\0\5{}", 6, MSG_NOSIGNAL) == 6); /* half a frame, then gone */
	close(fd);
}

static void wait_for(atomic_uint *what, unsigned value)
{
	uint64_t end = clock_ns() + 10000000000ull;

	while (*what != value && clock_ns() < end)
		usleep(1000);
	CHECK_INT(*what, value);
}

/* A reader that stops holds up nobody, and not much is made for it. */
static void test_slow_reader(void)
{
	int slow = client_new(), other = client_new();
	unsigned before = produced, last = 0, rows = 0;

	ask(slow, "rows", 1);
	do {
		last = produced;
		usleep(50000);
	} while (produced == before || produced != last);
	CHECK(produced - before < ROWS / 4);
	ask(other, "peer", 2);
	json_decref(answer(other, 2));
	for (;;) {
		json_t *m = answer(slow, 1), *part = json_object_get(m, "rows");
		if (!part) {
			json_t *result = json_object_get(m, "result");
			CHECK_INT(json_integer_value(json_object_get(result, "count")), ROWS);
			json_decref(m);
			break;
		}
		for (size_t i = 0; i < json_array_size(part); i++, rows++)
			CHECK_INT(json_integer_value(
					  json_object_get(json_array_get(part, i), "number")),
				rows);
		json_decref(m);
	}
	CHECK_INT(rows, ROWS);
	close(slow);
	close(other);
}

static void test_vanished_reader(void)
{
	unsigned frees = freed, gones = gone;
	int fd = client_new();

	ask(fd, "rows", 1);
	json_decref(answer(fd, 1));
	close(fd);
	wait_for(&freed, frees + 1);
	fd = client_new();
	ask(fd, "park", 1);
	usleep(20000);
	close(fd);
	wait_for(&gone, gones + 1);
}

static void test_late_answer(void)
{
	int fd = client_new(), other = client_new();

	ask(fd, "park", 1);
	ask(fd, "peer", 2); /* waits behind the first */
	usleep(20000);
	ask(other, "unpark", 3);
	json_decref(answer(other, 3));
	json_decref(answer(fd, 1));
	json_decref(answer(fd, 2));
	close(fd);
	close(other);
}

static void on_tick(evutil_socket_t fd, short what, void *arg) {}

static void *clients(void *arg)
{
	test_answers_in_order();
	test_bad_frames();
	test_slow_reader();
	test_vanished_reader();
	test_late_answer();
	int fd = client_new();
	ask(fd, "park", 1); /* the server ends while this waits */
	usleep(20000);
	event_base_loopbreak(base);
	return (void *)(intptr_t)fd;
}

int main(void)
{
	struct timeval tick = {.tv_usec = 10000};
	pthread_t thread;
	void *fd;

	snprintf(path, sizeof(path), "/tmp/weir-ipc-test-%d.sock", getpid());
	base = event_base_new();
	struct ipc_server *s = ipc_server_new(base, path, handler, NULL);
	CHECK(s != NULL);
	CHECK(ipc_server_new(base, path, handler, NULL) == NULL && errno == EADDRINUSE);
	/* Wakes the loop so that loopbreak from the other thread is seen. */
	struct event *e = event_new(base, -1, EV_PERSIST, on_tick, NULL);
	event_add(e, &tick);
	CHECK_INT(pthread_create(&thread, NULL, clients, NULL), 0);
	event_base_dispatch(base);
	pthread_join(thread, &fd);
	ipc_server_free(s);
	json_t *m = NULL;
	CHECK_INT(ipc_receive((int)(intptr_t)fd, &m), -EPIPE);
	close((int)(intptr_t)fd);
	CHECK(access(path, F_OK) != 0);
	event_free(e);
	event_base_free(base);
	libevent_global_shutdown();
	return 0;
}
