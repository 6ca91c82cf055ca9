/* core/work/dispatch.h: loops of large teams. A test may also let small teams count as large. Every
 * iteration is executed once, and each member's iterations increase.
 *
 * test: flags -fopenmp
 * test: env OMP_CANCELLATION=true
 * test: env OMP_CANCELLATION=true TEST_PROCESSORS=100
 */
#include "unit.h"

#include "core/settings/config.h"
#include "core/work/dispatch.h"

#include <limits.h>
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <sys/wait.h>

enum { MOST_TRIPS = 40000, MOST_THREADS = 70 };

/* Any thread sets it; the cases check it at their end. */
static _Atomic int wrong;
#define EXPECT(condition) ((condition) ? 0 : cst_store_relaxed(&wrong, __LINE__))

static void nothing_wrong(void) {
    int line = cst_load_relaxed(&wrong);
    cst_store_relaxed(&wrong, 0);
    if (line) UNIT_STOP("line %d failed", line);
}

static bool by_tree(void) {
    return cst_self()->loop.batching == CST_BATCHING_TREE;
}

/* The executed iterations of a loop. Each member has its own row in the counts that must
 * increase. */
struct record {
    _Atomic int times[MOST_TRIPS];
    _Atomic int member[MOST_TRIPS];
    long last[MOST_THREADS];
    _Atomic int tree, counter; /* iterations claimed from the tree and from the counter */
};

static struct record *fresh(void) {
    struct record *record = calloc(1, sizeof *record);
    if (!record) abort();
    for (int i = 0; i < MOST_THREADS; i++) record->last[i] = -1;
    return record;
}

static void mark(struct record *record, long k) {
    int me = omp_get_thread_num();
    EXPECT(k >= 0 && k < MOST_TRIPS);
    EXPECT(k > record->last[me]);
    record->last[me] = k;
    cst_add_relaxed(&record->times[k], 1);
    cst_store_relaxed(&record->member[k], me);
    cst_add_relaxed(by_tree() ? &record->tree : &record->counter, 1);
}

/* Checks that each iteration ran once, each chunk by one member, and all or none by the tree. */
static void judge(struct record *record, long trips, long chunk, bool tree) {
    for (long k = 0; k < MOST_TRIPS; k++) EXPECT(record->times[k] == (k < trips));
    for (long k = 0; k < trips; k++) EXPECT(record->member[k] == record->member[k / chunk * chunk]);
    EXPECT(cst_load_relaxed(&record->tree) == (tree ? trips : 0));
    free(record);
}

static void one(int size, long trips, int chunk, bool tree) {
    struct record *record = fresh();
#pragma omp parallel num_threads(size)
    {
#pragma omp for schedule(dynamic, chunk)
        for (long i = 0; i < trips; i++) mark(record, i);
    }
    judge(record, trips, chunk, tree);
    record = fresh();
#pragma omp parallel for num_threads(size) schedule(dynamic, chunk)
    for (int i = 10; i < 10 + 3 * (int)trips; i += 3) mark(record, (i - 10) / 3);
    judge(record, trips, chunk, tree);
    record = fresh();
#pragma omp parallel for num_threads(size) schedule(monotonic : dynamic, chunk)
    for (unsigned long long i = ULLONG_MAX - 5; i > ULLONG_MAX - 5 - 2 * (unsigned long long)trips;
         i -= 2)
        mark(record, (long)(ULLONG_MAX - 5 - i) / 2);
    judge(record, trips, chunk, tree);
}

static const int sizes[] = {2, 3, 4, 5, 6, 7, 9, 17, 21, 22, 33, 64};

