/* SPDX-License-Identifier: BSD-3-Clause */
/* What a request for records may say. */
#include <string.h>

#include "main/cp_log.h"

#define LIMIT_DEFAULT 100
#define LIMIT_MAX 10000

static bool take_number(struct ipc_request *r, const char *name, uint64_t *out, bool *given)
{
	const json_t *value = json_object_get(ipc_request_body(r), name);

	*given = value && !json_is_null(value);
	*out = *given && json_integer_value(value) > 0 ? (uint64_t)json_integer_value(value) : 0;
	if (!*given || (json_is_integer(value) && json_integer_value(value) >= 0))
		return true;
	cp_refuse(r, 400, name, "must be a number, 0 or more");
	return false;
}

static bool take_text(struct ipc_request *r, const char *name, const char **out)
{
	const json_t *value = json_object_get(ipc_request_body(r), name);

	*out = json_string_value(value);
	if (!value || json_is_null(value) || *out)
		return true;
	cp_refuse(r, 400, name, "must be text");
	return false;
}

static bool take_level(struct ipc_request *r, struct journal_filter *f)
{
	const char *level;

	f->level = -1;
	if (!take_text(r, "level", &level))
		return false;
	if (level)
		f->level = event_level_of(level);
	if (!level || f->level >= 0)
		return true;
	cp_refuse(
		r, 400, "level", "must be emerg, alert, crit, err, warning, notice, info or debug");
	return false;
}

static bool take_filter(struct ipc_request *r, struct reader *d, bool *after)
{
	static const char *const known[] = {"after", "before", "from", "until", "object", "actor",
		"address", "incident", "type", "module", "message", "level", "audit", "limit",
		"follow", NULL};
	struct journal_filter *f = &d->filter;
	bool given;

	return cp_knows_all(r, known) && take_number(r, "after", &f->after, after) &&
	       take_number(r, "before", &f->before, &given) &&
	       take_number(r, "from", &f->from, &given) &&
	       take_number(r, "until", &f->until, &given) &&
	       take_number(r, "incident", &f->incident, &given) &&
	       take_text(r, "object", &f->object) && take_text(r, "actor", &f->actor) &&
	       take_text(r, "address", &f->address) && take_text(r, "type", &f->type) &&
	       take_text(r, "module", &f->module) && take_text(r, "message", &f->id) &&
	       take_level(r, f) && cp_flag(r, "audit", &f->audit) &&
	       cp_flag(r, "follow", &d->follow);
}

static bool take_limit(struct ipc_request *r, struct reader *d)
{
	uint64_t limit;
	bool given;

	if (!take_number(r, "limit", &limit, &given))
		return false;
	d->limit =
		given ? (unsigned)(limit < LIMIT_MAX + 1 ? limit : LIMIT_MAX + 1) : LIMIT_DEFAULT;
	if (d->limit >= 1 && d->limit <= LIMIT_MAX)
		return true;
	cp_refuse(r, 400, "limit", "must be a number from 1 to %d", LIMIT_MAX);
	return false;
}

bool cp_log_question(struct ipc_request *r, struct reader *d, bool *after)
{
	return take_filter(r, d, after) && take_limit(r, d);
}
