/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages of the daemons: one line on standard error, "<level> <program>: object: action: reason". */
#ifndef WEIR_BASE_LOG_H
#define WEIR_BASE_LOG_H

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARNING, LOG_LEVEL_NOTICE, LOG_LEVEL_DEBUG };

/* Names the program in each line and sets the most detailed level that is written. Call once, at start. */
void log_init(const char *program, enum log_level max);

void log_write(enum log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

#define log_error(...) log_write(LOG_LEVEL_ERROR, __VA_ARGS__)
#define log_warning(...) log_write(LOG_LEVEL_WARNING, __VA_ARGS__)
#define log_notice(...) log_write(LOG_LEVEL_NOTICE, __VA_ARGS__)
#define log_debug(...) log_write(LOG_LEVEL_DEBUG, __VA_ARGS__)

#endif
