/* SPDX-License-Identifier: BSD-3-Clause */
/* Files as objects, certificates and keys above all: what their text says is shown beside it. */
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <stdio.h>
#include <time.h>

#include "model/model_internal.h"

static int put_text(
	struct model *m, struct item *it, const char *field, const char *text, size_t len)
{
	const struct field *f = model_field_find(it->o.kind, NULL, field);
	uint32_t handle = strings_get(&m->strings, text, len < f->max ? len : f->max);

	if (handle == UINT32_MAX)
		return -ENOMEM;
	field_put(m, it, f, &handle);
	return 0;
}

static void put_number(struct item *it, const char *field, uint64_t value)
{
	value_number_put(model_field_find(it->o.kind, NULL, field), it->data,
		value < UINT32_MAX ? (uint32_t)value : UINT32_MAX);
}

/* What a memory BIO holds; the BIO is freed. */
static int put_bio(struct model *m, struct item *it, const char *field, BIO *bio)
{
	char *text = NULL;
	long len = bio ? BIO_get_mem_data(bio, &text) : 0;
	int rc = put_text(m, it, field, text ? text : "", (size_t)len);

	BIO_free(bio);
	return rc;
}

static int put_hex(
	struct model *m, struct item *it, const char *field, const uint8_t *raw, unsigned count)
{
	struct text t = {0};
	int rc;

	for (unsigned i = 0; i < count; i++)
		text_printf(&t, "%s%02X", i ? ":" : "", raw[i]);
	rc = t.failed ? -ENOMEM : put_text(m, it, field, t.data ? t.data : "", t.len);
	text_fini(&t);
	return rc;
}

/* "SHA1:SIZE:HEX" of the text, and its size. */
static int put_checksum(struct model *m, struct item *it, const char *text)
{
	uint8_t raw[EVP_MAX_MD_SIZE];
	unsigned count = 0;
	char out[96];
	int at;

	put_number(it, "size", strlen(text));
	if (EVP_Digest(text, strlen(text), raw, &count, EVP_sha1(), NULL) != 1)
		return 0;
	at = snprintf(out, sizeof(out), "SHA1:%zu:", strlen(text));
	for (unsigned i = 0; i < count; i++)
		at += snprintf(out + at, sizeof(out) - (size_t)at, "%02x", raw[i]);
	return put_text(m, it, "checksum", out, (size_t)at);
}

static int put_key(struct model *m, struct item *it, EVP_PKEY *key, const char *suffix,
	const char *bits, const char *curve)
{
	char type[64], name[64] = "none";
	size_t len = 0;
	const char *word = EVP_PKEY_is_a(key, "RSA")   ? "rsa"
			   : EVP_PKEY_is_a(key, "EC")  ? "ec"
			   : EVP_PKEY_is_a(key, "DSA") ? "dsa"
						       : "other";

	EVP_PKEY_get_group_name(key, name, sizeof(name), &len);
	snprintf(type, sizeof(type), "%s-%s", word, suffix);
	put_number(it, bits, (uint64_t)EVP_PKEY_get_bits(key));
	return put_text(m, it, "key-type", type, strlen(type))
		       ? -ENOMEM
		       : put_text(m, it, curve, name, strlen(name));
}

/* ---- certificates ---- */

static int put_name(struct model *m, struct item *it, const char *field, X509_NAME *name)
{
	BIO *bio = BIO_new(BIO_s_mem());

	if (bio)
		X509_NAME_print_ex(bio, name, 0,
			(XN_FLAG_RFC2253 & ~(unsigned long)ASN1_STRFLGS_ESC_MSB) &
				~(unsigned long)XN_FLAG_DN_REV);
	return put_bio(m, it, field, bio);
}

static int put_dates(struct model *m, struct item *it, X509 *x)
{
	BIO *bio = BIO_new(BIO_s_mem());
	struct tm tm = {0};

	if (ASN1_TIME_to_tm(X509_get0_notAfter(x), &tm)) {
		time_t when = timegm(&tm);
		put_number(it, "expiration-date", when > 0 ? (uint64_t)when : 0);
	}
	if (bio)
		ASN1_TIME_print(bio, X509_get0_notAfter(x));
	return put_bio(m, it, "expiration-string", bio);
}

static int put_other_names(struct model *m, struct item *it, X509 *x)
{
	BIO *bio = BIO_new(BIO_s_mem());
	int at = X509_get_ext_by_NID(x, NID_subject_alt_name, -1);

	if (bio && at >= 0)
		X509V3_EXT_print(bio, X509_get_ext(x, at), 0, 0);
	return put_bio(m, it, "subject-alternative-name", bio);
}

static int put_serial(struct model *m, struct item *it, X509 *x)
{
	BIGNUM *n = ASN1_INTEGER_to_BN(X509_get0_serialNumber(x), NULL);
	char *text = n ? BN_bn2hex(n) : NULL;
	int rc = text ? put_text(m, it, "serial-number", text, strlen(text)) : 0;

	OPENSSL_free(text);
	BN_free(n);
	return rc;
}

