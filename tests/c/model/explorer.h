/* Shared by the explorer's parts. explore.c runs an execution, and step.c has its events. choose.c
 * finds the sources of a load and the ranks of a store. sequence.c knows the graphs that sequential
 * consistency forbids. graph.c holds the graphs that are still to be tried. plain.c finds races,
 * arena.c gives memory and restores it, and score.c makes orders weaker. */
#ifndef EXPLORER_H
#define EXPLORER_H

#include "explore.h"

#include <setjmp.h>
#include <ucontext.h>

enum {
    MOST_THREADS = 8,
    MOST_EVENTS = 4000, /* of a thread in an execution; more mean a loop without end */
    MOST_LOCATIONS = 4096,
    MOST_SEEN = 256,
    MOST_NODES = 1024, /* sequentially consistent accesses, and fences */
    NODE_WORDS = MOST_NODES / 64,
    NOBODY = MOST_THREADS,
    ARENA = 16 * 1024 * 1024, /* of each thread, and of the setup */
    STACK = 256 * 1024,
};

/* An event's name: the thread, and its number in that thread. */
typedef uint32_t ref;
#define NO_EVENT UINT32_MAX

static inline ref ref_of(unsigned thread, unsigned index) {
    return (ref)(thread << 16 | index);
}
static inline unsigned thread_of(ref event) {
    return event >> 16;
}
static inline unsigned index_of(ref event) {
    return event & 0xffff;
}

enum kind { READ, WRITE, FENCE, SPIN, CREATE };
enum fence { PLAIN_FENCE, HEAVY_FENCE, LIGHT_FENCE };

/* An event, with the choices that make up an execution. */
struct event {
    uint8_t kind, order, size;
    bool exclusive; /* WRITE: part of a read-modify-write; `pair` is its read. READ: the wake-up of
                     * a sleeper in a queue, which has a single source */
    uint16_t pair;
    ref from;       /* READ: the store it reads; NO_EVENT: the object's first value */
    uint32_t stamp; /* the time when it was added to the graph */
    uint64_t rank;  /* WRITE: its place among the stores to the object; the first value has 0 */
    uint64_t value; /* FENCE: enum fence */
    const void *address;
    struct explore_place place;
};

/* The number of events of each thread that come before, in happens-before or by any dependence. */
typedef uint16_t clocks[MOST_THREADS];

/* Facts that follow from the graph, found anew in each execution. */
struct detail {
    clocks clock;     /* happens-before, including the event itself */
    clocks cause;     /* program order and reads-from, including the event itself */
    clocks message;   /* WRITE: the clock that an acquiring read takes over */
    ref older, newer; /* WRITE: neighbours by rank */
    ref next_access;  /* the next access to the same object */
    uint16_t location, node, next_elsewhere;
    uint32_t step;
};

struct location {
    const char *address; /* NULL: a plain write or a free has ended the object */
    size_t size;
    uint64_t first; /* its first value */
    ref newest, accesses;
};

/* An object that a thread has read since its last SPIN, and the rank of the store that it saw. */
struct seen {
    unsigned location;
    uint64_t rank;
    bool own;
};

struct thread {
    jmp_buf context;
    ucontext_t start;
    bool started, finished, spins;
    const struct location *sleeps; /* the queue in which the thread sleeps */
    ref queued;
    bool stuck; /* at a SPIN: the next turn would repeat the last one, or has been tried */
    bool wrote; /* it has written since its last SPIN */
    struct explore_place at, last_spin;
    struct seen seen[MOST_SEEN], before[MOST_SEEN]; /* since the last SPIN, and before that */
    unsigned seen_count, before_count, idle_spins;
    unsigned count; /* the number of its events so far */
    clocks clock, cause, acquirable, released;
    uint16_t last_node, last_light;
    void *local;
    void *(*run)(void *);
    void *argument;
    char *stack, *arena;
    size_t arena_used;
    uint64_t ticks;
};

/* A set of nodes in the order of sequentially consistent events. */
struct nodes {
    uint64_t word[NODE_WORDS];
};

struct graph {
    unsigned length[MOST_THREADS];
    uint32_t stamp;
    struct event event[MOST_THREADS][MOST_EVENTS];
};

/* Another way to go on from a graph that is cut after `event`. */
struct item {
    enum { READ_FROM, RANK, REVISIT } kind;
    ref event, other; /* `other`: the store to read, or the read that shall read `event` */
    uint64_t rank;
    uint32_t stamp;
    uint16_t length[MOST_THREADS]; /* the events of each thread that a revisit keeps */
};

struct level;

/* All state of the explorer. It lies outside the executable's data, which arena_restore restores
 * before each execution. */
struct explorer {
    const struct explore_model *model;
    struct graph graph;
    struct level *level;
    unsigned threads, running;
    struct thread thread[MOST_THREADS];
    struct detail detail[MOST_THREADS][MOST_EVENTS];
    struct location location[MOST_LOCATIONS];
    unsigned locations;
    ref trace[MOST_THREADS * MOST_EVENTS];
    unsigned steps;
    bool replaying;
    ref placing;   /* the store of a revisit, which may have any rank */
    ref revisited; /* the read of that store, at this level */
    ref last;      /* the last event to repeat */

    ref node[MOST_NODES];
    struct nodes after[MOST_NODES]; /* each node's successors */
    unsigned nodes, fence[MOST_NODES], fences;

