/* Finds the stores that a load may read, the ranks that a store may have in its object, and the
 * earlier loads that may read a new store.
 *
 * The explorer builds each graph in one way only. Threads run in the order of their numbers, and a
 * load reads one of the present stores. A later store may become the source of an earlier load (a
 * "revisit"). Then the events since that load are taken back, unless the store needs them. A
 * revisit is made only if all these events were the last choice, so that a single graph leads to
 * it. See Kokologiannakis, Marmanis, Gladstein and Vafeiadis, "Truly stateless, optimal dynamic
 * partial order reduction" (2022). */
#include "explorer.h"

#include <string.h>

#define GAP ((uint64_t)1 << 40) /* between the ranks of stores; a store in between halves it */

/* Coherence: returns the newest store that happened before the access, or that an event before the
 * access has seen. The access reads no older store, and is none. */
uint64_t choose_bound(const struct location *location, const clocks clock) {
    uint64_t bound = 0;
    for (ref a = location->accesses; a != NO_EVENT; a = detail_of(a)->next_access)
        if (is_before(a, clock) && rank_of(a) > bound) bound = rank_of(a);
    return bound;
}

/* Returns the write of a read-modify-write that has read the store, or NO_EVENT. */
static ref taker_of(const struct location *location, ref store) {
    ref next = location->newest;
    if (store != NO_EVENT) {
        next = detail_of(store)->newer;
    } else {
        while (next != NO_EVENT && detail_of(next)->older != NO_EVENT)
            next = detail_of(next)->older;
    }
    if (next == NO_EVENT || !event_of(next)->exclusive) return NO_EVENT;
    ref read = ref_of(thread_of(next), event_of(next)->pair);
    return event_of(read)->from == store ? next : NO_EVENT;
}

/* --- loads ----------------------------------------------------------------------------------- */

static uint64_t value_at(const struct location *location, ref store) {
    return store == NO_EVENT ? location->first : event_of(store)->value;
}

static bool may_read(ref event, const struct wanted *wanted, ref store) {
    bool fails = wanted->expected && value_at(wanted->location, store) != *wanted->expected;
    uint8_t order = fails ? wanted->failure : wanted->order;
    const struct thread *self = &x->thread[wanted->thread];
    clocks after;
    memcpy(after, self->clock, sizeof after);
    after[wanted->thread] = (uint16_t)(index_of(event) + 1);
    if (acquires(order) && store != NO_EVENT) join(after, detail_of(store)->message);
    return sequence_allows(&(struct probe){.event = event,
                                           .location = wanted->location,
                                           .sequential = order == EXPLORE_SEQ_CST,
                                           .rank = store == NO_EVENT ? 0 : event_of(store)->rank,
                                           .before = self->clock,
                                           .after = after});
}

/* Two read-modify-writes cannot read the same store. But the earlier one may have to read the write
 * of the later one, which revisits it when it comes. */
static bool is_worth_reading(ref event, const struct wanted *wanted, ref store) {
    bool exclusive = wanted->exclusive &&
                     (!wanted->expected || value_at(wanted->location, store) == *wanted->expected);
    ref taker = exclusive ? taker_of(wanted->location, store) : NO_EVENT;
    if (taker == NO_EVENT) return may_read(event, wanted, store);
    if (x->by_chance) return false;
    return !is_before(ref_of(thread_of(taker), event_of(taker)->pair),
                      x->thread[wanted->thread].cause);
}

ref choose_source(ref event, const struct wanted *wanted) {
    const struct location *location = wanted->location;
    uint64_t bound = choose_bound(location, x->thread[wanted->thread].clock);
    if (location->newest == NO_EVENT) return NO_EVENT;
    x->choices = 0;
    for (ref store = detail_of(location->newest)->older;; store = detail_of(store)->older) {
        if (rank_of(location->newest) == bound) break;
        if (is_worth_reading(event, wanted, store))
            graph_note((struct item){.kind = READ_FROM,
                                     .event = event,
                                     .other = store,
                                     .stamp = event_of(event)->stamp});
        if (store == NO_EVENT || event_of(store)->rank <= bound) break;
    }
    const struct item *drawn = graph_drawn();
    return drawn ? drawn->other : location->newest;
}

/* --- stores ---------------------------------------------------------------------------------- */

static bool may_stand(ref event, const struct location *location, uint64_t rank) {
    const struct thread *self = &x->thread[thread_of(event)];
    return sequence_allows(&(struct probe){.event = event,
                                           .location = location,
                                           .writes = true,
                                           .sequential = event_of(event)->order == EXPLORE_SEQ_CST,
                                           .rank = rank,
                                           .before = self->clock,
                                           .after = self->clock});
}

