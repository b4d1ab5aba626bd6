/* SPDX-License-Identifier: BSD-3-Clause */
/* sip: an OPTIONS request over UDP (RFC 3261, section 11). */
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>

#include "monitor/mon.h"

struct sip {
	char branch[20];
};

static void own_address(const struct mon_probe *p, char *out, size_t size)
{
	struct sockaddr_storage own;
	socklen_t length = sizeof(own);
	char text[IP_ADDR_TEXT];
	struct ip_addr a = {0};

	if (getsockname(p->fd, (struct sockaddr *)&own, &length) == 0)
		mon_address_of(&own, &a);
	ip_format(&a, text);
	snprintf(out, size, ip_is_v4(&a) ? "%s" : "[%s]", text);
}

static enum mon_outcome sip_open(struct mon_probe *p)
{
	char request[1024], from[IP_ADDR_TEXT + 2], to[IP_ADDR_TEXT], target[IP_ADDR_TEXT + 2];
	struct sip *own = p->own;
	uint64_t random;

	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		return mon_say(p, MON_NOTHING, "not probed: no random numbers");
	snprintf(own->branch, sizeof(own->branch), "%016llx", (unsigned long long)random);
	own_address(p, from, sizeof(from));
	ip_format(&p->in->to_address, to);
	snprintf(target, sizeof(target), ip_is_v4(&p->in->to_address) ? "%s" : "[%s]", to);
	int n = snprintf(request, sizeof(request),
		"OPTIONS sip:%s SIP/2.0\r\nVia: SIP/2.0/UDP %s;branch=z9hG4bK%s;rport\r\n"
		"Max-Forwards: 70\r\nFrom: <sip:monitor@%s>;tag=%.8s\r\nTo: <sip:%s>\r\n"
		"Call-ID: %s@%s\r\nCSeq: 1 OPTIONS\r\nAccept: application/sdp\r\n"
		"Content-Length: 0\r\n\r\n",
		target, from, own->branch, from, own->branch, target, own->branch, from);
	mon_send(p, request, (size_t)n);
	return MON_MORE;
}

static enum mon_outcome sip_input(struct mon_probe *p, const char *bytes, size_t length, bool end)
{
	const struct sip *own = p->own;

	if (length < 12 || strncmp(bytes, "SIP/2.0 ", 8) ||
		!memmem(bytes, length, own->branch, strlen(own->branch)))
		return MON_MORE; /* not about our question */
	if (bytes[8] == '1')
		return MON_MORE;
	if (p->in->monitor->recv || p->in->monitor->recv_disable)
		return mon_judge(p, bytes, length, true);
	return bytes[8] == '2' ? MON_GOOD
			       : mon_say_answer(p, MON_BAD, "the server says", bytes + 8,
					 60 < length - 8 ? 60 : length - 8);
}

const struct mon_type mon_sip = {.name = "sip",
	.datagram = true,
	.port = 5060,
	.private_size = sizeof(struct sip),
	.open = sip_open,
	.input = sip_input};
