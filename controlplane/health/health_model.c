/* SPDX-License-Identifier: BSD-3-Clause */
/* A monitor of the model, as weir-mon gets it: with the files that it names. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "health/health_detect.h"
#include "health/health_internal.h"
#include "store/atomic_file.h"

#define FILE_MAX (256u << 10) /* a chain of certificates is some KB */
#define SCRIPTS "external-monitors"

static void fault_set(struct health_monitor *m, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void fault_set(struct health_monitor *m, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	free(m->fault);
	if (vasprintf(&m->fault, format, ap) < 0)
		m->fault = NULL;
	va_end(ap);
	json_decref(m->message);
	m->message = NULL;
}

/* Text of the file, or its path if it is a program. NULL: *m says why. */
static json_t *file_of(
	const struct health *h, struct health_monitor *m, const struct field *f, const char *name)
{
	char path[4096], *data;
	size_t length;

	snprintf(path, sizeof(path), "%s/%s/%s", h->file_dir, f->folder, name);
	if (!strcmp(f->folder, SCRIPTS))
		return json_string(path);
	int rc = file_read(path, &data, &length);
	if (rc == 0 && length > FILE_MAX) {
		explicit_bzero(data, length);
		free(data);
		rc = -EFBIG;
	}
	if (rc) {
		fault_set(
			m, "%s: %s/%s cannot be read: %s", f->name, f->folder, name, strerror(-rc));
		return NULL;
	}
	json_t *text = json_stringn(data, length);
	explicit_bzero(data, length);
	free(data);
	if (!text)
		fault_set(m, "%s: %s/%s is no text", f->name, f->folder, name);
	return text;
}

static void files_put(const struct health *h, const struct object *o, struct health_monitor *m)
{
	const struct kind *kind = &model_kinds[o->kind];

	for (unsigned i = 0; i < kind->field_count && m->message; i++) {
		const struct field *f = &kind->fields[i];
		const char *member = f->probe ? f->probe : f->name;
		const char *name =
			f->folder ? json_string_value(json_object_get(m->message, member)) : NULL;
		m->files |= name && *name && strcmp(f->folder, SCRIPTS);
		json_t *text = name && *name ? file_of(h, m, f, name) : NULL;

		if (text)
			json_object_set_new(m->message, member, text);
	}
}

static unsigned number_of(const json_t *fields, const char *name)
{
	return (unsigned)json_integer_value(json_object_get(fields, name));
}

static void passive_read(struct health_monitor *m)
{
	m->passive = (struct health_passive_conf){
		.failures = number_of(m->message, "failures"),
		.failure_interval = number_of(m->message, "failure-interval"),
		.retry_time = number_of(m->message, "retry-time"),
	};
	json_decref(m->message);
	m->message = NULL;
}

static void destination_read(const struct object *o, struct health_monitor *m)
{
	struct model_destination to;

	if (!model_monitor_destination(o, &to))
		return;
	if (!ip_is_any(&to.addr))
		m->to_address = to.addr;
	m->to_port = to.port;
}

void health_model_monitor(const struct health *h, const struct object *o, struct health_monitor *m)
{
	const char *type = model_monitor_type(o->kind);

	m->active = strcmp(type, "inband") != 0;
	m->advises = health_advises(o->kind);
	m->manual_resume = model_monitor_manual_resume(o);
	m->name = strdup(o->path);
	m->message = model_monitor_json(h->model, o);
	if (!m->message || !m->name) {
		fault_set(m, "no memory");
		return;
	}
	if (!m->active) {
		passive_read(m);
		return;
	}
	destination_read(o, m);
	json_object_set_new(m->message, "type", json_string(MON_MONITOR));
	json_object_set_new(m->message, "id", json_integer(o->id));
	json_object_set_new(m->message, "name", json_string(o->path));
	json_object_set_new(m->message, "kind", json_string(type));
	files_put(h, o, m);
}
