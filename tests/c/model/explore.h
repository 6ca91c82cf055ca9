/* Runs a few threads of real code in every way that C11's memory model allows.
 *
 * Threads are coroutines of one OS thread. Each atomic operation (shadow/platform/atomic.h) and
 * each call of the kernel (machine.c) is an event of a graph. The graph says which store each load
 * has read, and in which order the stores to each object stand. All graphs that the model allows
 * are searched, each once (graph.c, choose.c). A plain access is no event, but is checked against
 * all others: a data race is an error (plain.c).
 *
 * The model is RC11 (Lahav, Vafeiadis, Kang, Hur and Dreyer, "Repairing sequential consistency in
 * C/C++11", 2017), with two choices of its own:
 *   - program order and reads-from have no cycle, as in RC11: no load buffering;
 *   - a release sequence is its head and read-modify-writes, as in C++20. C11 adds later plain
 *     stores of the same thread; a program that is right without them is right with them. */
#ifndef EXPLORE_H
#define EXPLORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum explore_order {
    EXPLORE_RELAXED,
    EXPLORE_ACQUIRE,
    EXPLORE_RELEASE,
    EXPLORE_ACQ_REL,
    EXPLORE_SEQ_CST
};

enum explore_change_kind {
    EXPLORE_EXCHANGE,
    EXPLORE_ADD,
    EXPLORE_SUBTRACT,
    EXPLORE_OR,
    EXPLORE_AND
};

/* The place of a step in the source, and its text, for the reader of a trace. */
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
    void (*thread)(unsigned number); /* the body of thread `number` */
    void (*check)(void);             /* after each execution, when all threads have returned */
    unsigned threads;                /* at the beginning; they may start more */
    /* The search stops after this number, or EXPLORE_MOST if that is set. 0: it stops never, unless
     * EXPLORE_ALWAYS is set too.
     */
    long executions;
    bool quiet; /* reports no error: a test of the explorer */
};

/* Returns false if a check failed or threads hang; stderr then shows the events that led there.
 * EXPLORE_ONLY=NAME: other models return at once. EXPLORE_LIST: each model prints its name alone.
 */
bool explore(const struct explore_model *model);

/* A check that must hold, inside an execution. */
#define EXPLORE_CHECK(condition) ((condition) ? (void)0 : explore_failed(EXPLORE_AT(#condition)))
_Noreturn void explore_failed(struct explore_place place);

/* The steps. All accesses to an object have the same size. */
uint64_t explore_load(const void *address, size_t size, enum explore_order order,
                      struct explore_place place);
void explore_store(void *address, size_t size, uint64_t value, enum explore_order order,
                   struct explore_place place);
uint64_t explore_change(void *address, size_t size, enum explore_change_kind kind, uint64_t operand,
                        enum explore_order order, struct explore_place place);
bool explore_cas(void *address, size_t size, void *expected, uint64_t desired,
                 enum explore_order order, enum explore_order failure, struct explore_place place);
void explore_fence(enum explore_order order, struct explore_place place);
/* A fence for the compiler alone; another thread's explore_process_barrier replaces the processor's
 * fence. The two are in one order, like two sequentially consistent fences. Two fences for the
 * compiler are not ordered (Goldblatt, "P1202: Asymmetric fences"). */
void explore_compiler_barrier(struct explore_place place);
void explore_process_barrier(struct explore_place place);
/* The thread has nothing to do until another thread writes an object that this one has read or
 * written. */
void explore_spin(struct explore_place place);
/* The kernel compares and queues under one lock per word, and wakes the first sleeper first. */
void explore_futex_wait(void *address, uint32_t expected, struct explore_place place);
/* Returns the number of woken threads. */
int explore_futex_wake(void *address, int count, struct explore_place place);

/* Starts one more thread. */
void explore_start(void *(*run)(void *), void *argument);
/* Makes `variable` thread-local: each thread has its own pointer there. */
void explore_thread_local(void **variable);
/* Returns the number of the running thread. */
unsigned explore_self(void);
/* Returns the time: it grows from each step to the steps that depend on it. */
uint64_t explore_ticks(void);

void *explore_allocate(size_t size);
void *explore_reallocate(void *memory, size_t size);
void explore_free(void *memory);
/* Reports the plain accesses of memset, memcpy and memmove, which the compiler does not report. */
void explore_plain_write(void *address, size_t size);
void explore_plain_read(const void *address, size_t size);

#endif
