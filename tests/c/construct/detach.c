/* A task with detach completes when it has run and its event is fulfilled, by any thread and in any
 * order. Each construct that waits for tasks waits for that. Barriers are in detach_barrier.c.
 * test: env
 * test: env OMP_WAIT_POLICY=passive
 */
#include "testing.h"
#include <omp.h>
#include <pthread.h>

struct late {
    omp_event_handle_t event;
    int *done;
};

static void *fulfill_late(void *argument) {
    struct late *late = argument;
    pause_ms(5);
    SET(late->done, 1);
    omp_fulfill_event(late->event);
    return NULL;
}

/* A thread that OpenMP does not know fulfils the event, while the team only waits. */
enum wait { TASKWAIT, TASKGROUP, BARRIER, REGION, DEPEND };

static void foreign_thread(int size, enum wait wait) {
    pthread_t thread;
    struct late late;
    int done = 0, x = 0;
    (void)x; /* only its address counts */
    late.done = &done;
#pragma omp parallel num_threads(size)
    {
#pragma omp single
        {
            omp_event_handle_t event;
#pragma omp taskgroup
            {
#pragma omp task detach(event) depend(out : x)
                sched_yield();
                late.event = event;
                CHECK(pthread_create(&thread, NULL, fulfill_late, &late) == 0);
                if (wait == DEPEND) {
#pragma omp task depend(in : x) shared(done)
                    CHECK_EQ(GET(&done), 1);
                }
                if (wait == TASKWAIT) {
#pragma omp taskwait
                    CHECK_EQ(GET(&done), 1);
                }
            }
            if (wait == TASKGROUP) CHECK_EQ(GET(&done), 1);
        }
        if (wait == BARRIER) CHECK_EQ(GET(&done), 1);
    }
    CHECK_EQ(done, 1);
    pthread_join(thread, NULL);
}

static void by_itself(int size) {
    int done = 0;
#pragma omp parallel num_threads(size)
#pragma omp single
    for (int i = 0; i < 100; i++) {
        omp_event_handle_t event;
#pragma omp task detach(event) shared(done)
        {
            omp_fulfill_event(event);
            sched_yield();
            INCREMENT(&done);
        }
#pragma omp taskwait
        CHECK_EQ(GET(&done), i + 1);
    }
}

static void by_another_task(int size) {
    int order = 0;
#pragma omp parallel num_threads(size)
#pragma omp single
    for (int i = 0; i < 50; i++) {
        omp_event_handle_t event;
        int x = 0;
        (void)x;
        order = 0;
#pragma omp task detach(event) depend(out : x) shared(order)
        INCREMENT(&order);
#pragma omp task shared(order)
        {
            if (i % 10 == 0) pause_ms(1);
            INCREMENT(&order);
            omp_fulfill_event(event);
        }
#pragma omp task depend(in : x) shared(order)
        CHECK_EQ(GET(&order), 2);
#pragma omp taskwait
    }
}

/* A large number of events are open at once, and are fulfilled in another order. */
static void many(int size) {
    enum { EVENTS = 60 }; /* GCC 12 runs the 65th task undeferred, and then waits for it */
    static omp_event_handle_t events[EVENTS];
    int done = 0;
#pragma omp parallel num_threads(size)
#pragma omp single
    {
        for (int i = 0; i < EVENTS; i++) {
            omp_event_handle_t event;
#pragma omp task detach(event) shared(done)
            INCREMENT(&done);
            events[i] = event;
        }
#pragma omp task
        for (int i = 0; i < EVENTS; i++) omp_fulfill_event(events[i * 7 % EVENTS]);
#pragma omp taskwait
        CHECK_EQ(GET(&done), EVENTS);
    }
}

/* Undeferred tasks may be detached too. */
static void undeferred(int size) {
    int done = 0;
#pragma omp parallel num_threads(size)
#pragma omp single
    {
        omp_event_handle_t event;
#pragma omp task detach(event) if (0) shared(done)
        {
            done = 1;
            omp_fulfill_event(event);
        }
        CHECK_EQ(done, 1);
    }
}

int main(void) {
    test_limit(50);
    for (int size = 1; size <= 4; size++) {
        for (int wait = TASKWAIT; wait <= (int)DEPEND; wait++)
            foreign_thread(size, (enum wait)wait);
        by_itself(size);
        by_another_task(size);
        many(size);
        undeferred(size);
    }
    return 0;
}
