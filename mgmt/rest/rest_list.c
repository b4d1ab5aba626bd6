/* SPDX-License-Identifier: BSD-3-Clause */
#include "rest/rest_list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "rest/rest_refuse.h"

#define HELD_MAX (16u << 20) /* bytes of a list in memory */

static const char type_json[] = "application/json; charset=UTF-8";

static void put_json(struct text *out, json_t *value)
{
	char *text = value ? json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;

	if (text)
		text_add(out, text, strlen(text));
	else
		out->failed = true;
	free(text);
	json_decref(value);
}

static void put_member(struct rest_list *l, const char *key, json_t *value)
{
	text_printf(&l->text, ",\"%s\":", key);
	put_json(&l->text, value);
}

static void close_rows(struct rest_list *l)
{
	if (!l->closed && (l->nested || l->written))
		text_add(&l->text, l->nested ? "}" : "]", 1);
	l->closed = true;
}

void rest_list_member(struct rest_list *l, const char *key, json_t *value)
{
	close_rows(l);
	put_member(l, key, value);
}

void rest_list_page(struct rest_list *l)
{
	const struct rest_query *q = &l->call->query;

	l->own_page = true;
	l->skip = q->skip;
	l->left = q->paged ? q->top : -1;
}

/* Objects that are in no partition are looked for in Common by clients of LTM. */
static bool is_everywhere(const struct rest_call *call, const char *partition)
{
	return model_kinds[call->target.kind].name_form == NAME_PLAIN &&
	       !strcmp(partition, "Common");
}

void rest_page_set(const struct rest_call *call, json_t *request)
{
	const struct rest_query *q = &call->query;
	const char *partition = rest_query_partition(q);

	if (q->filters && !partition)
		return;
	if (partition && !is_everywhere(call, partition))
		json_object_set_new(request, "partition", json_string(partition));
	if (q->paged)
		json_object_set_new(request, "top", json_integer(q->top));
	if (q->skip)
		json_object_set_new(request, "skip", json_integer(q->skip));
}

void rest_list_begin(struct rest_list *l, struct rest_call *call, json_t *kind, json_t *self_link)
{
	const struct rest_query *q = &call->query;

	*l = (struct rest_list){.call = call, .left = -1};
	if (q->filters && !rest_query_partition(q))
		rest_list_page(l);
	text_add(&l->text, "{\"kind\":", strlen("{\"kind\":"));
	put_json(&l->text, kind);
	put_member(l, "selfLink", self_link);
}

void rest_list_begin_stats(
	struct rest_list *l, struct rest_call *call, json_t *kind, json_t *self_link)
{
	rest_list_begin(l, call, kind, self_link);
	l->nested = true;
	text_printf(&l->text, ",\"entries\":{");
}

/* However many lists are written and sent at a time, other things need the disk too. */
static bool has_room(FILE *file)
{
	struct statvfs fs;

	if (fstatvfs(fileno(file), &fs))
		return false;
	uint64_t all = (uint64_t)fs.f_blocks * fs.f_frsize, kept = all / 4;

	return (uint64_t)fs.f_bavail * fs.f_frsize > (kept < REST_LIST_MAX ? kept : REST_LIST_MAX);
}

/* Memory has room for many lists, a disk for long ones. */
static void put_aside(struct rest_list *l)
{
	if (!l->file)
		l->file = tmpfile();
	if (!l->file || fwrite(l->text.data, 1, l->text.len, l->file) != l->text.len)
		l->text.failed = true;
	l->filed += l->text.len;
	l->text.len = 0;
}

/* The whole is in the file then; its descriptor, or -1. */
static int file_take(struct rest_list *l)
{
	put_aside(l);
	int fd = !l->text.failed && fflush(l->file) == 0 ? dup(fileno(l->file)) : -1;

	fclose(l->file);
	l->file = NULL;
	return fd;
}

bool rest_list_goes_on(struct rest_list *l)
{
	if (l->text.len > HELD_MAX) {
		put_aside(l);
		l->too_large = l->filed > REST_LIST_MAX || (l->file && !has_room(l->file));
	}
	return !l->too_large && !l->text.failed;
}

