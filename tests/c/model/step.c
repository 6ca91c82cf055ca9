/* The events of an execution, and the steps that make them: loads and stores, fences, calls of the
 * kernel. */
#include "explorer.h"

#include <string.h>

/* Returns the running thread's next event: the repeated event, or a new one. */
static ref add_event(struct event event, bool *is_new) {
    unsigned t = x->running;
    struct thread *self = &x->thread[t];
    ref e = ref_of(t, self->count);
    struct event *known = event_of(e);
    if (self->count == MOST_EVENTS - 1) explore_failed(EXPLORE_AT("an end in sight"));
    *is_new = self->count == x->graph.length[t];
    if (*is_new) {
        event.stamp = ++x->graph.stamp;
        *known = event;
        x->graph.length[t]++;
    } else if (known->kind != event.kind || known->address != event.address) {
        explore_failed(EXPLORE_AT("an execution repeats itself"));
    }
    struct detail *detail = detail_of(e);
    detail->node = detail->next_elsewhere = 0;
    detail->step = x->steps;
    x->trace[x->steps++] = e;
    return e;
}

static void enter_clocks(ref e) {
    struct thread *self = &x->thread[thread_of(e)];
    struct detail *detail = detail_of(e);
    self->count++;
    self->clock[thread_of(e)] = self->cause[thread_of(e)] = (uint16_t)self->count;
    memcpy(detail->clock, self->clock, sizeof detail->clock);
    memcpy(detail->cause, self->cause, sizeof detail->cause);
}

/* Ends the runs of accesses to other objects: they come before e in its thread. */
static void end_runs(ref e) {
    for (unsigned i = index_of(e); i-- > 0;) {
        ref older = ref_of(thread_of(e), i);
        struct detail *detail = detail_of(older);
        if (event_of(older)->kind == SPIN) continue;
        if (detail->next_elsewhere) break;
        if (event_of(e)->kind == FENCE || event_of(older)->kind >= FENCE ||
            event_of(older)->address != event_of(e)->address)
            detail->next_elsewhere = (uint16_t)index_of(e);
    }
}

static void saw(const struct location *location, uint64_t rank, bool own) {
    struct thread *self = &x->thread[x->running];
    unsigned number = (unsigned)(location - x->location);
    for (unsigned i = 0; i < self->seen_count; i++)
        if (self->seen[i].location == number) {
            self->seen[i].rank = rank;
            self->seen[i].own = own;
            return;
        }
    if (self->seen_count == MOST_SEEN) explore_failed(EXPLORE_AT("MOST_SEEN is too small"));
    self->seen[self->seen_count++] = (struct seen){number, rank, own};
}

static struct probe probe_of(ref e, const struct location *location, const clocks before) {
    return (struct probe){.event = e,
                          .location = location,
                          .writes = event_of(e)->kind == WRITE,
                          .sequential = event_of(e)->order == EXPLORE_SEQ_CST,
                          .rank = rank_of(e),
                          .before = before,
                          .after = detail_of(e)->clock};
}

/* Completes a read whose source is known. */
static uint64_t finish_read(ref e, struct location *location, uint8_t order, bool sees) {
    struct thread *self = &x->thread[x->running];
    struct event *event = event_of(e);
    struct detail *detail = detail_of(e);
    clocks before;
    memcpy(before, self->clock, sizeof before);
    if (event->from != NO_EVENT) {
        const struct detail *store = detail_of(event->from);
        join(self->cause, store->cause);
        join(acquires(order) ? self->clock : self->acquirable, store->message);
    }
    enter_clocks(e);
    detail->location = (uint16_t)(location - x->location);
    end_runs(e);
    struct probe probe = probe_of(e, location, before);
    if (e == x->revisited && !sequence_allows(&probe)) explorer_prune();
    detail->next_access = location->accesses;
    location->accesses = e;
    sequence_add(&probe);
    event->value = event->from == NO_EVENT ? location->first : event_of(event->from)->value;
    if (sees)
        saw(location, rank_of(e), event->from != NO_EVENT && thread_of(event->from) == x->running);
    return event->value;
}

