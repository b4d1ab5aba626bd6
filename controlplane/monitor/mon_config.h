/* SPDX-License-Identifier: BSD-3-Clause */
/* Monitors as weir-cp defines them: read from its messages, checked, ready for use. */
#ifndef WEIR_MONITOR_MON_CONFIG_H
#define WEIR_MONITOR_MON_CONFIG_H

#include <jansson.h>
#include <openssl/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "base/ipaddr.h"
#include "monitor/mon_mean.h"
#include "monitor/mon_pattern.h"
#include "monitor/mon_rule.h"

struct mon_type;

/* The texts a monitor may have; their names are in mon_config.c. */
enum mon_field {
	MON_F_NAME,
	MON_F_SEND,
	MON_F_RECV,
	MON_F_RECV_DISABLE,
	MON_F_USERNAME,
	MON_F_PASSWORD,
	MON_F_SECRET,
	MON_F_SNI,
	MON_F_CERTIFICATE,
	MON_F_KEY,
	MON_F_CA,
	MON_F_CIPHERLIST,
	MON_F_SCRIPT,
	MON_F_ARGS,
	MON_F_QNAME,
	MON_F_QTYPE,
	MON_F_ANSWER_CONTAINS,
	MON_F_ACCEPT_RCODE,
	MON_F_AGENT_SEND,
	MON_F_DOMAIN,
	MON_F_FOLDER,
	MON_F_NEWSGROUP,
	MON_F_DATABASE,
	MON_F_RECV_ROW,
	MON_F_RECV_COLUMN,
	MON_F_BASE,
	MON_F_FILTER,
	MON_F_SECURITY,
	MON_F_NAS_IP_ADDRESS,
	MON_F_COMMUNITY,
	MON_F_VERSION,
	MON_F_AGENT_TYPE,
	MON_FIELDS
};

struct mon_monitor {
	LIST_HEAD(, mon_instance) instances;
	uint32_t id;
	unsigned seen; /* number of the last sync that named it */
	const struct mon_type *type;
	struct mon_timing timing;
	struct mon_adaptive adaptive;
	bool reverse, transparent, verify, mandatory_attributes;
	char *text[MON_FIELDS]; /* never NULL; send is unescaped */
	size_t length[MON_FIELDS];
	struct mon_pattern *recv, *recv_disable; /* NULL: none */
	SSL_CTX *tls;				 /* NULL: without TLS */
	bool tls_later; /* not at once, but when the type calls mon_tls_begin() */
	json_t *source; /* the message, to compare with the next */
};

/* What is wrong with a message. */
struct mon_fault {
	const char *field;
	char reason[MON_REASON_MAX];
};

/* Sets the fault and returns -EINVAL. */
int mon_fault(struct mon_fault *fault, const char *field, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* NULL: refused, fault says why. */
struct mon_monitor *mon_monitor_new(const json_t *message, struct mon_fault *fault);
void mon_monitor_free(struct mon_monitor *m);

/* Members of messages: the value, or the fallback if absent. False: fault is set. */
bool mon_read_number(const json_t *message, const char *name, uint64_t min, uint64_t max,
	uint64_t fallback, uint64_t *out, struct mon_fault *fault);

/* *present tells whether the member is there. */
bool mon_read_address(const json_t *message, const char *name, struct ip_addr *out, bool *present,
	struct mon_fault *fault);

#endif
