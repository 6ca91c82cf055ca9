/* Sequential consistency: RC11's axiom psc forbids some graphs. The nodes of psc are the
 * sequentially consistent accesses and fences. Its edges lead
 *
 *   - from a to b if `scb` leads from a, or from an event after the fence a, to b, or to an event
 *     before the fence b. The relation scb consists of program order, modification order,
 *     reads-before, and happens-before on one object. It also has happens-before between two steps
 *     of program order that each change the object;
 *   - from fence a to fence b if happens-before leads from a to b. A chain of accesses to one
 *     object may stand between two steps of happens-before.
 *
 * A graph with a cycle is forbidden. A new event has later events by modification order and
 * reads-before alone. So the edges that leave it, or that leave a fence before it, lead to stores
 * of a higher rank, and these edges alone can close a cycle.
 *
 * A fence for the compiler alone has edges from and to process barriers, and to later events of its
 * thread. */
#include "explorer.h"

#include <string.h>

static void set(struct nodes *nodes, unsigned n) {
    nodes->word[n / 64] |= (uint64_t)1 << n % 64;
}
static bool has(const struct nodes *nodes, unsigned n) {
    return nodes->word[n / 64] >> n % 64 & 1;
}
static unsigned words(void) {
    return (x->nodes + 63) / 64;
}
static void unite(struct nodes *nodes, const struct nodes *other) {
    for (unsigned i = 0; i < words(); i++) nodes->word[i] |= other->word[i];
}

static bool is_fence(unsigned node) {
    return event_of(x->node[node])->kind == FENCE;
}
static enum fence fence_kind(unsigned node) {
    return is_fence(node) ? (enum fence)event_of(x->node[node])->value : PLAIN_FENCE;
}

/* Returns whether an edge may lead between the two. */
static bool meet(enum fence a, enum fence b) {
    return (a != LIGHT_FENCE && b != LIGHT_FENCE) || a == HEAVY_FENCE || b == HEAVY_FENCE;
}

static bool is_access_node(ref event) {
    return event_of(event)->kind != FENCE && detail_of(event)->node != 0;
}

/* --- edges that leave an access ------------------------------------------------------------- */

struct targets {
    struct nodes of_access; /* by modification order or reads-before, then happens-before */
    struct nodes of_fence;  /* also by reads-from between the two */
    bool any;
};

static void add_fences_after(struct nodes *to, ref event) {
    for (unsigned i = 0; i < x->fences; i++)
        if (is_before(event, detail_of(x->node[x->fence[i]])->clock)) set(to, x->fence[i]);
}

static void find_targets(const struct probe *probe, struct targets *targets) {
    const struct location *location = probe->location;
    targets->any = false;
    ref store = location->newest;
    if (store == NO_EVENT || event_of(store)->rank <= probe->rank) return;
    memset(targets, 0, sizeof *targets);
    targets->any = true;
    for (; store != NO_EVENT && event_of(store)->rank > probe->rank;
         store = detail_of(store)->older) {
        if (is_access_node(store)) set(&targets->of_access, detail_of(store)->node - 1u);
        add_fences_after(&targets->of_access, store);
    }
    targets->of_fence = targets->of_access;
    for (ref a = location->accesses; a != NO_EVENT; a = detail_of(a)->next_access)
        if (event_of(a)->kind == READ && a != probe->event && rank_of(a) > probe->rank)
            add_fences_after(&targets->of_fence, a);
}

static struct nodes allowed_targets(const struct nodes *targets, enum fence from) {
    struct nodes allowed = *targets;
    if (from == HEAVY_FENCE) return allowed;
    for (unsigned i = 0; i < x->fences; i++)
        if (!meet(from, fence_kind(x->fence[i])))
            allowed.word[x->fence[i] / 64] &= ~((uint64_t)1 << x->fence[i] % 64);
    if (from != LIGHT_FENCE) return allowed;
    for (unsigned n = 0; n < x->nodes; n++)
        if (has(&allowed, n) && fence_kind(n) != HEAVY_FENCE)
            allowed.word[n / 64] &= ~((uint64_t)1 << n % 64);
    return allowed;
}

