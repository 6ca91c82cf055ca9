/* Objects named by number and generation; see table.h. */
#include "event/table.h"

#include "platform/platform.h"

#include <stdlib.h>
#include <string.h>

enum { LARGE = 4 << 20 };

void cst_table_init(struct cst_table *table) {
    memset(table, 0, sizeof *table);
    table->free = CST_TABLE_NONE;
}

void cst_table_destroy(struct cst_table *table) {
    for (size_t i = 0; i < CST_TABLE_BUCKETS; i++) free(table->memory[i]);
    cst_table_init(table);
}

/* Makes sure that the bucket of an index that was never handed out exists. */
static bool have_bucket(struct cst_table *table, uint32_t index) {
    uint32_t place = index + (1u << CST_TABLE_FIRST_BITS);
    unsigned bit = 31u - (unsigned)__builtin_clz(place);
    _Atomic(char *) *bucket = &table->bucket[bit - CST_TABLE_FIRST_BITS];
    if (cst_load_relaxed(bucket) != NULL) return true; /* written under the caller's lock */
    /* calloc leaves the pages of a large bucket untouched, so growth causes no long pause. */
    size_t bytes = ((size_t)CST_TABLE_OBJECT << bit) + CST_CACHE_LINE;
    char *memory = calloc(1, bytes);
    if (memory == NULL) return false;
    /* A million timers in small pages miss the address cache on every random access. */
    if (bytes >= LARGE) cst_pages_prefer_large(memory, bytes);
    table->memory[bit - CST_TABLE_FIRST_BITS] = memory;
    memory += CST_CACHE_LINE - (uintptr_t)memory % CST_CACHE_LINE;
    /* Release: a reader without the lock sees zeroed objects; pairs with cst_table_at. */
    cst_store_release(bucket, memory);
    return true;
}

struct cst_entry *cst_table_allocate(struct cst_table *table, uint32_t *index) {
    struct cst_entry *entry;
    if (table->free != CST_TABLE_NONE) {
        *index = table->free;
        entry = cst_table_at(table, *index);
        table->free = entry->next;
    } else {
        if (table->used >= UINT32_MAX - (1u << CST_TABLE_FIRST_BITS)) return NULL;
        if (!have_bucket(table, table->used)) return NULL;
        *index = table->used++;
        entry = cst_table_at(table, *index);
    }
    table->live++;
    /* Relaxed: a reader without the lock got the identifier through the kernel or from the caller,
     * after the lock was released. */
    cst_store_relaxed(&entry->generation, cst_load_relaxed(&entry->generation) + 1);
    return entry;
}

void cst_table_retire(struct cst_table *table, struct cst_entry *entry) {
    table->live--;
    /* Relaxed: later writes to the object are release, which orders them after this one
     * (deliver.h). */
    cst_store_relaxed(&entry->generation, cst_load_relaxed(&entry->generation) + 1);
}

void cst_table_free(struct cst_table *table, struct cst_entry *entry, uint32_t index) {
    entry->next = table->free;
    table->free = index;
}

struct cst_entry *cst_table_find(const struct cst_table *table, uint64_t id) {
    uint32_t index = (uint32_t)id, generation = (uint32_t)(id >> 32);
    if (index >= table->used || !(generation & 1)) return NULL;
    struct cst_entry *entry = cst_table_at(table, index);
    return cst_load_relaxed(&entry->generation) == generation ? entry : NULL;
}
