/* SPDX-License-Identifier: BSD-3-Clause */
/* The store as a process would meet it again: what was appended is there, whatever the end was like. */
#include "store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/check.h"
#include "base/log.h"
#include "store/atomic_file.h"
#include "store/store_internal.h"

static char folder[] = "/tmp/weir-store-XXXXXX";
static char conf[64];
static const struct model_actor actor = {.class = HOLD_OPERATOR, .role = ROLE_ADMIN};

static const char startup_text[] = "ltm pool web {\n    members {\n        10.0.0.1:80 {\n"
				   "            address 10.0.0.1\n        }\n    }\n}\n";

static const char *in_folder(const char *name)
{
	static char path[96];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static struct store *open_store(void)
{
	struct store *s = NULL;
	char reason[200];

	CHECK_INT(store_open(folder, &s, reason, sizeof(reason)), 0);
	return s;
}

static struct model *load(struct store *s)
{
	struct model *m = model_new();
	struct model_error err;
	char text[1000];

	CHECK(m != NULL);
	if (store_load(s, m, &err)) {
		fprintf(stderr, "%s\n", model_error_text(&err, text, sizeof(text)));
		abort();
	}
	return m;
}

static void begin(struct store *s, struct model *m)
{
	struct model_error err;

	CHECK_INT(model_begin(m, &actor), 0);
	CHECK_INT(model_load(m, startup_text, strlen(startup_text), "weir.conf", 0, &err), 0);
	CHECK_INT(model_commit(m, NULL, &err), 0);
	CHECK_INT(file_replace(conf, startup_text, strlen(startup_text), 0644), 0);
	CHECK_INT(store_fold(s, m), 0);
	CHECK_INT(store_startup_loaded(s, m, startup_text, strlen(startup_text)), 0);
}

static void edit(struct store *s, struct model *m, enum model_verb verb, const char *text)
{
	struct model_changes changes;
	struct model_error err;
	char sentence[1000];

	CHECK_INT(model_begin(m, &actor), 0);
	if (model_edit(m, verb, text, &err) || model_commit(m, &changes, &err)) {
		fprintf(stderr, "%s: %s\n", text,
			model_error_text(&err, sentence, sizeof(sentence)));
		abort();
	}
	CHECK_INT(store_append(s, m, &changes, "tester", "192.0.2.7", text), 0);
	model_changes_fini(&changes);
}

/* Both models say the same, ids and generations too. */
static void same(const struct model *a, const struct model *b)
{
	struct text x = {0}, y = {0};

	model_print(a, PRINT_STORE, &x);
	model_print(b, PRINT_STORE, &y);
	/* The first line is the floor of id generations, which may rise. */
	CHECK_STR(strchr(y.data, '\n'), strchr(x.data, '\n'));
	CHECK_INT(model_generation(a), model_generation(b));
	text_fini(&x);
	text_fini(&y);
}

static void reopen(struct store **s, struct model **m)
{
	uint64_t origin = store_origin(*s);
	unsigned unsaved = store_unsaved(*s);

	store_close(*s);
	*s = open_store();
	struct model *again = load(*s);
	same(*m, again);
	CHECK_INT(store_origin(*s), origin);
	CHECK_INT(store_unsaved(*s), unsaved);
	model_free(*m);
	*m = again;
}

static void test_comes_back(struct store **s, struct model **m)
{
	edit(*s, *m, VERB_CREATE, "ltm pool other members add { 10.0.0.2:81 { ratio 7 } }");
	edit(*s, *m, VERB_MODIFY, "ltm node 10.0.0.1 session user-disabled");
	edit(*s, *m, VERB_MODIFY, "ltm node 10.0.0.1 ratio 9");
	edit(*s, *m, VERB_DELETE, "ltm pool other");
	edit(*s, *m, VERB_CREATE, "ltm pool third description \"a \\\"b\\\"\"");
	CHECK_INT(store_unsaved(*s), 4); /* three commits, and the node */
	reopen(s, m);
	CHECK_STR(store_commit_at(*s, 0)->what, "ltm pool third description \"a \\\"b\\\"\"");
	CHECK_STR(store_commit_at(*s, 0)->author, "tester");
	CHECK(store_commit_at(*s, 0)->config);
	CHECK_INT(store_fold(*s, *m), 0);
	reopen(s, m);
	CHECK_INT(store_commit_at(*s, 0)->generation, model_generation(*m));
}

/* The file as it was after each of its bytes: never an error, never half a change. */
static void test_torn(struct store **s, struct model **m)
{
	char *log = NULL;
	size_t size;

	CHECK_INT(store_fold(*s, *m), 0);
	store_close(*s);
	*s = open_store();
	struct model *before = load(*s);
	edit(*s, *m, VERB_MODIFY, "ltm pool web description torn");
	store_close(*s);
	CHECK_INT(file_read(in_folder("log"), &log, &size), 0);
	CHECK(size > 100);
	for (size_t n = 0; n <= size; n++) {
		CHECK_INT(file_replace(in_folder("log"), log, n, 0600), 0);
		*s = open_store();
		struct model *again = load(*s);
		same(again, n == size ? *m : before);
		model_free(again);
		store_close(*s);
	}
	/* A damaged byte within is noticed as well. */
	log[size / 2] ^= 1;
	CHECK_INT(file_replace(in_folder("log"), log, size, 0600), 0);
	*s = open_store();
	struct model *again = load(*s);
	same(again, before);
	model_free(before);
	model_free(*m);
	*m = again;
	free(log);
	edit(*s, *m, VERB_MODIFY, "ltm pool web description \"goes on\"");
	reopen(s, m);
}

/* Damage with whole records behind it is no torn end: what follows is lost, but the file is kept. */
static void test_damaged_within(struct store **s, struct model **m)
{
	char *log = NULL, *kept = NULL;
	size_t size, kept_size;

	CHECK_INT(store_fold(*s, *m), 0);
	edit(*s, *m, VERB_MODIFY, "ltm pool web description first");
	edit(*s, *m, VERB_MODIFY, "ltm pool web description second");
	store_close(*s);
	CHECK_INT(file_read(in_folder("log"), &log, &size), 0);
	log[100] ^= 1;
	CHECK_INT(file_replace(in_folder("log"), log, size, 0600), 0);
	CHECK(access(in_folder("log.damaged"), F_OK) != 0);
	*s = open_store();
	model_free(*m);
	*m = load(*s);
	CHECK_STR(model_string(*m,
			  model_pool(model_find(*m, KIND_POOL, ID_NONE, "web"))->conf.description),
		"goes on");
	CHECK_INT(file_read(in_folder("log.damaged"), &kept, &kept_size), 0);
	CHECK_INT(kept_size, size);
	CHECK(!memcmp(kept, log, size));
	free(log);
	free(kept);
	unlink(in_folder("log.damaged"));
}

/* A second look at what is on the disk leaves the store as it was. */
static void test_reload(struct store **s, struct model **m)
{
	struct model *again = model_new();
	struct model_error err;
	const struct store_commit *last = store_commit_at(*s, 0);

	edit(*s, *m, VERB_MODIFY, "ltm pool web description again");
	CHECK_INT(store_reload(*s, again, &err), 0);
	same(again, *m);
	CHECK(store_commit_at(*s, 1) == last);
	model_free(again);
	edit(*s, *m, VERB_MODIFY, "ltm pool web description \"goes on\"");
	reopen(s, m);
}

/* A crash between the new `running` and the cut of the log: what is in both counts once. */
static void test_folded_twice(struct store **s, struct model **m)
{
	char *log;
	size_t size;

	edit(*s, *m, VERB_CREATE, "ltm pool fourth");
	edit(*s, *m, VERB_DELETE, "ltm pool fourth");
	CHECK_INT(file_read(in_folder("log"), &log, &size), 0);
	CHECK_INT(store_fold(*s, *m), 0);
	CHECK_INT(file_replace(in_folder("log"), log, size, 0600), 0);
	free(log);
	reopen(s, m);
}

static void fold_wait(struct store *s)
{
	for (int i = 0; i < 1000 && access(in_folder("log.old"), F_OK) == 0; i++) {
		store_fold_poll(s);
		usleep(10000);
	}
	CHECK(access(in_folder("log.old"), F_OK) != 0);
}

/* Commits while a child folds; then the process dies before, and after the child is done. */
static void test_folded_beside(struct store **s, struct model **m)
{
	edit(*s, *m, VERB_CREATE, "ltm pool during1");
	CHECK_INT(store_fold_begin(*s, *m), 0);
	CHECK(!store_fold_due(*s));
	edit(*s, *m, VERB_CREATE, "ltm pool during2");
	reopen(s, m); /* stops the child */
	CHECK(access(in_folder("log.old"), F_OK) == 0);
	CHECK(store_fold_due(*s));
	edit(*s, *m, VERB_DELETE, "ltm pool during1");
	CHECK_INT(store_fold_begin(*s, *m), 0);
	edit(*s, *m, VERB_MODIFY, "ltm node 10.0.0.1 ratio 12");
	fold_wait(*s);
	CHECK(!store_fold_due(*s));
	reopen(s, m);
	CHECK_INT(store_fold_begin(*s, *m), 0);
	fold_wait(*s);
	reopen(s, m);
	edit(*s, *m, VERB_DELETE, "ltm pool during2");
}

/* A log whose predecessors are gone is not the configuration. */
static void test_missing_part(struct store **s, struct model **m)
{
	struct model_error err;
	char part[96];

	snprintf(part, sizeof(part), "%s.part", folder);
	edit(*s, *m, VERB_CREATE, "ltm pool part1");
	CHECK_INT(store_fold_begin(*s, *m), 0);
	store_fold_stop(*s);
	edit(*s, *m, VERB_CREATE, "ltm pool part2");
	store_close(*s);
	CHECK_INT(rename(in_folder("log.old"), part), 0);
	*s = open_store();
	struct model *other = model_new();
	CHECK_INT(store_load(*s, other, &err), -EBADMSG);
	CHECK(strstr(err.reason, "missing"));
	model_free(other);
	store_close(*s);
	CHECK_INT(rename(part, in_folder("log.old")), 0);
	*s = open_store();
	other = load(*s);
	same(*m, other);
	model_free(*m);
	*m = other;
	CHECK_INT(store_fold(*s, *m), 0);
	CHECK(access(in_folder("log.old"), F_OK) != 0);
}

static void test_save(struct store **s, struct model **m)
{
	struct text difference = {0};
	char *text;
	size_t length;

	edit(*s, *m, VERB_MODIFY, "ltm node 10.0.0.1 ratio 11");
	CHECK(store_unsaved(*s) > 0);
	CHECK_INT(store_save(*s, *m, conf, false, &difference), 0);
	CHECK_INT(store_unsaved(*s), 0);
	CHECK_INT(store_saved_generation(*s), model_generation(*m));
	reopen(s, m);
	CHECK_INT(file_read(conf, &text, &length), 0);
	CHECK(strstr(text, "ratio 11") && strstr(text, "session user-disabled"));
	text = realloc(text, length + 20);
	strcpy(text + length, "# by hand\n");
	CHECK_INT(file_replace(conf, text, strlen(text), 0644), 0);
	CHECK_INT(store_save(*s, *m, conf, false, &difference), -EEXIST);
	CHECK(strstr(difference.data, "+# by hand\n"));
	text_fini(&difference);
	free(text);
	CHECK_INT(store_save(*s, *m, conf, true, NULL), 0);
	CHECK_INT(file_read(conf, &text, &length), 0);
	CHECK(!strstr(text, "by hand"));
	free(text);
	unlink(conf);
	CHECK_INT(store_save(*s, *m, conf, false, NULL), 0);
	CHECK_INT(store_save(*s, *m, "/proc/nowhere/weir.conf", false, NULL), -ENOENT);
}

/* A hundred pushes to one server: one line of history, one unsaved change. */
static void test_pushes(struct store **s, struct model **m)
{
	unsigned lines = 0, before = 0;

	while (store_commit_at(*s, before))
		before++;
	for (int i = 0; i < 100; i++) {
		char text[64];
		snprintf(text, sizeof(text),
			"ltm pool web members modify { 10.0.0.1:80 { ratio %d } }", i + 2);
		edit(*s, *m, VERB_MODIFY, text);
	}
	while (store_commit_at(*s, lines))
		lines++;
	CHECK_INT(lines, before + 1);
	CHECK_INT(store_unsaved(*s), 1);
	reopen(s, m);
	struct model_error err;
	CHECK_INT(model_begin(*m, &actor), 0);
	model_abort(*m);
	CHECK_INT(model_begin(*m, &actor), 0);
	CHECK_INT(model_edit(*m, VERB_DELETE, "ltm pool web", &err), 0);
	model_abort(*m);
}

static void test_locked_and_damaged(struct store **s, struct model **m)
{
	struct store *other = NULL;
	struct model_error err;
	char reason[200], *data;
	size_t size;

	CHECK_INT(store_open(folder, &other, reason, sizeof(reason)), -EBUSY);
	CHECK(strstr(reason, "another weir-cp"));
	store_close(*s);
	CHECK_INT(file_read(in_folder("running"), &data, &size), 0);
	data[size - 20] ^= 1;
	CHECK_INT(file_replace(in_folder("running"), data, size, 0600), 0);
	free(data);
	*s = open_store();
	struct model *fresh = model_new();
	CHECK(store_load(*s, fresh, &err) == -EBADMSG);
	model_free(fresh);
	CHECK(store_open("/proc/nowhere/store", &other, reason, sizeof(reason)) < 0);
}

/* A node that a name has made, made or modified; what: for the history. */
static void resolved(struct store *s, struct model *m, const char *name, const char *what)
{
	static const struct model_actor system = {.class = HOLD_SYSTEM, .role = ROLE_ADMIN};
	struct model_changes changes;
	struct model_error err;
	uint32_t id;

	CHECK_INT(model_begin(m, &system), 0);
	CHECK_INT(model_create(m, KIND_NODE, ID_NONE, name, &id, &err), 0);
	CHECK_INT(model_set_text(m, id, NULL, "address", strrchr(name, '_') + 1, &err), 0);
	CHECK_INT(model_set_text(m, id, NULL, "ephemeral", "true", &err), 0);
	CHECK_INT(model_commit(m, &changes, &err), 0);
	CHECK_INT(store_append(s, m, &changes, "system", "", what), 0);
	model_changes_fini(&changes);
}

/* What name resolution makes comes back, is not unsaved, and takes one place of the history. */
static void test_passing(struct store **s, struct model **m)
{
	unsigned unsaved = store_unsaved(*s);

	edit(*s, *m, VERB_CREATE, "ltm node before address 10.7.7.7");
	resolved(*s, *m, "_auto_10.7.7.1", "one");
	resolved(*s, *m, "_auto_10.7.7.2", "two");
	CHECK_INT(store_unsaved(*s), unsaved + 1);
	CHECK_STR(store_commit_at(*s, 0)->what, "two");
	CHECK_STR(store_commit_at(*s, 1)->what, "ltm node before address 10.7.7.7");
	reopen(s, m);
	edit(*s, *m, VERB_MODIFY, "ltm node _auto_10.7.7.1 session user-disabled");
	CHECK_INT(store_unsaved(*s), unsaved + 1);
}

static void system_holds(struct store *s, struct model *m, unsigned bits)
{
	static const struct model_actor system = {.class = HOLD_SYSTEM, .role = ROLE_ADMIN};
	uint32_t id = model_find(m, KIND_NODE, ID_NONE, "held")->id;
	struct model_changes changes;
	struct model_error err;

	CHECK_INT(model_begin(m, &system), 0);
	CHECK_INT(model_hold(m, id, HOLD_SYSTEM, bits, "tested", &err), 0);
	CHECK_INT(model_commit(m, &changes, &err), 0);
	CHECK_INT(store_append(s, m, &changes, "system", "", "hold"), 0);
	model_changes_fini(&changes);
}

/* A hold of any class that was taken back does not come again. */
static void test_holds(struct store **s, struct model **m)
{
	edit(*s, *m, VERB_CREATE, "ltm node held address 10.8.8.8");
	system_holds(*s, *m, HOLD_SESSION);
	reopen(s, m);
	CHECK_INT(holds_bits(&model_node(model_find(*m, KIND_NODE, ID_NONE, "held"))->live.holds),
		HOLD_SESSION);
	system_holds(*s, *m, 0);
	reopen(s, m);
}

/* What "list" shows of everything, live fields too. */
static char *as_text(const struct model *m)
{
	struct text t = {0};

	model_print(m, 0, &t);
	return t.data;
}

static void roll_back(struct store *s, struct model *m, uint64_t generation, bool live)
{
	unsigned flags = LOAD_STORE | LOAD_MERGE | LOAD_UNDO | (live ? 0 : LOAD_KEEP_LIVE);
	struct model_changes changes;
	struct model_error err;
	struct text undo = {0};
	char sentence[1000];

	CHECK_INT(store_history_undo(s, m, generation, live, &undo), 0);
	CHECK_INT(model_begin(m, &actor), 0);
	if (model_load(m, undo.data ? undo.data : "", undo.len, "history", flags, &err) ||
		model_commit(m, &changes, &err)) {
		fprintf(stderr, "%s\n%s\n", undo.data,
			model_error_text(&err, sentence, sizeof(sentence)));
		abort();
	}
	if (changes.count)
		CHECK_INT(store_append(s, m, &changes, "tester", "", "roll back"), 0);
	model_changes_fini(&changes);
	text_fini(&undo);
}

static const struct object *some(struct model *m, enum model_kind kind, const char *name)
{
	const struct object *o = model_find(m, kind, ID_NONE, name);

	CHECK(o != NULL);
	return o;
}

static char *difference_of(const struct store *s, uint64_t generation)
{
	struct text t = {0};

	CHECK_INT(store_history_difference(s, generation, &t), 0);
	return t.data;
}

/* Every generation of a lively hour can be gone back to, and from there to every other. */
static void test_roll_back(struct store **s, struct model **m)
{
	static const struct {
		enum model_verb verb;
		const char *text;
	} steps[] = {
		{VERB_CREATE, "ltm pool a members add { 10.1.0.1:80 { ratio 3 } 10.1.0.2:80 }"},
		{VERB_CREATE, "ltm virtual v destination 10.2.0.1:80 ip-protocol tcp pool a"},
		{VERB_MODIFY, "ltm pool a members modify { 10.1.0.1:80 { description x } }"},
		{VERB_CREATE, "ltm profile fastl4 slow idle-timeout 600"},
		{VERB_MODIFY, "ltm virtual v profiles replace-all-with { slow }"},
		{VERB_MODIFY, "ltm pool a members delete { 10.1.0.2:80 }"},
		{VERB_MODIFY, "ltm profile fastl4 slow idle-timeout 700"},
		{VERB_CREATE, "ltm monitor http h username u password verysecret"},
		{VERB_MODIFY, "ltm pool a monitor h"},
		{VERB_MODIFY, "ltm monitor http h password other"},
		{VERB_DELETE, "ltm virtual v"},
		{VERB_DELETE, "ltm pool a"},
		{VERB_DELETE, "ltm node 10.1.0.1"},
		{VERB_CREATE, "ltm node 10.1.0.1 address 10.1.0.1 ratio 7"},
		{VERB_CREATE, "auth partition p"},
		{VERB_CREATE, "ltm pool /p/q members add { 10.1.0.9:80 }"},
		{VERB_DELETE, "ltm pool /p/q"},
		{VERB_DELETE, "ltm node 10.1.0.9"},
		{VERB_DELETE, "auth partition p"},
	};
	enum { STEPS = sizeof(steps) / sizeof(*steps) };
	char *text[STEPS + 1];
	uint64_t first = model_generation(*m);

	text[0] = as_text(*m);
	for (size_t i = 0; i < STEPS; i++) {
		edit(*s, *m, steps[i].verb, steps[i].text);
		CHECK_INT(model_generation(*m), first + i + 1);
		text[i + 1] = as_text(*m);
	}
	reopen(s, m);
	char *shown = difference_of(*s, first + 10);
	CHECK(strstr(shown, "\n-    password ***\n+    password ***\n"));
	CHECK(!strstr(shown, "$W$") && !strstr(shown, "object-reset"));
	free(shown);
	for (size_t i = 0; i < 3 * STEPS; i++) {
		size_t to = (i * 7) % (STEPS + 1);
		roll_back(*s, *m, first + to, true);
		char *now = as_text(*m);
		CHECK_STR(now, text[to]);
		free(now);
		if (i % STEPS == 5)
			reopen(s, m);
	}
	struct text undo = {0};
	uint64_t floor = store_history_floor(*s, *m);
	CHECK(floor > 0 && floor <= first);
	CHECK_INT(store_history_undo(*s, *m, floor - 1, false, &undo), -ERANGE);
	CHECK_INT(store_history_difference(*s, floor, &undo), -ENOENT);
	CHECK(undo.len == 0);
	roll_back(*s, *m, first, true);
	for (size_t i = 0; i <= STEPS; i++)
		free(text[i]);
}

/* Live fields stay unless they are asked for; each is kept once a generation. */
static void test_roll_back_live(struct store **s, struct model **m)
{
	edit(*s, *m, VERB_CREATE, "ltm node l address 10.4.0.1 ratio 2");
	uint64_t generation = model_generation(*m);
	for (int i = 3; i < 50; i++) {
		char text[64];
		snprintf(text, sizeof(text), "ltm node l ratio %d", i);
		edit(*s, *m, VERB_MODIFY, text);
	}
	edit(*s, *m, VERB_MODIFY, "ltm node l session user-disabled");
	edit(*s, *m, VERB_MODIFY, "ltm node l description changed");
	edit(*s, *m, VERB_MODIFY, "ltm node l ratio 50");
	reopen(s, m);
	roll_back(*s, *m, generation, false);
	const struct node *n = model_node(some(*m, KIND_NODE, "l"));
	CHECK_INT(n->live.ratio, 50);
	CHECK_INT(holds_bits(&n->live.holds), HOLD_SESSION);
	CHECK_STR(model_string(*m, n->conf.description), "");
	reopen(s, m);
	roll_back(*s, *m, generation, true);
	n = model_node(some(*m, KIND_NODE, "l"));
	CHECK_INT(n->live.ratio, 2);
	CHECK_INT(holds_bits(&n->live.holds), 0);
	CHECK_INT(model_generation(*m), generation + 2); /* no commit: no config field changed */
	roll_back(*s, *m, generation + 1, true);
	n = model_node(some(*m, KIND_NODE, "l"));
	CHECK_INT(n->live.ratio, 49);
	CHECK_STR(model_string(*m, n->conf.description), "changed");
}

/* What name resolution made is nobody's to take back. */
static void test_roll_back_passing(struct store **s, struct model **m)
{
	uint64_t generation = model_generation(*m);

	resolved(*s, *m, "_auto_10.7.8.1", "three");
	edit(*s, *m, VERB_CREATE, "ltm node n address 10.7.8.9");
	resolved(*s, *m, "_auto_10.7.8.2", "four");
	CHECK_INT(model_generation(*m), generation + 3);
	roll_back(*s, *m, generation, true);
	CHECK(model_find(*m, KIND_NODE, ID_NONE, "n") == NULL);
	some(*m, KIND_NODE, "_auto_10.7.8.1");
	some(*m, KIND_NODE, "_auto_10.7.8.2");
	reopen(s, m);
	roll_back(*s, *m, generation + 2, true);
	some(*m, KIND_NODE, "n");
}

/* Two files of bounded size, whatever comes. */
static void test_history_bounded(struct store **s, struct model **m)
{
	struct stat st;
	uint64_t before = model_generation(*m);
	enum { MOST = 25 };

	(*s)->undo.rows_max = MOST;
	CHECK(access(in_folder("history.old"), F_OK) != 0);
	for (unsigned i = 0; i < 2 * MOST + 10; i++) {
		char text[64];
		snprintf(text, sizeof(text), "ltm node l description d%u", i);
		edit(*s, *m, VERB_MODIFY, text);
	}
	CHECK(stat(in_folder("history.old"), &st) == 0 && st.st_size < 30000);
	uint64_t floor = store_history_floor(*s, *m);
	CHECK(floor >= before && model_generation(*m) - floor >= MOST);
	CHECK(model_generation(*m) - floor <= 2 * MOST);
	reopen(s, m);
	CHECK_INT(store_history_floor(*s, *m), floor);
	roll_back(*s, *m, floor, false);
}

/* Half a record at the end, or a file that is gone: the configuration does not care. */
static void test_history_damaged(struct store **s, struct model **m)
{
	char *data = NULL;
	size_t size;
	uint64_t generation = model_generation(*m);

	edit(*s, *m, VERB_MODIFY, "ltm node l description torn");
	CHECK_INT(file_read(in_folder("history"), &data, &size), 0);
	store_close(*s);
	CHECK_INT(file_replace(in_folder("history"), data, size - 9, 0600), 0);
	*s = open_store();
	struct model *again = load(*s);
	same(*m, again);
	model_free(*m);
	*m = again;
	CHECK_INT(store_history_floor(*s, *m), model_generation(*m));
	edit(*s, *m, VERB_MODIFY, "ltm node l description \"goes on\"");
	roll_back(*s, *m, generation + 1, false);
	free(data);
}

static void test_saved_difference(struct store **s, struct model **m)
{
	struct model_error err;
	struct text t = {0};

	unlink(conf);
	CHECK_INT(store_save(*s, *m, conf, false, NULL), 0);
	CHECK_INT(store_saved_difference(*s, *m, &t, &err), 0);
	CHECK_STR(t.data ? t.data : "", "");
	edit(*s, *m, VERB_MODIFY, "ltm node l description none ratio 9");
	edit(*s, *m, VERB_CREATE, "ltm node z address 10.4.0.2");
	CHECK_INT(store_saved_difference(*s, *m, &t, &err), 0);
	CHECK(strstr(t.data, "\n-    description torn\n-    ratio 49\n+    ratio 9\n"));
	CHECK(strstr(t.data, "+ltm node /Common/z {\n+    address 10.4.0.2\n+}\n"));
	text_fini(&t);
}

int main(void)
{
	log_init("store_test", LOG_LEVEL_ERROR);
	CHECK(mkdtemp(folder) != NULL);
	snprintf(conf, sizeof(conf), "%s/weir.conf", folder);
	struct store *s = open_store();
	struct model *m = model_new();

	CHECK(store_is_empty(s));
	begin(s, m);
	CHECK(!store_is_empty(s));
	CHECK_INT(store_unsaved(s), 0);
	test_comes_back(&s, &m);
	test_torn(&s, &m);
	test_damaged_within(&s, &m);
	test_reload(&s, &m);
	test_folded_twice(&s, &m);
	test_folded_beside(&s, &m);
	test_missing_part(&s, &m);
	test_save(&s, &m);
	test_pushes(&s, &m);
	test_passing(&s, &m);
	test_holds(&s, &m);
	test_roll_back(&s, &m);
	test_roll_back_live(&s, &m);
	test_roll_back_passing(&s, &m);
	test_history_bounded(&s, &m);
	test_history_damaged(&s, &m);
	test_saved_difference(&s, &m);
	test_locked_and_damaged(&s, &m);
	store_close(s);
	model_free(m);
	const char *files[] = {
		"running", "log", "startup", "lock", "weir.conf", "history", "history.old"};
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		unlink(in_folder(files[i]));
	CHECK_INT(rmdir(folder), 0);
	return 0;
}