static int put_certificate(struct model *m, struct item *it, X509 *x)
{
	uint8_t raw[EVP_MAX_MD_SIZE];
	unsigned count = 0;
	EVP_PKEY *key = X509_get0_pubkey(x);
	int rc = put_name(m, it, "subject", X509_get_subject_name(x));

	rc = rc ? rc : put_name(m, it, "issuer", X509_get_issuer_name(x));
	rc = rc ? rc : put_dates(m, it, x);
	rc = rc ? rc : put_other_names(m, it, x);
	rc = rc ? rc : put_serial(m, it, x);
	if (!rc && X509_digest(x, EVP_sha256(), raw, &count) == 1)
		rc = put_hex(m, it, "fingerprint", raw, count);
	put_number(it, "version", (uint64_t)X509_get_version(x) + 1);
	if (!rc && key)
		rc = put_key(
			m, it, key, "public", "certificate-key-size", "certificate-key-curve-name");
	return rc;
}

/* Certificates of the text; *first is the first. */
static unsigned certificates(const char *text, X509 **first)
{
	BIO *bio = BIO_new_mem_buf(text, -1);
	unsigned count = 0;
	X509 *x;

	*first = NULL;
	while (bio && (x = PEM_read_bio_X509(bio, NULL, NULL, (void *)""))) {
		if (count++)
			X509_free(x);
		else
			*first = x;
	}
	BIO_free(bio);
	ERR_clear_error();
	return count;
}

/* Whether the field with the text is as it was before the transaction. */
static bool unchanged(const struct model *m, const struct item *it, uint32_t content)
{
	const void *before = touch_of(m, it)->before;
	const struct field *f = model_field_find(it->o.kind, NULL, "content");

	return before && *(const uint32_t *)field_in(f, before) == content;
}

static int cert_complete(struct model *m, struct item *it, struct model_error *err)
{
	uint32_t content = ((const struct ssl_cert *)it->data)->conf.content;
	const char *text = strings_text(&m->strings, content);
	X509 *x;
	unsigned count;
	int rc;

	if (unchanged(m, it, content) || (!content && it->o.builtin))
		return 0;
	count = certificates(text, &x);
	if (!count)
		return fail(m, err, -EINVAL, it, "content", "holds no certificate in PEM");
	put_number(it, "is-bundle", count > 1);
	rc = put_checksum(m, it, text);
	rc = rc ? rc : put_certificate(m, it, x);
	X509_free(x);
	return rc ? fail(m, err, rc, it, "content", "no memory") : 0;
}

/* ---- keys ---- */

static int no_passphrase(char *buf, int size, int writing, void *given)
{
	const char *passphrase = given ? given : "";
	size_t len = strlen(passphrase);

	if (len > (size_t)size)
		return -1;
	memcpy(buf, passphrase, len);
	return (int)len;
}

static int key_put(struct model *m, struct item *it, const char *text, const char *passphrase,
	struct model_error *err)
{
	BIO *bio = BIO_new_mem_buf(text, -1);
	EVP_PKEY *key =
		bio ? PEM_read_bio_PrivateKey(bio, NULL, no_passphrase, (void *)passphrase) : NULL;
	const char *type = strstr(text, "ENCRYPTED") ? "password" : "normal";
	int rc;

	BIO_free(bio);
	ERR_clear_error();
	if (!key)
		return fail(m, err, -EINVAL, it, "content", "holds no private key in PEM%s",
			strstr(text, "ENCRYPTED") ? " that the passphrase opens" : "");
	rc = put_checksum(m, it, text);
	rc = rc ? rc : put_key(m, it, key, "private", "key-size", "curve-name");
	rc = rc ? rc : put_text(m, it, "security-type", type, strlen(type));
	EVP_PKEY_free(key);
	return rc ? fail(m, err, rc, it, "content", "no memory") : 0;
}

static int key_complete(struct model *m, struct item *it, struct model_error *err)
{
	const struct ssl_key_conf *conf = &((const struct ssl_key *)it->data)->conf;
	char *text, *passphrase;
	int rc = 0;

	if (unchanged(m, it, conf->content) || (!conf->content && it->o.builtin))
		return 0;
	if (!conf->content)
		return fail(m, err, -EINVAL, it, "content", "holds no private key in PEM");
	text = secret_open(strings_text(&m->strings, conf->content));
	passphrase = secret_open(strings_text(&m->strings, conf->passphrase));
	if (text) /* else it was encrypted by another machine, and what it is stays unknown */
		rc = key_put(m, it, text, passphrase, err);
	secret_free(text);
	secret_free(passphrase);
	return rc;
}

/* ---- others ---- */

static int text_complete(struct model *m, struct item *it, struct model_error *err)
{
	const struct field *f = model_field_find(it->o.kind, NULL, "content");
	uint32_t content = *(const uint32_t *)field_in(f, it->data);

	if (unchanged(m, it, content))
		return 0;
	return put_checksum(m, it, strings_text(&m->strings, content))
		       ? fail(m, err, -ENOMEM, it, "content", "no memory")
		       : 0;
}

int file_complete(struct model *m, struct item *it, struct model_error *err)
{
	switch (it->o.kind) {
	case KIND_SSL_CERT:
		return cert_complete(m, it, err);
	case KIND_SSL_KEY:
		return key_complete(m, it, err);
	default:
		return text_complete(m, it, err);
	}
}
