/* core/task/queue.c: a member finds the queue that another thread is making, and looks into it
 * before that thread has put its task there. The two then share the pointer of the queue alone. So
 * ThreadSanitizer sees whether the pointer publishes the memory behind it. */
#include "core/task/queue.h"
#include "core/state/thread.h"
#include "core/team/team.h"
#include "testing.h"

#include <pthread.h>
#include <stdlib.h>

enum { TEAMS = 20 };

static struct cst_team *volatile teams[TEAMS]; /* teams stay, as in the pool */

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

/* While the lock is held, the pusher makes the queue, which stays empty. */
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