/* --- edges that lead to it ------------------------------------------------------------------- */

/* Adds the access and the fences before it. */
static void add_sources(struct nodes *from, ref access, bool with_access) {
    if (with_access && is_access_node(access)) set(from, detail_of(access)->node - 1u);
    for (unsigned i = 0; i < x->fences; i++)
        if (is_before(x->node[x->fence[i]], detail_of(access)->clock)) set(from, x->fence[i]);
}

/* Returns the last event before the probe, in its thread, that is no access to the same object. */
static ref last_elsewhere(const struct probe *probe) {
    unsigned thread = thread_of(probe->event);
    for (unsigned i = index_of(probe->event); i-- > 0;) {
        ref e = ref_of(thread, i);
        if (event_of(e)->kind == SPIN) continue;
        if (event_of(e)->kind == FENCE || event_of(e)->kind == CREATE ||
            &x->location[detail_of(e)->location] != probe->location)
            return e;
    }
    return NO_EVENT;
}

static void find_sources(const struct probe *probe, struct nodes *from) {
    unsigned thread = thread_of(probe->event);
    ref elsewhere = last_elsewhere(probe);
    const uint16_t *clock = elsewhere == NO_EVENT ? NULL : detail_of(elsewhere)->clock;
    memset(from, 0, sizeof *from);
    for (unsigned n = 0; n < x->nodes; n++) {
        ref a = x->node[n];
        unsigned next = detail_of(a)->next_elsewhere;
        if (thread_of(a) == thread) {
            if (index_of(a) < index_of(probe->event)) set(from, n);
        } else if (is_fence(n)) {
            if (is_before(a, probe->before)) set(from, n);
        } else if (clock && next && next < clock[thread_of(a)]) {
            set(from, n);
        }
    }
    for (ref a = probe->location->accesses; a != NO_EVENT; a = detail_of(a)->next_access)
        if (a != probe->event &&
            (is_before(a, probe->after) || (probe->writes && rank_of(a) < probe->rank)))
            add_sources(from, a, true);
}

/* --- cycles ---------------------------------------------------------------------------------- */

/* The edges that a new access adds: from `sources` to itself, and from itself and the fences before
 * it to the targets. */
struct change {
    const struct probe *probe;
    struct nodes sources;
    struct targets targets;
};

static bool is_source_fence(const struct change *change, unsigned node) {
    return is_fence(node) && is_before(x->node[node], change->probe->after);
}

/* Returns whether a path of present edges and of the change leads from the nodes to `end`. `end` is
 * a fence, or MOST_NODES for the access itself. */
static bool leads(const struct change *change, struct nodes todo, unsigned end) {
    struct nodes done = {0};
    bool through = false; /* the path has been through the access */
    for (unsigned i = 0; i < words(); i++) {
        while (todo.word[i] & ~done.word[i]) {
            unsigned n = i * 64 + (unsigned)__builtin_ctzll(todo.word[i] & ~done.word[i]);
            if (n == end) return true;
            set(&done, n);
            unite(&todo, &x->after[n]);
            if (is_source_fence(change, n)) {
                struct nodes more = allowed_targets(&change->targets.of_fence, fence_kind(n));
                unite(&todo, &more);
            }
            if (change->probe->sequential && !through && has(&change->sources, n)) {
                if (end == MOST_NODES) return true;
                through = true;
                struct nodes more = allowed_targets(&change->targets.of_access, PLAIN_FENCE);
                unite(&todo, &more);
            }
            i = 0;
        }
    }
    return false;
}

