/* SPDX-License-Identifier: BSD-3-Clause */
/* Values of fields: from LTM's text to the struct and back. */
#include "model/model_internal.h"

#include <stdio.h>

static int bad(struct value *v, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static int bad(struct value *v, int code, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(v->reason, sizeof(v->reason), format, ap);
	va_end(ap);
	return code;
}

uint32_t value_number_get(const struct field *f, const void *data)
{
	const void *p = field_in(f, data);

	return f->size == 1   ? *(const uint8_t *)p
	       : f->size == 2 ? *(const uint16_t *)p
			      : *(const uint32_t *)p;
}

void value_number_put(const struct field *f, void *data, uint32_t value)
{
	void *p = field_at(f, data);

	if (f->size == 1)
		*(uint8_t *)p = (uint8_t)value;
	else if (f->size == 2)
		*(uint16_t *)p = (uint16_t)value;
	else
		*(uint32_t *)p = value;
}

/* ---- numbers and words ---- */

static void number_store(const struct field *f, struct value *v, uint32_t value)
{
	struct field plain = *f;

	plain.offset = 0;
	value_number_put(&plain, v->data, value);
}

static int parse_int(const struct field *f, const char *text, struct value *v)
{
	char *end;
	unsigned long value;

	for (const struct field_word *w = f->words; w && w->text; w++) {
		if (strcmp(w->text, text))
			continue;
		number_store(f, v, w->value);
		return 0;
	}
	if (!*text || strspn(text, "0123456789") != strlen(text) || strlen(text) > 18)
		return bad(v, -EINVAL, "\"%s\" is not a number", text);
	value = strtoul(text, &end, 10);
	if (value < f->min || value > f->max)
		return bad(v, -EINVAL, "%s is not between %u and %u", text, f->min, f->max);
	number_store(f, v, (uint32_t)value);
	return 0;
}

static int parse_enum(const struct field *f, const char *text, struct value *v)
{
	struct text all = {0};

	if (f->rest_folder && !strncmp(text, FOLDER_COMMON "/", sizeof(FOLDER_COMMON)))
		text += sizeof(FOLDER_COMMON);
	for (const struct field_word *w = f->words; w->text; w++) {
		if (strcmp(w->text, text)) {
			text_printf(&all, "%s%s", all.len ? ", " : "", w->text);
			continue;
		}
		text_fini(&all);
		if (!w->supported)
			return bad(v, -EOPNOTSUPP, "\"%s\" is not supported yet", text);
		number_store(f, v, w->value);
		return 0;
	}
	bad(v, -EINVAL, "\"%s\" is none of: %s", text, all.data ? all.data : "");
	text_fini(&all);
	return -EINVAL;
}

static int parse_string(struct model *m, const struct field *f, const char *text, struct value *v)
{
	size_t len = strlen(text);

	if (len > f->max && !(f->class == FIELD_SECRET && secret_is_sealed(text)))
		return bad(v, -EINVAL, "%zu bytes are more than the %u allowed", len, f->max);
	if (f->hash && !hash_ok(text))
		return bad(v, -EINVAL,
			"is no hash of yescrypt or SHA-512 that can be checked in reasonable time");
	uint32_t handle = 0;
	int rc = 0;
	if (f->class == FIELD_SECRET)
		rc = secret_parse(m, text, &handle, v->reason, sizeof(v->reason));
	else
		handle = strings_get(&m->strings, text, len);
	if (rc)
		return rc;
	if (handle == UINT32_MAX)
		return bad(v, -ENOMEM, "no memory");
	number_store(f, v, handle);
	return 0;
}

/* ---- addresses ---- */

static int parse_prefix(const struct field *f, const char *text, struct value *v)
{
	struct model_prefix *p = (struct model_prefix *)v->data;
	const char *slash = strchr(text, '/');
	char addr[IP_ADDR_TEXT + 8];
	char *end;
	int rc;

	if (!strcmp(text, "default") || !strcmp(text, "any") || !strcmp(text, "default-inet6") ||
		!strcmp(text, "any6"))
		return ip_parse(strchr(text, '6') ? "::" : "0.0.0.0", &p->addr);
	if (!slash && f->host)
		return bad(v, -EINVAL, "\"%s\" needs a prefix length, like 10.0.0.1/24", text);
	size_t len = slash ? (size_t)(slash - text) : strlen(text);
	if (len >= sizeof(addr))
		return bad(v, -EINVAL, "\"%s\" is not address/length", text);
	memcpy(addr, text, len);
	addr[len] = '\0';
	rc = name_address(addr, &p->addr, v->reason, sizeof(v->reason));
	if (rc)
		return rc;
	unsigned max = ip_prefix_max(&p->addr);
	unsigned long bits = slash ? strtoul(slash + 1, &end, 10) : max;
	if (slash && (slash[1] < '0' || slash[1] > '9' || *end || bits > max))
		return bad(
			v, -EINVAL, "\"%s\" is not a prefix length from 0 to %u", slash + 1, max);
	p->len = (uint8_t)bits;
	struct ip_addr net = ip_prefix_of(&p->addr, p->len);
	if (ip_is_v4(&p->addr) && p->len == 0)
		net = ip_addr_v4(0);
	if (!f->host && !ip_equal(&net, &p->addr))
		return bad(v, -EINVAL, "\"%s\" has bits behind the prefix: the network is %s/%lu",
			text, ip_format(&net, addr), bits);
	return 0;
}

static int parse_mask(const char *text, struct value *v)
{
	struct ip_addr a;
	unsigned len = 0, max;

	if (!strcmp(text, "any") || !strcmp(text, "any6"))
		return 0; /* no bit */
	if (ip_parse(text, &a))
		return bad(v, -EINVAL, "\"%s\" is not a mask", text);
	max = ip_prefix_max(&a);
	unsigned first = max == 32 ? 96 : 0;
	while (len < max && a.b[(first + len) / 8] & (0x80 >> (len & 7)))
		len++;
	for (unsigned i = len; i < max; i++)
		if (a.b[(first + i) / 8] & (0x80 >> (i & 7)))
			return bad(v, -EINVAL, "\"%s\" is not a mask: its bits have a hole", text);
	v->data[0] = (char)(len == max ? MODEL_MASK_HOST : len);
	return 0;
}

/* ---- references ---- */

/* Finds the object that a field may name; else its path goes to v->missing. */
static int parse_ref(
	struct model *m, const struct field *f, const char *text, uint32_t *id, struct value *v)
{
	char path[MODEL_PATH_MAX + 1] = "";

	for (unsigned i = 0; i < f->ref_count; i++) {
		int rc = name_path(f->refs[i], text, path, v->reason, sizeof(v->reason));
		if (rc)
			return rc;
		struct item *it = item_find(m, f->refs[i], ID_NONE, path);
		if (it) {
			*id = it->o.id;
			return 0;
		}
	}
	*id = ID_NONE;
	strcpy(v->missing, path);
	return 0;
}

static int parse_endpoint(struct model *m, const struct field *f, const char *text, struct value *v)
{
	struct model_endpoint *e = (struct model_endpoint *)v->data;
	struct member_name name;
	int rc = name_endpoint(text, &name, v->reason, sizeof(v->reason));

	if (rc)
		return rc;
	e->port = name.port;
	return parse_ref(m, f, name.host, &e->addr, v);
}

/* "*", "*:80", "10.0.0.1:80", "2001:db8::1.80"; the port may be left out. */
static int parse_destination(const struct field *f, const char *text, struct value *v)
{
	struct model_destination *d = (struct model_destination *)v->data;
	const char *bare = path_name(text);
	struct member_name name;
	char host[MODEL_NAME_MAX];
	int rc;

	if (!strcmp(bare, "*") || !strcmp(bare, "none") || !strcmp(bare, "*.*"))
		return 0;
	if (name_address(bare, &d->addr, v->reason, sizeof(v->reason)) == 0)
		return ip_is_any(&d->addr) ? bad(v, -EINVAL, "\"%s\" is no host", text) : 0;
	snprintf(host, sizeof(host), "%.200s", bare);
	if (*bare == '*' && bare[1] == '.') /* LTM's form of IPv6 */
		host[1] = ':';
	rc = name_endpoint(host, &name, v->reason, sizeof(v->reason));
	if (rc)
		return rc;
	memset(&d->addr, 0, sizeof(d->addr));
	if (*bare != '*')
		rc = name_address(path_name(name.host), &d->addr, v->reason, sizeof(v->reason));
	if (!rc && *bare != '*' && ip_is_any(&d->addr))
		return bad(v, -EINVAL, "\"%s\" is no host", text);
	if (!rc && f->host && name.port)
		return bad(v, -EINVAL, "takes no port");
	d->port = name.port;
	return rc;
}

int value_parse(struct model *m, const struct field *f, const char *text, struct value *v)
{
	memset(v->data, 0, sizeof(v->data));
	v->missing[0] = '\0';
	v->reason[0] = '\0';
	switch (f->type) {
	case TYPE_INT:
		return parse_int(f, text, v);
	case TYPE_ENUM:
		return parse_enum(f, text, v);
	case TYPE_STRING:
		return parse_string(m, f, text, v);
	case TYPE_IP:
		if (!strcmp(text, "none"))
			return 0;
		return name_address(text, (struct ip_addr *)v->data, v->reason, sizeof(v->reason));
	case TYPE_PREFIX:
		return parse_prefix(f, text, v);
	case TYPE_MASK:
		return parse_mask(text, v);
	case TYPE_REF:
		if (!strcmp(text, "none") || !*text)
			return 0;
		return parse_ref(m, f, text, (uint32_t *)v->data, v);
	case TYPE_ENDPOINT:
		return parse_endpoint(m, f, text, v);
	case TYPE_DESTINATION:
		return parse_destination(f, text, v);
	default:
		return bad(v, -EINVAL, "takes no single value");
	}
}

/* Counted, as a string is; set_list takes that back when the list has it. */
static int parse_entry(struct model *m, const char *text, uint32_t *entry, struct value *v)
{
	size_t len = strlen(text);

	if (len == 0 || len > MODEL_ENTRY_MAX)
		return bad(v, -EINVAL, "an entry has 1 to %u bytes", MODEL_ENTRY_MAX);
	if (!strcmp(text, "none"))
		return bad(v, -EINVAL, "\"none\" is a word with a meaning, no entry");
	*entry = strings_get(&m->strings, text, len);
	return *entry == UINT32_MAX ? bad(v, -ENOMEM, "no memory") : 0;
}

int list_parse(
	struct model *m, const struct field *f, const char *text, uint32_t *entry, struct value *v)
{
	v->reason[0] = '\0';
	v->missing[0] = '\0';
	if (f->type == TYPE_REFS)
		return parse_ref(m, f, text, entry, v);
	if (f->type == TYPE_STRINGS)
		return parse_entry(m, text, entry, v);
	return service_parse(text, entry, v->reason, sizeof(v->reason));
}

/* ---- back to text ---- */

static void number_text(const struct field *f, uint32_t value, struct text *out)
{
	for (const struct field_word *w = f->words; w && w->text; w++)
		if (w->value == value) {
			text_printf(out, "%s", w->text);
			return;
		}
	text_printf(out, "%u", value);
}

static void address_text(const struct ip_addr *a, struct text *out)
{
	char buf[IP_ADDR_TEXT];

	if (!ip_is_v4(a) && ip_is_any(a))
		text_printf(out, "any6");
	else
		text_printf(out, "%s", ip_is_any(a) ? "any" : ip_format(a, buf));
}

static void prefix_text(const struct field *f, const struct model_prefix *p, struct text *out)
{
	char buf[IP_ADDR_TEXT];

	if (!f->host && !f->default_text && p->len == 0)
		text_printf(out, ip_is_v4(&p->addr) ? "default" : "default-inet6");
	else
		text_printf(out, "%s/%u", ip_format(&p->addr, buf), p->len);
}

static void path_text(const struct model *m, uint32_t id, struct text *out)
{
	struct item *it = item_of(m, id);

	text_printf(out, "%s", it ? it->o.path : "none");
}

static void destination_text(
	const struct field *f, const struct model_destination *d, struct text *out)
{
	static const struct ip_addr none;
	char buf[IP_ADDR_TEXT] = "*";

	if (!ip_equal(&d->addr, &none))
		ip_format(&d->addr, buf);
	text_printf(out, "%s", buf);
	if (f->host)
		return;
	text_printf(out, strchr(buf, ':') ? "." : ":");
	if (d->port)
		text_printf(out, "%u", d->port);
	else
		text_printf(out, "*");
}

/* The mask of an object whose address is of the family of any. */
static void mask_text(uint8_t len, bool v6, struct text *out)
{
	struct ip_addr ones, mask;
	char buf[IP_ADDR_TEXT];

	if (len == 0) {
		text_printf(out, v6 ? "any6" : "any");
		return;
	}
	ip_parse(v6 ? "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff" : "255.255.255.255", &ones);
	unsigned max = ip_prefix_max(&ones);
	mask = ip_prefix_of(&ones, len > max ? max : len);
	text_printf(out, "%s", ip_format(&mask, buf));
}

/* A mask is written in the family of the object's address. */
static bool address_is_v6(const struct model *m, const void *data, enum model_kind kind)
{
	const struct ip_addr *a = NULL;

	if (kind == KIND_VIRTUAL_ADDRESS)
		a = &((const struct virtual_address *)data)->conf.address;
	if (kind == KIND_VIRTUAL) {
		struct item *it = item_of(m, ((const struct virtual *)data)->conf.destination.addr);
		a = it ? &((const struct virtual_address *)it->data)->conf.address : NULL;
	}
	return a && !ip_is_v4(a);
}

void value_text(const struct model *m, const struct field *f, const void *data, struct text *out)
{
	const void *p = field_in(f, data);

	switch (f->type) {
	case TYPE_INT:
	case TYPE_ENUM:
		number_text(f, value_number_get(f, data), out);
		break;
	case TYPE_FLAG:
		text_printf(out, "%s",
			*(const uint8_t *)p ? f->name
			: f->opposite	    ? f->opposite
					    : "");
		break;
	case TYPE_STRING:
	case TYPE_ROWS:
		text_printf(out, "%s", strings_text(&m->strings, *(const uint32_t *)p));
		break;
	case TYPE_IP:
		address_text(p, out);
		break;
	case TYPE_PREFIX:
		prefix_text(f, p, out);
		break;
	case TYPE_MASK:
		mask_text(*(const uint8_t *)p,
			address_is_v6(m, data,
				f == model_field_find(KIND_VIRTUAL, NULL, "mask")
					? KIND_VIRTUAL
					: KIND_VIRTUAL_ADDRESS),
			out);
		break;
	case TYPE_REF:
		path_text(m, *(const uint32_t *)p, out);
		break;
	case TYPE_ENDPOINT: {
		const struct model_endpoint *e = p;
		struct item *it = item_of(m, e->addr);
		name_endpoint_text(it ? it->o.path : "any", e->port, out);
		break;
	}
	case TYPE_MONITOR_RULE:
		rule_text(m, p, out);
		break;
	case TYPE_DESTINATION:
		destination_text(f, p, out);
		break;
	case TYPE_REFS:
	case TYPE_STRINGS:
	case TYPE_SERVICES:
	case TYPE_HOLDS:
		break;
	}
}

void list_text(const struct model *m, const struct field *f, uint32_t entry, struct text *out)
{
	if (f->type == TYPE_REFS)
		path_text(m, entry, out);
	else if (f->type == TYPE_STRINGS)
		text_printf(out, "%s", strings_text(&m->strings, entry));
	else
		service_text(entry, out);
}
