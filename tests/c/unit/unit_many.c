/* Teams of 64 to 512 members, of odd sizes too, on any number of processors. Fork and join,
 * barriers and the ends of tasks go by the trees of large teams, a dynamic loop by its tree of
 * counters. The test writes and reads its data without atomics, so that ThreadSanitizer judges the
 * order that each construct makes.
 *
 * test: alone
 * test: long
 * test: timeout 600
 * test: flags -fopenmp
 * test: env MANY=64 OMP_CANCELLATION=true GOMP_SPINCOUNT=500
 * test: env MANY=97 OMP_CANCELLATION=true OMP_WAIT_POLICY=passive
 * test: env MANY=128 GOMP_SPINCOUNT=500
 * test: env MANY=255 OMP_WAIT_POLICY=passive
 * test: env MANY=257 OMP_CANCELLATION=true OMP_WAIT_POLICY=passive
 * test: env MANY=512 OMP_WAIT_POLICY=passive
 * test: env MANY=511 MANY_CROWDED=1
 */
#include "testing.h"

#include "core/settings/config.h"
#include "core/state/team.h"

#include <omp.h>
#include <string.h>

enum { MOST = 512, ROUNDS = 3, CHILDREN = 3 };

static int mark[MOST];
static int done[MOST][CHILDREN];
static int times[4 * MOST];

static void barriers(int size) {
    memset(mark, 0, sizeof mark);
#pragma omp parallel num_threads(size)
    for (int round = 1; round <= ROUNDS; round++) {
        int me = omp_get_thread_num();
        CHECK(omp_get_num_threads() == size);
        mark[me] = round;
#pragma omp barrier
        CHECK(mark[(me + 1) % size] == round && mark[(me + size / 2) % size] == round);
        CHECK(mark[0] == round && mark[size - 1] == round);
#pragma omp barrier
    }
}

/* A task of each member makes other tasks. Whichever member runs them, their results are there
 * behind the barrier, and at the region's end. */
static void make_children(int which) {
    for (int i = 0; i < CHILDREN; i++) {
#pragma omp task firstprivate(which, i)
        done[which][i]++;
    }
}

static void tasks(int size) {
    memset(done, 0, sizeof done);
#pragma omp parallel num_threads(size)
    {
        int me = omp_get_thread_num(), other = (me + size / 3) % size;
        for (int round = 1; round <= ROUNDS; round++) {
#pragma omp task firstprivate(me)
            make_children(me);
#pragma omp barrier
            for (int i = 0; i < CHILDREN; i++) CHECK(done[other][i] == round);
#pragma omp barrier
        }
#pragma omp task firstprivate(me)
        make_children(me);
    }
    for (int k = 0; k < size; k++)
        for (int i = 0; i < CHILDREN; i++) CHECK(done[k][i] == ROUNDS + 1);
}

static void loops(int size) {
    int count = 3 * size + 1, turn = 0;
    long sum = 0;
    memset(times, 0, sizeof times);
#pragma omp parallel num_threads(size)
    {
#pragma omp for schedule(dynamic)
        for (int i = 0; i < count; i++) times[i]++;
#pragma omp for schedule(dynamic, 2) nowait
        for (int i = 0; i < size; i++) times[i]++;
#pragma omp for reduction(+ : sum)
        for (int i = 0; i < count; i++) sum += i;
#pragma omp for ordered schedule(static, 1)
        for (int i = 0; i < size; i++) {
#pragma omp ordered
            CHECK(turn++ == i);
        }
    }
    CHECK(sum == (long)count * (count - 1) / 2);
    for (int i = 0; i < count; i++) CHECK(times[i] == (i < size ? 2 : 1));
}

static void singles(int size) {
    int total = 0;
#pragma omp parallel num_threads(size) reduction(+ : total)
    {
        int value = 0;
#pragma omp single copyprivate(value)
        value = 7;
        total += value;
    }
    CHECK(total == 7 * size);
}

/* One member cancels, and the others reach no later barrier. */
static void cancelled(int size) {
    int behind = 0;
#pragma omp parallel num_threads(size)
    {
        if (omp_get_thread_num() == size / 2) {
#pragma omp cancel parallel
        }
#pragma omp barrier
#pragma omp atomic
        behind++;
    }
    CHECK(omp_get_cancellation() ? behind == 0 : behind == size);
}

static void all(int size) {
    barriers(size);
    tasks(size);
    loops(size);
    singles(size);
    cancelled(size);
}

int main(void) {
    const char *wanted = getenv("MANY");
    int size = wanted ? atoi(wanted) : 64;
    CHECK(size > 0 && size <= MOST);
    test_limit(500);
    if (!getenv("MANY_CROWDED")) cst_config.available = 2 * MOST;
    all(size);
    all(size / 2 + 1); /* some workers stay in their docks */
    barriers(size);
    return 0;
}
