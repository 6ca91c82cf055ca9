/* Clocks that jump. The library calls the program's own clock_gettime, which adds the jump of a
 * test. A jump of the wall clock must mean nothing. The monotonic clock jumps when the process was
 * stopped, or in a child that a fork has put into another time namespace. */
#include "event_testing.h"

#include <sched.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

static const int64_t SECOND = 1000000000, HOUR = 3600 * SECOND;

static _Atomic int64_t monotonic_jump, wall_jump;
static _Atomic int wall_reads;

int clock_gettime(clockid_t clock, struct timespec *time) {
    long result = syscall(SYS_clock_gettime, clock, time);
    bool monotonic = clock == CLOCK_MONOTONIC || clock == CLOCK_MONOTONIC_COARSE;
    bool wall = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE;
    if (wall) wall_reads++;
    int64_t ns = time->tv_sec * SECOND + time->tv_nsec;
    ns += monotonic ? monotonic_jump : wall ? wall_jump : 0;
    time->tv_sec = ns / SECOND;
    time->tv_nsec = ns % SECOND;
    return (int)result;
}

/* The wall clock is set forwards and back: the manager never reads it. */
static void wall_clock(const char *back_end) {
    capstan_manager *manager = new_manager(back_end);
    uint64_t soon = 0, late = 0;
    wall_reads = 0;
    CHECK_EQ(capstan_timer_start(manager, 1 * MS, 0, note_timer, &soon, NULL), 0);
    CHECK_EQ(capstan_timer_start(manager, (uint64_t)HOUR, 0, note_timer, &late, NULL), 0);
    wall_jump = 10 * HOUR;
    RUN_UNTIL(manager, soon, 1);
    wall_jump = -10 * HOUR;
    CHECK_EQ(capstan_timer_start(manager, 1 * MS, 0, note_timer, &soon, NULL), 0);
    RUN_UNTIL(manager, soon, 2);
    CHECK_EQ(late, 0);
    CHECK_EQ(wall_reads, 0);
    wall_jump = 0;
    CHECK_EQ(capstan_manager_free(manager), 0);
}

struct order {
    int next;
    int seen[4];
    uint64_t expirations;
};
struct place {
    struct order *order;
    int number;
};

static void note_order(capstan_manager *manager, capstan_timer timer, uint64_t expirations,
                       void *data) {
    struct place *place = data;
    (void)manager, (void)timer;
    if (expirations == 0) return; /* freed */
    place->order->seen[place->order->next++] = place->number;
    if (place->number == 3) place->order->expirations = expirations;
}

/* The clock jumps ten hours ahead. The manager calls all due timers at once, in order, and a
 * periodic timer once with the number of its periods. Later timers wait, and the period is kept. */
static void ahead(const char *back_end) {
    capstan_manager *manager = new_manager(back_end);
    struct order order = {0};
    struct place place[4];
    for (int i = 0; i < 4; i++) place[i] = (struct place){&order, i};
    uint64_t hour = (uint64_t)HOUR, base = capstan_clock(), rest = 0;
    CHECK_EQ(capstan_timer_start_at(manager, base + 2 * hour, 0, note_order, &place[1], NULL), 0);
    CHECK_EQ(capstan_timer_start_at(manager, base + 9 * hour, 0, note_order, &place[2], NULL), 0);
    CHECK_EQ(capstan_timer_start_at(manager, base + 20 * hour, 0, note_timer, &rest, NULL), 0);
    CHECK_EQ(capstan_timer_start_at(manager, base + 1 * hour, 0, note_order, &place[0], NULL), 0);
    CHECK_EQ(capstan_timer_start_at(manager, base + 9 * hour + hour / 2, hour / 10, note_order,
                                    &place[3], NULL),
             0);
    CHECK_EQ(run_all(manager), 0);
    monotonic_jump = 10 * HOUR;
    CHECK_EQ(run_all(manager), 4);
    for (int i = 0; i < 4; i++) CHECK_EQ(order.seen[i], i);
    CHECK_EQ(order.expirations, 6); /* at 9.5, 9.6 ... 10.0 hours */
    order.next = 0;
    monotonic_jump = 10 * HOUR + HOUR / 10 + (int64_t)MS;
    CHECK_EQ(run_all(manager), 1);
    CHECK_EQ(order.expirations, 1);
    CHECK_EQ(rest, 0);
    monotonic_jump = 0;
    CHECK_EQ(capstan_manager_free(manager), 0);
}

