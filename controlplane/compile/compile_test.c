/* SPDX-License-Identifier: BSD-3-Clause */
#include "compile/compile.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/check.h"

#define VIRTUALS 10000u
#define MEMBERS_EACH 10u

static const struct model_actor actor = {.class = HOLD_OPERATOR, .role = ROLE_ADMIN};

static struct model *model_of(const char *conf)
{
	struct model *m = model_new();
	struct model_error err;
	char text[1000];

	CHECK(m != NULL && model_begin(m, &actor) == 0);
	if (model_load(m, conf, strlen(conf), "test", 0, &err) || model_commit(m, NULL, &err)) {
		fprintf(stderr, "%s\n", model_error_text(&err, text, sizeof(text)));
		abort();
	}
	return m;
}

static void edit(struct model *m, const char *text)
{
	struct model_error err;

	CHECK_INT(model_begin(m, &actor), 0);
	CHECK_INT(model_edit(m, VERB_MODIFY, text, &err), 0);
	CHECK_INT(model_commit(m, NULL, &err), 0);
}

static struct snap_header *compiled(const struct model *m)
{
	char reason[256];
	size_t length;
	struct snap_header *h = compile_buffer(m, NULL, 0x77, &length);

	CHECK(h != NULL);
	if (snapshot_check(h, length, reason, sizeof(reason))) {
		fprintf(stderr, "%s\n", reason);
		abort();
	}
	CHECK_INT(h->generation, model_generation(m));
	CHECK_INT(h->origin, 0x77);
	return h;
}

#define ROW(h, kind, type, i) (&SNAP_ROWS(h, kind, struct type)[i])

static void is_addr(const struct ip_addr *a, const char *text)
{
	char buf[IP_ADDR_TEXT];

	CHECK_STR(ip_format(a, buf), text);
}

static const char conf[] =
	"net vlan external { interfaces { 1.1 { untagged } } tag 10 mtu 1400 }\n"
	"net vlan a-name-that-is-too-long { interfaces { 1.2 { tagged } 1.1 { tagged } } tag 30 }\n"
	"net self e { address 10.0.1.1/24 vlan external allow-service { tcp:22 udp:any } }\n"
	"net self i { address fd00::1/64 vlan a-name-that-is-too-long allow-service default }\n"
	"net self o { address 10.9.0.1/16 vlan external allow-service none }\n"
	"net route d { network default gw 10.0.1.254 mtu 1300 }\n"
	"net route v { network 172.16.0.0/12 interface external }\n"
	"net route b { network fd01::/32 blackhole }\n"
	"ltm node 10.0.2.10 { address 10.0.2.10 ratio 5 connection-limit 100 }\n"
	"ltm pool web { load-balancing-mode ratio-member allow-snat no members {\n"
	"  10.0.2.10:80 { address 10.0.2.10 ratio 4 }\n"
	"  10.0.2.9:443 { address 10.0.2.9 session user-disabled }\n"
	"  10.0.2.9:80 { address 10.0.2.9 connection-limit 7 rate-limit 8 } } }\n"
	"ltm pool empty { monitor inband }\n"
	"ltm snatpool sp { members { 10.0.1.7 10.0.1.8 } }\n"
	"ltm snatpool sq { members { 10.0.1.8 } }\n"
	"ltm profile fastl4 slow { defaults-from fastL4 idle-timeout indefinite tcp-close-timeout "
	"9 }\n"
	"ltm profile tcp hasty { idle-timeout 17 reset-on-timeout disabled }\n"
	"ltm virtual-address 10.0.3.0 { address 10.0.3.0 mask 255.255.255.0 arp disabled }\n"
	"ltm virtual-address 10.0.1.100 { address 10.0.1.100 arp selective icmp-echo selective }\n"
	"ltm virtual net { destination 10.0.3.0:0 mask 255.255.255.0 ip-forward profiles { fastL4 "
	"{ } } }\n"
	"ltm virtual six { destination fd00::100.443 ip-protocol tcp pool web profiles { slow { } "
	"} disabled }\n"
	"ltm virtual web { destination 10.0.1.100:80 ip-protocol udp pool web source 10.0.0.0/8\n"
	"  profiles { udp { } } source-address-translation { type snat pool sp }\n"
	"  vlans { external } vlans-enabled translate-port disabled source-port change }\n";

