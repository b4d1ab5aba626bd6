/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/check.h"
#include "cli/conf_text.h"

static const char block[] = "ltm pool /Common/web {\n"
			    "    description \"a { \\\" # b\"\n"
			    "    members {\n"
			    "        /Common/10.0.0.1:80 {\n"
			    "            ratio 3\n"
			    "        }\n"
			    "    }\n"
			    "    monitor none\n"
			    "}\n";

static void check_fields(
	const char *text, const char *const *fields, unsigned count, const char *expected)
{
	char *got;
	size_t size;
	FILE *out = open_memstream(&got, &size);

	if (fields)
		conf_print_fields(text, fields, count, out);
	else
		conf_print_one_line(text, out);
	fclose(out);
	CHECK_STR(got, expected);
	free(got);
}

int main(void)
{
	static const char *const members[] = {"members"}, *const two[] = {"monitor", "description"};
	static const char *const none[] = {"x"};

	check_fields(block, NULL, 0,
		"ltm pool /Common/web { description \"a { \\\" # b\" members { /Common/10.0.0.1:80 "
		"{ "
		"ratio 3 } } monitor none }\n");
	check_fields(block, members, 1,
		"ltm pool /Common/web {\n    members {\n        /Common/10.0.0.1:80 {\n"
		"            ratio 3\n        }\n    }\n}\n");
	check_fields(block, two, 2,
		"ltm pool /Common/web {\n    description \"a { \\\" # b\"\n    monitor none\n}\n");
	check_fields(block, none, 1, "ltm pool /Common/web {\n}\n");
	check_fields("ltm pool /Common/web { }\n", members, 1, "ltm pool /Common/web { }\n");
	return 0;
}