static void every_iteration_once(void) {
    for (unsigned s = 0; s < sizeof sizes / sizeof *sizes; s++)
        /* Regions of a large team take long on a busy machine, so there are fewer of them. */
        for (int size = sizes[s], chunk = 1; chunk < 60; chunk = (size < 10 ? 3 : 12) * chunk + 1) {
            long least = 8L * size * chunk; /* with fewer, each member claims one by one */
            one(size, least, chunk, false);
            if (least + chunk < MOST_TRIPS) one(size, least + chunk, chunk, true);
            if (2 * least + 1 < MOST_TRIPS) one(size, 2 * least + 1, chunk, true);
            if (chunk < 14) one(size, MOST_TRIPS - 1, chunk, true);
            nothing_wrong();
        }
}

static void other_loops_stay(void) {
    struct record *record = fresh();
    long turn = 0;
#pragma omp parallel num_threads(5)
    {
#pragma omp for schedule(guided)
        for (int i = 0; i < 1000; i++) mark(record, i);
#pragma omp for schedule(dynamic) ordered
        for (int i = 1000; i < 2000; i++) {
            mark(record, i);
#pragma omp ordered
            EXPECT(turn++ == i - 1000);
        }
#pragma omp for schedule(dynamic) ordered(1)
        for (int i = 2000; i < 3000; i++) {
#pragma omp ordered depend(sink : i - 1)
            mark(record, i);
#pragma omp ordered depend(source)
        }
    }
    judge(record, 3000, 1, false);
    nothing_wrong();
}

/* One member meets its first loop when the others have passed the last loop for which the nodes
 * suffice. Further loops have a single counter, and all members agree which loops these are. */
static void ahead(int size, int slow, int loops) {
    enum { TRIPS = 700, MOST_LOOPS = 40 };
    _Atomic int passed = 0;
    static _Atomic int times[MOST_LOOPS][TRIPS], trees[MOST_LOOPS];
    memset(times, 0, sizeof times);
    memset(trees, 0, sizeof trees);
#pragma omp parallel num_threads(size)
    for (int round = 0; round < 3; round++) {
        if (omp_get_thread_num() == (slow + round) % size)
            while (cst_load_acquire(&passed) < (round + 1) * (size - 1) + round) cst_yield();
        for (int k = 0; k < loops; k++) {
            long last = -1;
#pragma omp for schedule(dynamic, 2) nowait
            for (int i = 0; i < TRIPS; i++) {
                EXPECT(i > last);
                last = i;
                cst_add_relaxed(&times[k][i], 1);
            }
            cst_add_relaxed(&trees[k], by_tree());
        }
        cst_add_seq_cst(&passed, 1);
#pragma omp barrier
    }
    for (int k = 0; k < loops; k++) {
        EXPECT(trees[k] == (k < 4 ? 3 * size : 0));
        for (int i = 0; i < TRIPS; i++) EXPECT(times[k][i] == 3);
    }
    nothing_wrong();
}

static void runs_ahead(void) {
    for (int size = 3; size <= 22; size += size < 7 ? 1 : 15)
        for (int slow = 0; slow < size; slow += 2) {
            ahead(size, slow, 3);
            ahead(size, slow, 40);
        }
}

/* A member comes late, and the others execute all iterations. */
static void late_members(void) {
    enum { TRIPS = 4000 };
    for (int size = 3; size < 30; size += 5)
        for (int late = 0; late < size; late += 3) {
            struct record *record = fresh();
            _Atomic int done = 0;
#pragma omp parallel num_threads(size)
            {
                if (omp_get_thread_num() == late)
                    while (cst_load_acquire(&done) < TRIPS) cst_yield();
#pragma omp for schedule(dynamic)
                for (int i = 0; i < TRIPS; i++) {
                    mark(record, i);
                    cst_add_seq_cst(&done, 1);
                }
            }
            judge(record, TRIPS, 1, true);
            nothing_wrong();
        }
}

