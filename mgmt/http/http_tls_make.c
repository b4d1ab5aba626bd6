/* SPDX-License-Identifier: BSD-3-Clause */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <gnutls/crypto.h>
#include <gnutls/x509.h>
#include <ifaddrs.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "http/http_tls.h"

#define DAY (24 * 3600)
#define VALID_DAYS 3650
#define ADDRESSES_MAX 32u

static int name_add(gnutls_x509_crt_t crt, const char *name)
{
	return gnutls_x509_crt_set_subject_alt_name(
		crt, GNUTLS_SAN_DNSNAME, name, (unsigned)strlen(name), GNUTLS_FSAN_APPEND);
}

static int address_add(gnutls_x509_crt_t crt, const struct sockaddr *addr)
{
	const struct in6_addr *v6 = &((const struct sockaddr_in6 *)addr)->sin6_addr;

	if (addr->sa_family == AF_INET)
		return gnutls_x509_crt_set_subject_alt_name(crt, GNUTLS_SAN_IPADDRESS,
			&((const struct sockaddr_in *)addr)->sin_addr, 4, GNUTLS_FSAN_APPEND);
	return gnutls_x509_crt_set_subject_alt_name(
		crt, GNUTLS_SAN_IPADDRESS, v6, 16, GNUTLS_FSAN_APPEND);
}

static bool address_wanted(const struct sockaddr *addr)
{
	if (!addr || (addr->sa_family != AF_INET && addr->sa_family != AF_INET6))
		return false;
	return addr->sa_family == AF_INET ||
	       !IN6_IS_ADDR_LINKLOCAL(&((const struct sockaddr_in6 *)addr)->sin6_addr);
}

static int addresses_add(gnutls_x509_crt_t crt)
{
	struct ifaddrs *all, *each;
	unsigned count = 0;
	int rc = 0;

	if (getifaddrs(&all))
		return 0; /* a certificate without them is better than none */
	for (each = all; each && rc == 0 && count < ADDRESSES_MAX; each = each->ifa_next)
		if (address_wanted(each->ifa_addr)) {
			rc = address_add(crt, each->ifa_addr);
			count++;
		}
	freeifaddrs(all);
	return rc;
}

static int names_set(gnutls_x509_crt_t crt)
{
	char host[HOST_NAME_MAX + 1] = "";

	gethostname(host, sizeof(host) - 1);
	if (!*host)
		strcpy(host, "weir");
	int rc = gnutls_x509_crt_set_dn_by_oid(
		crt, GNUTLS_OID_X520_COMMON_NAME, 0, host, (unsigned)strlen(host));
	if (rc == 0 && strcmp(host, "localhost"))
		rc = name_add(crt, host);
	if (rc == 0)
		rc = name_add(crt, "localhost");
	return rc ? rc : addresses_add(crt);
}

/* Without a key usage: OpenSSL trusts a certificate signed by itself only if that allows signing others. */
static int usage_set(gnutls_x509_crt_t crt, gnutls_x509_privkey_t key)
{
	unsigned char serial[16], id[20];
	size_t length = sizeof(id);
	int rc = gnutls_rnd(GNUTLS_RND_NONCE, serial, sizeof(serial));

	serial[0] = (serial[0] & 0x7f) | 0x40; /* positive, of full length */
	if (rc == 0)
		rc = gnutls_x509_crt_set_serial(crt, serial, sizeof(serial));
	if (rc == 0)
		rc = gnutls_x509_crt_set_basic_constraints(crt, 0, -1);
	if (rc == 0)
		rc = gnutls_x509_crt_set_key_purpose_oid(crt, GNUTLS_KP_TLS_WWW_SERVER, 0);
	if (rc == 0)
		rc = gnutls_x509_privkey_get_key_id(key, 0, id, &length);
	return rc ? rc : gnutls_x509_crt_set_subject_key_id(crt, id, length);
}

