/* The explorer; see explore.h. */
#define _GNU_SOURCE
#include "explorer.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    SHOWN_STEPS = 300, /* of a failure: the last */
    STACK = 256 * 1024,
    ARENA = 64 * 1024 * 1024
};

struct explorer *x;

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

void explorer_report(const char *what) {
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
    explorer_report(text);
    _longjmp(x->end, 1);
}

/* --- running --------------------------------------------------------------------------------- */

/* By a thread or, later, by its buffer. */
static void write_memory(unsigned writer, void *address, size_t size, uint64_t value) {
    memcpy(address, &value, size);
    for (unsigned t = 0; t < x->threads; t++) {
        struct thread *thread = &x->thread[t];
        for (unsigned i = 0; t != writer && i < thread->seen_count; i++)
            if (thread->seen[i] == address) thread->stirred = true;
    }
}

static void saw(const void *address) {
    struct thread *self = &x->thread[x->running];
    for (unsigned i = 0; i < self->seen_count; i++)
        if (self->seen[i] == address) return;
    if (self->seen_count == MOST_SEEN) explore_failed(EXPLORE_AT("MOST_SEEN is too small"));
    self->seen[self->seen_count++] = address;
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
    write_memory(t, store.address, store.size, store.value);
    thread->buffered--;
    memmove(thread->buffer, thread->buffer + 1, thread->buffered * sizeof store);
}

/* The thread whose turn is next; the buffers whose turn comes before are flushed. */
static unsigned next_thread(void) {
    for (;;) {
        unsigned next = search_choose();
        if (next == NOBODY) _longjmp(x->end, 1);
        if (next < MOST_THREADS) return next;
        record(next, &x->node[x->steps].next[next], x->thread[next - MOST_THREADS].buffer[0].value);
        flush(next - MOST_THREADS);
    }
}

/* Goes on as that thread. Does not return. */
static void become(unsigned next) {
    struct thread *thread = &x->thread[next];
    x->running = next;
    *x->local = thread->local;
    if (thread->started) _longjmp(thread->context, 1);
    thread->started = true;
    setcontext(&thread->start);
}

static void entry(void) {
    struct thread *thread = &x->thread[x->running];
    record(x->running, &thread->next, 0);
    thread->run(thread->argument);
    thread = &x->thread[x->running];
    thread->finished = true;
    thread->next = (struct step){.kind = LOCAL, .after = -1, .place = EXPLORE_AT("end")};
    become(next_thread());
}

static void switch_to(unsigned next) {
    struct thread *from = &x->thread[x->running];
    if (next == x->running) return;
    from->local = *x->local;
    if (_setjmp(from->context) == 0) become(next);
}

/* Announces a step and returns when it is its turn. */
static void await_turn(struct step step) {
    struct thread *self = &x->thread[x->running];
    self->next = step;
    switch_to(next_thread()); /* whoever switches back has chosen us */
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

void explore_start(void *(*run)(void *), void *argument) {
    unsigned number = x->threads++;
    struct thread *thread = &x->thread[number];
    if (number >= MOST_THREADS) explore_failed(EXPLORE_AT("too many threads"));
    char *stack = thread->stack;
    memset(thread, 0, sizeof *thread);
    thread->stack = stack;
    thread->run = run;
    thread->argument = argument;
    thread->next = (struct step){.kind = LOCAL,
                                 .after = x->exploring ? (int)x->steps - 1 : -1,
                                 .place = EXPLORE_AT("begin")};
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
    struct step step = {.kind = READ, .address = address, .after = -1, .place = place};
    await_turn(step);
    const struct store *own = own_store(address);
    uint64_t value = own ? own->value : read_memory(address, size);
    saw(address);
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
        struct step put = {.kind = PUT, .after = -1, .place = place};
        await_turn(put);
        saw(address);
        self->buffer[self->buffered++] = (struct store){address, size, value, (int)x->steps, place};
        record(x->running, &put, value);
        return;
    }
    struct step step = {.kind = WRITE, .address = address, .after = -1, .place = place};
    await_turn(step);
    write_memory(x->running, address, size, value);
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
    struct step step = {.kind = WRITE, .address = address, .after = -1, .place = place};
    if (x->exploring) await_turn(step);
    uint64_t old = read_memory(address, size), new = changed(old, kind, operand);
    write_memory(x->running, address, size, new);
    if (x->exploring) saw(address);
    if (x->exploring) record(x->running, &step, read_memory(address, size));
    return old;
}

