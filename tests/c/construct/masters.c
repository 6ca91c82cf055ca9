/* Several threads of the program open regions at the same time, with loops, singles, sections,
 * tasks and critical sections. No team shares its state with another.
 * test: env
 * test: env OMP_WAIT_POLICY=passive
 */
#include "testing.h"
#include <omp.h>
#include <pthread.h>

enum { MASTERS = 32, ROUNDS = 12 };

static int in_critical;
static long critical_count;

static void loops(int size, int *sum, int *ordered_next) {
#pragma omp for schedule(dynamic, 2)
    for (int i = 0; i < 30; i++) INCREMENT(sum);
    CHECK(GET(sum) >= 30); /* another member may be in the next loop */
#pragma omp for schedule(guided) nowait
    for (unsigned long long i = 0; i < 30; i++) INCREMENT(sum);
#pragma omp for ordered schedule(dynamic, 1)
    for (int i = 0; i < 2 * size; i++) {
#pragma omp ordered
        {
            CHECK_EQ(*ordered_next, i);
            ++*ordered_next;
        }
    }
    CHECK_EQ(GET(sum), 60);
}

static void singles(int number, int *count) {
    for (int k = 0; k < 5; k++) {
        int value = -1;
#pragma omp single copyprivate(value)
        {
            INCREMENT(count);
            value = number * 100 + k;
        }
        CHECK_EQ(value, number * 100 + k);
    }
    CHECK_EQ(GET(count), 5);
}

static void tasks(int size, int *done) {
#pragma omp single
    for (int i = 0; i < 20; i++) {
#pragma omp task firstprivate(done)
        {
#pragma omp task firstprivate(done)
            INCREMENT(done);
            INCREMENT(done);
#pragma omp taskwait
        }
    }
    CHECK_EQ(GET(done), 40);
    (void)size;
}

static void one_region(int number, int size) {
    int sum = 0, ordered_next = 0, count = 0, done = 0, here = 0;
#pragma omp parallel num_threads(size)
    {
        CHECK_EQ(omp_get_num_threads(), size);
        CHECK_EQ(omp_get_level(), 1);
        INCREMENT(&here);
#pragma omp barrier
        CHECK_EQ(GET(&here), size);
        loops(size, &sum, &ordered_next);
        singles(number, &count);
        tasks(size, &done);
#pragma omp critical
        {
            CHECK_EQ(INCREMENT(&in_critical), 1);
            critical_count++;
            CHECK_EQ(DECREMENT(&in_critical), 0);
        }
    }
    CHECK_EQ(ordered_next, 2 * size);
}

static pthread_barrier_t start;

static void *master(void *argument) {
    int number = *(int *)argument;
    pthread_barrier_wait(&start);
    for (int round = 0; round < ROUNDS; round++) {
        CHECK_EQ(omp_get_level(), 0);
        CHECK_EQ(omp_get_thread_num(), 0);
        one_region(number, 1 + (number + round) % 4);
    }
    return NULL;
}

int main(void) {
    test_limit(50);
    pthread_t thread[MASTERS];
    int number[MASTERS];
    long expected = 0;
    pthread_barrier_init(&start, NULL, MASTERS);
    for (int i = 0; i < MASTERS; i++) {
        number[i] = i;
        for (int round = 0; round < ROUNDS; round++) expected += 1 + (i + round) % 4;
        CHECK(pthread_create(&thread[i], NULL, master, &number[i]) == 0);
    }
    for (int i = 0; i < MASTERS; i++) pthread_join(thread[i], NULL);
    CHECK_EQ(critical_count, expected);
    return 0;
}
