/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/check.h"
#include "files/files.h"

static const struct files_limits limits = {.area_bytes = 100, .all_bytes = 150, .area_files = 3};
static char dir[64];
static struct files *f;
static char reason[FILES_REASON_MAX];
static bool complete;

static int put(const char *user, const char *name, uint64_t start, uint64_t end, uint64_t total,
	const char *data)
{
	struct files_range r = {start, end, total};

	return files_put(f, user, name, &r, data, &complete, reason);
}

static int whole(const char *user, const char *name, uint64_t length)
{
	static const char data[200] = "0123456789";

	return put(user, name, 0, length - 1, length, data);
}

static void check_text(const char *user, const char *name, const char *text)
{
	char *data;
	size_t length;

	CHECK_INT(files_read(f, user, name, 1000, &data, &length, reason), 0);
	CHECK_INT(length, strlen(text));
	CHECK_STR(data, text);
	free(data);
}

static int absent(const char *user, const char *name)
{
	uint64_t size;
	int fd = files_open(f, user, name, &size, reason);

	if (fd >= 0)
		close(fd);
	return fd == -ENOENT;
}

static void test_names(void)
{
	static const char *const bad[] = {"", ".", "..", ".hidden", "a/b", "/etc/passwd", "../x",
		"a b", "a\nb", "a;b", "$(x)", "a\\b", "`a`", "a*", "\xc3\xa4", "-rf", "a~b", "a:b"};
	char longest[FILES_NAME_MAX + 2];

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		uint64_t size;

		CHECK(!files_name_ok(bad[i]));
		CHECK_INT(whole("bob", bad[i], 4), -EINVAL);
		CHECK_INT(whole(bad[i], "name", 4), -EINVAL);
		CHECK_INT(files_open(f, "bob", bad[i], &size, reason), -EINVAL);
		CHECK_INT(files_remove(f, "bob", bad[i], reason), -EINVAL);
		CHECK_INT(files_move(f, "bob", bad[i], f, "bob", "b", reason), -EINVAL);
	}
	memset(longest, 'n', sizeof(longest));
	longest[FILES_NAME_MAX + 1] = 0;
	CHECK(!files_name_ok(longest));
	longest[FILES_NAME_MAX] = 0;
	CHECK(files_name_ok(longest));
	CHECK(files_name_ok("site_1.2-x+y@z=.crt"));
}

static void test_ranges(void)
{
	static const char *const bad[] = {"", "0-9", "0-9/", "0-9/x", "0-/9", "-9/10", "a-9/10",
		"0-9/10 ", " 0-9/10", "0-9/10/11", "bytes 0-9/*", "+0-9/10",
		"0-9/9999999999999999999", "-1-9/10"};
	struct files_range r;

	CHECK(files_range_parse("0-524287/0", &r));
	CHECK_INT(r.end, 524287);
	CHECK(files_range_parse("bytes 7-9/10", &r));
	CHECK_INT(r.start, 7);
	CHECK_INT(r.total, 10);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		CHECK(!files_range_parse(bad[i], &r));
}

static void test_pieces(void)
{
	CHECK_INT(put("bob", "a", 0, 3, 8, "abcd"), 0);
	CHECK(!complete);
	CHECK(absent("bob", "a"));
	CHECK_INT(put("bob", "a", 5, 7, 8, "xxx"), -EINVAL);
	CHECK_STR(reason, "the next byte of this file is 4, not 5");
	CHECK_INT(put("bob", "a", 4, 8, 8, "efghi"), -EINVAL);
	CHECK_INT(put("bob", "a", 4, 3, 8, ""), -EINVAL);
	CHECK_INT(put("bob", "a", 4, 7, 8, "efgh"), 0);
	CHECK(complete);
	check_text("bob", "a", "abcdefgh");
	CHECK(absent("eve", "a")); /* an area of one's own */
	CHECK_INT(put("bob", "a", 0, 1, 4, "AB"), 0);
	check_text("bob", "a", "abcdefgh"); /* as it was until the new one is complete */
	CHECK_INT(put("bob", "a", 0, 1, 3, "xy"), 0);
	CHECK_INT(put("bob", "a", 2, 2, 3, "z"), 0);
	check_text("bob", "a", "xyz");
	CHECK_INT(put("bob", "b", 2, 2, 3, "z"), -EINVAL);
	CHECK_INT(files_remove(f, "bob", "a", reason), 0);
	CHECK_INT(files_remove(f, "bob", "a", reason), -ENOENT);
	CHECK_INT(files_remove(f, "nobody", "a", reason), -ENOENT);
}

