/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

static const char *program_name = "weir";
static enum log_level max_level = LOG_LEVEL_NOTICE;

void log_init(const char *program, enum log_level max)
{
	program_name = program;
	max_level = max;
}

void log_write(enum log_level level, const char *format, ...)
{
	static const char *const names[] = {"error", "warning", "notice", "debug"};
	char line[1024];
	va_list ap;

	if (level > max_level)
		return;
	int n = snprintf(line, sizeof(line), "%s %s: ", names[level], program_name);
	va_start(ap, format);
	int m = vsnprintf(line + n, sizeof(line) - (size_t)n - 1, format, ap);
	va_end(ap);
	if (m < 0)
		return;
	n += m;
	if ((size_t)n > sizeof(line) - 2)
		n = sizeof(line) - 2;
	line[n++] = '\n';
	/* One write per line keeps the lines of several processes whole; a full pipe loses the line. */
	if (write(STDERR_FILENO, line, (size_t)n) < 0)
		return;
}
