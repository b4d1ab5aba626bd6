/* SPDX-License-Identifier: BSD-3-Clause */
#include "snmp/snmp_fetch.h"

#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "ipc/ipc.h"
#include "snmp/snmp_conf.h"
#include "snmp/snmp_host.h"
#include "snmp/snmp_picture.h"

#define SECOND 1000000000ull
#define ANSWER_MS 20000u	 /* weir-cp may take for a part of an answer */
#define TURN_MS 250u		 /* between looks at whether there is something to do */
#define REFRESH_NS (2 * SECOND)	 /* a picture is at least so old before the next */
#define REFRESH_SHARE 5u	 /* and so many times as old as it took to make it */
#define POLLED_NS (60 * SECOND)	 /* pictures are made until nobody asked for so long */
#define SETTINGS_NS (SECOND / 2) /* between questions whether settings changed */
#define OLD_NS (8 * SECOND)	 /* an older one is waited for */
#define GONE_NS (60 * SECOND)	 /* without weir-cp, states are told for so long */
#define WAIT_NS (3 * SECOND)	 /* for a newer picture, less than snmpd waits for us */

struct picture {
	struct snmp_data *data;
	unsigned users;
	bool current;
};

static struct {
	const struct snmp_fetch_options *o;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t made, wake;
	bool started, stop, connected;	      /* lock */
	bool serving;			      /* lock */
	struct picture *current;	      /* lock */
	uint64_t polled_ns, made_ns, took_ns; /* lock */
	/* the thread's own */
	int fd;
	json_t *settings;
	json_int_t generation;
	uint64_t sampled_ns, asked_ns;
	bool told; /* to weir-cp: that snmpd answers */
} fetch = {.lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1, .generation = -1};

static void picture_drop(struct picture *p)
{
	if (p && !p->current && p->users == 0) {
		snmp_data_free(p->data);
		free(p);
	}
}

/* Takes over data. */
static void picture_set(struct snmp_data *data, uint64_t took_ns)
{
	struct picture *p = calloc(1, sizeof(*p)), *before;

	if (!p) {
		snmp_data_free(data);
		return;
	}
	*p = (struct picture){.data = data, .current = true};
	pthread_mutex_lock(&fetch.lock);
	before = fetch.current;
	if (before)
		before->current = false;
	fetch.current = p;
	fetch.made_ns = clock_ns();
	fetch.took_ns = took_ns;
	picture_drop(before);
	pthread_cond_broadcast(&fetch.made);
	pthread_mutex_unlock(&fetch.lock);
}

static uint64_t old_ns(void)
{
	return OLD_NS + 2 * REFRESH_SHARE * fetch.took_ns;
}

static struct picture *held;

const struct snmp_data *snmp_fetch_get(void)
{
	struct timespec until;
	uint64_t now = clock_ns(), end = now + WAIT_NS;

	until = (struct timespec){(time_t)(end / SECOND), (long)(end % SECOND)};
	pthread_mutex_lock(&fetch.lock);
	fetch.polled_ns = now;
	while (!fetch.current || (fetch.connected && fetch.made_ns + old_ns() < now)) {
		pthread_cond_signal(&fetch.wake);
		if (pthread_cond_timedwait(&fetch.made, &fetch.lock, &until))
			break;
	}
	held = fetch.current;
	if (held)
		held->users++;
	pthread_mutex_unlock(&fetch.lock);
	return held ? held->data : NULL;
}

void snmp_fetch_put(const struct snmp_data *d)
{
	if (!d)
		return;
	pthread_mutex_lock(&fetch.lock);
	held->users--;
	picture_drop(held);
	pthread_mutex_unlock(&fetch.lock);
}

void snmp_fetch_serving(bool serving)
{
	pthread_mutex_lock(&fetch.lock);
	fetch.serving = serving;
	pthread_mutex_unlock(&fetch.lock);
}

/* --- the thread ------------------------------------------------------------------------------------ */

static void lose(int rc)
{
	log_notice("weir-cp: connection lost: %s", strerror(-rc));
	close(fetch.fd);
	fetch.fd = -1;
}

static bool connected(void)
{
	char path[4096];

	if (fetch.fd >= 0)
		return true;
	snprintf(path, sizeof(path), "%s/" SNMP_SOCKET_NAME, fetch.o->run_dir);
	fetch.fd = ipc_connect(path, ANSWER_MS);
	fetch.generation = -1;
	return fetch.fd >= 0;
}

