/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/rights.h"
#include "health/health_detect.h"
#include "main/cp.h"
#include "main/cp_privileges.h"
#include "store/atomic_file.h"

static const char usage[] =
	"weir-cp --run-dir DIR --config FILE --store DIR [options]\n"
	"  --run-dir DIR          sockets: cp.sock is made here, dp.sock is looked for\n"
	"  --config FILE          startup configuration\n"
	"  --store DIR            running configuration, kept over restarts\n"
	"  --dataplane-user NAME  may open the kernel taps (default root)\n"
	"  --monitor-user NAME    weir-mon's user, may connect to mon.sock (default root)\n"
	"  --mgmt-user NAME       weir-mgmt's user, may connect to cp.sock for others\n"
	"  --notify-user NAME     weir-notify's user, may connect to notify.sock (default root)\n"
	"  --snmp-user NAME       weir-snmp's user, may connect to snmp.sock (default root)\n"
	"  --initial-password-file FILE  where admin's first password is written, if he has none\n"
	"  --verify               only check FILE: 0 if it is right, else says why and ends with "
	"1\n"
	"  --debug                more messages\n";

struct options {
	const char *run_dir, *config, *store, *dataplane_user, *monitor_user, *mgmt_user,
		*notify_user, *snmp_user, *password_file;
	bool verify, debug;
};

static bool options_parse(int argc, char **argv, struct options *o)
{
	enum {
		RUN_DIR,
		CONFIG,
		STORE,
		USER,
		MONITOR_USER,
		MGMT_USER,
		NOTIFY_USER,
		SNMP_USER,
		PASSWORD_FILE,
		VERIFY,
		DEBUG,
		HELP
	};
	static const struct option known[] = {{"run-dir", 1, NULL, RUN_DIR},
		{"config", 1, NULL, CONFIG}, {"store", 1, NULL, STORE},
		{"dataplane-user", 1, NULL, USER}, {"monitor-user", 1, NULL, MONITOR_USER},
		{"mgmt-user", 1, NULL, MGMT_USER}, {"notify-user", 1, NULL, NOTIFY_USER},
		{"snmp-user", 1, NULL, SNMP_USER},
		{"initial-password-file", 1, NULL, PASSWORD_FILE}, {"verify", 0, NULL, VERIFY},
		{"debug", 0, NULL, DEBUG}, {"help", 0, NULL, HELP}, {0}};
	int c;

	while ((c = getopt_long(argc, argv, "", known, NULL)) >= 0) {
		if (c == RUN_DIR)
			o->run_dir = optarg;
		else if (c == CONFIG)
			o->config = optarg;
		else if (c == STORE)
			o->store = optarg;
		else if (c == USER)
			o->dataplane_user = optarg;
		else if (c == MONITOR_USER)
			o->monitor_user = optarg;
		else if (c == MGMT_USER)
			o->mgmt_user = optarg;
		else if (c == NOTIFY_USER)
			o->notify_user = optarg;
		else if (c == SNMP_USER)
			o->snmp_user = optarg;
		else if (c == PASSWORD_FILE)
			o->password_file = optarg;
		else if (c == VERIFY)
			o->verify = true;
		else if (c == DEBUG)
			o->debug = true;
		else
			return false;
	}
	return optind == argc && o->config && (o->verify || (o->run_dir && o->store));
}

/* Reads a weir.conf into a fresh model; says what is wrong with it. *text: its content, to be freed. */
static int config_load(const char *path, struct model *m, char **text, size_t *length)
{
	static const struct model_actor actor = {.class = HOLD_OPERATOR, .role = ROLE_ADMIN};
	struct model_error err;
	char sentence[2048];
	int rc = file_read(path, text, length);

	if (rc) {
		log_error("%s: cannot be read: %s", path, strerror(-rc));
		return rc;
	}
	rc = model_begin(m, &actor);
	if (rc == 0)
		rc = model_load(m, *text, *length, path, 0, &err);
	if (rc == 0)
		rc = model_commit(m, NULL, &err);
	if (rc) {
		model_abort(m);
		log_error("%s", model_error_text(&err, sentence, sizeof(sentence)));
		free(*text);
		*text = NULL;
	}
	return rc;
}

static void verify_warn(void *ctx, const char *sentence)
{
	log_warning("%s: %s", (const char *)ctx, sentence);
}

