/* SPDX-License-Identifier: BSD-3-Clause */
/* Those who are told of events: what must hold of one object. */
#include "model/model_internal.h"

static bool word_in(const char *word, size_t len, const char *const *words)
{
	for (; *words; words++)
		if (strlen(*words) == len && !memcmp(*words, word, len))
			return true;
	return false;
}

static bool module_ok(const char *word, size_t len)
{
	static const char *const modules[] = {"all", "ltm", "net", "sys", "auth", "cm", NULL};

	return word_in(word, len, modules);
}

int check_modules(struct model *m, struct item *it, const char *field,
	const struct model_list *list, struct model_error *err)
{
	for (unsigned i = 0; i < list->count; i++) {
		const char *word = strings_text(&m->strings, list->entry[i]);
		if (!module_ok(word, strlen(word)))
			return fail(m, err, -EINVAL, it, field,
				"\"%s\" is none of: all, ltm, net, sys, auth, cm", word);
		if (list->count > 1 && !strcmp(word, "all"))
			return fail(m, err, -EINVAL, it, field, "all stands alone");
	}
	return 0;
}

/* A numeric address, or a name that can be looked up. */
bool host_ok(const char *host)
{
	struct ip_addr addr;

	if (ip_parse(host, &addr) == 0)
		return !ip_is_any(&addr);
	return domain_name_ok(host) && strspn(host, "0123456789.") != strlen(host);
}

static bool is_printable(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 127)
			return false;
	return true;
}

/* ---- syslog ---- */

static const char *cell(const json_t *row, const char *column)
{
	const char *text = json_string_value(json_object_get(row, column));

	return text ? text : "";
}

static bool modules_ok(const char *text)
{
	if (!strcmp(text, "all"))
		return true;
	while (*text) {
		size_t len = strcspn(text, " ");
		if (!module_ok(text, len) || (len == 3 && !memcmp(text, "all", 3)))
			return false;
		text += len + (text[len] == ' ');
	}
	return true;
}

/* Why a log server cannot be, or NULL. */
static const char *server_wrong(const json_t *row)
{
	static const char *const of_tls[] = {"caFile", "cert", "key", "serverName"};
	const char *local = cell(row, "localIp"), *host = cell(row, "host");
	bool tls = !strcmp(cell(row, "protocol"), "tls");
	struct ip_addr a, b;

	if (!host_ok(host))
		return "host is neither an address nor a name";
	if (*local && strcmp(local, "none") && ip_parse(local, &a))
		return "local-ip is no address";
	if (*local && strcmp(local, "none") && ip_parse(host, &b) == 0 &&
		ip_is_v4(&a) != ip_is_v4(&b))
		return "local-ip is not of the host's address family";
	if (!modules_ok(cell(row, "modules")))
		return "modules are all, or some of ltm, net, sys, auth, cm separated by blanks";
	for (size_t i = 0; !tls && i < sizeof(of_tls) / sizeof(*of_tls); i++)
		if (*cell(row, of_tls[i]))
			return "ca-file, cert, key and server-name need protocol tls";
	if (!*cell(row, "cert") != !*cell(row, "key"))
		return "cert and key go together";
	return NULL;
}

static int check_syslog(struct model *m, struct item *it, struct model_error *err)
{
	const struct field *f = model_field_find(it->o.kind, NULL, "remote-servers");
	int rc = check_modules(m, it, "local-modules",
		&((const struct syslog *)it->data)->conf.local_modules, err);
	json_t *rows = rows_json(m, it, f), *row;
	size_t i;

	json_array_foreach(rows, i, row)
	{
		const char *wrong = rc ? NULL : server_wrong(row);
		if (wrong)
			rc = fail(m, err, -EINVAL, it, f->name, "%s: %s", cell(row, "name"), wrong);
	}
	json_decref(rows);
	return rc;
}

/* ---- mail and commands ---- */

static bool address_ok(const char *text)
{
	const char *at = strrchr(text, '@');

	return at && at > text && at[1] && is_printable(text) && !strpbrk(text, " <>,;\"\\") &&
	       (domain_name_ok(at + 1) || at[1] == '[');
}

static int check_address(struct model *m, struct item *it, const char *field, uint32_t handle,
	struct model_error *err)
{
	const char *text = strings_text(&m->strings, handle);

	if (!*text || address_ok(text))
		return 0;
	return fail(m, err, -EINVAL, it, field, "\"%s\" is no mail address", text);
}

