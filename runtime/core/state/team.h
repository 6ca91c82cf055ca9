/* A team: the threads that execute one parallel region, and the data that they share.
 *
 * A team outlives its region. When the master has left, the workers wait at their docks, and any
 * master of the process may lease the team for its next region (pool.h). Teams and seats are never
 * freed, so a late wake-up may touch one safely. A seat holds the data of one member. The comment
 * of a field names the threads that may touch it. The READMEs of team/, wait/, work/ and task/
 * argue the protocols (fork, join, barrier, sleep). */
#ifndef CST_CORE_STATE_TEAM_H
#define CST_CORE_STATE_TEAM_H

#include "core/base/deque.h"
#include "core/settings/icv.h"
#include "core/base/lock.h"
#include "core/settings/place.h"
#include "core/state/share.h"
#include "core/state/task.h"
#include "platform/atomic.h"
#include "platform/hidden.h"
#include "platform/platform.h"

struct cst_thread;
struct cst_team;
struct cst_queue;
struct cst_node;

typedef void cst_region_function(void *data);

#ifndef CST_TREE_ARITY   /* a model sets another */
#define CST_TREE_ARITY 4 /* children of a member in the fork and join tree */
#endif

/* --- the tree: of fork and join, of a large team's counts of tasks, and of its loops --------- */

/* The parent of any member but 0, which is the root. */
static inline uint32_t cst_tree_parent(uint32_t member) {
    return (member - 1) / CST_TREE_ARITY;
}

/* The children of a member in a team of that size have the numbers from cst_tree_first up to, but
 * not including, cst_tree_end. */
static inline uint32_t cst_tree_first(uint32_t member) {
    return CST_TREE_ARITY * member + 1;
}

static inline uint32_t cst_tree_end(uint32_t member, uint32_t size) {
    uint32_t end = cst_tree_first(member) + CST_TREE_ARITY;
    return end < size ? end : size;
}

/* The members with lower numbers than this have children. */
static inline uint32_t cst_tree_inner(uint32_t size) {
    return (size + CST_TREE_ARITY - 2) / CST_TREE_ARITY;
}

/* --- large teams ------------------------------------------------------------------------- */

/* A team with more members is large. In a large team, a waiting member does not look at all other
 * members in each turn (steal.h, quiesce.c). Its dynamic loops do not have one counter
 * (dispatch.h): a line that all members want travels to each of them, one after the other. The
 * first number is the limit of a team with a processor for each member. The second is the limit of
 * a crowded team, in which a line costs less than a switch to another thread. Only tests change
 * them. */
extern CST_HIDDEN uint32_t cst_team_few[2];

static inline bool cst_team_is_large(uint32_t size, bool crowded) {
    return size > cst_team_few[crowded];
}

/* ------------------------------------------------------------------------------------------ */

/* The place in which the master has set up the first construct, if it has. */
enum cst_combined {
    CST_COMBINED_NOT,
    CST_COMBINED_RING, /* in a slot of the ring (share.h) */
    CST_COMBINED_TREE  /* in the root's node (dispatch.h) */
};

/* The counter from which a member claims several chunks of a dynamic loop at once. */
enum cst_batching { CST_BATCHING_NOT, CST_BATCHING_COUNTER, CST_BATCHING_TREE };

enum cst_lease {
    CST_LEASE_NONE,
    CST_LEASE_MASTER, /* a region runs, or begins */
    CST_LEASE_BRIEF   /* a thread gives the workers an order (workers.c), then ends the lease */
};

enum cst_parked {
    CST_AWAKE,
    CST_PARKED, /* asleep, or about to be (park.c) */
    CST_PARTING /* woken, but must wait until its waker has moved it (apart.h) */
};

enum cst_crowded {
    CST_UNCROWDED,
    CST_CROWDED, /* more busy threads than processors: central barrier, no long spinning */
    CST_TOGETHER /* the same, as Haskell code computes too (wait/together.h) */
};

/* Members that share processors beside Haskell code (wait/together.h). All but the two words that
 * other threads read belong to the master, and `joined` to the last worker of the region. */
struct cst_together {
    _Atomic bool suggested; /* a waiting member found Haskell code that computes */
    uint8_t late;           /* recent joins after which the master's processor was taken, twice */
    uint8_t long_ones;      /* regions in a row that took long */
    bool beside;            /* such code ran at the region's begin */
    uint8_t throughout;     /* recent long regions at whose begin and end it ran */
    _Atomic uint32_t processors; /* for the region's members; 0: each has its own */
    uint64_t first, last;        /* times at which a series of such regions began, and went on */
    uint64_t begun;              /* time at which the region began; 0: not taken, */
    uint64_t used;               /* and the master's processor time by then; 0: not taken */
    uint64_t joined;             /* time at which its last worker arrived */
};