static int verify(const char *path)
{
	struct model *m = model_new();
	char *text = NULL;
	size_t length;
	int rc = m ? config_load(path, m, &text, &length) : -ENOMEM;

	if (rc == 0)
		health_detect_check(m, NULL, verify_warn, (void *)path);
	free(text);
	model_free(m);
	return rc ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* The startup file becomes the running configuration of a new store. */
static int store_begin(struct cp *cp)
{
	char *text;
	size_t length;
	int rc = config_load(cp->config_path, cp->model, &text, &length);

	if (rc)
		return rc;
	rc = store_fold(cp->store, cp->model);
	if (rc == 0)
		rc = store_startup_loaded(cp->store, cp->model, text, length);
	if (rc)
		log_error("store: %s: cannot be written: %s", cp->store_dir, strerror(-rc));
	free(text);
	return rc;
}

static int key_init(struct cp *cp)
{
	uint8_t key[MODEL_KEY_BYTES];
	bool made;
	int rc = store_key(cp->store_dir, key, &made);

	if (rc)
		log_error("store: %s/machine-key: %s", cp->store_dir,
			rc == -EBADMSG ? "is no key" : strerror(-rc));
	else
		model_secret_key(key);
	if (rc == 0)
		rc = cp_journal_init(cp, key);
	explicit_bzero(key, sizeof(key));
	if (rc == 0 && made && !store_is_empty(cp->store))
		log_warning("store: %s/machine-key was missing: passwords that it encrypted are "
			    "lost, give "
			    "them again",
			cp->store_dir);
	return rc;
}

static int configuration_init(struct cp *cp)
{
	struct model_error err = {0};
	char sentence[2048];

	int rc = store_open(cp->store_dir, &cp->store, sentence, sizeof(sentence));
	if (rc) {
		log_error("store: %s", sentence);
		return rc;
	}
	rc = key_init(cp);
	if (rc)
		return rc;
	cp->model = model_new();
	if (!cp->model)
		return -ENOMEM;
	if (store_is_empty(cp->store))
		return store_begin(cp);
	rc = store_load(cp->store, cp->model, &err);
	if (rc)
		log_error("store: %s", model_error_text(&err, sentence, sizeof(sentence)));
	else
		log_notice("store: running configuration loaded: generation %llu, %u changes not "
			   "saved",
			(unsigned long long)model_generation(cp->model), store_unsaved(cp->store));
	return rc;
}

static int kernel_init(struct cp *cp, const char *user)
{
	struct identity id = {0};
	int rc = rights_user("--dataplane-user", user, &id);

	if (rc)
		return rc;
	rc = kernel_new(id.uid, &cp->kernel);
	if (rc) {
		log_error("kernel: %s", strerror(-rc));
		return rc;
	}
	rc = kernel_ports_reserve();
	if (rc < 0)
		log_warning("kernel: range of ephemeral ports: %s", strerror(-rc));
	cp_push_kernel(cp);
	return 0;
}

static void on_signal(evutil_socket_t number, short what, void *ctx)
{
	struct cp *cp = ctx;

	log_notice("signal %d: stop", (int)number);
	event_base_loopbreak(cp->base);
}

static void on_upkeep(evutil_socket_t fd, short what, void *ctx)
{
	struct cp *cp = ctx;

	cp_journal_second(cp);
	cp_states_second(cp);
	cp_watch_second(cp);
	store_sync(cp->store);
	store_fold_poll(cp->store);
	if (!store_fold_due(cp->store))
		return;
	int rc = store_fold_begin(cp->store, cp->model);
	if (rc)
		log_error("store: %s: cannot be folded: %s", cp->store_dir, strerror(-rc));
}

static int events_init(struct cp *cp)
{
	static const int numbers[] = {SIGTERM, SIGINT};
	struct timeval second = {.tv_sec = 1};

	cp->base = event_base_new();
	if (!cp->base)
		return -ENOMEM;
	for (int i = 0; i < 2; i++) {
		cp->signals[i] = evsignal_new(cp->base, numbers[i], on_signal, cp);
		if (!cp->signals[i] || event_add(cp->signals[i], NULL))
			return -ENOMEM;
	}
	cp->upkeep = event_new(cp->base, -1, EV_PERSIST, on_upkeep, cp);
	return cp->upkeep && event_add(cp->upkeep, &second) == 0 ? 0 : -ENOMEM;
}

/* Whoever asks for states asks it for counters. */
static int link_init(struct cp *cp, const char *run_dir)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", run_dir, DPLINK_SOCKET_NAME);
	cp->link = dplink_new(cp->base, path, &cp_dplink_ops, cp);
	return cp->link ? 0 : -ENOMEM;
}

