/* Threadprivate variables without the help of the linker: each thread has a copy in the heap, found
 * by the variable's address and the thread's number. Clang's calls, decoded.
 *
 * The first thread's copy is the variable itself. A copy is made at a thread's first use, from the
 * variable as it was when it was first heard of. It ends when another thread has got the number of
 * its own, and asks. */
#include "abi/kmp/facts.h"
#include "abi/whole.h"
#include "core/front.h"

#include <stdlib.h>
#include <string.h>

CST_WHOLE(kmp_threadprivate);

typedef void *construct_vector(void *objects, size_t length);
typedef void destroy_vector(void *objects, size_t length);
typedef void *copy_vector(void *objects, void *from, size_t length);

struct variable {
    struct variable *next;
    void *data;
    void *image; /* of a variable without functions: what copies begin with; NULL: not yet known */
    void *construct, *copy, *destroy;
    size_t length; /* of an array of objects; 0: one object */
};

/* The copies of one variable by the threads' numbers. An older table is kept when a larger one
 * takes its place, as others may be looking into it. */
struct table {
    size_t length;
    _Atomic(void *) copies[];
};

enum { BUCKETS = 256, FIRST_LENGTH = 64 };

static struct {
    cst_lock lock;
    struct variable *bucket[BUCKETS];
} variables;

/* Under the lock. */
static struct variable *find(void *data) {
    struct variable **link = &variables.bucket[((uintptr_t)data >> 3) % BUCKETS];
    for (; *link; link = &(*link)->next)
        if ((*link)->data == data) return *link;
    struct variable *variable = cst_memory_get("a threadprivate variable", sizeof *variable);
    *variable = (struct variable){.data = data};
    return *link = variable;
}

void __kmpc_threadprivate_register(kmp_loc *loc, void *data, kmp_construct *construct,
                                   kmp_construct_copy *copy, kmp_destroy *destroy) {
    __kmpc_threadprivate_register_vec(loc, data, (void *)construct, (void *)copy, (void *)destroy,
                                      0);
}

void __kmpc_threadprivate_register_vec(kmp_loc *loc, void *data, void *construct, void *copy,
                                       void *destroy, size_t length) {
    (void)loc;
    cst_lock_acquire(&variables.lock);
    struct variable *variable = find(data);
    variable->construct = construct;
    variable->copy = copy;
    variable->destroy = destroy;
    variable->length = length;
    cst_lock_release(&variables.lock);
}

static void construct(const struct variable *variable, void *copy) {
    if (variable->construct && variable->length)
        ((construct_vector *)variable->construct)(copy, variable->length);
    else if (variable->construct)
        ((kmp_construct *)variable->construct)(copy);
    else if (variable->copy && variable->length)
        ((copy_vector *)variable->copy)(copy, variable->data, variable->length);
    else if (variable->copy)
        ((kmp_construct_copy *)variable->copy)(copy, variable->data);
}

/* Under the lock: the variable, which from now on is remembered as it is. */
static struct variable *keep_image(void *data, size_t size) {
    struct variable *variable = find(data);
    if (variable->image) return variable;
    variable->image = cst_memory_get("a threadprivate variable", size);
    memcpy(variable->image, data, size);
    return variable;
}

/* The first thread's. */
static void *use_itself(void *data, size_t size) {
    cst_lock_acquire(&variables.lock);
    keep_image(data, size);
    cst_lock_release(&variables.lock);
    return data;
}

/* In front of each copy. */
struct head {
    _Alignas(16) uint64_t owner;
};

static struct head *head_of(void *copy) {
    return (struct head *)copy - 1;
}

/* Whose thread has ended. */
static void destroy_copy(void *data, void *copy) {
    cst_lock_acquire(&variables.lock);
    const struct variable *variable = find(data);
    cst_lock_release(&variables.lock);
    if (variable->destroy && variable->length)
        ((destroy_vector *)variable->destroy)(copy, variable->length);
    else if (variable->destroy)
        ((kmp_destroy *)variable->destroy)(copy);
    free(head_of(copy));
}

