/* Runs one execution; see explore.h. */
#define _GNU_SOURCE
#include "explorer.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum {
    SHOWN_STEPS = 300,     /* the last steps before a failure */
    MOST_IDLE_SPINS = 250, /* of a thread while no other thread can go on */
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

/* --- turns of threads ------------------------------------------------------------------------ */

/* Returns whether an object that the thread has read since its last SPIN has changed. */
bool explorer_is_stirred(const struct thread *thread) {
    for (unsigned i = 0; i < thread->seen_count; i++) {
        const struct location *location = &x->location[thread->seen[i].location];
        if (location->address && location->newest != NO_EVENT &&
            event_of(location->newest)->rank > thread->seen[i].rank)
            return true;
    }
    return false;
}

ref explorer_waker_of(const struct thread *thread) {
    unsigned number = (unsigned)(thread - x->thread);
    return choose_waker(thread->sleeps, number, event_of(thread->queued)->rank);
}

static bool can_go_on(const struct thread *thread) {
    if (thread->finished || thread->stuck) return false;
    if (thread->sleeps) return explorer_waker_of(thread) != NO_EVENT;
    return !thread->spins || explorer_is_stirred(thread);
}

enum turn { FIRST, PLACED, LAST };

/* A store that may have any rank comes late, after all stores that it could precede. The new read,
 * or the read of that store, comes last, as a write may follow it at once. */
static enum turn turn_of(unsigned t, unsigned index) {
    if (x->last == ref_of(t, index)) return LAST;
    if (x->placing == NO_EVENT || thread_of(x->placing) != t) return FIRST;
    const struct event *placed = event_of(x->placing);
    return index < (placed->exclusive ? placed->pair : index_of(x->placing)) ? FIRST : PLACED;
}

/* Returns whether the store that the thread's next event reads is in the graph. */
static bool can_replay(unsigned t, enum turn turn) {
    unsigned count = x->thread[t].count;
    if (x->thread[t].finished || count >= x->graph.length[t]) return false;
    const struct event *next = &x->graph.event[t][count];
    if (next->kind == READ && next->from != NO_EVENT &&
        index_of(next->from) >= x->thread[thread_of(next->from)].count)
        return false;
    return turn_of(t, count) <= turn;
}

/* If all threads wait for each other, one goes on, as some loops give up after some turns. No
 * thread goes on if one of them waits only because its next steps have been tried elsewhere. */
static unsigned next_idler(void) {
    unsigned found = NOBODY;
    for (unsigned t = x->threads; t-- > 0;) {
        struct thread *thread = &x->thread[t];
        if (thread->finished || thread->sleeps) continue;
        if (explorer_is_stirred(thread)) return NOBODY;
        if (thread->idle_spins < MOST_IDLE_SPINS) found = t;
    }
    if (found == NOBODY) return NOBODY;
    x->thread[found].idle_spins++;
    x->thread[found].stuck = false;
    return found;
}

static unsigned drawn_thread(void) {
    enum { SELDOM = 4 };
    unsigned found = NOBODY, count = 0;
    if (can_go_on(&x->thread[x->running]) && graph_draw(SELDOM) > 0) return x->running;
    for (unsigned t = 0; t < x->threads; t++)
        if (can_go_on(&x->thread[t]) && graph_draw(++count) == 0) found = t;
    return found == NOBODY ? next_idler() : found;
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
    if (x->by_chance) return drawn_thread();
    for (unsigned t = 0; t < x->threads; t++)
        if (can_go_on(&x->thread[t])) return t;
    return next_idler();
}

/* Goes on as thread `next`. Does not return. */
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
void explorer_await_turn(struct explore_place place) {
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

/* --- executions ------------------------------------------------------------------------------- */

void explore_start(void *(*run)(void *), void *argument) {
    unsigned number = 0;
    while (number < MOST_THREADS && x->thread[number].run) number++;
    if (x->exploring) {
        explorer_await_turn(EXPLORE_AT("start"));
        number = step_create(number);
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

/* Returns whether the waiting threads have seen all stores, and still wait. */
static bool hangs(void) {
    for (unsigned t = 0; t < x->threads; t++) {
        const struct thread *thread = &x->thread[t];
        if (!thread->finished && !thread->sleeps && explorer_is_stirred(thread)) return false;
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
        x->thread[0].local = x->local_of_setup; /* thread 0 has run the setup */
        x->exploring = true;
        become(next_thread());
    }
    x->exploring = false;
    if (x->failed || x->pruned) return;
    if (!is_complete() && hangs()) explorer_report("threads hang");
    if (!is_complete())
        x->pruned = true;
    else if (x->model->check && !_setjmp(x->end))
        x->model->check();
}

/* Most likely a wild pointer, read from an object that was not set up yet. */
static void crashed(int signal) {
    if (signal == SIGSEGV && x->exploring) explorer_report("the program crashes");
    _exit(1);
}

/* The handler runs on its own stack. */
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

/* Draws executions by chance after a bounded search, as a search changes the last choices first.
 */
static long draw(long executions) {
    long first = x->executions;
    x->by_chance = true;
    x->chance = 1;
    while (!x->failed && x->executions < first + executions) {
        graph_end();
        graph_begin();
        execute();
    }
    x->by_chance = false;
    x->executions = first;
    return executions;
}

bool explore(const struct explore_model *given) {
    struct explore_model model = *given; /* arena_restore may overwrite the given one */
    const char *only = getenv("EXPLORE_ONLY");
    if (only && strcmp(only, model.name) != 0) return true;
    if (getenv("EXPLORE_LIST") && !model.quiet) return printf("%s\n", model.name) > 0;
    clock_t begin = clock();
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
    long drawn = more && !x->failed ? draw(x->executions) : 0;
    bool failed = x->failed;
    graph_end();
    score_end(model.name);
    arena_forget();
    arena_forget();
    x->model = NULL;
    if (failed) return false;
    if (model.quiet) return true;
    printf("%s: %ld executions, %ld cut off, %.1f s", model.name, x->executions - x->cut_off,
           x->cut_off, (double)(clock() - begin) / CLOCKS_PER_SEC);
    printf(more ? ", not all, and %ld by chance\n" : "\n", drawn);
    fflush(stdout);
    return true;
}
