/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <unistd.h>

#include "rest/rest_fake.h"
#include "rest/rest_files.h"

#define ADMIN                                                                                      \
	"{\"result\":{\"user\":\"bob\",\"identity\":\"bob\",\"roles\":[{\"partition\":\"all-"      \
	"partitions\",\"role\":"                                                                   \
	"\"admin\"}]}}"
#define MANAGER                                                                                    \
	"{\"result\":{\"user\":\"bob\",\"identity\":\"bob\",\"roles\":[{\"partition\":\"Common\"," \
	"\"role\":\"admin\"},"                                                                     \
	"{\"partition\":\"all-partitions\",\"role\":\"manager\"}]}}"
#define DONE "{\"result\":{}}"
#define UPLOAD "/mgmt/shared/file-transfer/uploads/"

static const char *util(const char *name, const char *args)
{
	json_t *body = json_pack("{s:s, s:s}", "command", "run", "utilCmdArgs", args);
	char *text = json_dumps(body, 0), path[128];

	snprintf(path, sizeof(path), "/mgmt/tm/util/%s", name);
	CHECK_INT(fake_request(HTTP_POST, path, text), 200);
	free(text);
	json_decref(body);
	return fake_said("commandResult");
}

static const char *bash(const char *args, const char *answer)
{
	fake_answer(ADMIN);
	if (answer)
		fake_answer(answer);
	return util("bash", args);
}

static void test_closed_table(void)
{
	static const char *const unknown[] = {"-c 'id'", "-c 'cat /etc/passwd'", "-c 'tmshx'",
		"-c 'cat /VERSION; id'", "-c '/bin/sh'", "-c '$(id)'", "-c 'runlevel|id'",
		"-c '`id`'"};

	for (size_t i = 0; i < sizeof(unknown) / sizeof(*unknown); i++) {
		CHECK(strstr(bash(unknown[i], NULL), ": command not found\n"));
		CHECK_INT(fake.next, 1);
	}
	CHECK_STR(bash("-c 'id -u'", NULL), "/bin/bash: id: command not found\n");
	CHECK_STR(fake_said("kind"), "tm:util:bash:runstate");
	CHECK_STR(fake_said("utilCmdArgs"), "-c 'id -u'");
	CHECK(strstr(bash("id", NULL), "-c"));
	CHECK_STR(bash("-c \"runlevel\"", NULL), "N 3\n");
	CHECK_STR(bash("-c \"ps aux | grep '[m]prov'\"", NULL), "");
	CHECK(strstr(
		bash("-c 'cat /VERSION'", "{\"rows\":[{\"version\":\"1.2.3\"}],\"result\":{}}"),
		"Version: 15.1.0\nBuild: 1.2.3\n"));
	fake_answer(ADMIN);
	CHECK_INT(fake_request(HTTP_POST, "/mgmt/tm/util/bash",
			  "{\"command\":\"run\",\"utilCmdArgs\":\"-c 'id\"}"),
		400);
	fake_answer(ADMIN);
	CHECK(strstr(util("dig", "x"), "dig: command not found"));
}

static void test_administrators_alone(void)
{
	fake_answer(MANAGER);
	CHECK_INT(fake_request(HTTP_POST, "/mgmt/tm/util/bash",
			  "{\"command\":\"run\",\"utilCmdArgs\":\"-c 'runlevel'\"}"),
		403);
	CHECK_INT(fake_request(HTTP_GET, "/mgmt/tm/util/bash", NULL), 405);
	fake_answer(MANAGER);
	CHECK_INT(fake_request(HTTP_POST, "/mgmt/tm/sys/config",
			  "{\"command\":\"load\",\"options\":[{\"file\":\"/tmp/x\"}]}"),
		403);
	CHECK_INT(fake.next, 1);
}