/* `failure`: the order if the read does not find the expected value. */
static uint64_t read_event(const void *address, size_t size, uint8_t order, uint8_t failure,
                           bool exclusive, const uint64_t *expected, struct explore_place place) {
    struct location *location = plain_location(address, size, exclusive);
    bool is_new;
    ref e = add_event((struct event){.kind = READ,
                                     .order = order,
                                     .size = (uint8_t)size,
                                     .from = NO_EVENT,
                                     .address = address,
                                     .place = place},
                      &is_new);
    if (is_new)
        event_of(e)->from = choose_source(
            e, &(struct wanted){location, x->running, order, failure, exclusive, expected});
    ref from = event_of(e)->from;
    uint64_t value = from == NO_EVENT ? location->first : event_of(from)->value;
    if (expected && value != *expected) order = failure;
    event_of(e)->order = order;
    return finish_read(e, location, order, !is_kernels(address));
}

static void insert(ref e, struct location *location) {
    ref newer = NO_EVENT, older = location->newest;
    while (older != NO_EVENT && event_of(older)->rank > event_of(e)->rank) {
        newer = older;
        older = detail_of(older)->older;
    }
    detail_of(e)->older = older;
    detail_of(e)->newer = newer;
    if (older != NO_EVENT) detail_of(older)->newer = e;
    if (newer != NO_EVENT)
        detail_of(newer)->older = e;
    else
        location->newest = e;
    if (newer == NO_EVENT && !is_kernels(location->address))
        memcpy((char *)location->address, &event_of(e)->value, location->size);
}

/* `read`: for the write of a read-modify-write, its read; else NO_EVENT. */
static void write_event(const void *address, size_t size, uint64_t value, uint8_t order, ref read,
                        struct explore_place place) {
    struct location *location = plain_location(address, size, true);
    struct thread *self = &x->thread[x->running];
    bool is_new;
    ref taker = NO_EVENT;
    ref e = add_event((struct event){.kind = WRITE,
                                     .order = order,
                                     .size = (uint8_t)size,
                                     .exclusive = read != NO_EVENT,
                                     .pair = (uint16_t)(read == NO_EVENT ? 0 : index_of(read)),
                                     .address = address,
                                     .place = place},
                      &is_new);
    struct event *event = event_of(e);
    struct detail *detail = detail_of(e);
    bool is_placed = e == x->placing;
    uint64_t at_least = 0;
    event->value = value;
    if (is_placed) { /* the store stands where its reader may read it */
        const struct thread *reader = &x->thread[thread_of(x->revisited)];
        at_least = choose_bound(location, reader->clock);
    }
    if (event->exclusive && (is_new || is_placed)) taker = choose_next_rank(e, location);
    if (!event->exclusive && (is_new || is_placed))
        event->rank = choose_rank(e, location, at_least);
    enter_clocks(e);
    detail->location = (uint16_t)(location - x->location);
    end_runs(e);
    memcpy(detail->message, releases(order) ? self->clock : self->released, sizeof detail->message);
    if (read != NO_EVENT && event_of(read)->from != NO_EVENT)
        join(detail->message, detail_of(event_of(read)->from)->message);
    struct probe probe = probe_of(e, location, detail->clock);
    /* Its read was not checked if another read-modify-write has read the same store. */
    bool is_wrong = event->exclusive && (is_new || is_placed) && !sequence_allows(&probe);
    insert(e, location);
    detail->next_access = location->accesses;
    location->accesses = e;
    if (is_new) choose_revisits(e, location, taker);
    if (taker != NO_EVENT || is_wrong || event->rank <= at_least) explorer_prune();
    sequence_add(&probe);
    self->wrote = true;
    if (!is_kernels(address)) saw(location, event->rank, true);
}

/* Returns the number of the new thread. It differs from `number` only if the execution is
 * repeated. */
unsigned step_create(unsigned number) {
    bool is_new;
    ref e = add_event((struct event){.kind = CREATE, .place = EXPLORE_AT("start")}, &is_new);
    enter_clocks(e);
    if (is_new) event_of(e)->value = number;
    return (unsigned)event_of(e)->value;
}

/* --- the steps -------------------------------------------------------------------------------- */

static uint64_t read_memory(const void *address, size_t size) {
    uint64_t value = 0;
    memcpy(&value, address, size);
    return value;
}

uint64_t explore_load(const void *address, size_t size, enum explore_order order,
                      struct explore_place place) {
    if (!x->exploring) return read_memory(address, size);
    explorer_await_turn(place);
    return read_event(address, size, score_order(order, SCORE_LOAD, place), 0, false, NULL, place);
}

