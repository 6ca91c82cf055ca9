/* Runs one execution; see explore.h. */
#define _GNU_SOURCE
#include "explorer.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    SHOWN_STEPS = 300,     /* of a failure: the last */
    MOST_IDLE_SPINS = 250, /* of a thread while nobody else can go on */
};

struct explorer *x;

/* --- failure --------------------------------------------------------------------------------- */

static void print_step(unsigned number) {
    static const char *const orders[] = {"relaxed", "acquire", "release", "acq_rel", "seq_cst"};
    ref e = x->trace[number];
    const struct event *event = event_of(e);
    const char *name = strrchr(event->place.file, '/');
    fprintf(stderr, "  %4u  thread %u  %s:%d  %s", number, thread_of(e),
            name ? name + 1 : event->place.file, event->place.line, event->place.text);
    if (event->kind == READ || event->kind == WRITE)
        fprintf(stderr, "  %s %s %#lx", orders[event->order],
                event->kind == WRITE ? "writes" : "reads", (unsigned long)event->value);
    if (event->kind == READ && event->from != NO_EVENT)
        fprintf(stderr, " of %u", detail_of(event->from)->step);
    fputc('\n', stderr);
}

void explorer_report(const char *what) {
    if (x->failed) return;
    x->failed = true;
    if (x->model->quiet) return;
    fprintf(stderr, "%s: %s, in execution %ld after %u steps:\n", x->model->name, what,
            x->executions, x->steps);
    for (unsigned i = x->steps > SHOWN_STEPS ? x->steps - SHOWN_STEPS : 0; i < x->steps; i++)
        print_step(i);
    for (unsigned t = 0; t < x->threads; t++) {
        const struct thread *thread = &x->thread[t];
        if (!thread->finished)
            fprintf(stderr, "  thread %u is at %s:%d  %s%s\n", t, thread->at.file, thread->at.line,
                    thread->at.text, thread->sleeps ? ", asleep" : "");
    }
}

_Noreturn void explore_failed(struct explore_place place) {
    char text[300];
    snprintf(text, sizeof text, "%s:%d: failed: %s", place.file, place.line, place.text);
    if (!x->model) {
        fprintf(stderr, "%s\n", text);
        exit(1);
    }
    explorer_report(text);
    _longjmp(x->end, 1);
}

_Noreturn void explorer_prune(void) {
    x->pruned = true;
    _longjmp(x->end, 1);
}

/* --- whose turn it is ------------------------------------------------------------------------ */

/* Has what it looked at changed? */
static bool is_stirred(const struct thread *thread) {
    for (unsigned i = 0; i < thread->seen_count; i++) {
        const struct location *location = &x->location[thread->seen[i].location];
        if (location->address && location->newest != NO_EVENT &&
            event_of(location->newest)->rank > thread->seen[i].rank)
            return true;
    }
    return false;
}

static ref waker_of(const struct thread *thread) {
    unsigned number = (unsigned)(thread - x->thread);
    return choose_waker(thread->sleeps, number, event_of(thread->queued)->rank);
}

static bool can_go_on(const struct thread *thread) {
    if (thread->finished || thread->stuck) return false;
    if (thread->sleeps) return waker_of(thread) != NO_EVENT;
    return !thread->spins || is_stirred(thread);
}

enum turn { FIRST, PLACED, LAST };

/* A store that may stand anywhere comes late, when all that it could stand before is there; the
 * read that is new, or reads that store, last: a write may follow it at once. */
static enum turn turn_of(unsigned t, unsigned index) {
    if (x->last == ref_of(t, index)) return LAST;
    if (x->placing == NO_EVENT || thread_of(x->placing) != t) return FIRST;
    const struct event *placed = event_of(x->placing);
    return index < (placed->exclusive ? placed->pair : index_of(x->placing)) ? FIRST : PLACED;
}

/* Has all that the thread's next event reads been written? */
static bool can_replay(unsigned t, enum turn turn) {
    unsigned count = x->thread[t].count;
    if (x->thread[t].finished || count >= x->graph.length[t]) return false;
    const struct event *next = &x->graph.event[t][count];
    if (next->kind == READ && next->from != NO_EVENT &&
        index_of(next->from) >= x->thread[thread_of(next->from)].count)
        return false;
    return turn_of(t, count) <= turn;
}

/* Where all wait for each other one goes on all the same, which matters to loops that give up after
 * some turns; unless one waits only because what it would do next has been tried elsewhere. */
