/* Entry points that clang 14 seldom or never calls: queries, memory, locks, barriers, teams, tasks.
 * The test calls them like Intel's compilers, older clangs and later clangs.
 *
 * test: flags -Lbuild/lib
 * test: env OMP_PROC_BIND=true
 * test: not clang-stock libomp 14 has fewer
 */
#include "testing.h"

#include <omp.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

int __kmpc_global_thread_num(void *), __kmpc_global_num_threads(void *),
    __kmpc_bound_thread_num(void *);
int __kmpc_bound_num_threads(void *), __kmpc_ok_to_fork(void *), __kmpc_in_parallel(void *);
int __kmpc_get_target_offload(void);
uintptr_t __kmpc_init_allocator(int, uintptr_t, int, const omp_alloctrait_t *);
void __kmpc_destroy_allocator(int, uintptr_t), __kmpc_set_default_allocator(int, uintptr_t);
uintptr_t __kmpc_get_default_allocator(int);
void *__kmpc_alloc(int, size_t, uintptr_t), *__kmpc_aligned_alloc(int, size_t, size_t, uintptr_t);
void *__kmpc_calloc(int, size_t, size_t, uintptr_t),
    *__kmpc_realloc(int, void *, size_t, uintptr_t, uintptr_t);
void __kmpc_free(int, void *, uintptr_t);
int __kmpc_barrier_master(void *, int), __kmpc_barrier_master_nowait(void *, int);
void __kmpc_end_barrier_master(void *, int);
int __kmpc_reduce(void *, int, int, size_t, void *, void *, int *);
void __kmpc_end_reduce(void *, int, int *);
void __kmpc_critical(void *, int, int *), __kmpc_critical_with_hint(void *, int, int *, unsigned);
void __kmpc_end_critical(void *, int, int *);
void __kmpc_set_lock(void *, int, void **), __kmpc_unset_lock(void *, int, void **);
void __kmpc_init_lock(void *, int, void **),
    __kmpc_init_lock_with_hint(void *, int, void **, uintptr_t);
void __kmpc_set_nest_lock(void *, int, void **), __kmpc_unset_nest_lock(void *, int, void **);
void __kmpc_init_nest_lock_with_hint(void *, int, void **, uintptr_t);
int __kmpc_test_nest_lock(void *, int, void **);
void __kmpc_push_proc_bind(void *, int, int), __kmpc_push_num_teams_51(void *, int, int, int, int);
void __kmpc_set_thread_limit(void *, int, int);
void __kmpc_fork_teams(void *, int, void (*)(int *, int *, void *), void *);
void __kmpc_dist_for_static_init_4(void *, int, int, int *, int *, int *, int *, int *, int, int);
void __kmpc_dist_for_static_init_4u(void *, int, int, int *, unsigned *, unsigned *, unsigned *,
                                    int *, int, int);
void __kmpc_dist_for_static_init_8(void *, int, int, int *, long *, long *, long *, long *, long,
                                   long);
void __kmpc_dist_for_static_init_8u(void *, int, int, int *, unsigned long *, unsigned long *,
                                    unsigned long *, long *, long, long);
void __kmpc_team_static_init_4(void *, int, int *, int *, int *, int *, int, int);
void __kmpc_team_static_init_4u(void *, int, int *, unsigned *, unsigned *, int *, int, int);
void __kmpc_team_static_init_8(void *, int, int *, long *, long *, long *, long, long);
void __kmpc_team_static_init_8u(void *, int, int *, unsigned long *, unsigned long *, long *, long,
                                long);
void __kmpc_dist_dispatch_init_4(void *, int, int, int *, int, int, int, int);
void __kmpc_dist_dispatch_init_4u(void *, int, int, int *, unsigned, unsigned, int, int);
void __kmpc_dist_dispatch_init_8(void *, int, int, int *, long, long, long, long);
void __kmpc_dist_dispatch_init_8u(void *, int, int, int *, unsigned long, unsigned long, long,
                                  long);
int __kmpc_dispatch_next_4(void *, int, int *, int *, int *, int *);
int __kmpc_dispatch_next_4u(void *, int, int *, unsigned *, unsigned *, int *);
int __kmpc_dispatch_next_8(void *, int, int *, long *, long *, long *);
int __kmpc_dispatch_next_8u(void *, int, int *, unsigned long *, unsigned long *, long *);

