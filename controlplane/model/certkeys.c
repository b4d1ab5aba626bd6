/* SPDX-License-Identifier: BSD-3-Clause */
/* Certificates of a client SSL profile: cert, key and chain are those of its first cert-key-chain. */
#include "model/model_internal.h"

static const struct field *field_of(const char *name)
{
	return model_field_find(KIND_PROFILE_CLIENT_SSL, NULL, name);
}

static bool given(const struct item *it, const char *name)
{
	return it->given & field_bit(it, field_of(name));
}

/* Whether this transaction gave the field another value. */
static bool changed(const struct model *m, const struct item *it, const char *name)
{
	const struct field *f = field_of(name);
	const void *before = touch_of(m, it)->before;

	return given(it, name) &&
	       (!before || memcmp(field_in(f, before), field_in(f, it->data), f->size) != 0);
}

static int take_first(struct model *m, struct item *it, struct model_error *err)
{
	static const char *const names[] = {"cert", "key", "chain"};
	json_t *rows = rows_json(m, it, field_of("cert-key-chain"));
	int rc = 0;

	for (size_t i = 0; !rc && i < sizeof(names) / sizeof(names[0]); i++) {
		const char *path =
			json_string_value(json_object_get(json_array_get(rows, 0), names[i]));
		rc = set_text(m, it, field_of(names[i]), path ? path : "none", err);
	}
	json_decref(rows);
	return rc;
}

static const char *path_of(const struct model *m, uint32_t id)
{
	const struct item *it = item_of(m, id);

	return it ? it->o.path : "";
}

static int make_one(struct model *m, struct item *it, struct model_error *err)
{
	const struct profile_client_ssl_conf *conf =
		&((const struct profile_client_ssl *)it->data)->conf;
	json_t *rows = json_pack("[{s:s, s:s, s:s, s:s}]", "name", "default", "cert",
		path_of(m, conf->cert), "key", path_of(m, conf->key), "chain",
		path_of(m, conf->chain));
	int rc = rows ? rows_set(m, it, field_of("cert-key-chain"), rows, LIST_REPLACE, err)
		      : fail(m, err, -ENOMEM, it, "cert-key-chain", "no memory");

	json_decref(rows);
	return rc;
}

int cert_keys_complete(struct model *m, struct item *it, struct model_error *err)
{
	if (changed(m, it, "cert-key-chain"))
		return take_first(m, it, err);
	if (changed(m, it, "cert") || changed(m, it, "key") || changed(m, it, "chain"))
		return make_one(m, it, err);
	return 0;
}
