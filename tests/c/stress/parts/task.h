/* Steps that make tasks: trees, dependences, groups, loops of tasks, events, reductions. */
#ifndef STRESS_TASK_H
#define STRESS_TASK_H

#include "region.h"

static int tree_sum(int depth, unsigned number) {
    int left = 0, right = 0;
    delay_task(number);
    if (depth == 0) return 1;
#pragma omp task shared(left) firstprivate(depth, number) if (depth > 1) untied
    left = tree_sum(depth - 1, 2 * number);
#pragma omp task shared(right) firstprivate(depth, number) final(depth == 1)
    right = tree_sum(depth - 1, 2 * number + 1);
#pragma omp taskwait
    return left + right; /* plain: taskwait orders them */
}

/* Each member makes a tree of tasks, or one member does. */
static void step_tree(struct member *m, struct slot *slot) {
    int depth = (int)draw(&m->common, 6);
    if (draw(&m->common, 2)) {
        if (m->number == 0) slot->expected = m->region->size << depth;
        int sum = tree_sum(depth, draw(&m->own, 1000));
        CHECK_EQ(sum, 1 << depth);
        __atomic_add_fetch(&slot->count, sum, __ATOMIC_RELAXED);
    } else {
        if (m->number == 0) slot->expected = 1 << depth;
#pragma omp single nowait
        {
#pragma omp task
            {
                int sum = tree_sum(depth, 1);
                CHECK_EQ(sum, 1 << depth);
                __atomic_add_fetch(&slot->count, sum, __ATOMIC_RELAXED);
            }
        }
    }
}

/* Makes tasks and waits for none: a barrier, or the end of the region, completes them. */
static void leave_tasks(struct slot *slot, int depth) {
    INCREMENT(&slot->count);
    if (depth == 0) return;
    for (int child = 0; child < 2; child++) {
#pragma omp task firstprivate(slot, depth)
        leave_tasks(slot, depth - 1);
    }
}

static void step_left_behind(struct member *m, struct slot *slot) {
    int depth = 1 + (int)draw(&m->common, 5), wait = (int)draw(&m->common, 2);
    int all = m->region->size * ((2 << depth) - 1);
    if (m->number == 0) slot->expected = all;
    leave_tasks(slot, depth);
    if (wait) {
#pragma omp barrier
        CHECK_EQ(GET(&slot->count), all);
    }
}

static void step_taskgroup(struct member *m, struct slot *slot) {
    int depth = 1 + (int)draw(&m->common, 4);
    struct slot mine = {0};
    (void)slot;
#pragma omp taskgroup
    leave_tasks(&mine, depth);
    CHECK_EQ(GET(&mine.count), (2 << depth) - 1);
}

/* A chain of tasks, with two readers between its links. Each reader has its own count, without
 * atomics: the next link depends on both readers, so it sees both counts. */
static void step_depend(struct member *m, struct slot *slot) {
    int links = 1 + (int)draw(&m->common, 12), value = 0, read[2] = {0};
    (void)slot;
    for (int link = 0; link < links; link++) {
#pragma omp task depend(inout : value) shared(value, read) firstprivate(link)
        {
            CHECK_EQ(value, link);
            CHECK_EQ(read[0], link);
            CHECK_EQ(read[1], link);
            delay_task((unsigned)link);
            value++;
        }
        for (int reader = 0; reader < 2; reader++) {
#pragma omp task depend(in : value) shared(value, read) firstprivate(link, reader)
            {
                CHECK_EQ(value, link + 1);
                read[reader]++;
            }
        }
    }
#pragma omp taskwait
    CHECK_EQ(value, links);
    CHECK_EQ(read[0] + read[1], 2 * links);
}

static void step_taskloop(struct member *m, struct slot *slot) {
    int trips = 1 + (int)draw(&m->common, 50), grain = 1 + (int)draw(&m->common, 9);
    int sum = 0;
    (void)slot;
#pragma omp taskloop grainsize(grain) reduction(+ : sum)
    for (int i = 0; i < trips; i++) {
        delay_task((unsigned)i);
        sum += i;
    }
    CHECK_EQ(sum, trips * (trips - 1) / 2);
}

/* Another task fulfils the event, in whichever member runs that task. */
static void step_detach(struct member *m, struct slot *slot) {
    omp_event_handle_t event;
    int done = 0, behind = 0;
    (void)slot;
    (void)m;
#pragma omp taskgroup
    {
#pragma omp task detach(event) depend(out : done) shared(done)
        done = 1;
#pragma omp task firstprivate(event)
        {
            delay_task(1);
            omp_fulfill_event(event);
        }
#pragma omp task depend(in : done) shared(done, behind)
        behind = done;
    }
    CHECK_EQ(behind, 1);
}

static void step_task_reduction(struct member *m, struct slot *slot) {
    int tasks = 1 + (int)draw(&m->common, 20), sum = 0;
    (void)slot;
#pragma omp taskgroup task_reduction(+ : sum)
    for (int task = 0; task < tasks; task++) {
#pragma omp task in_reduction(+ : sum) firstprivate(task)
        {
            delay_task((unsigned)task);
            sum += task;
        }
    }
    CHECK_EQ(sum, tasks * (tasks - 1) / 2);
}

/* A cancelled group ends: each of its tasks has run by then, or never runs. */
static void step_cancel_group(struct member *m, struct slot *slot) {
    int tasks = 1 + (int)draw(&m->common, 30), begun = 0, ended = 0;
    (void)slot;
#pragma omp taskgroup
    for (int task = 0; task < tasks; task++) {
#pragma omp task shared(begun, ended) firstprivate(task, tasks)
        {
            INCREMENT(&begun);
            if (task == tasks / 2) {
                INCREMENT(&ended);
#pragma omp cancel taskgroup
                DECREMENT(&ended);
            }
            INCREMENT(&ended);
        }
    }
    int seen = GET(&begun);
    delay(m);
    CHECK_EQ(GET(&begun), seen);
    CHECK_EQ(GET(&ended), seen);
}

#endif
