/* SPDX-License-Identifier: BSD-3-Clause */
#include "rest/rest_query.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char no_filter[] = "$filter takes FIELD eq VALUE, several joined by and";

static bool number_parse(const char *text, json_int_t *out)
{
	char *end;

	errno = 0;
	*out = strtoll(text, &end, 10);
	return *text >= '0' && *text <= '9' && !*end && !errno && *out <= INT32_MAX;
}

/* Cuts the next word off; quoted words may have blanks. NULL: there is none. */
static char *next_word(char **rest)
{
	char *word = *rest + strspn(*rest, " ");
	char quote = *word == '\'' || *word == '"' ? *word : 0;
	char *end;

	if (!*word)
		return NULL;
	word += quote != 0;
	end = quote ? strchr(word, quote) : word + strcspn(word, " ");
	if (!end)
		return NULL;
	*rest = end + (*end != 0);
	*end = '\0';
	return word;
}

static const char *filter_parse(struct rest_query *q)
{
	char *rest = q->filter_words, *joined = NULL;

	do {
		char *field = next_word(&rest), *verb = next_word(&rest);
		char *value = verb ? next_word(&rest) : NULL;

		if (!value || strcmp(verb, "eq") || q->filters == REST_FILTERS_MAX)
			return no_filter;
		q->filter[q->filters++] = (struct rest_filter){field, value};
		joined = next_word(&rest);
		if (joined && strcmp(joined, "and"))
			return no_filter;
	} while (joined);
	return NULL;
}

static const char *select_parse(struct rest_query *q)
{
	char *save = NULL;

	for (char *word = strtok_r(q->select_words, ", ", &save); word;
		word = strtok_r(NULL, ", ", &save)) {
		if (q->selects == REST_SELECT_MAX)
			return "$select names too many properties";
		q->select[q->selects++] = word;
	}
	return NULL;
}

static bool words_take(const char *text, char *out)
{
	if (strlen(text) >= REST_WORDS_MAX)
		return false;
	strcpy(out, text);
	return true;
}

const char *rest_query_parse(const struct http_request *r, struct rest_query *q)
{
	const char *filter = http_query(r, "$filter"), *select = http_query(r, "$select");
	const char *top = http_query(r, "$top"), *skip = http_query(r, "$skip");
	const char *expand = http_query(r, "expandSubcollections");
	const char *why = NULL;

	memset(q, 0, sizeof(*q));
	q->expand = expand && !strcmp(expand, "true");
	q->paged = top != NULL;
	if (top && (!number_parse(top, &q->top) || q->top == 0))
		return "$top is no number above 0";
	if (skip && !number_parse(skip, &q->skip))
		return "$skip is no number";
	if (filter)
		why = words_take(filter, q->filter_words) ? filter_parse(q) : no_filter;
	if (!why && select)
		why = words_take(select, q->select_words) ? select_parse(q) : "$select is too long";
	return why;
}

const char *rest_query_partition(const struct rest_query *q)
{
	return q->filters == 1 && !strcmp(q->filter[0].field, "partition") ? q->filter[0].value
									   : NULL;
}

static bool value_is(const json_t *value, const char *text)
{
	json_int_t number;

	if (json_is_string(value))
		return !strcmp(json_string_value(value), text);
	if (json_is_boolean(value))
		return !strcmp(json_is_true(value) ? "true" : "false", text);
	return json_is_integer(value) && number_parse(text, &number) &&
	       number == json_integer_value(value);
}

bool rest_query_match(const struct rest_query *q, const json_t *object)
{
	for (unsigned i = 0; i < q->filters; i++)
		if (!value_is(json_object_get(object, q->filter[i].field), q->filter[i].value))
			return false;
	return true;
}

static bool is_selected(const struct rest_query *q, const char *key)
{
	for (unsigned i = 0; i < q->selects; i++)
		if (!strcmp(q->select[i], key))
			return true;
	return false;
}

void rest_query_select(const struct rest_query *q, json_t *object)
{
	const char *key;
	json_t *value;
	void *next;

	if (q->selects == 0)
		return;
	json_object_foreach_safe(object, next, key, value)
	{
		if (!is_selected(q, key))
			json_object_del(object, key);
	}
}
