/* core/barrier.c: nobody leaves before all have come, round after round, in both forms of the
 * barrier; a task that one member made is complete when any of them leaves. */
#include "core/barrier.h"

#include "core/task.h"
#include "models.h"

static unsigned members, rounds;
static int arrived[4], executed;

static void pass(unsigned number) {
    struct cst_thread *thread = models_sit(number);
    for (unsigned round = 0; round < rounds; round++) {
        __atomic_add_fetch(&arrived[round], 1, __ATOMIC_RELAXED);
        cst_barrier(thread);
        EXPLORE_CHECK(arrived[round] == (int)members);
    }
}

static void run(void *data) {
    (void)data;
    executed++;
}

static void pass_with_task(unsigned number) {
    struct cst_thread *thread = models_sit(number);
    struct cst_task_request request = {.function = run, .deferrable = true};
    if (number == 1) cst_task_create(thread, &request);
    cst_barrier(thread);
    EXPLORE_CHECK(executed == 1);
}

static void prepare(unsigned size, unsigned times, bool crowded) {
    models_configure(crowded ? 1 : 8);
    models_team(size, crowded);
    members = size;
    rounds = times;
    for (int i = 0; i < 4; i++) arrived[i] = 0;
    executed = 0;
}

static void two_three_times(void) {
    prepare(2, 3, false);
}
static void three_twice(void) {
    prepare(3, 2, false);
}
static void two_three_times_crowded(void) {
    prepare(2, 3, true);
}
static void three_twice_crowded(void) {
    prepare(3, 2, true);
}

int models_run(void) {
    const struct explore_model models[] = {
        {"barrier, two members, three times", two_three_times, pass, NULL, .threads = 2,
         .preemptions = 3},
        {"barrier, three members, twice", three_twice, pass, NULL, .threads = 3, .preemptions = 2,
         .in_order = true},
        {"central barrier, two members, three times", two_three_times_crowded, pass, NULL,
         .threads = 2, .preemptions = 3},
        {"central barrier, three members, twice", three_twice_crowded, pass, NULL, .threads = 3,
         .preemptions = 2, .in_order = true},
        {"barrier with a task", two_three_times, pass_with_task, NULL, .threads = 2,
         .preemptions = 3},
        {"central barrier with a task", two_three_times_crowded, pass_with_task, NULL, .threads = 2,
         .preemptions = 3},
    };
    for (unsigned i = 0; i < sizeof models / sizeof *models; i++)
        if (!explore(&models[i])) return 1;
    return 0;
}
