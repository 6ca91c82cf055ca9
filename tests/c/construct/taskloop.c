/* taskloop runs each iteration once, with the requested number and size of tasks, and waits for its
 * tasks unless nogroup. The test also covers reductions and all integer types. */
#include "testing.h"
#include <limits.h>
#include <omp.h>

enum { TRIPS = 500 };

static int times[TRIPS], task_of[TRIPS], tasks;

static void clear(void) {
    tasks = 0;
    for (int i = 0; i < TRIPS; i++) times[i] = task_of[i] = 0;
}

static void expect(int trips) {
    for (int i = 0; i < TRIPS; i++) CHECK_EQ(GET(&times[i]), i < trips);
}

#define COVER(type, from, compare, to, step, trips, clauses)                                       \
    do {                                                                                           \
        clear();                                                                                   \
        type first_ = (from);                                                                      \
        _Pragma(clauses) for (type i = (from); i compare(to); i += (step))                         \
            INCREMENT(&times[(long long)((i - first_) / (step))]);                                 \
        expect(trips); /* the construct has waited */                                              \
    } while (0)

static void coverage(int size) {
    volatile int none = 5;
    volatile unsigned long long from = ULLONG_MAX - 200, to = ULLONG_MAX; /* hidden: _ull calls */
#pragma omp parallel num_threads(size)
#pragma omp single
    {
        COVER(int, 0, <, TRIPS, 1, TRIPS, "omp taskloop");
        COVER(int, 0, <, TRIPS, 1, TRIPS, "omp taskloop grainsize(7)");
        COVER(int, 0, <, TRIPS, 1, TRIPS, "omp taskloop num_tasks(9)");
        COVER(int, 0, <, TRIPS, 1, TRIPS, "omp taskloop num_tasks(10000)");
        COVER(int, 0, <, TRIPS, 1, TRIPS, "omp taskloop grainsize(10000)");
        COVER(int, 0, <, TRIPS, 1, TRIPS, "omp taskloop if(0) num_tasks(5)");
        COVER(int, 0, <, TRIPS, 1, TRIPS, "omp taskloop final(1) num_tasks(5)");
        COVER(int, 0, <, TRIPS, 1, TRIPS, "omp taskloop untied mergeable priority(2)");
        COVER(int, 10, <, none, 1, 0, "omp taskloop");
        COVER(long, LONG_MAX - 100, <, LONG_MAX, 1, 100, "omp taskloop num_tasks(7)");
        COVER(long, 1000, >, 0, -3, 334, "omp taskloop grainsize(10)");
        COVER(unsigned long long, ULLONG_MAX - 200, <, ULLONG_MAX, 1, 200,
              "omp taskloop num_tasks(7)");
        COVER(unsigned long long, 3, <, 403, 4, 100, "omp taskloop grainsize(3)");
        COVER(unsigned long long, from, <, to, 1, 200, "omp taskloop num_tasks(9)");
        COVER(unsigned long long, from, <, to - 7, 8, 25, "omp taskloop grainsize(4)");
#ifndef __clang__ /* clang 14 does not know strict */
        COVER(int, 0, <, TRIPS, 1, TRIPS, "omp taskloop grainsize(strict: 7)");
        COVER(int, 0, <, TRIPS, 1, TRIPS, "omp taskloop num_tasks(strict: 9)");
        COVER(unsigned long long, 3, <, 403, 4, 100, "omp taskloop grainsize(strict: 3)");
#endif
    }
}

/* The construct waits for a slow task of the loop, also if another member runs it. */
static void waits(int size) {
#pragma omp parallel num_threads(size)
#pragma omp single
    for (int slow = 0; slow < 6; slow++) {
        int done = 0;
#pragma omp taskloop num_tasks(6) shared(done)
        for (int i = 0; i < 6; i++) {
            if (i == slow) pause_ms(2);
#pragma omp task shared(done)
            {
                sched_yield();
                INCREMENT(&done); /* a descendant: the group waits for it too */
            }
        }
        CHECK_EQ(GET(&done), 6);
    }
}

