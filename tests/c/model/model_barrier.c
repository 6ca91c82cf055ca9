/* core/work/barrier.c: no member leaves before all have come, round after round, in both forms of
 * the barrier. A task of a member is complete when any member leaves. */
#include "core/work/barrier.h"

#include "core/task/cancel.h"
#include "core/task/task.h"
#include "models.h"

static unsigned members, rounds;
static _Atomic int arrived[4], executed;
static int written[2]; /* written by the tasks of a round; plain, so that an early read is a race */

static void pass(unsigned number) {
    struct cst_thread *thread = models_sit(number);
    for (unsigned round = 0; round < rounds; round++) {
        cst_add_relaxed(&arrived[round], 1);
        cst_barrier(thread);
        EXPLORE_CHECK(cst_load_relaxed(&arrived[round]) == (int)members);
    }
}

static void run(void *data) {
    (void)data;
    cst_add_relaxed(&executed, 1);
}

static void note(void *data) {
    written[*(int *)data]++;
}

static void make_writer(struct cst_thread *thread, int round) {
    struct cst_task_request request = {.function = note,
                                       .data = &round,
                                       .size = sizeof round,
                                       .alignment = sizeof round,
                                       .deferrable = true};
    cst_task_create(thread, &request);
}

static void pass_with_task(unsigned number) {
    struct cst_thread *thread = models_sit(number);
    if (number == 1) make_writer(thread, 0);
    cst_barrier(thread);
    EXPLORE_CHECK(written[0] == 1);
}

/* Member 1 may leave the first barrier when the other member has reached the second, which has its
 * own task. */
static void pass_with_task_twice(unsigned number) {
    struct cst_thread *thread = models_sit(number);
    for (int round = 0; round < 2; round++) {
        if (number == 0) make_writer(thread, round);
        cst_barrier(thread);
        EXPLORE_CHECK(written[round] == 1);
    }
}

static struct cst_task *event;

static void tell_event(const struct cst_task_request *request, struct cst_task *task) {
    (void)request;
    event = task;
}

/* The last thread is no member. It fulfils the event of a task whose body has ended. */
static void pass_with_event(unsigned number) {
    if (number == members) {
        cst_current_thread = NULL;
        cst_task_fulfill(event);
        return;
    }
    cst_barrier(models_sit(number));
    EXPLORE_CHECK(cst_load_relaxed(&executed) == 1);
}

static void make_and_run(void *data) {
    struct cst_task_request request = {.function = run, .deferrable = true};
    cst_task_create(cst_self(), &request);
    run(data);
}

/* While member 0 sums, a task may make another task and end. */
static void pass_with_two_tasks(unsigned number) {
    struct cst_thread *thread = models_sit(number);
    struct cst_task_request request = {.function = make_and_run, .deferrable = true};
    if (number == 1) cst_task_create(thread, &request);
    cst_barrier(thread);
    EXPLORE_CHECK(cst_load_relaxed(&executed) == 2);
}

/* Member 0 cancels the region, and reaches none of its barriers. */
static void pass_or_cancel(unsigned number) {
    struct cst_thread *thread = models_sit(number);
    if (number == 0) cst_region_cancel(thread);
    EXPLORE_CHECK(cst_barrier_cancellable(thread));
}

static void prepare(unsigned size, unsigned times, bool crowded, bool spinning) {
    models_configure(crowded ? 1 : 8, spinning);
    models_team(size, crowded);
    members = size;
    rounds = times;
    for (int i = 0; i < 4; i++) cst_store_relaxed(&arrived[i], 0);
    cst_store_relaxed(&executed, 0);
    written[0] = written[1] = 0;
}

