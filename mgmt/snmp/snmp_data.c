/* SPDX-License-Identifier: BSD-3-Clause */
#include "snmp/snmp_data.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const unsigned texts_of[SNMP_CLASSES] = {
	TEXTS, TEXTS, TEXTS, TEXTS, TEXTS, TEXTS, TEXTS, TEXTS, SYSTEM_TEXTS};
static const unsigned numbers_of[SNMP_CLASSES] = {
	NUMBERS, NUMBERS, NUMBERS, NUMBERS, NUMBERS, NUMBERS, CPU_NUMBERS, 1, SYSTEM_NUMBERS};

struct snmp_data *snmp_data_new(void)
{
	return calloc(1, sizeof(struct snmp_data));
}

static void row_fini(enum snmp_class class, struct snmp_row *row)
{
	for (unsigned i = 0; i < texts_of[class]; i++)
		free(row->text[i]);
	free(row->text);
	free(row->number);
}

void snmp_data_free(struct snmp_data *d)
{
	for (int c = 0; d && c < SNMP_CLASSES; c++) {
		for (size_t i = 0; i < d->of[c].count; i++)
			row_fini(c, &d->of[c].row[i]);
		free(d->of[c].row);
	}
	free(d);
}

static bool rows_grow(struct snmp_rows *rows)
{
	size_t size = rows->size ? 2 * rows->size : 16;
	struct snmp_row *more;

	if (rows->count < rows->size)
		return true;
	more = reallocarray(rows->row, size, sizeof(*more));
	if (!more)
		return false;
	rows->row = more;
	rows->size = size;
	return true;
}

struct snmp_row *snmp_data_add(struct snmp_data *d, enum snmp_class class)
{
	struct snmp_rows *rows = &d->of[class];

	if (!rows_grow(rows))
		return NULL;
	struct snmp_row *row = &rows->row[rows->count];
	*row = (struct snmp_row){.text = calloc(texts_of[class], sizeof(char *)),
		.number = malloc(numbers_of[class] * sizeof(uint64_t))};
	if (!row->text || !row->number) {
		free(row->text);
		free(row->number);
		return NULL;
	}
	for (unsigned i = 0; i < numbers_of[class]; i++)
		row->number[i] = SNMP_ABSENT;
	rows->count++;
	return row;
}

int snmp_row_text(struct snmp_row *row, unsigned which, const char *text)
{
	char *copy = strdup(text);

	if (!copy)
		return -ENOMEM;
	free(row->text[which]);
	row->text[which] = copy;
	return 0;
}

/* --- order ---------------------------------------------------------------------------------------- */

/* A string of an index has its length in front: the shorter comes first. */
static int text_compare(const char *a, const char *b)
{
	size_t m = a ? strlen(a) : 0, n = b ? strlen(b) : 0;

	if (m != n)
		return m < n ? -1 : 1;
	return m ? memcmp(a, b, m) : 0;
}

int snmp_row_compare(enum snmp_class class, const struct snmp_row *a, const struct snmp_row *b)
{
	int order;

	if (class == SNMP_CPU)
		return (a->number[CPU_ID] > b->number[CPU_ID]) -
		       (a->number[CPU_ID] < b->number[CPU_ID]);
	if (class == SNMP_SYSTEM)
		return 0;
	if (class != SNMP_MEMBER)
		return text_compare(a->text[TEXT_NAME], b->text[TEXT_NAME]);
	order = text_compare(a->text[TEXT_POOL], b->text[TEXT_POOL]);
	if (order == 0)
		order = text_compare(a->text[TEXT_NODE], b->text[TEXT_NODE]);
	if (order == 0)
		order = (a->number[NUMBER_PORT] > b->number[NUMBER_PORT]) -
			(a->number[NUMBER_PORT] < b->number[NUMBER_PORT]);
	return order;
}

static int by_index(const void *a, const void *b, void *class)
{
	return snmp_row_compare(*(const enum snmp_class *)class, a, b);
}

/* --- sums ----------------------------------------------------------------------------------------- */

static void sum(const struct snmp_rows *rows, uint64_t *to)
{
	static const enum snmp_number from[] = {NUMBER_PACKETS_IN, NUMBER_BYTES_IN,
		NUMBER_PACKETS_OUT, NUMBER_BYTES_OUT, NUMBER_TOTAL, NUMBER_CURRENT};

	for (unsigned f = 0; f < sizeof(from) / sizeof(*from); f++) {
		uint64_t all = 0;
		for (size_t i = 0; i < rows->count && all != SNMP_ABSENT; i++) {
			uint64_t one = rows->row[i].number[from[f]];
			all = one == SNMP_ABSENT ? SNMP_ABSENT : all + one;
		}
		to[f] = all;
	}
}

void snmp_data_finish(struct snmp_data *d)
{
	struct snmp_row *system = d->of[SNMP_SYSTEM].count ? d->of[SNMP_SYSTEM].row : NULL;

	for (enum snmp_class c = 0; c < SNMP_CLASSES; c++) {
		if (d->of[c].count)
			qsort_r(d->of[c].row, d->of[c].count, sizeof(struct snmp_row), by_index,
				&c);
		if (system)
			system->number[SYSTEM_COUNT + c] = d->of[c].count;
	}
	if (!system)
		return;
	sum(&d->of[SNMP_VIRTUAL], &system->number[SYSTEM_CLIENT_PACKETS_IN]);
	sum(&d->of[SNMP_POOL], &system->number[SYSTEM_SERVER_PACKETS_IN]);
}
