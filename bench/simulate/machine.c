/* machine.c: coroutines and their clocks; see machine.h. */
#include "machine.h"

#include "coherence.h"
#include "profile.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

enum {
    STACK = 128 * 1024,
    PAUSE = 300 /* the time of a turn of a spin loop */
};

#define SIM_TICKS_BEFORE (UINT64_C(1) << 40)
#define EMPTY_TURN 0xcbf29ce484222325u

struct thread {
    uint64_t clock;
    uint64_t stored;    /* the time when its last store reaches its line */
    const void *asleep; /* the address on which it sleeps */
    bool spinning;      /* it sleeps until it is disturbed */
    bool ended;
    int heap_index;           /* -1: not runnable */
    bool disturbed;           /* its cache has lost a line since this turn of a spin loop began */
    uint64_t turn, last_turn; /* a hash of the accesses in this turn, and in the last */
    void *current;            /* the runtime's thread-local pointer */
    sim_body *body;
    void *argument;
    jmp_buf state;
    bool started;
    char *stack;
};

static struct {
    struct sim_cost cost;
    struct thread *thread[SIM_MOST];
    int threads, self;
    int heap[SIM_MOST], runnable; /* by clock, then number */
    jmp_buf outside;
    ucontext_t starter;
} machine = {.self = -1};

/* The only thread-local variable of the runtime; each simulated thread has its own. */
extern _Thread_local struct cst_thread *cst_current_thread;

static struct thread *self(void) {
    return machine.thread[machine.self];
}

int sim_self(void) {
    return machine.self;
}
uint64_t sim_now(void) {
    return self()->clock;
}
uint64_t sim_ticks(void) {
    /* The counter of a real processor has run for long when a program starts. With a counter from 0
     * on, the first interval that the runtime measures would always be short. */
    return machine.self < 0 ? 0 : SIM_TICKS_BEFORE + sim_now() * SIM_TICKS / SIM_TRANSFER;
}
uint64_t sim_transfers(void) {
    return coherence_transfers();
}

/* --- the running thread ----------------------------------------------------------------- */

static bool before(int a, int b) {
    uint64_t x = machine.thread[a]->clock, y = machine.thread[b]->clock;
    return x != y ? x < y : a < b;
}

static void place(int index, int thread) {
    machine.heap[index] = thread;
    machine.thread[thread]->heap_index = index;
}

static void sift_down(int i) {
    int moved = machine.heap[i];
    for (int child; (child = 2 * i + 1) < machine.runnable; i = child) {
        if (child + 1 < machine.runnable && before(machine.heap[child + 1], machine.heap[child]))
            child++;
        if (!before(machine.heap[child], moved)) break;
        place(i, machine.heap[child]);
    }
    place(i, moved);
}

static void make_runnable(int thread) {
    int i = machine.runnable++;
    while (i > 0 && before(thread, machine.heap[(i - 1) / 2])) {
        place(i, machine.heap[(i - 1) / 2]);
        i = (i - 1) / 2;
    }
    place(i, thread);
}

static int take_first(void) {
    int first = machine.heap[0], last = machine.heap[--machine.runnable];
    machine.thread[first]->heap_index = -1;
    if (machine.runnable > 0) {
        place(0, last);
        sift_down(0);
    }
    return first;
}

static void enter(void) {
    struct thread *me = self();
    me->body(me->argument);
    me = self();
    me->ended = true;
    if (machine.self == 0) _longjmp(machine.outside, 1);
    sim_sleep(me); /* for ever */
}

static void resume(int thread) {
    machine.self = thread;
    struct thread *me = self();
    cst_current_thread = me->current;
    if (me->started) _longjmp(me->state, 1);
    me->started = true;
    ucontext_t context;
    getcontext(&context);
    context.uc_stack.ss_sp = me->stack;
    context.uc_stack.ss_size = STACK;
    context.uc_link = NULL;
    makecontext(&context, enter, 0);
    setcontext(&context);
}

/* Switches to the thread whose clock is furthest behind. */
static void switch_thread(void) {
    struct thread *me = self();
    me->current = cst_current_thread;
    if (machine.runnable == 0) {
        for (int i = 0; i < machine.threads; i++)
            fprintf(stderr, "simulate: thread %d %s at %llu\n", i,
                    machine.thread[i]->asleep ? "sleeps" : "spins",
                    (unsigned long long)machine.thread[i]->clock);
        fputs("simulate: every thread waits for another\n", stderr);
        abort();
    }
    int next = take_first();
    if (next == machine.self) return;
    if (_setjmp(me->state) == 0) resume(next);
}

