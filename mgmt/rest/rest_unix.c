/* SPDX-License-Identifier: BSD-3-Clause */
/* util/unix-ls, unix-mv and unix-rm: the caller's own files, in the words of the commands that clients look for. */
#include "rest/rest_unix.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "rest/rest_command.h"
#include "rest/rest_files.h"
#include "rest/rest_refuse.h"

#define WORDS_MAX 8u

struct args {
	char text[4096];
	char *word[WORDS_MAX]; /* without options */
	unsigned count;
	const char *wrong; /* an option that there is none, or NULL */
};

/* Options change nothing of what is done here; those that the command has not are refused. */
static bool option_ok(const char *word, const char *letters)
{
	return !strcmp(word, "--") || strspn(word + 1, letters) == strlen(word + 1);
}

static bool args_split(const char *line, const char *letters, struct args *a)
{
	char *save = NULL;

	*a = (struct args){0};
	if (strlen(line) >= sizeof(a->text))
		return false;
	strcpy(a->text, line);
	for (char *w = strtok_r(a->text, " \t", &save); w; w = strtok_r(NULL, " \t", &save)) {
		if (*w == '-') {
			if (!option_ok(w, letters))
				a->wrong = w;
			continue;
		}
		if (a->count == WORDS_MAX)
			return false;
		a->word[a->count++] = w;
	}
	return true;
}

/* As the system words it, which clients look for. */
static const char *reason_of(int rc, const char *why)
{
	return rc == -ENOENT ? "No such file or directory" : why;
}

static void unix_rm(
	struct rest_call *call, const char *user, const struct args *a, struct text *out)
{
	if (a->count == 0)
		text_printf(out, "/bin/rm: missing operand\n");
	for (unsigned i = 0; i < a->count; i++) {
		char why[FILES_REASON_MAX];
		struct rest_file file;
		int rc = -EINVAL;

		if (rest_file_find(call->rest, user, a->word[i], &file, why))
			rc = files_remove(file.files, file.area, file.name, why);
		if (rc)
			text_printf(out, "/bin/rm: cannot remove '%s': %s\n", a->word[i],
				reason_of(rc, why));
	}
}

static bool operands_fit(const struct args *a, struct text *out)
{
	if (a->count == 0)
		text_printf(out, "/bin/mv: missing file operand\n");
	else if (a->count == 1)
		text_printf(
			out, "/bin/mv: missing destination file operand after '%s'\n", a->word[0]);
	else if (a->count > 2)
		text_printf(
			out, "/bin/mv: target '%s' is not a directory\n", a->word[a->count - 1]);
	return a->count == 2;
}

static void unix_mv(
	struct rest_call *call, const char *user, const struct args *a, struct text *out)
{
	char why[FILES_REASON_MAX];
	struct rest_file from, to;
	int rc = -EINVAL;

	if (!operands_fit(a, out))
		return;
	if (rest_file_find(call->rest, user, a->word[0], &from, why) &&
		rest_file_find(call->rest, user, a->word[1], &to, why))
		rc = files_move(from.files, from.area, from.name, to.files, to.area, to.name, why);
	if (rc)
		text_printf(out, "/bin/mv: cannot move '%s': %s\n", a->word[0], reason_of(rc, why));
}

/* A folder's name, with or without its last slash. */
static bool is_folder(const char *path, const char *folder)
{
	size_t n = strlen(folder);

	return !strncmp(path, folder, n - 1) && (!path[n - 1] || !strcmp(path + n - 1, "/"));
}

static void put_folder(struct files *files, const char *area, struct text *out)
{
	json_t *rows = files ? files_list(files, area) : NULL, *row;
	size_t i;

	json_array_foreach(rows, i, row)
	{
		text_printf(out, "%s\n", rest_word(row, "name"));
	}
	json_decref(rows);
}

static void put_file(struct rest_call *call, const char *user, const char *path, struct text *out)
{
	char why[FILES_REASON_MAX];
	struct rest_file file;
	uint64_t size;
	int fd = rest_file_find(call->rest, user, path, &file, why)
			 ? files_open(file.files, file.area, file.name, &size, why)
			 : -1;

	if (fd < 0) {
		text_printf(out, "/bin/ls: cannot access %s: No such file or directory\n", path);
		return;
	}
	close(fd);
	text_printf(out, "%s\n", path);
}

static void unix_ls(
	struct rest_call *call, const char *user, const struct args *a, struct text *out)
{
	const char *path = a->count ? a->word[0] : REST_FILES_PATH;

	if (is_folder(path, REST_FILES_PATH) || is_folder(path, "/tmp/"))
		put_folder(call->rest->uploads, user, out);
	else if (is_folder(path, REST_ARCHIVES_PATH))
		put_folder(call->rest->archives, REST_ARCHIVES_AREA, out);
	else
		put_file(call, user, path, out);
}

static const struct command {
	const char *name, *options;
	void (*run)(
		struct rest_call *call, const char *user, const struct args *a, struct text *out);
} commands[] = {{"unix-rm", "firRv", unix_rm}, {"unix-mv", "finuv", unix_mv},
	{"unix-ls", "1AFRadhilrst", unix_ls}};

/* False: answered. */
static bool command_run(struct rest_call *call, const char *user, const struct command *c,
	const char *line, struct text *out)
{
	struct args a;

	if (!args_split(line, c->options, &a)) {
		text_printf(out, "/bin/%s: Argument list too long\n", c->name + 5);
	} else if (a.wrong) {
		rest_refuse_with(call, 400, REST_ERROR_VALUE, "%s does not support the option %s",
			c->name, a.wrong);
		return false;
	} else {
		c->run(call, user, &a, out);
	}
	return true;
}

bool rest_unix(struct rest_call *call, const char *user, const char *name, const char *line,
	struct text *out, bool *done)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
		if (strcmp(commands[i].name, name))
			continue;
		*done = command_run(call, user, &commands[i], line, out);
		return true;
	}
	return false;
}
