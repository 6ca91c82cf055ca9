/* Threadprivate variables without the help of the linker: each thread has a copy in the heap, found
 * by the variable's address and the thread's number. Clang's calls, decoded.
 *
 * The first thread's copy is the variable itself. A thread makes its copy at its first use, from
 * the variable's value at the first use by any thread. The copy is destroyed when its thread
 * ends. */
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
    struct cache *caches; /* the compiler's, one for each library that uses the variable */
    void *image; /* first value of copies, if the variable has no functions; NULL: not yet known */
    void *construct, *copy, *destroy;
    size_t length; /* of an array of objects; 0: one object */
};

/* The copies of one variable by the threads' numbers. When a larger table replaces it, the older
 * one is kept, as other threads may be reading it. */
struct table {
    size_t length;
    _Atomic(void *) copies[];
};

/* The compiler's cache holds the address of a table's copies; its length is in front of them. */
struct cache {
    struct cache *next;
    void ***cache;
    void **own; /* for calls without a cache */
};

/* Stands in front of each copy. */
struct head {
    _Alignas(16) const struct variable *variable;
    struct head *next; /* in the list of an ending thread's copies */
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

/* Under the lock: finds the variable, and keeps its value if no thread has used it before. */
static struct variable *keep_image(void *data, size_t size) {
    struct variable *variable = find(data);
    if (variable->image) return variable;
    variable->image = cst_memory_get("a threadprivate variable", size);
    memcpy(variable->image, data, size);
    return variable;
}

/* The first thread's copy is the variable itself. */
static void *use_itself(void *data, size_t size) {
    cst_lock_acquire(&variables.lock);
    keep_image(data, size);
    cst_lock_release(&variables.lock);
    return data;
}

/* The variable's own functions run without the lock, as they may use other threadprivate
 * variables. */
static void *make_copy(void *data, size_t size) {
    struct head *head = calloc(1, sizeof *head + size);
    if (!head) cst_memory_exhausted("a threadprivate variable", size);
    void *copy = head + 1;
    cst_lock_acquire(&variables.lock);
    struct variable *variable = keep_image(data, size);
    head->variable = variable;
    bool has_functions = variable->construct || variable->copy;
    if (!has_functions) memcpy(copy, variable->image, size);
    cst_lock_release(&variables.lock);
    if (has_functions) construct(variable, copy);
    return copy;
}

/* --- tables -------------------------------------------------------------------------------- */

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

/* The table that has room for the thread's number. */
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

/* Stores the thread's copy. Only the thread itself writes its entry, but a thread that enlarges the
 * table copies the entry. So the store happens under the lock, in the newest table. */
static void note(void ***cache, size_t number, void *copy) {
    table_for(cache, number);
    cst_lock_acquire(&variables.lock);
    struct table *table = table_of(cst_load_relaxed(shared(cache)));
    cst_store_relaxed(&table->copies[number], copy);
    cst_lock_release(&variables.lock);
}

/* --- the end of a thread ------------------------------------------------------------------- */

/* Under the lock: takes the thread's copy out of all caches. NULL: it has none. */
static void *take_out(const struct variable *variable, size_t number) {
    void *copy = NULL;
    for (const struct cache *each = variable->caches; each; each = each->next) {
        void **copies = cst_load_relaxed(shared(each->cache));
        if (!copies || number >= table_of(copies)->length) continue;
        _Atomic(void *) *entry = &table_of(copies)->copies[number];
        if (cst_load_relaxed(entry)) copy = cst_load_relaxed(entry);
        cst_store_relaxed(entry, NULL);
    }
    return copy;
}

/* Takes all copies of the thread, linked. */
static struct head *take_all(size_t number) {
    struct head *list = NULL;
    cst_lock_acquire(&variables.lock);
    for (size_t i = 0; i < BUCKETS; i++)
        for (struct variable *each = variables.bucket[i]; each; each = each->next) {
            void *copy = take_out(each, number);
            if (!copy || copy == each->data) continue;
            struct head *head = (struct head *)copy - 1;
            head->next = list;
            list = head;
        }
    cst_lock_release(&variables.lock);
    return list;
}

static void destroy(struct head *head) {
    const struct variable *variable = head->variable;
    if (variable->destroy && variable->length)
        ((destroy_vector *)variable->destroy)(head + 1, variable->length);
    else if (variable->destroy)
        ((kmp_destroy *)variable->destroy)(head + 1);
    free(head);
}

/* A destructor may use other variables, of which the thread then has copies again. There are four
 * rounds, as many as the system makes for thread-specific data. */
static void thread_ends(const struct cst_thread *thread) {
    enum { ROUNDS = 4 };
    for (int round = 0; round < ROUNDS; round++) {
        struct head *list = take_all(cst_own_record(thread)), *next;
        if (!list) return;
        for (; list; list = next) {
            next = list->next;
            destroy(list);
        }
    }
}

/* --- the calls ----------------------------------------------------------------------------- */

/* Under the lock: returns the record of this cache, which it adds to the variable's if need be. A
 * call without a cache gets the first. */
static struct cache *cache_of(struct variable *variable, void ***cache) {
    struct cache *each = variable->caches;
    while (each && cache && each->cache != cache) each = each->next;
    if (each) return each;
    each = cst_memory_get("a threadprivate variable", sizeof *each);
    *each = (struct cache){.next = variable->caches};
    each->cache = cache ? cache : &each->own;
    variable->caches = each;
    cst_thread_when_it_ends(thread_ends);
    return each;
}

/* The thread's copy in another library's cache; NULL: there is none. */
static void *copy_elsewhere(void *data, void ***cache, size_t number) {
    void *copy = NULL;
    cst_lock_acquire(&variables.lock);
    struct variable *variable = find(data);
    cache_of(variable, cache);
    for (const struct cache *each = variable->caches; each && !copy; each = each->next) {
        void **copies = cst_load_relaxed(shared(each->cache));
        if (copies && number < table_of(copies)->length)
            copy = cst_load_relaxed(&table_of(copies)->copies[number]);
    }
    cst_lock_release(&variables.lock);
    return copy;
}

static bool is_first(const struct cst_thread *thread) {
    return cst_own_identity(thread) == 1;
}

void *__kmpc_threadprivate_cached(kmp_loc *loc, int32_t thread, void *data, size_t size,
                                  void ***cache) {
    (void)loc, (void)thread;
    struct cst_thread *self = cst_self();
    size_t number = cst_own_record(self);
    void *copy = cst_load_relaxed(&table_for(cache, number)->copies[number]);
    if (cst_likely(copy != NULL)) return copy;
    copy = copy_elsewhere(data, cache, number);
    if (!copy) copy = is_first(self) ? use_itself(data, size) : make_copy(data, size);
    note(cache, number, copy);
    return copy;
}

/* The older call, without a cache. */
void *__kmpc_threadprivate(kmp_loc *loc, int32_t thread, void *data, size_t size) {
    cst_lock_acquire(&variables.lock);
    struct cache *cache = cache_of(find(data), NULL);
    cst_lock_release(&variables.lock);
    return __kmpc_threadprivate_cached(loc, thread, data, size, cache->cache);
}
