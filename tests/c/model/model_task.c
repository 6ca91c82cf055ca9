/* core/task: a member that waits for its children, for a group or for a predecessor sees their
 * writes, whichever member ran them. A task with an event is complete when its body has ended and
 * the event is fulfilled. */
#include "core/task/task.h"

#include "core/task/cancel.h"
#include "core/task/depend.h"
#include "core/task/group.h"
#include "models.h"

#include <string.h>

static int written[4], ran;
static struct cst_task *event;
static char object;

static void note(void *data) {
    written[*(int *)data]++;
}

static void note_first(void *data) {
    (void)data;
    written[0]++;
}

static struct cst_task_request writer(int *which) {
    return (struct cst_task_request){.function = note,
                                     .data = which,
                                     .size = sizeof *which,
                                     .alignment = sizeof *which,
                                     .deferrable = true};
}

static void make(int which) {
    struct cst_task_request request = writer(&which);
    cst_task_create(cst_self(), &request);
}

static void make_another(void *data) {
    make(*(int *)data + 1);
    note(data);
}

/* The other member looks for work twice. */
static void help(unsigned number) {
    struct cst_thread *thread = models_sit(number);
    cst_task_run_any(thread);
    cst_task_run_any(thread);
}

static void children(unsigned number) {
    if (number > 0) {
        help(number);
        return;
    }
    struct cst_thread *thread = models_sit(number);
    make(0);
    make(1);
    cst_task_wait_children(thread);
    EXPLORE_CHECK(written[0] == 1 && written[1] == 1);
}

/* The group also waits for the tasks that its tasks make. */
static void group(unsigned number) {
    if (number > 0) {
        help(number);
        return;
    }
    struct cst_thread *thread = models_sit(number);
    struct cst_group group;
    int which = 0;
    cst_group_begin(thread, &group);
    struct cst_task_request request = writer(&which);
    request.function = make_another;
    cst_task_create(thread, &request);
    cst_group_end(thread);
    EXPLORE_CHECK(written[0] == 1 && written[1] == 1);
}

static void *addresses[] = {&object};

static struct cst_depend_list one_address(enum cst_depend_kind kind) {
    return (struct cst_depend_list){
        .out = kind == CST_DEPEND_OUT, .plain = 1, .count = 1, .address = addresses};
}

static void follow(void *data) {
    EXPLORE_CHECK(written[0] == 1);
    note(data);
}

static void make_dependent(cst_task_function *function, int which, enum cst_depend_kind kind) {
    struct cst_depend_list list = one_address(kind);
    struct cst_task_request request = writer(&which);
    request.function = function;
    request.depend = &list;
    cst_task_create(cst_self(), &request);
}

/* Two readers follow a writer, and a writer follows them. */
static void last(void *data) {
    EXPLORE_CHECK(written[1] == 1 && written[2] == 1);
    note(data);
}

static void depend(unsigned number) {
    if (number > 0) {
        help(number);
        return;
    }
    struct cst_thread *thread = models_sit(number);
    make_dependent(note, 0, CST_DEPEND_OUT);
    make_dependent(follow, 1, CST_DEPEND_IN);
    cst_task_wait_children(thread);
    EXPLORE_CHECK(written[1] == 1);
}

static void depend_both(unsigned number) {
    if (number > 0) {
        help(number);
        return;
    }
    struct cst_thread *thread = models_sit(number);
    make_dependent(note, 0, CST_DEPEND_OUT);
    make_dependent(follow, 1, CST_DEPEND_IN);
    make_dependent(follow, 2, CST_DEPEND_IN);
    make_dependent(last, 3, CST_DEPEND_OUT);
    cst_task_wait_children(thread);
    EXPLORE_CHECK(written[3] == 1);
}

/* Makes a task that runs where it is made; its parent's memory is new. */
static void make_in_place(void *data) {
    int which = *(int *)data + 1;
    struct cst_task_request request = writer(&which);
    cst_task_create(cst_self(), &request);
}

