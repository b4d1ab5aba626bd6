/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All columns of all tables in the order of their identifiers. Rows are sorted by index, so that the next value is
 * found by two binary searches, however many rows there are.
 */
#include "snmp/snmp_tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BASE 1, 3, 6, 1, 4, 1, 3375, 2
#define BASE_LENGTH 8
#define PREFIX_MAX (BASE_LENGTH + 9)
#define INDEX_MAX 1100 /* sub-identifiers of any row, also of those that no identifier can name */

struct flat {
	oid prefix[PREFIX_MAX];
	size_t length;
	enum snmp_class class;
	const struct snmp_column *column;
};

static struct flat *flat;
static size_t flat_count;

static int by_prefix(const void *a, const void *b)
{
	const struct flat *x = a, *y = b;

	return snmp_oid_compare(x->prefix, x->length, y->prefix, y->length);
}

static void flat_add(const struct snmp_table *t, const struct snmp_column *c)
{
	static const oid base[] = {BASE};
	struct flat *f = &flat[flat_count++];

	memcpy(f->prefix, base, sizeof(base));
	f->length = BASE_LENGTH;
	for (unsigned i = 0; t->place[i]; i++)
		f->prefix[f->length++] = t->place[i];
	f->prefix[f->length++] = c->id;
	f->class = t->class;
	f->column = c;
}

int snmp_tree_init(void)
{
	size_t count = 0;

	for (unsigned t = 0; t < snmp_table_count; t++)
		count += snmp_tables[t].columns;
	flat = calloc(count, sizeof(*flat));
	if (!flat)
		return -ENOMEM;
	for (unsigned t = 0; t < snmp_table_count; t++)
		for (unsigned c = 0; c < snmp_tables[t].columns; c++)
			flat_add(&snmp_tables[t], &snmp_tables[t].column[c]);
	qsort(flat, flat_count, sizeof(*flat), by_prefix);
	return 0;
}

void snmp_tree_fini(void)
{
	free(flat);
	flat = NULL;
	flat_count = 0;
}

/* --- indices -------------------------------------------------------------------------------------- */

/* Length, then the bytes. */
static size_t index_text(oid *out, size_t n, const char *text)
{
	size_t length = text ? strlen(text) : 0;

	if (n + 1 + length > INDEX_MAX)
		return n;
	out[n++] = length;
	for (size_t i = 0; i < length; i++)
		out[n++] = (unsigned char)text[i];
	return n;
}

static size_t row_index(enum snmp_class class, const struct snmp_row *row, oid out[INDEX_MAX])
{
	size_t n = 0;

	if (class == SNMP_SYSTEM) {
		out[n++] = 0;
	} else if (class == SNMP_CPU) {
		n = index_text(out, n, "0");
		out[n++] = row->number[CPU_ID];
	} else if (class == SNMP_MEMBER) {
		n = index_text(out, n, row->text[TEXT_POOL]);
		n = index_text(out, n, row->text[TEXT_NODE]);
		if (n < INDEX_MAX)
			out[n++] = row->number[NUMBER_PORT];
	} else {
		n = index_text(out, n, row->text[TEXT_NAME]);
		if (class == SNMP_TRAFFIC_GROUP)
			n = index_text(out, n, row->text[TEXT_NODE]);
	}
	return n;
}

