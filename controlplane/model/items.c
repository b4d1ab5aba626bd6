/* SPDX-License-Identifier: BSD-3-Clause */
/* Where objects live: slots by id, a table by kind, owner and path, one by key. */
#include "model/model_internal.h"

enum {
	FREE_SLOTS_KEPT = 1024
}; /* freed slots wait, so that a slot's generation does not soon wrap */

uint64_t hash_bytes(uint64_t seed, const void *bytes, size_t len)
{
	const uint8_t *p = bytes;
	uint64_t h = 0xcbf29ce484222325ull ^ seed;

	for (size_t i = 0; i < len; i++)
		h = (h ^ p[i]) * 0x100000001b3ull;
	return h ^ h >> 29;
}

static uint64_t path_hash(enum model_kind kind, uint32_t owner, const char *path)
{
	return hash_bytes((uint64_t)owner << 8 | kind, path, strlen(path));
}

struct item *item_of(const struct model *m, uint32_t id)
{
	uint32_t slot = id_slot(id);
	struct item *it = slot && slot < m->slots ? m->slot[slot] : NULL;

	return it && it->o.id == id ? it : NULL;
}

const struct item *item_root(const struct model *m, const struct item *it)
{
	const struct item *owner;

	while ((owner = item_of(m, it->o.owner)))
		it = owner;
	return it;
}

struct item *item_any(const struct model *m, enum model_kind kind, uint32_t owner, const char *path)
{
	uint64_t hash = path_hash(kind, owner, path);
	struct item *it = m->bucket[hash & (m->buckets - 1)];

	while (it && (it->hash != hash || it->o.kind != kind || it->o.owner != owner ||
			     strcmp(it->o.path, path)))
		it = it->next;
	return it;
}

struct item *item_find(
	const struct model *m, enum model_kind kind, uint32_t owner, const char *path)
{
	struct item *it = item_any(m, kind, owner, path);

	return it && !it->deleted ? it : NULL;
}

struct item *item_named(const struct model *m, const struct field *f, const char *path)
{
	struct item *it = NULL;

	for (unsigned i = 0; !it && i < f->ref_count; i++)
		it = item_find(m, f->refs[i], ID_NONE, path);
	return it;
}

static void table_put(struct item **bucket, uint32_t buckets, struct item *it)
{
	struct item **head = &bucket[it->hash & (buckets - 1)];

	it->next = *head;
	*head = it;
}

static void key_put(struct item **bucket, uint32_t buckets, struct item *it)
{
	struct item **head = &bucket[it->key_hash & (buckets - 1)];

	it->key_next = *head;
	*head = it;
}

/* Twice the buckets for both tables; keeps the old ones if there is no memory. */
static void tables_grow(struct model *m)
{
	uint32_t buckets = m->buckets * 2;
	struct item **path = calloc(buckets, sizeof(*path));
	struct item **key = calloc(buckets, sizeof(*key));

	if (!path || !key) {
		free(path);
		free(key);
		return;
	}
	for (uint32_t i = 1; i < m->slots; i++) {
		struct item *it = m->slot[i];
		if (it)
			table_put(path, buckets, it);
		if (it && it->key_hash)
			key_put(key, buckets, it);
	}
	free(m->bucket);
	free(m->key_bucket);
	m->bucket = path;
	m->key_bucket = key;
	m->buckets = buckets;
}

static void table_remove(struct model *m, struct item *it)
{
	struct item **link = &m->bucket[it->hash & (m->buckets - 1)];

	while (*link != it)
		link = &(*link)->next;
	*link = it->next;
}

/* ---- slots ---- */

static int slots_reserve(struct model *m, uint32_t slot)
{
	if (slot >= ID_SLOTS_MAX)
		return -E2BIG;
	if (slot < m->slots_cap)
		return 0;
	uint32_t cap = m->slots_cap ? m->slots_cap : 256;
	while (cap <= slot)
		cap *= 2;
	struct item **rows = realloc(m->slot, cap * sizeof(*rows));
	if (!rows)
		return -ENOMEM;
	m->slot = rows;
	uint16_t *generation = realloc(m->slot_generation, cap * sizeof(*generation));
	if (!generation)
		return -ENOMEM;
	m->slot_generation = generation;
	m->slots_cap = cap;
	return 0;
}