static void test_network(const struct snap_header *h)
{
	CHECK_INT(SNAP_COUNT(h, SNAP_INTERFACE), 2);
	CHECK_INT(SNAP_COUNT(h, SNAP_VLAN), 2);
	const struct snap_vlan *ext = ROW(h, SNAP_VLAN, snap_vlan, 1);
	CHECK_STR(ext->tap, "external");
	CHECK_INT(ext->tag, 10);
	CHECK_INT(ext->mtu, 1400);
	CHECK_INT(ext->members, 1);
	CHECK(!strncmp(ROW(h, SNAP_VLAN, snap_vlan, 0)->tap, "vlan-", 5));
	const struct snap_vlan_member *m =
		ROW(h, SNAP_VLAN_MEMBER, snap_vlan_member, ext->first_member);
	CHECK_INT(m->tagged, 0);
	CHECK_STR(ROW(h, SNAP_INTERFACE, snap_interface, m->interface)->name, "1.1");

	const struct snap_self *s = ROW(h, SNAP_SELF, snap_self, 0);
	is_addr(&s->addr, "10.0.1.1");
	CHECK_INT(s->prefix, 24);
	CHECK_INT(s->vlan, 1);
	CHECK_INT(s->allow, SNAP_ALLOW_LIST);
	CHECK_INT(s->services, 2);
	CHECK_INT(ROW(h, SNAP_SERVICE, snap_service, 0)->port, 22);
	CHECK_INT(s[1].allow, SNAP_ALLOW_LIST);
	CHECK(s[1].services > 5);
	CHECK_INT(s[2].allow, SNAP_ALLOW_NONE);

	const struct snap_route *r = ROW(h, SNAP_ROUTE, snap_route, 0);
	CHECK_INT(r[0].kind, SNAP_ROUTE_BLACKHOLE);
	CHECK_INT(r[1].kind, SNAP_ROUTE_GATEWAY);
	CHECK_INT(r[1].mtu, 1300);
	is_addr(&r[1].gateway, "10.0.1.254");
	CHECK_INT(r[2].kind, SNAP_ROUTE_VLAN);
	CHECK_INT(r[2].vlan, 1);
}

static void test_pools(const struct snap_header *h)
{
	CHECK_INT(SNAP_COUNT(h, SNAP_POOL), 2);
	const struct snap_pool *p = ROW(h, SNAP_POOL, snap_pool, 1);
	CHECK_INT(ROW(h, SNAP_POOL, snap_pool, 0)->members, 0);
	CHECK_INT(ROW(h, SNAP_POOL, snap_pool, 0)->response_time, 10);
	CHECK_INT(p->response_time, 0);
	CHECK_INT(p->lb, SNAP_LB_RATIO_MEMBER);
	CHECK_INT(p->allow_snat, 0);
	CHECK_INT(p->members, 3);
	/* By address and port, not by name. */
	static const char *const addrs[] = {"10.0.2.9", "10.0.2.9", "10.0.2.10"};
	static const uint16_t ports[] = {80, 443, 80};
	for (uint32_t i = 0; i < 3; i++) {
		const struct snap_member *m = ROW(h, SNAP_MEMBER, snap_member, p->first_member + i);
		is_addr(&ROW(h, SNAP_NODE, snap_node, m->node)->addr, addrs[i]);
		CHECK_INT(m->port, ports[i]);
		CHECK_INT(m->live.avail, i == 1 ? LIVE_PERSISTED : LIVE_BITS);
	}
	const struct snap_member *m = ROW(h, SNAP_MEMBER, snap_member, p->first_member);
	CHECK_INT(m[0].live.connection_limit, 7);
	CHECK_INT(m[0].live.rate_limit, 8);
	CHECK_INT(m[2].live.ratio, 4);
	CHECK_INT(ROW(h, SNAP_NODE, snap_node, m[2].node)->live.ratio, 5);
	CHECK_INT(ROW(h, SNAP_NODE, snap_node, m[2].node)->live.connection_limit, 100);
}