static void test_tmsh(void)
{
	CHECK_STR(bash("-c 'tmsh save sys config'", DONE), "Saving running configuration...\n");
	CHECK_STR(fake_asked(1, "op"), "\"save\"");
	CHECK_STR(fake_asked(1, "as"),
		"{\"address\":\"192.0.2.7\",\"password\":\"secret\",\"user\":\"bob\"}");
	CHECK_STR(bash("-c 'tmsh save sys config partitions all'", DONE),
		"Saving running configuration...\n");
	CHECK_STR(bash("-c \"tmsh -c \\\"cd /; list ltm pool web\\\"\"",
			  "{\"rows\":[\"ltm pool web {\\n}\\n\"],\"result\":{}}"),
		"ltm pool web {\n}\n");
	CHECK_STR(fake_asked(1, "name"), "\"web\"");
	CHECK_STR(fake_asked(1, "form"), "\"conf\"");
	CHECK_STR(bash("-c 'tmsh modify ltm pool web description \"a b\"'", DONE), "");
	CHECK_STR(fake_asked(1, "op"), "\"edit\"");
	CHECK_STR(fake_asked(1, "verb"), "\"modify\"");
	/* a semicolon in a text or a rule ends no command, however the client quotes */
	static const char *const whole[][2] = {
		{"-c 'tmsh -c \"modify ltm pool web description \\\"a; delete ltm pool b\\\"\"'",
			"\"ltm pool web description \\\"a; delete ltm pool b\\\"\""},
		{"-c 'tmsh -c \"modify ltm pool web description \"a; b\"\"'",
			"\"ltm pool web description \\\"a; b\\\"\""},
		{"-c \"tmsh -q -c 'modify ltm rule r { f(); g() }'\"",
			"\"ltm rule r { f(); g() }\""}};
	for (size_t i = 0; i < sizeof(whole) / sizeof(*whole); i++) {
		CHECK_STR(bash(whole[i][0], DONE), "");
		CHECK_STR(fake_asked(1, "text"), whole[i][1]);
		CHECK_INT(fake.next, 2);
	}
	CHECK(strstr(bash("-c 'tmsh delete ltm pool x'",
			     "{\"error\":{\"code\":403,\"text\":\"bob may not do this\"}}"),
		"bob may not do this\n"));
	CHECK(!strncmp(bash("-c 'tmsh nonsense'", NULL), "Syntax Error:", 13));
	CHECK(strstr(bash("-c 'tmsh show sys mcp-state'", NULL), "running"));
	CHECK(!strncmp(bash("-c 'tmsh quit'", NULL), "Syntax Error:", 13));
}

/* ---- files ---- */

static unsigned upload(const char *name, const char *range, const char *body)
{
	char path[256];

	fake_answer(ADMIN);
	snprintf(path, sizeof(path), UPLOAD "%s", name);
	fake_headers[0] = (struct http_pair){"Content-Range", range};
	fake_header_count = 1;
	unsigned status = fake_request(HTTP_POST, path, body);
	fake_header_count = 0;
	return status;
}

static void test_uploads(void)
{
	CHECK_INT(upload("a.conf", "0-4/10", "ltm p"), 200);
	CHECK_STR(fake_said("remainingByteCount"), "5");
	CHECK_STR(fake_said("localFilePath"), "/var/config/rest/downloads/a.conf");
	CHECK_INT(upload("a.conf", "6-9/10", "ol b"), 400); /* a piece is missing */
	CHECK_INT(upload("a.conf", "5-9/10", "ool b"), 200);
	CHECK_INT(upload("a.conf", "0-9/5", "0123456789"), 400);
	CHECK_INT(upload("a.conf", "0-3/10", "0123456789"), 400);
	CHECK_INT(upload("b", "nonsense", "x"), 400);
	CHECK_INT(upload("b", "0-0/99999999999", "x"), 400);
	CHECK_INT(upload(".hidden", "0-0/1", "x"), 400);
	CHECK_INT(upload("a~b", "0-0/1", "x"), 400);
	CHECK_INT(upload("-rf", "0-0/1", "x"), 400);
	fake_answer(ADMIN);
	CHECK_STR(util("unix-ls", "/var/config/rest/downloads"), "a.conf\n");
}

