/* The hand-back of Capabilities by kept callbacks (runtime/substrate/rts/README.md, "Callbacks"),
 * searched through completely. The model has small teams on few Capabilities, with garbage
 * collections that callbacks request. No order of steps leaves a thread waiting for ever. Some
 * order does if K1 is left out, or if an unsafe call entered the region. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "testing.h"

enum { THREADS = 3, PROGRAM = 8, NOBODY = -1 };

enum operation { END, KEPT, RELEASED, COLLECT, BARRIER, LOCK, UNLOCK };

/* The program of every member, and the number of Capabilities. A callback may request a
 * collection. */
struct scenario {
    const char *name;
    unsigned threads, capabilities;
    enum operation program[PROGRAM];
    bool forget_hand_back; /* the planted fault: no K1 */
    bool unsafe_master; /* the planted fault: an unsafe call entered the region, and its callbacks
                         * are not refused */
    bool deadlocks;
};

enum where { IN_C, WANTS, IN_HASKELL, COLLECTS, AT_BARRIER };

struct state {
    uint8_t at[THREADS];    /* the position in the program */
    uint8_t where[THREADS]; /* enum where */
    int8_t holder[2];       /* the holder of each Capability */
    int8_t collector;       /* the thread that requested a collection that has not run */
    int8_t lock;
    uint8_t arrived, barriers; /* at the barrier; barriers passed, by parity */
};

static const struct scenario *scenario;
static struct state *seen;
static size_t seen_count, seen_room;
static bool found_deadlock;

static unsigned home(unsigned thread) {
    return thread % scenario->capabilities;
}

static bool holds(const struct state *s, unsigned thread) {
    return s->holder[home(thread)] == (int)thread;
}

static enum operation next(const struct state *s, unsigned thread) {
    return scenario->program[s->at[thread]];
}

static bool is_new(const struct state *s) {
    for (size_t i = 0; i < seen_count; i++)
        if (memcmp(&seen[i], s, sizeof *s) == 0) return false;
    if (seen_count == seen_room) {
        seen_room = seen_room ? 2 * seen_room : 1024;
        seen = realloc(seen, seen_room * sizeof *seen);
        CHECK(seen != NULL);
    }
    seen[seen_count++] = *s;
    return true;
}

/* K1 and K3. The unsafe master's foreign call keeps its Capability. */
static void hand_back(struct state *s, unsigned thread) {
    if (scenario->forget_hand_back || (scenario->unsafe_master && thread == 0)) return;
    if (holds(s, thread)) s->holder[home(thread)] = NOBODY;
}

static bool step_in_c(struct state *s, unsigned thread) {
    switch (next(s, thread)) {
    case KEPT:
    case RELEASED:
    case COLLECT:
        s->where[thread] = WANTS;
        return true;
    case BARRIER:
        s->arrived++;
        s->where[thread] = AT_BARRIER;
        hand_back(s, thread);
        return true;
    case LOCK:
        if (s->lock == NOBODY) {
            s->lock = (int8_t)thread;
            s->at[thread]++;
            return true;
        }
        if (!holds(s, thread)) return false; /* the thread sleeps */
        hand_back(s, thread);
        return !holds(s, thread);
    case UNLOCK:
        s->lock = NOBODY;
        s->at[thread]++;
        return true;
    case END:
        if (scenario->unsafe_master && thread == 0) return false; /* waits for the others */
        if (!holds(s, thread)) return false;
        s->holder[home(thread)] = NOBODY; /* K3 */
        return true;
    }
    return false;
}

static void leave_haskell(struct state *s, unsigned thread) {
    if (next(s, thread) != KEPT) s->holder[home(thread)] = NOBODY;
    s->where[thread] = IN_C;
    s->at[thread]++;
}

