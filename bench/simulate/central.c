/* central.c: see central.h. */
#include "central.h"

#include "scenario.h"

#include <string.h>

void central_init(struct central *c, int threads) {
    memset(c, 0, sizeof *c);
    c->threads = threads;
    atomic_init(&c->awaited, threads);
}

void central_barrier(struct central *c, int *sense) {
    *sense = !*sense;
    if (atomic_fetch_sub_explicit(&c->awaited, 1, memory_order_acq_rel) == 1) {
        atomic_store_explicit(&c->awaited, c->threads, memory_order_relaxed);
        atomic_store_explicit(&c->sense, *sense, memory_order_release);
        return;
    }
    while (atomic_load_explicit(&c->sense, memory_order_acquire) != *sense) scenario_relax();
}

void central_fork(struct central *c) {
    atomic_store_explicit(&c->arrived, 0, memory_order_relaxed);
    int number = atomic_load_explicit(&c->go, memory_order_relaxed);
    atomic_store_explicit(&c->go, number + 1, memory_order_release);
}

void central_join(struct central *c) {
    while (atomic_load_explicit(&c->arrived, memory_order_acquire) != c->threads - 1)
        scenario_relax();
}

void central_await(struct central *c, int number) {
    while (atomic_load_explicit(&c->go, memory_order_acquire) < number) scenario_relax();
}

void central_arrive(struct central *c) {
    atomic_fetch_add_explicit(&c->arrived, 1, memory_order_acq_rel);
}

long central_take(struct central *c, long end) {
    long taken = atomic_fetch_add_explicit(&c->next, 1, memory_order_relaxed);
    return taken < end ? taken : -1;
}

static void lock(struct central *c) {
    while (atomic_load_explicit(&c->lock, memory_order_relaxed) ||
           atomic_exchange_explicit(&c->lock, 1, memory_order_acquire))
        scenario_relax();
}

static void unlock(struct central *c) {
    atomic_store_explicit(&c->lock, 0, memory_order_release);
}

void central_push(struct central *c, int task) {
    lock(c);
    c->task[c->tail++ % CENTRAL_QUEUE] = task;
    unlock(c);
}

int central_pop(struct central *c) {
    lock(c);
    int task = c->head == c->tail ? -1 : c->task[c->head++ % CENTRAL_QUEUE];
    unlock(c);
    return task;
}