static void test_quota(void)
{
	CHECK_INT(put("bob", "big", 0, 3, 101, "abcd"), -EDQUOT);
	CHECK_STR(reason, "101 bytes more do not fit: your files have 0 of 100 bytes; delete some");
	CHECK_INT(put("bob", "huge", 0, 3, UINT64_MAX, "abcd"), -EDQUOT);
	CHECK_INT(put("bob", "c", 0, 3, 4, "abcd"), 0);
	CHECK_INT(put("bob", "c2", 0, 3, 8, "abcd"), 0);
	CHECK_INT(put("bob", "c2", 4, 99, 100, (char[96]){0}), -EDQUOT); /* more than was told */
	CHECK_INT(whole("bob", "d", 90), 0);
	CHECK_INT(whole("bob", "e", 3), -EDQUOT);
	CHECK_INT(whole("eve", "a", 52), 0);
	CHECK_INT(whole("eve", "b", 1), -EDQUOT);
	CHECK_STR(reason, "1 bytes more do not fit: everybody's files have 150 of 150");
	CHECK_INT(files_remove(f, "bob", "d", reason), 0);
	CHECK_INT(whole("bob", "d", 1), 0);
	CHECK_INT(whole("bob", "e", 1), -EDQUOT); /* c, d and what there is of c2 */
	CHECK_STR(reason, "you have 3 files already, the most there may be; delete some");
	CHECK_INT(whole("bob", "c2", 1), 0);
	CHECK_INT(files_remove(f, "bob", "c2", reason), 0);
	CHECK_INT(files_remove(f, "eve", "a", reason), 0);
}

static void test_links(void)
{
	char path[128];
	json_t *rows;

	snprintf(path, sizeof(path), "%s/bob/link", dir);
	CHECK_INT(symlink("/etc/passwd", path), 0);
	CHECK(absent("bob", "link"));
	CHECK_INT(whole("bob", "link", 3), 0); /* the link is replaced, not followed */
	check_text("bob", "link", "012");
	snprintf(path, sizeof(path), "%s/mallory", dir);
	CHECK_INT(symlink("bob", path), 0);
	CHECK(whole("mallory", "x", 3) < 0);
	unlink(path);
	snprintf(path, sizeof(path), "%s/bob/folder", dir);
	CHECK_INT(mkdir(path, 0700), 0);
	CHECK(absent("bob", "folder"));
	rows = files_list(f, "bob");
	CHECK_INT(json_array_size(rows), 3);
	CHECK_STR(json_string_value(json_object_get(json_array_get(rows, 0), "name")), "c");
	CHECK_INT(json_integer_value(json_object_get(json_array_get(rows, 0), "size")), 4);
	json_decref(rows);
	rmdir(path);
}

static int write_text(void *ctx, int fd, char *why)
{
	const char *text = ctx;

	if (!*text) {
		snprintf(why, FILES_REASON_MAX, "nothing to write");
		return -EIO;
	}
	return write(fd, text, strlen(text)) == (ssize_t)strlen(text) ? 0 : -EIO;
}

static void test_whole(void)
{
	char too_much[102];

	files_remove(f, "bob", "link", reason);
	memset(too_much, 'x', sizeof(too_much));
	too_much[101] = 0;
	CHECK_INT(files_write(f, "bob", "w", write_text, "text", reason), 0);
	check_text("bob", "w", "text");
	CHECK_INT(files_write(f, "bob", "w", write_text, "", reason), -EIO);
	CHECK_STR(reason, "nothing to write");
	CHECK_INT(files_write(f, "bob", "w", write_text, too_much, reason), -EDQUOT);
	check_text("bob", "w", "text");
}

static void test_moves(void)
{
	struct files *other = files_new(dir, &limits);
	char *data;
	size_t length;

	CHECK_INT(files_move(f, "bob", "w", f, "bob", "w2", reason), 0);
	CHECK(absent("bob", "w"));
	CHECK_INT(files_move(f, "bob", "w2", other, "archives", "w.ucs", reason), 0);
	CHECK_INT(files_read(other, "archives", "w.ucs", 3, &data, &length, reason), -EFBIG);
	CHECK_INT(files_read(other, "archives", "w.ucs", 4, &data, &length, reason), 0);
	CHECK_STR(data, "text");
	free(data);
	CHECK_INT(files_move(f, "bob", "w2", f, "bob", "w3", reason), -ENOENT);
	CHECK_STR(reason, "there is no file w2");
	files_free(other);
}

static void test_forgetting(void)
{
	json_t *areas;

	CHECK_INT(put("gone", "x", 0, 0, 2, "1"), 0); /* not finished */
	CHECK_INT(whole("gone", "y", 1), 0);
	CHECK_INT(whole("kept", "k", 1), 0);
	files_forget(f, "gone");
	files_forget(f, "gone");
	files_forget(f, "../kept");
	CHECK(absent("gone", "y") && !absent("kept", "k"));
	areas = files_areas(f);
	for (size_t i = 0; i < json_array_size(areas); i++)
		CHECK(strcmp(json_string_value(json_array_get(areas, i)), "gone"));
	json_decref(areas);
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	return remove(path);
}

int main(void)
{
	snprintf(dir, sizeof(dir), "/tmp/weir-files-test-XXXXXX");
	CHECK(mkdtemp(dir));
	f = files_new(dir, &limits);
	CHECK(f);
	test_names();
	test_ranges();
	test_pieces();
	test_quota();
	test_links();
	test_whole();
	test_moves();
	test_forgetting();
	files_free(f);
	nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	return 0;
}
