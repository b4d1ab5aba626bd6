/* SPDX-License-Identifier: BSD-3-Clause */
#include "http/http_tls.h"

#include <errno.h>
#include <fcntl.h>
#include <gnutls/x509.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"

#define FILE_MAX 65536u
#define CHAIN_MAX 10u
#define RSA_BITS_MIN 2048u

const char http_tls_priorities[] =
	"NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"
	":-CIPHER-ALL:+AES-256-GCM:+AES-128-GCM:+CHACHA20-POLY1305:-MAC-ALL:+AEAD"
	":-KX-ALL:+ECDHE-ECDSA:+ECDHE-RSA"
	":-GROUP-ALL:+GROUP-X25519:+GROUP-SECP256R1:+GROUP-SECP384R1"
	":%SERVER_PRECEDENCE";

struct pair {
	gnutls_x509_crt_t chain[CHAIN_MAX];
	unsigned count;
	gnutls_x509_privkey_t key;
};

static struct pair current;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of current */

static void pair_fini(struct pair *pair)
{
	for (unsigned i = 0; i < pair->count; i++)
		gnutls_x509_crt_deinit(pair->chain[i]);
	if (pair->key)
		gnutls_x509_privkey_deinit(pair->key);
	*pair = (struct pair){0};
}

/* Reads a whole file that is not large. The text is NUL-terminated, to be wiped and freed. */
static int pem_read(
	const char *directory, const char *name, gnutls_datum_t *pem, char *why, size_t size)
{
	char path[4096];
	struct stat st;
	int rc = 0;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &st))
		rc = -errno;
	else if (!S_ISREG(st.st_mode) || st.st_size > FILE_MAX)
		rc = -EINVAL;
	pem->data = rc ? NULL : calloc(1, FILE_MAX + 1);
	if (rc == 0 && !pem->data)
		rc = -ENOMEM;
	ssize_t n = rc ? 0 : read(fd, pem->data, FILE_MAX);
	if (n < 0)
		rc = -errno;
	if (fd >= 0)
		close(fd);
	pem->size = n > 0 ? (unsigned)n : 0;
	if (rc)
		snprintf(why, size, "%s: cannot be read: %s", path,
			rc == -EINVAL ? "it is no plain file of 64 KiB at most" : strerror(-rc));
	return rc;
}

static void pem_free(gnutls_datum_t *pem)
{
	if (pem->data)
		explicit_bzero(pem->data, FILE_MAX);
	free(pem->data);
}

static int chain_read(struct pair *pair, const gnutls_datum_t *pem, char *why, size_t size)
{
	unsigned count = CHAIN_MAX;
	int rc = gnutls_x509_crt_list_import(pair->chain, &count, pem, GNUTLS_X509_FMT_PEM,
		GNUTLS_X509_CRT_LIST_IMPORT_FAIL_IF_EXCEED);

	if (rc <= 0) {
		snprintf(why, size, HTTP_TLS_CERTIFICATE " has no certificate in PEM: %s",
			rc ? gnutls_strerror(rc) : "it is empty");
		return -EINVAL;
	}
	pair->count = (unsigned)rc;
	return 0;
}

static int key_read(struct pair *pair, const gnutls_datum_t *pem, char *why, size_t size)
{
	unsigned bits;
	int rc = gnutls_x509_privkey_init(&pair->key);

	if (rc == 0)
		rc = gnutls_x509_privkey_import2(
			pair->key, pem, GNUTLS_X509_FMT_PEM, NULL, GNUTLS_PKCS_PLAIN);
	if (rc) {
		snprintf(why, size, HTTP_TLS_KEY " has no key in PEM without a passphrase: %s",
			gnutls_strerror(rc));
		return -EINVAL;
	}
	rc = gnutls_x509_privkey_get_pk_algorithm2(pair->key, &bits);
	if (rc == GNUTLS_PK_DSA || (rc == GNUTLS_PK_RSA && bits < RSA_BITS_MIN)) {
		snprintf(why, size, HTTP_TLS_KEY ": %s with %u bits is too weak",
			gnutls_pk_get_name((gnutls_pk_algorithm_t)rc), bits);
		return -EINVAL;
	}
	return 0;
}

