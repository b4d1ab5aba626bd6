/* SPDX-License-Identifier: BSD-3-Clause */
/* The command language: any text is parsed or refused; what a change says survives being written
 * again. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void check_edit(const struct cli_command *first)
{
	struct cli_command second;
	struct words_error error;
	char *text = command_edit_text(first), *again = NULL, *line;

	if (!text)
		return;
	size_t size = strlen(command_edit_verb(first)) + strlen(text) + 2;
	line = malloc(size);
	if (!line)
		abort();
	strcpy(line, command_edit_verb(first));
	strcat(line, " ");
	strcat(line, text);
	if (command_parse(line, size - 1, &second, &error))
		abort();
	again = command_edit_text(&second);
	if (!again || strcmp(again, text))
		abort();
	command_fini(&second);
	free(again);
	free(line);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct cli_command command;
	struct words_error error;

	if (command_parse((const char *)data, len, &command, &error)) {
		if (!error.reason[0] || error.position > len)
			abort();
	} else if (command_is_edit(&command)) {
		check_edit(&command);
	}
	command_fini(&command);
	return 0;
}
