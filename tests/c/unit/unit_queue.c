/* core/task/queue.c: a member finds the queue of a team as another thread makes it, and looks into
 * it before that one has put its task there. All that they have in common then is the queue's
 * pointer, so ThreadSanitizer sees whether that hands on the memory behind it. */
#include "core/task/queue.h"
#include "core/state/thread.h"
#include "core/team/team.h"
#include "testing.h"

#include <pthread.h>
#include <stdlib.h>

enum { TEAMS = 20 };

static struct cst_team *volatile teams[TEAMS]; /* as in the pool, they stay */

static struct cst_team *make_team(int number) {
    struct cst_team *team = aligned_alloc(CST_CACHE_LINE, sizeof *team);
    CHECK(team);
    CHECK(cst_team_init(team));
    return teams[number] = team;
}

static void *push(void *argument) {
    struct cst_task *task = calloc(1, sizeof *task);
    CHECK(task);
    CHECK(cst_queue_push(argument, task));
    return task;
}

/* The lock is held, so the queue is made, and stays empty. */
static void looks_between(struct cst_team *team) {
    pthread_t pusher;
    void *pushed;
    cst_lock_acquire(&team->queue_lock);
    CHECK(pthread_create(&pusher, NULL, push, team) == 0);
    while (!cst_load_relaxed(&team->priority)) sched_yield();
    CHECK(!cst_queue_take(team, NULL, NULL));
    cst_lock_release(&team->queue_lock);
    struct cst_task *task = NULL;
    while (!(task = cst_queue_take(team, NULL, NULL))) sched_yield();
    CHECK(pthread_join(pusher, &pushed) == 0);
    CHECK(task == pushed);
    CHECK(!cst_queue_take(team, NULL, NULL));
}

int main(void) {
    test_limit(20);
    for (int i = 0; i < TEAMS; i++) looks_between(make_team(i));
    return 0;
}