static int pair_check(const struct pair *pair, char *why, size_t size)
{
	unsigned char of_certificate[32], of_key[32];
	size_t length = sizeof(of_certificate), key_length = sizeof(of_key);

	if (gnutls_x509_crt_get_key_id(
		    pair->chain[0], GNUTLS_KEYID_USE_SHA256, of_certificate, &length) ||
		gnutls_x509_privkey_get_key_id(
			pair->key, GNUTLS_KEYID_USE_SHA256, of_key, &key_length) ||
		length != key_length || memcmp(of_certificate, of_key, length)) {
		snprintf(why, size,
			HTTP_TLS_KEY
			" is not the key of the first certificate in " HTTP_TLS_CERTIFICATE);
		return -EINVAL;
	}
	time_t now = time(NULL);
	if (gnutls_x509_crt_get_expiration_time(pair->chain[0]) < now)
		log_warning("certificate: " HTTP_TLS_CERTIFICATE " has expired");
	else if (gnutls_x509_crt_get_activation_time(pair->chain[0]) > now)
		log_warning("certificate: " HTTP_TLS_CERTIFICATE " is not valid yet");
	return 0;
}

int http_tls_load(const char *directory, char *why, size_t size)
{
	gnutls_datum_t certificates = {0}, key = {0};
	struct pair fresh = {0}, old;
	int rc = pem_read(directory, HTTP_TLS_CERTIFICATE, &certificates, why, size);

	if (rc == 0)
		rc = pem_read(directory, HTTP_TLS_KEY, &key, why, size);
	if (rc == 0)
		rc = chain_read(&fresh, &certificates, why, size);
	if (rc == 0)
		rc = key_read(&fresh, &key, why, size);
	if (rc == 0)
		rc = pair_check(&fresh, why, size);
	pem_free(&certificates);
	pem_free(&key);
	if (rc) {
		pair_fini(&fresh);
		return rc;
	}
	pthread_mutex_lock(&lock);
	old = current;
	current = fresh;
	pthread_mutex_unlock(&lock);
	pair_fini(&old);
	return 0;
}

void http_tls_unload(void)
{
	pthread_mutex_lock(&lock);
	pair_fini(&current);
	pthread_mutex_unlock(&lock);
}

/* Copies that GnuTLS frees, so that the pair may be replaced while a handshake is under way. */
static int pair_copy(gnutls_pcert_st *certificates, unsigned *count, gnutls_privkey_t key)
{
	int rc = current.count ? 0 : GNUTLS_E_NO_CERTIFICATE_FOUND;

	while (rc == 0 && *count < current.count) {
		rc = gnutls_pcert_import_x509(&certificates[*count], current.chain[*count], 0);
		if (rc == 0)
			(*count)++;
	}
	return rc ? rc : gnutls_privkey_import_x509(key, current.key, GNUTLS_PRIVKEY_IMPORT_COPY);
}

int http_tls_pair(gnutls_session_t session, const struct gnutls_cert_retr_st *info,
	gnutls_pcert_st **certificates, unsigned *count, gnutls_ocsp_data_st **ocsp,
	unsigned *ocsp_count, gnutls_privkey_t *key, unsigned *flags)
{
	*ocsp = NULL;
	*ocsp_count = 0;
	*count = 0;
	*key = NULL;
	*certificates = gnutls_calloc(CHAIN_MAX, sizeof(**certificates));
	int rc = *certificates ? gnutls_privkey_init(key) : GNUTLS_E_MEMORY_ERROR;
	if (rc == 0) {
		pthread_mutex_lock(&lock);
		rc = pair_copy(*certificates, count, *key);
		pthread_mutex_unlock(&lock);
	}
	*flags = GNUTLS_CERT_RETR_DEINIT_ALL;
	if (rc == 0)
		return 0;
	for (unsigned i = 0; i < *count; i++)
		gnutls_pcert_deinit(&(*certificates)[i]);
	gnutls_free(*certificates);
	if (*key)
		gnutls_privkey_deinit(*key);
	return -1;
}
