/* central.h: the centralised algorithms of the textbook: one counter, one word that all threads
 * watch, one lock.
 *
 * The barrier reverses a sense (J. Mellor-Crummey and M. Scott, 1991, algorithm 7). */
#ifndef CAPSTAN_SIMULATE_CENTRAL_H
#define CAPSTAN_SIMULATE_CENTRAL_H

#include <stdatomic.h>
#include <stdint.h>

#define OWN_LINE _Alignas(64)

enum { CENTRAL_QUEUE = 8192 };

struct central {
    OWN_LINE atomic_int awaited;
    OWN_LINE atomic_int sense;
    OWN_LINE atomic_int go;      /* the number of the region */
    OWN_LINE atomic_int arrived; /* the number of workers at the end of the region */
    OWN_LINE atomic_long next;   /* the next free iteration */
    OWN_LINE atomic_int lock;    /* the lock of the queue */
    int head, tail;
    int task[CENTRAL_QUEUE];
    OWN_LINE atomic_int left; /* the number of incomplete tasks */
    int threads;
};

void central_init(struct central *c, int threads);
/* *sense belongs to the caller, and is 0 at first. */
void central_barrier(struct central *c, int *sense);
/* The master starts all workers, or waits for them. A worker waits for region `number`, or
 * arrives. */
void central_fork(struct central *c);
void central_join(struct central *c);
void central_await(struct central *c, int number);
void central_arrive(struct central *c);
/* Returns the next iteration below `end`, or -1. */
long central_take(struct central *c, long end);
/* One queue for all. pop returns -1 when it is empty. */
void central_push(struct central *c, int task);
int central_pop(struct central *c);

#endif
