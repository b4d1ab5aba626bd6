/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/model_internal.h"

#include <stdio.h>

static bool text_reserve(struct text *t, size_t more)
{
	if (t->failed)
		return false;
	if (t->len + more + 1 <= t->cap)
		return true;
	size_t cap = t->cap ? t->cap : 256;
	while (cap < t->len + more + 1)
		cap *= 2;
	char *data = realloc(t->data, cap);
	if (!data) {
		t->failed = true;
		return false;
	}
	t->data = data;
	t->cap = cap;
	return true;
}

void text_add(struct text *t, const char *data, size_t len)
{
	if (!text_reserve(t, len))
		return;
	memcpy(t->data + t->len, data, len);
	t->len += len;
	t->data[t->len] = '\0';
}

void text_printf(struct text *t, const char *format, ...)
{
	va_list ap;
	int len;

	if (!text_reserve(t, 80)) /* mostly it fits, and is formatted once */
		return;
	va_start(ap, format);
	len = vsnprintf(t->data + t->len, t->cap - t->len, format, ap);
	va_end(ap);
	if (len >= 0 && (size_t)len >= t->cap - t->len && text_reserve(t, (size_t)len)) {
		va_start(ap, format);
		vsnprintf(t->data + t->len, (size_t)len + 1, format, ap);
		va_end(ap);
	}
	if (len >= 0 && !t->failed)
		t->len += (size_t)len;
}

void text_fini(struct text *t)
{
	free(t->data);
	*t = (struct text){0};
}

static bool word_is_bare(const char *word)
{
	if (!*word)
		return false;
	for (const char *p = word; *p; p++)
		if ((unsigned char)*p <= ' ' || (unsigned char)*p >= 0x7f || strchr("{}\"'\\#", *p))
			return false;
	return true;
}

void text_add_word(struct text *t, const char *word)
{
	if (word_is_bare(word)) {
		text_add(t, word, strlen(word));
		return;
	}
	text_add(t, "\"", 1);
	for (const char *p = word; *p; p++) {
		unsigned char c = (unsigned char)*p;
		if (c == '"' || c == '\\')
			text_printf(t, "\\%c", c);
		else if (c == '\n')
			text_add(t, "\\n", 2);
		else if (c == '\r')
			text_add(t, "\\r", 2);
		else if (c == '\t')
			text_add(t, "\\t", 2);
		else if (c < ' ' || c == 0x7f)
			text_printf(t, "\\x%02x", c);
		else
			text_add(t, p, 1);
	}
	text_add(t, "\"", 1);
}