/* The first row whose index is not below (after: is above) an index. */
static size_t row_search(const struct snmp_rows *rows, enum snmp_class class, const oid *index,
	size_t length, bool after)
{
	size_t low = 0, high = rows->count;
	oid own[INDEX_MAX];

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		size_t n = row_index(class, &rows->row[middle], own);
		int order = snmp_oid_compare(own, n, index, length);

		if (order < 0 || (after && order == 0))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* --- values --------------------------------------------------------------------------------------- */

static bool has_value(const struct snmp_column *c, const struct snmp_row *row)
{
	if (c->source == SOURCE_NUMBER)
		return row->number[c->which] != SNMP_ABSENT;
	if (c->source == SOURCE_TEXT)
		return row->text[c->which] != NULL;
	if (c->source == SOURCE_ADDRESS || c->source == SOURCE_ADDRESS_TYPE)
		return row->address_length > 0;
	return true;
}

static bool place_at(const struct flat *f, const struct snmp_row *row, struct snmp_place *out)
{
	oid index[INDEX_MAX];
	size_t n = row_index(f->class, row, index);

	if (!has_value(f->column, row) || f->length + n > MAX_OID_LEN)
		return false;
	memcpy(out->name, f->prefix, f->length * sizeof(oid));
	memcpy(out->name + f->length, index, n * sizeof(oid));
	out->length = f->length + n;
	out->column = f->column;
	out->row = row;
	return true;
}

/* The last column whose prefix is not behind name; flat_count if there is none. */
static size_t column_search(const oid *name, size_t length)
{
	size_t low = 0, high = flat_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (snmp_oid_compare(flat[middle].prefix, flat[middle].length, name, length) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? low - 1 : flat_count;
}

static bool is_within(const struct flat *f, const oid *name, size_t length)
{
	return length >= f->length && !memcmp(f->prefix, name, f->length * sizeof(oid));
}

static bool find_exact(
	const struct snmp_data *d, const oid *name, size_t length, struct snmp_place *out)
{
	size_t c = column_search(name, length);
	const struct flat *f = &flat[c];

	if (c == flat_count || !is_within(f, name, length))
		return false;
	size_t at =
		row_search(&d->of[f->class], f->class, name + f->length, length - f->length, false);
	return at < d->of[f->class].count && place_at(f, &d->of[f->class].row[at], out) &&
	       !snmp_oid_compare(out->name, out->length, name, length);
}

bool snmp_tree_find(const struct snmp_data *d, const oid *name, size_t length, bool next,
	struct snmp_place *out)
{
	if (!next)
		return find_exact(d, name, length, out);
	size_t c = column_search(name, length), at = 0;
	if (c == flat_count)
		c = 0;
	else if (!is_within(&flat[c], name, length))
		c++;
	else
		at = row_search(&d->of[flat[c].class], flat[c].class, name + flat[c].length,
			length - flat[c].length, true);
	for (; c < flat_count; c++, at = 0)
		for (; at < d->of[flat[c].class].count; at++)
			if (place_at(&flat[c], &d->of[flat[c].class].row[at], out))
				return true;
	return false;
}

static int value_number(const struct snmp_place *p, uint64_t value, netsnmp_variable_list *to)
{
	struct counter64 wide = {.high = value >> 32, .low = value & 0xffffffffu};
	u_long narrow = value > UINT32_MAX ? UINT32_MAX : value;
	long integer = value > INT32_MAX ? INT32_MAX : (long)value;

	if (p->column->type == ASN_COUNTER64)
		return snmp_set_var_typed_value(to, ASN_COUNTER64, &wide, sizeof(wide));
	if (p->column->type == ASN_INTEGER)
		return snmp_set_var_typed_value(to, ASN_INTEGER, &integer, sizeof(integer));
	return snmp_set_var_typed_value(to, p->column->type, &narrow, sizeof(narrow));
}

int snmp_tree_value(const struct snmp_place *p, netsnmp_variable_list *to)
{
	const char *text = "0";
	int rc;

	switch (p->column->source) {
	case SOURCE_ZERO:
		rc = value_number(p, 0, to);
		break;
	case SOURCE_NUMBER:
		rc = value_number(p, p->row->number[p->column->which], to);
		break;
	case SOURCE_ADDRESS_TYPE:
		rc = value_number(p, p->row->address_type, to);
		break;
	case SOURCE_ADDRESS:
		rc = snmp_set_var_typed_value(
			to, ASN_OCTET_STR, p->row->address, p->row->address_length);
		break;
	case SOURCE_TEXT:
		text = p->row->text[p->column->which];
		/* fall through */
	default:
		rc = snmp_set_var_typed_value(to, ASN_OCTET_STR, text, strlen(text));
	}
	return rc ? -ENOMEM : 0;
}
