/* core/task/queue.c: a task with a priority is taken once, by a member that sees the writes from
 * before it was queued. A member that looks finds the queue set up, whichever member made it. */
#include "core/task/queue.h"

#include "models.h"

#include <string.h>

enum { MOST = 3 };

static struct cst_team *team;
static struct cst_task task[MOST];
static int taken[MOST], expected;

static void push(unsigned number) {
    task[number].priority = (int32_t)number + 1;
    EXPLORE_CHECK(cst_queue_push(team, &task[number]));
}

static struct cst_task *take(void) {
    struct cst_task *found = cst_queue_take(team, NULL, NULL);
    if (!found) return NULL;
    EXPLORE_CHECK(found->priority == found - task + 1);
    EXPLORE_CHECK(++taken[found - task] == 1);
    return found;
}

static void maker_and_taker(unsigned number) {
    if (number == 0) {
        push(0);
    } else {
        take();
    }
}

static void two_makers(unsigned number) {
    push(number);
    take();
}

static void two_makers_and_taker(unsigned number) {
    if (number < 2)
        push(number);
    else
        take();
}

/* The more urgent of two queued tasks is taken first, if both were queued before the look. */
static void most_urgent_first(unsigned number) {
    if (number == 0) {
        push(0);
        push(1);
        push(2);
        return;
    }
    struct cst_task *first = take(), *second = take();
    if (first == &task[2] && second) EXPLORE_CHECK(second == &task[1]);
}

static void setup(int tasks) {
    models_configure(8, true);
    team = models_team(2, false);
    memset(task, 0, sizeof task);
    memset(taken, 0, sizeof taken);
    expected = tasks;
}
static void one(void) {
    setup(1);
}
static void two(void) {
    setup(2);
}
static void three(void) {
    setup(3);
}

static void nothing_lost(void) {
    int32_t last = INT32_MAX;
    for (struct cst_task *found = take(); found; found = take()) {
        EXPLORE_CHECK(found->priority < last);
        last = found->priority;
    }
    for (int i = 0; i < MOST; i++) EXPLORE_CHECK(taken[i] == (i < expected));
}

int models_run(void) {
    const struct explore_model models[] = {
        {"queue, one makes, one takes", one, maker_and_taker, nothing_lost, .threads = 2},
        {"queue, two make and take", two, two_makers, nothing_lost, .threads = 2},
        {"queue, two make, one takes", two, two_makers_and_taker, nothing_lost, .threads = 3},
        {"queue, the most urgent first", three, most_urgent_first, nothing_lost, .threads = 2},
    };
    for (unsigned i = 0; i < sizeof models / sizeof *models; i++)
        if (!explore(&models[i])) return 1;
    return 0;
}
