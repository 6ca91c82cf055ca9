/* An idle manager sleeps in the kernel: it takes no processor time and no turns, whatever is
 * pending.
 *
 * test: alone */
#include "event_testing.h"

#include <pthread.h>
#include <sys/resource.h>

static void *drive(void *manager) {
    CHECK_EQ(capstan_loop(manager), 0);
    return NULL;
}

static long context_switches(void) {
    struct rusage usage;
    CHECK(getrusage(RUSAGE_SELF, &usage) == 0);
    return usage.ru_nvcsw + usage.ru_nivcsw;
}

static void begin(capstan_manager *manager, void *begun) {
    (void)manager;
    SET((int *)begun, 1);
}

static void idle(const char *back_end) {
    capstan_manager *manager = new_manager(back_end);
    pthread_t loop;
    int ends[2];
    struct seen seen = {0};
    uint64_t fired = 0;
    int begun = 0;
    make_pipe(ends);
    CHECK_EQ(capstan_fd_register(manager, ends[0], CAPSTAN_READ, note, &seen, NULL), 0);
    /* Far deadlines, in several levels of the wheel: each would move down a level while it
     * waits. */
    for (int i = 0; i < 20; i++)
        CHECK_EQ(capstan_timer_start(manager, (UINT64_C(2) << i) * 1000 * MS, 0, note_timer, &fired,
                                     NULL),
                 0);
    /* The first turn runs this post and takes the pending wake-up; the second turn sleeps. */
    CHECK_EQ(capstan_post(manager, begin, &begun), 0);
    CHECK(pthread_create(&loop, NULL, drive, manager) == 0);
    AWAIT(&begun, 1);
    pause_ms(10);
    uint64_t turns = statistics(manager).turns;
    long switches = context_switches();
    clock_t before = clock();
    pause_ms(500);
    clock_t used = clock() - before;
    CHECK_EQ(statistics(manager).turns, turns);
    CHECK(context_switches() - switches < 10); /* the sleep of this thread is among them */
    CHECK(used < CLOCKS_PER_SEC / 100);
    CHECK_EQ(fired, 0);
    capstan_shutdown(manager);
    pthread_join(loop, NULL);
    capstan_manager_free(manager);
    close_pipe(ends);
}

/* One timer takes one turn, whatever its level: the loop never wakes only to move timers. */
static void one_turn_for_a_timer(void) {
    capstan_manager *manager = new_manager(NULL);
    for (uint64_t delay = MS; delay < 200 * MS; delay *= 2) {
        uint64_t fired = 0, turns = statistics(manager).turns;
        CHECK_EQ(capstan_timer_start(manager, delay, 0, note_timer, &fired, NULL), 0);
        RUN_UNTIL(manager, fired, 1);
        CHECK_EQ(statistics(manager).turns - turns, 1);
    }
    capstan_manager_free(manager);
}

int main(void) {
    test_limit(30);
    idle("epoll");
    idle("poll");
    one_turn_for_a_timer();
    return 0;
}