uint64_t choose_rank(ref event, const struct location *location, uint64_t at_least) {
    uint64_t bound = choose_bound(location, x->thread[thread_of(event)].clock);
    uint64_t newest = location->newest == NO_EVENT ? 0 : event_of(location->newest)->rank;
    if (bound < at_least) bound = at_least;
    x->choices = 0;
    for (ref next = location->newest; next != NO_EVENT; next = detail_of(next)->older) {
        ref older = detail_of(next)->older;
        uint64_t below = older == NO_EVENT ? 0 : event_of(older)->rank,
                 above = event_of(next)->rank;
        if (above <= bound) break;
        if (above - below < 2) explore_failed(EXPLORE_AT("too many stores between two"));
        if (taker_of(location, older) == next || !may_stand(event, location, below + 1)) continue;
        graph_note((struct item){.kind = RANK,
                                 .event = event,
                                 .rank = below + (above - below) / 2,
                                 .stamp = event_of(event)->stamp});
    }
    const struct item *drawn = graph_drawn();
    return drawn ? drawn->rank : newest + GAP;
}

ref choose_next_rank(ref event, const struct location *location) {
    ref from = event_of(ref_of(thread_of(event), event_of(event)->pair))->from;
    uint64_t below = from == NO_EVENT ? 0 : event_of(from)->rank, above = 0;
    for (ref store = location->newest; store != from; store = detail_of(store)->older)
        above = event_of(store)->rank;
    event_of(event)->rank = above ? below + (above - below) / 2 : below + GAP;
    if (above && above - below < 2) explore_failed(EXPLORE_AT("too many stores between two"));
    return taker_of(location, from);
}

/* --- revisits -------------------------------------------------------------------------------- */

static bool wakes(const struct event *store, unsigned thread) {
    return store->value >> 32 >> thread & 1;
}

ref choose_waker(const struct location *location, unsigned thread, uint64_t rank) {
    ref found = NO_EVENT;
    for (ref store = location->newest; store != NO_EVENT && event_of(store)->rank > rank;
         store = detail_of(store)->older)
        if (wakes(event_of(store), thread)) found = store; /* the oldest */
    return found;
}

/* Returns whether e is in the graph when `until` is added, if the events of `cause` come first. */
static bool is_previous(ref e, uint32_t until, const clocks cause) {
    return event_of(e)->stamp <= until || is_before(e, cause);
}

/* Returns whether e would be the same if it were added again, with the newest choice each time. */
static bool is_as_last_choice(ref e, const clocks cause, ref store) {
    const struct event *event = event_of(e);
    if (event->kind != READ && event->kind != WRITE) return true;
    const struct location *location = &x->location[detail_of(e)->location];
    if (event->kind == READ && event->from != NO_EVENT &&
        !is_previous(event->from, event->stamp, cause))
        return false;
    for (ref a = location->accesses; a != NO_EVENT; a = detail_of(a)->next_access) {
        if (a == store || a == e || !is_previous(a, event->stamp, cause)) continue;
        if (event_of(a)->kind == READ) {
            if (event->kind == WRITE && event_of(a)->from == e) return false;
        } else if (is_kernels(location->address) && event->kind == READ && event->exclusive) {
            continue; /* a single store wakes the thread */
        } else if (event_of(a)->rank > rank_of(e)) {
            return false;
        }
    }
    return true;
}

static bool may_revisit(ref read, ref store, struct item *item) {
    const uint16_t *cause = detail_of(store)->cause;
    uint32_t until = event_of(read)->stamp;
    if (!is_as_last_choice(read, cause, store)) return false;
    for (unsigned t = 0; t < x->threads; t++) {
        unsigned kept = x->thread[t].count;
        while (kept > cause[t] && x->graph.event[t][kept - 1].stamp > until) {
            if (!is_as_last_choice(ref_of(t, kept - 1), cause, store)) return false;
            kept--;
        }
        item->length[t] = (uint16_t)kept;
    }
    return true;
}

/* `taker`: if the store belongs to a read-modify-write, another write whose read has the same
 * source; or NO_EVENT. */
void choose_revisits(ref store, const struct location *location, ref taker) {
    const struct event *self = event_of(store);
    if (x->by_chance) return;
    for (ref read = location->accesses; read != NO_EVENT; read = detail_of(read)->next_access) {
        const struct event *other = event_of(read);
        if (other->kind != READ || is_before(read, detail_of(store)->cause)) continue;
        if (is_kernels(location->address) && other->exclusive) continue;
        struct item item = {.kind = REVISIT, .event = store, .other = read, .stamp = self->stamp};
        if (!may_revisit(read, store, &item)) continue;
        if (taker != NO_EVENT && is_before(taker, item.length)) continue;
        graph_note(item);
    }
}