static void let_others_catch_up(void) {
    if (machine.runnable == 0 || !before(machine.heap[0], machine.self)) return;
    make_runnable(machine.self);
    switch_thread();
}

void sim_sleep(const void *address) {
    self()->asleep = address;
    switch_thread();
}

static void awake(int thread, uint64_t when) {
    struct thread *t = machine.thread[thread];
    if (t->clock < when) t->clock = when;
    make_runnable(thread);
}

int sim_wake(const void *address, int count) {
    int woken = 0;
    for (int i = 0; i < machine.threads && woken < count; i++) {
        struct thread *t = machine.thread[i];
        if (t->asleep != address || t->ended) continue;
        t->asleep = NULL;
        awake(i, self()->clock);
        woken++;
    }
    return woken;
}

void sim_work(uint64_t time) {
    self()->clock += time;
    let_others_catch_up();
}

/* --- spinning --------------------------------------------------------------------------- */

/* A turn of a spin loop may touch the same lines as the turn before, while this cache loses no
 * line. All further turns would be the same, so the thread sleeps until its cache loses a line. */
void sim_relax(void) {
    if (machine.self < 0) return;
    struct thread *me = self();
    if (me->turn == EMPTY_TURN) { /* a delay without an access */
        me->clock += PAUSE;
        return;
    }
    bool again = me->turn == me->last_turn && !me->disturbed;
    me->last_turn = me->turn;
    me->turn = EMPTY_TURN;
    me->disturbed = false;
    if (again) {
        me->spinning = true;
        switch_thread();
    } else {
        me->clock += PAUSE;
        let_others_catch_up();
    }
}

/* The cache of `thread` loses a line; the transfer ends at `when`. */
static void disturb(int thread, uint64_t when) {
    struct thread *t = machine.thread[thread];
    t->disturbed = true;
    if (!t->spinning) return;
    t->spinning = false;
    awake(thread, when);
}

/* --- memory ----------------------------------------------------------------------------- */

static void touch_line(uintptr_t number, enum sim_access access) {
    struct thread *me = self();
    const void *place = profile_place;
    if (!coherence_is_private(coherence_line(number), machine.self)) let_others_catch_up();
    profile_place = place; /* other threads may have run meanwhile, and set it */
    uint64_t begin = me->clock;
    /* Stores keep their order; an exchange waits for all of them. */
    if (access != SIM_READ && me->stored > begin) begin = me->stored;
    uint64_t done = coherence_access(number, machine.self, begin, access != SIM_READ, disturb);
    if (access == SIM_WRITE) {
        me->stored = done;
        me->clock += machine.cost.hit;
    } else {
        me->clock = done + machine.cost.hit + (access == SIM_EXCHANGE ? machine.cost.exchange : 0);
    }
    me->turn = (me->turn ^ (number << 2 | access)) * 0x100000001b3u; /* FNV-1a, by words */
}

void sim_touch(const void *address, size_t size, enum sim_access access) {
    if (machine.self < 0 || size == 0) return;
    const char *mine = (const char *)&cst_current_thread;
    if ((const char *)address == mine) return; /* thread-local */
    uintptr_t from = (uintptr_t)address / SIM_LINE, to = ((uintptr_t)address + size - 1) / SIM_LINE;
    for (uintptr_t number = from; number <= to; number++) touch_line(number, access);
}

void sim_fence(void) {
    if (machine.self < 0) return;
    struct thread *me = self();
    if (me->stored > me->clock) me->clock = me->stored;
    me->clock += machine.cost.exchange;
}

/* --- start ------------------------------------------------------------------------------ */

bool sim_spawn(sim_body *body, void *argument) {
    if (machine.threads == SIM_MOST) return false;
    struct thread *t = calloc(1, sizeof *t);
    if (!t) return false;
    t->stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (t->stack == MAP_FAILED) {
        free(t);
        return false;
    }
    t->body = body;
    t->argument = argument;
    t->turn = t->last_turn = EMPTY_TURN;
    t->clock = machine.self >= 0 ? self()->clock : 0;
    machine.thread[machine.threads] = t;
    make_runnable(machine.threads++);
    return true;
}

void sim_run(const struct sim_cost *cost, sim_body *body, void *argument) {
    machine.cost = *cost;
    machine.threads = machine.runnable = 0;
    coherence_reset();
    machine.self = -1;
    if (!sim_spawn(body, argument)) abort();
    if (_setjmp(machine.outside) == 0) resume(take_first());
    machine.self = -1;
    cst_current_thread = NULL;
}
