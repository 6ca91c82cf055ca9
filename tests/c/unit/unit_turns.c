/* platform/linux/scheduler.c: the length of turns. Sources: platform/linux/scheduler.c. */
#include "unit.h"

#include "platform/platform.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>

enum { UNTOUCHED = 4321, SHORT_NS = 100000, LONG_NS = 3000000 };

/* Kernels before 6.12 do not know the length of a turn, and answer 0. */
static bool known(void) {
    uint64_t before = cst_thread_ask_turns(SHORT_NS);
    return cst_thread_ask_turns(before) == SHORT_NS;
}

static void *ask(void *found) {
    *(uint64_t *)found = cst_thread_ask_turns(LONG_NS);
    return NULL;
}

static void a_started_thread_has_its_parents(void) {
    uint64_t before = cst_thread_ask_turns(SHORT_NS), found = 1;
    pthread_t thread;
    UNIT_EQUAL(pthread_create(&thread, NULL, ask, &found), 0);
    pthread_join(thread, NULL);
    UNIT_EQUAL(found, known() ? SHORT_NS : 0);
    UNIT_EQUAL(cst_thread_ask_turns(before), known() ? SHORT_NS : 0);
    UNIT_EQUAL(cst_thread_ask_turns(before), before);
}

static void errno_stays(void) {
    errno = UNTOUCHED;
    cst_thread_ask_turns(cst_thread_ask_turns(SHORT_NS));
    UNIT_EQUAL(errno, UNTOUCHED);
}

static void real_time_priority_stays(void) {
    struct sched_param own = {.sched_priority = 1};
    if (sched_setscheduler(0, SCHED_FIFO, &own) != 0) return;
    UNIT_EQUAL(cst_thread_ask_turns(SHORT_NS), 0);
    UNIT_EQUAL(sched_getscheduler(0), SCHED_FIFO);
    own.sched_priority = 0;
    UNIT_EQUAL(sched_setscheduler(0, SCHED_OTHER, &own), 0);
}

int main(void) {
    unit_limit(20);
    UNIT_RUN(a_started_thread_has_its_parents);
    UNIT_RUN(errno_stays);
    UNIT_RUN(real_time_priority_stays);
    return unit_result();
}