struct task {
    void *shared;
    int (*routine)(int, struct task *);
    int part;
    void *data[2];
    long lower, upper, step;
};
typedef int routine(int, struct task *);
struct task *__kmpc_omp_task_alloc(void *, int, int, size_t, size_t, routine *);
bool __kmpc_omp_has_task_team(int);
void **__kmpc_omp_get_target_async_handle_ptr(int);
struct task *__kmpc_omp_target_task_alloc(void *, int, int, size_t, size_t, routine *, int64_t);
int __kmpc_omp_task(void *, int, struct task *), __kmpc_omp_task_parts(void *, int, struct task *);
void __kmpc_taskloop_5(void *, int, struct task *, int, long *, long *, long, int, int, uint64_t,
                       int, void *);
struct depend {
    void *address;
    size_t length;
    uint8_t flags;
};
int __kmpc_omp_task_with_deps(void *, int, struct task *, int, struct depend *, int,
                              struct depend *);
void __kmpc_omp_taskwait_deps_51(void *, int, int, struct depend *, int, struct depend *, int);
struct old_reduction {
    void *shared;
    size_t size;
    void *initialise, *finish, *combine;
    unsigned flags;
};
void *__kmpc_task_reduction_init(int, int, void *),
    *__kmpc_task_reduction_get_th_data(int, void *, void *);
void *__kmpc_task_reduction_modifier_init(void *, int, int, int, void *);
void __kmpc_task_reduction_modifier_fini(void *, int, int);
void __kmpc_taskgroup(void *, int), __kmpc_end_taskgroup(void *, int);
void *__kmpc_threadprivate(void *, int, void *, size_t);
void __kmpc_threadprivate_register_vec(void *, void *, void *, void *, void *, size_t);

static int self(void) {
    return __kmpc_global_thread_num(NULL);
}

/* --- queries ------------------------------------------------------------------------------- */

static void questions(void) {
    unsigned seen = 0;
    int wrong = 0;
    CHECK_EQ(self(), 0);
    CHECK_EQ(__kmpc_ok_to_fork(NULL), 1);
    CHECK_EQ(__kmpc_in_parallel(NULL), 0);
    CHECK_EQ(__kmpc_get_target_offload(), 1); /* the default: offload if the machine has a device */
#pragma omp parallel num_threads(3) reduction(| : seen) reduction(+ : wrong)
    {
        seen |= 1u << self();
        wrong += __kmpc_bound_num_threads(NULL) != 3;
        wrong += __kmpc_bound_thread_num(NULL) != omp_get_thread_num();
        wrong += __kmpc_in_parallel(NULL) != 1;
    }
    CHECK_EQ(wrong, 0);
    CHECK_EQ(__builtin_popcount(seen), 3); /* no two threads have the same number */
    CHECK_EQ(__kmpc_global_num_threads(NULL), 3);
}

/* --- memory -------------------------------------------------------------------------------- */

static void memory(void) {
    omp_alloctrait_t trait = {omp_atk_alignment, 512};
    uintptr_t allocator = __kmpc_init_allocator(self(), omp_default_mem_space, 1, &trait);
    CHECK(allocator != omp_null_allocator);
    char *block = __kmpc_alloc(self(), 100, allocator);
    CHECK(block && (uintptr_t)block % 512 == 0);
    memset(block, 5, 100);
    block = __kmpc_realloc(self(), block, 10000, allocator, allocator);
    CHECK(block && block[99] == 5);
    __kmpc_free(self(), block, allocator);
    block = __kmpc_aligned_alloc(self(), 1024, 100, omp_default_mem_alloc);
    CHECK(block && (uintptr_t)block % 1024 == 0);
    __kmpc_free(self(), block, omp_default_mem_alloc);
    block = __kmpc_calloc(self(), 10, 100, allocator);
    CHECK(block && block[0] == 0 && block[999] == 0);
    __kmpc_free(self(), block, allocator);
    __kmpc_set_default_allocator(self(), omp_large_cap_mem_alloc);
    CHECK_EQ(__kmpc_get_default_allocator(self()), omp_large_cap_mem_alloc);
    CHECK_EQ(omp_get_default_allocator(), omp_large_cap_mem_alloc);
    __kmpc_set_default_allocator(self(), omp_default_mem_alloc);
    __kmpc_destroy_allocator(self(), allocator);
}

