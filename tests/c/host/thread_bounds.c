/* The number of threads does not grow with the number of rounds, with callers that come and go, or
 * with changes of the team size.
 * test: alone
 * test: not qemu qemu has a thread of its own
 */
#include "process.h"
#include <omp.h>
#include <pthread.h>

enum { MASTERS = 8, SIZE = 8 };

static pthread_barrier_t together;
static int rounds;

static void *master(void *unused) {
    for (int round = 0; round < rounds; round++) {
        int count = 0;
        if (round % 50 == 0) pthread_barrier_wait(&together);
#pragma omp parallel num_threads(SIZE)
        INCREMENT(&count);
        CHECK_EQ(count, SIZE);
    }
    pthread_barrier_wait(&together);
    pause_ms(100);
    return unused;
}

static long run_masters(int number_of_rounds) {
    pthread_t thread[MASTERS];
    rounds = number_of_rounds;
    pthread_barrier_init(&together, NULL, MASTERS);
    for (int i = 0; i < MASTERS; i++) CHECK(pthread_create(&thread[i], NULL, master, NULL) == 0);
    for (int i = 0; i < MASTERS; i++) pthread_join(thread[i], NULL);
    return settled_thread_count();
}

/* The main thread keeps the team of its own regions, as its threadprivate variables need it. */
static void masters(long before) {
    long first = run_masters(100);
    CHECK(first <= before + MASTERS * (SIZE - 1));
    long many = run_masters(1000);
    if (many > first) fprintf(stderr, "%ld threads, after more rounds %ld\n", first, many);
    CHECK(many <= first);
    long last = many;
    for (int generation = 0; generation < 10; generation++) last = run_masters(50);
    if (last > first) fprintf(stderr, "%ld threads, after more generations %ld\n", first, last);
    CHECK(last <= first);
}

static long after_sizes(int turns) {
    for (int turn = 0; turn < turns; turn++) {
        int size = 1 + turn * 5 % 7, count = 0;
#pragma omp parallel num_threads(size)
        INCREMENT(&count);
        CHECK_EQ(count, size);
    }
    return settled_thread_count();
}

static long after_nesting(int turns) {
    omp_set_max_active_levels(2);
    for (int turn = 0; turn < turns; turn++) {
        int count = 0;
#pragma omp parallel num_threads(2)
#pragma omp parallel num_threads(2)
        INCREMENT(&count);
        CHECK_EQ(count, 4);
    }
    omp_set_max_active_levels(1);
    return settled_thread_count();
}

int main(void) {
    test_limit(58);
    long base = after_sizes(49);
    CHECK(base <= 7 + (on_rts() ? 16 : 0));
    CHECK(after_sizes(2002) <= base);
    long nested = after_nesting(50);
    CHECK(after_nesting(1000) <= nested);
    masters(nested);
    return 0;
}
