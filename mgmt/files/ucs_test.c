/* SPDX-License-Identifier: BSD-3-Clause */
#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/check.h"
#include "files/ucs_internal.h"

static const char conf[] = "ltm pool /Common/web {\n    monitor none\n}\n";
static const struct ucs_facts facts = {"0.1.0", "lb", 12, 1700000000};
static char reason[FILES_REASON_MAX];

struct entry {
	const char *name, *data;
	size_t length;
	unsigned type; /* 0: AE_IFREG */
	const char *link, *hardlink;
};

/* An archive of these entries, made as anybody could make it. Its length. */
static size_t make(const struct entry *entries, unsigned count, char *out, size_t size)
{
	struct archive *a = archive_write_new();
	size_t used = 0;

	archive_write_set_format_pax_restricted(a);
	archive_write_add_filter_gzip(a);
	archive_write_open_memory(a, out, size, &used);
	for (unsigned i = 0; i < count; i++) {
		struct archive_entry *e = archive_entry_new();

		archive_entry_set_pathname(e, entries[i].name);
		archive_entry_set_filetype(e, entries[i].type ? entries[i].type : AE_IFREG);
		archive_entry_set_size(e, entries[i].type ? 0 : (la_int64_t)entries[i].length);
		archive_entry_set_perm(e, 0644);
		if (entries[i].link)
			archive_entry_set_symlink(e, entries[i].link);
		if (entries[i].hardlink)
			archive_entry_set_hardlink(e, entries[i].hardlink);
		CHECK_INT(archive_write_header(a, e), ARCHIVE_OK);
		if (!entries[i].type && !entries[i].hardlink)
			archive_write_data(a, entries[i].data, entries[i].length);
		archive_entry_free(e);
	}
	archive_write_close(a);
	archive_write_free(a);
	return used;
}

static char *manifest_text(const char *text, const char *product, int format)
{
	char digest[UCS_DIGEST_TEXT];

	CHECK(ucs_digest(text, strlen(text), digest));
	json_t *m = json_pack("{s:i,s:s,s:s,s:s,s:i,s:i,s:{s:{s:i,s:s}}}", "format", format,
		"product", product, "version", "1", "machine", "m", "generation", 1, "created", 2,
		"files", UCS_CONF, "size", (int)strlen(text), "sha256", digest);
	char *out = json_dumps(m, 0);

	json_decref(m);
	return out;
}

static int read_made(const struct entry *entries, unsigned count)
{
	static char out[1 << 20];
	struct ucs u;
	size_t n = make(entries, count, out, sizeof(out));
	int rc = ucs_read_memory(out, n, &u, reason);

	ucs_fini(&u);
	return rc;
}

static void test_round_trip(void)
{
	int fd = memfd_create("ucs", MFD_CLOEXEC);
	struct ucs u;

	CHECK_INT(ucs_write(fd, conf, strlen(conf), &facts, reason), 0);
	CHECK_INT(lseek(fd, 0, SEEK_SET), 0);
	CHECK_INT(ucs_read(fd, &u, reason), 0);
	CHECK_STR(u.conf, conf);
	CHECK_INT(u.conf_length, strlen(conf));
	CHECK_INT(json_integer_value(json_object_get(u.manifest, "generation")), 12);
	CHECK_STR(json_string_value(json_object_get(u.manifest, "machine")), "lb");
	ucs_fini(&u);
	close(fd);
}

/* Wherever it is cut or one byte of it is another, it is refused or says the same. */
static void test_damage(void)
{
	int fd = memfd_create("ucs", MFD_CLOEXEC);
	char good[4096], bad[4096];
	struct ucs u;

	CHECK_INT(ucs_write(fd, conf, strlen(conf), &facts, reason), 0);
	ssize_t n = pread(fd, good, sizeof(good), 0);
	CHECK(n > 100 && n < (ssize_t)sizeof(good));
	for (ssize_t i = 0; i < n; i++) {
		memcpy(bad, good, (size_t)n);
		bad[i] ^= 0x20;
		for (int cut = 0; cut < 2; cut++) {
			if (ucs_read_memory(
				    cut ? good : bad, cut ? (size_t)i : (size_t)n, &u, reason) == 0)
				CHECK_STR(u.conf, conf);
			else
				CHECK(*reason);
			ucs_fini(&u);
		}
	}
	close(fd);
}