static void test_files(void)
{
	fake_answer(ADMIN);
	CHECK_STR(util("unix-mv", "/var/config/rest/downloads/a.conf /tmp/c.conf"), "");
	fake_answer(ADMIN);
	CHECK_STR(util("unix-ls", ""), "c.conf\n");
	CHECK_STR(bash("-c 'tmsh load sys config file /tmp/c.conf merge verify'", DONE),
		"Validating configuration...\n");
	CHECK_STR(fake_asked(1, "text"), "\"ltm pool b\"");
	CHECK_STR(fake_asked(1, "merge"), "true");
	CHECK_STR(fake_asked(1, "verify"), "true");
	CHECK(strstr(bash("-c 'tmsh load sys config file /tmp/none'", NULL), "Unexpected Error:"));
	CHECK(strstr(
		bash("-c 'tmsh load sys config file /etc/passwd'", NULL), "Unexpected Error:"));
	CHECK_INT(fake.next, 1);
	fake_answer(ADMIN);
	fake_answer(DONE);
	CHECK_INT(fake_request(HTTP_POST, "/mgmt/tm/sys/config",
			  "{\"command\":\"load\",\"options\":[{\"merge\":true},{\"file\":"
			  "\"/var/config/rest/downloads/c.conf\"}]}"),
		200);
	CHECK_STR(fake_asked(1, "text"), "\"ltm pool b\"");
	CHECK_STR(fake_said("command"), "load");
	fake_answer(ADMIN);
	fake_answer(DONE);
	CHECK_INT(fake_request(HTTP_POST, "/mgmt/tm/sys/config", "{\"command\":\"save\"}"), 200);
	fake_answer(ADMIN);
	CHECK_INT(fake_request(HTTP_POST, "/mgmt/tm/sys/config", "{\"command\":\"x\"}"), 400);
	fake_answer(ADMIN);
	CHECK_INT(fake_request(HTTP_POST, "/mgmt/tm/sys/config",
			  "{\"command\":\"load\",\"options\":[{\"file\":5}]}"),
		400);
	CHECK_INT(fake.next, 1);
	/* the text of an object that names a file */
	fake_answer(ADMIN);
	fake_answer(DONE);
	fake_answer("{\"rows\":[{}],\"result\":{}}");
	CHECK_INT(fake_request(HTTP_POST, "/mgmt/tm/sys/file/ssl-cert",
			  "{\"name\":\"c\",\"sourcePath\":\"file:/var/config/rest/downloads/"
			  "c.conf\"}"),
		200);
	CHECK(strstr(fake_asked(1, "body"), "\"content\":\"ltm pool b\""));
	fake_answer(ADMIN);
	CHECK_INT(fake_request(HTTP_POST, "/mgmt/tm/sys/file/ssl-cert",
			  "{\"name\":\"c\",\"sourcePath\":\"file:/etc/passwd\"}"),
		400);
	fake_answer(ADMIN);
	CHECK_STR(util("unix-rm", "-f /tmp/c.conf"), "");
	fake_answer(ADMIN);
	CHECK_STR(util("unix-rm", "/tmp/c.conf"),
		"/bin/rm: cannot remove '/tmp/c.conf': No such file or directory\n");
	fake_answer(ADMIN);
	CHECK(!strncmp(util("unix-rm", "/tmp/c.conf /etc/passwd"), "/bin/rm: cannot remove", 22));
}

