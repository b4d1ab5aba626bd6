/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What weir-cp and weir-mon say to each other on mon.sock: docs/monitor-protocol.md describes each message
 * with its fields. Frames are those of ipc/ipc.h, but both sides send whenever they have something to say.
 */
#ifndef WEIR_MONITOR_MON_PROTOCOL_H
#define WEIR_MONITOR_MON_PROTOCOL_H

#define MON_SOCKET_NAME "mon.sock" /* within the run directory; weir-cp listens */
#define MON_PROTOCOL_VERSION 1
#define MON_FRAME_MAX (1u << 20) /* bytes of JSON in a frame, both ways */
#define MON_REASON_MAX 256	 /* bytes of a reason, its NUL included; no control characters */

/* Names of messages: the member "type" of each. weir-cp to weir-mon: */
#define MON_SYNC_BEGIN "sync-begin"
#define MON_SYNC_END "sync-end"
#define MON_MONITOR "monitor"
#define MON_MONITOR_DELETE "monitor-delete"
#define MON_INSTANCE "instance"
#define MON_INSTANCE_DELETE "instance-delete"
#define MON_PROBE_NOW "probe-now"
#define MON_PATH "path"
#define MON_STATS "stats"

/* weir-mon to weir-cp: */
#define MON_HELLO "hello"
#define MON_VERDICT "verdict"
#define MON_AGENT "agent"
#define MON_DYNAMIC_RATIO "dynamic-ratio"
#define MON_REFUSED "refused"
/* MON_STATS, with rows; then */
#define MON_STATS_END "stats-end"

/* What the probes say of one instance. */
enum mon_verdict {
	MON_CHECKING, /* not known yet */
	MON_UP,
	MON_DOWN,
	MON_DISABLED, /* alive, but recv-disable matched: no new clients */
	MON_VERDICTS
};

/* "checking", "up", "down", "disabled": as they are written in messages. */
static const char *const mon_verdict_names[MON_VERDICTS] = {"checking", "up", "down", "disabled"};

#endif
