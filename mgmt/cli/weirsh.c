/* SPDX-License-Identifier: BSD-3-Clause */
/* weirsh: LTM's words on a command line. Arguments, a file of commands, a pipe, or somebody who
 * types. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/shell.h"
#include "cli/utf8.h"

static const char usage[] =
	"usage: weirsh [--run-dir DIR] [--json] [COMMAND ...]\n"
	"       weirsh [--run-dir DIR] [--json] -f FILE\n"
	"Without a command it reads commands from standard input, one a line; \"help\" lists "
	"them.\n"
	"  --run-dir DIR  where weir-cp's socket is (default /run/weir)\n"
	"  --json         answers as JSON; connections one object a line\n"
	"  -f FILE        commands from a file, - is standard input; ends at the first that fails\n"
	"Ends with 0: done; 1: refused; 2: wrong usage; 3: weir-cp not reached.\n";

struct options {
	const char *run_dir, *file;
	bool json;
	int count; /* of words left in argv */
};

/* Text that grows. */
struct buffer {
	char *data;
	size_t length, room;
};

static int buffer_add(struct buffer *b, const char *bytes, size_t length)
{
	if (b->length + length + 1 > b->room) {
		size_t room = (b->length + length + 1) * 2;
		char *data = realloc(b->data, room);

		if (!data)
			return -ENOMEM;
		b->data = data;
		b->room = room;
	}
	memcpy(b->data + b->length, bytes, length);
	b->length += length;
	b->data[b->length] = 0;
	return 0;
}

/* Every line of it behind "weirsh: "; unprintable bytes are shown, not sent to the terminal. */
static void tell(const char *where, const char *text)
{
	while (text && *text) {
		size_t n = strcspn(text, "\n");
		char *line = strndup(text, n), *clean = line ? utf8_clean(line) : NULL;

		fprintf(stderr, "%s%s\n", where, clean ? clean : "");
		where = "";
		text += n + (text[n] == '\n');
		free(line);
		free(clean);
	}
}

/* The line that holds the position, and a mark below it, if they fit a terminal's line. */
static void point_at(const char *text, size_t length, size_t position)
{
	size_t start = position, end = position;

	while (start && text[start - 1] != '\n')
		start--;
	while (end < length && text[end] != '\n')
		end++;
	if (end - start > 200 || start == end)
		return;
	char *line = strndup(text + start, end - start),
	     *before = strndup(text + start, position - start);
	char *clean = line ? utf8_clean(line) : NULL,
	     *clean_before = before ? utf8_clean(before) : NULL;
	if (clean && clean_before)
		fprintf(stderr, "  %s\n  %*s^\n", clean, (int)utf8_width(clean_before), "");
	free(line);
	free(before);
	free(clean);
	free(clean_before);
}

/* where: "weirsh: " or "weirsh: FILE:LINE: ". */
static enum outcome run_text(
	struct shell *sh, const char *text, size_t length, const char *where, bool *quit)
{
	struct cli_command command;
	struct words_error error;
	int status = command_parse(text, length, &command, &error);

	if (status) {
		tell(where, status == -ENOMEM ? "out of memory" : error.reason);
		if (status == -EINVAL)
			point_at(text, length, error.position);
		return OUTCOME_USAGE;
	}
	session_fail(&sh->session, "%s", "");
	if (sh->interactive) /* it was for the line before; else it is for this command */
		session_interrupted();
	bool json = sh->json;
	sh->json |= command.json;
	enum outcome outcome = shell_run(sh, &command, quit);
	sh->json = json;
	command_fini(&command);
	enum outcome flushed = shell_flush(sh);
	if (!outcome)
		outcome = flushed;
	if (outcome && outcome != OUTCOME_CLOSED)
		tell(where, sh->session.error);
	return outcome;
}

/* A line with its end, at most WORDS_LENGTH_MAX bytes of it. False at the end of the input. */
static bool read_line(FILE *in, struct buffer *b)
{
	int c;
	bool any = false;

	while ((c = getc_unlocked(in)) != EOF) {
		char byte = (char)c;

		any = true;
		if (b->length <= WORDS_LENGTH_MAX && buffer_add(b, &byte, 1))
			return false;
		if (c == '\n')
			break;
	}
	return any;
}

/* An interrupt ends it wherever it comes, also just before the wait for somebody who types. */
static bool next_line(const struct shell *sh, FILE *in, struct buffer *b)
{
	return (!sh->interactive || session_wait_input(fileno(in))) && read_line(in, b);
}

static void prompt(const struct shell *sh, bool more)
{
	if (!sh->interactive)
		return;
	fputs(more ? "> " : sh->transaction ? "weirsh (transaction)# " : "weirsh# ", stdout);
	fflush(stdout);
}

static void tell_unsaved(const struct shell *sh, json_int_t before)
{
	if (sh->interactive && sh->unsaved > 0 && sh->unsaved != before)
		fprintf(stderr, "%lld %s not saved (save sys config)\n", (long long)sh->unsaved,
			sh->unsaved == 1 ? "change" : "changes");
}

/* Ctrl-C while typing gives up the line, as shells do. */
static bool line_abandoned(struct shell *sh, FILE *in)
{
	if (!sh->interactive || !session_interrupted())
		return false;
	clearerr(in);
	fputc('\n', stdout);
	return true;
}