static unsigned next_idler(void) {
    unsigned found = NOBODY;
    for (unsigned t = x->threads; t-- > 0;) {
        struct thread *thread = &x->thread[t];
        if (thread->finished || thread->sleeps) continue;
        if (is_stirred(thread)) return NOBODY;
        if (thread->idle_spins < MOST_IDLE_SPINS) found = t;
    }
    if (found == NOBODY) return NOBODY;
    x->thread[found].idle_spins++;
    x->thread[found].stuck = false;
    return found;
}

static unsigned next_thread(void) {
    for (unsigned t = 0; t < x->threads; t++)
        if (!x->thread[t].started) return t;
    if (x->replaying) {
        if (can_replay(x->running, FIRST)) return x->running;
        for (enum turn turn = FIRST; turn <= LAST; turn++)
            for (unsigned t = 0; t < x->threads; t++)
                if (can_replay(t, turn)) return t;
        for (unsigned t = 0; t < x->threads; t++)
            if (x->thread[t].count < x->graph.length[t])
                explore_failed(EXPLORE_AT("an execution can be repeated"));
        x->replaying = false;
    }
    for (unsigned t = 0; t < x->threads; t++)
        if (can_go_on(&x->thread[t])) return t;
    return next_idler();
}

/* Goes on as that thread. Does not return. */
static void become(unsigned next) {
    if (next == NOBODY) _longjmp(x->end, 1);
    struct thread *thread = &x->thread[next];
    x->running = next;
    *x->local = thread->local;
    if (thread->started) _longjmp(thread->context, 1);
    thread->started = true;
    setcontext(&thread->start);
}

static void entry(void) {
    struct thread *thread = &x->thread[x->running];
    thread->run(thread->argument);
    thread = &x->thread[x->running];
    thread->finished = true;
    become(next_thread());
}

/* Returns when it is the running thread's turn. */
static void await_turn(struct explore_place place) {
    struct thread *self = &x->thread[x->running];
    self->at = place;
    unsigned next = next_thread();
    if (next == x->running) return;
    self->local = *x->local;
    if (_setjmp(self->context) == 0) become(next);
}

void explore_thread_local(void **variable) {
    x->local = variable;
}
unsigned explore_self(void) {
    return x->running;
}

uint64_t explore_ticks(void) {
    struct thread *self = &x->thread[x->running];
    uint64_t events = 0;
    if (!x->exploring) return 1;
    for (unsigned t = 0; t < MOST_THREADS; t++) events += self->cause[t];
    return (events << 20) + ++self->ticks;
}

/* --- events ---------------------------------------------------------------------------------- */

/* The running thread's next event: the one that is repeated, or a new one. */
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

/* Accesses to other objects come after those that precede it in the thread. */
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

static bool acquires(uint8_t order) {
    return order == EXPLORE_ACQUIRE || order >= EXPLORE_ACQ_REL;
}
static bool releases(uint8_t order) {
    return order >= EXPLORE_RELEASE;
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

/* A read, of which it is known by now what it reads. */
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
    if (sees) saw(location, rank_of(e), event->from != NO_EVENT && thread_of(event->from) == x->running);
    return event->value;
}

/* `failure`: the order where it is not the value that was expected. */
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
        event_of(e)->from =
            choose_source(e, &(struct wanted){location, x->running, order, failure, exclusive, expected});
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

/* `read`: it is the write of a read-modify-write, and that its read; else NO_EVENT. */
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
    if (is_placed) { /* for its reader's sake */
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
    insert(e, location);
    detail->next_access = location->accesses;
    location->accesses = e;
    if (is_new) choose_revisits(e, location, taker);
    if (taker != NO_EVENT || event->rank <= at_least) explorer_prune();
    sequence_add(&probe);
    self->wrote = true;
    if (!is_kernels(address)) saw(location, event->rank, true);
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
    await_turn(place);
    return read_event(address, size, score_order(order, SCORE_LOAD, place), 0, false, NULL, place);
}

void explore_store(void *address, size_t size, uint64_t value, enum explore_order order,
                   struct explore_place place) {
    if (!x->exploring) {
        memcpy(address, &value, size);
        return;
    }
    await_turn(place);
    write_event(address, size, value, score_order(order, SCORE_STORE, place), NO_EVENT, place);
}

