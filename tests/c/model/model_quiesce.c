/* core/task/quiesce.c in a large team: no member leaves a barrier, and no master a region, before
 * all tasks are complete. This includes tasks that other tasks make, that are handed over, or that
 * another thread completes. Each member has one child in the tree, so that three members are a tree
 * of depth two.
 *
 * model: flags -DCST_TREE_ARITY=1 */
#include "core/task/quiesce.h"

#include "core/task/task.h"
#include "core/wait/wait.h"
#include "models.h"

enum { MOST_TASKS = 3 };

static _Atomic int executed;
static _Atomic uint32_t ended;
static int expected;
static bool ran[MOST_TASKS];
static void *event;

static void run(void *data) {
    (void)data;
    ran[cst_add_relaxed(&executed, 1)] = true;
}

/* By plain reads: a thread that goes on sees the writes of the tasks. */
static void check_tasks(void) {
    EXPLORE_CHECK(cst_load_relaxed(&executed) == expected);
    for (int i = 0; i < expected; i++) EXPLORE_CHECK(ran[i]);
}

static void make_and_run(void *data) {
    struct cst_task_request request = {.function = run, .deferrable = true};
    cst_task_create(cst_self(), &request);
    run(data);
}

/* While a member's first sum travels up the tree, the member runs this task and makes two more, and
 * another member runs one of these. The sum says 1 made and 1 done, but one task is left. */
static void make_two_and_run(void *data) {
    struct cst_task_request request = {.function = run, .deferrable = true};
    cst_task_create(cst_self(), &request);
    cst_task_create(cst_self(), &request);
    run(data);
}

/* All members have arrived at a barrier, and some have made tasks before. */
static void at_barrier(unsigned number) {
    struct cst_thread *thread = models_sit(number);
    cst_quiesce(thread);
    cst_task_stop_helping(thread);
    check_tasks();
}

/* All members are at a region's end, where the workers wait for the next region. */
static void at_end(unsigned number) {
    struct cst_thread *thread = models_sit(number);
    if (number > 0) {
        struct cst_wait wait = {
            .holds = cst_wait_word_holds, .help = cst_quiesce_help, .word = &ended, .target = 1};
        if (!cst_reached(&ended, 1)) cst_wait(thread, &wait);
        return;
    }
    cst_quiesce_region(thread);
    check_tasks();
    cst_exchange_seq_cst(&ended, 1);
    cst_team_wake(thread->team);
}

/* The last thread is no member; it fulfils an event. */
static void with_event(unsigned number) {
    if (number == 2) {
        cst_current_thread = NULL;
        cst_task_fulfill(event);
        return;
    }
    at_barrier(number);
}

static void prepare(unsigned size, bool spinning) {
    models_configure(8, spinning);
    models_team(size, false);
    models_enlarge();
    models_expect_tasks();
    cst_store_relaxed(&executed, 0);
    cst_store_relaxed(&ended, 0);
    expected = 0;
    for (int i = 0; i < MOST_TASKS; i++) ran[i] = false;
}

static void make(unsigned member, cst_task_function *function, int tasks) {
    struct cst_task_request request = {.function = function, .deferrable = true};
    cst_task_create(models_sit(member), &request);
    expected += tasks;
    models_sit(0);
}

static void two(void) {
    prepare(2, true);
    make(1, run, 1);
}
static void two_asleep(void) {
    prepare(2, false);
    make(1, run, 1);
}
static void two_without_membarrier(void) {
    two_asleep();
    machine_has_no_barrier = true;
}
static void two_with_two(void) {
    prepare(2, true);
    make(1, make_and_run, 2);
}
static void three(void) {
    prepare(3, true);
    make(2, run, 1);
}
static void three_with_two(void) {
    prepare(3, true);
    make(0, make_and_run, 2);
}
static void two_with_three(void) {
    prepare(2, true);
    make(0, make_two_and_run, 3);
}
static void tell_event(const struct cst_task_request *request, struct cst_task *task) {
    (void)request;
    event = task;
}

static void prepare_event(bool spinning) {
    prepare(2, spinning);
    struct cst_task_request request = {
        .function = run, .deferrable = true, .tell_event = tell_event};
    cst_task_create(models_sit(1), &request);
    expected = 1;
    models_sit(0);
}
static void two_and_event(void) {
    prepare_event(true);
}
static void two_and_event_without_membarrier(void) {
    prepare_event(false);
    machine_has_no_barrier = true;
}

int models_run(void) {
    enum { LIMIT = 50000 };
    const struct explore_model models[] = {
        {"tree of two, a task", two, at_barrier, NULL, .threads = 2, .executions = LIMIT},
        {"tree of two, a task, asleep", two_asleep, at_barrier, NULL, .threads = 2,
         .executions = LIMIT},
        {"tree of two, a task that makes another", two_with_two, at_barrier, NULL, .threads = 2,
         .executions = LIMIT},
        {"tree of two, a task that makes two", two_with_three, at_barrier, NULL, .threads = 2,
         .executions = 50000},
        {"tree of three, a task", three, at_barrier, NULL, .threads = 3, .executions = LIMIT},
        {"tree of three, a task that makes another", three_with_two, at_barrier, NULL, .threads = 3,
         .executions = LIMIT},
        {"tree of two, an event", two_and_event, with_event, NULL, .threads = 3,
         .executions = LIMIT},
        {"tree of two, a task, without membarrier", two_without_membarrier, at_barrier, NULL,
         .threads = 2, .executions = LIMIT},
        {"tree of two, an event, without membarrier", two_and_event_without_membarrier, with_event,
         NULL, .threads = 3, .executions = LIMIT},
        {"tree of two, end of a region", two_with_two, at_end, NULL, .threads = 2,
         .executions = LIMIT},
        {"tree of two, end of a region, asleep", two_asleep, at_end, NULL, .threads = 2,
         .executions = LIMIT},
        {"tree of three, end of a region", three_with_two, at_end, NULL, .threads = 3,
         .executions = LIMIT},
    };
    for (unsigned i = 0; i < sizeof models / sizeof *models; i++)
        if (!explore(&models[i])) return 1;
    return 0;
}
