/* core/task/steal.c: a task that is handed over is taken once, by the member whose box was open. No
 * task stays in a closed box, and none comes into a box of an earlier region. */
#include "core/task/steal.h"

#include "core/task/task.h"
#include "core/wait/box.h"
#include "models.h"

#include <string.h>

enum { TASKS = 2 };

static struct cst_task task[TASKS + 1];
static bool handed[TASKS + 1];
static int got[TASKS + 1];

static void give(unsigned number) {
    struct cst_thread *thread = models_sit(number);
    task[number].priority = (int32_t)number;
    handed[number] = cst_box_hand(thread, &task[number]);
}

static void keep(struct cst_task *found) {
    if (!found) return;
    EXPLORE_CHECK(found >= task && found <= task + TASKS);
    EXPLORE_CHECK(found->priority == (int32_t)(found - task));
    got[found - task]++;
}

static void owner_and_givers(unsigned number) {
    if (number > 0) {
        give(number);
        return;
    }
    struct cst_seat *seat = models_sit(0)->seat;
    for (int i = 0; i < 2; i++) {
        cst_box_open(seat);
        keep(cst_box_take(seat));
    }
    if (!cst_box_close(seat)) keep(cst_box_take(seat));
    EXPLORE_CHECK(!cst_box_take(seat));
}

/* A member that finds a task to steal closes its box first. It gets the stolen task or a given
 * task, never both. */
static void thief_and_givers(unsigned number) {
    if (number > 0) {
        give(number);
        return;
    }
    struct cst_thread *thread = models_sit(0);
    cst_box_open(thread->seat);
    struct cst_task *stolen = cst_steal_any(thread), *given = NULL;
    if (!cst_box_close(thread->seat)) given = cst_box_take(thread->seat);
    EXPLORE_CHECK(!stolen || !given);
    keep(stolen);
    keep(given);
}

static void setup(unsigned size) {
    models_configure(8, true);
    models_team(size, false);
    models_enlarge();
    models_expect_tasks();
    memset(task, 0, sizeof task);
    memset(handed, 0, sizeof handed);
    memset(got, 0, sizeof got);
}

static void two(void) {
    setup(2);
}
static void three(void) {
    setup(3);
}

/* The last task stands for an earlier task of the first giver. */
static void with_one_to_steal(void) {
    setup(2);
    task[TASKS].priority = TASKS;
    cst_deque_push(&models_sit(1)->seat->deque, &task[TASKS]);
    models_sit(0);
}

static void stale(void) {
    setup(2);
    cst_box_open(models_sit(0)->seat);
    models_sit(1)->seat->region++;
    models_sit(0);
}

static void give_late(unsigned number) {
    if (number == 1) give(1);
}

static void as_handed(void) {
    for (int i = 1; i <= TASKS; i++) EXPLORE_CHECK(got[i] == handed[i]);
}
static void at_most_once(void) {
    EXPLORE_CHECK(got[1] == handed[1] && got[TASKS] <= 1);
}
static void refused(void) {
    EXPLORE_CHECK(!handed[1]);
}

int models_run(void) {
    const struct explore_model models[] = {
        {"box, one giver", two, owner_and_givers, as_handed, .threads = 2},
        {"box, two givers", three, owner_and_givers, as_handed, .threads = 3},
        {"box, and something to steal", with_one_to_steal, thief_and_givers, at_most_once,
         .threads = 2},
        {"box of an earlier region", stale, give_late, refused, .threads = 2},
    };
    for (unsigned i = 0; i < sizeof models / sizeof *models; i++)
        if (!explore(&models[i])) return 1;
    return 0;
}