static uint64_t changed(uint64_t old, enum explore_change_kind kind, uint64_t operand,
                        size_t size) {
    uint64_t new = operand;
    if (kind == EXPLORE_ADD) new = old + operand;
    if (kind == EXPLORE_SUBTRACT) new = old - operand;
    if (kind == EXPLORE_OR) new = old | operand;
    if (kind == EXPLORE_AND) new = old & operand;
    return size == 8 ? new : new & (((uint64_t)1 << 8 * size) - 1);
}

/* A read-modify-write's read is sequentially consistent if it is, or acquires; likewise its write.
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
    await_turn(place);
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
    await_turn(place);
    uint64_t old = read_event(address, size, read_order(order), read_order(score_order(failure, SCORE_FAILURE, place)), true,
                              &wanted, place);
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
    await_turn(place);
    ref e = add_event(
        (struct event){.kind = FENCE, .order = order, .value = kind, .place = place}, &is_new);
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

/* Has it read anything since that it had not read the turn before? */
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

/* A turn of the loop that has only read, or nothing new, adds nothing to an execution in which the
 * thread looks later: then its reads are revisited. */
static bool is_in_vain(const struct thread *self, struct explore_place place) {
    if (!self->last_spin.file) return false;
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
    await_turn(place);
    if (is_stirred(self)) self->idle_spins = 0;
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

/* Until another thread's write takes it out of the queue. */
static void await_waker(const void *queue, struct explore_place place) {
    struct thread *self = &x->thread[x->running];
    struct location *location = plain_location(queue, 8, false);
    bool is_new;
    self->sleeps = location;
    self->queued = last_event();
    await_turn(place);
    ref e = add_event((struct event){.kind = READ,
                                     .order = EXPLORE_ACQUIRE,
                                     .exclusive = true,
                                     .from = NO_EVENT,
                                     .address = queue,
                                     .place = place},
                      &is_new);
    if (is_new) event_of(e)->from = waker_of(self);
    self->sleeps = NULL;
    finish_read(e, location, EXPLORE_ACQUIRE, false);
}

/* A queue has four bits for each that sleeps, who came first in the lowest; above, whom the last
 * change has woken. */
static uint64_t queued(uint64_t queue, unsigned thread) {
    queue &= UINT32_MAX;
    unsigned room = 0;
    while (queue >> room) room += 4;
    return queue | (uint64_t)(thread + 1) << room;
}

void explore_futex_wait(void *address, uint32_t expected, struct explore_place place) {
    void *queue = queue_of(address);
    if (!x->exploring) explore_failed(EXPLORE_AT("sleep without another thread"));
    await_turn(place);
    uint64_t sleepers = read_event(queue, 8, EXPLORE_ACQUIRE, EXPLORE_ACQUIRE, true, NULL, place);
    ref read = last_event();
    await_turn(place);
    if (read_event(address, sizeof expected, EXPLORE_RELAXED, EXPLORE_RELAXED, false, NULL, place) != expected)
        return;
    write_event(queue, 8, queued(sleepers, x->running), EXPLORE_RELEASE, read, place);
    await_waker(queue, place);
}

int explore_futex_wake(void *address, int count, struct explore_place place) {
    void *queue = queue_of(address);
    int woken = 0;
    if (!x->exploring) return 0;
    await_turn(place);
    uint64_t sleepers = read_event(queue, 8, EXPLORE_ACQUIRE, EXPLORE_ACQUIRE, true, NULL, place) & UINT32_MAX;
    uint64_t named = 0;
    for (; sleepers && woken < count; woken++, sleepers >>= 4)
        named |= (uint64_t)1 << 32 << ((sleepers & 15) - 1);
    write_event(queue, 8, sleepers | named, EXPLORE_RELEASE, last_event(), place);
    return woken;
}

/* --- executions ------------------------------------------------------------------------------- */

void explore_start(void *(*run)(void *), void *argument) {
    unsigned number = 0;
    while (number < MOST_THREADS && x->thread[number].run) number++;
    if (x->exploring) {
        bool is_new;
        await_turn(EXPLORE_AT("start"));
        ref e = add_event((struct event){.kind = CREATE, .place = EXPLORE_AT("start")}, &is_new);
        enter_clocks(e);
        if (is_new) event_of(e)->value = number;
        number = (unsigned)event_of(e)->value;
    }
    if (number >= MOST_THREADS) explore_failed(EXPLORE_AT("few enough threads"));
    if (number >= x->threads) x->threads = number + 1;
    struct thread *thread = &x->thread[number];
    char *stack = thread->stack;
    memset(thread, 0, sizeof *thread);
    thread->stack = stack;
    thread->run = run;
    thread->argument = argument;
    if (x->exploring) {
        memcpy(thread->clock, x->thread[x->running].clock, sizeof thread->clock);
        memcpy(thread->cause, x->thread[x->running].cause, sizeof thread->cause);
    }
    getcontext(&thread->start);
    thread->start.uc_stack.ss_sp = stack;
    thread->start.uc_stack.ss_size = STACK;
    thread->start.uc_link = NULL;
    makecontext(&thread->start, entry, 0);
}

static void *run_thread(void *number) {
    x->model->thread((unsigned)(uintptr_t)number);
    return NULL;
}

static bool is_complete(void) {
    for (unsigned t = 0; t < x->threads; t++)
        if (!x->thread[t].finished) return false;
    return true;
}

/* Those that wait have been shown all there is, and wait on. */
static bool hangs(void) {
    for (unsigned t = 0; t < x->threads; t++) {
        const struct thread *thread = &x->thread[t];
        if (!thread->finished && !thread->sleeps && is_stirred(thread)) return false;
    }
    return true;
}

static void execute(void) {
    arena_restore();
    plain_begin();
    for (unsigned t = 0; t < MOST_THREADS; t++) {
        x->thread[t].run = NULL;
        x->thread[t].started = x->thread[t].finished = true;
        x->thread[t].count = 0;
    }
    x->threads = x->steps = x->locations = x->nodes = x->fences = 0;
    x->pruned = false;
    x->replaying = true;
    x->running = 0;
    x->executions++;
    if (!_setjmp(x->end)) {
        for (unsigned t = 0; t < x->model->threads; t++)
            explore_start(run_thread, (void *)(uintptr_t)t);
        x->thread[0].local = x->local_of_setup; /* who has set up is thread 0 */
        x->exploring = true;
        become(next_thread());
    }
    x->exploring = false;
    if (x->failed || x->pruned) return;
    if (!is_complete() && hangs()) explorer_report("threads hang");
    if (!is_complete()) x->pruned = true;
    else if (x->model->check && !_setjmp(x->end)) x->model->check();
}

/* A wild pointer, most likely: read from an object that was not set up yet. */
static void crashed(int signal) {
    if (signal == SIGSEGV && x->exploring) explorer_report("the program crashes");
    _exit(1);
}

/* On a stack of its own. */
static void catch_crashes(void) {
    stack_t stack = {.ss_size = STACK};
    stack.ss_sp = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    sigaltstack(&stack, NULL);
    struct sigaction action = {.sa_handler = crashed, .sa_flags = SA_ONSTACK};
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
}

static void prepare(void) {
    if (x) return;
    catch_crashes();
    struct explorer *new = mmap(NULL, sizeof *new, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    static void *nothing;
    x = new;
    score_prepare();
    x->local = &nothing;
    arena_prepare();
    plain_prepare();
    for (unsigned t = 0; t < MOST_THREADS; t++)
        x->thread[t].stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
}

/* The runtime's constructors allocate before main. */
__attribute__((constructor(101))) static void early(void) {
    prepare();
}

bool explore(const struct explore_model *given) {
    struct explore_model model = *given; /* the given one may be restored */
    x->model = &model;
    x->failed = false;
    x->executions = x->cut_off = 0;
    const char *given_most = getenv("EXPLORE_MOST");
    long most = model.executions;
    if (given_most && (most || getenv("EXPLORE_ALWAYS"))) most = atol(given_most);
    if (!most) most = LONG_MAX;
    arena_keep();
    *x->local = NULL;
    if (!_setjmp(x->end) && model.setup) model.setup();
    x->local_of_setup = *x->local;
    arena_keep();
    graph_begin();
    bool more = true;
    while (more && !x->failed && x->executions < most) {
        execute();
        if (x->failed) break;
        if (x->pruned) x->cut_off++;
        more = graph_next();
    }
    bool failed = x->failed;
    graph_end();
    arena_forget();
    arena_forget();
    x->model = NULL;
    if (failed) return false;
    if (model.quiet) return true;
    printf("%s: %ld executions, %ld cut off%s\n", model.name, x->executions - x->cut_off, x->cut_off,
           more ? ", not all" : "");
    fflush(stdout);
    return true;
}
