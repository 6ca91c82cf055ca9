/* floor.c: the limits of the machine itself.
 *
 * The program uses no OpenMP. A region cannot be faster than a cache line that travels to another
 * core and back, and a sleep cannot be shorter than a futex wake. Figures are nanoseconds unless
 * they say otherwise.
 */
#include "bench.h"
#include "processor.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int cpu_number[CPU_SETSIZE]; /* the CPUs that this process may use, in order */

static void find_cpus(void) {
    cpu_set_t set;
    int n = 0;
    sched_getaffinity(0, sizeof set, &set);
    for (int i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &set)) cpu_number[n++] = i;
}

static void pin(int cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    pthread_setaffinity_np(pthread_self(), sizeof set, &set);
}

static void unpin(const struct bench *b) {
    cpu_set_t set;
    CPU_ZERO(&set);
    for (int i = 0; i < b->cpus; i++) CPU_SET(cpu_number[i], &set);
    pthread_setaffinity_np(pthread_self(), sizeof set, &set);
}

/* Two threads answer each other n times. One thread writes each word; 1 says "your turn".
 */
struct pair {
    _Alignas(BENCH_LINE) atomic_long ping;
    _Alignas(BENCH_LINE) atomic_long pong;
    _Alignas(BENCH_LINE) atomic_long shared;
    long n;
    int cpu_a, cpu_b;
    void *(*answer)(void *);
    void (*ask)(struct pair *);
};

static double run_pair(struct pair *p) {
    pthread_t other;
    atomic_store(&p->ping, 0);
    atomic_store(&p->pong, 0);
    atomic_store(&p->shared, 0);
    pin(p->cpu_a);
    pthread_create(&other, NULL, p->answer, p);
    while (atomic_load(&p->pong) != -1) sched_yield(); /* until the other thread runs, on its CPU */
    atomic_store(&p->pong, 0);
    double start = bench_now();
    p->ask(p);
    double time = bench_now() - start;
    pthread_join(other, NULL);
    return time / (double)p->n;
}

static struct pair *begin(void *argument) {
    struct pair *p = argument;
    pin(p->cpu_b);
    atomic_store(&p->pong, -1);
    return p;
}

/* Release and acquire: a waiter that sees the number also sees all writes before it. */
static void *answer_spinning(void *argument) {
    struct pair *p = begin(argument);
    for (long i = 1; i <= p->n; i++) {
        while (atomic_load_explicit(&p->ping, memory_order_acquire) != i) cst_cpu_relax();
        atomic_store_explicit(&p->pong, i, memory_order_release);
    }
    return NULL;
}

static void ask_spinning(struct pair *p) {
    for (long i = 1; i <= p->n; i++) {
        atomic_store_explicit(&p->ping, i, memory_order_release);
        while (atomic_load_explicit(&p->pong, memory_order_acquire) != i) cst_cpu_relax();
    }
}

/* Both threads write one line: the cost of a contended lock word. */
static void *answer_shared(void *argument) {
    struct pair *p = begin(argument);
    for (long i = 0; i < p->n; i++) atomic_fetch_add_explicit(&p->shared, 1, memory_order_relaxed);
    return NULL;
}

static void ask_shared(struct pair *p) {
    for (long i = 0; i < p->n; i++) atomic_fetch_add_explicit(&p->shared, 1, memory_order_relaxed);
    while (atomic_load_explicit(&p->shared, memory_order_relaxed) != 2 * p->n) cst_cpu_relax();
}

static void futex(atomic_long *word, int operation, int value) {
    syscall(SYS_futex, word, operation | FUTEX_PRIVATE_FLAG, value, NULL, NULL, 0);
}

static void sleep_until(atomic_long *word, long value) {
    long seen;
    while ((seen = atomic_load_explicit(word, memory_order_acquire)) != value)
        futex(word, FUTEX_WAIT, (int)seen);
}

static void wake_with(atomic_long *word, long value) {
    atomic_store_explicit(word, value, memory_order_release);
    futex(word, FUTEX_WAKE, 1);
}

static void *answer_sleeping(void *argument) {
    struct pair *p = begin(argument);
    for (long i = 1; i <= p->n; i++) {
        sleep_until(&p->ping, i);
        wake_with(&p->pong, i);
    }
    return NULL;
}

static void ask_sleeping(struct pair *p) {
    for (long i = 1; i <= p->n; i++) {
        wake_with(&p->ping, i);
        sleep_until(&p->pong, i);
    }
}

static void *answer_yielding(void *argument) {
    struct pair *p = begin(argument);
    for (long i = 1; i <= p->n; i++) {
        while (atomic_load_explicit(&p->ping, memory_order_acquire) != i) sched_yield();
        atomic_store_explicit(&p->pong, i, memory_order_release);
    }
    return NULL;
}

static void ask_yielding(struct pair *p) {
    for (long i = 1; i <= p->n; i++) {
        atomic_store_explicit(&p->ping, i, memory_order_release);
        while (atomic_load_explicit(&p->pong, memory_order_acquire) != i) sched_yield();
    }
}