/* The master's message to each member of a region. Members copy it down the tree. */
struct cst_order {
    uint32_t size;    /* of the team in this region; 0: for workers.c, not a region */
    uint32_t barrier; /* number of the team's last barrier */
    uint8_t combined; /* enum cst_combined: the first construct (parallel loop, sections) */
    uint8_t crowded;  /* enum cst_crowded */
    cst_region_function *function;
    void *data;
    uint64_t construct; /* worksharing constructs that the team has met */
    uint64_t singles;   /* single constructs that it has met */
};

/* Field by field. An assignment would load several fields at once, which must wait until the
 * master's stores are done: a region of two threads took 5 ns more. */
static inline void cst_order_copy(struct cst_order *to, const struct cst_order *from) {
    to->size = from->size;
    to->barrier = from->barrier;
    to->combined = from->combined;
    to->crowded = from->crowded;
    to->function = from->function;
    to->data = from->data;
    to->construct = from->construct;
    to->singles = from->singles;
}

/* The line from which a member learns its next region, and by which it sleeps and is woken in every
 * wait. */
struct cst_dock {
    /* Number of the region that the member is to execute; grows by one for each region of the team.
     * The parent writes it with an exchange, after the order. The member's acquire load pairs with
     * it. */
    _Atomic uint32_t go;
    _Atomic uint32_t parked;   /* the member's futex, enum cst_parked */
    _Atomic int32_t sleeper;   /* the kernel's number of the parked member */
    _Atomic uint32_t woken_on; /* the waker's processor, plus 1 */
    struct cst_order order;
};
_Static_assert(sizeof(struct cst_dock) == CST_CACHE_LINE, "a fork writes one line of each member");

/* A member's place in its team. */
struct cst_seat {
    CST_LINE_ALIGNED struct cst_dock dock; /* written by the parent, read by the member */

    /* Written by the member, polled by its parent. Twice the number of the last region at whose end
     * the member and all below it in the tree have arrived, plus one if tasks may be
     * outstanding. */
    CST_LINE_ALIGNED _Atomic uint32_t arrived;
    /* Read by the parent too: the counts of this member and of all below it in the tree
     * (quiesce.c). */
    struct cst_tally {
        _Atomic uint64_t wave; /* the wave in which the counts below were taken */
        _Atomic uint64_t made, done;
    } tally;
    /* The data that it offers in a tree reduction, and the name of the reduction (gather.c). */
    void *offered;
    _Atomic uint64_t offers;

    /* Written by other members, polled by this one: [parity of the barrier's number][round], twice
     * the barrier's number, plus one if tasks may be outstanding. The parities are two lines apart,
     * as processors fetch lines in pairs. So a write for the next barrier does not disturb a member
     * that still polls for this one. */
    CST_LINE_ALIGNED _Atomic uint32_t flag[2][2 * CST_CACHE_LINE / sizeof(uint32_t)];

    /* Written by other members, polled by this one while it waits. */
    CST_LINE_ALIGNED _Atomic uint64_t told; /* by the parent: a wave, or the end of all tasks */
    _Atomic uint64_t box;                   /* a task given to the member (steal.c) */
    /* The name of a tree reduction (gather.c), once the parent has read the offered data. */
    _Atomic uint64_t taken;

