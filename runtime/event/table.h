/* Objects with identifiers of a number and a generation, so that the table detects stale
 * identifiers.
 *
 * An identifier is generation << 32 | index. Freeing an object changes its generation. Objects lie
 * in buckets that double in size and never move, so a reader with an identifier may find its object
 * without a lock; all else needs the owner's lock. The table reuses freed objects, the latest
 * first, and frees its memory when it is destroyed. */
#ifndef CST_EVENT_TABLE_H
#define CST_EVENT_TABLE_H

#include "platform/atomic.h"

#include <stddef.h>
#include <stdint.h>

enum {
    CST_TABLE_FIRST_BITS = 8,
    CST_TABLE_BUCKETS = 32 - CST_TABLE_FIRST_BITS,
    CST_TABLE_OBJECT = 64, /* bytes, so that no two objects share a cache line */
};

#define CST_TABLE_NONE UINT32_MAX

/* The first field of every object of a table. */
struct cst_entry {
    _Atomic uint32_t generation; /* odd while the object is in use */
    uint32_t next;               /* free list; free for the owner's use otherwise */
};

struct cst_table {
    _Atomic(char *) bucket[CST_TABLE_BUCKETS]; /* aligned to a cache line, inside memory[] */
    void *memory[CST_TABLE_BUCKETS];
    uint32_t used; /* objects that were ever in use */
    uint32_t free; /* list of freed objects */
    uint32_t live;
};

void cst_table_init(struct cst_table *table);
void cst_table_destroy(struct cst_table *table);

/* A free object, with an odd generation. Its other fields are unchanged since it was freed, and
 * zero at first. NULL: no memory. */
struct cst_entry *cst_table_allocate(struct cst_table *table, uint32_t *index);

/* Makes the identifier stale before anything else in the object changes. The object stays
 * reserved until cst_table_free. */
void cst_table_retire(struct cst_table *table, struct cst_entry *entry);

/* Frees an object whose identifier is stale. */
void cst_table_free(struct cst_table *table, struct cst_entry *entry, uint32_t index);

/* The index must have been in use once. */
static inline struct cst_entry *cst_table_at(const struct cst_table *table, uint32_t index) {
    uint32_t place = index + (1u << CST_TABLE_FIRST_BITS);
    unsigned bit = 31u - (unsigned)__builtin_clz(place);
    /* Acquire: pairs with the release in cst_table_allocate that published the bucket. */
    char *bucket = cst_load_acquire(&table->bucket[bit - CST_TABLE_FIRST_BITS]);
    return (struct cst_entry *)(bucket + (size_t)(place - (1u << bit)) * CST_TABLE_OBJECT);
}

static inline uint64_t cst_table_id(struct cst_entry *entry, uint32_t index) {
    /* Relaxed: the caller owns the object, or checks the identifier again later. */
    return (uint64_t)cst_load_relaxed(&entry->generation) << 32 | index;
}

/* The object of the identifier. NULL: the identifier is stale, or never was in use. */
struct cst_entry *cst_table_find(const struct cst_table *table, uint64_t id);

#endif
