/* The choice to defer a new task for other members, or to run it at once; see defer.h. */
#include "core/task/defer.h"

#include "core/settings/config.h"

enum {
    /* Ready tasks that a member keeps before it runs a new task at once: enough for thieves, and
     * few enough that a flat loop of tasks needs little memory. */
    DEQUE_LIMIT = 32,
    DEQUE_LIMIT_EACH = 16, /* added for each member of the team */
    TINY_TICKS = 1000,     /* a shorter task is not worth a steal */
    UNKNOWN_TICKS = 8 * TINY_TICKS,
    TINY_LIMIT_EACH = 2, /* tiny tasks to keep for each thief, as a larger one may come */
    SAMPLE_EVERY = 64,   /* one of this number of new tasks is run at once and timed */
    MANY = 8,            /* a task with this number of children is no branch of a tree */
    LOOK_EVERY = 16,     /* tasks of a tree between two readings of the clock */
    BRANCHES_EACH = 8,   /* branches of a tree to keep for each thief; */
    BRANCHES_LEAST = 2,  /* fewer than this for each thief are too few */
    MOST_NESTED = 128,   /* tasks run at once within each other: a stack has an end */
};

/* The rate at which tasks are made tells whether they are tiny. Of tiny tasks, only those near the
 * root are deferred, just enough for thieves: to defer a task that nobody steals costs as much as
 * to run it. The number of tasks left to steal sets the depth up to which tasks are deferred. */
static bool is_branch(struct cst_thread *thread) {
    struct cst_making *making = &thread->seat->making;
    struct cst_deque *deque = &thread->seat->deque;
    uint32_t depth = cst_load_relaxed(&thread->task->depth), thieves = thread->team->size - 1;
    if (making->until_look == 0) {
        uint64_t now = cst_clock_ticks(), spent = now - making->looked_at;
        making->looked_at = now;
        making->until_look = LOOK_EVERY;
        if (spent > LOOK_EVERY * TINY_TICKS)
            making->cut = UINT32_MAX;
        else if (making->cut <= depth && !cst_deque_holds(deque, BRANCHES_LEAST * thieves))
            making->cut++;
    }
    making->until_look--;
    if (depth >= making->cut) return false;
    if (!cst_deque_holds(deque, BRANCHES_EACH * thieves)) return true;
    making->cut = depth;
    return false;
}

/* Are there enough tasks for thieves? A look fetches the line that thieves write, so looks are
 * rare. The next look comes when half of the tasks may be gone, if each thief has been as fast as
 * this member. Once there were enough, there are enough until half are gone, so that tasks are
 * deferred in one go. A stolen task costs both sides some hundred nanoseconds for the transfer of
 * lines, more than a tiny task takes to run. So of tiny tasks only a few are deferred between many
 * that run at once. */
static bool has_enough(struct cst_thread *thread) {
    struct cst_making *making = &thread->seat->making;
    if (making->at_once > 0) {
        making->at_once--;
        return true;
    }
    uint32_t size = thread->team->size, thieves = size > 1 ? size - 1 : 1;
    if (making->put_out > 0) {
        if (--making->put_out == 0) making->at_once = SAMPLE_EVERY;
        return false;
    }
    if (making->mean_ticks < TINY_TICKS) {
        uint32_t limit = TINY_LIMIT_EACH * thieves;
        if (cst_deque_holds(&thread->seat->deque, limit)) {
            making->at_once = SAMPLE_EVERY;
            return true;
        }
        making->put_out = limit;
        return false;
    }
    uint32_t limit = DEQUE_LIMIT + DEQUE_LIMIT_EACH * size;
    making->had_enough =
        cst_deque_holds(&thread->seat->deque, making->had_enough ? limit / 2 : limit);
    if (making->had_enough) making->at_once = limit / 2 / thieves;
    return making->had_enough;
}

/* If one task makes many children, one in SAMPLE_EVERY of them is timed, provided that thieves have
 * a task meanwhile. Tasks of a tree are not timed: its leaves tell nothing about its branches. */
bool cst_defer_is_sample(struct cst_thread *thread) {
    struct cst_making *making = &thread->seat->making;
    if (making->maker != thread->task) {
        making->maker = thread->task;
        making->mean_ticks = UNKNOWN_TICKS;
        making->since_sample = 0;
        making->many = false;
        return false;
    }
    if (++making->since_sample >= MANY) making->many = true;
    return making->since_sample >= SAMPLE_EVERY && cst_deque_holds(&thread->seat->deque, 1) &&
           !cst_config.tasks_wait;
}

void cst_defer_learn(struct cst_thread *thread, uint64_t ticks) {
    struct cst_making *making = &thread->seat->making;
    making->maker = thread->task;
    making->many = true;
    if (ticks > UNKNOWN_TICKS) ticks = UNKNOWN_TICKS;
    making->mean_ticks = (3 * making->mean_ticks + (uint32_t)ticks) / 4;
    making->since_sample = 0;
}

bool cst_defer_is_tiny(struct cst_thread *thread) {
    return thread->seat->making.mean_ticks < TINY_TICKS;
}

/* A task with a priority is always deferred: the user asked for an order. */
bool cst_defer_wanted(struct cst_thread *thread, const struct cst_task_request *request) {
    if (request->priority > 0) return true;
    if (thread->team->size == 1 && !cst_defer_alone()) return false;
    if (cst_unlikely(thread->task->nested >= MOST_NESTED) || cst_unlikely(cst_config.tasks_wait))
        return true;
    bool in_tree = !thread->seat->making.many && !request->depend && !request->tell_event;
    if (thread->team->size > 1 && in_tree) return is_branch(thread);
    return !has_enough(thread);
}
