/* All members wait at a barrier, or at the end of their region, for a detached task that a foreign
 * thread completes. Any number of events may be open at once.
 * test: not stock GCC 12's barrier then sleeps for ever, and so does its 65th open event
 * test: env
 * test: env OMP_WAIT_POLICY=passive
 */
#include "testing.h"
#include <omp.h>
#include <pthread.h>

static omp_event_handle_t late_event;
static int done;

static void *fulfill_late(void *unused) {
    pause_ms(5);
    SET(&done, 1);
    omp_fulfill_event(late_event);
    return unused;
}

static pthread_t detached_task(void) {
    pthread_t thread;
    omp_event_handle_t event;
    SET(&done, 0);
#pragma omp task detach(event)
    sched_yield();
    late_event = event;
    CHECK(pthread_create(&thread, NULL, fulfill_late, NULL) == 0);
    return thread;
}

static void barrier_waits(int size) {
    pthread_t thread;
#pragma omp parallel num_threads(size)
    {
#pragma omp master
        thread = detached_task();
#pragma omp barrier
        CHECK_EQ(GET(&done), 1);
    }
    pthread_join(thread, NULL);
}

static void end_waits(int size) {
    pthread_t thread;
#pragma omp parallel num_threads(size)
#pragma omp master
    thread = detached_task();
    CHECK_EQ(GET(&done), 1);
    pthread_join(thread, NULL);
}

static void many_open(int size) {
    enum { EVENTS = 5000 };
    static omp_event_handle_t events[EVENTS];
    int count = 0;
#pragma omp parallel num_threads(size)
#pragma omp single
    {
        for (int i = 0; i < EVENTS; i++) {
            omp_event_handle_t event;
#pragma omp task detach(event) shared(count)
            INCREMENT(&count);
            events[i] = event;
        }
        for (int i = 0; i < EVENTS; i++) omp_fulfill_event(events[i * 7LL % EVENTS]);
#pragma omp taskwait
        CHECK_EQ(GET(&count), EVENTS);
    }
}

int main(void) {
    test_limit(30);
    for (int size = 1; size <= 4; size++) {
        for (int round = 0; round < 10; round++) {
            barrier_waits(size);
            end_waits(size);
        }
        many_open(size);
    }
    return 0;
}
