/* Task reductions: every participating task's contribution counts once, wherever it runs; on
 * taskgroups, parallel regions, loops, sections and scopes, nested and with user's operators.
 *
 * test: not clang clang 14 does not know scope, and hands a null address to an inner in_reduction
 */
#include "testing.h"
#include <omp.h>

struct pair {
    long low, high;
};

static void init_pair(struct pair *p) {
    *p = (struct pair){0, 1};
}

static void add_pair(struct pair *into, struct pair *from) {
    CHECK_EQ(from->high % 3 == 0 || from->high == 1, 1);
    into->low += from->low;
    into->high *= from->high;
}

#pragma omp declare reduction(pairs                                                                \
                              : struct pair                                                        \
                              : add_pair(&omp_out, &omp_in)) initializer(init_pair(&omp_priv))

static void tree(int depth, long *sum) {
#pragma omp task in_reduction(+ : sum[0]) firstprivate(depth)
    {
        sum[0] += 1;
        if (depth % 3 == 0) sched_yield();
    }
    if (depth == 0) return;
#pragma omp task in_reduction(+ : sum[0]) firstprivate(depth)
    {
        sum[0] += 1000;
        tree(depth - 1, sum);
        tree(depth - 1, sum);
    }
}

static void group(int size) {
#pragma omp parallel num_threads(size)
#pragma omp single
    for (int round = 0; round < 20; round++) {
        long sum = 7;
#pragma omp taskgroup task_reduction(+ : sum)
        tree(5, &sum);
        /* 2^6 - 1 nodes with a leaf task each, 2^5 - 1 inner ones */
        CHECK_EQ(sum, 7 + 63 + 31000);
    }
}

static void user_operator(int size) {
#pragma omp parallel num_threads(size)
#pragma omp single
    for (int round = 0; round < 20; round++) {
        struct pair p = {10, 1};
        long array[5] = {1, 1, 1, 1, 1};
#pragma omp taskgroup task_reduction(pairs : p) task_reduction(* : array)
        for (int i = 0; i < 12; i++) {
#pragma omp task in_reduction(pairs : p) in_reduction(* : array) firstprivate(i)
            {
                p.low += i;
                p.high *= 3;
                array[i % 5] *= 2;
                if (i % 4 == 0) sched_yield();
            }
        }
        CHECK_EQ(p.low, 10 + 66);
        CHECK_EQ(p.high, 531441);
        CHECK_EQ(array[0], 8);
        CHECK_EQ(array[1], 8);
        CHECK_EQ(array[2], 4);
        CHECK_EQ(array[4], 4);
    }
}

static void nested(int size) {
#pragma omp parallel num_threads(size)
#pragma omp single
    for (int round = 0; round < 20; round++) {
        long outer = 0, inner_total = 0;
#pragma omp taskgroup task_reduction(+ : outer)
        for (int i = 0; i < 4; i++) {
#pragma omp task in_reduction(+ : outer) shared(inner_total)
            {
                long inner = 0;
#pragma omp taskgroup task_reduction(+ : inner)
                for (int j = 0; j < 4; j++) {
#pragma omp task in_reduction(+ : inner, outer)
                    {
                        inner += 1;
                        outer += 10;
                    }
                }
                CHECK_EQ(inner, 4);
                outer += 1;
                __atomic_add_fetch(&inner_total, inner, __ATOMIC_RELAXED);
            }
        }
        CHECK_EQ(outer, 4 * 41);
        CHECK_EQ(inner_total, 16);
    }
}

/* reduction(task, ...): members contribute, and so do the tasks that they make. */
static void of_constructs(int size) {
    long sum = 0;
#pragma omp parallel num_threads(size) reduction(task, + : sum)
    {
        sum += 1;
        for (int i = 0; i < 5; i++) {
#pragma omp task in_reduction(+ : sum)
            sum += 100;
        }
    }
    CHECK_EQ(sum, size * 501);

    sum = 0;
#pragma omp parallel for num_threads(size) reduction(task, + : sum) schedule(dynamic)
    for (int i = 0; i < 20; i++) {
        sum += 1;
#pragma omp task in_reduction(+ : sum)
        sum += 100;
    }
    CHECK_EQ(sum, 20 * 101);

    sum = 0;
#pragma omp parallel num_threads(size) shared(sum)
    {
#pragma omp for reduction(task, + : sum) schedule(guided)
        for (unsigned long long i = 0; i < 20; i++) {
#pragma omp task in_reduction(+ : sum)
            sum += 1;
        }
        CHECK_EQ(sum, 20);
#pragma omp barrier
#pragma omp sections reduction(task, + : sum)
        {
#pragma omp task in_reduction(+ : sum)
            sum += 10;
#pragma omp section
#pragma omp task in_reduction(+ : sum)
            sum += 1000;
        }
        CHECK_EQ(sum, 1030);
#pragma omp barrier
#pragma omp scope reduction(task, + : sum)
        {
#pragma omp task in_reduction(+ : sum)
            sum += 1;
        }
        CHECK_EQ(sum, 1030 + size);
    }
}

int main(void) {
    test_limit(50);
    for (int size = 1; size <= 4; size++) {
        group(size);
        user_operator(size);
        nested(size);
        for (int round = 0; round < 20; round++) of_constructs(size);
    }
    return 0;
}
