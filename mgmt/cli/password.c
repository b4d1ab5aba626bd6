/* SPDX-License-Identifier: BSD-3-Clause */
/* prompt-for-password: a password that is typed without being seen, or comes as a line of standard input. */
#include "cli/password.h"

#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "model/model.h"

static bool read_line(char *out, size_t size)
{
	bool got = fgets(out, (int)size, stdin) != NULL;
	size_t length = got ? strlen(out) : 0;

	if (length && out[length - 1] == '\n')
		out[length - 1] = '\0';
	else if (length == size - 1)
		got = false; /* longer than any password may be */
	return got;
}

static bool read_unseen(const char *prompt, char *out, size_t size)
{
	struct termios before, quiet;

	if (tcgetattr(STDIN_FILENO, &before))
		return false;
	quiet = before;
	quiet.c_lflag &= ~(tcflag_t)ECHO;
	/* First: what is typed at the sight of the prompt must be unseen, and not thrown away. */
	tcsetattr(STDIN_FILENO, TCSAFLUSH, &quiet);
	fputs(prompt, stderr);
	bool got = read_line(out, size);
	tcsetattr(STDIN_FILENO, TCSADRAIN, &before);
	fputc('\n', stderr);
	return got;
}

static const char *ask(char out[PASSWORD_BYTES])
{
	char again[PASSWORD_BYTES];
	const char *fault = NULL;

	if (!isatty(STDIN_FILENO))
		return read_line(out, PASSWORD_BYTES) && *out ? NULL : "there was no password";
	if (!read_unseen("New password: ", out, PASSWORD_BYTES) || !*out)
		return "there was no password";
	if (!read_unseen("The same again: ", again, sizeof(again)) || strcmp(out, again))
		fault = "the two differ";
	explicit_bzero(again, sizeof(again));
	return fault;
}

enum outcome password_fill(struct shell *sh, const struct cli_command *c, struct word *typed,
	char text[PASSWORD_BYTES])
{
	struct word *w = c->kind == KIND_USER ? (struct word *)c->rest : NULL;
	const char *fault;

	while (w && !word_is(w, "prompt-for-password"))
		w = w->next;
	if (!w)
		return OUTCOME_OK;
	fault = ask(text);
	if (fault) {
		session_fail(&sh->session, "auth user: prompt-for-password: %s", fault);
		return OUTCOME_REFUSED;
	}
	*typed = (struct word){.text = text,
		.length = (uint32_t)strlen(text),
		.position = w->position,
		.quoted = true,
		.next = w->next};
	w->text = "password";
	w->length = sizeof("password") - 1;
	w->next = typed;
	return OUTCOME_OK;
}
