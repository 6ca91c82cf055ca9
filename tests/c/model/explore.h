/* Runs a few threads of real code in every way that C11's memory model has for them.
 *
 * Threads are coroutines of one OS thread. Each atomic operation (shadow/platform/atomic.h) and
 * each call of the kernel (machine.c) is an event of a graph, which says what each load has read
 * and how the stores to each object follow each other. All graphs that the model allows are
 * searched, each once (graph.c, choose.c). A plain access is no event, but checked against all
 * others: a data race is an error (plain.c).
 *
 * The model is RC11 (Lahav, Vafeiadis, Kang, Hur and Dreyer, "Repairing sequential consistency in
 * C/C++11", 2017), with two choices of its own:
 *   - program order and reads-from have no cycle, as in RC11: no load buffering;
 *   - a release sequence is its head and read-modify-writes, as in C++20: what is right without the
 *     later plain stores of the same thread is right with them. */
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
    /* Stop after so many, or EXPLORE_MOST if that is set; 0: never, unless EXPLORE_ALWAYS is, too.
     */
    long executions;
    bool quiet; /* says nothing of an error: a test of the explorer */
};

/* False, with the events that led there on stderr, if a check failed or threads hang. */
bool explore(const struct explore_model *model);

/* Inside of an execution: a check that must hold. */
#define EXPLORE_CHECK(condition) ((condition) ? (void)0 : explore_failed(EXPLORE_AT(#condition)))
_Noreturn void explore_failed(struct explore_place place);

/* The steps. An object's accesses are all of one size. */
uint64_t explore_load(const void *address, size_t size, enum explore_order order,
                      struct explore_place place);
void explore_store(void *address, size_t size, uint64_t value, enum explore_order order,
                   struct explore_place place);
uint64_t explore_change(void *address, size_t size, enum explore_change_kind kind, uint64_t operand,
                        enum explore_order order, struct explore_place place);
bool explore_cas(void *address, size_t size, void *expected, uint64_t desired,
                 enum explore_order order, enum explore_order failure, struct explore_place place);
void explore_fence(enum explore_order order, struct explore_place place);
/* A fence for the compiler alone, where another thread's explore_process_barrier makes up for the
 * processor's: the two are in one order, as two sequentially consistent fences are, and two of
 * these are not (Goldblatt, "P1202: Asymmetric fences"). */
void explore_compiler_barrier(struct explore_place place);
void explore_process_barrier(struct explore_place place);
/* The thread has nothing to do until another one writes what it has read or stored. */
void explore_spin(struct explore_place place);
/* The kernel compares and queues under one lock per word; it wakes who came first. */
void explore_futex_wait(void *address, uint32_t expected, struct explore_place place);
/* Returns how many have been woken. */
int explore_futex_wake(void *address, int count, struct explore_place place);

/* Starts one more thread. */
void explore_start(void *(*run)(void *), void *argument);
/* A pointer that each thread has for itself, such as a thread-local variable. */
void explore_thread_local(void **variable);
/* The running thread's number. */
unsigned explore_self(void);
/* Time: it grows from each step to those that happen because of it. */
uint64_t explore_ticks(void);

void *explore_allocate(size_t size);
void *explore_reallocate(void *memory, size_t size);
void explore_free(void *memory);
/* For memset, memcpy and memmove: plain accesses that the compiler does not report. */
void explore_plain_write(void *address, size_t size);
void explore_plain_read(const void *address, size_t size);

#endif
