/* simulated.c: the cost of the event manager itself, for numbers of pipes beyond the limit of
 * descriptors. The pipes and their kernel are simulated, but the manager is real.
 *
 * A simulated pipe is a ring of pending reports. To read and write a byte costs next to nothing, so
 * the manager takes nearly all of the time. Prints millions of messages a second: simulated-PIPES,
 * and simulated-timeouts-PIPES with a timeout for each message beside a million timers.
 *
 *   simulated [-r ROUNDS] [-c] [CASE...]      -c: processor time; CASE: bench.h */
#include "event/manager.h"
#include "wanted.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MOST_PIPES = 83898, BACKGROUND_TIMERS = 1000000 };
#define TIMEOUT_NS (UINT64_C(30) * 1000000000)

struct cst_poller {
    uint64_t key[MOST_PIPES];
    int ring[MOST_PIPES]; /* the readable pipes, in the order of writing */
    int first, count;
};

static struct cst_poller world;

static struct cst_poller *sim_open(int *error) {
    (void)error;
    memset(&world, 0, sizeof world);
    return &world;
}

static void sim_close(struct cst_poller *poller) {
    (void)poller;
}
static void sim_wake(struct cst_poller *poller) {
    (void)poller;
}

static int sim_set(struct cst_poller *poller, int fd, bool known, uint32_t mask, uint64_t key) {
    (void)known, (void)mask;
    poller->key[fd] = key;
    return 0;
}

static int sim_wait(struct cst_poller *poller, struct cst_ready *ready, int capacity,
                    int64_t timeout) {
    (void)timeout;
    int count = poller->count < capacity ? poller->count : capacity;
    for (int i = 0; i < count; i++) {
        int fd = poller->ring[poller->first];
        if (++poller->first == MOST_PIPES) poller->first = 0;
        ready[i] = (struct cst_ready){.key = poller->key[fd], .events = CST_POLL_READ};
    }
    poller->count -= count;
    return count;
}

static const struct cst_poller_ops sim_ops = {"simulated", true,     sim_open, sim_close,
                                              sim_set,     sim_wait, sim_wake};

static void sim_write(int fd) {
    int last = world.first + world.count++;
    world.ring[last < MOST_PIPES ? last : last - MOST_PIPES] = fd;
}

static long left;
static capstan_timer timeout[MOST_PIPES];

static void on_readable(capstan_manager *manager, capstan_watch watch, int fd, unsigned events,
                        void *data) {
    (void)manager, (void)watch, (void)events, (void)data;
    left--;
    sim_write(fd);
}

static void on_timeout(capstan_manager *manager, capstan_timer timer, uint64_t expirations,
                       void *data) {
    (void)manager, (void)timer, (void)expirations, (void)data;
}

static void on_readable_in_time(capstan_manager *manager, capstan_watch watch, int fd,
                                unsigned events, void *data) {
    (void)watch, (void)events, (void)data;
    capstan_timer_cancel(manager, timeout[fd]);
    left--;
    sim_write(fd);
    capstan_timer_start(manager, TIMEOUT_NS, 0, on_timeout, NULL, &timeout[fd]);
}

static clockid_t meter = CLOCK_MONOTONIC;

static double now_ns(void) {
    struct timespec now;
    clock_gettime(meter, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static double measure(int pipes, int rounds, bool timeouts) {
    int error;
    capstan_manager *manager = cst_manager_make(&sim_ops, &error);
    if (manager == NULL) exit(1);
    for (int i = 0; timeouts && i < BACKGROUND_TIMERS; i++)
        capstan_timer_start(manager, TIMEOUT_NS + (uint64_t)i * 3600000, 0, on_timeout, NULL, NULL);
    for (int i = 0; i < pipes; i++) {
        if (timeouts) capstan_timer_start(manager, TIMEOUT_NS, 0, on_timeout, NULL, &timeout[i]);
        capstan_fd_register(manager, i, CAPSTAN_READ, timeouts ? on_readable_in_time : on_readable,
                            NULL, NULL);
        sim_write(i);
    }
    double best = 1e18;
    for (int round = 0; round < rounds; round++) {
        const long messages = 1000000;
        left = messages;
        double before = now_ns();
        while (left > 0) capstan_step(manager, CAPSTAN_FOREVER, NULL);
        double cost = (now_ns() - before) / (double)(messages - left);
        if (cost < best) best = cost;
    }
    capstan_manager_free(manager);
    return best;
}

int main(int argc, char **argv) {
    int rounds = 10;
    for (int option; (option = getopt(argc, argv, "t:r:u:c")) != -1;) {
        if (option == 'r') rounds = atoi(optarg);
        if (option == 'c') meter = CLOCK_PROCESS_CPUTIME_ID;
        if (option == '?') return 2;
    }
    const int sizes[] = {100, 1000, 9900, MOST_PIPES};
    for (int i = 0; i < 8; i++) {
        int pipes = sizes[i / 2], timeouts = i % 2;
        char name[64];
        snprintf(name, sizeof name, "simulated-%s%d", timeouts ? "timeouts-" : "", pipes);
        if (case_wanted(argv + optind, name))
            printf("%s\tM/s\t%.2f\n", name, 1000 / measure(pipes, rounds, timeouts));
    }
    return 0;
}