static void test_virtuals(const struct snap_header *h)
{
	const struct snap_virtual *v = ROW(h, SNAP_VIRTUAL, snap_virtual, 0);

	CHECK_INT(SNAP_COUNT(h, SNAP_VIRTUAL), 3);
	CHECK_INT(v[0].type, SNAP_VIRTUAL_FORWARD_IP);
	CHECK_INT(v[0].pool, SNAP_NIL);
	const struct snap_vaddr *a = ROW(h, SNAP_VADDR, snap_vaddr, v[0].vaddr);
	CHECK_INT(a->prefix, 24);
	CHECK_INT(a->arp, SNAP_ANSWER_NEVER);
	CHECK_INT(a->icmp_echo, SNAP_ANSWER_ALWAYS);
	CHECK_INT(a->available, 1);
	CHECK_INT(ROW(h, SNAP_VADDR, snap_vaddr, v[1].vaddr)->available, 0); /* disabled */
	a = ROW(h, SNAP_VADDR, snap_vaddr, v[2].vaddr);
	CHECK_INT(a->arp, SNAP_ANSWER_SELECTIVE);
	CHECK_INT(a->icmp_echo, SNAP_ANSWER_SELECTIVE);
	CHECK_INT(a->available, 1);

	CHECK_INT(v[1].live.avail, 0);
	CHECK(!ip_is_v4(&v[1].source));
	CHECK_INT(v[1].source_prefix, 0);
	const struct snap_profile *slow = ROW(h, SNAP_PROFILE, snap_profile, v[1].profile);
	CHECK_INT(slow->idle_timeout, SNAP_TIMEOUT_INDEFINITE);
	CHECK_INT(slow->close_timeout, 9);
	CHECK_INT(slow->handshake_timeout, 5);

	CHECK_INT(v[2].proto, 17);
	CHECK_INT(v[2].port, 80);
	CHECK_INT(v[2].snat, SNAP_SNAT_POOL);
	CHECK_INT(ROW(h, SNAP_SNATPOOL, snap_snatpool, v[2].snatpool)->addrs, 2);
	CHECK_INT(SNAP_COUNT(h, SNAP_SNAT_ADDR), 3);
	CHECK_INT(v[2].vlans, SNAP_VLANS_ONLY);
	CHECK_INT(ROW(h, SNAP_VLAN_REF, snap_vlan_ref, v[2].first_vlan)->vlan, 1);
	CHECK_INT(v[2].source_prefix, 8);
	CHECK_INT(v[2].translate_address, 1);
	CHECK_INT(v[2].translate_port, 0);
	CHECK_INT(v[2].source_port, SNAP_PORT_CHANGE);
	CHECK_INT(ROW(h, SNAP_PROFILE, snap_profile, v[2].profile)->kind, SNAP_PROFILE_UDP);
}

/* A TCP profile is carried out packet by packet. */
static void test_tcp(const struct model *m, const struct snap_header *h)
{
	uint32_t id = model_find(m, KIND_PROFILE_TCP, ID_NONE, "hasty")->id, found = 0;

	for (uint32_t i = 0; i < SNAP_COUNT(h, SNAP_PROFILE); i++) {
		const struct snap_profile *row = ROW(h, SNAP_PROFILE, snap_profile, i);
		if (row->id != id)
			continue;
		found++;
		CHECK_INT(row->kind, SNAP_PROFILE_FASTL4);
		CHECK_INT(row->idle_timeout, 17);
		CHECK_INT(row->reset_on_timeout, 0);
	}
	CHECK_INT(found, 1);
}

