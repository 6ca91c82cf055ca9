/* The reductions that clang compiles: by a lock, by atomic operations, by the tree of a larger
 * team. Tasks also reduce in a group, in a taskloop, and in a construct with the task modifier. */
#include "testing.h"

#include <omp.h>

struct pair {
    long sum;
    long product; /* modulo 10007 */
};

static void combine(struct pair *to, const struct pair *from) {
    to->sum += from->sum;
    to->product = to->product * from->product % 10007;
}

#pragma omp declare reduction(both                                                                 \
                              : struct pair                                                        \
                              : combine(&omp_out, &omp_in))                                        \
    initializer(omp_priv = (struct pair){0, 1})

/* Reductions of one variable, of several, and of a variable that no atomic operation updates; with
 * a barrier and without. */
static void plain(int size) {
    long sum = 1, most = -1, bits = 0;
    double real = 0.5;
    struct pair pair = {0, 1};
    int late = 0;
#pragma omp parallel num_threads(size)
    {
        for (int round = 0; round < 50; round++) {
#pragma omp for reduction(+ : sum)
            for (int i = 0; i < 100; i++) sum += i;
#pragma omp for reduction(max : most) reduction(| : bits) reduction(+ : real, sum) nowait
            for (int i = 0; i < 60; i++) {
                if (i > most) most = i;
                bits |= 1L << i;
                real += 1;
                sum++;
            }
#pragma omp for reduction(both : pair) nowait
            for (int i = 1; i < 40; i++) {
                struct pair one = {i, i % 7 + 1};
                combine(&pair, &one);
            }
#pragma omp barrier
            if (sum != 1 + (round + 1) * (4950L + 60) || real != 0.5 + 60 * (round + 1))
                INCREMENT(&late);
#pragma omp barrier
        }
    }
    CHECK_EQ(late, 0);
    CHECK_EQ(most, 59);
    CHECK_EQ(bits, (1L << 60) - 1);
    long product = 1;
    for (int round = 0; round < 50; round++)
        for (int i = 1; i < 40; i++) product = product * (i % 7 + 1) % 10007;
    CHECK_EQ(pair.sum, 50L * 39 * 40 / 2);
    CHECK_EQ(pair.product, product);
}

/* Behind a reduction with a barrier every member finds the whole sum, also if one member is
 * late. */
static void barrier(int size) {
    for (int slow = 0; slow<size; slow += size> 4 ? 7 : 1) {
        long sum = 0;
        int early = 0;
#pragma omp parallel num_threads(size)
        {
            if (omp_get_thread_num() == slow) pause_ms(2);
#pragma omp for reduction(+ : sum)
            for (int i = 0; i < 100; i++) sum += i;
            if (GET(&sum) != 4950) INCREMENT(&early);
        }
        CHECK_EQ(early, 0);
    }
}

static void tasks(int size) {
    long sum = 3;
    struct pair pair = {0, 1};
#pragma omp parallel num_threads(size)
#pragma omp single
    {
#pragma omp taskgroup task_reduction(+ : sum) task_reduction(both : pair)
        {
            for (int i = 0; i < 200; i++) {
#pragma omp task in_reduction(+ : sum)
                sum += i;
#pragma omp task in_reduction(both : pair)
                {
                    struct pair one = {i, i % 5 + 1};
                    combine(&pair, &one);
                }
            }
        }
    }
    long product = 1;
    for (int i = 0; i < 200; i++) product = product * (i % 5 + 1) % 10007;
    CHECK_EQ(sum, 3 + 19900);
    CHECK_EQ(pair.sum, 19900);
    CHECK_EQ(pair.product, product);
#pragma omp parallel num_threads(size)
#pragma omp single
#pragma omp taskloop reduction(+ : sum) grainsize(7)
    for (int i = 0; i < 200; i++) sum += i;
    CHECK_EQ(sum, 3 + 2 * 19900);
}

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
#pragma omp parallel num_threads(size) shared(sum)
#pragma omp for reduction(task, + : sum) schedule(guided)
    for (int i = 0; i < 20; i++) {
        sum += 1;
#pragma omp task in_reduction(+ : sum)
        sum += 100;
    }
    CHECK_EQ(sum, 20 * 101);
}

int main(void) {
    test_limit(50);
    static const int sizes[] = {1, 2, 3, 8, 21};
    for (int i = 0; i < 5; i++) {
        plain(sizes[i]);
        barrier(sizes[i]);
        tasks(sizes[i]);
        for (int round = 0; round < 10; round++) of_constructs(sizes[i]);
    }
    return 0;
}