/* nogroup does not wait: the event of a task of the loop is fulfilled behind the construct. */
static void nogroup(int size) {
#pragma omp parallel num_threads(size)
#pragma omp single
    {
        int done = 0;
        omp_event_handle_t event;
#pragma omp taskgroup
        {
#pragma omp task detach(event) shared(done)
            INCREMENT(&done);
#pragma omp taskloop nogroup num_tasks(4) shared(done)
            for (int i = 0; i < 4; i++) INCREMENT(&done);
            omp_fulfill_event(event);
        }
        CHECK_EQ(GET(&done), 5);
    }
}

/* Private data distinguish the tasks, as each task has its own firstprivate copies. */
static void count_tasks(int size, int asked, int expected, int grain) {
    clear();
#pragma omp parallel num_threads(size)
#pragma omp single
    {
        int mine = 0; /* 0 in the first iteration of each task */
        if (asked) {
#pragma omp taskloop num_tasks(asked) firstprivate(mine)
            for (int i = 0; i < TRIPS; i++) {
                if (!mine) mine = INCREMENT(&tasks);
                task_of[i] = mine;
            }
        } else {
#pragma omp taskloop grainsize(grain) firstprivate(mine)
            for (int i = 0; i < TRIPS; i++) {
                if (!mine) mine = INCREMENT(&tasks);
                task_of[i] = mine;
            }
        }
    }
    if (asked) {
        CHECK_EQ(tasks, expected);
    } else {
        /* Each task has at least `grain` iterations, and less than twice as many. */
        int count[TRIPS + 1] = {0};
        for (int i = 0; i < TRIPS; i++) count[task_of[i]]++;
        for (int task = 1; task <= tasks; task++)
            CHECK(count[task] >= (grain < TRIPS ? grain : TRIPS) && count[task] < 2 * grain);
    }
}

#ifndef __clang__
static void strict(int size) {
    clear();
#pragma omp parallel num_threads(size)
#pragma omp single
    {
        int mine = 0;
#pragma omp taskloop grainsize(strict : 15) firstprivate(mine)
        for (int i = 0; i < TRIPS; i++) {
            if (!mine) mine = INCREMENT(&tasks);
            task_of[i] = mine;
        }
    }
    CHECK_EQ(tasks, (TRIPS + 14) / 15);
    for (int i = 0; i < TRIPS; i++) CHECK_EQ(task_of[i], task_of[i / 15 * 15]);
}
#else
#define strict(size) (void)(size)
#endif

static void reductions(int size) {
#pragma omp parallel num_threads(size)
#pragma omp single
    for (int round = 0; round < 10; round++) {
        long sum = 5;
        unsigned bits = 0;
        int last = -1;
#pragma omp taskloop reduction(+ : sum) reduction(| : bits) num_tasks(8) lastprivate(last)
        for (int i = 0; i < TRIPS; i++) {
            sum += i;
            bits |= 1u << (i % 30);
            last = i;
            if (i % 100 == 0) sched_yield();
        }
        CHECK_EQ(sum, 5 + TRIPS * (TRIPS - 1) / 2);
        CHECK_EQ(bits, (1u << 30) - 1);
        CHECK_EQ(last, TRIPS - 1);
    }
}

static void collapsed(int size) {
#pragma omp parallel num_threads(size)
#pragma omp single
    {
        clear();
#pragma omp taskloop collapse(2) grainsize(5)
        for (int i = 0; i < 20; i++)
            for (int j = 0; j < 25; j++) INCREMENT(&times[i * 25 + j]);
        expect(TRIPS);
    }
}

int main(void) {
    test_limit(50);
    for (int size = 1; size <= 4; size++) {
        coverage(size);
        waits(size);
        nogroup(size);
        count_tasks(size, 9, 9, 0);
        count_tasks(size, 10000, TRIPS, 0);
        count_tasks(size, 0, 0, 7);
        count_tasks(size, 0, 0, 400);
        strict(size);
        reductions(size);
        collapsed(size);
    }
    clear();
#pragma omp taskloop num_tasks(4) /* outside of a region */
    for (int i = 0; i < TRIPS; i++) INCREMENT(&times[i]);
    expect(TRIPS);
    return 0;
}
