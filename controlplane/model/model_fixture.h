/* SPDX-License-Identifier: BSD-3-Clause */
/* What the model's tests share: a model, commands in tmsh's words, and what they leave or answer. */
#ifndef WEIR_MODEL_FIXTURE_H
#define WEIR_MODEL_FIXTURE_H

#include <errno.h>

#include "base/check.h"
#include "model/model.h"

static const struct model_actor fixture_operator = {.class = HOLD_OPERATOR, .role = ROLE_ADMIN};
static const struct model_actor fixture_agent = {
	.class = HOLD_AGENT, .role = ROLE_OPERATOR, .reason = "heap is full"};

/* Text of the last error or, after a commit, its note. */
static char fixture_said[2048];

static inline int fixture_end(
	struct model *m, int rc, struct model_error *err, struct model_changes *out)
{
	struct model_changes changes = {0};

	fixture_said[0] = '\0';
	if (!rc)
		rc = model_commit(m, &changes, err);
	if (rc) {
		model_error_text(err, fixture_said, sizeof(fixture_said));
		model_abort(m);
		return rc;
	}
	snprintf(fixture_said, sizeof(fixture_said), "%s", changes.note);
	if (out)
		*out = changes;
	else
		model_changes_fini(&changes);
	return 0;
}

/* One command in a transaction of its own: "create ltm pool web". */
static inline int command_as(struct model *m, const struct model_actor *actor, const char *line,
	struct model_changes *out)
{
	struct model_error err = {0};
	const char *rest = strchr(line, ' ') + 1;
	enum model_verb verb = line[0] == 'c'	? VERB_CREATE
			       : line[0] == 'm' ? VERB_MODIFY
						: VERB_DELETE;

	CHECK(model_begin(m, actor) == 0);
	return fixture_end(m, model_edit(m, verb, rest, &err), &err, out);
}

static inline int command(struct model *m, const char *line)
{
	return command_as(m, &fixture_operator, line, NULL);
}

static inline void must(struct model *m, const char *line)
{
	if (command(m, line)) {
		fprintf(stderr, "%s: %s\n", line, fixture_said);
		abort();
	}
}

/* The command is refused with exactly these words, and leaves nothing behind. */
static inline void must_fail(struct model *m, const char *line, const char *said)
{
	struct text before = {0}, after = {0};

	model_print(m, PRINT_STORE, &before);
	CHECK(command(m, line) != 0);
	CHECK_STR(fixture_said, said);
	model_print(m, PRINT_STORE, &after);
	/* the first line, the floor of ids, may differ */
	CHECK_STR(strchr(after.data, '\n'), strchr(before.data, '\n'));
	text_fini(&before);
	text_fini(&after);
}

static inline int load(struct model *m, const char *text, unsigned flags, struct model_changes *out)
{
	struct model_error err = {0};

	CHECK(model_begin(m, &fixture_operator) == 0);
	return fixture_end(
		m, model_load(m, text, strlen(text), "weir.conf", flags, &err), &err, out);
}

static inline const struct object *object(
	const struct model *m, enum model_kind kind, const char *name)
{
	const struct object *o = model_find(m, kind, ID_NONE, name);

	if (!o) {
		fprintf(stderr, "no %s %s\n", model_kinds[kind].full, name);
		abort();
	}
	return o;
}

static inline const struct object *member(const struct model *m, const char *pool, const char *name)
{
	return model_find(m, KIND_POOL_MEMBER, object(m, KIND_POOL, pool)->id, name);
}

#endif
