/* SPDX-License-Identifier: BSD-3-Clause */
/* Proves that faults in packet buffers are reported: each is committed in a child, which must die with
 * a report. Without sanitizer the faults go unnoticed, so there is nothing to test. */
#include "core/test_eal.h"

#ifdef WEIR_SANITIZE

#include <sys/wait.h>

static struct rte_mempool *pool;

static void touch(volatile uint8_t *p)
{
	*p = 1;
}

static struct rte_mbuf *packet(void)
{
	struct rte_mbuf *m = mbuf_new(pool);
	CHECK(m != NULL);
	CHECK(mbuf_append(m, 64) != NULL);
	return m;
}

static void fault_none(void)
{
	struct rte_mbuf *m = packet();
	touch(rte_pktmbuf_mtod(m, uint8_t *));
	touch(rte_pktmbuf_mtod(m, uint8_t *) + 63);
	pkt_of(m)->port = 1;
	mbuf_append(m, 1);
	touch(rte_pktmbuf_mtod(m, uint8_t *) + 64);
	mbuf_prepend(m, 18);
	touch(rte_pktmbuf_mtod(m, uint8_t *));
	rte_pktmbuf_free(m);
}

static void fault_overrun(void)
{
	touch(rte_pktmbuf_mtod(packet(), uint8_t *) + 64);
}

static void fault_underrun(void)
{
	touch(rte_pktmbuf_mtod(packet(), uint8_t *) - 1);
}

static void fault_after_trim(void)
{
	struct rte_mbuf *m = packet();
	mbuf_trim(m, 24);
	touch(rte_pktmbuf_mtod(m, uint8_t *) + 40);
}

static void fault_after_adj(void)
{
	struct rte_mbuf *m = packet();
	uint8_t *p = rte_pktmbuf_mtod(m, uint8_t *);
	mbuf_adj(m, 16);
	touch(p);
}

static void fault_use_after_free(void)
{
	struct rte_mbuf *m = packet();
	uint8_t *p = rte_pktmbuf_mtod(m, uint8_t *);
	rte_pktmbuf_free(m);
	touch(p);
}

static void fault_private_after_free(void)
{
	struct rte_mbuf *m = packet();
	struct pkt *p = pkt_of(m);
	rte_pktmbuf_free(m);
	touch(&p->port);
}

static void fault_double_free(void)
{
	struct rte_mbuf *m = packet();
	rte_pktmbuf_free(m);
	rte_pktmbuf_free(m);
}

/* Runs a fault in a child. True if it died with a report of ours. */
static bool reported(void (*fault)(void))
{
	char text[65536];
	size_t length = 0;
	ssize_t n;
	int out[2], status;

	CHECK_INT(pipe(out), 0);
	pid_t pid = fork();
	CHECK(pid >= 0);
	if (pid == 0) {
		dup2(out[1], STDERR_FILENO);
		fault();
		_exit(0);
	}
	close(out[1]);
	while (length < sizeof(text) - 1 &&
		(n = read(out[0], text + length, sizeof(text) - 1 - length)) > 0)
		length += (size_t)n;
	text[length] = '\0';
	close(out[0]);
	CHECK_INT(waitpid(pid, &status, 0), pid);
	return status != 0 && strstr(text, "use-after-poison");
}

int main(void)
{
	test_eal_init(64);
	pool = mbuf_pool_new("poison", 63, 1500);
	CHECK(pool != NULL);
	CHECK(!reported(fault_none));
	CHECK(reported(fault_overrun));
	CHECK(reported(fault_underrun));
	CHECK(reported(fault_after_trim));
	CHECK(reported(fault_after_adj));
	CHECK(reported(fault_use_after_free));
	CHECK(reported(fault_private_after_free));
	CHECK(reported(fault_double_free));
	mbuf_pool_free(pool);
	return 0;
}

#else

int main(void)
{
	return 77; /* meson: skipped */
}

#endif