static void pair_case(const struct bench *b, const char *name, const struct pair *like,
                      double divide) {
    if (!bench_wanted(b, name)) return;
    static struct pair p;
    double *value = malloc((size_t)b->samples * sizeof *value);
    memcpy(&p, like, sizeof p);
    p.n = 100;
    while (run_pair(&p) * (double)p.n < b->sample_ns && p.n < 100000000) p.n *= 2;
    for (int i = 0; i < b->samples; i++) value[i] = run_pair(&p) / divide;
    bench_print(name, "ns", bench_median(value, b->samples));
    unpin(b);
    free(value);
}

static void pairs(const struct bench *b) {
    int first = cpu_number[0], next = cpu_number[b->cpus > 1], last = cpu_number[b->cpus - 1];
    struct pair spin = {.cpu_a = first, .cpu_b = next};
    spin.answer = answer_spinning, spin.ask = ask_spinning;
    struct pair far = spin, shared = spin, sleeping = spin, switching = spin, yielding = spin;
    far.cpu_b = last;
    shared.answer = answer_shared, shared.ask = ask_shared;
    sleeping.answer = answer_sleeping, sleeping.ask = ask_sleeping;
    switching = sleeping, switching.cpu_b = first;
    yielding.answer = answer_yielding, yielding.ask = ask_yielding, yielding.cpu_b = first;
    if (b->cpus > 1) {
        pair_case(b, "round-trip", &spin, 1);
        pair_case(b, "atomic-add-contended", &shared, 2);
        pair_case(b, "futex-wake", &sleeping, 2);
    }
    if (b->cpus > 2) pair_case(b, "round-trip-far", &far, 1);
    pair_case(b, "context-switch-futex", &switching, 2);
    pair_case(b, "context-switch-yield", &yielding, 2);
}

/* Threads, spread evenly over the CPUs. A waiting thread yields if the threads outnumber the CPUs.
 * One thread writes the turn and all read it; all count arrivals. A switch costs several times as
 * much as these lines. */
struct crowd {
    _Alignas(BENCH_LINE) atomic_long turn;
    _Alignas(BENCH_LINE) atomic_long arrived;
    long n;
    int size, cpus;
    bool barriers; /* otherwise member 0 begins each turn, and waits for the others' arrival */
    bool spins;    /* a waiting thread does not yield */
};

struct crowd_member {
    struct crowd *crowd;
    int number;
};

static void await_at_least(const struct crowd *c, atomic_long *word, long value) {
    while (atomic_load_explicit(word, memory_order_acquire) < value)
        if (c->spins)
            cst_cpu_relax();
        else
            sched_yield();
}

static void meet(struct crowd *c, long turn) {
    long before = atomic_fetch_add_explicit(&c->arrived, 1, memory_order_acq_rel);
    if (before + 1 == turn * c->size)
        atomic_store_explicit(&c->turn, turn, memory_order_release);
    else
        await_at_least(c, &c->turn, turn);
}

/* At the first meeting all threads are there; then come n turns. */
static void *crowd_member(void *argument) {
    struct crowd_member *m = argument;
    struct crowd *c = m->crowd;
    pin(cpu_number[m->number % c->cpus]);
    meet(c, 1);
    for (long i = 2; i <= c->n + 1; i++) {
        if (c->barriers) {
            meet(c, i);
        } else if (m->number == 0) {
            atomic_store_explicit(&c->turn, i, memory_order_release);
            await_at_least(c, &c->arrived, c->size + (i - 1) * (c->size - 1));
        } else {
            await_at_least(c, &c->turn, i);
            atomic_fetch_add_explicit(&c->arrived, 1, memory_order_acq_rel);
        }
    }
    return NULL;
}

static double run_crowd(struct crowd *c) {
    pthread_t *thread = calloc((size_t)c->size, sizeof *thread);
    struct crowd_member *member = calloc((size_t)c->size, sizeof *member);
    atomic_store(&c->turn, 0);
    atomic_store(&c->arrived, 0);
    double start = bench_now();
    for (int i = 0; i < c->size; i++) {
        member[i] = (struct crowd_member){c, i};
        pthread_create(&thread[i], NULL, crowd_member, &member[i]);
    }
    for (int i = 0; i < c->size; i++) pthread_join(thread[i], NULL);
    double time = bench_now() - start;
    free(thread), free(member);
    return time / (double)c->n;
}

static void crowd_case(const struct bench *b, const char *name, int size, bool barriers) {
    if (!bench_wanted(b, name)) return;
    static struct crowd c;
    double *value = malloc((size_t)b->samples * sizeof *value);
    c.size = size, c.cpus = b->cpus, c.barriers = barriers, c.n = 1000;
    while (run_crowd(&c) * (double)c.n < 10 * b->sample_ns && c.n < 100000000) c.n *= 2;
    for (int i = 0; i < b->samples; i++) value[i] = run_crowd(&c);
    bench_print(name, "ns", bench_median(value, b->samples));
    free(value);
}