/* Each has his own. */
static void test_areas(void)
{
	char *text = NULL, why[FILES_REASON_MAX];
	struct files_range range = {0, 0, 1};
	bool complete;
	size_t length;

	CHECK_INT(files_put(fake_rest->uploads, "a", "x", &range, "1", &complete, why), 0);
	CHECK_INT(rest_file_read(fake_rest, "b", "x", 9, &text, &length, why), -ENOENT);
	CHECK_INT(rest_file_read(fake_rest, "a", "x", 0, &text, &length, why), -EFBIG);
	CHECK_INT(rest_file_read(fake_rest, "a", REST_ARCHIVES_PATH "x", 9, &text, &length, why),
		-EACCES);
	CHECK_INT(rest_file_read(fake_rest, "a", "/tmp/x", 9, &text, &length, why), 0);
	CHECK_STR(text, "1");
	free(text);
}

static const char *found(const char *path)
{
	static struct rest_file file;
	char why[FILES_REASON_MAX];

	return rest_file_find(fake_rest, "a", path, &file, why) ? file.name : "";
}

static void test_names(void)
{
	static const char *const wrong[] = {"", "/", "/tmp/", "/etc/passwd", "/tmp/../etc/passwd",
		"/tmp/a/b", "..", ".", "a/b", "file:/etc/x", "/tmp/.x", "/tmp/a b", "/tmp/a\n",
		"/var/config/rest/downloads/tmp/x", "/var/config/rest/downloads//tmp/x",
		"/var/local/ucs/", "/var/local/ucs/../x"};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		CHECK_STR(found(wrong[i]), "");
	CHECK_STR(found("file:/var/config/rest/downloads/x.crt"), "x.crt");
	CHECK_STR(found("file:///tmp/x"), "x");
	CHECK_STR(found("x"), "x");
	CHECK_STR(found("/var/local/ucs/x.ucs"), "x.ucs");
}

/* ---- archives ---- */

#define UCS "/mgmt/tm/sys/ucs"
#define DOWNLOAD "/mgmt/shared/file-transfer/ucs-downloads/"
#define STATUS "{\"rows\":[{\"version\":\"0.1\",\"generation\":7}],\"result\":{}}"

static unsigned ask_ucs(enum http_method method, const char *path, const char *body)
{
	fake_answer(ADMIN);
	return fake_request(method, path, body);
}

static void archive_save(void)
{
	fake_answer(ADMIN);
	fake_answer(STATUS);
	fake_answer("{\"rows\":[\"ltm pool a { }\\n\",\"ltm monitor http m {\\n    password "
		    "$W$1$x\\n}\\n\"],\"result\":{}}");
	CHECK_INT(fake_request(HTTP_POST, UCS, "{\"command\":\"save\",\"name\":\"site\"}"), 200);
	CHECK_STR(fake_said("command"), "save");
}

static unsigned archive_load(const char *answer)
{
	fake_answer(ADMIN);
	fake_answer(answer);
	fake_answer(DONE);
	return fake_request(HTTP_POST, UCS, "{\"command\":\"load\",\"name\":\"site.ucs\"}");
}

static void test_archives(void)
{
	CHECK_INT(ask_ucs(HTTP_GET, UCS, NULL), 200);
	CHECK(!json_object_get(fake_reply, "items"));
	archive_save();
	CHECK_INT(ask_ucs(HTTP_GET, UCS, NULL), 200);
	CHECK_INT(json_array_size(json_object_get(fake_reply, "items")), 1);
	CHECK_INT(archive_load(DONE), 200);
	CHECK_STR(fake_asked(1, "file"), "\"site.ucs\"");
	CHECK(strstr(fake_asked(1, "text"), "ltm pool a { }"));
	CHECK_STR(fake_asked(2, "op"), "\"save\"");
	CHECK_INT(archive_load("{\"error\":{\"code\":400,\"field\":\"password\",\"reason\":\"was "
			       "encrypted by another machine: give it in plain text\"}}"),
		400);
	CHECK(strstr(fake_said("message"), "ltm monitor http m password"));
	CHECK(strstr(bash("-c 'tmsh show sys mcp-state'", NULL), "base-config-load-failed"));
	CHECK_INT(ask_ucs(HTTP_POST, UCS, "{\"command\":\"load\",\"name\":\"none\"}"), 400);
	CHECK_INT(ask_ucs(HTTP_POST, UCS, "{\"command\":\"load\",\"name\":\"../x\"}"), 400);
	CHECK_INT(ask_ucs(HTTP_POST, UCS, "{\"command\":\"x\",\"name\":\"y\"}"), 400);
	CHECK_INT(archive_load(DONE), 200);
	CHECK(strstr(bash("-c 'tmsh show sys mcp-state'", NULL), "full-config-load-succeed"));
	CHECK(strstr(bash("-c 'tmsh list sys ucs'", NULL), "/var/local/ucs/site.ucs"));
}

