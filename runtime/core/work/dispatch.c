/* A tree of counters for the loops of large teams; see dispatch.h. */
#include "core/work/dispatch.h"

#include "core/wait/owner.h"
#include "platform/platform.h"

#include <stdlib.h>
#include <string.h>

enum {
    SLOTS = 4, /* nodes of an inner member: loops that run at the same time */
    PARTS = 4  /* a subtree takes 1/PARTS of its equal share of the rest */
};

_Static_assert(sizeof(struct cst_node) == CST_CACHE_LINE, "a node is a line");

/* --- the tree ----------------------------------------------------------------------------- */

/* The number of members in a subtree, counted by generations. */
static uint32_t subtree(uint32_t number, uint32_t size) {
    uint32_t count = 0, first = number, end = number + 1;
    while (first < end) {
        count += end - first;
        first = cst_tree_first(first);
        end = cst_tree_end(end - 1, size);
    }
    return count;
}

static struct cst_node *node_of(struct cst_team *team, uint32_t number, uint64_t tag) {
    return &team->nodes[SLOTS * number + tag % SLOTS];
}

void cst_dispatch_enlarge(struct cst_team *team, uint32_t size) {
    bool is_large = cst_team_is_large(size, false) || cst_team_is_large(size, true);
    if (!is_large || size <= team->nodes_for) return;
    size_t bytes = SLOTS * sizeof(struct cst_node) * cst_tree_inner(size);
    struct cst_node *nodes = aligned_alloc(CST_CACHE_LINE, bytes);
    if (!nodes) return;
    memset(nodes, 0, bytes);
    free(team->nodes); /* only regions use them */
    team->nodes = nodes;
    team->nodes_for = size;
}

/* --- claims ------------------------------------------------------------------------------- */

static void acquire(struct cst_team *team, struct cst_node *node) {
    /* The exchange comes without a load before it, which would fetch the line twice. Acquire pairs
     * with release(). */
    for (uint32_t polls = 0; cst_exchange_acquire(&node->lock, 1);) {
        do {
            /* In the child of a fork, the holder of the lock is gone. The node is consistent after
             * each of its steps (split, fill). */
            if (cst_unlikely(team->orphaned)) return;
            cst_wait_for_owner(&polls);
        } while (cst_load_relaxed(&node->lock));
    }
}

static void release(struct cst_node *node) {
    cst_store_release(&node->lock, 0);
}

static bool is_used_up(const struct cst_piece *piece) {
    return piece->next == piece->limit;
}

/* Takes the first `chunks` of a piece, or all of it. */
static struct cst_piece split(struct cst_piece *piece, uint64_t chunks) {
    struct cst_piece part = *piece;
    if (chunks < piece->limit - piece->next) part.limit = piece->next + chunks;
    piece->next = part.limit; /* one store, as a fork may copy the node */
    return part;
}

/* The chunks that a subtree of `members` out of `size` gets at once while `left` chunks are left.
 * It gets at least one for each member: otherwise, near the end, each chunk would be fetched from
 * the root by itself. */
static uint64_t portion(uint64_t left, uint32_t members, uint32_t size) {
    uint64_t parts = PARTS * (uint64_t)size;
    uint64_t share = left <= UINT32_MAX ? left * members / parts : left / parts * members;
    return share > members ? share : members;
}

/* Fetches the node's first or next piece of the loop. All pieces of a node are fetched under its
 * lock, so they increase if the parent's do. */
static void fill(struct cst_thread *thread, uint32_t number, struct cst_node *node,
                 uint64_t wanted);

/* Takes chunks from a member's node: `wanted` chunks, or the portion of a subtree of `members` if
 * that is larger, but at most the chunks in the node. An empty piece: the loop is over. */
