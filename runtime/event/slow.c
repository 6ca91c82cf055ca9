/* Calls that take too long: all other events of the manager wait for them.
 *
 * A clock read after each call would be a third of a call's cost. So in a long batch the driver
 * reads the clock after every sixteenth call. When a group of these was slow, it reads the clock
 * after every call for a while. */
#include "event/manager.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

enum {
    FEW = 8,                /* most calls of a short batch, in which each call is timed */
    BETWEEN = 16,           /* calls between two clock reads in a long batch */
    PRECISE_BATCHES = 1000, /* batches in which each call is timed, after a slow one */
    STUCK = 10,             /* times the limit, before other threads report */
};

/* Prints one line, once per manager, by one write, as other threads may print too. */
static void warn(struct capstan_manager *manager, const struct capstan_slow *slow) {
    if (cst_exchange_relaxed(&manager->warned, 1) != 0) return;
    char text[500], what[160], where[40] = "", which[60] = "";
    Dl_info info = {0};
    bool named = dladdr((void *)slow->function, &info) != 0 && info.dli_sname != NULL;
    if (slow->function == NULL)
        snprintf(what, sizeof what, "an action of the program");
    else
        snprintf(what, sizeof what, "the function at %p%s%.100s%s", (void *)slow->function,
                 named ? " (" : "", named ? info.dli_sname : "", named ? ")" : "");
    if (slow->fd >= 0) snprintf(where, sizeof where, ", for descriptor %d,", slow->fd);
    if (slow->candidates > 1)
        snprintf(which, sizeof which, "one of the last %u functions called, up to ",
                 slow->candidates);
    int length = snprintf(text, sizeof text,
                          "capstan: event manager: %s%s%s %s %llu ms; other events and "
                          "timers wait meanwhile. Later ones are counted, not shown\n",
                          which, what, where, slow->still_running ? "has been running for" : "took",
                          (unsigned long long)(slow->elapsed_ns / 1000000));
    if (length > (int)sizeof text - 1) length = (int)sizeof text - 1;
    ssize_t written = write(STDERR_FILENO, text, (size_t)length);
    (void)written;
}

/* The time between; 0 if the clock has gone back (capstan.h). */
static uint64_t passed(uint64_t since, uint64_t now) {
    return now > since ? now - since : 0;
}

static void report(struct capstan_manager *manager, uint64_t elapsed, bool still_running) {
    /* Relaxed: the driver may begin another call meanwhile; the report is about one of the two. */
    struct capstan_slow slow = {
        .elapsed_ns = elapsed,
        .still_running = still_running,
        .fd = cst_load_relaxed(&manager->calling_fd),
        .function = (void (*)(void))cst_load_relaxed(&manager->calling),
        .candidates = still_running ? 1 : manager->meter.calls,
    };
    if (manager->slow != NULL)
        manager->slow(manager, &slow, manager->slow_data);
    else
        warn(manager, &slow);
}

/* Did the thread use or give up its processor for a part of that time, or did the kernel give it to
 * others? `waits` also counts a turn that did not sleep, which may hide that a function slept. If
 * the thread slept, and the kernel never took its processor away, a function slept. */
static bool was_busy_or_blocked(struct capstan_manager *manager) {
    struct cst_slow_meter *meter = &manager->meter;
    struct cst_thread_usage now = cst_thread_usage();
    uint64_t slept = now.voluntary_switches - meter->base.voluntary_switches;
    bool put_aside = now.involuntary_switches != meter->base.involuntary_switches;
    return now.cpu_ns - meter->base.cpu_ns >= manager->slow_limit / 2 || slept > meter->waits ||
           (slept > 0 && !put_aside);
}

/* Starts the clock for the next calls. */
static void start_clock(struct capstan_manager *manager, uint64_t now) {
    struct cst_slow_meter *meter = &manager->meter;
    if (now != meter->base_at) { /* at most once for each tick of the coarse clock */
        meter->base = cst_thread_usage();
        meter->base_at = now;
        meter->waits = 0;
    }
    meter->began = now;
    meter->calls = 0;
    cst_store_relaxed(&manager->calling_since, now); /* a hint for other threads' reports */
}

static void took_too_long(struct capstan_manager *manager, uint64_t elapsed) {
    CST_COUNT(manager->statistics.slow_calls, 1);
    if (elapsed > cst_load_relaxed(&manager->statistics.slowest_ns)) /* only the driver writes it */
        cst_store_relaxed(&manager->statistics.slowest_ns, elapsed);
    report(manager, elapsed, false);
}

void cst_slow_check(struct capstan_manager *manager) {
    struct cst_slow_meter *meter = &manager->meter;
    uint64_t now = cst_clock_coarse_ns(), elapsed = passed(meter->began, now);
    if (cst_unlikely(elapsed > manager->slow_limit) && was_busy_or_blocked(manager)) {
        took_too_long(manager, elapsed);
        meter->precise = PRECISE_BATCHES; /* next time the report names the call */
        meter->every = 1;
        now = cst_clock_coarse_ns();
    }
    start_clock(manager, now);
}

void cst_slow_begin(struct capstan_manager *manager) {
    struct cst_slow_meter *meter = &manager->meter;
    bool few = manager->ready_end - manager->ready <= FEW;
    meter->every = few || meter->precise > 0 ? 1 : BETWEEN;
    if (meter->precise > 0) meter->precise--;
    start_clock(manager, cst_clock_coarse_ns());
}

void cst_slow_end(struct capstan_manager *manager) {
    if (manager->meter.calls > 0) cst_slow_check(manager);
    cst_store_relaxed(&manager->calling_since, 0); /* a hint for other threads' reports */
}

void cst_slow_pulled(struct capstan_manager *manager, const struct capstan_record *records,
                     unsigned count) {
    manager->meter.calls = count;
    cst_store_relaxed(&manager->calling, (void *)records[0].function); /* hints for reports only */
    cst_store_relaxed(&manager->calling_fd, count == 1 ? records[0].fd : -1);
    cst_store_relaxed(&manager->calling_since, cst_clock_coarse_ns());
}

void cst_slow_returned(struct capstan_manager *manager) {
    uint64_t since = cst_load_relaxed(&manager->calling_since); /* only the puller writes it */
    if (since == 0) return;
    uint64_t elapsed = passed(since, cst_clock_coarse_ns());
    if (cst_unlikely(elapsed > manager->slow_limit)) took_too_long(manager, elapsed);
    cst_store_relaxed(&manager->calling_since, 0);
}

void cst_slow_look_closer(struct capstan_manager *manager) {
    /* Relaxed: all of this is a hint. This thread cannot see whether the driver merely has no
     * processor, so it is patient. */
    uint64_t since = cst_load_relaxed(&manager->calling_since), limit = manager->slow_limit;
    if (cst_load_relaxed(&manager->driver) == (uintptr_t)pthread_self()) return;
    uint64_t now = cst_clock_coarse_ns();
    if (since == 0 || passed(since, now) / STUCK < limit) return;
    uint32_t batch = cst_load_relaxed(&manager->batch);
    /* One report for each batch: the exchange lets one thread through. */
    if (cst_exchange_relaxed(&manager->stuck_batch, batch) != batch)
        report(manager, now - since, true);
}