/* --- mutual exclusion ---------------------------------------------------------------------- */

/* Whether another member is inside. */
static int inside;
static int stay_inside(void) {
    int others = INCREMENT(&inside) - 1;
    for (int i = 0; i < 3; i++) sched_yield();
    DECREMENT(&inside);
    return others;
}

static void exclusion(void) {
    static int plain[8], hinted[8];
    void *lock = (void *)1, *other = (void *)1,
         *nested = (void *)1; /* memory that was not cleared */
    int met = 0;
    __kmpc_init_lock(NULL, self(), &lock);
    __kmpc_init_lock_with_hint(NULL, self(), &other, 1);
    __kmpc_init_nest_lock_with_hint(NULL, self(), &nested, 1);
#pragma omp parallel num_threads(4) reduction(+ : met)
    for (int i = 0; i < 200; i++) {
        __kmpc_critical(NULL, self(), plain);
        met += stay_inside();
        __kmpc_end_critical(NULL, self(), plain);
    }
    CHECK_EQ(met, 0);
#pragma omp parallel num_threads(4) reduction(+ : met)
    for (int i = 0; i < 200; i++) {
        __kmpc_critical_with_hint(NULL, self(), hinted, 2);
        met += stay_inside();
        __kmpc_end_critical(NULL, self(), hinted);
    }
    CHECK_EQ(met, 0);
#pragma omp parallel num_threads(4) reduction(+ : met)
    for (int i = 0; i < 200; i++) {
        __kmpc_set_lock(NULL, self(), i % 2 ? &lock : &lock);
        met += stay_inside();
        __kmpc_unset_lock(NULL, self(), &lock);
    }
    CHECK_EQ(met, 0);
    __kmpc_set_lock(NULL, self(), &other);
    __kmpc_unset_lock(NULL, self(), &other);
#pragma omp parallel num_threads(4) reduction(+ : met)
    for (int i = 0; i < 200; i++) {
        __kmpc_set_nest_lock(NULL, self(), &nested);
        __kmpc_set_nest_lock(NULL, self(), &nested);
        met += stay_inside();
        __kmpc_unset_nest_lock(NULL, self(), &nested);
        met += stay_inside();
        __kmpc_unset_nest_lock(NULL, self(), &nested);
    }
    CHECK_EQ(met, 0);
    CHECK_EQ(__kmpc_test_nest_lock(NULL, self(), &nested), 1);
}

/* Member 0 alone enters the block, after all have arrived. */
static void barriers(void) {
    int arrived = 0, chosen = 0, wrong = 0;
#pragma omp parallel num_threads(4) reduction(+ : wrong)
    for (int round = 1; round <= 20; round++) {
        if (omp_get_thread_num() == 3) pause_ms(1);
        INCREMENT(&arrived);
        int mine = round % 2 ? __kmpc_barrier_master(NULL, self())
                             : __kmpc_barrier_master_nowait(NULL, self());
        wrong += GET(&arrived) < 4 * round;
        wrong += mine != (omp_get_thread_num() == 0);
        if (mine && round % 2) pause_ms(1);
        if (mine) INCREMENT(&chosen);
        if (mine && round % 2) __kmpc_end_barrier_master(NULL, self());
        /* The others wait for the master's part, but not after the call without a wait. */
        if (round % 2) wrong += GET(&chosen) != round;
#pragma omp barrier
        wrong += GET(&chosen) != round;
    }
    CHECK_EQ(wrong, 0);
}

/* Without a combining function members take turns, and all wait for the last one. */
static void reduce(void) {
    static int name[8];
    for (int slow = 0; slow < 3; slow++) {
        long total = 0;
        int early = 0;
#pragma omp parallel num_threads(3)
        {
            long own = 1, *list[] = {&own};
            if (omp_get_thread_num() == slow) pause_ms(5);
            CHECK_EQ(__kmpc_reduce(NULL, self(), 1, sizeof list, list, NULL, name), 1);
            if (stay_inside() > 0) INCREMENT(&early);
            total += own;
            __kmpc_end_reduce(NULL, self(), name);
            if (GET(&total) != 3) INCREMENT(&early);
        }
        CHECK_EQ(early, 0);
        CHECK_EQ(total, 3);
    }
}

