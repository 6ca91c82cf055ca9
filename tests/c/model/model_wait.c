/* core/wait/wait.c: no wake-up is lost, whichever condition of a member changes. A wake-up for an
 * old wait does no harm to the next wait. */
#include "core/wait/wait.h"

#include "core/wait/apart.h"
#include "core/work/barrier.h"
#include "core/task/task.h"
#include "models.h"

static _Atomic uint32_t word[2];
static _Atomic int executed;

static void change(unsigned which, uint32_t value) {
    cst_exchange_seq_cst(&word[which], value); /* K1 */
    cst_wake(cst_team_seat(cst_self()->team, 1));
}

static void two_waits(unsigned number) {
    struct cst_thread *thread = models_sit(number);
    if (number == 1) {
        cst_wait_word(thread, &word[0], 1);
        cst_wait_word(thread, &word[0], 2);
    } else {
        change(0, 1);
        change(0, 2);
    }
}

/* Two members change the words for which a third waits, in either order. */
static void two_wakers(unsigned number) {
    struct cst_thread *thread = models_sit(number);
    if (number == 1) {
        cst_wait_word(thread, &word[0], 1);
        cst_wait_word(thread, &word[1], 1);
    } else {
        change(number / 2, 1);
    }
}

static void run(void *data) {
    (void)data;
    cst_add_relaxed(&executed, 1);
}

/* A new task wakes a member that sleeps at a barrier. The maker of the task does not execute it,
 * and goes on only after its execution. */
static void new_task(unsigned number) {
    struct cst_thread *thread = models_sit(number);
    if (number == 1) {
        struct cst_wait wait = {
            .holds = cst_wait_word_holds, .help = cst_task_help, .word = &word[0], .target = 1};
        if (!cst_reached(&word[0], 1)) cst_wait(thread, &wait);
        return;
    }
    struct cst_task_request request = {.function = run, .deferrable = true};
    cst_task_create(thread, &request);
    while (!cst_load_relaxed(&executed)) explore_spin(EXPLORE_AT("executed?"));
    change(0, 1);
}

static struct cst_task *task;

/* A thread that is no member makes the new task ready, like a thread that fulfils an event. */
static void foreign_task(unsigned number) {
    if (number == 1) {
        new_task(number);
        return;
    }
    struct cst_team *team = task->team;
    cst_current_thread = NULL;
    cst_task_ready(cst_self(), task);
    while (!cst_load_relaxed(&executed)) explore_spin(EXPLORE_AT("executed?"));
    cst_exchange_seq_cst(&word[0], 1);
    cst_wake(cst_team_seat(team, 1));
}

static void setup_two(void) {
    models_configure(8, false);
    models_team(2, false);
}

static void setup_tasks(void) {
    setup_two();
    models_expect_tasks();
}

static void setup_foreign_task(void) {
    struct cst_task_request request = {.function = run, .deferrable = true};
    setup_two();
    task = cst_task_allocate(models_sit(0), &request, 0);
    task->deferred = true;
}

static void setup_three(void) {
    models_configure(8, false);
    models_team(3, false);
}

/* The waker moves the woken member to another processor. */
static void setup_two_parted(void) {
    setup_two();
    cst_store_relaxed(&cst_apart_wakes_here, true);
}

static void setup_three_parted(void) {
    setup_three();
    cst_store_relaxed(&cst_apart_wakes_here, true);
}

int models_run(void) {
    const struct explore_model models[] = {
        {"wait, twice", setup_two, two_waits, NULL, .threads = 2},
        {"wait, two wakers", setup_three, two_wakers, NULL, .threads = 3},
        {"wait, twice, parted", setup_two_parted, two_waits, NULL, .threads = 2},
        {"wait, two wakers, parted", setup_three_parted, two_wakers, NULL, .threads = 3},
        {"wait, a new task", setup_tasks, new_task, NULL, .threads = 2},
        {"wait, a task of another thread", setup_foreign_task, foreign_task, NULL, .threads = 2,
         .executions = 50000},
    };
    for (unsigned i = 0; i < sizeof models / sizeof *models; i++)
        if (!explore(&models[i])) return 1;
    return 0;
}
