/* A team: the threads that execute one parallel region, and all that they share.
 *
 * A team outlives its region: when the master has left, its workers wait at their docks, and any
 * master of the process may lease the team for its next region (pool.h). Teams and seats are never
 * freed, so a late wake-up may touch one safely. What belongs to one member is in its seat; fields
 * say who may touch them. The protocols (fork, join, barrier, sleep) are argued in the READMEs of
 * the rooms above. */
#ifndef CST_CORE_STATE_TEAM_H
#define CST_CORE_STATE_TEAM_H

#include "core/base/deque.h"
#include "core/settings/icv.h"
#include "core/base/lock.h"
#include "core/settings/place.h"
#include "core/state/share.h"
#include "core/state/task.h"
#include "platform/atomic.h"
#include "platform/platform.h"

struct cst_thread;
struct cst_team;
struct cst_queue;
struct cst_node;

typedef void cst_region_function(void *data);

#ifndef CST_TREE_ARITY   /* a model has its own */
#define CST_TREE_ARITY 4 /* children of a member in the fork and join tree */
#endif

/* --- the tree: of fork and join, of a large team's counts of tasks, and of its loops --------- */

/* Of any member but 0, which is the root. */
static inline uint32_t cst_tree_parent(uint32_t member) {
    return (member - 1) / CST_TREE_ARITY;
}

/* A member's children in a team of that size are those from the first to before the end. */
static inline uint32_t cst_tree_first(uint32_t member) {
    return CST_TREE_ARITY * member + 1;
}

static inline uint32_t cst_tree_end(uint32_t member, uint32_t size) {
    uint32_t end = cst_tree_first(member) + CST_TREE_ARITY;
    return end < size ? end : size;
}

/* Members that have children: those with numbers below this one. */
static inline uint32_t cst_tree_inner(uint32_t size) {
    return (size + CST_TREE_ARITY - 2) / CST_TREE_ARITY;
}

/* --- large teams ------------------------------------------------------------------------- */

/* Teams of more members are large: nobody looks at all others in each turn of waiting (steal.h,
 * quiesce.c), and dynamic loops do not have one counter (dispatch.h), as a line that all members
 * want travels as often as there are members, one after the other. [0]: of a team with a processor
 * for each member; [1]: of a crowded one, where a line costs less than a switch to another thread.
 * Constant, but for tests. */
extern uint32_t cst_team_few[2];

static inline bool cst_team_is_large(uint32_t size, bool crowded) {
    return size > cst_team_few[crowded];
}

/* ------------------------------------------------------------------------------------------ */

/* Has the master set the first construct up, and where? */
enum cst_combined {
    CST_COMBINED_NOT,
    CST_COMBINED_RING, /* in a slot of the ring (share.h) */
    CST_COMBINED_TREE  /* in the root's node (dispatch.h) */
};

/* From where a member claims several chunks of a dynamic loop at once. */
enum cst_batching { CST_BATCHING_NOT, CST_BATCHING_COUNTER, CST_BATCHING_TREE };

enum cst_lease {
    CST_LEASE_NONE,
    CST_LEASE_MASTER, /* a region goes on, or begins */
    CST_LEASE_BRIEF   /* a thread tells the workers something (workers.c), and gives it back at once
                       */
};

enum cst_parked {
    CST_AWAKE,
    CST_PARKED, /* asleep, or about to be (park.c) */
    CST_PARTING /* woken, and not to go on before it has been taken to another processor (apart.h)
                 */
};

/* What a master tells each member of a region. It is copied from member to member down the tree. */
struct cst_order {
    uint32_t size;    /* of the team in this region; 0: no region, but an order (workers.c) */
    uint32_t barrier; /* number of the team's last barrier */
    uint8_t combined; /* enum cst_combined: the first construct (parallel loop, sections) */
    bool crowded;     /* more busy threads than processors: central barrier, no long spinning */
    cst_region_function *function;
    void *data;
    uint64_t construct; /* worksharing constructs that the team has met */
    uint64_t singles;   /* single constructs that it has met */
};

