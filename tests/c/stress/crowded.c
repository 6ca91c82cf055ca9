/* A crowded team on one processor: its members leave a barrier one after the other, so a member may
 * be several barriers late. Each member sees at once the writes of the barrier's tasks, also if it
 * leaves when others are at the next barrier. The master sees the writes of all tasks before the
 * end of a region. The test reads and writes without atomics, so that ThreadSanitizer judges the
 * runtime's ordering.
 *
 * test: env OMP_DYNAMIC=false
 * test: env OMP_DYNAMIC=false OMP_WAIT_POLICY=passive
 * test: env OMP_DYNAMIC=false CAPSTAN_WAIT=yield:off
 * test: env OMP_DYNAMIC=false CAPSTAN_WAIT=costs:off
 */
#include "testing.h"
#include <omp.h>

enum { ROUNDS = 2000, MEMBERS = 5, REGIONS = 200 };

static int result[ROUNDS];

/* Starts the program again on one processor, as the library counts the processors when it is
 * loaded. */
static void begin_again(char **argv) {
    cpu_set_t all, one;
    sched_getaffinity(0, sizeof all, &all);
    if (CPU_COUNT(&all) == 1) return;
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; cpu++)
        if (CPU_ISSET(cpu, &all)) CPU_SET(cpu, &one);
    CHECK(sched_setaffinity(0, sizeof one, &one) == 0);
    execv("/proc/self/exe", argv);
}

/* One member makes a task, and all use its result behind the barrier. */
static void results_behind_barriers(void) {
#pragma omp parallel num_threads(MEMBERS)
    for (int round = 0; round < ROUNDS; round++) {
        if (omp_get_thread_num() == round % MEMBERS) {
#pragma omp task firstprivate(round)
            result[round] = round + 1;
        }
#pragma omp barrier
        CHECK_EQ(result[round], round + 1);
    }
}

/* Two barriers with tasks follow one without, and the tasks make tasks; all members use the
 * results. */
static void results_of_progeny(void) {
    for (int round = 0; round < ROUNDS; round++) result[round] = 0;
#pragma omp parallel num_threads(MEMBERS)
    for (int round = 0; round < ROUNDS; round++) {
        if (round % 3 != 2 && omp_get_thread_num() == round % MEMBERS) {
#pragma omp task firstprivate(round)
            {
#pragma omp task firstprivate(round)
                result[round] = round + 1;
            }
        }
#pragma omp barrier
        if (round % 3 != 2) CHECK_EQ(result[round], round + 1);
    }
}

/* A member may still leave the last barrier while others are at the region's end. */
static void results_behind_regions(void) {
    for (int region = 0; region < REGIONS; region++) {
        int before = 0, last = 0;
#pragma omp parallel num_threads(MEMBERS) shared(before, last)
        {
            if (omp_get_thread_num() == region % MEMBERS) {
#pragma omp task shared(before)
                before = region + 1;
            }
#pragma omp barrier
            CHECK_EQ(before, region + 1);
            if (omp_get_thread_num() == (region + 1) % MEMBERS) {
#pragma omp task shared(last)
                last = region + 1;
            }
        }
        CHECK_EQ(last, region + 1);
    }
}

int main(int argc, char **argv) {
    (void)argc;
    begin_again(argv);
    test_limit(50);
    results_behind_barriers();
    results_of_progeny();
    results_behind_regions();
    return 0;
}
