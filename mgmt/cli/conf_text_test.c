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

static void check_short(const char *text, const char *expected)
{
	char *got;
	size_t size;
	FILE *out = open_memstream(&got, &size);

	conf_print_short(text, out);
	fclose(out);
	CHECK_STR(got, expected);
	free(got);
}

static void test_short(void)
{
	check_short("ltm virtual /Common/vs {\n    pool /Common/web\n    destination "
		    "/Common/10.0.0.1:80\n"
		    "    description /Common/text\n}\n",
		"ltm virtual vs {\n    pool web\n    destination 10.0.0.1:80\n"
		"    description /Common/text\n}\n");
	check_short("pool /Common/none\npool /Common/all\npool /Common/a/b\npool /Common/\n",
		"pool /Common/none\npool /Common/all\npool /Common/a/b\npool /Common/\n");
	check_short("description \"a /Common/b\n/Common/c\"\n\"/Common/d e\" { }",
		"description \"a /Common/b\n/Common/c\"\n\"/Common/d e\" { }");
	check_short("operator { reason /Common/x session /Common/y }",
		"operator { reason /Common/x session y }");
	check_short("sys db x {\n    value /Common/v\n}\nsys folder /Common { }",
		"sys db x {\n    value /Common/v\n}\nsys folder /Common { }");
}

int main(void)
{
	test_short();

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
