/* SPDX-License-Identifier: BSD-3-Clause */
/* Data groups: names are of the type that the group has. */
#include "model/model_internal.h"

static bool is_integer(const char *text)
{
	text += *text == '-';
	return *text && strspn(text, "0123456789") == strlen(text) && strlen(text) <= 20;
}

static bool name_fits(unsigned type, const char *name)
{
	struct ip_addr addr;
	unsigned len;

	switch (type) {
	case DATA_GROUP_INTERNAL_TYPE_IP:
		return model_network(name, &addr, &len) == 0;
	case DATA_GROUP_INTERNAL_TYPE_INTEGER:
		return is_integer(name);
	default:
		return true;
	}
}

int check_data_group(struct model *m, struct item *it, struct model_error *err)
{
	static const char *const what[] = {"text", "address or network", "number"};
	const struct data_group_internal *group = it->data;
	const struct field *f = model_field_find(it->o.kind, NULL, "records");
	json_t *rows = rows_json(m, it, f), *row;
	size_t i;
	int rc = 0;

	json_array_foreach(rows, i, row)
	{
		const char *name = json_string_value(json_object_get(row, "name"));
		if (name_fits(group->conf.type, name))
			continue;
		rc = fail(m, err, -EINVAL, it, "records", "\"%.100s\" is no %s", name,
			what[group->conf.type]);
		break;
	}
	json_decref(rows);
	return rc;
}
