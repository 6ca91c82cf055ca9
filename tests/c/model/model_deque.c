/* core/base/deque.c: each task is taken exactly once, by its owner or by a thief. The taker sees
 * the writes from before the push. A thief that looks at an entry late still finds a task there. */
#include "core/base/deque.h"
#include "models.h"

#include <string.h>

enum { MOST = 80 };

static struct cst_deque deque;
static int number_of[MOST]; /* stands for a task; written before the push */
static int taken[MOST], pushed, prefilled;

static void push(void) {
    int number = pushed++;
    number_of[number] = number + 1;
    EXPLORE_CHECK(cst_deque_push(&deque, (struct cst_task *)&number_of[number]));
}

static void got(struct cst_task *task) {
    if (!task) return;
    int *number = (int *)(void *)task;
    EXPLORE_CHECK(number >= number_of && number < number_of + MOST);
    EXPLORE_CHECK(*number > 0);
    EXPLORE_CHECK(++taken[*number - 1] == 1);
}

static void steal(void) {
    bool lost = false;
    got(cst_deque_steal(&deque, NULL, NULL, &lost));
}

static void owner_and_thieves(unsigned thread) {
    if (thread > 0) {
        steal();
        steal();
        return;
    }
    push();
    push();
    got(cst_deque_take(&deque, INT64_MIN));
    push();
    got(cst_deque_take(&deque, INT64_MIN));
    got(cst_deque_take(&deque, INT64_MIN));
}

static void last_one(unsigned thread) {
    if (thread > 0) {
        steal();
        return;
    }
    push();
    got(cst_deque_take(&deque, INT64_MIN));
    push();
    got(cst_deque_take(&deque, INT64_MIN));
}

/* The second thief may see that the first has taken a task, together with an older bottom. */
static void last_two(unsigned thread) {
    if (thread > 0) {
        steal();
        return;
    }
    push();
    push();
    got(cst_deque_take(&deque, INT64_MIN));
}

/* The buffer has one free entry, so it grows while thieves look. */
static void growing(unsigned thread) {
    if (thread > 0) {
        steal();
        steal();
        return;
    }
    push();
    push();
    got(cst_deque_take(&deque, INT64_MIN));
}

/* Nothing below the floor is taken. */
static void with_floor(unsigned thread) {
    if (thread > 0) {
        steal();
        return;
    }
    push();
    int64_t floor = cst_load_relaxed(&deque.bottom);
    push();
    got(cst_deque_take(&deque, floor));
    EXPLORE_CHECK(cst_deque_take(&deque, floor) == NULL);
}

static bool looks_at_task(const struct cst_task *task, const void *argument) {
    const int *number = (const int *)(const void *)task;
    (void)argument;
    EXPLORE_CHECK(number >= number_of && number<number_of + MOST && * number> 0);
    return true;
}

/* The buffer is full, and its first entry is taken. Its place is used again, and then the buffer
 * grows without it. Meanwhile a thief that has read the old top is about to look. */
static void late_thief(unsigned thread) {
    bool lost = false;
    if (thread == 0) {
        push();
        push();
    } else {
        got(cst_deque_steal(&deque, looks_at_task, NULL, &lost));
    }
}

static void empty(void) {
    memset(&deque, 0, sizeof deque);
    memset(taken, 0, sizeof taken);
    pushed = prefilled = 0;
}

static void nearly_full(void) {
    empty();
    while (pushed < 63) push();
    prefilled = pushed;
}

static void full(void) {
    nearly_full();
    push();
}

/* Each task that no thread took is still in the deque, once. */
static void nothing_lost(void) {
    for (;;) {
        struct cst_task *task = cst_deque_take(&deque, INT64_MIN);
        if (!task) break;
        got(task);
    }
    for (int number = 0; number < pushed; number++) EXPLORE_CHECK(taken[number] == 1);
}

int models_run(void) {
    const struct explore_model models[] = {
        {"deque, one thief", empty, owner_and_thieves, nothing_lost, .threads = 2},
        {"deque, two thieves after the last one", empty, last_one, nothing_lost, .threads = 3},
        {"deque, two thieves after the last two", empty, last_two, nothing_lost, .threads = 3},
        {"deque, growing", nearly_full, growing, nothing_lost, .threads = 2},
        {"deque, growing past a late thief", full, late_thief, nothing_lost, .threads = 3},
        {"deque, floor", empty, with_floor, nothing_lost, .threads = 2},
    };
    for (unsigned i = 0; i < sizeof models / sizeof *models; i++)
        if (!explore(&models[i])) return 1;
    return 0;
}
