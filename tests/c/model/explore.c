/* The explorer; see explore.h. */
#define _GNU_SOURCE
#include "explore.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

enum {
    MOST_THREADS = 8,
    MOST_ACTORS = 2 * MOST_THREADS, /* each thread, and the flushing of each thread's buffer */
    MOST_STEPS = 4000,              /* of an execution: more are taken for a loop without end */
    SHOWN_STEPS = 300,              /* of a failure: the last */
    BUFFER = 64,
    STACK = 256 * 1024,
    ARENA = 64 * 1024 * 1024
};

enum kind {
    LOCAL,   /* touches nothing shared */
    READ,    /* of `address` */
    WRITE,   /* of `address`, or both */
    SPIN,    /* until someone writes */
    FENCE,   /* until the own buffer is empty */
    BARRIER, /* until all buffers are */
};

struct step {
    enum kind kind;
    bool locked; /* needs an empty buffer of its own */
    const void *address;
    struct explore_place place;
};

struct store {
    void *address;
    size_t size;
    uint64_t value;
    struct explore_place place;
};

struct thread {
    jmp_buf context;
    ucontext_t start;
    bool started, finished;
    const void *sleeps_on; /* in the kernel; NULL: no */
    struct step next;
    uint64_t writes_seen; /* when it read last */
    unsigned idle_spins;
    struct store buffer[BUFFER];
    unsigned buffered;
    void *local;
    void (*run)(void *);
    void *argument;
    char *stack;
};

/* A point at which there was a choice. */
struct node {
    uint32_t enabled, done, sleep;
    unsigned chosen;
    unsigned running;     /* the thread that took the last step */
    unsigned preemptions; /* so far */
    struct step next[MOST_ACTORS];
};

/* All state, apart from the executable's data: that is restored before each execution. */
static struct explorer {
    const struct explore_model *model;
    struct thread thread[MOST_THREADS];
    unsigned threads, running, steps;
    uint64_t writes, ticks;
    struct node node[MOST_STEPS];
    unsigned depth; /* of the nodes that are fixed */
    struct {
        unsigned actor;
        struct step step;
        uint64_t value;
    } trace[MOST_STEPS];
    jmp_buf end; /* of an execution */
    bool exploring, failed, pruned;
    char *data, *arena, *kept; /* copies of what is restored; memory for the program */
    size_t arena_used, kept_size;
    void **local;
    long executions, cut_off;
} * x;

extern char __data_start[], _end[];

/* --- memory of the program ------------------------------------------------------------------ */

void *explore_allocate(size_t size) {
    size = (size + 63) & ~(size_t)63;
    if (x->arena_used + size + 64 > ARENA) explore_failed(EXPLORE_AT("memory for an execution"));
    char *memory = x->arena + x->arena_used + 64;
    memcpy(memory - 8, &size, sizeof size);
    memset(memory, 0, size);
    x->arena_used += size + 64;
    return memory;
}

void explore_free(void *memory) {
    size_t size;
    if (!memory) return;
    memcpy(&size, (char *)memory - 8, sizeof size);
    memset(memory, 0xdd, size); /* who uses it still will notice; it is not given out again */
}

void *explore_reallocate(void *memory, size_t size) {
    size_t old = 0;
    void *bigger = explore_allocate(size);
    if (memory) memcpy(&old, (char *)memory - 8, sizeof old);
    if (memory) memcpy(bigger, memory, old < size ? old : size);
    explore_free(memory);
    return bigger;
}

static void take_snapshot(void) {
    size_t size = (size_t)(_end - __data_start);
    x->kept_size = x->arena_used;
    x->data = malloc(size);
    x->kept = malloc(x->kept_size + 1);
    memcpy(x->data, __data_start, size);
    memcpy(x->kept, x->arena, x->kept_size);
}

static void restore_snapshot(void) {
    memcpy(__data_start, x->data, (size_t)(_end - __data_start));
    memcpy(x->arena, x->kept, x->kept_size);
    x->arena_used = x->kept_size;
}

/* --- failure --------------------------------------------------------------------------------- */