static void late_look(unsigned number) {
    struct cst_thread *thread = models_sit(number);
    if (number > 0) {
        cst_task_yield(thread); /* would run descendants of its own tasks; there are none */
        return;
    }
    int large[100] = {0};
    struct cst_task_request request = {.function = make_in_place,
                                       .data = large,
                                       .size = sizeof large,
                                       .alignment = sizeof *large,
                                       .deferrable = true};
    make(0);
    while (cst_task_run_any(thread)) continue;
    cst_task_create(thread, &request);
    while (cst_task_run_any(thread)) continue;
    EXPLORE_CHECK(written[0] == 1 && written[1] == 1);
}

/* Waits for a predecessor that another member may run. */
static void depend_await(unsigned number) {
    if (number > 0) {
        help(number);
        return;
    }
    struct cst_thread *thread = models_sit(number);
    struct cst_depend_list list = one_address(CST_DEPEND_IN);
    make_dependent(note, 0, CST_DEPEND_OUT);
    cst_task_wait_depend(thread, &list);
    EXPLORE_CHECK(written[0] == 1);
    cst_task_wait_children(thread);
}

/* Thread 1 is no member. It fulfils the event, and its earlier writes must be seen. */
static void detach(unsigned number) {
    if (number == 1) {
        cst_current_thread = NULL;
        written[1] = 1;
        cst_task_fulfill(event);
        return;
    }
    struct cst_thread *thread = models_sit(number);
    cst_task_wait_children(thread);
    EXPLORE_CHECK(written[0] == 1 && written[1] == 1);
}

/* Member 1 runs the task, and thread 2, which is no member, fulfils the event. */
static void detach_elsewhere(unsigned number) {
    if (number == 2) {
        cst_current_thread = NULL;
        cst_task_fulfill(event);
    } else if (number == 1) {
        cst_task_run_any(models_sit(number));
    } else {
        cst_task_wait_children(models_sit(number));
        EXPLORE_CHECK(written[0] == 1);
    }
}

/* The event completes a task on which another task depends. A thread that is no member makes that
 * task ready.
 */
static void detach_before(unsigned number) {
    if (number == 1) {
        cst_current_thread = NULL;
        cst_task_fulfill(event);
        return;
    }
    struct cst_thread *thread = models_sit(number);
    cst_task_wait_children(thread);
    EXPLORE_CHECK(written[0] == 1 && written[1] == 1);
}

/* An undeferred task waits for its event itself. */
static void detach_at_once(unsigned number) {
    if (number == 1) {
        cst_current_thread = NULL;
        written[1] = 1;
        cst_task_fulfill(event);
        return;
    }
    cst_task_end(models_sit(number), event);
    EXPLORE_CHECK(written[1] == 1);
}

static void count(void *data) {
    (void)data;
    ran++;
}

/* A task of a cancelled group does not run if it was not begun; the end of the group still waits.
 */
static void cancel(void *data) {
    struct cst_group *group = cst_group_to_cancel(cst_self()->task->open_group);
    cst_store_relaxed(&group->cancelled, 1);
    note(data);
}

static void cancelled(unsigned number) {
    if (number > 0) {
        help(number);
        return;
    }
    struct cst_thread *thread = models_sit(number);
    struct cst_group group;
    int which = 0;
    struct cst_task_request counter = {.function = count, .deferrable = true};
    cst_group_begin(thread, &group);
    struct cst_task_request request = writer(&which);
    request.function = cancel;
    cst_task_create(thread, &counter);
    cst_task_create(thread, &request);
    cst_group_end(thread);
    EXPLORE_CHECK(written[0] <= 1 && ran <= 1);
}