/* The variable's own functions run without the lock, as they may use others like it. */
static void *make_copy(void *data, size_t size) {
    struct head *head = calloc(1, sizeof *head + size);
    if (!head) cst_memory_exhausted("a threadprivate variable", size);
    head->owner = cst_own_identity(cst_self());
    void *copy = head + 1;
    cst_lock_acquire(&variables.lock);
    struct variable *variable = keep_image(data, size);
    bool has_functions = variable->construct || variable->copy;
    if (!has_functions) memcpy(copy, variable->image, size);
    cst_lock_release(&variables.lock);
    if (has_functions) construct(variable, copy);
    return copy;
}

/* --- tables -------------------------------------------------------------------------------- */

/* The compiler's cache holds the address of the table's copies; its length is in front of them. */
static struct table *table_of(void **cache) {
    return (struct table *)(void *)((char *)cache - offsetof(struct table, copies));
}

static struct table *grow(struct table *old, size_t number) {
    size_t length = old ? 2 * old->length : FIRST_LENGTH;
    while (length <= number) length *= 2;
    struct table *table = calloc(1, sizeof *table + length * sizeof table->copies[0]);
    if (!table) cst_memory_exhausted("the threads' copies of a variable", length);
    table->length = length;
    for (size_t i = 0; old && i < old->length; i++)
        cst_store_relaxed(&table->copies[i], cst_load_relaxed(&old->copies[i]));
    return table;
}

static _Atomic(void **) *shared(void ***cache) {
    return (_Atomic(void **) *)(void *)cache;
}

/* The table that has room for that number. */
static struct table *table_for(void ***cache, size_t number) {
    void **copies = cst_load_acquire(shared(cache)); /* pairs with the release below */
    if (cst_likely(copies != NULL) && number < table_of(copies)->length) return table_of(copies);
    cst_lock_acquire(&variables.lock);
    copies = cst_load_relaxed(shared(cache));
    struct table *table = copies ? table_of(copies) : NULL;
    if (!table || number >= table->length) {
        table = grow(table, number);
        cst_store_release(shared(cache), (void **)(void *)table->copies);
    }
    cst_lock_release(&variables.lock);
    return table;
}

/* Only the thread itself writes its entry; but one that grows the table copies it, so this is done
 * under the lock, in the newest table. */
static void note(void ***cache, size_t number, void *copy) {
    table_for(cache, number);
    cst_lock_acquire(&variables.lock);
    struct table *table = table_of(cst_load_relaxed(shared(cache)));
    cst_store_relaxed(&table->copies[number], copy);
    cst_lock_release(&variables.lock);
}

void *__kmpc_threadprivate_cached(kmp_loc *loc, int32_t thread, void *data, size_t size,
                                  void ***cache) {
    (void)loc, (void)thread;
    struct cst_thread *self = cst_self();
    size_t number = cst_own_record(self);
    struct table *table = table_for(cache, number);
    void *copy = cst_load_relaxed(&table->copies[number]);
    if (cst_likely(copy != NULL)) {
        if (copy == data || head_of(copy)->owner == cst_own_identity(self)) return copy;
        destroy_copy(data, copy);
    }
    copy = number == 0 ? use_itself(data, size) : make_copy(data, size);
    note(cache, number, copy);
    return copy;
}

/* --- the older call, which brings no cache ------------------------------------------------- */

struct cache {
    struct cache *next;
    void *data;
    void **copies;
};

static struct cache *caches;

void *__kmpc_threadprivate(kmp_loc *loc, int32_t thread, void *data, size_t size) {
    cst_lock_acquire(&variables.lock);
    struct cache *cache = caches;
    while (cache && cache->data != data) cache = cache->next;
    if (!cache) {
        cache = cst_memory_get("a threadprivate variable", sizeof *cache);
        *cache = (struct cache){.next = caches, .data = data};
        caches = cache;
    }
    cst_lock_release(&variables.lock);
    return __kmpc_threadprivate_cached(loc, thread, data, size, &cache->copies);
}