static void print_step(unsigned number) {
    unsigned actor = x->trace[number].actor;
    const struct step *step = &x->trace[number].step;
    const char *name = strrchr(step->place.file, '/');
    fprintf(stderr, "  %4u  thread %u%s  %s:%d  %s", number, actor % MOST_THREADS,
            actor >= MOST_THREADS ? "'s buffer" : "", name ? name + 1 : step->place.file,
            step->place.line, step->place.text);
    if (step->address)
        fprintf(stderr, "  [%p] %#lx", step->address, (unsigned long)x->trace[number].value);
    fputc('\n', stderr);
}

static void report(const char *what) {
    if (x->failed) return;
    x->failed = true;
    fprintf(stderr, "%s: %s, in execution %ld after %u steps:\n", x->model->name, what,
            x->executions, x->steps);
    for (unsigned i = x->steps > SHOWN_STEPS ? x->steps - SHOWN_STEPS : 0; i < x->steps; i++)
        print_step(i);
    for (unsigned t = 0; t < x->threads; t++) {
        struct thread *thread = &x->thread[t];
        if (thread->finished) continue;
        fprintf(stderr, "  thread %u is at %s:%d  %s%s\n", t, thread->next.place.file,
                thread->next.place.line, thread->next.place.text,
                thread->sleeps_on ? ", asleep" : "");
    }
}

_Noreturn void explore_failed(struct explore_place place) {
    char text[300];
    snprintf(text, sizeof text, "%s:%d: failed: %s", place.file, place.line, place.text);
    if (!x->model) {
        fprintf(stderr, "%s\n", text);
        exit(1);
    }
    report(text);
    _longjmp(x->end, 1);
}

/* --- choosing -------------------------------------------------------------------------------- */

static bool all_buffers_empty(void) {
    for (unsigned t = 0; t < x->threads; t++)
        if (x->thread[t].buffered) return false;
    return true;
}

static bool is_enabled(const struct thread *thread, bool last_resort) {
    if (thread->finished || thread->sleeps_on) return false;
    if (thread->next.locked && thread->buffered) return false;
    if (thread->next.kind == FENCE) return !thread->buffered;
    if (thread->next.kind == BARRIER) return all_buffers_empty();
    if (thread->next.kind == SPIN) return last_resort || thread->writes_seen != x->writes;
    return true;
}

static uint32_t enabled_actors(struct step next[MOST_ACTORS]) {
    uint32_t enabled = 0;
    for (unsigned t = 0; t < x->threads; t++) {
        struct thread *thread = &x->thread[t];
        if (is_enabled(thread, false)) {
            enabled |= 1u << t;
            next[t] = thread->next;
        }
        if (thread->buffered) {
            enabled |= 1u << (t + MOST_THREADS);
            next[t + MOST_THREADS] = (struct step){.kind = WRITE,
                                                   .address = thread->buffer[0].address,
                                                   .place = thread->buffer[0].place};
        }
    }
    if (enabled) return enabled;
    /* Nobody but spinners: they go on, which matters to loops that give up after some turns. */
    for (unsigned t = 0; t < x->threads; t++)
        if (is_enabled(&x->thread[t], true) && x->thread[t].idle_spins < 2000) {
            enabled |= 1u << t;
            next[t] = x->thread[t].next;
            break;
        }
    return enabled;
}

/* May the order of these two matter? */
static bool depend(unsigned a, const struct step *s, unsigned b, const struct step *t) {
    if (a == b) return true;
    bool flush_a = a >= MOST_THREADS, flush_b = b >= MOST_THREADS;
    if (a % MOST_THREADS == b % MOST_THREADS) return true;
    if ((s->kind == BARRIER && flush_b) || (t->kind == BARRIER && flush_a)) return true;
    if ((s->kind == SPIN && t->kind == WRITE) || (t->kind == SPIN && s->kind == WRITE)) return true;
    if (s->kind != READ && s->kind != WRITE) return false;
    if (t->kind != READ && t->kind != WRITE) return false;
    return (s->kind == WRITE || t->kind == WRITE) && s->address == t->address;
}

static unsigned lowest(uint32_t set) {
    return (unsigned)__builtin_ctz(set);
}

/* The actor that comes next at a new node: the running thread if it may go on. */
static unsigned first_choice(uint32_t candidates, unsigned running) {
    return candidates >> running & 1 ? running : lowest(candidates);
}

static bool is_preemption(const struct node *node) {
    return node->chosen < MOST_THREADS && node->chosen != node->running &&
           (node->enabled >> node->running & 1) && node->next[node->running].kind != SPIN;
}