void explore_store(void *address, size_t size, uint64_t value, enum explore_order order,
                   struct explore_place place) {
    if (!x->exploring) {
        memcpy(address, &value, size);
        return;
    }
    explorer_await_turn(place);
    write_event(address, size, value, score_order(order, SCORE_STORE, place), NO_EVENT, place);
}

static uint64_t changed(uint64_t old, enum explore_change_kind kind, uint64_t operand,
                        size_t size) {
    uint64_t new = operand;
    if (kind == EXPLORE_ADD) new = old + operand;
    if (kind == EXPLORE_SUBTRACT) new = old - operand;
    if (kind == EXPLORE_OR) new = old | operand;
    if (kind == EXPLORE_AND) new = old &operand;
    return size == 8 ? new : new &(((uint64_t)1 << 8 * size) - 1);
}

/* The read of a read-modify-write is sequentially consistent if the whole is, and acquires if the
 * whole does; likewise its write.
 */
static uint8_t read_order(uint8_t order) {
    if (order == EXPLORE_SEQ_CST) return order;
    return acquires(order) ? EXPLORE_ACQUIRE : EXPLORE_RELAXED;
}
static uint8_t write_order(uint8_t order) {
    if (order == EXPLORE_SEQ_CST) return order;
    return releases(order) ? EXPLORE_RELEASE : EXPLORE_RELAXED;
}

static ref last_event(void) {
    return ref_of(x->running, x->thread[x->running].count - 1);
}

uint64_t explore_change(void *address, size_t size, enum explore_change_kind kind, uint64_t operand,
                        enum explore_order given, struct explore_place place) {
    if (!x->exploring) {
        uint64_t old = read_memory(address, size), new = changed(old, kind, operand, size);
        memcpy(address, &new, size);
        return old;
    }
    uint8_t order = score_order(given, SCORE_CHANGE, place);
    explorer_await_turn(place);
    uint64_t old = read_event(address, size, read_order(order), 0, true, NULL, place);
    write_event(address, size, changed(old, kind, operand, size), write_order(order), last_event(),
                place);
    return old;
}

bool explore_cas(void *address, size_t size, void *expected, uint64_t desired,
                 enum explore_order given, enum explore_order failure, struct explore_place place) {
    uint64_t wanted = read_memory(expected, size);
    if (!x->exploring) {
        bool equal = memcmp(address, expected, size) == 0;
        memcpy(equal ? address : expected, equal ? (void *)&desired : address, size);
        return equal;
    }
    uint8_t order = score_order(given, SCORE_CHANGE, place);
    explorer_await_turn(place);
    uint64_t old =
        read_event(address, size, read_order(order),
                   read_order(score_order(failure, SCORE_FAILURE, place)), true, &wanted, place);
    if (old != wanted) {
        memcpy(expected, &old, size);
        return false;
    }
    write_event(address, size, desired, write_order(order), last_event(), place);
    return true;
}

static void fence_event(uint8_t order, enum fence kind, struct explore_place place) {
    struct thread *self = &x->thread[x->running];
    bool is_new;
    explorer_await_turn(place);
    ref e = add_event((struct event){.kind = FENCE, .order = order, .value = kind, .place = place},
                      &is_new);
    if (acquires(order)) join(self->clock, self->acquirable);
    enter_clocks(e);
    end_runs(e);
    if (releases(order)) memcpy(self->released, self->clock, sizeof self->released);
    if (order == EXPLORE_SEQ_CST || kind == LIGHT_FENCE) sequence_add_fence(e, kind);
}

void explore_fence(enum explore_order order, struct explore_place place) {
    if (x->exploring) fence_event(score_order(order, SCORE_FENCE, place), PLAIN_FENCE, place);
}
void explore_process_barrier(struct explore_place place) {
    if (x->exploring && score_order(EXPLORE_SEQ_CST, SCORE_BARRIER, place) == EXPLORE_SEQ_CST)
        fence_event(EXPLORE_SEQ_CST, HEAVY_FENCE, place);
}
void explore_compiler_barrier(struct explore_place place) {
    if (x->exploring && score_order(EXPLORE_SEQ_CST, SCORE_BARRIER, place) == EXPLORE_SEQ_CST)
        fence_event(EXPLORE_RELAXED, LIGHT_FENCE, place);
}