/* One command, which may span lines. False at the end of the input. */
static bool read_command(struct shell *sh, FILE *in, struct buffer *b, unsigned *line)
{
	struct words_scan scan = {0};

	b->length = 0;
	do {
		size_t start = b->length;

		prompt(sh, start > 0);
		while (!next_line(sh, in, b)) {
			if (!line_abandoned(sh, in))
				return b->length > 0;
			b->length = 0;
			start = 0;
			scan = (struct words_scan){0};
			prompt(sh, false);
		}
		++*line;
		words_scan_line(&scan, b->data + start, b->length - start);
	} while (!words_scan_complete(&scan) && b->length <= WORDS_LENGTH_MAX);
	return true;
}

static enum outcome run_input(struct shell *sh, FILE *in, const char *name)
{
	struct buffer b = {0};
	enum outcome outcome = OUTCOME_OK;
	unsigned line = 0;
	bool quit = false;

	if (sh->interactive) {
		system_greet(sh);
		tell_unsaved(sh, -1);
	}
	while (!quit && (sh->interactive || !outcome)) {
		unsigned first = line + 1;
		json_int_t before = sh->unsaved;
		char where[300] = "weirsh: ";

		if (!read_command(sh, in, &b, &line))
			break;
		if (!sh->interactive)
			snprintf(where, sizeof(where), "weirsh: %s:%u: ", name, first);
		outcome = run_text(sh, b.data, b.length, where, &quit);
		tell_unsaved(sh, before);
		if (outcome == OUTCOME_CLOSED)
			break;
	}
	free(b.data);
	if (!outcome && !sh->interactive && session_interrupted())
		outcome = OUTCOME_INTERRUPTED;
	if (!outcome && json_array_size(sh->transaction)) {
		fprintf(stderr, "weirsh: the transaction was not submitted: %zu commands dropped\n",
			json_array_size(sh->transaction));
		outcome = OUTCOME_REFUSED;
	}
	return sh->interactive && outcome != OUTCOME_CLOSED ? OUTCOME_OK : outcome;
}

/*
 * Several arguments make one line. One that is empty, or that has blanks and nothing else that the
 * language knows, was quoted for the calling shell and is taken as one word.
 */
static enum outcome run_arguments(struct shell *sh, char **words, int count)
{
	struct buffer b = {0};
	enum outcome outcome = OUTCOME_REFUSED;
	bool quit, failed = false;

	for (int i = 0; i < count; i++) {
		bool one = count > 1 && !strpbrk(words[i], "{}\"\\") &&
			   (!*words[i] || strpbrk(words[i], " \t\n"));
		size_t n = one ? word_quote(words[i], strlen(words[i]), true, NULL, 0)
			       : strlen(words[i]);
		char *quoted = one ? malloc(n + 1) : NULL;

		if (quoted)
			word_quote(words[i], strlen(words[i]), true, quoted, n + 1);
		failed |= (one && !quoted) || buffer_add(&b, quoted ? quoted : words[i], n) ||
			  buffer_add(&b, " ", i + 1 < count);
		free(quoted);
	}
	if (failed)
		tell("weirsh: ", "out of memory");
	else
		outcome = run_text(sh, b.data, b.length, "weirsh: ", &quit);
	free(b.data);
	return outcome;
}

static int usage_error(const char *what, const char *word)
{
	fprintf(stderr, "weirsh: %s %s\n%s", what, word, usage);
	return OUTCOME_USAGE;
}

/* Takes the options out of argv. -1, or the exit code. */
static int read_options(int argc, char **argv, struct options *o)
{
	bool end = false;

	for (int i = 1; i < argc; i++) {
		const char *word = argv[i];

		if (end || (*word != '-' || !word[1])) {
			argv[o->count++] = argv[i];
		} else if (!strcmp(word, "--")) {
			end = true;
		} else if (!strcmp(word, "--json")) {
			o->json = true;
		} else if (!strcmp(word, "--run-dir") || (!strcmp(word, "-f") && !o->count)) {
			if (i + 1 == argc)
				return usage_error("a value is missing behind", word);
			*(word[1] == 'f' ? &o->file : &o->run_dir) = argv[++i];
		} else if (o->count) {
			argv[o->count++] = argv[i]; /* a value of the command */
		} else if (!strcmp(word, "-h") || !strcmp(word, "--help")) {
			fputs(usage, stdout);
			return OUTCOME_OK;
		} else {
			return usage_error("unknown option", word);
		}
	}
	if (o->file && o->count)
		return usage_error("-f and a command exclude each other:", argv[0]);
	return -1;
}

static enum outcome run_file(struct shell *sh, const char *name)
{
	FILE *in = name && strcmp(name, "-") ? fopen(name, "r") : stdin;

	if (!in) {
		fprintf(stderr, "weirsh: %s: %s\n", name, strerror(errno));
		return OUTCOME_USAGE;
	}
	sh->interactive = in == stdin && isatty(STDIN_FILENO);
	enum outcome outcome = run_input(sh, in, in == stdin ? "standard input" : name);
	if (in != stdin)
		fclose(in);
	return outcome;
}

int main(int argc, char **argv)
{
	struct options options = {.run_dir = "/run/weir"};
	int status = read_options(argc, argv, &options);

	if (status >= 0)
		return status;
	signal(SIGPIPE, SIG_IGN);
	session_catch_interrupt();
	struct shell sh = {.out = stdout, .json = options.json, .unsaved = -1};
	sh.terminal = isatty(STDOUT_FILENO);
	session_init(&sh.session, options.run_dir);
	enum outcome outcome = options.count ? run_arguments(&sh, argv, options.count)
					     : run_file(&sh, options.file);
	session_fini(&sh.session);
	json_decref(sh.transaction);
	return outcome;
}