/* Where a member waits between regions, and what wakes it. */
struct cst_dock {
    /* Number of the team's region that the member is to execute; grows by one per region.
     * Written by the parent with an exchange, after the order; the member's acquire load pairs with
     * it. */
    _Atomic uint32_t go;
    _Atomic uint32_t parked;   /* the member's futex, enum cst_parked */
    _Atomic int32_t sleeper;   /* the kernel's number of the member that is parked */
    _Atomic uint32_t woken_on; /* the processor of the thread that woke it, plus 1 */
    struct cst_order order;
};
_Static_assert(sizeof(struct cst_dock) == CST_CACHE_LINE, "a fork writes one line of each member");

/* A member's place in its team. */
struct cst_seat {
    CST_LINE_ALIGNED struct cst_dock dock; /* written by the parent, read by the member */

    /* Written by the member, polled by its parent: twice the number of the region at whose end it
     * and its children in the tree have arrived, plus one if tasks may be outstanding. */
    CST_LINE_ALIGNED _Atomic uint32_t arrived;
    /* For the same reader: what the members from here on down the tree have counted (quiesce.c). */
    struct cst_tally {
        _Atomic uint64_t wave; /* the counts below were taken in it */
        _Atomic uint64_t made, done;
    } tally;
    /* What it offers in a tree reduction, and that one's name (gather.c). */
    void *offered;
    _Atomic uint64_t offers;

    /* Written by other members, polled by this one: [parity of the barrier's number][round], twice
     * the barrier's number, plus one if tasks may be outstanding. The parities are two lines apart,
     * as processors fetch lines in pairs: who writes for the next barrier shall not meet one who
     * still polls for this. */
    CST_LINE_ALIGNED _Atomic uint32_t flag[2][2 * CST_CACHE_LINE / sizeof(uint32_t)];

    /* Written by other members, polled by this one while it waits. */
    CST_LINE_ALIGNED _Atomic uint64_t told; /* by the parent: a wave, or that tasks are complete */
    _Atomic uint64_t box;                   /* a task that it is given (steal.c) */
    /* Of a tree reduction (gather.c): its name, once the parent has read what is offered. */
    _Atomic uint64_t taken;

    /* The member's own; constant for others. */
    CST_LINE_ALIGNED struct cst_team *team;
    struct cst_thread *thread;     /* who sits here; changes between regions for seat 0 alone */
    uint32_t number;               /* omp_get_thread_num */
    uint32_t region;               /* the last that it executed */
    uint32_t size;                 /* of the team in that region */
    uint32_t barrier;              /* number of the last barrier that it passed, across regions */
    bool crowded;                  /* the team was, when its region began */
    bool made_tasks;               /* deferred a task since the last barrier */
    bool completed_tasks;          /* completed one since it last told member 0 */
    bool at_end;                   /* a worker between regions, which at most helps with tasks */
    bool in_wave;                  /* it takes part in the wave below (quiesce.c) */
    bool box_open;                 /* unless it has been given a task meanwhile */
    uint8_t partners;              /* large team: members a power of two away; 0: a small one */
    bool has_heirs;                /* the deque's are its own */
    uint32_t free;                 /* partners to hand parts of the current task to (steal.c) */
    uint32_t turns, looks;         /* large team: of waiting; for tasks, in vain */
    uint32_t elsewhere;            /* whom it looks at in turn */
    uint32_t restraint;            /* tasks that it left to others since it took one */
    uint64_t wave;                 /* told last */
    struct cst_task *given;        /* taken out of the box and not begun */
    uint64_t construct;            /* worksharing constructs met since the team was made */
    uint64_t construct_at_barrier; /* the same at the last barrier: all before it are over */
    uint64_t left_by_all;          /* constructs that all members had left when it looked last */
    uint64_t singles;              /* single constructs met since the team was made */
    uint32_t gathers;              /* tree reductions met in this region (gather.c) */
    struct cst_binding binding;    /* place and partition in this region; zero: not bound */
    uint32_t bound_place;          /* where the thread was last bound, as binding.place */
    uint32_t traits_number;        /* of the team's traits that its thread has (workers.h) */
    uint32_t shown_size, shown_level, shown_place; /* displayed last (bind.c) */
    uint32_t victim;                               /* where it stole last */
    /* Which new tasks it runs at once (defer.c). */
    struct cst_making {
        const struct cst_task *maker; /* the task that made the last one */
        uint32_t at_once, put_out;    /* tasks to come that run at once; that do not */
        uint32_t mean_ticks;          /* what a task took, of those that were timed */
        uint32_t since_sample;        /* tasks made since then */
        bool many;                    /* the maker makes many tasks, not two or four */
        bool had_enough;              /* for thieves, when it looked last */
        /* In a tree of tiny tasks: those nearer to the root than this are put out. */
        uint32_t cut;
        uint32_t until_look; /* tasks to come before the clock is looked at */
        uint64_t looked_at;  /* clock, in ticks */
    } making;
    CST_LINE_ALIGNED struct cst_task implicit; /* other members count here */