/* A collection runs when no thread in C holds a Capability; threads in Haskell stop for it. */
static bool can_collect(const struct state *s, unsigned collector) {
    for (unsigned c = 0; c < scenario->capabilities; c++) {
        int other = s->holder[c];
        if (other != NOBODY && other != (int)collector && s->where[other] != IN_HASKELL)
            return false;
    }
    return true;
}

static bool step(struct state *s, unsigned thread) {
    switch (s->where[thread]) {
    case IN_C:
        return step_in_c(s, thread);
    case WANTS:
        if (!holds(s, thread)) {
            if (s->collector != NOBODY || s->holder[home(thread)] != NOBODY) return false;
            s->holder[home(thread)] = (int8_t)thread;
        }
        s->where[thread] = IN_HASKELL;
        return true;
    case IN_HASKELL:
        if (next(s, thread) == COLLECT && s->collector == NOBODY) {
            s->collector = (int8_t)thread;
            s->where[thread] = COLLECTS;
            return true;
        }
        /* A pending collection stops the thread at its next allocation, unless it leaves Haskell
         * before. */
        if (next(s, thread) == COLLECT) return false;
        leave_haskell(s, thread);
        return true;
    case COLLECTS:
        if (!can_collect(s, thread)) return false;
        s->collector = NOBODY;
        leave_haskell(s, thread);
        return true;
    case AT_BARRIER:
        if (s->arrived < scenario->threads) return false;
        /* The last thread to arrive releases all; the model needs no parity for one step. */
        for (unsigned i = 0; i < scenario->threads; i++) {
            s->where[i] = IN_C;
            s->at[i]++;
        }
        s->arrived = 0;
        return true;
    }
    return false;
}

static bool is_over(const struct state *s) {
    for (unsigned i = 0; i < scenario->threads; i++)
        if (s->where[i] != IN_C || next(s, i) != END) return false;
    return true;
}

static void search(const struct state *s) {
    bool moved = false;
    if (!is_new(s)) return;
    for (unsigned i = 0; i < scenario->threads; i++) {
        struct state after = *s;
        if (!step(&after, i)) continue;
        moved = true;
        search(&after);
    }
    if (!moved && !is_over(s)) found_deadlock = true;
}

static void explore(const struct scenario *which) {
    scenario = which;
    seen_count = 0;
    found_deadlock = false;
    struct state start;
    memset(&start, 0, sizeof start);
    memset(start.holder, NOBODY, sizeof start.holder);
    start.collector = start.lock = NOBODY;
    if (which->unsafe_master) start.holder[0] = 0;
    search(&start);
    if (found_deadlock != which->deadlocks) {
        fprintf(stderr, "%s: %s in %zu states\n", which->name,
                found_deadlock ? "a deadlock" : "no deadlock", seen_count);
        exit(1);
    }
}

#define BARRIERS                                                                                   \
    { COLLECT, KEPT, BARRIER, KEPT, RELEASED, BARRIER, COLLECT, END }
#define LOCKS                                                                                      \
    { KEPT, LOCK, RELEASED, KEPT, UNLOCK, COLLECT, END }

int main(void) {
    static const struct scenario scenarios[] = {
        {"barriers, 2 on 1", 2, 1, BARRIERS, false, false, false},
        {"barriers, 2 on 2", 2, 2, BARRIERS, false, false, false},
        {"barriers, 3 on 2", 3, 2, BARRIERS, false, false, false},
        {"barriers, 3 on 1", 3, 1, BARRIERS, false, false, false},
        {"locks, 2 on 1", 2, 1, LOCKS, false, false, false},
        {"locks, 3 on 2", 3, 2, LOCKS, false, false, false},
        {"barriers, kept through", 2, 2, BARRIERS, true, false, true},
        {"locks, kept through", 2, 1, LOCKS, true, false, true},
        {"an unsafe call", 2, 1, BARRIERS, false, true, true},
    };
    for (size_t i = 0; i < sizeof scenarios / sizeof *scenarios; i++) explore(&scenarios[i]);
    free(seen);
    return 0;
}
