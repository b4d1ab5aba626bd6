/* SPDX-License-Identifier: BSD-3-Clause */
#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files/files_internal.h"
#include "files/ucs_internal.h"

#define BLOCK 65536u

/* What may be in an archive. */
enum part { PART_MANIFEST, PART_CONF, PART_COUNT };

static const struct {
	const char *name;
	size_t max;
} parts[PART_COUNT] = {
	[PART_MANIFEST] = {UCS_MANIFEST, UCS_MANIFEST_MAX},
	[PART_CONF] = {UCS_CONF, UCS_CONF_MAX},
};

struct content {
	char *data;
	size_t length;
};

bool ucs_digest(const void *data, size_t length, char text[UCS_DIGEST_TEXT])
{
	unsigned char sum[EVP_MAX_MD_SIZE];
	unsigned n = 0;

	if (EVP_Digest(data, length, sum, &n, EVP_sha256(), NULL) != 1)
		return false;
	for (unsigned i = 0; i < n; i++)
		snprintf(text + 2 * (size_t)i, 3, "%02x", sum[i]);
	return true;
}

static int damaged(struct archive *a, char reason[FILES_REASON_MAX])
{
	const char *why = archive_error_string(a);

	if (archive_errno(a) == ENOMEM)
		return files_refuse(-ENOMEM, reason, "no memory for the archive");
	return files_refuse(-EBADMSG, reason, "it is no tar.gz, or damaged: %s",
		why ? why : "it ends too early");
}

/* ---- entries ---- */

static int part_find(struct archive_entry *entry, const struct content found[PART_COUNT],
	char reason[FILES_REASON_MAX])
{
	const char *name = archive_entry_pathname(entry);

	if (!name)
		return files_refuse(-EBADMSG, reason, "it has a file without a readable name");
	if (archive_entry_filetype(entry) != AE_IFREG || archive_entry_hardlink(entry) ||
		archive_entry_symlink(entry))
		return files_refuse(-EBADMSG, reason, "'%.64s' is no plain file", name);
	for (int i = 0; i < PART_COUNT; i++) {
		if (strcmp(name, parts[i].name))
			continue;
		if (found[i].data)
			return files_refuse(-EBADMSG, reason, "it has %s twice", name);
		if (!archive_entry_size_is_set(entry) || archive_entry_size(entry) < 0 ||
			(uint64_t)archive_entry_size(entry) > parts[i].max)
			return files_refuse(
				-EFBIG, reason, "%s has more than %zu bytes", name, parts[i].max);
		return i;
	}
	return files_refuse(
		-EBADMSG, reason, "'%.64s' does not belong into an archive of " UCS_PRODUCT, name);
}

/* Memory grows with what is really there, not with what the header says. */
static int content_grow(struct content *c, size_t *room, size_t most)
{
	size_t wanted = *room * 2 < most ? *room * 2 : most;
	char *data;

	if (wanted < BLOCK)
		wanted = BLOCK < most ? BLOCK : most;
	data = realloc(c->data, wanted + 1);
	if (!data)
		return -ENOMEM;
	c->data = data;
	*room = wanted;
	return 0;
}

static int content_read(struct archive *a, struct archive_entry *entry, struct content *c,
	char reason[FILES_REASON_MAX])
{
	size_t size = (size_t)archive_entry_size(entry), room = 0;
	la_ssize_t n = 1;

	if (content_grow(c, &room, size))
		return files_refuse(-ENOMEM, reason, "no memory for the archive");
	while (n > 0 && c->length < size) {
		if (c->length == room && content_grow(c, &room, size))
			return files_refuse(-ENOMEM, reason, "no memory for the archive");
		n = archive_read_data(a, c->data + c->length, room - c->length);
		if (n > 0)
			c->length += (size_t)n;
	}
	if (n < 0 || c->length < size)
		return damaged(a, reason);
	c->data[c->length] = 0;
	return 0;
}

static int entries_read(
	struct archive *a, struct content found[PART_COUNT], char reason[FILES_REASON_MAX])
{
	struct archive_entry *entry;
	int rc;

