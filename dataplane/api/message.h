/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What weir-cp and weir-dp say to each other over the dataplane's control socket (SOCK_SEQPACKET, one
 * message a packet, host order). weir-cp connects; weir-dp serves one peer at a time, the newest wins.
 * Every request is answered by exactly one MSG_RESULT with its seq, preceded by any number of row or info
 * messages with the same seq. Long lists are fetched in parts (msg_scan.limit and cursor), so that a slow
 * reader at the far end never fills this socket. Requests are carried out in the order they were sent:
 * live rows behind a snapshot find its objects. A request with a wrong length or field is answered -EINVAL
 * and changes nothing.
 */
#ifndef WEIR_API_MESSAGE_H
#define WEIR_API_MESSAGE_H

#include <stdint.h>

#include "api/snapshot.h"

#define MSG_VERSION 1u
#define MSG_LENGTH_MAX 65536u
#define MSG_PORTS_MAX 16u

enum msg_type {
	MSG_HELLO = 1,	    /* dp -> cp, first on a connection; carries the counters' descriptor */
	MSG_SNAPSHOT,	    /* cp -> dp, carries a sealed descriptor */
	MSG_LIVE,	    /* cp -> dp, 1..LIVE_ROWS_MAX rows */
	MSG_SCAN,	    /* cp -> dp: list or delete flows */
	MSG_SCAN_ROWS,	    /* dp -> cp */
	MSG_NEIGHBOURS,	    /* cp -> dp: list neighbours; answered by MSG_NEIGHBOUR_ROWS */
	MSG_NEIGHBOUR_ROWS, /* dp -> cp */
	MSG_MEMORY,	    /* cp -> dp: memory levels; answered by MSG_MEMORY_INFO */
	MSG_MEMORY_INFO,    /* dp -> cp */
	MSG_EVENTS,	    /* dp -> cp, unasked */
	MSG_RESULT,	    /* dp -> cp */
	MSG_TYPES
};

struct msg_header {
	uint32_t type;	 /* enum msg_type */
	uint32_t length; /* of the whole message, this header included */
	uint64_t
		seq; /* chosen by the asker, repeated in the answer; 0 in MSG_HELLO and MSG_EVENTS */
};

struct msg_hello {
	struct msg_header header;
	uint32_t version;
	uint32_t workers;
	uint64_t generation; /* of the snapshot in force, 0 = none */
	uint64_t origin;     /* likewise */
	uint64_t instance;   /* random number of this run of weir-dp */
	uint32_t ports;	     /* entries of port in use */
	struct msg_port {
		char name[SNAP_NAME_MAX]; /* "1.1" */
		uint8_t mac[6];
		uint8_t up;
		uint8_t reserved;
		char driver[24];
	} port[MSG_PORTS_MAX];
	uint32_t reserved;
};

struct msg_result {
	struct msg_header header;
	int32_t status; /* 0 or a negative errno */
	uint32_t rows;	/* of a scan: how many matched; else 0 */
	uint64_t generation;
	uint64_t cursor; /* of a scan that stopped at its limit: where to go on; else 0 */
	char reason[256];
};

/* May a connection of this kind be given to the object? Node state is already folded into members. */
#define LIVE_NEW 1u	  /* new connections without a persistence record */
#define LIVE_PERSISTED 2u /* new connections with one */
#define LIVE_BITS 3u

struct live_row {
	uint32_t id; /* node, member, virtual server, or virtual address (LIVE_NEW: is available) */
	struct snap_live live;
};

#define LIVE_ROWS_MAX 1024u

struct msg_live {
	struct msg_header header;
	uint32_t count;
	uint32_t reserved;
	struct live_row row[]; /* unknown ids are skipped: their object may just have gone */
};

enum scan_action {
	SCAN_LIST,
	SCAN_DELETE, /* with a reset to both sides of TCP */
	SCAN_COUNT,
	SCAN_DROP,     /* stays silent: further packets are dropped until the flow times out */
	SCAN_RESELECT, /* given to another member of its pool; flows whose address is translated only if
			* they are not TCP */
	SCAN_ACTIONS
};

/* A flow matches if every field that is set does. Sides as in LTM's "show sys connection". */
struct flow_filter {
	struct ip_addr client, virtual_addr, local,
		server;			      /* all zero bytes (not even ::ffff) = any */
	uint8_t client_prefix, server_prefix; /* 0 = host */
	uint8_t proto;			      /* 0 = any */
	uint8_t down; /* 1: its member may have no connections at that moment (no LIVE_ bit) */
	uint16_t client_port, virtual_port, server_port; /* host order, 0 = any */
	uint16_t reserved2;
	uint32_t virtual_id, member_id, node_id, pool_id; /* ID_NONE = any */
	uint32_t age_min, idle_min;			  /* s */
	uint32_t reserved3;
};

