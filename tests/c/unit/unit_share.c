/* core/work/share.h: a forked child meets constructs whose slots a lost member was about to set up.
 * The child sets them up itself.
 *
 * test: flags -fopenmp
 */
#include "unit.h"

#include "core/work/share.h"
#include "core/state/thread.h"

#include <sys/wait.h>

enum { TRIPS = 100 };

/* The last act of the other member. */
static void claim_next(void) {
    struct cst_seat *seat = cst_self()->seat;
    struct cst_share *slot = &seat->team->ring[seat->construct % CST_SHARE_RING];
    cst_store_relaxed(&slot->claim, 2 * (seat->construct + 1));
}

/* The child meets the construct in a team that has met others, so that the slot has been used
 * before.
 */
static void in_child(bool (*is_whole)(void)) {
    pid_t child = -1;
#pragma omp parallel num_threads(2)
    {
        for (int k = 0; k < CST_SHARE_RING; k++) {
#pragma omp for schedule(guided)
            for (int i = 0; i < 2; i++) continue;
        }
#pragma omp masked
        {
            child = fork();
            if (child == 0) {
                alarm(20);
                claim_next();
                _exit(is_whole() ? 0 : 1);
            }
        }
    }
    int status = 1;
    waitpid(child, &status, 0);
    UNIT_CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static bool loop(void) {
    int sum = 0;
#pragma omp for schedule(guided)
    for (int i = 0; i < TRIPS; i++) sum += i;
    return sum == TRIPS * (TRIPS - 1) / 2;
}

static bool sections(void) {
    int bits = 0;
#pragma omp sections
    {
#pragma omp section
        bits |= 1;
#pragma omp section
        bits |= 2;
#pragma omp section
        bits |= 4;
    }
    return bits == 7;
}

static int last;

static bool conditional(void) {
#pragma omp for schedule(dynamic) lastprivate(conditional : last)
    for (int i = 0; i < TRIPS; i++)
        if (i % 10 == 3) last = i;
    return last == TRIPS - 7;
}

static bool doacross(void) {
    int next = 0;
    bool in_order = true;
#pragma omp for schedule(dynamic) ordered(1)
    for (int i = 0; i < TRIPS; i++) {
#pragma omp ordered depend(sink : i - 1)
        in_order &= i == next++;
#pragma omp ordered depend(source)
    }
    return in_order && next == TRIPS;
}

static int total;

static bool loop_of_tasks(void) {
#pragma omp for schedule(dynamic) reduction(task, + : total)
    for (int i = 0; i < TRIPS; i++) {
#pragma omp task in_reduction(+ : total)
        total += i;
    }
    return total == TRIPS * (TRIPS - 1) / 2;
}

static bool scope_of_tasks(void) {
#pragma omp scope reduction(task, + : total)
    for (int i = 0; i < TRIPS; i++) {
#pragma omp task in_reduction(+ : total)
        total += i;
    }
    return total == TRIPS * (TRIPS - 1) / 2;
}

static void a_loop(void) {
    in_child(loop);
}
static void a_sections_construct(void) {
    in_child(sections);
}
static void a_loop_with_memory(void) {
    in_child(conditional);
}
static void a_doacross_loop(void) {
    in_child(doacross);
}
static void a_loop_with_task_reductions(void) {
    in_child(loop_of_tasks);
}
static void a_scope_with_task_reductions(void) {
    in_child(scope_of_tasks);
}

int main(void) {
    unit_limit(55);
    UNIT_RUN(a_loop);
    UNIT_RUN(a_sections_construct);
    UNIT_RUN(a_loop_with_memory);
    UNIT_RUN(a_doacross_loop);
    UNIT_RUN(a_loop_with_task_reductions);
    UNIT_RUN(a_scope_with_task_reductions);
    return unit_result();
}