static struct cst_piece take(struct cst_thread *thread, uint32_t number, uint64_t wanted,
                             uint32_t members) {
    struct cst_node *node = node_of(thread->team, number, thread->loop.tag);
    struct cst_piece *piece = &node->piece;
    acquire(thread->team, node);
    uint64_t tag = cst_load_relaxed(&node->tag);
    if (tag != thread->loop.tag || (is_used_up(piece) && piece->limit < piece->chunks))
        fill(thread, number, node, wanted);
    uint64_t due = portion(piece->chunks - piece->next, members, thread->seat->size);
    struct cst_piece part = split(piece, wanted > due ? wanted : due);
    release(node);
    return part;
}

static void fill(struct cst_thread *thread, uint32_t number, struct cst_node *node,
                 uint64_t wanted) {
    const struct cst_loop *loop = &thread->loop;
    struct cst_piece piece = {.limit = loop->trip,
                              .chunks = loop->trip,
                              .start = loop->start,
                              .step = loop->step,
                              .end = loop->end};
    if (number > 0)
        piece = take(thread, cst_tree_parent(number), wanted, subtree(number, thread->seat->size));
    /* A fork may copy the node between these steps. Without its tag a piece does not count, and the
     * child fills the node anew. Acquire: the piece is written after it. Release: the piece is
     * written before it. */
    cst_exchange_acquire(&node->tag, 0);
    node->piece = piece;
    cst_store_release(&node->tag, loop->tag);
}

struct cst_piece cst_dispatch_claim(struct cst_thread *thread, uint32_t chunks) {
    uint32_t number = thread->number;
    bool is_inner = number < cst_tree_inner(thread->seat->size);
    return take(thread, is_inner ? number : cst_tree_parent(number), chunks, 0);
}

/* --- begin -------------------------------------------------------------------------------- */

/* Does the loop use the tree? Then *piece is the whole loop. */
static bool is_for_tree(const struct cst_team *team, const struct cst_loop_spec *spec,
                        struct cst_piece *piece) {
    uint64_t trip, chunk = spec->chunk ? spec->chunk : 1;
    if (team->size > team->nodes_for) return false;
    trip = cst_loop_trip(spec);
    if (!cst_loop_is_batched(spec, trip, team->size)) return false;
    uint64_t chunks = cst_schedule_chunks(trip, chunk);
    *piece = (struct cst_piece){.limit = chunks,
                                .chunks = chunks,
                                .start = spec->start,
                                .step = chunk * spec->increment,
                                .end = spec->end};
    return true;
}

/* Begins the loop. For the member it is a loop over chunks, one chunk an iteration. */
static void begin(struct cst_thread *thread, const struct cst_piece *all) {
    struct cst_loop *loop = &thread->loop;
    loop->tag = ++thread->seat->construct;
    thread->share = NULL;
    loop->schedule = CST_SCHEDULE_DYNAMIC;
    loop->batching = CST_BATCHING_TREE;
    loop->counts_on = true;
    loop->ordered = false;
    loop->trip = all->chunks;
    loop->chunk = 1;
    loop->start = all->start;
    loop->increment = loop->step = all->step;
    loop->end = all->end;
    loop->left = loop->batch = 0;
    loop->has_end = false;
    loop->first = loop->last = 0;
    loop->trips = 0;
}

bool cst_dispatch_start(struct cst_thread *thread, const struct cst_loop_spec *spec) {
    struct cst_seat *seat = thread->seat;
    struct cst_piece all;
    /* The slot's nodes are free only if all members have passed a barrier after the loop that used
     * them before. */
    if (seat->construct >= seat->construct_at_barrier + SLOTS) return false;
    if (!is_for_tree(thread->team, spec, &all)) return false;
    begin(thread, &all);
    return true;
}

bool cst_dispatch_prepare(struct cst_team *team, const struct cst_loop_spec *spec) {
    struct cst_piece all;
    if (!is_for_tree(team, spec, &all)) return false;
    uint64_t tag = team->first.construct + 1;
    struct cst_node *root = node_of(team, 0, tag);
    cst_store_relaxed(&root->tag, tag); /* fork publishes */
    root->piece = all;
    return true;
}

void cst_dispatch_join(struct cst_thread *thread) {
    /* The bounds of the loop come with the member's first claim. */
    begin(thread, &(struct cst_piece){0});
}