static void slots_extend(struct model *m, uint32_t slot)
{
	while (m->slots <= slot) {
		m->slot[m->slots] = NULL;
		m->slot_generation[m->slots++] = m->generation_floor;
	}
}

int slots_begin_at(struct model *m, uint32_t slot)
{
	int rc = slots_reserve(m, slot);

	if (!rc)
		slots_extend(m, slot - 1);
	return rc;
}

static void slot_free(struct model *m, uint32_t slot)
{
	m->slot[slot] = NULL;
	m->slot_generation[slot] = (m->slot_generation[slot] + 1) & (UINT32_MAX >> ID_SLOT_BITS);
	if (m->free_head + m->free_count >= m->free_cap) {
		if (m->free_head > m->free_cap / 2) {
			memmove(m->free_slot, m->free_slot + m->free_head,
				m->free_count * sizeof(*m->free_slot));
			m->free_head = 0;
		} else {
			uint32_t cap = m->free_cap ? m->free_cap * 2 : 256;
			uint32_t *rows = realloc(m->free_slot, cap * sizeof(*rows));
			if (!rows)
				return; /* the slot stays unused */
			m->free_slot = rows;
			m->free_cap = cap;
		}
	}
	m->free_slot[m->free_head + m->free_count++] = slot;
}

/* A new id, or ID_NONE. */
static uint32_t id_take(struct model *m)
{
	while (m->free_count > FREE_SLOTS_KEPT) {
		uint32_t slot = m->free_slot[m->free_head++];
		m->free_count--;
		if (!m->slot[slot]) /* the store may have claimed it */
			return id_make(slot, m->slot_generation[slot]);
	}
	uint32_t slot = m->slots ? m->slots : 1;
	if (slots_reserve(m, slot))
		return ID_NONE;
	slots_extend(m, slot);
	return id_make(slot, m->slot_generation[slot]);
}

/* A certain id, for objects of the store. */
static uint32_t id_claim(struct model *m, uint32_t id)
{
	uint32_t slot = id_slot(id);

	if (!slot || slots_reserve(m, slot))
		return ID_NONE;
	slots_extend(m, slot);
	if (m->slot[slot])
		return ID_NONE;
	m->slot_generation[slot] = (uint16_t)id_generation(id);
	return id;
}

/* ---- items ---- */

void item_users(struct model *m, uint32_t id, int by)
{
	struct item *it = item_of(m, id);

	if (!it)
		return;
	it->o.users += (uint32_t)by;
	if (it->o.kind != KIND_VIRTUAL_ADDRESS || it->o.users || it->deleted || m->ending)
		return;
	struct touch *t = item_touch(m, it);
	if (t)
		t->lost_user = true;
}

static bool order_add(struct order *o, struct item *it)
{
	if (o->count == o->cap) {
		unsigned cap = o->cap ? o->cap * 2 : 8;
		struct item **v = realloc(o->v, cap * sizeof(*v));
		if (!v)
			return false;
		o->v = v;
		o->cap = cap;
	}
	o->v[o->count++] = it;
	it->in_order = true;
	return true;
}

struct item *item_new(
	struct model *m, enum model_kind kind, struct item *owner, const char *path, uint32_t id)
{
	const struct kind *k = &model_kinds[kind];
	size_t data_size = (k->size + 7u) & ~7u, path_size = strlen(path) + 1;
	struct item *it = calloc(1, sizeof(*it) + data_size + path_size);

	if (!it)
		return NULL;
	id = id == ID_NONE ? id_take(m) : id_claim(m, id);
	it->data = it + 1;
	it->o = (struct object){.id = id,
		.owner = owner ? owner->o.id : ID_NONE,
		.kind = (uint8_t)kind,
		.data = it->data,
		.path = (char *)it->data + data_size};
	memcpy((char *)it->data + data_size, path, path_size);
	memcpy(it->data, k->defaults, k->size);
	it->hash = path_hash(kind, it->o.owner, path);
	struct order *order = owner ? &owner->children : &m->order[kind];
	if (id == ID_NONE || !order_add(order, it)) {
		free(it);
		return NULL;
	}
	if (++m->items > m->buckets)
		tables_grow(m);
	m->slot[id_slot(id)] = it;
	table_put(m->bucket, m->buckets, it);
	m->count[kind]++;
	return it;
}

struct order *order_of(const struct model *m, const struct item *it)
{
	struct item *owner = item_of(m, it->o.owner);

	return owner ? &owner->children : (struct order *)&m->order[it->o.kind];
}