static void test_download(void)
{
	fake_headers[0] = (struct http_pair){"Content-Range", "0-524287/0"};
	fake_header_count = 1;
	CHECK_INT(ask_ucs(HTTP_GET, DOWNLOAD "site.ucs", NULL), 400);
	CHECK_STR(fake_http.reply.headers[0].name, "Content-Range");
	CHECK(!strncmp(fake_http.reply.headers[0].value, "0-", 2));
	fake_headers[0].value = "2-3/9";
	CHECK_INT(ask_ucs(HTTP_GET, DOWNLOAD "site.ucs", NULL), 200);
	CHECK_INT(fake_http.reply.length, 2);
	fake_header_count = 0;
	CHECK_INT(ask_ucs(HTTP_GET, DOWNLOAD "site.ucs", NULL), 200);
	CHECK_INT(ask_ucs(HTTP_GET, DOWNLOAD "none.ucs", NULL), 404);
	fake_answer("{\"result\":{\"user\":\"bob\",\"identity\":\"bob\",\"roles\":[]}}");
	CHECK_INT(fake_request(HTTP_GET, DOWNLOAD "site.ucs", NULL), 403);
	fake_answer("{\"result\":{\"user\":\"bob\",\"identity\":\"bob\",\"roles\":[]}}");
	CHECK_INT(fake_request(HTTP_GET, UCS, NULL), 403);
}

static void test_tasks(void)
{
	static const char path[] = "/mgmt/tm/task/sys/ucs/1";

	CHECK_INT(ask_ucs(HTTP_POST, "/mgmt/tm/task/sys/ucs",
			  "{\"command\":\"load\",\"name\":\"site.ucs\"}"),
		200);
	CHECK_STR(fake_said("_taskId"), "1");
	CHECK_STR(fake_said("_taskState"), "STARTED");
	fake_answer(ADMIN);
	fake_answer(DONE);
	fake_answer(DONE);
	CHECK_INT(fake_request(HTTP_PUT, path, "{\"_taskState\":\"VALIDATING\"}"), 200);
	CHECK_STR(fake_said("_taskState"), "COMPLETED");
	CHECK_INT(ask_ucs(HTTP_GET, "/mgmt/tm/task/sys/ucs/1/result", NULL), 200);
	CHECK_STR(fake_said("_taskState"), "COMPLETED");
	CHECK_INT(ask_ucs(HTTP_GET, "/mgmt/tm/task/sys/ucs/2", NULL), 404);
	CHECK_INT(ask_ucs(HTTP_DELETE, UCS "/site.ucs", NULL), 200);
	CHECK_INT(ask_ucs(HTTP_DELETE, UCS "/site.ucs", NULL), 404);
}

int main(void)
{
	char dir[] = "/tmp/weir-rest-XXXXXX", command[64];

	CHECK(mkdtemp(dir));
	struct rest_settings settings = {.upload_dir = dir};
	fake_rest = rest_new(&settings);
	test_closed_table();
	test_administrators_alone();
	test_tmsh();
	test_uploads();
	test_files();
	test_areas();
	test_names();
	test_archives();
	test_download();
	test_tasks();
	rest_free(fake_rest);
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command) != 0;
}
