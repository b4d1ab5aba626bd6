/* SPDX-License-Identifier: BSD-3-Clause */
/* What every input must do: be refused with a reason and leave no trace, or survive print and parse. */
#include <stdio.h>

#include "model/model_internal.h"

static const struct model_actor operator= {.class = HOLD_OPERATOR, .role = ROLE_ADMIN};

static const char sample[] = "net vlan a { interfaces { 1.1 { } } }\n"
			     "net self s { address 10.0.0.1/24 vlan a allow-service { tcp:22 } }\n"
			     "ltm pool web { members { 10.0.0.2:80 { ratio 3 } 10.0.0.3:80 { "
			     "session user-disabled } } }\n"
			     "ltm virtual v { destination 10.0.0.9:80 ip-protocol tcp pool web "
			     "vlans { a } vlans-enabled }\n"
			     "ltm snatpool p { members { 10.0.0.20 } }\n"
			     "ltm profile fastl4 l { idle-timeout 60 }\n"
			     "ltm profile fastl4 m { defaults-from l }\n"
			     "ltm monitor http h { interval 3 recv OK password x }\n"
			     "ltm monitor http i { defaults-from h }\n"
			     "ltm node n { fqdn { name n.example } monitor icmp }\n"
			     "ltm pool api { monitor min 1 of { h tcp } members { n:80 { } } }\n";

static void fault(const char *what, const struct text *a, const struct text *b)
{
	fprintf(stderr, "%s\n%s\n---\n%s\n", what, a->data ? a->data : "",
		b && b->data ? b->data : "");
	abort();
}

/* The store's first line only says which ids were ever given out. */
static const char *behind_floor(const struct text *t)
{
	const char *text = t->data ? t->data : "";

	return strncmp(text, "id-floor", 8) ? text : strchr(text, '\n');
}

static bool same_text(const struct text *a, const struct text *b)
{
	return !strcmp(behind_floor(a), behind_floor(b));
}

/* Ends a transaction: what is taken prints, what is refused has a reason and leaves before. */
static int settle(struct model *m, int rc, struct model_error *err, const struct text *before,
	unsigned print, struct text *out)
{
	if (!rc)
		rc = model_commit(m, NULL, err);
	if (rc) {
		model_abort(m);
		if (!err->reason[0])
			fault("a refusal without a reason", before, NULL);
	}
	model_print(m, print, out);
	if (rc && !same_text(before, out))
		fault("a refused change left a trace", before, out);
	return rc;
}

static int load_text(const char *text, size_t len, unsigned flags, struct text *out)
{
	unsigned print = flags & LOAD_STORE ? PRINT_STORE : 0;
	struct model *m = model_new();
	struct model_error err = {0};
	struct text before = {0};
	int rc;

	model_print(m, print, &before);
	model_begin(m, &operator);
	rc = settle(m, model_load(m, text, len, "fuzz", flags, &err), &err, &before, print, out);
	text_fini(&before);
	model_free(m);
	return rc;
}

/* A printed configuration comes back the same. */
static void check_round(const struct text *first)
{
	struct text second = {0};

	if (load_text(first->data ? first->data : "", first->len, 0, &second) ||
		!same_text(first, &second))
		fault("not the same after print and parse", first, &second);
	text_fini(&second);
}

void model_fuzz_conf(const char *text, size_t len)
{
	struct text first = {0}, store = {0}, second = {0};

	if (load_text(text, len, 0, &first) == 0)
		check_round(&first);
	if (load_text(text, len, LOAD_STORE, &store) == 0 &&
		(load_text(store.data, store.len, LOAD_STORE, &second) ||
			!same_text(&store, &second)))
		fault("the store is not the same after print and parse", &store, &second);
	text_fini(&first);
	text_fini(&store);
	text_fini(&second);
}

/* A change of the sample configuration. */
static void fuzz_change(
	int (*change)(struct model *m, const void *input, unsigned how, struct model_error *err),
	const void *input, unsigned how)
{
	struct model *m = model_new();
	struct model_error err = {0};
	struct text before = {0}, after = {0};

	model_begin(m, &operator);
	if (model_load(m, sample, sizeof(sample) - 1, "sample", 0, &err) ||
		model_commit(m, NULL, &err))
		abort();
	model_print(m, 0, &before);
	model_begin(m, &operator);
	if (settle(m, change(m, input, how, &err), &err, &before, 0, &after) == 0)
		check_round(&after);
	text_fini(&before);
	text_fini(&after);
	model_free(m);
}

static int change_words(struct model *m, const void *input, unsigned how, struct model_error *err)
{
	return model_edit(m, (enum model_verb)how, input, err);
}

static int change_json(struct model *m, const void *input, unsigned how, struct model_error *err)
{
	const struct object *o = model_at(m, (enum model_kind)how, 0);
	int rc = o ? model_set_json(m, o->id, input, false, err) : 0;

	if (rc || model_kinds[how].owner >= 0)
		return rc;
	return json_object_get(input, "name")
		       ? model_create_json(m, (enum model_kind)how, ID_NONE, input, NULL, err)
		       : 0;
}

/* A body that means nothing to a kind is refused at its first word, by all of them alike. */
static bool knows_any(enum model_kind kind, const json_t *body)
{
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)body, key, value)
	{
		if (model_field_rest(kind, NULL, key))
			return true;
	}
	return kind == KIND_POOL || kind == KIND_VIRTUAL;
}

void model_fuzz_change(const char *text, size_t len)
{
	json_error_t error;
	json_t *body = json_loadb(text, len, 0, &error);
	char *words = strndup(text, len);

	for (unsigned verb = VERB_CREATE; words && verb <= VERB_DELETE; verb++)
		fuzz_change(change_words, words, verb);
	for (unsigned kind = 0; json_is_object(body) && kind < MODEL_KINDS; kind++)
		if (knows_any(kind, body))
			fuzz_change(change_json, body, kind);
	json_decref(body);
	free(words);
}