/* The rest of a cancelled loop is never executed, not even by later loops. */
static void cancelled_loops(void) {
    for (int size = 3; size <= 33; size += 6)
        for (int at = 0; at < 3000; at += 700) {
            _Atomic int begun = 0;
            struct record *record = fresh();
#pragma omp parallel num_threads(size)
            for (int round = 0; round < 6; round++) {
#pragma omp for schedule(dynamic)
                for (int i = 0; i < 1000000; i++) {
#pragma omp cancellation point for
                    cst_add_relaxed(&begun, 1);
                    if (i >= at) {
#pragma omp cancel for
                    }
                }
                if (round < 5) continue;
#pragma omp for schedule(dynamic)
                for (int i = 0; i < 1000; i++) mark(record, i);
            }
            EXPECT(begun >= 6 && begun < 6 * 1000000);
            judge(record, 1000, 1, true);
            nothing_wrong();
        }
}

/* The members have met different numbers of loops when the next region begins. */
static void cancelled_regions(void) {
    for (int size = 3; size <= 33; size += 6)
        for (int loops = 0; loops < 6; loops++) {
            struct record *record = fresh();
#pragma omp parallel num_threads(size)
            {
                for (int k = 0; k < loops; k++) {
#pragma omp for schedule(dynamic) nowait
                    for (int i = 0; i < 10 * size; i++)
                        if (i % size == 0) cst_yield();
                }
                if (omp_get_thread_num() % 4 == 1) {
#pragma omp cancel parallel
                }
                for (int k = 0; k < 3; k++) {
#pragma omp for schedule(dynamic) nowait
                    for (int i = 0; i < 1000; i++) continue;
                }
#pragma omp barrier
            }
#pragma omp parallel for schedule(dynamic) num_threads(size)
            for (int i = 0; i < 1000; i++) mark(record, i);
            judge(record, 1000, 1, true);
            nothing_wrong();
        }
}

/* Loops with too many chunks to execute them all. */
static void longest_loops(void) {
    _Atomic uint64_t largest = 0;
#pragma omp parallel num_threads(7)
    {
        unsigned long long last = 0;
#pragma omp for schedule(dynamic)
        for (unsigned long long i = 1; i < ULLONG_MAX / 2 - 5; i++) {
            EXPECT(i > last && by_tree());
            last = i;
            uint64_t before = cst_load_relaxed(&largest);
            while (before < i && !cst_cas_relaxed(&largest, &before, i)) continue;
            if (i > UINT32_MAX) {
#pragma omp cancel for
            }
#pragma omp cancellation point for
        }
    }
    EXPECT(largest > UINT32_MAX);
#pragma omp parallel num_threads(7)
    {
#pragma omp for schedule(dynamic)
        for (unsigned long long i = 0; i < ULLONG_MAX - 5; i++) {
            EXPECT(!by_tree());
            if (i > 100) {
#pragma omp cancel for
            }
        }
    }
    nothing_wrong();
}

static void nested_teams(void) {
    omp_set_max_active_levels(2);
    struct record *record[5];
    for (int i = 0; i < 5; i++) record[i] = fresh();
#pragma omp parallel num_threads(5)
    {
        struct record *mine = record[omp_get_thread_num()];
        _Atomic int outer = 0;
#pragma omp for schedule(dynamic)
        for (int i = 0; i < 300; i++) {
            cst_add_relaxed(&outer, 1);
            if (i % 60 != 7) continue;
#pragma omp parallel for schedule(dynamic) num_threads(6)
            for (int j = 0; j < 200; j++) EXPECT(by_tree() && j < 200);
            EXPECT(by_tree());
        }
#pragma omp parallel for schedule(dynamic, 3) num_threads(6)
        for (int j = 0; j < 2000; j++) mark(mine, j);
    }
    for (int i = 0; i < 5; i++) judge(record[i], 2000, 3, true);
    nothing_wrong();
}

static void *master(void *argument) {
    long seed = (long)argument;
    for (int round = 0; round < 60; round++) {
        int size = 3 + (int)((seed + round) % 6);
        one(size, 400 + round * seed, 1 + round % 5, true);
    }
    return NULL;
}

static void masters_at_once(void) {
    pthread_t thread[3];
    for (long i = 0; i < 3; i++) pthread_create(&thread[i], NULL, master, (void *)(i + 1));
    for (int i = 0; i < 3; i++) pthread_join(thread[i], NULL);
    nothing_wrong();
}