static uint32_t within_bound(const struct node *node, uint32_t candidates) {
    unsigned most = x->model->preemptions, running = node->running;
    if (most == 0 || node->preemptions < most || !(node->enabled >> running & 1) ||
        node->next[running].kind == SPIN)
        return candidates;
    /* Flushing is the machine's doing, not a switch. */
    return candidates & (1u << running | ~((1u << MOST_THREADS) - 1));
}

/* Which actor takes the next step; MOST_ACTORS: the execution is over. */
static unsigned choose(unsigned running) {
    struct node *node = &x->node[x->steps];
    if (x->steps >= MOST_STEPS - 1) {
        report("no end in sight");
        return MOST_ACTORS;
    }
    if (x->steps < x->depth) return node->chosen;
    node->enabled = enabled_actors(node->next);
    node->done = node->sleep = 0;
    node->running = running;
    node->preemptions = 0;
    if (x->steps > 0) {
        const struct node *before = node - 1;
        uint32_t asleep = before->sleep | before->done;
        for (unsigned a = 0; a < MOST_ACTORS; a++)
            if ((asleep >> a & 1) && a != before->chosen &&
                !depend(a, &before->next[a], before->chosen, &before->next[before->chosen]))
                node->sleep |= 1u << a;
        node->preemptions = before->preemptions + is_preemption(before);
        if (x->model->preemptions) node->sleep = 0; /* the two reductions do not go together */
    }
    if (node->enabled == 0) return MOST_ACTORS;
    uint32_t candidates = within_bound(node, node->enabled & ~node->sleep);
    if (candidates == 0) {
        x->pruned = true;
        return MOST_ACTORS;
    }
    node->chosen = first_choice(candidates, running);
    x->depth = x->steps + 1;
    return node->chosen;
}

/* After an execution: the deepest node with something left to try. False: all was tried. */
static bool backtrack(void) {
    while (x->depth > 0) {
        struct node *node = &x->node[x->depth - 1];
        node->done |= 1u << node->chosen;
        uint32_t left = within_bound(node, node->enabled & ~node->sleep) & ~node->done;
        if (left) {
            node->chosen = lowest(left);
            return true;
        }
        x->depth--;
    }
    return false;
}

/* --- running --------------------------------------------------------------------------------- */

static void write_memory(void *address, size_t size, uint64_t value) {
    memcpy(address, &value, size);
    x->writes++;
}

static void record(unsigned actor, const struct step *step, uint64_t value) {
    x->trace[x->steps].actor = actor;
    x->trace[x->steps].step = *step;
    x->trace[x->steps].value = value;
    x->steps++;
}

static void flush(unsigned t) {
    struct thread *thread = &x->thread[t];
    struct store store = thread->buffer[0];
    write_memory(store.address, store.size, store.value);
    thread->buffered--;
    memmove(thread->buffer, thread->buffer + 1, thread->buffered * sizeof store);
}

static void entry(void) {
    struct thread *thread = &x->thread[x->running];
    record(x->running, &thread->next, 0);
    thread->run(thread->argument);
    thread = &x->thread[x->running];
    thread->finished = true;
    thread->next = (struct step){.kind = LOCAL, .place = EXPLORE_AT("end")};
    for (;;) {
        unsigned next = choose(x->running);
        if (next == MOST_ACTORS) _longjmp(x->end, 1);
        if (next >= MOST_THREADS) {
            record(next, &x->node[x->steps].next[next],
                   x->thread[next - MOST_THREADS].buffer[0].value);
            flush(next - MOST_THREADS);
            continue;
        }
        x->running = next;
        *x->local = x->thread[next].local;
        if (x->thread[next].started) _longjmp(x->thread[next].context, 1);
        x->thread[next].started = true;
        setcontext(&x->thread[next].start);
    }
}

static void switch_to(unsigned next) {
    struct thread *from = &x->thread[x->running], *to = &x->thread[next];
    if (from == to) return;
    from->local = *x->local;
    x->running = next;
    *x->local = to->local;
    if (_setjmp(from->context)) return;
    if (to->started) _longjmp(to->context, 1);
    to->started = true;
    setcontext(&to->start);
}

