/* taskwait waits for all children of the current task, and not for their children. The writes of
 * the children are visible behind it.
 * test: env
 * test: env OMP_WAIT_POLICY=passive
 */
#include "testing.h"
#include <omp.h>
#include <pthread.h>

static void waits_for_children(int size) {
    enum { CHILDREN = 40 };
#pragma omp parallel num_threads(size)
#pragma omp single
    for (int round = 0; round < 20; round++) {
        int result[CHILDREN] = {0};
        for (int child = 0; child < CHILDREN; child++) {
#pragma omp task shared(result) firstprivate(child)
            {
                if (child % 16 == round % 16) pause_ms(1);
                result[child] = child + round; /* plain: taskwait orders it */
            }
        }
#pragma omp taskwait
        for (int child = 0; child < CHILDREN; child++) CHECK_EQ(result[child], child + round);
    }
}

/* Another member is busy with the child, and the waiting member has no task left to run. */
static void waits_for_a_stolen_child(void) {
    int size = 2;
    for (int round = 0; round < 20; round++) {
        int started = 0, finished = 0;
#pragma omp parallel num_threads(size)
#pragma omp single
        {
#pragma omp task shared(started, finished)
            {
                SET(&started, 1);
                pause_ms(3);
                SET(&finished, 1);
            }
            /* Give the other member time to take the child; otherwise taskwait runs it here. */
            for (int i = 0; i < 1000 && !GET(&started); i++) sched_yield();
#pragma omp taskwait
            CHECK_EQ(GET(&finished), 1);
        }
    }
}

/* The grandchild completes by an event that is fulfilled behind the taskwait. A runtime that waits
 * for all descendants hangs, even with one thread. */
static void not_for_grandchildren(int size) {
    for (int round = 0; round < 20; round++) {
        omp_event_handle_t event;
        int made = 0, done = 0;
#pragma omp parallel num_threads(size)
#pragma omp single
        {
#pragma omp task shared(event, made, done)
            {
                omp_event_handle_t mine;
#pragma omp task detach(mine) shared(done)
                SET(&done, 1);
                event = mine;
                SET(&made, 1);
            }
#pragma omp taskwait
            CHECK_EQ(GET(&made), 1);
            omp_fulfill_event(event);
        }
        CHECK_EQ(done, 1);
    }
}

static long fibonacci(int n) {
    if (n < 2) return n;
    long a, b;
#pragma omp task shared(a)
    a = fibonacci(n - 1);
#pragma omp task shared(b)
    b = fibonacci(n - 2);
#pragma omp taskwait
    return a + b;
}

static void recursion(int size) {
    long result = 0;
#pragma omp parallel num_threads(size)
#pragma omp single
    result = fibonacci(17);
    CHECK_EQ(result, 1597);
}

/* All members create and wait at the same time. */
static void everyone(int size) {
    long sum = 0;
#pragma omp parallel num_threads(size) reduction(+ : sum)
    for (int round = 0; round < 50; round++) {
        int a = 0, b = 0;
#pragma omp task shared(a)
        a = 1;
#pragma omp task shared(b)
        {
            sched_yield();
            b = 2;
        }
#pragma omp taskwait
        CHECK_EQ(a + b, 3);
        sum += a + b;
    }
    CHECK_EQ(sum, 150 * size);
}

/* A task holds a lock across a taskwait. While a tied task is suspended there, its thread may begin
 * only its descendants (OpenMP 5.2, 12.9); with another task it would wait for itself. */
static void held_across(int size) {
    enum { TASKS = 60 };
    omp_lock_t lock;
    int inside = 0, done = 0;
    omp_init_lock(&lock);
#pragma omp parallel num_threads(size)
    for (int i = 0; i < TASKS; i++) {
#pragma omp task shared(lock, inside, done)
        {
            int child = 0, begun = 0, here = omp_get_thread_num();
            omp_set_lock(&lock);
            CHECK_EQ(INCREMENT(&inside), 1);
#pragma omp task shared(child, begun)
            {
                SET(&begun, 1);
                if (omp_get_thread_num() != here) pause_ms(1);
                child = 1;
            }
            /* If another member takes the child, this thread has nothing left that it may do. */
            for (int k = 0; k < 100 && !GET(&begun); k++) sched_yield();
#pragma omp taskwait
            CHECK_EQ(child, 1);
            CHECK_EQ(DECREMENT(&inside), 0);
            omp_unset_lock(&lock);
            INCREMENT(&done);
        }
    }
    CHECK_EQ(done, TASKS * size);
    omp_destroy_lock(&lock);
}

static omp_event_handle_t handed_over;
static int handed, finished;

static void *fulfill(void *unused) {
    for (;;) {
        while (!GET(&handed) && !GET(&finished)) sched_yield();
        if (!GET(&handed)) return unused;
        SET(&handed, 0);
        pause_ms(1);
        omp_fulfill_event(handed_over);
    }
}

/* A task holds the lock while a child completes late. Meanwhile tasks that want the lock are ready
 * in every queue. */
static void held_for_long(int size) {
    enum { TASKS = 8 };
    omp_lock_t lock;
    pthread_t thread;
    int done = 0;
    omp_init_lock(&lock);
    SET(&finished, 0);
    CHECK(pthread_create(&thread, NULL, fulfill, NULL) == 0);
#pragma omp parallel num_threads(size)
    for (int i = 0; i < TASKS; i++) {
#pragma omp task shared(lock, done)
        {
            omp_event_handle_t event;
            omp_set_lock(&lock);
#pragma omp task detach(event)
            sched_yield();
            handed_over = event;
            SET(&handed, 1);
#pragma omp taskwait
            omp_unset_lock(&lock);
            INCREMENT(&done);
        }
    }
    SET(&finished, 1);
    pthread_join(thread, NULL);
    CHECK_EQ(done, TASKS * size);
    omp_destroy_lock(&lock);
}

/* Outside a region tasks run at once, or taskwait waits for them. */
static void outside(void) {
    int a = 0;
#pragma omp task shared(a)
    a = 1;
#pragma omp taskwait
    CHECK_EQ(a, 1);
    CHECK_EQ(fibonacci(10), 55);
}

int main(void) {
    test_limit(50);
    for (int size = 1; size <= 4; size++) {
        waits_for_children(size);
        recursion(size);
        everyone(size);
        held_across(size);
        held_for_long(size);
        not_for_grandchildren(size);
    }
    waits_for_a_stolen_child();
    outside();
    return 0;
}
