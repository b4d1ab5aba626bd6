/* SPDX-License-Identifier: BSD-3-Clause */
/* The real kernel, in a network namespace of the test's own. */
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "api/tap_hop.h"
#include "kernel/kernel.h"
#include "model/model_fixture.h"

#define SKIPPED 77

static struct kernel *k;

static struct ip_addr addr(const char *text)
{
	struct ip_addr out;

	CHECK(ip_parse(text, &out) == 0);
	return out;
}

static int tap_open(const char *name)
{
	struct ifreq r = {.ifr_flags = IFF_TAP | IFF_NO_PI};
	int fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK);

	snprintf(r.ifr_name, sizeof(r.ifr_name), "%s", name);
	CHECK(fd >= 0 && ioctl(fd, TUNSETIFF, &r) == 0);
	return fd;
}

/* Sends a datagram with the mark of `via`; 0, or -errno. */
static int send_marked(const char *to, const struct ip_addr *via)
{
	uint32_t mark = kernel_mark_of(via);
	struct ip_addr a = addr(to);
	struct sockaddr_in target = {
		.sin_family = AF_INET, .sin_port = htons(9), .sin_addr.s_addr = a.w[3]};
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	CHECK(setsockopt(fd, SOL_SOCKET, SO_MARK, &mark, sizeof(mark)) == 0);
	ssize_t n = sendto(fd, "x", 1, 0, (struct sockaddr *)&target, sizeof(target));
	int rc = n == 1 ? 0 : -errno;
	close(fd);
	return rc;
}

/* The next hop that the next IPv4 packet to one host names; false: none comes in a while. */
static bool frame_next(int tap, struct ip_addr *hop)
{
	uint8_t frame[2000];
	struct pollfd ready = {.fd = tap, .events = POLLIN};

	while (poll(&ready, 1, 100) > 0)
		if (read(tap, frame, sizeof(frame)) > 34 && frame[12] == 8 && frame[30] < 224)
			return tap_hop_read(frame, hop);
	return false;
}

/* A tap that has just been opened loses the first packets. */
static bool goes_through(int tap, const char *to, const struct ip_addr *via)
{
	struct ip_addr hop = {0};

	for (int i = 0; i < 50; i++) {
		CHECK_INT(send_marked(to, via), 0);
		if (frame_next(tap, &hop))
			return ip_equal(&hop, via);
	}
	return false;
}

static void apply(const struct model *m)
{
	char fault[256] = "";
	int rc = kernel_apply(k, m, fault, sizeof(fault));

	if (rc)
		fprintf(stderr, "%s\n", fault);
	CHECK_INT(rc, 0);
}

static void through_a_server(struct model *m)
{
	struct ip_addr isp = addr("10.0.0.7"), other = addr("10.0.0.8"), far = addr("10.9.9.9"),
		       v6 = addr("fd00::7");
	int tap = tap_open("a");

	CHECK_INT(kernel_mark_get(k, &v6), -EAFNOSUPPORT);
	CHECK_INT(kernel_mark_of(&v6), 0);
	CHECK_INT(kernel_mark_get(k, &isp), 0);
	CHECK_INT(kernel_mark_get(k, &isp), 0);
	CHECK_INT(kernel_mark_get(k, &other), 0);
	CHECK(goes_through(tap, "192.0.2.1", &isp));
	CHECK(goes_through(tap, "192.0.2.1", &other));
	CHECK(goes_through(tap, "10.0.0.7", &isp));
	/* Applied again, nothing is different; a server that no network leads to has no way instead of a wrong one. */
	apply(m);
	CHECK(goes_through(tap, "192.0.2.1", &isp));
	CHECK_INT(kernel_mark_get(k, &far), -ENETUNREACH);
	CHECK_INT(send_marked("192.0.2.1", &far), -EHOSTUNREACH);
	/* Counted: the second put takes it away. Without a rule the mark means nothing: there is no other route. */
	kernel_mark_put(k, &isp);
	CHECK(goes_through(tap, "192.0.2.1", &isp));
	kernel_mark_put(k, &isp);
	CHECK_INT(send_marked("192.0.2.1", &isp), -ENETUNREACH);
	close(tap);
}

/* What a weir-cp of before left behind goes; what this one needs stays. */
static void tidy(const struct model *m)
{
	struct ip_addr other = addr("10.0.0.8"), far = addr("10.9.9.9");

	kernel_free(k);
	CHECK_INT(kernel_new(0, &k), 0);
	apply(m);
	CHECK_INT(kernel_mark_get(k, &other), 0);
	kernel_mark_tidy(k);
	CHECK_INT(send_marked("192.0.2.1", &other), 0);
	CHECK_INT(send_marked("192.0.2.1", &far), -ENETUNREACH);
}

int main(void)
{
	if (unshare(CLONE_NEWNET) || access("/dev/net/tun", R_OK | W_OK))
		return SKIPPED;
	struct model *m = model_new();
	must(m, "create net vlan a");
	must(m, "create net self s address 10.0.0.1/24 vlan a");
	CHECK_INT(kernel_new(0, &k), 0);
	apply(m);
	through_a_server(m);
	tidy(m);
	kernel_free(k);
	model_free(m);
	return 0;
}