static void prepare(bool spinning) {
    models_configure(8, spinning);
    models_team(2, false);
    models_expect_tasks();
    memset(written, 0, sizeof written);
    ran = 0;
}
static void spinning(void) {
    prepare(true);
}
static void asleep(void) {
    prepare(false);
}
static void keep_event(const struct cst_task_request *request, struct cst_task *made) {
    (void)request;
    event = made;
}
static void prepare_event(bool spinning) {
    prepare(spinning);
    struct cst_task_request request = {
        .function = note_first, .deferrable = true, .tell_event = keep_event};
    cst_task_create(models_sit(0), &request);
}
static void with_event(void) {
    prepare_event(true);
}
static void with_event_asleep(void) {
    prepare_event(false);
}
static void without_membarrier(void) {
    prepare(false);
    machine_has_no_barrier = true;
}
static void with_event_without_membarrier(void) {
    prepare_event(false);
    machine_has_no_barrier = true;
}
static void with_event_before(bool barrier) {
    struct cst_depend_list list = one_address(CST_DEPEND_OUT);
    prepare(false);
    machine_has_no_barrier = !barrier;
    cst_store_relaxed(&cst_self()->team->tasking, 0);
    struct cst_task_request request = {
        .function = note_first, .deferrable = true, .tell_event = keep_event, .depend = &list};
    models_sit(0);
    cst_task_create(cst_self(), &request);
    make_dependent(follow, 1, CST_DEPEND_IN);
    cst_task_run_any(cst_self()); /* runs the body of the first task; its event comes later */
    cst_store_relaxed(&cst_self()->team->tasking, 0);
}
static void before_another(void) {
    with_event_before(true);
}
static void before_another_without_membarrier(void) {
    with_event_before(false);
}
static void not_deferred(void) {
    prepare(false);
    struct cst_task_request request = {.function = note_first, .tell_event = keep_event};
    event = cst_task_allocate(models_sit(0), &request, 0);
    cst_task_begin(cst_self(), event);
}
static void not_deferred_without_membarrier(void) {
    not_deferred();
    machine_has_no_barrier = true;
}
static void cancellable(void) {
    prepare(true);
    cst_config.cancellation = true;
}

int models_run(void) {
    enum { LIMIT = 50000 };
    const struct explore_model models[] = {
        {"task, children, spinning", spinning, children, NULL, .threads = 2, .executions = LIMIT},
        {"task, children", asleep, children, NULL, .threads = 2, .executions = LIMIT},
        {"task, a group, spinning", spinning, group, NULL, .threads = 2, .executions = LIMIT},
        {"task, a group", asleep, group, NULL, .threads = 2, .executions = LIMIT},
        {"task, wait for a predecessor", asleep, depend_await, NULL, .threads = 2,
         .executions = LIMIT},
        {"task, a dependence, spinning", spinning, depend, NULL, .threads = 2, .executions = LIMIT},
        {"task, four dependences, spinning", spinning, depend_both, NULL, .threads = 2,
         .executions = LIMIT},
        {"task, wait for a predecessor, spinning", spinning, depend_await, NULL, .threads = 2,
         .executions = LIMIT},
        {"task, an event, spinning", with_event, detach, NULL, .threads = 2, .executions = LIMIT},
        {"task, an event", with_event_asleep, detach, NULL, .threads = 2, .executions = LIMIT},
        {"task, an event, another member runs it", with_event, detach_elsewhere, NULL, .threads = 3,
         .executions = LIMIT},
        {"task, an event before another task", before_another, detach_before, NULL, .threads = 2,
         .executions = LIMIT},
        {"task, an event of a task at once", not_deferred, detach_at_once, NULL, .threads = 2,
         .executions = LIMIT},
        {"task, children, without membarrier", without_membarrier, children, NULL, .threads = 2,
         .executions = LIMIT},
        {"task, a group, without membarrier", without_membarrier, group, NULL, .threads = 2,
         .executions = LIMIT},
        {"task, wait for a predecessor, without membarrier", without_membarrier, depend_await, NULL,
         .threads = 2, .executions = LIMIT},
        {"task, an event, without membarrier", with_event_without_membarrier, detach, NULL,
         .threads = 2, .executions = LIMIT},
        {"task, an event before another task, without membarrier",
         before_another_without_membarrier, detach_before, NULL, .threads = 2, .executions = LIMIT},
        {"task, an event of a task at once, without membarrier", not_deferred_without_membarrier,
         detach_at_once, NULL, .threads = 2, .executions = LIMIT},
        {"task, a late look at parents, spinning", spinning, late_look, NULL, .threads = 2,
         .executions = LIMIT},
        {"task, a cancelled group, spinning", cancellable, cancelled, NULL, .threads = 2,
         .executions = LIMIT},
    };
    for (unsigned i = 0; i < sizeof models / sizeof *models; i++)
        if (!explore(&models[i])) return 1;
    return 0;
}