bool rest_list_wants(struct rest_list *l, const json_t *row)
{
	if (!l->own_page)
		return true;
	if (!rest_query_match(&l->call->query, row))
		return false;
	l->matched++;
	if (l->skip > 0) {
		l->skip--;
		return false;
	}
	if (l->left == 0)
		return false;
	l->left -= l->left > 0;
	return true;
}

bool rest_list_row(void *list, json_t *row)
{
	struct rest_list *l = list;

	if (!rest_list_wants(l, row))
		return true;
	rest_shape_object(l->call, row);
	text_printf(&l->text, l->written++ ? "," : ",\"items\":[");
	put_json(&l->text, json_incref(row));
	return rest_list_goes_on(l);
}

/* Text for a query: everything but letters, digits and a few signs is escaped. */
static void put_escaped(struct text *out, const char *text)
{
	for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
		if ((*p >= '0' && *p <= '9') || (*p >= 'A' && *p <= 'Z') ||
			(*p >= 'a' && *p <= 'z') || strchr("-._~/,", *p))
			text_add(out, (const char *)p, 1);
		else
			text_printf(out, "%%%02X", *p);
	}
}

static json_t *other_page(const struct rest_list *l, json_int_t skip)
{
	const struct http_request *r = l->call->http;
	struct text link = {0};
	json_t *value;

	text_printf(&link, REST_LINK "%s?%%24top=%lld&%%24skip=%lld", r->path,
		(long long)l->call->query.top, (long long)skip);
	for (unsigned i = 0; i < r->query_count; i++) {
		const char *name = r->query[i].name;

		if (!strcmp(name, "$top") || !strcmp(name, "$skip") || !strcmp(name, "ver"))
			continue;
		text_add(&link, "&", 1);
		put_escaped(&link, name);
		text_add(&link, "=", 1);
		put_escaped(&link, r->query[i].value);
	}
	value = link.failed ? NULL : json_stringn(link.data, link.len);
	text_fini(&link);
	return value;
}

static void put_pages(struct rest_list *l, json_int_t total)
{
	const struct rest_query *q = &l->call->query;

	put_member(l, "currentItemCount", json_integer(l->written));
	put_member(l, "itemsPerPage", json_integer(q->top));
	put_member(l, "pageIndex", json_integer(q->skip / q->top + 1));
	put_member(l, "startIndex", json_integer(q->skip + 1));
	put_member(l, "totalItems", json_integer(total));
	put_member(l, "totalPages", json_integer((total + q->top - 1) / q->top));
	if (q->skip + l->written < total)
		put_member(l, "nextLink", other_page(l, q->skip + q->top));
	if (q->skip > 0)
		put_member(
			l, "previousLink", other_page(l, q->skip > q->top ? q->skip - q->top : 0));
}

void rest_list_end(struct rest_list *l, json_int_t total)
{
	/* clients that read page by page look into items of the last, empty one too */
	if (l->call->query.paged && !l->nested && !l->written && !l->closed)
		text_printf(&l->text, ",\"items\":[]");
	close_rows(l);
	if (l->call->query.paged)
		put_pages(l, l->own_page ? l->matched : total);
	text_add(&l->text, "}", 1);
	if (l->text.failed || l->too_large) {
		l->call->lost = -ENOMEM;
		rest_list_drop(l);
		rest_refuse(l->call);
		return;
	}
	if (!l->file) {
		http_reply(l->call->http, 200, type_json, l->text.data, l->text.len);
		return;
	}
	int fd = file_take(l);
	text_fini(&l->text);
	if (fd > 0)
		http_reply_file(l->call->http, 200, type_json, fd, 0, l->filed);
	else
		http_reply_error(l->call->http, 500, "The list cannot be kept for sending.");
}

void rest_list_drop(struct rest_list *l)
{
	if (l->too_large)
		l->call->lost = -EMSGSIZE;
	text_fini(&l->text);
	if (l->file)
		fclose(l->file);
	l->file = NULL;
}
