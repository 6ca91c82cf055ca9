/* threadprivate variables keep their values from region to region (OpenMP 5.2, 5.2), also when many
 * masters open regions at once. copyin gives all members the master's values. */
#include "testing.h"
#include <omp.h>
#include <pthread.h>

static int mine = -1;
static struct {
    int owner;
    char filler[5000];
} wide = {-1, {0}};
#pragma omp threadprivate(mine, wide)

/* Only regions of the same size lie between, so each member has the values of its number. */
static void persists(int size, int base) {
#pragma omp parallel num_threads(size)
    {
        mine = base + omp_get_thread_num();
        wide.owner = mine;
    }
    for (int round = 0; round < 20; round++) {
#pragma omp parallel num_threads(size)
        {
            CHECK_EQ(mine, base + omp_get_thread_num());
            CHECK_EQ(wide.owner, mine);
        }
    }
    CHECK_EQ(mine, base); /* the master's copy is the copy of this thread */
}

static void copied_in(int size) {
    for (int value = 0; value < 20; value++) {
        mine = value;
        wide.owner = value;
        wide.filler[4999] = (char)value;
#pragma omp parallel num_threads(size) copyin(mine, wide)
        {
            CHECK_EQ(mine, value);
            CHECK_EQ(wide.owner, value);
            CHECK_EQ(wide.filler[4999], (char)value);
            mine += omp_get_thread_num();
        }
        CHECK_EQ(mine, value);
    }
}

/* Members have different copies. */
static void distinct(int size) {
    const int *address[16];
#pragma omp parallel num_threads(size)
    address[omp_get_thread_num()] = &mine;
    for (int a = 0; a < size; a++)
        for (int b = 0; b < a; b++) CHECK(address[a] != address[b]);
    CHECK(address[0] == &mine);
}

static pthread_barrier_t all_masters;

static void *master(void *argument) {
    int number = *(int *)argument;
    for (int round = 0; round < 10; round++) {
        int base = 1000 * (number + 1) + 100000 * round;
        pthread_barrier_wait(&all_masters);
#pragma omp parallel num_threads(3)
        mine = base + omp_get_thread_num();
        /* All masters have closed their regions; now they open the next ones in any order. */
        pthread_barrier_wait(&all_masters);
        if ((number + round) % 3 == 0) pause_ms(1);
#pragma omp parallel num_threads(3)
        CHECK_EQ(mine, base + omp_get_thread_num());
        CHECK_EQ(mine, base);
    }
    return NULL;
}

/* GCC's runtime keeps a team for each master, so the values persist for each of them. */
static void many_masters(void) {
    enum { MASTERS = 6 };
    pthread_t thread[MASTERS];
    int number[MASTERS];
    pthread_barrier_init(&all_masters, NULL, MASTERS);
    for (int i = 0; i < MASTERS; i++) {
        number[i] = i;
        CHECK(pthread_create(&thread[i], NULL, master, &number[i]) == 0);
    }
    for (int i = 0; i < MASTERS; i++) pthread_join(thread[i], NULL);
}

/* Masters come one after the other, so that a team is free whenever the next master wants one. */
static void *visitor(void *unused) {
#pragma omp parallel num_threads(3)
    mine = -5;
    return unused;
}

static void visited(void) {
    for (int round = 0; round < 20; round++) {
        pthread_t thread;
#pragma omp parallel num_threads(3)
        mine = round * 10 + omp_get_thread_num();
        CHECK(pthread_create(&thread, NULL, visitor, NULL) == 0);
        pthread_join(thread, NULL);
#pragma omp parallel num_threads(3)
        CHECK_EQ(mine, round * 10 + omp_get_thread_num());
    }
}

int main(void) {
    test_limit(40);
    for (int size = 1; size <= 8; size++) {
        persists(size, 100 * size);
        copied_in(size);
        distinct(size);
    }
    visited();
    many_masters();
    return 0;
}
