/* Runs a few threads of real code under every order of their steps.
 *
 * Threads are coroutines of one OS thread; each atomic operation (shadow/platform/atomic.h) and
 * each call of the kernel (machine.c) is a step before which any other thread may be chosen. The
 * choices are searched depth first by running the program again and again from the same memory (the
 * executable's data is restored, what it allocated is taken back). Two orders that differ only in
 * steps that do not touch each other count as one (search.c). Stores may wait in a buffer per
 * thread, as on x86-64; that buffer's next flush is a step like any other (total store order).
 *
 * Only what goes through these calls is seen: variables of a model that several threads change must
 * be atomic ones too. */
#ifndef EXPLORE_H
#define EXPLORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum explore_change_kind {
    EXPLORE_EXCHANGE,
    EXPLORE_ADD,
    EXPLORE_SUBTRACT,
    EXPLORE_OR,
    EXPLORE_AND
};

/* Where a step stands in the source, and what it is, for the reader of a trace. */
struct explore_place {
    const char *file;
    int line;
    const char *text;
};
#define EXPLORE_AT(words) ((struct explore_place){__FILE__, __LINE__, (words)})
#define EXPLORE_HERE EXPLORE_AT("spin")

struct explore_model {
    const char *name;
    void (*setup)(void);             /* before each execution, alone and untraced */
    void (*thread)(unsigned number); /* what thread `number` does */
    void (*check)(void);             /* after each execution, when all threads have returned */
    unsigned threads;                /* at the beginning; they may start more */
    bool in_order;   /* no store buffers: sequential consistency, for larger models */
    long executions; /* stop after so many, unless EXPLORE_ALL is set; 0: never */
};

/* False, with the steps that led there on stderr, if a check failed or threads hang. */
bool explore(const struct explore_model *model);

/* Inside of an execution: a check that must hold. */
#define EXPLORE_CHECK(condition) ((condition) ? (void)0 : explore_failed(EXPLORE_AT(#condition)))
_Noreturn void explore_failed(struct explore_place place);

/* The steps. */
uint64_t explore_load(const void *address, size_t size, struct explore_place place);
void explore_store(void *address, size_t size, uint64_t value, bool locked,
                   struct explore_place place);
uint64_t explore_change(void *address, size_t size, enum explore_change_kind kind, uint64_t operand,
                        struct explore_place place);
bool explore_cas(void *address, size_t size, void *expected, uint64_t desired,
                 struct explore_place place);
void explore_fence(struct explore_place place);
/* The thread has nothing to do until another one writes what it has read or stored. */
void explore_spin(struct explore_place place);
/* Waits until all threads' buffers are empty: membarrier(2). */
void explore_process_barrier(struct explore_place place);
void explore_futex_wait(void *address, uint32_t expected, struct explore_place place);
/* Returns how many have been woken. */
int explore_futex_wake(void *address, int count, struct explore_place place);

/* Starts one more thread. */
void explore_start(void *(*run)(void *), void *argument);
/* A pointer that each thread has for itself, such as a thread-local variable. */
void explore_thread_local(void **variable);
/* The running thread's number. */
unsigned explore_self(void);
uint64_t explore_ticks(void);

void *explore_allocate(size_t size);
void *explore_reallocate(void *memory, size_t size);
void explore_free(void *memory);

#endif