bool sequence_allows(const struct probe *probe) {
    static struct change change;
    find_targets(probe, &change.targets);
    if (!change.targets.any) return true;
    change.probe = probe;
    if (probe->sequential) {
        find_sources(probe, &change.sources);
        if (leads(&change, allowed_targets(&change.targets.of_access, PLAIN_FENCE), MOST_NODES))
            return false;
    }
    for (unsigned i = 0; i < x->fences; i++) {
        unsigned n = x->fence[i];
        if (is_source_fence(&change, n) &&
            leads(&change, allowed_targets(&change.targets.of_fence, fence_kind(n)), n))
            return false;
    }
    return true;
}

/* --- adding ---------------------------------------------------------------------------------- */

static unsigned new_node(ref event) {
    unsigned n = x->nodes++;
    if (x->nodes > MOST_NODES - 1) explore_failed(EXPLORE_AT("MOST_NODES is too small"));
    x->node[n] = event;
    memset(&x->after[n], 0, sizeof x->after[n]);
    detail_of(event)->node = (uint16_t)(n + 1);
    return n;
}

static void add_edges(const struct nodes *from, unsigned to) {
    enum fence kind = fence_kind(to);
    for (unsigned n = 0; n < to; n++)
        if (has(from, n) &&
            (meet(fence_kind(n), kind) || thread_of(x->node[n]) == thread_of(x->node[to])))
            set(&x->after[n], to);
}

void sequence_add(const struct probe *probe) {
    struct targets targets;
    find_targets(probe, &targets);
    if (targets.any)
        for (unsigned i = 0; i < x->fences; i++) {
            unsigned n = x->fence[i];
            if (!is_before(x->node[n], probe->after)) continue;
            struct nodes more = allowed_targets(&targets.of_fence, fence_kind(n));
            unite(&x->after[n], &more);
        }
    if (!probe->sequential) return;
    struct nodes from;
    find_sources(probe, &from);
    unsigned n = new_node(probe->event);
    add_edges(&from, n);
    if (targets.any) x->after[n] = allowed_targets(&targets.of_access, PLAIN_FENCE);
}

/* Adds the sources of one object, by the events before the fence. */
static void add_sources_of(const struct location *location, const clocks clock,
                           struct nodes *from) {
    uint64_t stored = 0, seen = 0;
    for (ref a = location->accesses; a != NO_EVENT; a = detail_of(a)->next_access) {
        if (!is_before(a, clock)) continue;
        if (rank_of(a) > seen) seen = rank_of(a);
        if (event_of(a)->kind == WRITE && rank_of(a) > stored) stored = rank_of(a);
    }
    for (ref a = location->accesses; a != NO_EVENT; a = detail_of(a)->next_access) {
        bool writes = event_of(a)->kind == WRITE;
        if (rank_of(a) < stored) add_sources(from, a, true);
        if (writes ? rank_of(a) <= seen : rank_of(a) < seen) add_sources(from, a, false);
    }
}

/* Returns whether a later event of its thread, or a later access to its object, leads from the
 * access to `clock`. */
static bool has_successor(ref access, const clocks clock) {
    const struct location *location = &x->location[detail_of(access)->location];
    if (index_of(access) + 1u < clock[thread_of(access)]) return true;
    for (ref a = location->accesses; a != NO_EVENT; a = detail_of(a)->next_access)
        if (a != access && is_before(a, clock) && is_before(access, detail_of(a)->clock))
            return true;
    return false;
}

void sequence_add_fence(ref event, enum fence kind) {
    const uint16_t *clock = detail_of(event)->clock;
    struct nodes from = {0};
    for (unsigned n = 0; n < x->nodes; n++) {
        ref a = x->node[n];
        if (is_before(a, clock) &&
            (is_fence(n) || thread_of(a) == thread_of(event) || has_successor(a, clock)))
            set(&from, n);
    }
    if (kind != LIGHT_FENCE || x->fences > 0)
        for (unsigned l = 0; l < x->locations; l++) add_sources_of(&x->location[l], clock, &from);
    unsigned n = new_node(event);
    x->fence[x->fences++] = n;
    add_edges(&from, n);
}
