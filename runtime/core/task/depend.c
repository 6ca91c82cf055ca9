/* Dependences between sibling tasks; see depend.h. */
#include "core/task/depend.h"

#include "core/task/defer.h"
#include "core/base/memory.h"
#include "core/task/task.h"
#include "core/state/thread.h"
#include "core/wait/wait.h"
#include "platform/happens.h"

#include <stdlib.h>
#include <string.h>

/* An entry in a predecessor's list of successors. Its memory belongs to `to`, which cannot
 * complete, and so is not freed, while the entry is in the list. */
struct edge {
    struct cst_depend_node *to;
    struct edge *next;
};

enum {
    OWN_EDGES = 8,      /* a node then fills the smallest block of a slab */
    ENTERING = 1 << 30, /* above any number of predecessors */
};

struct edge_block {
    struct edge_block *next;
    uint32_t used;
    struct edge edge[16];
};

struct cst_depend_node {
    struct cst_task *task;   /* NULL: only awaited */
    struct cst_seat *waiter; /* woken when no predecessor is left; NULL: `task` is made ready */
    /* One of the task, and one for each place in the table. Only the node's maker counts until the
     * node has been entered. */
    _Atomic uint32_t references;
    /* Predecessors that are not complete. While edges are being added: ENTERING, minus the
     * predecessors that have completed since. */
    _Atomic uint32_t predecessors;
    _Atomic(struct edge *) successors; /* CLOSED once complete */
    struct edge_block *more;
    uint32_t own_used;
    uint32_t added; /* edges added to predecessors' lists; the maker's count */
    struct edge own[OWN_EDGES];
};

static struct edge closed;
#define CLOSED (&closed)

/* --- nodes ------------------------------------------------------------------------------ */

static struct cst_depend_node *make_node(struct cst_thread *thread, struct cst_task *task) {
    struct cst_depend_node *node = cst_slab_allocate(&thread->nodes, sizeof *node);
    if (!node) cst_memory_exhausted("dependences of tasks", sizeof *node);
    node->task = task;
    node->waiter = NULL;
    cst_store_relaxed(&node->references, 1);
    cst_store_relaxed(&node->predecessors, ENTERING);
    cst_store_relaxed(&node->successors, NULL);
    node->more = NULL;
    node->own_used = node->added = 0; /* edges are written when they come into use */
    return node;
}

/* Counts a place in the table for a node that is being entered. No other thread gives a reference
 * back before the entering has ended. */
static inline void count_place(struct cst_depend_node *node) {
    cst_store_relaxed(&node->references, cst_load_relaxed(&node->references) + 1);
}

/* Releases a node that has blocks of edges. */
static __attribute__((noinline)) void release_large(struct cst_thread *thread,
                                                    struct cst_depend_node *node) {
    cst_happens_before(&node->references);
    if (cst_sub_acq_rel(&node->references, 1) != 1) return;
    cst_happens_after(&node->references);
    while (node->more) {
        struct edge_block *block = node->more;
        node->more = block->next;
        free(block);
    }
    cst_slab_free(&thread->nodes, node);
}

static inline void release_node(struct cst_thread *thread, struct cst_depend_node *node) {
    if (cst_unlikely(node->more != NULL))
        release_large(thread, node);
    else if (cst_sub_acq_rel(&node->references, 1) == 1)
        cst_slab_free(&thread->nodes, node);
}

static inline bool is_complete(struct cst_depend_node *node) {
    if (cst_load_acquire(&node->successors) != CLOSED) return false;
    cst_happens_after(node);
    return true;
}

static struct edge *more_edge(struct cst_depend_node *node) {
    if (!node->more || node->more->used == 16) {
        struct edge_block *block = malloc(sizeof *block);
        if (!block) cst_memory_exhausted("dependences of tasks", sizeof *block);
        block->next = node->more;
        block->used = 0;
        node->more = block;
    }
    return &node->more->edge[node->more->used++];
}

