/* scenario.c: see scenario.h. */
#include "scenario.h"

#include "central.h"

#include <stdatomic.h>
#include <stdlib.h>

enum {
    WARM_UP = 3,
    EACH = 16,    /* iterations for each thread */
    ITERATION = 8 /* the work of an iteration, in transfers */
};

/* The time between execution 0 and execution `count`, noted by member 0. */
struct span {
    double start, end;
};

static void note(struct span *span, long i, long count) {
    if (i == 0) span->start = scenario_begin();
    if (i == count) span->end = scenario_clock();
}

static double length(const struct span *span, long count) {
    return (span->end - span->start) / (double)count;
}

/* --- the runtime ------------------------------------------------------------------------ */

static double ours_region(int threads, long count) {
    struct span span = {0, 0};
    for (long i = -WARM_UP; i <= count; i++) {
        note(&span, i, count);
        if (i == count) break;
#pragma omp parallel num_threads(threads)
        __asm__ volatile("" : : : "memory");
    }
    return length(&span, count);
}

static double ours_barrier(int threads, long count) {
    struct span span = {0, 0};
#pragma omp parallel num_threads(threads)
    for (long i = -WARM_UP; i <= count; i++) {
#pragma omp master
        note(&span, i, count);
        if (i < count) {
#pragma omp barrier
        }
    }
    return length(&span, count);
}

static double ours_dispatch(int threads, long count) {
    struct span span = {0, 0};
#pragma omp parallel num_threads(threads)
    for (long i = -WARM_UP; i <= count; i++) {
#pragma omp master
        note(&span, i, count);
        if (i < count) {
#pragma omp for schedule(nonmonotonic : dynamic, 1)
            for (int j = 0; j < EACH * threads; j++) scenario_work(ITERATION);
        }
    }
    return length(&span, count);
}

/* Returns the work of a leaf of the tree of tasks, in transfers. It is long enough for the tree to
 * spread over all threads meanwhile, and short enough for a measurement with two threads. */
static double leaf(int threads) {
    return threads <= 8 ? 100 : 1000;
}

/* Makes a tree with 2^depth leaves. */
static void tree(int depth, double work) {
    for (; depth > 0; depth--) {
#pragma omp task firstprivate(depth, work)
        tree(depth - 1, work);
    }
    scenario_work(work);
}

static int depth_for(int threads) {
    int depth = 0;
    while (1 << depth < threads) depth++;
    return depth;
}

static double ours_steal(int threads, long count) {
    struct span span = {0, 0};
    int depth = depth_for(threads);
#pragma omp parallel num_threads(threads)
    for (long i = -WARM_UP; i <= count; i++) {
#pragma omp master
        {
            note(&span, i, count);
            if (i < count) tree(depth, leaf(threads));
        }
        if (i < count) {
#pragma omp barrier
        }
    }
    return length(&span, count);
}

/* --- centralised ------------------------------------------------------------------------ */

struct central_run {
    struct central central;
    long count;
    struct span span;
};

static double run_central(int threads, long count, scenario_body *body) {
    struct central_run *r = aligned_alloc(64, sizeof *r);
    if (!r) abort();
    central_init(&r->central, threads);
    r->count = count;
    scenario_threads(threads, body, r);
    double each = length(&r->span, count);
    free(r);
    return each;
}

static void region_body(void *argument, int number) {
    struct central_run *r = argument;
    for (long i = -WARM_UP; i <= r->count; i++) {
        if (number == 0) note(&r->span, i, r->count);
        if (i == r->count) break;
        if (number == 0) {
            central_fork(&r->central);
            central_join(&r->central);
        } else {
            central_await(&r->central, (int)(i + WARM_UP + 1));
            central_arrive(&r->central);
        }
    }
}

static void barrier_body(void *argument, int number) {
    struct central_run *r = argument;
    int sense = 0;
    for (long i = -WARM_UP; i <= r->count; i++) {
        if (number == 0) note(&r->span, i, r->count);
        if (i < r->count) central_barrier(&r->central, &sense);
    }
}