static int certificate_fill(gnutls_x509_crt_t crt, gnutls_x509_privkey_t key)
{
	time_t now = time(NULL);
	int rc = gnutls_x509_crt_set_version(crt, 3);

	if (rc == 0)
		rc = gnutls_x509_crt_set_key(crt, key);
	if (rc == 0)
		rc = gnutls_x509_crt_set_activation_time(crt, now - DAY); /* clocks differ */
	if (rc == 0)
		rc = gnutls_x509_crt_set_expiration_time(crt, now + (time_t)VALID_DAYS * DAY);
	if (rc == 0)
		rc = names_set(crt);
	if (rc == 0)
		rc = usage_set(crt, key);
	return rc ? rc : gnutls_x509_crt_sign2(crt, crt, key, GNUTLS_DIG_SHA256, 0);
}

/* Both as PEM, to be freed with gnutls_free. */
static int pair_make(gnutls_datum_t *certificate, gnutls_datum_t *secret)
{
	gnutls_x509_privkey_t key = NULL;
	gnutls_x509_crt_t crt = NULL;
	int rc = gnutls_x509_privkey_init(&key);

	if (rc == 0)
		rc = gnutls_x509_privkey_generate(
			key, GNUTLS_PK_ECDSA, GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1), 0);
	if (rc == 0)
		rc = gnutls_x509_crt_init(&crt);
	if (rc == 0)
		rc = certificate_fill(crt, key);
	if (rc == 0)
		rc = gnutls_x509_crt_export2(crt, GNUTLS_X509_FMT_PEM, certificate);
	if (rc == 0)
		rc = gnutls_x509_privkey_export2_pkcs8(
			key, GNUTLS_X509_FMT_PEM, NULL, GNUTLS_PKCS_PLAIN, secret);
	if (crt)
		gnutls_x509_crt_deinit(crt);
	if (key)
		gnutls_x509_privkey_deinit(key);
	return rc;
}

/* Under another name first: whoever finds the file finds all of it. */
static int file_put(int dir, const char *name, const gnutls_datum_t *text, mode_t mode)
{
	char fresh[64];
	int rc = 0;

	snprintf(fresh, sizeof(fresh), "%s.new", name);
	unlinkat(dir, fresh, 0);
	int fd = openat(dir, fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
	if (fd < 0)
		return -errno;
	if (write(fd, text->data, text->size) != (ssize_t)text->size || fsync(fd))
		rc = errno ? -errno : -EIO;
	if (close(fd) && rc == 0)
		rc = -errno;
	if (rc == 0 && renameat(dir, fresh, dir, name))
		rc = -errno;
	if (rc)
		unlinkat(dir, fresh, 0);
	return rc;
}

static int pair_put(int dir, char *why, size_t size)
{
	gnutls_datum_t certificate = {0}, key = {0};
	int rc = pair_make(&certificate, &key);

	if (rc) {
		snprintf(why, size, "a certificate cannot be made: %s", gnutls_strerror(rc));
		rc = -EIO;
	} else {
		/* The key first: a certificate without it would be taken for an operator's. */
		rc = file_put(dir, HTTP_TLS_KEY, &key, 0600);
		if (rc == 0)
			rc = file_put(dir, HTTP_TLS_CERTIFICATE, &certificate, 0644);
		if (rc == 0 && fsync(dir))
			rc = -errno;
		if (rc)
			snprintf(why, size, "a certificate cannot be written: %s", strerror(-rc));
	}
	if (key.data)
		explicit_bzero(key.data, key.size);
	gnutls_free(key.data);
	gnutls_free(certificate.data);
	return rc;
}

int http_tls_make(const char *directory, char *why, size_t size)
{
	int dir = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC), rc = 0;

	if (dir < 0) {
		rc = -errno;
		snprintf(why, size, "%s: %s", directory, strerror(-rc));
		return rc;
	}
	if (faccessat(dir, HTTP_TLS_CERTIFICATE, F_OK, AT_SYMLINK_NOFOLLOW) && errno == ENOENT)
		rc = pair_put(dir, why, size);
	close(dir);
	return rc;
}