/* The clock jumps an hour back: no timer is early by the new time, and none is lost. */
static void back(const char *back_end) {
    capstan_manager *manager = new_manager(back_end);
    uint64_t old = 0, new = 0, soon = 0;
    monotonic_jump = HOUR;
    CHECK_EQ(capstan_timer_start(manager, 1 * MS, 0, note_timer, &soon, NULL), 0);
    RUN_UNTIL(manager, soon, 1);
    CHECK_EQ(capstan_timer_start(manager, (uint64_t)SECOND, 0, note_timer, &old, NULL), 0);
    monotonic_jump = 0;
    CHECK_EQ(capstan_timer_start(manager, 60 * (uint64_t)SECOND, 0, note_timer, &new, NULL), 0);
    CHECK_EQ(capstan_timer_start(manager, 1 * MS, 0, note_timer, &soon, NULL), 0);
    RUN_UNTIL(manager, soon, 2);
    CHECK_EQ(run_all(manager), 0);
    CHECK_EQ(new, 0);
    monotonic_jump = 61 * SECOND;
    CHECK_EQ(run_all(manager), 1);
    CHECK_EQ(new, 1);
    CHECK_EQ(old, 0);
    monotonic_jump = HOUR + 2 * SECOND;
    CHECK_EQ(run_all(manager), 1);
    CHECK_EQ(old, 1);
    monotonic_jump = 0;
    CHECK_EQ(capstan_manager_free(manager), 0);
}

static void goes_back(capstan_manager *manager, void *data) {
    (void)manager, (void)data;
    pause_ms(1);
    monotonic_jump -= HOUR;
}

static void count_slow(capstan_manager *manager, const struct capstan_slow *slow, void *data) {
    (void)manager, (void)slow;
    ++*(int *)data;
}

/* The clock jumps back while a function runs: the manager does not report the function as slow. */
static void back_in_a_function(void) {
    int reports = 0;
    struct capstan_manager_options options = {.size = sizeof options};
    options.slow = count_slow;
    options.slow_data = &reports;
    capstan_manager *manager;
    CHECK_EQ(capstan_manager_new(&manager, &options), 0);
    monotonic_jump = 3 * HOUR;
    for (int i = 0; i < 3; i++) {
        CHECK_EQ(capstan_post(manager, goes_back, NULL), 0);
        CHECK_EQ(run_all(manager), 1);
    }
    CHECK_EQ(reports, 0);
    monotonic_jump = 0;
    CHECK_EQ(capstan_manager_free(manager), 0);
}

/* The kernel makes the clock jump: a child runs in another time namespace. The test needs a right
 * that tests seldom have.
 */
static void other_namespace(const char *offset, uint64_t fires) {
    uint64_t fired = 0, soon = 0;
    capstan_manager *manager = new_manager(NULL);
    CHECK_EQ(capstan_timer_start(manager, (uint64_t)HOUR, 0, note_timer, &fired, NULL), 0);
    CHECK_EQ(capstan_timer_start(manager, 0, 0, note_timer, &soon, NULL), 0);
    RUN_UNTIL(manager, soon, 1);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        if (unshare(CLONE_NEWTIME) != 0) _exit(77);
        int fd = open("/proc/self/timens_offsets", O_WRONLY);
        if (fd < 0 || write(fd, offset, strlen(offset)) != (ssize_t)strlen(offset)) _exit(77);
        pid_t inside = fork();
        if (inside == 0) {
            uint64_t before = capstan_clock();
            CHECK_EQ(capstan_timer_start(manager, 3 * MS, 0, note_timer, &soon, NULL), 0);
            RUN_UNTIL(manager, soon, 2);
            CHECK(capstan_clock() >= before + 3 * MS);
            CHECK_EQ(fired, fires);
            _exit(0);
        }
        int status;
        CHECK(waitpid(inside, &status, 0) == inside);
        _exit(status == 0 ? 0 : 1);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 77));
    CHECK_EQ(capstan_manager_free(manager), 0);
}

int main(void) {
    test_limit(60);
    const char *const back_ends[] = {"epoll", "poll"};
    for (int i = 0; i < 2; i++) {
        wall_clock(back_ends[i]);
        ahead(back_ends[i]);
        back(back_ends[i]);
    }
    back_in_a_function();
    other_namespace("monotonic 7200 0", 1);
    other_namespace("monotonic -60 0", 0);
    return 0;
}