static void dispatch_body(void *argument, int number) {
    struct central_run *r = argument;
    int sense = 0;
    long end = (long)EACH * r->central.threads;
    for (long i = -WARM_UP; i <= r->count; i++) {
        if (number == 0) note(&r->span, i, r->count);
        if (i == r->count) break;
        while (central_take(&r->central, end) >= 0) scenario_work(ITERATION);
        central_barrier(&r->central, &sense);
        if (number == 0) atomic_store_explicit(&r->central.next, 0, memory_order_relaxed);
        central_barrier(&r->central, &sense);
    }
}

/* A task is the depth of the tree below it. */
static void run_task(struct central *c, int depth) {
    for (; depth > 0; depth--) central_push(c, depth - 1);
    scenario_work(leaf(c->threads));
    atomic_fetch_sub_explicit(&c->left, 1, memory_order_acq_rel);
}

static void steal_body(void *argument, int number) {
    struct central_run *r = argument;
    struct central *c = &r->central;
    int sense = 0, depth = depth_for(c->threads);
    for (long i = -WARM_UP; i <= r->count; i++) {
        if (number == 0) atomic_store_explicit(&c->left, 1 << depth, memory_order_relaxed);
        central_barrier(c, &sense);
        if (number == 0) note(&r->span, i, r->count);
        if (i == r->count) break;
        if (number == 0) run_task(c, depth);
        while (atomic_load_explicit(&c->left, memory_order_acquire) > 0) {
            int task = central_pop(c);
            if (task >= 0)
                run_task(c, task);
            else
                scenario_relax();
        }
        central_barrier(c, &sense);
    }
}

static double central_region(int threads, long count) {
    return run_central(threads, count, region_body);
}
static double central_barriers(int threads, long count) {
    return run_central(threads, count, barrier_body);
}
static double central_dispatch(int threads, long count) {
    return run_central(threads, count, dispatch_body);
}
static double central_steal(int threads, long count) {
    return run_central(threads, count, steal_body);
}

/* --- the floor: a line goes there and back ------------------------------------------------ */

struct ping {
    OWN_LINE atomic_long ping;
    OWN_LINE atomic_long pong;
    long count;
    struct span span;
};

static void ping_body(void *argument, int number) {
    struct ping *p = argument;
    for (long i = 1 - WARM_UP; i <= p->count; i++) {
        if (number == 0) {
            note(&p->span, i - 1, p->count);
            atomic_store_explicit(&p->ping, i, memory_order_release);
            while (atomic_load_explicit(&p->pong, memory_order_acquire) != i) scenario_relax();
        } else if (number == 1) {
            while (atomic_load_explicit(&p->ping, memory_order_acquire) != i) scenario_relax();
            atomic_store_explicit(&p->pong, i, memory_order_release);
        }
    }
    if (number == 0) note(&p->span, p->count, p->count);
}

static double round_trip(int threads, long count) {
    static struct ping p;
    p = (struct ping){.count = count};
    scenario_threads(threads < 2 ? 2 : threads, ping_body, &p);
    return length(&p.span, count);
}

static double no_work(int threads) {
    return (void)threads, 0;
}
static double loop_work(int threads) {
    return (void)threads, EACH * ITERATION;
}

const struct scenario scenarios[] = {
    {"round-trip", "floor", round_trip, no_work, 2},
    {"fork-join", "ours", ours_region, no_work, 1024},
    {"fork-join", "central", central_region, no_work, 1024},
    {"barrier", "ours", ours_barrier, no_work, 1024},
    {"barrier", "central", central_barriers, no_work, 1024},
    {"dispatch", "ours", ours_dispatch, loop_work, 1024},
    {"dispatch", "central", central_dispatch, loop_work, 1024},
    {"steal", "ours", ours_steal, leaf, 1024},
    {"steal", "central", central_steal, leaf, 128},
};
const int scenario_count = sizeof scenarios / sizeof *scenarios;