struct msg_scan {
	struct msg_header header;
	uint8_t action; /* enum scan_action */
	uint8_t reserved[3];
	uint32_t limit;	 /* the scan stops after that many matches; 0 = none */
	uint64_t cursor; /* 0 = from the start, else what the result of the last part said */
	struct flow_filter filter;
};

enum flow_tcp_state {
	FLOW_NOT_TCP,
	FLOW_SYN_SENT,
	FLOW_SYN_RECEIVED,
	FLOW_ESTABLISHED,
	FLOW_FIN_WAIT, /* one side closed */
	FLOW_CLOSING,  /* both did */
	FLOW_CLOSED,
	FLOW_TCP_STATES
};

struct flow_row {
	struct ip_addr client, virtual_addr, local,
		server; /* client side: client, virtual; server side: local, server */
	uint16_t client_port, virtual_port, local_port, server_port; /* host order */
	uint8_t proto, tcp_state, worker, reserved;
	uint32_t virtual_id, member_id; /* ID_NONE where none */
	uint32_t age, idle, timeout;	/* s */
	uint32_t reserved2[2];
	uint64_t packets[2], bytes[2]; /* [0] from the client, [1] from the server */
};

#define SCAN_ROWS_MAX 256u

struct msg_scan_rows {
	struct msg_header header;
	uint32_t count;
	uint32_t reserved;
	struct flow_row row[];
};

enum neighbour_state {
	NEIGHBOUR_INCOMPLETE,
	NEIGHBOUR_RESOLVED,
	NEIGHBOUR_PROBING,
	NEIGHBOUR_FAILED
};

struct neighbour_row {
	struct ip_addr addr;
	uint32_t vlan_id;
	uint8_t mac[6];
	uint8_t state; /* enum neighbour_state */
	uint8_t worker;
	uint32_t age; /* s since it was confirmed */
};

struct msg_neighbour_rows {
	struct msg_header header;
	uint32_t count;
	uint32_t reserved;
	struct neighbour_row row[];
};

struct msg_memory_info {
	struct msg_header header;
	uint64_t mbufs, mbufs_free;
	uint64_t flows, flows_max,
		flow_bytes; /* all workers: in use, places, bytes allocated for all places */
	uint64_t heap_bytes, heap_blocks; /* DPDK heap in use */
	uint64_t malloc_bytes;		  /* libc heap in use */
};

enum event_type {
	EVENT_CONNECTIONS_ZERO = 1, /* object: member or node whose current connections reached 0 */
	EVENT_LIMIT_REACHED,	    /* object: member, node or virtual server */
	EVENT_PORT_EXHAUSTION,	    /* object: SNAT pool or virtual server; detail: member */
	EVENT_ADDRESS_CONFLICT,	    /* object: self IP or virtual address; mac of the other */
	EVENT_CONNECT_FAILED,	/* object: member; kind: enum connect_failure; detail: how many TCP
			       * connections since the last such event. Each is in one event, whether
			       * it was tried on another member or not */
	EVENT_NEIGHBOUR_FAILED, /* addr */
	EVENT_LINK, /* object: place of the port in MSG_HELLO; detail: 1 = it has a link */
};

/* Why a member did not take a connection. A worker tells of a member at most ten times a second. */
enum connect_failure {
	CONNECT_REFUSED,     /* RST in answer to the SYN */
	CONNECT_UNREACHABLE, /* ICMP: destination unreachable */
	CONNECT_SILENT, /* no answer within its pool's response_time, or until the flow ended or was
			      * given to another member, 2 s or more after its SYN */
	CONNECT_FAILURES
};

struct event_row {
	uint32_t type; /* enum event_type */
	uint32_t object;
	uint32_t detail;
	uint32_t kind; /* of EVENT_CONNECT_FAILED; else 0 */
	uint64_t time; /* CLOCK_MONOTONIC, ns */
	struct ip_addr addr;
	uint8_t mac[6];
	uint8_t reserved2[2];
};

struct msg_events {
	struct msg_header header;
	uint64_t
		first; /* number of the first row; a gap means that rows were lost: read state anew */
	uint32_t count;
	uint32_t reserved;
	struct event_row row[];
};

#endif