static void test_refused(void)
{
	static const char *const names[] = {"/weir.conf", "../weir.conf", "./weir.conf",
		"a/weir.conf", "store", "weir.conf/", "/etc/passwd"};
	char *good = manifest_text(conf, UCS_PRODUCT, UCS_FORMAT),
	     *other = manifest_text(conf, "Other", UCS_FORMAT);
	char *newer = manifest_text(conf, UCS_PRODUCT, 2),
	     *wrong = manifest_text("x", UCS_PRODUCT, UCS_FORMAT);
	const struct entry manifest = {.name = UCS_MANIFEST, .data = good, .length = strlen(good)};
	const struct entry text = {.name = UCS_CONF, .data = conf, .length = strlen(conf)};

	CHECK_INT(read_made((struct entry[]){text, manifest}, 2), 0);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct entry more = text;

		more.name = names[i];
		CHECK_INT(read_made((struct entry[]){manifest, text, more}, 3), -EBADMSG);
		CHECK_INT(read_made((struct entry[]){more, manifest, text}, 3), -EBADMSG);
	}
	CHECK_INT(read_made((struct entry[]){manifest}, 1), -EBADMSG);
	CHECK_STR(reason, "it has no weir.conf");
	CHECK_INT(read_made((struct entry[]){text}, 1), -EBADMSG);
	CHECK_INT(read_made((struct entry[]){manifest, text, text}, 3), -EBADMSG);
	CHECK_STR(reason, "it has weir.conf twice");
	CHECK_INT(read_made((struct entry[]){manifest,
				    {.name = UCS_CONF, .type = AE_IFLNK, .link = "/etc/passwd"}},
			  2),
		-EBADMSG);
	CHECK_STR(reason, "'weir.conf' is no plain file");
	CHECK_INT(
		read_made((struct entry[]){manifest, {.name = UCS_CONF, .hardlink = UCS_MANIFEST}},
			2),
		-EBADMSG);
	CHECK_INT(read_made((struct entry[]){manifest, {.name = UCS_CONF, .type = AE_IFDIR}}, 2),
		-EBADMSG);
	CHECK_INT(read_made((struct entry[]){manifest, {.name = UCS_CONF, .type = AE_IFIFO}}, 2),
		-EBADMSG);
	CHECK_INT(read_made(
			  (struct entry[]){
				  {.name = UCS_MANIFEST, .data = other, .length = strlen(other)},
				  text},
			  2),
		-EBADMSG);
	CHECK_INT(read_made(
			  (struct entry[]){
				  {.name = UCS_MANIFEST, .data = newer, .length = strlen(newer)},
				  text},
			  2),
		-EBADMSG);
	CHECK_STR(reason, "it is of format 2 of 'Weir'; Weir reads its own, 1");
	CHECK_INT(read_made(
			  (struct entry[]){
				  {.name = UCS_MANIFEST, .data = wrong, .length = strlen(wrong)},
				  text},
			  2),
		-EBADMSG);
	CHECK_INT(
		read_made((struct entry[]){{.name = UCS_MANIFEST, .data = "[]", .length = 2}, text},
			2),
		-EBADMSG);
	CHECK_STR(reason, "its manifest.json is not formed as it must be");
	free(good);
	free(other);
	free(newer);
	free(wrong);
}

/* A small archive that unpacks to much costs neither much memory nor much time. */
static void test_bomb(void)
{
	size_t n = UCS_MANIFEST_MAX + 1, room = 1 << 20;
	char *zeros = calloc(1, room);

	CHECK_INT(
		read_made((struct entry[]){{.name = UCS_MANIFEST, .data = zeros, .length = n}}, 1),
		-EFBIG);
	CHECK_STR(reason, "manifest.json has more than 65536 bytes");
	CHECK_INT(read_made((struct entry[]){{.name = "zeros", .data = zeros, .length = room}}, 1),
		-EBADMSG);
	free(zeros);
}

static void test_too_long(void)
{
	CHECK_INT(ucs_write(-1, conf, UCS_CONF_MAX + 1, &facts, reason), -EFBIG);
	CHECK_INT(ucs_write(-1, conf, strlen(conf), &facts, reason), -EIO);
}

static void test_secrets(void)
{
	static const char text[] =
		"# a password $W$1$x\n"
		"ltm monitor http /Common/web {\n    password $W$1$abc=\n    send \"a } \\\" { "
		"b\"\n}\n"
		"ltm rule r {\n    text \"line {\n password $W$1$no\n\"\n}\n"
		"sys x { y { z \"$W$1$q\" } }\nauth user bob {\n    description $W$no\n}\n";
	json_t *rows = ucs_secrets(text, strlen(text));

	CHECK_INT(json_array_size(rows), 2);
	CHECK_STR(json_string_value(json_array_get(rows, 0)),
		"ltm monitor http /Common/web password");
	CHECK_STR(json_string_value(json_array_get(rows, 1)), "sys x y z");
	json_decref(rows);
}

int main(void)
{
	test_round_trip();
	test_damage();
	test_refused();
	test_bomb();
	test_too_long();
	test_secrets();
	return 0;
}