    jmp_buf end; /* the end of an execution */
    bool exploring, failed, pruned;
    bool by_chance;  /* each choice is drawn by chance, and no alternative is noted */
    uint64_t chance; /* the generator's state */
    struct item drawn;
    unsigned choices; /* the number of choices from which `drawn` was drawn */
    void **local, *local_of_setup;
    long executions, cut_off;
};
extern struct explorer *x;

static inline struct event *event_of(ref event) {
    return &x->graph.event[thread_of(event)][index_of(event)];
}
static inline struct detail *detail_of(ref event) {
    return &x->detail[thread_of(event)][index_of(event)];
}
static inline bool is_before(ref event, const clocks clock) {
    return index_of(event) < clock[thread_of(event)];
}
static inline bool acquires(uint8_t order) {
    return order == EXPLORE_ACQUIRE || order >= EXPLORE_ACQ_REL;
}
static inline bool releases(uint8_t order) {
    return order >= EXPLORE_RELEASE;
}
/* Returns the rank of a store, or of the store that a read has read. */
static inline uint64_t rank_of(ref event) {
    const struct event *self = event_of(event);
    if (self->kind == WRITE) return self->rank;
    return self->from == NO_EVENT ? 0 : event_of(self->from)->rank;
}
static inline void join(clocks clock, const clocks other) {
    for (unsigned t = 0; t < MOST_THREADS; t++)
        if (clock[t] < other[t]) clock[t] = other[t];
}

/* --- explore.c */
/* Reports the error of this execution, and shows its events. */
void explorer_report(const char *what);
/* Ends this execution, as others cover it. */
_Noreturn void explorer_prune(void);
/* Returns when it is the running thread's turn. */
void explorer_await_turn(struct explore_place place);
/* Returns whether an object that the thread has read since its last SPIN has changed. */
bool explorer_is_stirred(const struct thread *thread);
/* Returns the store that wakes the thread in its queue, or NO_EVENT. */
ref explorer_waker_of(const struct thread *thread);

/* --- step.c */
unsigned step_create(unsigned number);

/* --- arena.c */
void arena_prepare(void);
/* arena_keep notes the present memory, and arena_restore brings it back. arena_forget undoes the
 * last arena_keep. */
void arena_keep(void);
void arena_restore(void);
void arena_forget(void);
/* Returns the thread that allocated the memory at the address, NOBODY for the setup; *made is the
 * event of the allocation. */
unsigned arena_owner(const char *address, uint16_t *made);

/* --- plain.c */
void plain_prepare(void);
void plain_begin(void);
struct location *plain_location(const void *address, size_t size, bool writes);

/* The kernel's queue of the sleepers on a word is an object outside the program's memory. */
#define KERNELS ((uintptr_t)1 << 62)
static inline bool is_kernels(const void *address) {
    return (uintptr_t)address & KERNELS;
}

/* --- choose.c */
struct wanted {
    const struct location *location;
    unsigned thread;
    uint8_t order, failure;
    bool exclusive;           /* the read of a read-modify-write */
    const uint64_t *expected; /* if not NULL: the write follows only if the read finds this value */
};
/* Returns the store that the load reads first, and notes the other stores that it may read. */
ref choose_source(ref event, const struct wanted *wanted);
/* Returns the store's first rank, and notes the other ranks and the loads that may read the store
 * instead. `at_least`: a bound in addition to happens-before. */
uint64_t choose_rank(ref event, const struct location *location, uint64_t at_least);
/* Sets the rank of the write of a read-modify-write. Returns the write of another read-modify-write
 * with the same source, or NO_EVENT. */
ref choose_next_rank(ref event, const struct location *location);
void choose_revisits(ref event, const struct location *location, ref taker);
uint64_t choose_bound(const struct location *location, const clocks clock);
/* Returns the first store after `rank` that wakes the thread, or NO_EVENT if there is none yet. */
ref choose_waker(const struct location *location, unsigned thread, uint64_t rank);

/* --- sequence.c */
/* An access that may be added; its rank is that of the store, or of the store that it reads. */
struct probe {
    ref event;
    const struct location *location;
    bool writes, sequential;
    uint64_t rank;
    const uint16_t *before, *after; /* clocks without and with the message that it acquires */
};
bool sequence_allows(const struct probe *probe);
void sequence_add(const struct probe *probe);
void sequence_add_fence(ref event, enum fence kind);

/* --- score.c */
enum score_kind {
    SCORE_LOAD,
    SCORE_STORE,
    SCORE_CHANGE,
    SCORE_FAILURE, /* the order of a compare-and-swap that fails */
    SCORE_FENCE,
    SCORE_BARRIER,
};
void score_prepare(void);
void score_end(const char *model);
/* Returns the order, or a weaker one if the environment asks for it. */
uint8_t score_order(enum explore_order order, enum score_kind kind, struct explore_place place);

/* --- graph.c */
void graph_begin(void);
void graph_note(struct item item);
/* In an execution by chance: returns seldom one of the choices noted since `choices` was 0, and
 * mostly NULL for the usual choice. */
const struct item *graph_drawn(void);
unsigned graph_draw(unsigned out_of);
/* Prepares the next graph to run. Returns false if none is left. */
bool graph_next(void);
void graph_end(void);

#endif
