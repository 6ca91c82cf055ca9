/* Without nowait, target data and update directives wait for their predecessors, although there is
 * nothing to copy. The predecessors are detached tasks: when their bodies have ended they are still
 * incomplete, whichever thread executed the bodies.
 * test: not stock libgomp's dependent tasks do not wait for a detached task's event
 * test: not clang clang leaves these directives out where there is no device to compile for
 */
#include "testing.h"
#include <omp.h>

enum { WAITS = 15 }; /* enter, update and exit directives in turn */

struct wait {
    omp_event_handle_t event;
    int begun, passed, x;
};

/* Ends each predecessor a while after it was made, or when a directive has not waited for it. */
static void end_predecessors(struct wait *waits) {
    for (int i = 0; i < WAITS; i++) {
        AWAIT(&waits[i].begun, 1);
        for (int turn = 0; turn < 10 && !GET(&waits[i].passed); turn++) pause_ms(1);
        CHECK_EQ(GET(&waits[i].passed), 0);
        waits[i].x = 1;
        omp_fulfill_event(waits[i].event);
    }
}

static void make_and_wait(struct wait *wait, int which) {
    omp_event_handle_t event;
    int other = 0;
#pragma omp task depend(out : wait->x) detach(event)
    {
        wait->event = event;
        SET(&wait->begun, 1);
    }
    if (which == 0) {
#pragma omp target enter data map(to : other) depend(in : wait->x)
    } else if (which == 1) {
#pragma omp target update to(other) depend(in : wait->x)
    } else {
#pragma omp target exit data map(from : other) depend(in : wait->x)
    }
    SET(&wait->passed, 1);
    CHECK_EQ(wait->x, 1);
}

int main(void) {
    test_limit(50);
    for (int size = 2; size <= 3; size++) {
        struct wait waits[WAITS] = {0};
#pragma omp parallel num_threads(size)
        if (omp_get_thread_num() == 1) {
            end_predecessors(waits);
        } else if (omp_get_thread_num() == 0) {
            for (int i = 0; i < WAITS; i++) make_and_wait(&waits[i], i % 3);
        }
    }
    return 0;
}