/* Adds an edge from `from`, which was not complete at the last look. */
static __attribute__((noinline)) void link_nodes(struct cst_depend_node *from,
                                                 struct cst_depend_node *to) {
    struct edge *edge =
        cst_likely(to->own_used < OWN_EDGES) ? &to->own[to->own_used++] : more_edge(to);
    edge->to = to;
    struct edge *head = cst_load_acquire(&from->successors);
    do {
        if (head == CLOSED) {
            cst_happens_after(from);
            return;
        }
        edge->next = head;
    } while (!cst_cas_release_found(&from->successors, &head,
                                    edge)); /* pairs with complete's exchange */
    to->added++;
}

/* Ends the entering, once all edges are there. True: no predecessor is left. Without edges no other
 * thread knows the node. */
static inline bool end_entering(struct cst_depend_node *node) {
    uint32_t added = node->added;
    cst_happens_before(node); /* orders this after predecessors found complete */
    if (added == 0) return true;
    /* Acquire: the writes of predecessors that have completed since. Release: the task, for the
     * predecessor that completes last. */
    return cst_add_acq_rel(&node->predecessors, (int)(added - ENTERING)) == ENTERING - added;
}

static inline void add_edge(struct cst_depend_node *from, struct cst_depend_node *to) {
    if (from != to && !is_complete(from)) link_nodes(from, to);
}

void cst_depend_complete(struct cst_thread *thread, struct cst_depend_node *node) {
    struct edge *edge = cst_exchange_acq_rel(&node->successors, CLOSED);
    while (edge) {
        struct edge *next = edge->next; /* the edge may be freed with its owner */
        struct cst_depend_node *to = edge->to;
        struct cst_seat *waiter = to->waiter;
        cst_happens_before(to);
        if (cst_add_seq_cst(&to->predecessors, -1) == 1) {
            if (waiter)
                cst_wake(waiter);
            else
                cst_task_ready(thread, to->task);
        }
        edge = next;
    }
    release_node(thread, node);
}

/* --- the table -------------------------------------------------------------------------- */

/* A set of nodes. Most sets have one node, and no array. */
struct node_set {
    union {
        struct cst_depend_node **node; /* if capacity > 0: an array of that length */
        struct cst_depend_node *only;  /* if capacity is 0 */
    };
    uint32_t count, capacity;
};

/* The tasks that named an address: the newest ones, all of one kind, and the tasks before them. */
struct entry {
    void *address;
    enum cst_depend_kind kind; /* of `current` */
    struct node_set current, before;
};

struct cst_depend_table {
    uint32_t count, capacity; /* capacity: a power of two */
    struct entry *entry;
    struct cst_depend_node *all_memory; /* last task that depends on all memory */
};

enum {
    FIRST_CAPACITY = 16, /* of the table */
    MANY = 512,          /* a table with fewer entries is not swept */
    FIRST_NODES = 4,     /* in the array of a set */
    LONG_SET = 64        /* an array of this length is not kept for reuse */
};

/* --- sets ------------------------------------------------------------------------------- */

static struct cst_depend_node **nodes_of(struct node_set *set) {
    return set->capacity > 0 ? set->node : &set->only;
}

static void free_array(struct node_set *set) {
    /* The analyzer takes the entry that `erase` has moved here for the one whose array was freed.
     * NOLINTNEXTLINE(clang-analyzer-unix.Malloc) */
    if (set->capacity > 0) free(set->node);
    *set = (struct node_set){0};
}

static void drop_set(struct cst_thread *thread, struct node_set *set) {
    struct cst_depend_node **node = nodes_of(set);
    for (uint32_t i = 0; i < set->count; i++) release_node(thread, node[i]);
    set->count = 0;
    if (cst_likely(set->capacity < LONG_SET)) return;
    free(set->node);
    *set = (struct node_set){0};
}

/* Removes the nodes that are complete, so that a set of readers does not grow for ever. */
static void compact(struct cst_thread *thread, struct node_set *set) {
    struct cst_depend_node **node = nodes_of(set);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < set->count; i++) {
        if (is_complete(node[i]))
            release_node(thread, node[i]);
        else
            node[kept++] = node[i];
    }
    set->count = kept;
}

/* Makes room in a full set: as many places again as it has nodes that are not complete. So as many
 * additions pay for a look at all its nodes. */
