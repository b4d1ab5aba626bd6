/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * task/sys/ucs: a client makes a task, starts it by a state, then asks until it has ended. The work is done while
 * it is started, so that it is over when the client asks.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rest/rest_command.h"
#include "rest/rest_refuse.h"
#include "rest/rest_ucs.h"

#define TASKS_MAX 64u /* the oldest is forgotten */

struct task {
	uint64_t id; /* 0: none */
	const char *state;
	char command[16], name[FILES_NAME_MAX + 1];
};

struct rest_tasks {
	pthread_mutex_t lock; /* of all below */
	struct task task[TASKS_MAX];
	uint64_t last;
};

struct rest_tasks *rest_tasks_new(void)
{
	struct rest_tasks *tasks = calloc(1, sizeof(*tasks));

	if (tasks)
		pthread_mutex_init(&tasks->lock, NULL);
	return tasks;
}

void rest_tasks_free(struct rest_tasks *tasks)
{
	if (tasks)
		pthread_mutex_destroy(&tasks->lock);
	free(tasks);
}

static struct task task_add(struct rest_tasks *tasks, const json_t *body)
{
	struct task *task;
	struct task copy;

	pthread_mutex_lock(&tasks->lock);
	task = &tasks->task[tasks->last++ % TASKS_MAX];
	*task = (struct task){.id = tasks->last, .state = "STARTED"};
	snprintf(task->command, sizeof(task->command), "%s", rest_word(body, "command"));
	snprintf(task->name, sizeof(task->name), "%s", rest_word(body, "name"));
	copy = *task;
	pthread_mutex_unlock(&tasks->lock);
	return copy;
}

/* Its state; begin: if it has not begun, it has. False: there is none. */
static bool task_get(struct rest_tasks *tasks, uint64_t id, bool begin, struct task *out)
{
	struct task *task = &tasks->task[(id - 1) % TASKS_MAX];
	bool found;

	pthread_mutex_lock(&tasks->lock);
	found = id && task->id == id;
	if (found) {
		*out = *task;
		if (begin && !strcmp(task->state, "STARTED"))
			task->state = "VALIDATING";
	}
	pthread_mutex_unlock(&tasks->lock);
	return found;
}

static void task_end(struct rest_tasks *tasks, uint64_t id, bool done)
{
	struct task *task = &tasks->task[(id - 1) % TASKS_MAX];

	pthread_mutex_lock(&tasks->lock);
	if (task->id == id)
		task->state = done ? "COMPLETED" : "FAILED";
	pthread_mutex_unlock(&tasks->lock);
}

static void reply_task(struct rest_call *call, const struct task *task, const char *why)
{
	http_reply_json(call->http, 200,
		json_pack("{s:s, s:I, s:s, s:s, s:s, s:o, s:s*}", "kind",
			"tm:task:sys:ucs:ucstaskstate", "_taskId", (json_int_t)task->id,
			"_taskState", task->state, "command", task->command, "name", task->name,
			"selfLink",
			rest_link(call->rest, "/mgmt/tm/task/sys/ucs/%llu",
				(unsigned long long)task->id),
			"_taskResult", why));
}

static void begin(struct rest_call *call)
{
	struct task task;

	if (!rest_takes_post(call))
		return;
	if (json_array_size(json_object_get(call->body, "options"))) {
		rest_refuse_with(call, 400, REST_ERROR_VALUE,
			"options of archives are not supported: secrets in them are encrypted "
			"under the machine's key");
		return;
	}
	task = task_add(call->rest->tasks, call->body);
	reply_task(call, &task, NULL);
}

static void start(struct rest_call *call, struct task *task)
{
	char why[REST_UCS_REASON_MAX] = "";
	bool done;

	if (strcmp(task->state, "STARTED")) {
		reply_task(call, task, NULL);
		return;
	}
	done = rest_ucs_run(call, task->command, task->name, why);
	task_end(call->rest->tasks, task->id, done);
	task->state = done ? "COMPLETED" : "FAILED";
	reply_task(call, task, *why ? why : NULL);
}

static void handle(struct rest_call *call)
{
	const struct http_request *r = call->http;
	uint64_t id = r->segment_count > 5 ? strtoull(r->segments[5], NULL, 10) : 0;
	bool put = r->method == HTTP_PUT && r->segment_count == 6;
	struct task task;

	if (r->segment_count == 5)
		begin(call);
	else if (!task_get(call->rest->tasks, id, put, &task))
		http_reply_error(call->http, 404, "There is no such task: %s", r->path);
	else if (put)
		start(call, &task);
	else if (r->method == HTTP_GET)
		reply_task(call, &task, NULL);
	else
		http_reply_error(
			call->http, 405, "Tasks are read, and started by PUT: %s", r->path);
}

void rest_ucs_task(struct rest_call *call)
{
	json_t *who = rest_ucs_administrator(call);

	if (who)
		handle(call);
	json_decref(who);
}