	while ((rc = archive_read_next_header(a, &entry)) == ARCHIVE_OK) {
		int part = part_find(entry, found, reason);

		rc = part < 0 ? part : content_read(a, entry, &found[part], reason);
		if (rc)
			return rc;
	}
	if (rc != ARCHIVE_EOF)
		return damaged(a, reason);
	for (int i = 0; i < PART_COUNT; i++)
		if (!found[i].data)
			return files_refuse(-EBADMSG, reason, "it has no %s", parts[i].name);
	return 0;
}

/* ---- what it says ---- */

static int manifest_check(
	const json_t *manifest, const struct content *conf, char reason[FILES_REASON_MAX])
{
	const char *product = NULL, *version = NULL, *machine = NULL, *digest = NULL;
	char computed[UCS_DIGEST_TEXT];
	json_int_t generation, created, size;
	int format;

	if (json_unpack((json_t *)manifest, "{s:i,s:s,s:s,s:s,s:I,s:I,s:{s:{s:I,s:s}}}", "format",
		    &format, "product", &product, "version", &version, "machine", &machine,
		    "generation", &generation, "created", &created, "files", UCS_CONF, "size",
		    &size, "sha256", &digest))
		return files_refuse(
			-EBADMSG, reason, "its " UCS_MANIFEST " is not formed as it must be");
	if (strcmp(product, UCS_PRODUCT) || format != UCS_FORMAT)
		return files_refuse(-EBADMSG, reason,
			"it is of format %d of '%.64s'; " UCS_PRODUCT " reads its own, %d", format,
			product, UCS_FORMAT);
	if (size != (json_int_t)conf->length || !ucs_digest(conf->data, conf->length, computed) ||
		strcmp(digest, computed))
		return files_refuse(-EBADMSG, reason,
			"its " UCS_CONF " is not the one that its " UCS_MANIFEST " tells");
	if (memchr(conf->data, 0, conf->length))
		return files_refuse(-EBADMSG, reason, "its " UCS_CONF " is no text");
	return 0;
}

static int believe(struct content found[PART_COUNT], struct ucs *u, char reason[FILES_REASON_MAX])
{
	json_t *manifest = json_loadb(found[PART_MANIFEST].data, found[PART_MANIFEST].length,
		JSON_REJECT_DUPLICATES, NULL);
	int rc = manifest_check(manifest, &found[PART_CONF], reason);

	if (rc) {
		json_decref(manifest);
		return rc;
	}
	*u = (struct ucs){.manifest = manifest,
		.conf = found[PART_CONF].data,
		.conf_length = found[PART_CONF].length};
	found[PART_CONF].data = NULL;
	return 0;
}

static struct archive *reader_new(void)
{
	struct archive *a = archive_read_new();

	if (a && (archive_read_support_filter_gzip(a) != ARCHIVE_OK ||
			 archive_read_support_format_tar(a) != ARCHIVE_OK)) {
		archive_read_free(a);
		a = NULL;
	}
	return a;
}

/* Takes the reader. */
static int read_and_free(
	struct archive *a, int opened, struct ucs *u, char reason[FILES_REASON_MAX])
{
	struct content found[PART_COUNT] = {{0}};
	int rc = opened == ARCHIVE_OK ? entries_read(a, found, reason) : damaged(a, reason);

	if (rc == 0)
		rc = believe(found, u, reason);
	for (int i = 0; i < PART_COUNT; i++)
		free(found[i].data);
	archive_read_free(a);
	return rc;
}

int ucs_read(int fd, struct ucs *u, char reason[FILES_REASON_MAX])
{
	struct archive *a = reader_new();

	*u = (struct ucs){0};
	if (!a)
		return files_refuse(-ENOMEM, reason, "no memory for the archive");
	return read_and_free(a, archive_read_open_fd(a, fd, BLOCK), u, reason);
}

int ucs_read_memory(const void *data, size_t length, struct ucs *u, char reason[FILES_REASON_MAX])
{
	struct archive *a = reader_new();

	*u = (struct ucs){0};
	if (!a)
		return files_refuse(-ENOMEM, reason, "no memory for the archive");
	return read_and_free(a, archive_read_open_memory(a, data, length), u, reason);
}

void ucs_fini(struct ucs *u)
{
	json_decref(u->manifest);
	free(u->conf);
	*u = (struct ucs){0};
}