/* --- waiting ---------------------------------------------------------------------------------- */

/* Returns whether the thread has read a store in this turn that it had not read in the turn
 * before. */
static bool has_news(const struct thread *self) {
    for (unsigned i = 0; i < self->seen_count; i++) {
        const struct seen *now = &self->seen[i];
        bool known = now->own;
        for (unsigned j = 0; j < self->before_count && !known; j++)
            known = self->before[j].location == now->location && self->before[j].rank == now->rank;
        if (!known) return true;
    }
    return false;
}

/* A turn of a loop is in vain if it has only read, or has read nothing new. It adds nothing to an
 * execution in which the thread reads later, by revisits of its reads. */
static bool is_in_vain(const struct thread *self, struct explore_place place) {
    if (!self->last_spin.file || x->by_chance) return false;
    if (!self->wrote && self->last_spin.line == place.line &&
        strcmp(self->last_spin.file, place.file) == 0)
        return true;
    return !has_news(self);
}

void explore_spin(struct explore_place place) {
    if (!x->exploring) return;
    struct thread *self = &x->thread[x->running];
    if (self->seen_count == 0) return;
    bool is_new;
    self->spins = true;
    self->stuck = is_in_vain(self, place);
    explorer_await_turn(place);
    if (explorer_is_stirred(self)) self->idle_spins = 0;
    add_event((struct event){.kind = SPIN, .place = place}, &is_new);
    enter_clocks(last_event() + 1);
    self->spins = self->stuck = self->wrote = false;
    memcpy(self->before, self->seen, self->seen_count * sizeof *self->seen);
    self->before_count = self->seen_count;
    self->seen_count = 0;
    self->last_spin = place;
}

static void *queue_of(const void *address) {
    return (void *)((uintptr_t)address | KERNELS);
}

/* Waits until another thread's write takes this thread out of the queue. */
static void await_waker(const void *queue, struct explore_place place) {
    struct thread *self = &x->thread[x->running];
    struct location *location = plain_location(queue, 8, false);
    bool is_new;
    self->sleeps = location;
    self->queued = last_event();
    explorer_await_turn(place);
    ref e = add_event((struct event){.kind = READ,
                                     .order = EXPLORE_ACQUIRE,
                                     .exclusive = true,
                                     .from = NO_EVENT,
                                     .address = queue,
                                     .place = place},
                      &is_new);
    if (is_new) event_of(e)->from = explorer_waker_of(self);
    self->sleeps = NULL;
    finish_read(e, location, EXPLORE_ACQUIRE, false);
}

/* A queue has four bits for each sleeper, the first sleeper in the lowest bits. The upper half has
 * one bit for each thread that the last change has woken. */
static uint64_t queued(uint64_t queue, unsigned thread) {
    queue &= UINT32_MAX;
    unsigned room = 0;
    while (queue >> room) room += 4;
    return queue | (uint64_t)(thread + 1) << room;
}

void explore_futex_wait(void *address, uint32_t expected, struct explore_place place) {
    void *queue = queue_of(address);
    if (!x->exploring) explore_failed(EXPLORE_AT("sleep without another thread"));
    explorer_await_turn(place);
    uint64_t sleepers = read_event(queue, 8, EXPLORE_ACQUIRE, EXPLORE_ACQUIRE, true, NULL, place);
    ref read = last_event();
    explorer_await_turn(place);
    if (read_event(address, sizeof expected, EXPLORE_RELAXED, EXPLORE_RELAXED, false, NULL,
                   place) != expected)
        return;
    write_event(queue, 8, queued(sleepers, x->running), EXPLORE_RELEASE, read, place);
    await_waker(queue, place);
}

int explore_futex_wake(void *address, int count, struct explore_place place) {
    void *queue = queue_of(address);
    int woken = 0;
    if (!x->exploring) return 0;
    explorer_await_turn(place);
    uint64_t sleepers =
        read_event(queue, 8, EXPLORE_ACQUIRE, EXPLORE_ACQUIRE, true, NULL, place) & UINT32_MAX;
    uint64_t named = 0;
    for (; sleepers && woken < count; woken++, sleepers >>= 4)
        named |= (uint64_t)1 << 32 << ((sleepers & 15) - 1);
    write_event(queue, 8, sleepers | named, EXPLORE_RELEASE, last_event(), place);
    return woken;
}