/* What changes without a commit of the object changes its members' live rows. */
static void test_live(struct model *m)
{
	const struct object *pool = model_find(m, KIND_POOL, ID_NONE, "web"), *node;
	const struct object *member = model_find(m, KIND_POOL_MEMBER, pool->id, "10.0.2.10:80");
	struct live_row row;

	CHECK(compile_live(m, NULL, member, &row));
	CHECK_INT(row.id, member->id);
	CHECK_INT(row.live.avail, LIVE_BITS);
	edit(m, "ltm node 10.0.2.10 session user-disabled ratio 6");
	CHECK(compile_live(m, NULL, member, &row));
	CHECK_INT(row.live.avail, LIVE_PERSISTED);
	node = model_find(m, KIND_NODE, ID_NONE, "10.0.2.10");
	CHECK(compile_live(m, NULL, node, &row));
	CHECK_INT(row.live.avail, LIVE_PERSISTED);
	CHECK_INT(row.live.ratio, 6);
	edit(m, "ltm node 10.0.2.10 session user-enabled state user-down");
	CHECK(compile_live(m, NULL, member, &row));
	CHECK_INT(row.live.avail, 0);
	CHECK(!compile_live(m, NULL, pool, &row));
}

/* The file can be read and nothing else; equal models give equal bytes. */
/* What a server's agent asks for is multiplied in, and leaves what is configured alone. */
static void test_agent(struct model *m)
{
	const struct object *pool = model_find(m, KIND_POOL, ID_NONE, "web");
	const struct object *member = model_find(m, KIND_POOL_MEMBER, pool->id, "10.0.2.9:80");
	struct live_row row;

	edit(m, "ltm pool web members modify { 10.0.2.9:80 { ratio 10 agent-weight 25 } }");
	CHECK(compile_live(m, NULL, member, &row));
	CHECK_INT(row.live.ratio, 3);
	CHECK_INT(row.live.dynamic_ratio, 1);
	CHECK_INT(row.live.avail, LIVE_BITS);
	CHECK_INT(model_pool_member(member)->live.ratio, 10);
	edit(m, "ltm pool web members modify { 10.0.2.9:80 { agent-weight 0 } }");
	CHECK(compile_live(m, NULL, member, &row));
	CHECK_INT(row.live.ratio, 1);
	CHECK_INT(row.live.avail, LIVE_PERSISTED);
	edit(m, "ltm pool web members modify { 10.0.2.9:80 { ratio 65535 agent-weight 256 } }");
	CHECK(compile_live(m, NULL, member, &row));
	CHECK_INT(row.live.ratio, 65535);
	/* The smaller limit counts. */
	CHECK_INT(row.live.connection_limit, 7);
	edit(m, "ltm pool web members modify { 10.0.2.9:80 { agent-connection-limit 9 } }");
	CHECK(compile_live(m, NULL, member, &row));
	CHECK_INT(row.live.connection_limit, 7);
	edit(m, "ltm pool web members modify { 10.0.2.9:80 { agent-connection-limit 5 } }");
	CHECK(compile_live(m, NULL, member, &row));
	CHECK_INT(row.live.connection_limit, 5);
	edit(m, "ltm pool web members modify { 10.0.2.9:80 { connection-limit 0 } }");
	CHECK(compile_live(m, NULL, member, &row));
	CHECK_INT(row.live.connection_limit, 5);
}