    /* The member's own; constant for others. */
    CST_LINE_ALIGNED struct cst_team *team;
    struct cst_thread *thread;     /* the member's thread; changes for seat 0 alone */
    uint32_t number;               /* omp_get_thread_num */
    uint32_t region;               /* the last one that it executed */
    uint32_t size;                 /* of the team in that region */
    uint32_t barrier;              /* number of the last barrier that it passed, across regions */
    uint8_t crowded;               /* as the team was when the region began */
    bool made_tasks;               /* it deferred a task since the last barrier */
    bool completed_tasks;          /* it completed one since it last told member 0 */
    bool at_end;                   /* a worker between regions, which only helps with tasks */
    bool in_wave;                  /* it takes part in the wave below (quiesce.c) */
    bool box_open;                 /* it accepts a task, unless it got one already */
    uint8_t partners;              /* large team: members a power of two away; 0: small team */
    bool has_heirs;                /* it has set the heirs of its deque */
    uint32_t free;                 /* partners for parts of the current task (steal.c) */
    uint32_t turns, looks;         /* large team: turns of waiting; vain looks for tasks */
    uint32_t elsewhere;            /* the next member to look at, in turn */
    uint32_t restraint;            /* tasks left to other members since it took one */
    uint64_t wave;                 /* the last one that it passed on */
    struct cst_task *given;        /* taken out of the box, not begun */
    uint64_t construct;            /* worksharing constructs met since the team was made */
    uint64_t construct_at_barrier; /* `construct` at the last barrier: all before it have ended */
    uint64_t left_by_all;          /* constructs that all members had left at its last look */
    uint64_t singles;              /* single constructs met since the team was made */
    uint32_t gathers;              /* tree reductions met in this region (gather.c) */
    struct cst_binding binding;    /* place and partition in this region; zero: not bound */
    uint32_t bound_place;          /* the thread's last binding, as binding.place */
    uint32_t traits_number;        /* version of the team's traits that its thread has */
    uint32_t shown_size, shown_level, shown_place; /* as last displayed (bind.c) */
    uint32_t victim;                               /* the member from which it stole last */
    /* The choice of new tasks that run at once (defer.c). */
    struct cst_making {
        const struct cst_task *maker; /* the task that made the last one */
        uint32_t at_once, put_out;    /* numbers of next tasks: run at once; put out */
        uint32_t mean_ticks;          /* mean duration of the timed tasks */
        uint32_t since_sample;        /* tasks made since then */
        bool many;                    /* the maker makes many tasks, not two or four */
        bool had_enough;              /* for thieves, at its last look */
        /* In a tree of tiny tasks, tasks nearer to the root than this are put out. */
        uint32_t cut;
        uint32_t until_look; /* next tasks until the clock is read */
        uint64_t looked_at;  /* clock at the last reading, in ticks */
    } making;
    CST_LINE_ALIGNED struct cst_task implicit; /* other members count here */

    struct cst_deque deque; /* owner: the member */

    /* Tasks deferred and completed by this member in this region. */
    CST_LINE_ALIGNED _Atomic uint64_t tasks_made;
    _Atomic uint64_t tasks_done;
    /* Worksharing constructs that it has left; members that run ahead read it. */
    CST_LINE_ALIGNED _Atomic uint64_t construct_left;
    /* The processor that it last reported, plus 1 (apart.h). */
    _Atomic uint32_t seen_on;
};

/* The state of a thread within one region, saved while the thread is the master of an inner
 * region. */
struct cst_context {
    struct cst_team *team; /* never NULL: an initial team has one member */
    struct cst_seat *seat;
    struct cst_task *task;         /* current task */
    struct cst_share *share;       /* current worksharing construct, or NULL */
    struct cst_doacross *doacross; /* of the current nest or an older one, or NULL */
    uint32_t number;
    /* Iterations claimed and not yet handed out, and the state for further claims (loop.c). */
    struct cst_loop {
        uint64_t value, step; /* user's variable: first value of the next chunk; step */
        uint32_t left;        /* whole chunks claimed and not handed out */
        bool has_end;         /* the loop's last chunk follows them */
        uint8_t schedule;     /* this and the next fields: copies of the slot's */
        uint8_t batching;     /* enum cst_batching */
        bool counts_on, ordered;
        uint32_t batch;        /* chunks in the last claim */
        uint64_t first, last;  /* iterations of the last claim; ordered: of the current chunk */
        uint64_t ordered_ends; /* ordered regions of this chunk that have ended */
        uint64_t trips;        /* static: chunks taken so far */
        uint64_t trip, chunk, start, increment, end; /* end: if not in the slot */
        uint64_t claimed_at;                         /* clock when the last batch was claimed */
        uint64_t stride;                             /* for a front end (cst_loop_stride) */
        uint64_t tag; /* the construct's; 0: the thread has met no loop */
    } loop;
};

/* num_threads(4, 3, 2): the numbers of threads of a region and of regions nested in it, by
 * depth. */
struct cst_sizes {
    uint32_t level; /* of the region that has the clause */
    uint32_t count;
    uint32_t threads[]; /* each at least 1; the last one holds for all deeper regions */
};

/* Words in a team's copy of a region's data. */
enum { CST_REGION_WORDS = CST_CACHE_LINE / sizeof(uintptr_t) };