    struct cst_deque deque; /* owner: the member */

    /* Tasks deferred and completed by this member in this region. */
    CST_LINE_ALIGNED _Atomic uint64_t tasks_made;
    _Atomic uint64_t tasks_done;
    /* Worksharing constructs that it has left; read by those who are ahead. */
    CST_LINE_ALIGNED _Atomic uint64_t construct_left;
    /* The processor on which it last said to be, plus 1 (apart.h). */
    _Atomic uint32_t seen_on;
};

/* What a thread is within one region; saved while it is the master of an inner one. */
struct cst_context {
    struct cst_team *team; /* never NULL: an initial team has one member */
    struct cst_seat *seat;
    struct cst_task *task;         /* current task */
    struct cst_share *share;       /* current worksharing construct, or NULL */
    struct cst_doacross *doacross; /* of the current nest; or of an older one, or NULL */
    uint32_t number;
    /* Iterations claimed and not yet handed out, and how the rest is found (loop.c). */
    struct cst_loop {
        uint64_t value, step; /* next chunk's first value of the user's variable; to the next */
        uint32_t left;        /* whole chunks claimed and not handed out */
        bool has_end;         /* and after them the loop's last chunk */
        uint8_t schedule;     /* these and those below: the slot's (loop.c, begin) */
        uint8_t batching;     /* enum cst_batching */
        bool counts_on, ordered;
        uint32_t batch;        /* chunks that the last claim took */
        uint64_t first, last;  /* iterations claimed last; ordered: of the chunk being executed */
        uint64_t ordered_ends; /* ordered regions of this chunk that have ended */
        uint64_t trips;        /* static: chunks taken so far */
        uint64_t trip, chunk, start, increment, end; /* end: where the slot does not have it */
        uint64_t claimed_at;                         /* clock when the last batch was claimed */
        uint64_t stride;                             /* a front end's (cst_loop_stride) */
        uint64_t tag;                                /* the construct's */
    } loop;
};

/* num_threads(4, 3, 2): how many threads a region has, and regions that lie in it, by their depth.
 */
struct cst_sizes {
    uint32_t level; /* of the region that has the clause */
    uint32_t count;
    uint32_t threads[]; /* each at least 1; the last one holds for all deeper regions */
};

struct cst_team {
    /* Constant during a region, and between regions mostly, so that members keep the line. */
    uint32_t size;
    uint32_t level, active_level;      /* omp_get_level, omp_get_active_level */
    uint32_t master_number;            /* the master's thread number in the enclosing team */
    uint32_t limited;                  /* members counted in the root, for thread-limit-var */
    struct cst_team *root;             /* initial team of the contention group */
    struct cst_team *enclosing;        /* NULL: an initial team */
    struct cst_task *encountering;     /* the task that met the construct */
    _Atomic(struct cst_seat **) seats; /* replaced when the team grows */
    bool crowded;
    bool orphaned;                       /* in the child of a fork: the other members are gone */
    bool unsafe;                         /* its master, or an outer one, holds a Capability */
    uint8_t bind;                        /* proc_bind of the region */
    struct cst_binding binding;          /* of the master when the region began (bind.c) */
    const struct cst_sizes *sizes;       /* of the innermost such clause around it, or NULL */
    struct cst_group *group;             /* task reductions of the region (reduce.h), or NULL */
    uint32_t traits_number;              /* counts changes of `traits` */
    uint64_t float_mode;                 /* the master's as the region began (platform.h) */
    uint32_t team_number;                /* (initial teams) omp_get_team_num in a teams construct */
    uint32_t other_teams;                /* (initial teams) omp_get_num_teams, less one */
    struct cst_node *nodes;              /* for loops of large teams (dispatch.h), or NULL */
    uint32_t nodes_for;                  /* they are enough for so many members */
    CST_LINE_ALIGNED struct cst_icv icv; /* of the implicit tasks */