/* Announces a step and returns when it is its turn. */
static void await_turn(struct step step) {
    struct thread *self = &x->thread[x->running];
    self->next = step;
    for (;;) {
        unsigned next = choose(x->running);
        if (next == MOST_ACTORS) _longjmp(x->end, 1);
        if (next >= MOST_THREADS) {
            record(next, &x->node[x->steps].next[next],
                   x->thread[next - MOST_THREADS].buffer[0].value);
            flush(next - MOST_THREADS);
            continue;
        }
        switch_to(next);
        return; /* whoever switched back has chosen us */
    }
}

void explore_thread_local(void **variable) {
    x->local = variable;
}
unsigned explore_self(void) {
    return x->running;
}
uint64_t explore_ticks(void) {
    return x->ticks += 1000000;
}

void explore_start(void (*run)(void *), void *argument) {
    unsigned number = x->threads++;
    struct thread *thread = &x->thread[number];
    if (number >= MOST_THREADS) explore_failed(EXPLORE_AT("too many threads"));
    char *stack = thread->stack;
    memset(thread, 0, sizeof *thread);
    thread->stack = stack;
    thread->run = run;
    thread->argument = argument;
    thread->next = (struct step){.kind = LOCAL, .place = EXPLORE_AT("begin")};
    getcontext(&thread->start);
    thread->start.uc_stack.ss_sp = stack;
    thread->start.uc_stack.ss_size = STACK;
    thread->start.uc_link = NULL;
    makecontext(&thread->start, entry, 0);
}

/* --- the steps -------------------------------------------------------------------------------- */

static uint64_t read_memory(const void *address, size_t size) {
    uint64_t value = 0;
    memcpy(&value, address, size);
    return value;
}

static const struct store *own_store(const void *address) {
    struct thread *self = &x->thread[x->running];
    for (unsigned i = self->buffered; i-- > 0;)
        if (self->buffer[i].address == address) return &self->buffer[i];
    return NULL;
}

uint64_t explore_load(const void *address, size_t size, struct explore_place place) {
    if (!x->exploring) return read_memory(address, size);
    const struct store *own = own_store(address);
    if (own) return own->value;
    struct step step = {.kind = READ, .address = address, .place = place};
    await_turn(step);
    own = own_store(address);
    uint64_t value = own ? own->value : read_memory(address, size);
    x->thread[x->running].writes_seen = x->writes;
    record(x->running, &step, value);
    return value;
}

void explore_store(void *address, size_t size, uint64_t value, bool locked,
                   struct explore_place place) {
    if (!x->exploring) {
        memcpy(address, &value, size);
        return;
    }
    struct thread *self = &x->thread[x->running];
    if (!locked && !x->model->in_order && self->buffered < BUFFER) {
        self->buffer[self->buffered++] = (struct store){address, size, value, place};
        return;
    }
    struct step step = {.kind = WRITE, .locked = true, .address = address, .place = place};
    await_turn(step);
    write_memory(address, size, value);
    record(x->running, &step, value);
}

static uint64_t changed(uint64_t old, enum explore_change_kind kind, uint64_t operand) {
    switch (kind) {
    case EXPLORE_ADD:
        return old + operand;
    case EXPLORE_SUBTRACT:
        return old - operand;
    case EXPLORE_OR:
        return old | operand;
    case EXPLORE_AND:
        return old & operand;
    default:
        return operand;
    }
}

uint64_t explore_change(void *address, size_t size, enum explore_change_kind kind, uint64_t operand,
                        struct explore_place place) {
    struct step step = {.kind = WRITE, .locked = true, .address = address, .place = place};
    if (x->exploring) await_turn(step);
    uint64_t old = read_memory(address, size), new = changed(old, kind, operand);
    write_memory(address, size, new);
    if (x->exploring) record(x->running, &step, read_memory(address, size));
    return old;
}

bool explore_cas(void *address, size_t size, void *expected, uint64_t desired,
                 struct explore_place place) {
    struct step step = {.kind = WRITE, .locked = true, .address = address, .place = place};
    if (x->exploring) await_turn(step);
    bool equal = memcmp(address, expected, size) == 0;
    if (equal)
        write_memory(address, size, desired);
    else
        memcpy(expected, address, size);
    if (x->exploring) record(x->running, &step, read_memory(address, size));
    return equal;
}