struct cst_team {
    /* Constant during a region and mostly between regions, so that members keep the line cached. */
    uint32_t size;
    uint32_t level, active_level;        /* omp_get_level, omp_get_active_level */
    uint32_t master_number;              /* the master's thread number in the enclosing team */
    uint32_t limited;                    /* members counted in the root, for thread-limit-var */
    struct cst_team *root;               /* initial team of the contention group */
    struct cst_team *enclosing;          /* NULL: an initial team */
    struct cst_task *encountering;       /* the task that met the construct */
    _Atomic(struct cst_seat **) seats;   /* replaced when the team grows */
    uint8_t crowded;                     /* enum cst_crowded */
    bool orphaned;                       /* in the child of a fork: the other members are gone */
    bool unsafe;                         /* its master, or an outer one, holds a Capability */
    uint8_t bind;                        /* proc_bind of the region */
    struct cst_binding binding;          /* of the master when the region began (bind.c) */
    const struct cst_sizes *sizes;       /* of the innermost clause around it, or NULL */
    struct cst_group *group;             /* task reductions of the region (reduce.h), or NULL */
    uint32_t traits_number;              /* version of `traits` */
    uint64_t float_mode;                 /* the master's as the region began (platform.h) */
    uint32_t team_number;                /* (initial teams) omp_get_team_num in a teams construct */
    uint32_t other_teams;                /* (initial teams) omp_get_num_teams, minus 1 */
    struct cst_node *nodes;              /* for loops of large teams (dispatch.h), or NULL */
    uint32_t nodes_for;                  /* members that `nodes` suffice for */
    CST_LINE_ALIGNED struct cst_icv icv; /* of the implicit tasks */
    /* The copy of the region's data (region.h), written only where it differs. */
    CST_LINE_ALIGNED uintptr_t data[CST_REGION_WORDS];

    /* Number of a region in which a member deferred a task: waiting members look for work. */
    CST_LINE_ALIGNED _Atomic uint32_t tasking;
    _Atomic uint32_t cancelled;           /* number of the cancelled region */
    _Atomic uint64_t cancelled_construct; /* see cancel.h */
    /* Sleeping members that a new task should wake: the region's number in the upper half, their
     * count in the lower. A count for another region means none. */
    _Atomic uint64_t sleepers;

    /* Central barrier and join of a crowded team. */
    CST_LINE_ALIGNED _Atomic uint32_t awaited;  /* members that have not arrived at the barrier */
    _Atomic uint32_t joining;                   /* workers that have not arrived at the end */
    _Atomic uint32_t central_tasks;             /* number of a barrier with tasks outstanding */
    CST_LINE_ALIGNED _Atomic uint32_t released; /* number of the last central barrier */
    _Atomic uint32_t joined;                    /* number of the last region that ended */
    CST_LINE_ALIGNED _Atomic uint32_t quiet;    /* number of the last barrier whose tasks ended */

    /* Detached tasks completed by threads that are not members. */
    CST_LINE_ALIGNED _Atomic uint64_t foreign_done;
    /* Ready tasks that have a priority, or that such threads made ready; NULL: none so far
     * (queue.h). */
    _Atomic(struct cst_queue *) priority;

    /* Written when the team gets another master or more workers. Idle workers read `keeper` before
     * each region, so it is not in the line below, which every region writes. */
    CST_LINE_ALIGNED _Atomic(struct cst_thread *) keeper; /* may alone lease it; NULL: any may */
    _Atomic uint64_t served;                 /* identity of the last master; 0: it has ended */
    _Atomic uint64_t class[CST_CLASS_WORDS]; /* of all its workers; constant while it has any */
    struct cst_thread_traits traits;         /* that its workers have (workers.h) */
    _Atomic uint32_t capacity;               /* seats with a worker (seat 0: always) */
    uint32_t seats_length;                   /* length of the array `seats` */
    struct cst_team *next; /* in the pool's list, or the thread's list of solo teams */

    /* enum cst_lease; in a solo team, 1 while it is in use. */
    CST_LINE_ALIGNED _Atomic uint32_t leased;
    uint32_t region; /* number of the current or last region; members read their seat's */
    /* Region number, readable by workers that have already left the region. 0 once the region has
     * ended, or if it has one member. */
    _Atomic uint32_t running;
    uint32_t counted;         /* threads that it counts as busy in the pool */
    uint32_t shared;          /* the region's hold, by budget/share.h */
    struct cst_context saved; /* the master's context in the enclosing region */

    _Atomic uint32_t group_threads; /* (root) threads of the contention group, if limited */

    CST_LINE_ALIGNED _Atomic uint64_t singles; /* single constructs that a member has begun */
    CST_LINE_ALIGNED cst_lock share_lock;      /* for slots beside the ring */
    cst_lock queue_lock;                       /* for the tasks with a priority */
    struct cst_beside beside;
    struct cst_share ring[CST_SHARE_RING];
    struct cst_seat first; /* seat 0 */
    /* Last: among the first fields it moved the hot lines after it into other pairs of lines, which
     * processors fetch together, and a region of two threads took 10 % longer. */
    struct cst_together together;
};

static inline struct cst_seat *cst_team_seat(struct cst_team *team, uint32_t number) {
    return cst_load_acquire(&team->seats)[number]; /* pairs with the release in pool.c */
}

/* Is a member of the current region asleep that could run tasks? */
static inline bool cst_team_has_sleepers(struct cst_team *team, uint32_t region) {
    uint64_t sleepers = cst_load_seq_cst(&team->sleepers);
    return sleepers >> 32 == region && (uint32_t)sleepers != 0;
}

#endif