/* In a forked child the holder of a node's lock is gone. */
static void forks_in_a_loop(void) {
    _Atomic pid_t child = -1;
    int begun = 0;
#pragma omp parallel num_threads(6)
    {
#pragma omp barrier
#pragma omp for schedule(dynamic) nowait
        for (int i = 0; i < 1000; i++) {
            if (child == 0) begun++;
            /* The other members leave iterations for the child. */
            while (i > 600 && child < 0) cst_yield();
            if (i != 300) continue;
            child = fork();
            if (child > 0) continue;
            alarm(20);
            struct cst_team *team = cst_self()->team;
            for (int n = 0; n < 8; n++) cst_store_relaxed(&team->nodes[n].lock, 1);
        }
        if (child == 0) _exit(begun > 0 ? 0 : 1);
    }
    int status = 1;
    waitpid(child, &status, 0);
    UNIT_CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* Member 5 forks while member 1 waits for the root's lock, in the middle of filling the node that
 * the two share. The child must not find in the node the chunks of an earlier, cancelled loop.
 */
static void forks_while_a_node_is_filled(void) {
    enum { TRIPS = 1000, SLOTS = 4 };
    struct record *record = fresh();
    _Atomic pid_t child = -1;
#pragma omp parallel num_threads(6)
    {
        int me = omp_get_thread_num();
        struct cst_team *team = cst_self()->team;
#pragma omp for schedule(dynamic)
        for (long i = 0; i < 1L << 50; i++) {
            if (i >= TRIPS && (me == 1 || me == 5)) {
#pragma omp cancel for
            }
#pragma omp cancellation point for
        }
        for (int k = 1; k < SLOTS; k++) {
#pragma omp for schedule(guided)
            for (int i = 0; i < 6; i++) continue;
        }
        struct cst_node *root = &team->nodes[(cst_self()->seat->construct + 1) % SLOTS];
#pragma omp masked
        cst_store_relaxed(&root->lock, 1);
#pragma omp barrier
        if (me == 5) {
            while (cst_load_relaxed(&root[SLOTS].lock) == 0) cst_yield();
            for (int i = 0; i < 100; i++) cst_yield();
            child = fork();
            if (child == 0) alarm(20);
            cst_store_release(&root->lock, 0);
        }
#pragma omp for schedule(dynamic) nowait
        for (int i = 0; i < TRIPS; i++) mark(record, i);
        if (child == 0) _exit(wrong == 0 && record->tree == TRIPS ? 0 : 1);
    }
    int status = 1;
    waitpid(child, &status, 0);
    UNIT_CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    judge(record, TRIPS, 1, true);
    nothing_wrong();
}

static void small_teams_have_one_counter(void) {
    cst_team_few[0] = cst_team_few[1] = 7;
    one(7, 2000, 1, false);
    one(8, 2000, 1, true);
    nothing_wrong();
    cst_team_few[0] = cst_team_few[1] = 1;
}

static void all(void) {
    UNIT_RUN(every_iteration_once);
    UNIT_RUN(other_loops_stay);
    UNIT_RUN(runs_ahead);
    UNIT_RUN(late_members);
    UNIT_RUN(cancelled_loops);
    UNIT_RUN(cancelled_regions);
    UNIT_RUN(longest_loops);
    UNIT_RUN(nested_teams);
    UNIT_RUN(masters_at_once);
    UNIT_RUN(forks_in_a_loop);
    UNIT_RUN(forks_while_a_node_is_filled);
    UNIT_RUN(small_teams_have_one_counter);
}

int main(void) {
    unit_limit(55);
    /* With fewer processors every team would be crowded. */
    const char *processors = getenv("TEST_PROCESSORS");
    cst_self();
    if (processors) cst_config.available = (uint32_t)atoi(processors);
    cst_team_few[0] = cst_team_few[1] = 1;
    all();
    return unit_result();
}