void item_hide(struct model *m, struct item *it)
{
	it->deleted = true;
	m->count[it->o.kind]--;
	order_of(m, it)->dirty = true;
}

void item_show(struct model *m, struct item *it)
{
	it->deleted = false;
	m->count[it->o.kind]++;
	if (!it->in_order)
		order_add(order_of(m, it), it); /* it was there, so there is room */
}

static void key_remove(struct model *m, struct item *it)
{
	struct item **link = &m->key_bucket[it->key_hash & (m->buckets - 1)];

	if (!it->key_hash)
		return;
	while (*link != it)
		link = &(*link)->key_next;
	*link = it->key_next;
	it->key_hash = 0;
}

void item_free(struct model *m, struct item *it)
{
	if (!it->deleted)
		item_hide(m, it);
	struct item *owner = item_of(m, it->o.owner);
	if (it->in_order && (owner || !it->o.owner))
		order_fix(order_of(m, it));
	key_remove(m, it);
	table_remove(m, it);
	slot_free(m, id_slot(it->o.id));
	m->items--;
	free(it->children.v);
	free(it->base);
	free(it);
}

/* ---- keys ---- */

static uint64_t key_hash(enum model_kind kind, const void *key, size_t len)
{
	return hash_bytes(1000u + kind, key, len) | 1;
}

void item_rekey(struct model *m, struct item *it)
{
	uint8_t key[KEY_MAX];
	size_t len = it->deleted ? 0 : item_key(it, key);

	uint64_t hash = len ? key_hash(it->o.kind, key, len) : 0;

	if (hash == it->key_hash)
		return;
	key_remove(m, it);
	it->key_hash = hash;
	if (hash)
		key_put(m->key_bucket, m->buckets, it);
}

/* First item with the key in the chain from it on. */
static struct item *key_match(
	struct item *it, enum model_kind kind, uint64_t hash, const void *key, size_t len)
{
	uint8_t other[KEY_MAX];

	while (it && !(it->key_hash == hash && it->o.kind == kind && item_key(it, other) == len &&
			     !memcmp(other, key, len)))
		it = it->key_next;
	return it;
}

struct item *item_same_key(const struct model *m, const struct item *it, const struct item *prev)
{
	uint8_t key[KEY_MAX];
	size_t len = item_key(it, key);
	struct item *other = prev ? prev->key_next : m->key_bucket[it->key_hash & (m->buckets - 1)];

	if (!len || !it->key_hash)
		return NULL;
	other = key_match(other, it->o.kind, it->key_hash, key, len);
	return other == it ? key_match(it->key_next, it->o.kind, it->key_hash, key, len) : other;
}

struct item *key_find(const struct model *m, enum model_kind kind, const void *key, size_t len)
{
	uint64_t hash = key_hash(kind, key, len);

	return key_match(m->key_bucket[hash & (m->buckets - 1)], kind, hash, key, len);
}

/* ---- order ---- */

static int item_compare(const void *a, const void *b)
{
	const struct item *x = *(struct item *const *)a, *y = *(struct item *const *)b;

	return x->o.kind != y->o.kind ? x->o.kind - y->o.kind : strcmp(x->o.path, y->o.path);
}

static void order_drop_deleted(struct order *o)
{
	unsigned kept = 0, sorted = 0;

	for (unsigned i = 0; i < o->count; i++) {
		struct item *it = o->v[i];
		if (it->deleted) {
			it->in_order = false;
			continue;
		}
		sorted += i < o->sorted;
		o->v[kept++] = it;
	}
	o->count = kept;
	o->sorted = sorted;
	o->dirty = false;
}

/* Puts one item in its place among those before it. */
static void order_insert(struct order *o, unsigned at)
{
	struct item *it = o->v[at];
	unsigned low = 0, high = at;

	while (low < high) {
		unsigned mid = (low + high) / 2;
		if (item_compare(&o->v[mid], &it) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	memmove(&o->v[low + 1], &o->v[low], (at - low) * sizeof(*o->v));
	o->v[low] = it;
}

void order_fix(struct order *o)
{
	if (o->dirty)
		order_drop_deleted(o);
	if (o->count - o->sorted > 16)
		qsort(o->v, o->count, sizeof(*o->v), item_compare);
	else
		for (unsigned i = o->sorted; i < o->count; i++)
			order_insert(o, i);
	o->sorted = o->count;
}