static int check_smtp_server(struct model *m, struct item *it, struct model_error *err)
{
	const struct smtp_server_conf *c = &((const struct smtp_server *)it->data)->conf;
	const char *host = strings_text(&m->strings, c->smtp_server_host_name);
	const char *local = strings_text(&m->strings, c->local_host_name);

	if (*host && !host_ok(host))
		return fail(m, err, -EINVAL, it, "smtp-server-host-name",
			"\"%s\" is neither an address nor a name", host);
	if (*local && !host_ok(local))
		return fail(m, err, -EINVAL, it, "local-host-name",
			"\"%s\" is neither an address nor a name", local);
	if (c->authentication_enabled && !c->username)
		return fail(m, err, -EINVAL, it, "username", "is needed to log in");
	if (c->authentication_enabled && !c->password)
		return fail(m, err, -EINVAL, it, "password", "is needed to log in");
	if (c->authentication_enabled &&
		c->encrypted_connection == SMTP_SERVER_ENCRYPTED_CONNECTION_NONE)
		return fail(m, err, -EINVAL, it, "authentication-enabled",
			"needs encrypted-connection tls or ssl: the password would be read on the "
			"way");
	return check_address(m, it, "from-address", c->from_address, err);
}

static bool time_ok(const char *text)
{
	return !*text ||
	       (strlen(text) == 5 && text[2] == ':' && text[0] >= '0' && text[0] <= '2' &&
		       text[1] >= '0' && text[1] <= (text[0] == '2' ? '3' : '9') &&
		       text[3] >= '0' && text[3] <= '5' && text[4] >= '0' && text[4] <= '9');
}

static int check_quiet(struct model *m, struct item *it, struct model_error *err)
{
	static const char *const days[] = {"sun", "mon", "tue", "wed", "thu", "fri", "sat", NULL};
	const struct alert_conf *c = &((const struct alert *)it->data)->conf;
	const char *from = strings_text(&m->strings, c->quiet_from);
	const char *to = strings_text(&m->strings, c->quiet_to);

	if (!time_ok(from))
		return fail(m, err, -EINVAL, it, "quiet-from", "\"%s\" is no time HH:MM", from);
	if (!time_ok(to))
		return fail(m, err, -EINVAL, it, "quiet-to", "\"%s\" is no time HH:MM", to);
	if (!*from != !*to)
		return fail(m, err, -EINVAL, it, *from ? "quiet-to" : "quiet-from",
			"is missing: quiet-from and quiet-to go together");
	if (*from && !strcmp(from, to))
		return fail(m, err, -EINVAL, it, "quiet-to", "is the same as quiet-from");
	for (unsigned i = 0; i < c->quiet_days.count; i++) {
		const char *day = strings_text(&m->strings, c->quiet_days.entry[i]);
		if (!word_in(day, strlen(day), days))
			return fail(m, err, -EINVAL, it, "quiet-days",
				"\"%s\" is none of: sun, mon, tue, wed, thu, fri, sat", day);
	}
	return 0;
}

static int check_mail(
	struct model *m, struct item *it, const struct alert_conf *c, struct model_error *err)
{
	int rc = check_address(m, it, "from", c->from, err);

	if (c->script)
		return fail(m, err, -EINVAL, it, "script", "goes with method command");
	if (!c->smtp_servers.count)
		return fail(m, err, -EINVAL, it, "smtp-servers", "are needed for method mail");
	if (!c->to.count)
		return fail(m, err, -EINVAL, it, "to", "is needed for method mail");
	for (unsigned i = 0; !rc && i < c->to.count; i++)
		rc = check_address(m, it, "to", c->to.entry[i], err);
	for (unsigned i = 0; !rc && i < c->smtp_servers.count; i++) {
		const struct item *to = item_of(m, c->smtp_servers.entry[i]);
		const struct smtp_server_conf *s = &((const struct smtp_server *)to->data)->conf;
		if (!c->from && !s->from_address)
			rc = fail(m, err, -EINVAL, it, "from", "is needed: %s has no from-address",
				to->o.path);
	}
	return rc;
}

static int check_alert(struct model *m, struct item *it, struct model_error *err)
{
	const struct alert_conf *c = &((const struct alert *)it->data)->conf;
	int rc = check_modules(m, it, "modules", &c->modules, err);

	rc = rc ? rc : check_quiet(m, it, err);
	if (rc)
		return rc;
	if (c->method == ALERT_METHOD_MAIL)
		return check_mail(m, it, c, err);
	if (!c->script)
		return fail(m, err, -EINVAL, it, "script", "is needed for method command");
	if (c->to.count || c->smtp_servers.count)
		return fail(m, err, -EINVAL, it, c->to.count ? "to" : "smtp-servers",
			"goes with method mail");
	return 0;
}

int check_receiver(struct model *m, struct item *it, struct model_error *err)
{
	switch (it->o.kind) {
	case KIND_SYSLOG:
		return check_syslog(m, it, err);
	case KIND_SNMP:
	case KIND_SNMP_COMMUNITY:
	case KIND_SNMP_USER:
	case KIND_SNMP_TRAP:
		return check_snmp(m, it, err);
	case KIND_SMTP_SERVER:
		return check_smtp_server(m, it, err);
	default:
		return check_alert(m, it, err);
	}
}