    /* Region in which some member deferred a task: members that wait look for work. */
    CST_LINE_ALIGNED _Atomic uint32_t tasking;
    _Atomic uint32_t cancelled;           /* region that was cancelled */
    _Atomic uint64_t cancelled_construct; /* see cancel.h */
    /* Members asleep that a new task should wake: region in the upper half, count in the lower;
     * the count of another region means none. */
    _Atomic uint64_t sleepers;

    /* Central barrier and join of a crowded team. */
    CST_LINE_ALIGNED _Atomic uint32_t awaited;  /* members that have not arrived at the barrier */
    _Atomic uint32_t joining;                   /* workers that have not arrived at the end */
    _Atomic uint32_t central_tasks;             /* number of a barrier with tasks outstanding */
    CST_LINE_ALIGNED _Atomic uint32_t released; /* number of the last central barrier */
    _Atomic uint32_t joined;                    /* number of the last region that ended */
    CST_LINE_ALIGNED _Atomic uint32_t quiet;    /* number of the last barrier whose tasks ended */

    /* Tasks completed by threads that are no members (detached ones). */
    CST_LINE_ALIGNED _Atomic uint64_t foreign_done;
    /* Ready tasks with a priority, or made ready by such threads; NULL: none ever (queue.h). */
    _Atomic(struct cst_queue *) priority;

    /* Written when the team gets another master or more workers. Idle workers look at `keeper`
     * before each region, so it is not in the line below, which every region writes. */
    CST_LINE_ALIGNED _Atomic(struct cst_thread *) keeper; /* may alone lease it; NULL: any may */
    _Atomic uint64_t served;                 /* identity of the last master; 0: it has ended */
    _Atomic uint64_t class[CST_CLASS_WORDS]; /* of all its workers; constant while it has some */
    struct cst_thread_traits traits;         /* what the workers have from it (workers.h) */
    _Atomic uint32_t capacity;               /* seats with a worker (seat 0: always) */
    uint32_t seats_length;                   /* length of the array `seats` */
    struct cst_team *next; /* in the pool's list, or the thread's list of solo teams */

    /* enum cst_lease; of a solo team, 1 while it is in use. */
    CST_LINE_ALIGNED _Atomic uint32_t leased;
    uint32_t region; /* number of the current or last region; members know their seat's */
    /* The number of the current region for a worker that has left it; 0 once it has ended, or if it
     * had one member. */
    _Atomic uint32_t running;
    uint32_t counted;         /* threads counted as busy in the pool */
    uint32_t shared;          /* what its region has of the books (budget/share.h) */
    struct cst_context saved; /* the master's context in the enclosing region */

    _Atomic uint32_t group_threads; /* (root) threads of the group, when there is a limit */

    CST_LINE_ALIGNED _Atomic uint64_t singles; /* single constructs that someone executes */
    CST_LINE_ALIGNED cst_lock share_lock;      /* for slots beside the ring */
    cst_lock queue_lock;                       /* for the tasks with a priority */
    struct cst_beside beside;
    struct cst_share ring[CST_SHARE_RING];
    struct cst_seat first; /* seat 0 */
};

static inline struct cst_seat *cst_team_seat(struct cst_team *team, uint32_t number) {
    return cst_load_acquire(&team->seats)[number]; /* pairs with the release in pool.c */
}

/* Does a member of the current region sleep that could run tasks? */
static inline bool cst_team_has_sleepers(struct cst_team *team, uint32_t region) {
    uint64_t sleepers = cst_load_seq_cst(&team->sleepers);
    return sleepers >> 32 == region && (uint32_t)sleepers != 0;
}

#endif