/* --- clauses and teams --------------------------------------------------------------------- */

static int bound;
static void clauses(void) {
    __kmpc_push_proc_bind(NULL, self(), omp_proc_bind_spread);
#pragma omp parallel num_threads(2)
#pragma omp master
    bound = omp_get_proc_bind();
    CHECK_EQ(bound, omp_proc_bind_spread);
    __kmpc_push_proc_bind(NULL, self(), 5); /* as clang 19 says `primary` */
#pragma omp parallel num_threads(2)
#pragma omp master
    bound = omp_get_proc_bind();
    CHECK_EQ(bound, omp_proc_bind_master);
    int limit = omp_get_thread_limit();
    __kmpc_set_thread_limit(NULL, self(), 2);
    int members = 0;
#pragma omp parallel num_threads(4) reduction(+ : members)
    members++;
    CHECK_EQ(members, 2);
    __kmpc_set_thread_limit(NULL, self(), limit);
}

enum { MOST = 150 };
static int times[MOST], ends, teams;

static void check_times(int trips) {
    for (int i = 0; i < MOST; i++) CHECK_EQ(times[i], i < trips);
    CHECK_EQ(ends, 1);
    memset(times, 0, sizeof times);
    ends = 0;
}

#define IN_LEAGUE(suffix, type, step_type)                                                         \
    /* Each team gets a part of the loop, and each member a part of that. */                       \
    static void shared_twice_##suffix(int *thread, int *number, void *unused) {                    \
        (void)thread, (void)number, (void)unused;                                                  \
        INCREMENT(&teams);                                                                         \
        _Pragma("omp parallel num_threads(3)") {                                                   \
            type lower = 0, upper = MOST - 1, team_upper = 0;                                      \
            step_type stride = 1;                                                                  \
            int last = 0;                                                                          \
            __kmpc_dist_for_static_init_##suffix(NULL, self(), 34, &last, &lower, &upper,          \
                                                 &team_upper, &stride, 1, 0);                      \
            CHECK(upper + 1 <= team_upper + 1 && team_upper < MOST);                               \
            for (type i = lower; i + 1 <= upper + 1; i++) INCREMENT(&times[i]);                    \
            if (last) INCREMENT(&ends);                                                            \
        }                                                                                          \
    }                                                                                              \
    /* Each team gets a part of the loop; its members ask for chunks. */                           \
    static void dispatched_##suffix(int *thread, int *number, void *unused) {                      \
        (void)thread, (void)number, (void)unused;                                                  \
        _Pragma("omp parallel num_threads(3)") {                                                   \
            type lower, upper;                                                                     \
            step_type stride;                                                                      \
            int last = 0, of_team = 0;                                                             \
            __kmpc_dist_dispatch_init_##suffix(NULL, self(), 35, &of_team, 0, MOST - 1, 1, 4);     \
            while (__kmpc_dispatch_next_##suffix(NULL, self(), &last, &lower, &upper, &stride))    \
                for (type i = lower; i <= upper; i++) INCREMENT(&times[i]);                        \
            if (last && of_team) INCREMENT(&ends);                                                 \
        }                                                                                          \
    }                                                                                              \
    /* The chunks of a team lie `stride` iterations apart. */                                      \
    static void chunks_##suffix(int *thread, int *number, void *unused) {                          \
        (void)thread, (void)number, (void)unused;                                                  \
        type lower = 0, upper = MOST - 1;                                                          \
        step_type stride = 1;                                                                      \
        int last = 0;                                                                              \
        __kmpc_team_static_init_##suffix(NULL, self(), &last, &lower, &upper, &stride, 1, 7);      \
        for (; lower < MOST; lower += (type)stride, upper += (type)stride)                         \
            for (type i = lower; i <= upper && i < MOST; i++) INCREMENT(&times[i]);                \
        if (last) INCREMENT(&ends);                                                                \
    }                                                                                              \
    static void league_##suffix(void) {                                                            \
        teams = 0;                                                                                 \
        __kmpc_push_num_teams_51(NULL, self(), 2, 4, 3);                                           \
        __kmpc_fork_teams(NULL, 1, shared_twice_##suffix, NULL);                                   \
        CHECK_EQ(teams, 4);                                                                        \
        check_times(MOST);                                                                         \
        __kmpc_push_num_teams_51(NULL, self(), 3, 3, 3);                                           \
        __kmpc_fork_teams(NULL, 1, dispatched_##suffix, NULL);                                     \
        check_times(MOST);                                                                         \
        __kmpc_push_num_teams_51(NULL, self(), 3, 3, 3);                                           \
        __kmpc_fork_teams(NULL, 1, chunks_##suffix, NULL);                                         \
        check_times(MOST);                                                                         \
    }

IN_LEAGUE(4, int, int)
IN_LEAGUE(4u, unsigned, int)
IN_LEAGUE(8, long, long)
IN_LEAGUE(8u, unsigned long, long)

/* --- tasks --------------------------------------------------------------------------------- */

enum { TIED = 1 };
static int runs, sum;

static int count_run(int thread, struct task *task) {
    (void)thread, (void)task;
    INCREMENT(&runs);
    return 0;
}

/* An untied task of three parts submits itself again after each part but the last. */
static int in_parts(int thread, struct task *task) {
    INCREMENT(&runs);
    if (task->part++ < 2) __kmpc_omp_task_parts(NULL, thread, task);
    return 0;
}

static int take_part(int thread, struct task *task) {
    (void)thread;
    CHECK(task->upper - task->lower <= 3); /* grainsize(strict: 4) */
    /* The shared variables lie behind the task; each task has its own copy. */
    CHECK(task->shared == task + 1 && *(long *)task->shared == 77);
    for (long i = task->lower; i <= task->upper; i++) INCREMENT(&times[i]);
    if (task->upper == 20) ends++;
    return 0;
}

static struct task *make_loop(void) {
    struct task *loop =
        __kmpc_omp_task_alloc(NULL, self(), TIED, sizeof *loop, sizeof(long), take_part);
    *(long *)loop->shared = 77;
    loop->lower = 0;
    loop->upper = 20;
    loop->step = 1;
    return loop;
}

static void tasks(void) {
#pragma omp parallel num_threads(2)
#pragma omp single
    {
        CHECK(!__kmpc_omp_has_task_team(self()));
        CHECK(!__kmpc_omp_get_target_async_handle_ptr(self()));
        __kmpc_omp_task(NULL, self(),
                        __kmpc_omp_target_task_alloc(NULL, self(), TIED, sizeof(struct task), 0,
                                                     count_run, -1));
#pragma omp taskwait
        CHECK_EQ(runs, 1);
        __kmpc_omp_task_parts(
            NULL, self(), __kmpc_omp_task_alloc(NULL, self(), 0, sizeof(struct task), 0, in_parts));
#pragma omp taskwait
        CHECK_EQ(runs, 4);
        struct task *loop = make_loop();
        __kmpc_taskloop_5(NULL, self(), loop, 1, &loop->lower, &loop->upper, 1, 0, 1, 4, 1, NULL);
        check_times(21);
        /* With if(0) and nogroup, the whole loop is done when the call returns. */
        loop = make_loop();
        __kmpc_taskloop_5(NULL, self(), loop, 0, &loop->lower, &loop->upper, 1, 1, 1, 4, 1, NULL);
        check_times(21);
    }
}

static int slow(int thread, struct task *task) {
    (void)thread, (void)task;
    pause_ms(20);
    INCREMENT(&runs);
    return 0;
}

/* A taskwait with depend(in: x), and a taskwait with depend(out: x) and nowait. */
static void waiting(void) {
    int x = 0;
    struct depend out = {&x, sizeof x, 2}, in = {&x, sizeof x, 1};
#pragma omp parallel num_threads(2)
#pragma omp single
    {
        runs = 0;
        __kmpc_omp_task_with_deps(
            NULL, self(), __kmpc_omp_task_alloc(NULL, self(), TIED, sizeof(struct task), 0, slow),
            1, &out, 0, NULL);
        __kmpc_omp_taskwait_deps_51(NULL, self(), 0, NULL, 1, &in, 0);
        CHECK_EQ(GET(&runs), 1);
        __kmpc_omp_task_with_deps(
            NULL, self(), __kmpc_omp_task_alloc(NULL, self(), TIED, sizeof(struct task), 0, slow),
            1, &out, 0, NULL);
        __kmpc_omp_taskwait_deps_51(NULL, self(), 1, &out, 0, NULL, 1);
#pragma omp taskwait
        CHECK_EQ(GET(&runs), 2);
    }
}

static int met[2];
static int meet(int thread, struct task *task) {
    (void)thread;
    long mine = task->lower;
    SET(&met[mine], 1);
    AWAIT(&met[1 - mine], 1);
    return 0;
}

/* Two tasks that only read run at the same time. */
static void readers(void) {
    int x = 0;
    struct depend in = {&x, sizeof x, 1};
#pragma omp parallel num_threads(2)
#pragma omp single
    for (long i = 0; i < 2; i++) {
        struct task *task = __kmpc_omp_task_alloc(NULL, self(), TIED, sizeof *task, 0, meet);
        task->lower = i;
        __kmpc_omp_task_with_deps(NULL, self(), task, 1, &in, 0, NULL);
    }
}

static void make_zero(int *copy) {
    *copy = 0;
}
static void add(int *to, int *from) {
    *to += *from;
}
static void *group;
static int add_one(int thread, struct task *task) {
    (void)task;
    int *copy = __kmpc_task_reduction_get_th_data(thread, group, &sum);
    CHECK(copy != NULL);
    *copy += 1;
    return 0;
}

/* Reductions in the form that clang 5 to 9 emit. */
static void reductions(void) {
    struct old_reduction what = {&sum, sizeof sum, (void *)make_zero, NULL, (void *)add, 0};
    sum = 100;
#pragma omp parallel num_threads(3)
#pragma omp single
    {
        __kmpc_taskgroup(NULL, self());
        group = __kmpc_task_reduction_init(self(), 1, &what);
        for (int i = 0; i < 50; i++)
            __kmpc_omp_task(
                NULL, self(),
                __kmpc_omp_task_alloc(NULL, self(), TIED, sizeof(struct task), 0, add_one));
        __kmpc_end_taskgroup(NULL, self());
    }
    CHECK_EQ(sum, 150);
    /* reduction(task, +: sum): each member's own variable takes part. */
    int total = 0;
#pragma omp parallel num_threads(3) reduction(+ : total)
    {
        int own = 0;
        struct old_reduction mine = {&own, sizeof own, (void *)make_zero, NULL, (void *)add, 0};
        void *list = __kmpc_task_reduction_modifier_init(NULL, self(), 0, 1, &mine);
        *(int *)__kmpc_task_reduction_get_th_data(self(), list, &own) += 7;
#pragma omp barrier
        __kmpc_task_reduction_modifier_fini(NULL, self(), 0);
        total += own;
    }
    CHECK_EQ(total, 21);
}

/* --- threadprivate variables --------------------------------------------------------------- */

static int plain = 3, objects[2], constructed, destroyed;

static void *construct(int *all, size_t length) {
    for (size_t i = 0; i < length; i++) all[i] = 40 + (int)i;
    INCREMENT(&constructed);
    return all;
}
static void destroy(int *all, size_t length) {
    (void)all;
    if (length == 2) INCREMENT(&destroyed);
}

static void threadprivate(void) {
    int wrong = 0;
    __kmpc_threadprivate_register_vec(NULL, objects, (void *)construct, NULL, (void *)destroy, 2);
    omp_set_dynamic(0);
    for (int round = 0; round < 2; round++) {
#pragma omp parallel num_threads(3) reduction(+ : wrong)
        {
            int *mine = __kmpc_threadprivate(NULL, self(), &plain, sizeof plain);
            int *several = __kmpc_threadprivate(NULL, self(), objects, sizeof objects);
            wrong += (mine == &plain) != (omp_get_thread_num() == 0);
            wrong += *mine != 3 + round * (1 + omp_get_thread_num());
            *mine += 1 + omp_get_thread_num();
            if (omp_get_thread_num() > 0) wrong += several[0] != 40 || several[1] != 41;
        }
    }
    CHECK_EQ(wrong, 0);
    CHECK_EQ(constructed, 2);
    omp_pause_resource_all(omp_pause_hard);
    CHECK_EQ(destroyed, 2);
}

int main(void) {
    test_limit(60);
    questions();
    memory();
    exclusion();
    barriers();
    reduce();
    clauses();
    league_4();
    league_4u();
    league_8();
    league_8u();
    tasks();
    waiting();
    readers();
    reductions();
    threadprivate();
    return 0;
}