static __attribute__((noinline)) void enlarge_set(struct cst_thread *thread, struct node_set *set) {
    uint32_t capacity = FIRST_NODES;
    compact(thread, set);
    if (set->capacity == 0 && set->count == 0) return;
    while (capacity < 2 * set->count) capacity *= 2;
    if (capacity <= set->capacity && capacity > set->capacity / 4) return;
    struct cst_depend_node **other =
        realloc(set->capacity > 0 ? set->node : NULL, capacity * sizeof *other);
    if (!other) cst_memory_exhausted("dependences of tasks", capacity * sizeof *other);
    if (set->capacity == 0) other[0] = set->only;
    set->node = other;
    set->capacity = capacity;
}

static void add_to_set(struct cst_thread *thread, struct node_set *set,
                       struct cst_depend_node *node) {
    if (set->count == (set->capacity > 0 ? set->capacity : 1)) enlarge_set(thread, set);
    count_place(node);
    nodes_of(set)[set->count++] = node;
}

/* --- addresses -------------------------------------------------------------------------- */

static uint32_t hash(const void *address, uint32_t capacity) {
    return (uint32_t)((uintptr_t)address * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (capacity - 1);
}

static struct entry *probe(struct cst_depend_table *table, void *address) {
    uint32_t i = hash(address, table->capacity);
    for (;; i = (i + 1) & (table->capacity - 1)) {
        struct entry *entry = &table->entry[i];
        if (entry->address == address || !entry->address) return entry;
    }
}

/* The capacity for `count` entries and as many again, in a table that is at most half full. */
static uint32_t capacity_for(uint32_t count) {
    uint32_t capacity = FIRST_CAPACITY;
    while (capacity / 4 < count) capacity *= 2;
    return capacity;
}

static void resize(struct cst_depend_table *table, uint32_t capacity) {
    struct cst_depend_table old = *table;
    table->capacity = capacity;
    table->entry = calloc(capacity, sizeof *table->entry);
    if (!table->entry)
        cst_memory_exhausted("dependences of tasks", capacity * sizeof *table->entry);
    for (uint32_t i = 0; i < old.capacity; i++)
        if (old.entry[i].address) *probe(table, old.entry[i].address) = old.entry[i];
    free(old.entry);
}

/* --- entries that nothing can depend on any more ------------------------------------------ */

/* Takes out the newest nodes while they are complete. True: none is left. */
static bool is_over(struct cst_thread *thread, struct node_set *set) {
    for (; set->count > 0; set->count--) {
        struct cst_depend_node *newest = nodes_of(set)[set->count - 1];
        if (!is_complete(newest)) return false;
        release_node(thread, newest);
    }
    return true;
}

/* Closes the gap. Entries that the removed entry had displaced move back, so that no search ends
 * too early (Knuth, volume 3, section 6.4, algorithm R). */
static void erase(struct cst_depend_table *table, uint32_t gap) {
    uint32_t mask = table->capacity - 1;
    for (uint32_t i = (gap + 1) & mask; table->entry[i].address; i = (i + 1) & mask) {
        uint32_t from_home = (i - hash(table->entry[i].address, table->capacity)) & mask;
        if (from_home < ((i - gap) & mask)) continue; /* its home is behind the gap */
        table->entry[gap] = table->entry[i];
        gap = i;
    }
    table->entry[gap] = (struct entry){0};
    table->count--;
}

/* Removes the addresses whose tasks are all complete. It acquires the writes of these tasks on
 * behalf of tasks that would have depended on them. The search of an address ends at the first task
 * that is not complete, and removes the complete tasks before it for good. */
static void sweep(struct cst_thread *thread, struct cst_depend_table *table) {
    for (uint32_t i = 0; i < table->capacity;) {
        struct entry *entry = &table->entry[i];
        if (!entry->address || !is_over(thread, &entry->current) ||
            !is_over(thread, &entry->before)) {
            i++;
            continue;
        }
        free_array(&entry->current);
        free_array(&entry->before);
        erase(table, i); /* another entry may have moved here */
    }
}

/* Makes room in a table that is half full. A small table just grows: a program that uses the same
 * addresses repeatedly finds their entries and memory again. A large table is swept, and grows only
 * if more than half of its entries are alive. Otherwise a quarter of the table is free again, so as
 * many additions pay for the sweep. */
static __attribute__((cold, noinline)) void make_room(struct cst_thread *thread,
                                                      struct cst_depend_table *table) {
    uint32_t least = 0;
    if (table->count >= MANY) {
        sweep(thread, table);
        least = MANY / 2;
    }
    uint32_t capacity = capacity_for(table->count > least ? table->count : least);
    if (capacity > table->capacity || capacity <= table->capacity / 4) resize(table, capacity);
    cst_depend_validate(table);
}

#if CST_CHECK_LEVEL >= 2
static void validate_set(struct node_set *set) {
    cst_check((set->capacity & (set->capacity - 1)) == 0);
    cst_check(set->count <= (set->capacity > 0 ? set->capacity : 1));
    for (uint32_t i = 0; i < set->count; i++) {
        struct cst_depend_node *node = nodes_of(set)[i];
        cst_check(node != NULL && cst_load_relaxed(&node->references) > 0);
        cst_check(node->own_used <= OWN_EDGES);
    }
}

void cst_depend_validate(struct cst_depend_table *table) {
    uint32_t count = 0;
    cst_check((table->capacity & (table->capacity - 1)) == 0);
    for (uint32_t i = 0; i < table->capacity; i++) {
        struct entry *entry = &table->entry[i];
        if (!entry->address) {
            cst_check(entry->current.count == 0 && entry->before.count == 0);
            continue;
        }
        count++;
        cst_check(probe(table, entry->address) == entry); /* no gap before it, no second entry */
        validate_set(&entry->current);
        validate_set(&entry->before);
    }
    cst_check(count == table->count && 2 * count <= table->capacity);
}
#endif

static struct entry *find(struct cst_depend_table *table, void *address) {
    struct entry *entry = table->count > 0 ? probe(table, address) : NULL;
    return entry && entry->address ? entry : NULL;
}

static struct entry *find_or_add(struct cst_thread *thread, struct cst_depend_table *table,
                                 void *address) {
    struct entry *entry = find(table, address);
    if (entry) return entry;
    if (2 * table->count >= table->capacity) make_room(thread, table);
    entry = probe(table, address);
    entry->address = address;
    table->count++;
    return entry;
}

static void clear(struct cst_thread *thread, struct cst_depend_table *table) {
    for (uint32_t i = 0; i < table->capacity; i++) {
        struct entry *entry = &table->entry[i];
        if (!entry->address) continue;
        drop_set(thread, &entry->current);
        drop_set(thread, &entry->before);
        free_array(&entry->current);
        free_array(&entry->before);
    }
    if (capacity_for(table->count) <= table->capacity / 4) {
        free(table->entry); /* else each later phase of few tasks would clear a table of many */
        table->entry = NULL;
        table->capacity = 0;
    } else if (table->count) {
        memset(table->entry, 0, table->capacity * sizeof *table->entry);
    }
    table->count = 0;
    if (table->all_memory) release_node(thread, table->all_memory);
    table->all_memory = NULL;
}

void cst_depend_free_table(struct cst_depend_table *table) {
    clear(cst_self(), table);
    free(table->entry);
    free(table);
}

/* Acquire: pairs with the children's counts, as in a taskwait. */
static bool has_no_children(struct cst_task *parent) {
    return parent->children_here + cst_load_acquire(&parent->balance) == 0;
}

static struct cst_depend_table *table_of(struct cst_task *parent) {
    struct cst_depend_table *table = parent->children_depend;
    if (!table) {
        table = parent->children_depend = calloc(1, sizeof *table);
        if (!table) cst_memory_exhausted("dependences of tasks", sizeof *table);
    }
    return table;
}

/* --- entering --------------------------------------------------------------------------- */

static inline __attribute__((always_inline)) void add_edges(struct node_set *from,
                                                            struct cst_depend_node *to) {
    struct cst_depend_node **node = nodes_of(from), **end = node + from->count;
    for (; node < end; node++) add_edge(*node, to);
}

/* Enters a task that depends on all memory. Later tasks depend on it, and on no older task. */
static __attribute__((noinline)) void enter_all_memory(struct cst_thread *thread,
                                                       struct cst_depend_table *table,
                                                       struct cst_depend_node *node, bool record) {
    for (uint32_t i = 0; i < table->capacity; i++) {
        add_edges(&table->entry[i].current, node);
        add_edges(&table->entry[i].before, node);
    }
    if (!record) return;
    clear(thread, table);
    count_place(node);
    table->all_memory = node;
}

/* A task of a new kind has come: the newest tasks of the entry become `before`. */
static inline void begin_kind(struct cst_thread *thread, struct entry *entry,
                              enum cst_depend_kind kind) {
    struct node_set old = entry->before;
    if (old.count > 0) drop_set(thread, &old);
    entry->before = entry->current;
    entry->current = old;
    entry->kind = kind;
}

static inline void enter_item(struct cst_thread *thread, struct cst_depend_table *table,
                              struct cst_depend_node *node, struct cst_depend_item item,
                              bool record) {
    struct entry *entry =
        record ? find_or_add(thread, table, item.address) : find(table, item.address);
    if (!entry) return; /* no task has named it, and a wait records nothing */
    bool joins =
        entry->current.count > 0 && item.kind == entry->kind && item.kind != CST_DEPEND_OUT;
    add_edges(joins ? &entry->before : &entry->current, node);
    if (!record) return;
    if (!joins) begin_kind(thread, entry, item.kind);
    add_to_set(thread, &entry->current, node);
}

static inline struct cst_depend_item item_at(const struct cst_depend_list *list, size_t index) {
    if (cst_unlikely(index >= list->plain)) return list->other(list, index);
    return (struct cst_depend_item){.address = list->address[index],
                                    .kind = index < list->out ? CST_DEPEND_OUT : CST_DEPEND_IN};
}

static inline __attribute__((always_inline)) void
enter(struct cst_thread *thread, struct cst_task *parent, struct cst_depend_node *node,
      const struct cst_depend_list *list, bool record) {
    struct cst_depend_table *table = table_of(parent);
    if (cst_unlikely(table->all_memory != NULL)) add_edge(table->all_memory, node);
    for (size_t i = 0; i < list->count; i++) {
        struct cst_depend_item item = item_at(list, i);
        if (cst_likely(item.address != NULL))
            enter_item(thread, table, node, item, record);
        else if (item.kind == CST_DEPEND_OUT)
            enter_all_memory(thread, table, node, record);
    }
}

bool cst_depend_enter(struct cst_thread *thread, struct cst_task *parent, struct cst_task *task,
                      const struct cst_depend_list *list) {
    struct cst_depend_node *node = make_node(thread, task);
    task->depend = node;
    enter(thread, parent, node, list, true);
    return end_entering(node);
}

bool cst_depend_is_void(struct cst_thread *thread, struct cst_task *parent) {
    return thread->team->size == 1 && !cst_defer_alone() && has_no_children(parent);
}

static bool has_no_predecessors(const struct cst_wait *wait) {
    struct cst_depend_node *node = (struct cst_depend_node *)wait->object;
    return cst_load_seq_cst(&node->predecessors) == 0;
}

/* A function of its own, so that a task that finds no siblings saves no registers. */
static __attribute__((noinline)) void await_siblings(struct cst_thread *thread,
                                                     struct cst_task *parent,
                                                     const struct cst_depend_list *list) {
    struct cst_depend_node *node = make_node(thread, NULL);
    node->waiter = thread->seat;
    enter(thread, parent, node, list, false);
    if (!end_entering(node)) {
        struct cst_wait wait = {.holds = has_no_predecessors, .object = node};
        cst_task_wait(thread, &wait);
    }
    cst_happens_after(node);
    release_node(cst_self(), node);
}

void cst_depend_await(struct cst_thread *thread, struct cst_task *parent,
                      const struct cst_depend_list *list) {
    if (!parent->children_depend || has_no_children(parent))
        cst_happens_after(&parent->balance);
    else
        await_siblings(thread, parent, list);
}
