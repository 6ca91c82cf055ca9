/* What the explorer's two halves share: explore.c runs an execution, search.c decides which ones.
 */
#ifndef EXPLORER_H
#define EXPLORER_H

#include "explore.h"

#include <setjmp.h>
#include <ucontext.h>

enum {
    MOST_THREADS = 8,
    MOST_ACTORS = 2 * MOST_THREADS, /* each thread, and the flushing of each thread's buffer */
    NOBODY = MOST_ACTORS,
    MOST_STEPS = 4000, /* of an execution: more are taken for a loop without end */
    BUFFER = 64,
    MOST_SEEN = 256,
};

enum kind {
    LOCAL,   /* touches nothing shared */
    READ,    /* of `address` */
    WRITE,   /* of `address`, or both; all but a flush wait for the own buffer to be empty */
    PUT,     /* a store goes into the own buffer */
    SPIN,    /* waits until another thread has changed what was read or stored since the last */
    FENCE,   /* waits until the own buffer is empty */
    BARRIER, /* waits until all buffers are */
};

struct step {
    enum kind kind;
    const void *address;
    int after; /* the step of another actor that made this one possible; -1: none */
    struct explore_place place;
};

struct store {
    void *address;
    size_t size;
    uint64_t value;
    int put; /* the step that put it here */
    struct explore_place place;
};

struct thread {
    jmp_buf context;
    ucontext_t start;
    bool started, finished;
    const void *sleeps_on; /* in the kernel; NULL: no */
    struct step next;
    const void *seen[MOST_SEEN]; /* what it has read or stored since its last SPIN */
    unsigned seen_count;
    bool stirred; /* another thread has written there */
    unsigned idle_spins;
    struct store buffer[BUFFER];
    unsigned buffered;
    void *local;
    void *(*run)(void *);
    void *argument;
    char *stack;
};

/* The choice before a step. */
struct node {
    uint32_t enabled;
    uint32_t wanted; /* to be tried: more are added as races are found */
    uint32_t done;
    uint32_t sleep; /* their steps were tried before, and nothing since depends on them */
    unsigned chosen;
    struct step next[MOST_ACTORS];
};

/* All state, apart from the executable's data: that is restored before each execution. */
struct explorer {
    const struct explore_model *model;
    struct thread thread[MOST_THREADS];
    unsigned threads, running, steps;
    uint64_t ticks;
    struct node node[MOST_STEPS];
    unsigned depth; /* of the nodes that are fixed */
    struct {
        unsigned actor;
        struct step step;
        uint64_t value;
    } trace[MOST_STEPS];
    /* clock[i][a]: how many steps of the trace, up to actor a's last, come before step i in any
     * order that is equivalent. */
    unsigned short clock[MOST_STEPS + 1][MOST_ACTORS];
    jmp_buf end; /* of an execution */
    bool exploring, failed, pruned;
    char *data, *arena, *kept; /* copies of what is restored; memory for the program */
    size_t arena_used, kept_size;
    void **local;
    long executions, cut_off;
};
extern struct explorer *x;

/* Says what is wrong with this execution, and shows its steps. */
void explorer_report(const char *what);

/* The actor that takes the next step, or NOBODY: the execution is over. */
unsigned search_choose(void);
/* After an execution: what else must be tried because of it. False: nothing is left. */
bool search_again(void);

#endif
