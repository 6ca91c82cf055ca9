/* A task with two predecessors sees the writes of both, although the members that executed them
 * share nothing else. The program's own flags are relaxed, so that ThreadSanitizer sees no order
 * but the runtime's. One member executes the first predecessor and then another task. A second
 * member executes the other predecessor, which ends after both have begun. So that second member
 * finds the successor ready.
 *
 * If the members take the tasks in another way, the round proves nothing, but it ends.
 */
#include "testing.h"
#include <omp.h>

enum { ROUNDS = 300, TURNS = 2000 };

struct flags {
    int first_begun, second_begun, another_begun, joined;
};

static void raise_flag(int *flag) {
    __atomic_store_n(flag, 1, __ATOMIC_RELAXED);
}

static int is_raised(const int *flag) {
    return __atomic_load_n(flag, __ATOMIC_RELAXED);
}

static void await_flag(const int *flag) {
    for (int turn = 0; turn < TURNS && !is_raised(flag); turn++) sched_yield();
}

/* Returns whether the tasks met as intended. */
static int two_predecessors(int round) {
    struct flags flags = {0};
    int first = 0, second = 0, sum = 0, met = 0;
#pragma omp parallel num_threads(3) shared(flags, first, second, sum, met)
    if (omp_get_thread_num() == 0) {
#pragma omp task depend(out : first) shared(flags, first) firstprivate(round)
        {
            raise_flag(&flags.first_begun);
            await_flag(&flags.second_begun);
            first = round;
        }
#pragma omp task depend(out : second) shared(flags, second, met) firstprivate(round)
        {
            raise_flag(&flags.second_begun);
            await_flag(&flags.first_begun);
            await_flag(&flags.another_begun);
            second = round;
            met = is_raised(&flags.another_begun);
        }
#pragma omp task shared(flags)
        {
            raise_flag(&flags.another_begun);
            await_flag(&flags.joined);
        }
#pragma omp task depend(in : first, second) shared(flags, first, second, sum)
        {
            sum = first + second;
            raise_flag(&flags.joined);
        }
        while (!is_raised(&flags.joined)) sched_yield(); /* no scheduling point: others run them */
    }
    CHECK_EQ(sum, 2 * round);
    return met;
}

int main(void) {
    test_limit(50);
    for (int round = 0; round < ROUNDS; round++) two_predecessors(round);
    return 0;
}