/* One thread for each CPU stays there and spins, while a process like that of loaded.c computes.
 * The figure is the mean over many of the kernel's time slices, as in loaded.c. */
static void loaded_case(const struct bench *b, const char *name, bool barriers) {
    if (!bench_wanted(b, name)) return;
    static struct crowd c;
    c.size = c.cpus = b->cpus, c.barriers = barriers, c.spins = true, c.n = 1000;
    pid_t load = bench_start_load(false);
    while (run_crowd(&c) * (double)c.n < 10 * b->samples * b->sample_ns && c.n < 100000000)
        c.n *= 2;
    bench_print(name, "ns", run_crowd(&c));
    bench_stop_load(load);
}

static void crowds(const struct bench *b) {
    crowd_case(b, "crowd-barrier-2x", 2 * b->cpus, true);
    crowd_case(b, "crowd-barrier-4x", 4 * b->cpus, true);
    crowd_case(b, "crowd-fork-join-2x", 2 * b->cpus, false);
    crowd_case(b, "crowd-fork-join-4x", 4 * b->cpus, false);
    loaded_case(b, "loaded-barrier", true);
    loaded_case(b, "loaded-fork-join", false);
}

static void yields(const struct bench *b, long n) {
    (void)b;
    for (long i = 0; i < n; i++) sched_yield();
}

static void wakes_of_nobody(const struct bench *b, long n) {
    (void)b;
    static atomic_long word;
    for (long i = 0; i < n; i++) futex(&word, FUTEX_WAKE, 1);
}

static void atomic_adds(const struct bench *b, long n) {
    (void)b;
    static atomic_long word;
    for (long i = 0; i < n; i++) atomic_fetch_add_explicit(&word, 1, memory_order_relaxed);
}

static void clocks(const struct bench *b, long n) {
    (void)b;
    for (long i = 0; i < n; i++) bench_now();
}

static void work_turns(const struct bench *b, long n) {
    (void)b;
    bench_work(n);
}

static void *nothing(void *argument) {
    return argument;
}

static void threads(const struct bench *b, long n) {
    (void)b;
    for (long i = 0; i < n; i++) {
        pthread_t t;
        if (pthread_create(&t, NULL, nothing, NULL) == 0) pthread_join(t, NULL);
    }
}

enum { TRIAD = 1 << 22 }; /* 32 MiB in each of three arrays: beyond most caches */

struct triad {
    double *a, *b, *c;
    long from, to;
    int cpu;
};

/* McCalpin's STREAM triad: 24 bytes for each element. */
static void *triad(void *argument) {
    struct triad *t = argument;
    if (t->cpu >= 0) pin(t->cpu);
    for (long i = t->from; i < t->to; i++) t->a[i] = t->b[i] + 3 * t->c[i];
    return NULL;
}

static double triad_time(struct triad *part, int parts) {
    pthread_t *thread = calloc((size_t)parts, sizeof *thread);
    double start = bench_now();
    for (int i = 1; i < parts; i++) pthread_create(&thread[i], NULL, triad, &part[i]);
    triad(&part[0]);
    for (int i = 1; i < parts; i++) pthread_join(thread[i], NULL);
    double time = bench_now() - start;
    free(thread);
    return time;
}

static void bandwidth(const struct bench *b, const char *name, int parts) {
    if (!bench_wanted(b, name)) return;
    struct triad *part = calloc((size_t)parts, sizeof *part);
    double *memory = malloc(3 * (size_t)TRIAD * sizeof *memory);
    double *value = malloc((size_t)b->samples * sizeof *value);
    for (long i = 0; i < 3L * TRIAD; i++) memory[i] = 1;
    for (int i = 0; i < parts; i++) {
        long from = (long)TRIAD * i / parts, to = (long)TRIAD * (i + 1) / parts;
        part[i] = (struct triad){memory, memory + TRIAD, memory + 2L * TRIAD, from, to, -1};
        if (i > 0) part[i].cpu = cpu_number[i];
    }
    for (int i = 0; i < b->samples; i++) value[i] = 24.0 * TRIAD / triad_time(part, parts);
    bench_print(name, "GB/s", bench_median(value, b->samples));
    free(part), free(memory), free(value);
}

int main(int argc, char **argv) {
    struct bench arguments = bench_arguments(argc, argv), *b = &arguments;
    find_cpus();
    pairs(b);
    crowds(b);
    bench_case(b, "sched-yield", yields, 1);
    bench_case(b, "futex-wake-nobody", wakes_of_nobody, 1);
    bench_case(b, "atomic-add", atomic_adds, 1);
    bench_case(b, "clock", clocks, 1);
    bench_case(b, "work-turn", work_turns, 1);
    bench_case(b, "thread-create-join", threads, 1);
    bandwidth(b, "triad-1", 1);
    if (b->cpus > 1) bandwidth(b, "triad-all", b->cpus);
    return 0;
}
