/* SPDX-License-Identifier: BSD-3-Clause */
#include "link_iface.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define SOCKET_BUFFER (8 << 20)
#define MACS 12u
#define TAG 4u

struct link_burst {
	struct mmsghdr headers[LINK_BURST];
	struct iovec vectors[LINK_BURST];
	union {
		struct cmsghdr align;
		uint8_t bytes[CMSG_SPACE(sizeof(struct tpacket_auxdata))];
	} controls[LINK_BURST];
	uint8_t frames[LINK_BURST][TAG + LINK_FRAME_MAX]; /* room in front to put a tag back */
};

static int socket_set(int fd, unsigned index)
{
	const int on = 1, size = SOCKET_BUFFER;
	struct packet_mreq promisc = {.mr_ifindex = (int)index, .mr_type = PACKET_MR_PROMISC};
	struct sockaddr_ll addr = {.sll_family = AF_PACKET,
		.sll_protocol = htons(ETH_P_ALL),
		.sll_ifindex = (int)index};

	if (setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &on, sizeof(on)) ||
		setsockopt(fd, SOL_PACKET, PACKET_AUXDATA, &on, sizeof(on)) ||
		setsockopt(fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &promisc, sizeof(promisc)) ||
		setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)) ||
		setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size)) ||
		bind(fd, (struct sockaddr *)&addr, sizeof(addr)))
		return -errno;
	return 0;
}

int link_iface_open(struct link_iface *iface, const char *name)
{
	unsigned index = if_nametoindex(name);
	if (!index || strlen(name) >= sizeof(iface->name))
		return -ENODEV;
	*iface = (struct link_iface){
		.fd = socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
	if (iface->fd < 0)
		return -errno;
	strcpy(iface->name, name);
	iface->burst = calloc(1, sizeof(*iface->burst));
	int error = iface->burst ? socket_set(iface->fd, index) : -ENOMEM;
	if (error)
		link_iface_close(iface);
	return error;
}

void link_iface_close(struct link_iface *iface)
{
	close(iface->fd);
	free(iface->burst);
	iface->burst = NULL;
}

/* What the kernel says beside a frame: a tag it took out, a checksum that is not finished. */
static void auxdata_apply(struct link_iface *iface, struct msghdr *header, struct link_frame *frame)
{
	struct tpacket_auxdata aux;
	struct cmsghdr *control = CMSG_FIRSTHDR(header);
	if (!control || control->cmsg_level != SOL_PACKET || control->cmsg_type != PACKET_AUXDATA)
		return;
	memcpy(&aux, CMSG_DATA(control), sizeof(aux));
	if (aux.tp_status & TP_STATUS_CSUMNOTREADY)
		iface->unfinished++;
	if (!(aux.tp_status & TP_STATUS_VLAN_VALID) || frame->length < MACS)
		return;
	uint16_t tag[2] = {
		htons(aux.tp_status & TP_STATUS_VLAN_TPID_VALID ? aux.tp_vlan_tpid : ETH_P_8021Q),
		htons(aux.tp_vlan_tci)};
	memmove(frame->data - TAG, frame->data, MACS);
	memcpy(frame->data - TAG + MACS, tag, TAG);
	frame->data -= TAG;
	frame->length += TAG;
}

int link_iface_receive(struct link_iface *iface, struct link_frame *frames)
{
	struct link_burst *burst = iface->burst;
	for (unsigned i = 0; i < LINK_BURST; i++) {
		burst->vectors[i] = (struct iovec){burst->frames[i] + TAG, LINK_FRAME_MAX};
		burst->headers[i].msg_hdr = (struct msghdr){.msg_iov = &burst->vectors[i],
			.msg_iovlen = 1,
			.msg_control = &burst->controls[i],
			.msg_controllen = sizeof(burst->controls[i])};
	}
	int count = recvmmsg(iface->fd, burst->headers, LINK_BURST, MSG_DONTWAIT, NULL);
	if (count < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	for (int i = 0; i < count; i++) {
		frames[i] = (struct link_frame){burst->frames[i] + TAG, burst->headers[i].msg_len};
		auxdata_apply(iface, &burst->headers[i].msg_hdr, &frames[i]);
	}
	return count;
}

bool link_iface_send(struct link_iface *iface, const uint8_t *data, size_t length)
{
	return send(iface->fd, data, length, 0) == (ssize_t)length;
}
