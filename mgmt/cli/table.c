/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/table.h"

#include <stdarg.h>
#include <stdlib.h>

#include "cli/utf8.h"

void table_init(struct table *t, unsigned columns, unsigned right)
{
	*t = (struct table){.columns = columns, .right = right};
}

void table_fini(struct table *t)
{
	for (unsigned i = 0; i < t->rows * t->columns; i++)
		free(t->cell[i]);
	free(t->cell);
	*t = (struct table){0};
}

static int table_grow(struct table *t)
{
	unsigned room = t->room ? t->room * 2 : 16;
	char **cell = realloc(t->cell, (size_t)room * t->columns * sizeof(*cell));

	if (!cell)
		return -1;
	t->cell = cell;
	t->room = room;
	return 0;
}

void table_add_cells(struct table *t, const char *const *text)
{
	if (t->failed || (t->rows == t->room && table_grow(t))) {
		t->failed = 1;
		return;
	}
	char **row = t->cell + (size_t)t->rows++ * t->columns;
	for (unsigned i = 0; i < t->columns; i++) {
		row[i] = utf8_clean(text[i] ? text[i] : "");
		if (!row[i])
			t->failed = 1;
	}
}

void table_add(struct table *t, ...)
{
	const char *text[TABLE_COLUMNS_MAX];
	va_list ap;

	va_start(ap, t);
	for (unsigned i = 0; i < t->columns; i++)
		text[i] = va_arg(ap, const char *);
	va_end(ap);
	table_add_cells(t, text);
}

static size_t cell_width(const struct table *t, unsigned row, unsigned column)
{
	const char *text = t->cell[row * t->columns + column];
	return text ? utf8_width(text) : 0;
}

static void print_row(const struct table *t, unsigned row, const size_t *width, FILE *out)
{
	size_t owed = 0; /* blanks that only come if something follows */

	for (unsigned c = 0; c < t->columns; c++) {
		const char *text = t->cell[row * t->columns + c];
		size_t fill = width[c] - cell_width(t, row, c);

		if (t->right >> c & 1)
			owed += fill;
		if (text && *text) {
			fprintf(out, "%*s%s", (int)owed, "", text);
			owed = 0;
		}
		if (!(t->right >> c & 1))
			owed += fill;
		owed += 2;
	}
	fputc('\n', out);
}

void table_print(const struct table *t, unsigned indent, FILE *out)
{
	size_t width[TABLE_COLUMNS_MAX] = {0};

	for (unsigned r = 0; r < t->rows; r++)
		for (unsigned c = 0; c < t->columns; c++)
			if (cell_width(t, r, c) > width[c])
				width[c] = cell_width(t, r, c);
	for (unsigned r = 0; r < t->rows; r++) {
		fprintf(out, "%*s", (int)indent, "");
		print_row(t, r, width, out);
	}
}