static int sockets_init(struct cp *cp, const char *run_dir)
{
	char path[4096];

	if (cp_drains_init(cp) || cp_resolve_init(cp))
		return -ENOMEM;
	snprintf(path, sizeof(path), "%s/%s", run_dir, IPC_SOCKET_NAME);
	cp->server = ipc_server_new(cp->base, path, cp_request, cp);
	if (cp->server && (cp->mgmt_uid == (uid_t)-1 || cp->mgmt_uid == geteuid() ||
				  chown(path, cp->mgmt_uid, (gid_t)-1) == 0))
		return 0;
	int rc = -errno;
	log_error("%s: %s", path, strerror(errno));
	return rc;
}

static void cp_fini(struct cp *cp)
{
	cp_parts_fini(cp);
	cp_notify_fini(cp);
	ipc_server_free(cp->server);
	dplink_free(cp->link);
	cp_drains_fini(cp);
	fqdn_free(cp->fqdn);
	cp_agent_gone_fini(cp);
	cp_agent_fini(cp);
	cp_down_fini(cp);
	cp_states_fini(cp);
	cp_watch_fini(cp);
	kernel_free(cp->kernel);
	cp_live_fini(cp);
	cp_limits_fini(cp);
	journal_close(&cp->journal);
	store_close(cp->store); /* its lock guards the journal too */
	cp_log_fini(cp);
	health_free(cp->health);
	auth_free(cp->auth);
	model_free(cp->model);
	cp_index_fini(&cp->members);
	cp_index_fini(&cp->virtuals);
	cp_index_fini(&cp->of_pool);
	struct event *events[] = {cp->signals[0], cp->signals[1], cp->upkeep};
	for (size_t i = 0; i < sizeof(events) / sizeof(*events); i++)
		if (events[i])
			event_free(events[i]);
	if (cp->base)
		event_base_free(cp->base);
	libevent_global_shutdown();
}

int main(int argc, char **argv)
{
	static struct cp cp;
	struct options o = {0};
	int rc;

	if (!options_parse(argc, argv, &o)) {
		fputs(usage, stderr);
		return 2;
	}
	log_init("weir-cp", o.debug ? LOG_LEVEL_DEBUG : LOG_LEVEL_NOTICE);
	if (o.verify)
		return verify(o.config);
	umask(0027);
	cp.started_ns = clock_ns();
	cp.config_path = o.config;
	cp.store_dir = o.store;
	rc = configuration_init(&cp);
	if (rc == 0)
		rc = events_init(&cp);
	if (rc == 0)
		rc = kernel_init(&cp, o.dataplane_user);
	if (rc == 0)
		rc = link_init(&cp, o.run_dir);
	if (rc == 0)
		rc = cp_health_init(&cp, o.run_dir, o.monitor_user);
	if (rc == 0)
		rc = cp_down_init(&cp);
	if (rc == 0)
		rc = cp_watch_init(&cp);
	if (rc == 0)
		rc = cp_log_init(&cp);
	if (rc == 0)
		rc = cp_states_init(&cp);
	if (rc == 0)
		rc = cp_live_init(&cp);
	if (rc == 0)
		cp_journal_reconcile(&cp);
	if (rc == 0)
		rc = cp_agent_init(&cp);
	if (rc == 0)
		rc = cp_agent_gone_init(&cp);
	if (rc == 0)
		rc = cp_auth_init(&cp, o.mgmt_user);
	if (rc == 0)
		rc = sockets_init(&cp, o.run_dir);
	if (rc == 0)
		rc = cp_notify_init(&cp);
	if (rc == 0)
		rc = cp_parts_init(&cp, o.run_dir, o.notify_user, o.snmp_user);
	if (rc == 0 && o.password_file)
		rc = cp_first_password(&cp, o.password_file);
	if (rc == 0)
		rc = privileges_drop();
	if (rc == 0)
		event_base_dispatch(cp.base);
	cp_fini(&cp);
	return rc ? EXIT_FAILURE : EXIT_SUCCESS;
}
