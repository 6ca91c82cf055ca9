/* What the explorer's parts share: explore.c runs an execution, step.c has its events, choose.c
 * says what a load may read and where a store may stand, sequence.c what sequential consistency
 * forbids, graph.c which graphs are still to be tried, plain.c sees races, arena.c gives memory and
 * restores it, score.c makes orders weaker. */
#ifndef EXPLORER_H
#define EXPLORER_H

#include "explore.h"

#include <setjmp.h>
#include <ucontext.h>

enum {
    MOST_THREADS = 8,
    MOST_EVENTS = 4000, /* of a thread in an execution: more are taken for a loop without end */
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

/* What an execution is, as far as it was a matter of choice. */
struct event {
    uint8_t kind, order, size;
    bool exclusive; /* WRITE: of a read-modify-write, whose read is the thread's `pair`;
                     * READ: of who has been woken in a queue, which one store alone can tell */
    uint16_t pair;
    ref from;       /* READ: the store it reads; NO_EVENT: the object's first value */
    uint32_t stamp; /* when it was added to the graph */
    uint64_t rank;  /* WRITE: its place among the stores to the object; the first value has 0 */
    uint64_t value; /* FENCE: enum fence */
    const void *address;
    struct explore_place place;
};

/* How many events of each thread come before: in happens-before, or by any dependence. */
typedef uint16_t clocks[MOST_THREADS];

/* What follows from the graph, found anew in each execution. */
struct detail {
    clocks clock;     /* happens-before, with the event itself */
    clocks cause;     /* program order and reads-from, with itself */
    clocks message;   /* WRITE: what who acquires it acquires */
    ref older, newer; /* WRITE: neighbours by rank */
    ref next_access;  /* to the same object */
    uint16_t location, node, next_elsewhere;
    uint32_t step;
};

struct location {
    const char *address; /* NULL: was written plainly since, or freed */
    size_t size;
    uint64_t first; /* value */
    ref newest, accesses;
};

/* An object that a thread has looked at since its last SPIN, and the rank of what it saw. */
struct seen {
    unsigned location;
    uint64_t rank;
    bool own;
};

struct thread {
    jmp_buf context;
    ucontext_t start;
    bool started, finished, spins;
    const struct location *sleeps; /* in that queue */
    ref queued;
    bool stuck; /* at a SPIN: what it would do next is what it did before, or has been tried */
    bool wrote; /* since its last SPIN */
    struct explore_place at, last_spin;
    struct seen seen[MOST_SEEN], before[MOST_SEEN]; /* since the last SPIN, and before that */
    unsigned seen_count, before_count, idle_spins;
    unsigned count; /* its events so far */
    clocks clock, cause, acquirable, released;
    uint16_t last_node, last_light;
    void *local;
    void *(*run)(void *);
    void *argument;
    char *stack, *arena;
    size_t arena_used;
    uint64_t ticks;
};

/* Which nodes of the order of sequentially consistent events. */
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
    ref event, other; /* `other`: what is read, or the read that is to read `event` */
    uint64_t rank;
    uint32_t stamp;
    uint16_t length[MOST_THREADS]; /* what is left of the graph by a revisit */
};

struct level;

/* All state, apart from the executable's data: that is restored before each execution. */
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
    ref placing;   /* the store of a revisit, which may stand anywhere */
    ref revisited; /* the read that reads it, of this level */
    ref last;      /* to be repeated */

    ref node[MOST_NODES];
    struct nodes after[MOST_NODES]; /* each node's successors */
    unsigned nodes, fence[MOST_NODES], fences;

    jmp_buf end; /* of an execution */
    bool exploring, failed, pruned;
    bool by_chance;  /* each choice is drawn, and none is noted */
    uint64_t chance; /* the generator's state */
    struct item drawn;
    unsigned choices; /* out of which it was drawn */
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
/* The rank of what a read has read, or of a store. */
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
/* Says what is wrong with this execution, and shows its events. */
void explorer_report(const char *what);
/* Ends this execution: it need not go on. */
_Noreturn void explorer_prune(void);
/* Returns when it is the running thread's turn. */
void explorer_await_turn(struct explore_place place);
/* Has what it looked at since its last SPIN changed? */
bool explorer_is_stirred(const struct thread *thread);
/* The store that wakes the thread in its queue, or NO_EVENT. */
ref explorer_waker_of(const struct thread *thread);

/* --- step.c */
unsigned step_create(unsigned number);

/* --- arena.c */
void arena_prepare(void);
/* What there is now comes back with arena_restore; each is undone by arena_forget, the last
 * first. */
void arena_keep(void);
void arena_restore(void);
void arena_forget(void);
/* Whose allocation the address is in, NOBODY if the setup's, and by which event it was made. */
unsigned arena_owner(const char *address, uint16_t *made);

/* --- plain.c */
void plain_prepare(void);
void plain_begin(void);
struct location *plain_location(const void *address, size_t size, bool writes);

/* The kernel's queue of those that sleep on a word is an object beside the program's memory. */
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
    const uint64_t *expected; /* which is one only if it finds this */
};
/* What the load reads first; notes what else it may read. */
ref choose_source(ref event, const struct wanted *wanted);
/* The store's rank at first; notes the others, and which loads may read it instead. `at_least`: a
 * bound beside what happened before. */
uint64_t choose_rank(ref event, const struct location *location, uint64_t at_least);
/* Sets the rank of the write of a read-modify-write. Returns the write of another one that has read
 * the same, or NO_EVENT. */
ref choose_next_rank(ref event, const struct location *location);
void choose_revisits(ref event, const struct location *location, ref taker);
uint64_t choose_bound(const struct location *location, const clocks clock);
/* The store that wakes the thread, after rank; NO_EVENT: none yet. */
ref choose_waker(const struct location *location, unsigned thread, uint64_t rank);

/* --- sequence.c */
/* An access that may be added: of what rank (a read: of what it reads). */
struct probe {
    ref event;
    const struct location *location;
    bool writes, sequential;
    uint64_t rank;
    const uint16_t *before, *after; /* clocks, without what it acquires and with that */
};
bool sequence_allows(const struct probe *probe);
void sequence_add(const struct probe *probe);
void sequence_add_fence(ref event, enum fence kind);

/* --- score.c */
enum score_kind {
    SCORE_LOAD,
    SCORE_STORE,
    SCORE_CHANGE,
    SCORE_FAILURE, /* of a compare-and-swap, when it fails */
    SCORE_FENCE,
    SCORE_BARRIER,
};
void score_prepare(void);
void score_end(const char *model);
/* The order, or a weaker one where that is asked for. */
uint8_t score_order(enum explore_order order, enum score_kind kind, struct explore_place place);

/* --- graph.c */
void graph_begin(void);
void graph_note(struct item item);
/* By chance: one of those noted since `choices` was 0, seldom, or NULL: the usual one. */
const struct item *graph_drawn(void);
unsigned graph_draw(unsigned out_of);
/* The next graph to run. False: nothing is left. */
bool graph_next(void);
void graph_end(void);

#endif