void explore_fence(struct explore_place place) {
    struct step step = {.kind = FENCE, .place = place};
    if (!x->exploring) return;
    await_turn(step);
    record(x->running, &step, 0);
}

void explore_process_barrier(struct explore_place place) {
    struct step step = {.kind = BARRIER, .place = place};
    if (!x->exploring) return;
    await_turn(step);
    record(x->running, &step, 0);
}

void explore_spin(struct explore_place place) {
    struct step step = {.kind = SPIN, .place = place};
    if (!x->exploring) return;
    struct thread *self = &x->thread[x->running];
    self->idle_spins = self->writes_seen == x->writes ? self->idle_spins + 1 : 0;
    await_turn(step);
    x->thread[x->running].writes_seen = x->writes;
    record(x->running, &step, 0);
}

void explore_futex_wait(void *address, uint32_t expected, struct explore_place place) {
    struct step step = {.kind = WRITE, .locked = true, .address = address, .place = place};
    if (!x->exploring) explore_failed(EXPLORE_AT("sleep without another thread"));
    await_turn(step);
    uint32_t found = (uint32_t)read_memory(address, sizeof found);
    record(x->running, &step, found);
    if (found != expected) return;
    x->thread[x->running].sleeps_on = address;
    await_turn((struct step){.kind = LOCAL, .place = EXPLORE_AT("woken")});
    record(x->running, &(struct step){.kind = LOCAL, .place = EXPLORE_AT("woken")}, 0);
}

void explore_futex_wake(void *address, int count, struct explore_place place) {
    struct step step = {.kind = WRITE, .locked = true, .address = address, .place = place};
    if (!x->exploring) return;
    await_turn(step);
    record(x->running, &step, (uint64_t)count);
    for (unsigned t = 0; t < x->threads && count > 0; t++)
        if (x->thread[t].sleeps_on == address) {
            x->thread[t].sleeps_on = NULL;
            count--;
        }
}

/* --- executions ------------------------------------------------------------------------------- */

static void run_thread(void *number) {
    x->model->thread((unsigned)(uintptr_t)number);
}

static void execute(void) {
    restore_snapshot();
    x->threads = x->steps = 0;
    x->writes = 1;
    x->ticks = 0;
    x->pruned = false;
    *x->local = NULL;
    x->executions++;
    if (!_setjmp(x->end)) {
        if (x->model->setup) x->model->setup();
        for (unsigned t = 0; t < x->model->threads; t++)
            explore_start(run_thread, (void *)(uintptr_t)t);
        x->thread[0].local = *x->local; /* who has set up is thread 0 */
        x->exploring = true;
        unsigned first = choose(0);
        x->running = first;
        *x->local = x->thread[first].local;
        x->thread[first].started = true;
        setcontext(&x->thread[first].start);
    }
    x->exploring = false;
    if (x->failed || x->pruned) return;
    for (unsigned t = 0; t < x->model->threads; t++)
        if (!x->thread[t].finished) report("threads hang");
    if (!x->failed && x->model->check && !_setjmp(x->end)) x->model->check();
}

static void prepare(void) {
    if (x) return;
    struct explorer *new = mmap(NULL, sizeof *new, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    static void *nothing;
    x = new;
    x->local = &nothing;
    x->arena = mmap(NULL, ARENA, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    for (unsigned t = 0; t < MOST_THREADS; t++)
        x->thread[t].stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
}

/* The runtime's constructors allocate before main. */
__attribute__((constructor(101))) static void early(void) {
    prepare();
}

bool explore(const struct explore_model *model) {
    x->model = model;
    x->failed = false;
    x->depth = 0;
    x->executions = x->cut_off = 0;
    take_snapshot();
    bool more = true;
    while (more && !x->failed && (!model->executions || x->executions < model->executions)) {
        execute();
        if (x->failed) break;
        if (x->pruned) x->cut_off++;
        more = backtrack();
    }
    bool failed = x->failed;
    restore_snapshot();
    free(x->data);
    free(x->kept);
    if (failed) return false;
    char bound[40] = "";
    if (model->preemptions)
        snprintf(bound, sizeof bound, ", at most %u preemptions", model->preemptions);
    printf("%s: %ld executions%s%s\n", model->name, x->executions - x->cut_off, bound,
           more ? ", not all" : "");
    fflush(stdout);
    return true;
}