static void test_sealed(const struct model *m)
{
	struct stat st;
	size_t length;
	int fd = compile_snapshot(m, NULL, 5);
	struct snap_header *h = compile_buffer(m, NULL, 5, &length);

	CHECK(fd >= 0 && h != NULL);
	CHECK_INT(fcntl(fd, F_GET_SEALS), F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
	CHECK_INT(fstat(fd, &st), 0);
	CHECK_INT(st.st_size, length);
	CHECK(write(fd, "x", 1) < 0 && errno == EPERM);
	void *map = mmap(NULL, length, PROT_READ, MAP_PRIVATE, fd, 0);
	CHECK(map != MAP_FAILED);
	CHECK(memcmp(map, h, length) == 0);
	munmap(map, length);
	free(h);
	close(fd);
}

/* A node that is known by a name, and its members, stay out. */
static void test_template(void)
{
	struct model *m =
		model_of("ltm node web.example { fqdn { name web.example } }\n"
			 "ltm pool p { members { web.example:80 { } 10.0.0.1:80 { } } }\n");
	struct snap_header *h = compiled(m);
	const struct object *node = model_find(m, KIND_NODE, ID_NONE, "web.example");
	struct live_row live;

	CHECK_INT(h->tables[SNAP_NODE].count, 1);
	CHECK_INT(h->tables[SNAP_MEMBER].count, 1);
	CHECK_INT(ROW(h, SNAP_POOL, snap_pool, 0)->members, 1);
	CHECK(!compile_live(m, NULL, node, &live));
	free(h);
	model_free(m);
}

static void test_default_model(void)
{
	struct model *m = model_new();
	struct snap_header *h = compiled(m);
	const struct snap_settings *s = ROW(h, SNAP_SETTINGS, snap_settings, 0);

	CHECK_INT(SNAP_COUNT(h, SNAP_VIRTUAL), 0);
	CHECK_INT(SNAP_COUNT(h, SNAP_INTERFACE), 0);
	CHECK_INT(s->auto_lasthop, 1);
	CHECK_INT(s->reset_unmatched, 1);
	CHECK_INT(s->arp_timeout, 300);
	free(h);
	model_free(m);
}

/* 10 k virtual servers with 100 k members: well within 200 ms on an ordinary machine. */
static void test_large(void)
{
	struct text t = {0};
	size_t length;

	for (unsigned i = 0; i < VIRTUALS; i++) {
		text_printf(&t, "ltm pool p%u { members {", i);
		for (unsigned k = 0; k < MEMBERS_EACH; k++)
			text_printf(&t, " 10.%u.%u.%u:80 { address 10.%u.%u.%u }",
				1 + i / 256 % 200, i % 256, k + 1, 1 + i / 256 % 200, i % 256,
				k + 1);
		text_printf(&t,
			" } }\nltm virtual v%u { destination 172.%u.%u.%u:80 ip-protocol tcp "
			"pool p%u profiles { fastL4 { } } }\n",
			i, 16 + i / 65536, i / 256 % 256, i % 256, i);
	}
	struct model *m = model_of(t.data);
	text_fini(&t);
	uint64_t best = UINT64_MAX;
	for (int round = 0; round < 3; round++) {
		struct timespec ts[2];
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts[0]);
		struct snap_header *h = compile_buffer(m, NULL, 1, &length);
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts[1]);
		uint64_t ns = (uint64_t)((ts[1].tv_sec - ts[0].tv_sec) * 1000000000 +
					 ts[1].tv_nsec - ts[0].tv_nsec);
		best = ns < best ? ns : best;
		CHECK_INT(SNAP_COUNT(h, SNAP_MEMBER), VIRTUALS * MEMBERS_EACH);
		free(h);
	}
	printf("%u virtual servers, %u members: %.1f ms\n", VIRTUALS, VIRTUALS * MEMBERS_EACH,
		(double)best / 1e6);
#ifndef WEIR_SANITIZE
	CHECK(best < 200000000u);
#endif
	free(compiled(m));
	model_free(m);
}

int main(void)
{
	struct model *m = model_of(conf);
	struct snap_header *h = compiled(m);

	test_network(h);
	test_tcp(m, h);
	test_pools(h);
	test_virtuals(h);
	free(h);
	test_sealed(m);
	test_live(m);
	test_agent(m);
	model_free(m);
	test_template();
	test_default_model();
	test_large();
	return 0;
}