static void two_three_times(void) {
    prepare(2, 3, false, true);
}
static void three_once(void) {
    prepare(3, 1, false, true);
}
static void two_twice_asleep(void) {
    prepare(2, 2, false, false);
}
static void two_once_asleep(void) {
    prepare(2, 1, false, false);
}
static void three_once_asleep(void) {
    prepare(3, 1, false, false);
}
static void crowded_three_asleep(void) {
    prepare(3, 1, true, false);
}
static void crowded_two_three_times(void) {
    prepare(2, 3, true, true);
}
static void crowded_three(void) {
    prepare(3, 1, true, true);
}
static void with_tasks(void) {
    prepare(2, 1, false, true);
    models_expect_tasks();
}
static void crowded_with_tasks(void) {
    prepare(2, 1, true, true);
    models_expect_tasks();
}
static void crowded_twice_with_tasks(void) {
    prepare(2, 2, true, true);
    models_expect_tasks();
}
static void crowded_two_twice_asleep(void) {
    prepare(2, 2, true, false);
}
static void two_once_without_membarrier(void) {
    prepare(2, 1, false, false);
    machine_has_no_barrier = true;
}
static void crowded_two_without_membarrier(void) {
    prepare(2, 1, true, false);
    machine_has_no_barrier = true;
}
static void with_tasks_without_membarrier(void) {
    two_once_without_membarrier();
    models_expect_tasks();
}
static void with_event_without_membarrier(void) {
    struct cst_task_request request = {
        .function = run, .deferrable = true, .tell_event = tell_event};
    with_tasks_without_membarrier();
    cst_task_create(models_sit(0), &request);
    cst_task_run_any(cst_self());
}
static void crowded_with_tasks_without_membarrier(void) {
    crowded_two_without_membarrier();
    models_expect_tasks();
}

int models_run(void) {
    const struct explore_model models[] = {
        {"barrier, two members, three times, spinning", two_three_times, pass, NULL, .threads = 2},
        {"barrier, three members, spinning", three_once, pass, NULL, .threads = 3},
        {"barrier, two members, twice", two_twice_asleep, pass, NULL, .threads = 2},
        {"central barrier, two members, three times, spinning", crowded_two_three_times, pass, NULL,
         .threads = 2},
        {"central barrier, three members, spinning", crowded_three, pass, NULL, .threads = 3},
        {"central barrier, two members, twice", crowded_two_twice_asleep, pass, NULL, .threads = 2},
        {"barrier, cancelled, two members", two_once_asleep, pass_or_cancel, NULL, .threads = 2},
        {"barrier, cancelled, three members", three_once_asleep, pass_or_cancel, NULL, .threads = 3,
         .executions = 50000},
        {"central barrier, cancelled, three members", crowded_three_asleep, pass_or_cancel, NULL,
         .threads = 3, .executions = 50000},
        {"barrier with a task, spinning", with_tasks, pass_with_task, NULL, .threads = 2},
        {"barrier with a task that makes another, spinning", with_tasks, pass_with_two_tasks, NULL,
         .threads = 2, .executions = 50000},
        {"central barrier with a task, spinning", crowded_with_tasks, pass_with_task, NULL,
         .threads = 2},
        {"central barrier with a task, twice, spinning", crowded_twice_with_tasks,
         pass_with_task_twice, NULL, .threads = 2, .executions = 50000},
        {"barrier, without membarrier", two_once_without_membarrier, pass, NULL, .threads = 2},
        {"central barrier, without membarrier", crowded_two_without_membarrier, pass, NULL,
         .threads = 2},
        {"barrier, cancelled, without membarrier", two_once_without_membarrier, pass_or_cancel,
         NULL, .threads = 2},
        {"barrier with a task, without membarrier", with_tasks_without_membarrier, pass_with_task,
         NULL, .threads = 2, .executions = 50000},
        {"barrier with an event, without membarrier", with_event_without_membarrier,
         pass_with_event, NULL, .threads = 3, .executions = 50000},
        {"central barrier with a task, without membarrier", crowded_with_tasks_without_membarrier,
         pass_with_task, NULL, .threads = 2, .executions = 50000},
    };
    for (unsigned i = 0; i < sizeof models / sizeof *models; i++)
        if (!explore(&models[i])) return 1;
    return 0;
}
