/* SPDX-License-Identifier: BSD-3-Clause */
#include "notify/trap_session.h"

#include <errno.h>
#include <net-snmp/library/large_fd_set.h>
#include <net-snmp/library/snmpUDPDomain.h>
#include <net-snmp/library/snmp_transport.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "ipc/ipc.h"

#define TIMEOUT_US 1000000
#define RETRIES 4
#define MESSAGE_MAX 65507

static int refused; /* errno of the last read */

void trap_library_init(void)
{
	static bool done;

	if (done)
		return;
	done = true;
	setenv("MIBS", "", 1);
	netsnmp_ds_set_boolean(NETSNMP_DS_LIBRARY_ID, NETSNMP_DS_LIB_DONT_READ_CONFIGS, 1);
	netsnmp_ds_set_boolean(NETSNMP_DS_LIBRARY_ID, NETSNMP_DS_LIB_DONT_PERSIST_STATE, 1);
	snmp_disable_stderrlog();
	init_snmp("weir-notify");
}

/* --- the socket ------------------------------------------------------------------------------------- */

static int on_send(
	netsnmp_transport *t, const void *data, int length, void **opaque, int *opaque_length)
{
	return (int)send(t->sock, data, (size_t)length, MSG_NOSIGNAL);
}

static int on_receive(netsnmp_transport *t, void *data, int size, void **opaque, int *opaque_length)
{
	ssize_t n = recv(t->sock, data, (size_t)size, MSG_DONTWAIT);

	*opaque = NULL;
	*opaque_length = 0;
	refused = n < 0 && errno != EAGAIN && errno != EINTR ? errno : 0;
	return (int)n;
}

static int on_close(netsnmp_transport *t)
{
	return close(t->sock);
}

static char *on_format(netsnmp_transport *t, const void *data, int length)
{
	return strdup("receiver");
}

static netsnmp_transport *transport_new(int fd)
{
	netsnmp_transport *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->domain = netsnmpUDPDomain;
	t->domain_length = netsnmpUDPDomain_len;
	t->sock = fd;
	t->msgMaxSize = MESSAGE_MAX;
	t->f_send = on_send;
	t->f_recv = on_receive;
	t->f_close = on_close;
	t->f_fmtaddr = on_format;
	return t;
}

/* --- version 3 -------------------------------------------------------------------------------------- */

static const struct {
	const char *name;
	const oid *id;
	size_t length;
} hashes[] = {{"sha", usmHMACSHA1AuthProtocol, USM_AUTH_PROTO_SHA_LEN},
	{"sha224", usmHMAC128SHA224AuthProtocol, OID_LENGTH(usmHMAC128SHA224AuthProtocol)},
	{"sha256", usmHMAC192SHA256AuthProtocol, OID_LENGTH(usmHMAC192SHA256AuthProtocol)},
	{"sha384", usmHMAC256SHA384AuthProtocol, OID_LENGTH(usmHMAC256SHA384AuthProtocol)},
	{"sha512", usmHMAC384SHA512AuthProtocol, OID_LENGTH(usmHMAC384SHA512AuthProtocol)}};

static bool key_make(
	const netsnmp_session *s, const char *password, u_char *key, size_t *length, size_t size)
{
	*length = size;
	return generate_Ku(s->securityAuthProto, (u_int)s->securityAuthProtoLen,
		       (const u_char *)password, strlen(password), key, length) == SNMPERR_SUCCESS;
}

