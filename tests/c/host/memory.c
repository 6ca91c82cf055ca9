/* Memory does not grow with the numbers of regions, tasks, dependences, inner regions, constructs
 * that a member is ahead, or loops whose iterations wait for each other.
 *
 * test: alone
 */
#include "process.h"
#include <omp.h>

static void regions(void) {
    for (int round = 0; round < 1500; round++) {
        int size = 1 + round / 500; /* seldom changed, as GCC's runtime changes it slowly */
#pragma omp parallel num_threads(size)
        {
#pragma omp single nowait
            sched_yield();
#pragma omp for schedule(dynamic) nowait
            for (int i = 0; i < 5; i++) continue;
        }
    }
}

static void tasks(void) {
    int x = 0, sum = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
    for (int round = 0; round < 50; round++) {
        for (int i = 0; i < 400; i++) {
            char data[100] = {0};
#pragma omp task firstprivate(data) shared(sum)
            __atomic_add_fetch(&sum, 1 + data[5], __ATOMIC_RELAXED);
        }
        for (int i = 0; i < 50; i++) {
#pragma omp task depend(inout : x) shared(x)
            x++;
        }
#pragma omp taskgroup
        {
#pragma omp task
            sched_yield();
        }
#pragma omp taskloop num_tasks(5)
        for (int i = 0; i < 10; i++) continue;
#pragma omp taskwait
    }
    CHECK_EQ(sum, 20000);
    CHECK_EQ(x, 2500);
}

static void inner(void) {
    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
    for (int round = 0; round < 40; round++) {
#pragma omp parallel num_threads(2)
        {
#pragma omp for schedule(guided)
            for (int i = 0; i < 5; i++) continue;
        }
    }
    omp_set_max_active_levels(1);
}

static void ahead(void) {
    int passed = 0;
#pragma omp parallel num_threads(2)
    {
        if (omp_get_thread_num() == 1) AWAIT(&passed, 1);
        for (int k = 0; k < 500; k++) {
#pragma omp for schedule(dynamic) nowait
            for (int i = 0; i < 3; i++) continue;
#pragma omp single nowait
            sched_yield();
        }
        INCREMENT(&passed);
    }
}

/* A doacross loop keeps a cache line for each chunk, here 20000. */
static void waiting(void) {
    int last = 0;
#pragma omp parallel num_threads(2) shared(last)
    {
#pragma omp for schedule(dynamic) ordered(1)
        for (int i = 0; i < 20000; i++) {
#pragma omp ordered depend(sink : i - 1)
            last = i;
#pragma omp ordered depend(source)
        }
    }
    CHECK_EQ(last, 19999);
}

static long measured(void (*part)(void), const char *name) {
    for (int warm = 0; warm < 4; warm++) part();
    long before = status_number("VmRSS");
    for (int round = 0; round < 12; round++) part();
    long grown = status_number("VmRSS") - before;
    if (grown > 2048) fprintf(stderr, "%s: memory grew by %ld KiB\n", name, grown);
    return grown;
}

int main(void) {
    test_limit(58);
    CHECK(measured(regions, "regions") <= 2048);
    CHECK(measured(tasks, "tasks") <= 2048);
    CHECK(measured(inner, "inner regions") <= 2048);
    CHECK(measured(ahead, "constructs ahead") <= 2048);
    CHECK(measured(waiting, "loops that wait") <= 2048);
    return 0;
}