bool explore_cas(void *address, size_t size, void *expected, uint64_t desired,
                 struct explore_place place) {
    struct step step = {.kind = WRITE, .address = address, .after = -1, .place = place};
    if (x->exploring) await_turn(step);
    bool equal = memcmp(address, expected, size) == 0;
    if (equal)
        write_memory(x->running, address, size, desired);
    else
        memcpy(expected, address, size);
    if (x->exploring) saw(address);
    if (x->exploring) record(x->running, &step, read_memory(address, size));
    return equal;
}

void explore_fence(struct explore_place place) {
    struct step step = {.kind = FENCE, .after = -1, .place = place};
    if (!x->exploring) return;
    await_turn(step);
    record(x->running, &step, 0);
}

void explore_process_barrier(struct explore_place place) {
    struct step step = {.kind = BARRIER, .after = -1, .place = place};
    if (!x->exploring) return;
    await_turn(step);
    record(x->running, &step, 0);
}

void explore_spin(struct explore_place place) {
    struct step step = {.kind = SPIN, .after = -1, .place = place};
    if (!x->exploring) return;
    struct thread *self = &x->thread[x->running];
    await_turn(step);
    self->idle_spins = self->stirred ? 0 : self->idle_spins + 1;
    self->stirred = false;
    self->seen_count = 0;
    record(x->running, &step, 0);
}

void explore_futex_wait(void *address, uint32_t expected, struct explore_place place) {
    struct step step = {.kind = WRITE, .address = address, .after = -1, .place = place};
    if (!x->exploring) explore_failed(EXPLORE_AT("sleep without another thread"));
    await_turn(step);
    uint32_t found = (uint32_t)read_memory(address, sizeof found);
    record(x->running, &step, found);
    if (found != expected) return;
    x->thread[x->running].sleeps_on = address;
    await_turn((struct step){.kind = LOCAL, .after = -1, .place = EXPLORE_AT("woken")});
    record(x->running, &x->thread[x->running].next, 0); /* who woke it has set `after` */
}

int explore_futex_wake(void *address, int count, struct explore_place place) {
    struct step step = {.kind = WRITE, .address = address, .after = -1, .place = place};
    int woken = 0;
    if (!x->exploring) return 0;
    await_turn(step);
    record(x->running, &step, (uint64_t)count);
    for (unsigned t = 0; t < x->threads && woken < count; t++)
        if (x->thread[t].sleeps_on == address) {
            x->thread[t].sleeps_on = NULL;
            x->thread[t].next.after = (int)x->steps - 1;
            woken++;
        }
    return woken;
}

/* --- executions ------------------------------------------------------------------------------- */

static void *run_thread(void *number) {
    x->model->thread((unsigned)(uintptr_t)number);
    return NULL;
}

static void execute(void) {
    restore_snapshot();
    x->threads = x->steps = 0;
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
        unsigned first = search_choose();
        x->running = first;
        *x->local = x->thread[first].local;
        x->thread[first].started = true;
        setcontext(&x->thread[first].start);
    }
    x->exploring = false;
    if (x->failed || x->pruned) return;
    for (unsigned t = 0; t < x->model->threads; t++)
        if (!x->thread[t].finished) explorer_report("threads hang");
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
    long most = getenv("EXPLORE_ALL") || !model->executions ? LONG_MAX : model->executions;
    while (more && !x->failed && x->executions < most) {
        execute();
        if (x->failed) break;
        if (x->pruned) x->cut_off++;
        more = search_again();
    }
    bool failed = x->failed;
    restore_snapshot();
    free(x->data);
    free(x->kept);
    if (failed) return false;
    printf("%s: %ld executions%s\n", model->name, x->executions - x->cut_off,
           more ? ", not all" : "");
    fflush(stdout);
    return true;
}