/* The user and how his messages are protected. NULL, or why not. */
static const char *user_fill(netsnmp_session *s, const json_t *settings)
{
	const char *level = ipc_string(settings, "security-level"),
		   *hash = ipc_string(settings, "auth-protocol");

	s->securityName = (char *)ipc_string(settings, "security-name");
	s->securityNameLen = strlen(s->securityName);
	s->securityLevel = SNMP_SEC_LEVEL_NOAUTH;
	if (!strcmp(level, "no-auth-no-privacy"))
		return NULL;
	for (size_t i = 0; i < sizeof(hashes) / sizeof(*hashes); i++)
		if (!strcmp(hashes[i].name, hash)) {
			s->securityAuthProto = (oid *)hashes[i].id;
			s->securityAuthProtoLen = hashes[i].length;
		}
	s->securityLevel = SNMP_SEC_LEVEL_AUTHNOPRIV;
	if (!s->securityAuthProto ||
		!key_make(s, ipc_string(settings, "auth-password"), s->securityAuthKey,
			&s->securityAuthKeyLen, sizeof(s->securityAuthKey)))
		return "auth-password: is shorter than 8 bytes, or its protocol is not known";
	if (strcmp(level, "auth-privacy"))
		return NULL;
	s->securityLevel = SNMP_SEC_LEVEL_AUTHPRIV;
	s->securityPrivProto = (oid *)usmAESPrivProtocol;
	s->securityPrivProtoLen = USM_PRIV_PROTO_AES_LEN;
	if (!key_make(s, ipc_string(settings, "privacy-password"), s->securityPrivKey,
		    &s->securityPrivKeyLen, sizeof(s->securityPrivKey)))
		return "privacy-password: is shorter than 8 bytes";
	return NULL;
}

static void engine_fill(netsnmp_session *s, const struct trap_engine *e)
{
	s->securityEngineID = s->contextEngineID = (u_char *)e->id;
	s->securityEngineIDLen = s->contextEngineIDLen = e->length;
	s->engineBoots = e->boots;
	if (e->started_ns)
		s->engineTime = 1 + (u_int)((clock_ns() - e->started_ns) / 1000000000u);
}

/* --- sessions --------------------------------------------------------------------------------------- */

struct session_list *trap_session_new(
	const json_t *settings, int fd, const struct trap_engine *engine, const char **reason)
{
	netsnmp_session s;
	netsnmp_transport *t = transport_new(fd);
	struct session_list *made = NULL;
	const char *community = ipc_string(settings, "community");

	*reason = t ? NULL : "no memory";
	snmp_sess_init(&s);
	s.timeout = TIMEOUT_US;
	s.retries = RETRIES;
	if (!strcmp(ipc_string(settings, "version"), "3")) {
		s.version = SNMP_VERSION_3;
		s.flags |= SNMP_FLAGS_DONT_PROBE;
		s.securityModel = SNMP_SEC_MODEL_USM;
		if (engine)
			engine_fill(&s, engine);
		if (!*reason)
			*reason = user_fill(&s, settings);
	} else {
		s.version = SNMP_VERSION_2c;
		s.community = (u_char *)community;
		s.community_len = strlen(community);
	}
	if (*reason) {
		close(fd);
		free(t);
	} else {
		made = snmp_sess_add(&s, t, NULL, NULL); /* frees t where it fails */
		*reason = made ? NULL : "SNMP: the session cannot be made";
	}
	explicit_bzero(&s, sizeof(s));
	return made;
}

/* The library keeps users with their keys: another password would not be taken for a known one. */
static void user_forget(const netsnmp_session *s)
{
	struct usmUser *user = NULL;

	if (s->securityEngineID && s->securityName)
		user = usm_get_user(s->securityEngineID, s->securityEngineIDLen, s->securityName);
	if (!user)
		return;
	usm_remove_user(user);
	usm_free_user(user);
}

void trap_session_free(struct session_list *s)
{
	if (!s)
		return;
	if (snmp_sess_session(s)->version == SNMP_VERSION_3)
		user_forget(snmp_sess_session(s));
	snmp_sess_close(s);
}

int trap_session_read(struct session_list *s)
{
	netsnmp_large_fd_set set;
	int fd = snmp_sess_transport(s)->sock;

	netsnmp_large_fd_set_init(&set, fd + 1);
	netsnmp_large_fd_setfd(fd, &set);
	refused = 0;
	snmp_sess_read2(s, &set);
	netsnmp_large_fd_set_cleanup(&set);
	return -refused;
}
