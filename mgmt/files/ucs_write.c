/* SPDX-License-Identifier: BSD-3-Clause */
#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "files/files_internal.h"
#include "files/ucs_internal.h"

static json_t *manifest(const char *conf, size_t length, const struct ucs_facts *facts)
{
	char digest[UCS_DIGEST_TEXT];

	if (!ucs_digest(conf, length, digest))
		return NULL;
	return json_pack("{s:i,s:s,s:s,s:s,s:I,s:I,s:{s:{s:I,s:s}}}", "format", UCS_FORMAT,
		"product", UCS_PRODUCT, "version", facts->version, "machine", facts->machine,
		"generation", (json_int_t)facts->generation, "created", (json_int_t)facts->created,
		"files", UCS_CONF, "size", (json_int_t)length, "sha256", digest);
}

static int entry_write(
	struct archive *a, const char *name, const char *data, size_t length, int64_t created)
{
	struct archive_entry *entry = archive_entry_new();
	int rc = entry ? ARCHIVE_OK : ARCHIVE_FATAL;

	if (entry) {
		archive_entry_set_pathname(entry, name);
		archive_entry_set_size(entry, (la_int64_t)length);
		archive_entry_set_filetype(entry, AE_IFREG);
		archive_entry_set_perm(entry, 0600);
		archive_entry_set_mtime(entry, created, 0);
		rc = archive_write_header(a, entry);
		archive_entry_free(entry);
	}
	if (rc == ARCHIVE_OK && length && archive_write_data(a, data, length) != (la_ssize_t)length)
		rc = ARCHIVE_FATAL;
	return rc;
}

static int both_write(struct archive *a, int fd, const char *text, const char *conf, size_t length,
	int64_t created)
{
	int rc = archive_write_set_format_ustar(a);

	if (rc == ARCHIVE_OK)
		rc = archive_write_add_filter_gzip(a);
	if (rc == ARCHIVE_OK)
		rc = archive_write_open_fd(a, fd);
	if (rc == ARCHIVE_OK)
		rc = entry_write(a, UCS_MANIFEST, text, strlen(text), created);
	if (rc == ARCHIVE_OK)
		rc = entry_write(a, UCS_CONF, conf, length, created);
	if (rc == ARCHIVE_OK)
		rc = archive_write_close(a);
	return rc;
}

int ucs_write(int fd, const char *conf, size_t length, const struct ucs_facts *facts,
	char reason[FILES_REASON_MAX])
{
	struct archive *a;
	json_t *facts_json;
	char *text;
	int rc = -ENOMEM;

	if (length > UCS_CONF_MAX)
		return files_refuse(-EFBIG, reason,
			"the configuration has %zu bytes, an archive takes %u", length,
			UCS_CONF_MAX);
	facts_json = manifest(conf, length, facts);
	text = facts_json ? json_dumps(facts_json, JSON_INDENT(1) | JSON_SORT_KEYS) : NULL;
	a = text ? archive_write_new() : NULL;
	if (!a)
		files_refuse(rc, reason, "no memory for the archive");
	else if (both_write(a, fd, text, conf, length, facts->created) != ARCHIVE_OK)
		rc = files_refuse(-EIO, reason, "the archive cannot be written: %s",
			archive_error_string(a) ? archive_error_string(a) : "no memory");
	else
		rc = 0;
	archive_write_free(a);
	free(text);
	json_decref(facts_json);
	return rc;
}