static bool send_all(int fd, const void *bytes, size_t length)
{
	const char *p = bytes;

	while (length > 0) {
		ssize_t n = send(fd, p, length, MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		p += n;
		length -= (size_t)n;
	}
	return true;
}

static void conf_send(void)
{
	char *text = snmp_conf(fetch.settings, fetch.o->agentx, fetch.o->addresses);
	uint32_t length = text ? htonl((uint32_t)strlen(text)) : 0;

	if (text && !(send_all(fetch.o->keeper, &length, sizeof(length)) &&
			    send_all(fetch.o->keeper, text, strlen(text))))
		log_error("snmpd: its configuration cannot be handed over: %s", strerror(errno));
	if (text)
		explicit_bzero(text, strlen(text));
	free(text);
}

static void settings_ask(void)
{
	int rc;
	json_t *result = snmp_ask(fetch.fd,
		json_pack("{s:s,s:I}", "op", "snmp-settings", "after", fetch.generation), NULL,
		NULL, &rc);
	json_t *settings = json_object_get(result, "settings");

	if (rc) {
		lose(rc);
	} else if (settings) {
		fetch.generation = json_integer_value(json_object_get(result, "generation"));
		json_decref(fetch.settings);
		fetch.settings = json_incref(settings);
		conf_send();
	}
	json_decref(result);
}

/* Once for each change, however often weir-cp is away meanwhile. */
static void serving_tell(bool serving)
{
	int rc;

	if (serving == fetch.told)
		return;
	json_decref(snmp_ask(fetch.fd,
		json_pack("{s:s,s:b}", "op", "snmp-report", "serving", (int)serving), NULL, NULL,
		&rc));
	if (rc)
		lose(rc);
	else
		fetch.told = serving;
}

static bool picture_wanted(uint64_t now)
{
	uint64_t age = REFRESH_NS;

	pthread_mutex_lock(&fetch.lock);
	if (REFRESH_SHARE * fetch.took_ns > age)
		age = REFRESH_SHARE * fetch.took_ns;
	bool wanted =
		!fetch.current || (now < fetch.polled_ns + POLLED_NS && now >= fetch.made_ns + age);
	pthread_mutex_unlock(&fetch.lock);
	return wanted;
}

static void picture_make(uint64_t now)
{
	struct snmp_data *data = NULL;
	int rc = snmp_picture(fetch.fd, fetch.settings, &data);

	if (rc)
		lose(rc);
	else
		picture_set(data, clock_ns() - now);
}

/* States of which nobody knows whether they still hold are told no more. */
static void picture_forget(uint64_t now)
{
	pthread_mutex_lock(&fetch.lock);
	bool old = !fetch.current || now > fetch.made_ns + GONE_NS;
	fetch.connected = false;
	pthread_mutex_unlock(&fetch.lock);
	struct snmp_data *alone = old ? snmp_picture_alone(fetch.settings) : NULL;
	if (alone)
		picture_set(alone, 0);
}

static void turn(uint64_t now)
{
	if (now >= fetch.sampled_ns + SECOND) {
		snmp_host_sample();
		fetch.sampled_ns = now;
	}
	if (!connected()) {
		picture_forget(now);
		return;
	}
	pthread_mutex_lock(&fetch.lock);
	fetch.connected = true;
	bool serving = fetch.serving;
	pthread_mutex_unlock(&fetch.lock);
	serving_tell(serving);
	if (fetch.fd < 0)
		return;
	if (now >= fetch.asked_ns + SETTINGS_NS) {
		settings_ask();
		fetch.asked_ns = now;
	}
	if (fetch.fd >= 0 && picture_wanted(now))
		picture_make(now);
}

static bool wait_turn(void)
{
	uint64_t end = clock_ns() + TURN_MS * 1000000ull;
	struct timespec until = {(time_t)(end / SECOND), (long)(end % SECOND)};

	pthread_mutex_lock(&fetch.lock);
	if (!fetch.stop)
		pthread_cond_timedwait(&fetch.wake, &fetch.lock, &until);
	bool stop = fetch.stop;
	pthread_mutex_unlock(&fetch.lock);
	return !stop;
}

static void *run(void *arg)
{
	do {
		turn(clock_ns());
	} while (wait_turn());
	if (fetch.fd >= 0)
		serving_tell(false);
	if (fetch.fd >= 0)
		close(fetch.fd);
	json_decref(fetch.settings);
	return NULL;
}

int snmp_fetch_start(const struct snmp_fetch_options *o)
{
	pthread_condattr_t attr;
	sigset_t all, before;

	fetch.o = o;
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&fetch.made, &attr);
	pthread_cond_init(&fetch.wake, &attr);
	pthread_condattr_destroy(&attr);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int rc = -pthread_create(&fetch.thread, NULL, run, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	fetch.started = rc == 0;
	return rc;
}

void snmp_fetch_stop(void)
{
	if (!fetch.started)
		return;
	pthread_mutex_lock(&fetch.lock);
	fetch.stop = true;
	pthread_cond_signal(&fetch.wake);
	pthread_mutex_unlock(&fetch.lock);
	pthread_join(fetch.thread, NULL);
	if (fetch.current)
		fetch.current->current = false;
	picture_drop(fetch.current);
}
