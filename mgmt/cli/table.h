/* SPDX-License-Identifier: BSD-3-Clause */
/* Aligned tables: rows are collected, columns get the width of their widest cell, then all is
 * printed. */
#ifndef WEIR_CLI_TABLE_H
#define WEIR_CLI_TABLE_H

#include <stdio.h>

#define TABLE_COLUMNS_MAX 72u

struct table {
	unsigned columns, rows, room;
	unsigned right; /* bit per column: numbers stand to the right */
	char **cell;	/* rows * columns, cleaned for a terminal */
	int failed;	/* out of memory: the table is incomplete */
};

/* right: bit i set = column i is aligned to the right. */
void table_init(struct table *t, unsigned columns, unsigned right);
void table_fini(struct table *t);

/* One row of t->columns texts; NULL stands for "". */
void table_add(struct table *t, ...);
void table_add_cells(struct table *t, const char *const *text);

/* Prints all rows, two blanks between columns, each line after indent blanks, no blanks at line
 * ends. */
void table_print(const struct table *t, unsigned indent, FILE *out);

#endif
