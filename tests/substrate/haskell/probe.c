/* The C side of Host.hs: looks at the rts substrate from inside a Haskell program. */
#include "substrate/rts/rts.h"
#include "platform/platform.h"

#include <dirent.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const struct cst_substrate *const rts = &cst_rts_linked_substrate;

static _Atomic unsigned computing; /* the number of threads that compute, as if in regions */

static unsigned busy(void) {
    return cst_load_relaxed(&computing);
}

void probe_compute(unsigned threads) {
    cst_store_relaxed(&computing, threads);
}

const char *probe_start(void) {
    const char *reason = "";
    return rts->start(2, busy, &reason) == 0 ? "" : reason;
}

/* --- collections, reported to a hook of the program ----------------------------------------- */

extern RtsConfig rtsConfig __attribute__((weak));
static _Atomic int collections;

static void count_collection(const struct GCDetails_ *details) {
    (void)details;
    cst_add_relaxed(&collections, 1);
}

void probe_init(int *argc, char ***argv) {
    RtsConfig config = defaultRtsConfig;
    config.gcDoneHook = count_collection;
    hs_init_ghc(argc, argv, config);
}

/* Called when the substrate has put its own hook before the program's. */
int probe_collections(void) {
    return rtsConfig.gcDoneHook == count_collection ? -1 : cst_load_relaxed(&collections);
}

/* --- a collection beside the program ------------------------------------------------------- */

int probe_marks(void) {
    return nonmoving_write_barrier_enabled != 0;
}

/* Returns whether a thread blocks all signals. Watchers and GHC's ticker do, but no worker of
 * GHC. */
static bool blocks_all(const char *thread) {
    char path[64], line[128];
    unsigned long long mask = 0;
    snprintf(path, sizeof path, "/proc/self/task/%.20s/status", thread);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file)) sscanf(line, "SigBlk: %llx", &mask);
    if (file) fclose(file);
    /* All but SIGKILL, SIGSTOP, and two signals of the C library. */
    return (~mask & ~(1ULL << 8 | 1ULL << 18 | 3ULL << 31)) == 0;
}

static bool any(const char *thread) {
    (void)thread;
    return true;
}

/* Counts the threads of the process for which `which` holds. */
static int count_threads(bool (*which)(const char *thread)) {
    int count = 0;
    DIR *folder = opendir("/proc/self/task");
    for (struct dirent *entry; folder && (entry = readdir(folder));)
        count += entry->d_name[0] != '.' && which(entry->d_name);
    if (folder) closedir(folder);
    return count;
}

int probe_threads(void) {
    return count_threads(any);
}

int probe_watchers(void) {
    return count_threads(blocks_all);
}

/* --- workers --------------------------------------------------------------------------- */

static _Atomic uint32_t running, ended, leave;

static void *work(void *argument) {
    long microseconds = (long)argument;
    cst_add_seq_cst(&running, 1);
    cst_futex_wake(&running, 1);
    if (microseconds)
        usleep((useconds_t)microseconds);
    else
        while (!cst_load_acquire(&leave)) cst_futex_wait(&leave, 0);
    cst_add_seq_cst(&ended, 1);
    cst_futex_wake(&ended, 1);
    return NULL;
}

static void wait_for(_Atomic uint32_t *counter, uint32_t wanted) {
    uint32_t seen;
    while ((seen = cst_load_acquire(counter)) < wanted) cst_futex_wait(counter, seen);
}

/* Makes workers 1 to `count`, and waits until all run. They sleep for `microseconds`, or until
 * probe_leave if that is 0. */
int probe_spawn(int count, long microseconds) {
    uint32_t before = cst_load_acquire(&running);
    for (int i = 1; i <= count; i++) {
        int error = rts->spawn(work, (void *)microseconds, (unsigned)i, 0, false);
        if (error) return error;
    }
    wait_for(&running, before + (uint32_t)count);
    return 0;
}

/* Acts like a region: makes a worker and waits for its end, whichever threads have the
 * Capabilities. */
int probe_region(void) {
    uint32_t before = cst_load_acquire(&ended);
    int error = rts->spawn(work, (void *)1L, 1, 0, false);
    if (!error) wait_for(&ended, before + 1);
    return error;
}

static void *attach(void *argument) {
    cst_rts_attach(argument);
    free(argument);
    return NULL;
}

static void *attach_first(void *argument) {
    cst_rts_get_action();
    return attach(argument);
}

/* Makes a worker that becomes a bound Haskell thread. It waits for a Capability, so only safe calls
 * may use it. */
int probe_attach(unsigned capability, long microseconds) {
    static bool first = true;
    struct cst_rts_worker *worker = malloc(sizeof *worker);
    *worker = (struct cst_rts_worker){
        .main = work, .argument = (void *)microseconds, .capability = capability};
    uint32_t before = cst_load_acquire(&running);
    pthread_t thread;
    int error = pthread_create(&thread, NULL, first ? attach_first : attach, worker);
    first = false;
    if (error) return error;
    pthread_detach(thread);
    wait_for(&running, before + 1);
    return 0;
}

void probe_leave(int count) {
    cst_store_release(&leave, 1);
    cst_futex_wake(&leave, 1 << 30);
    wait_for(&ended, (uint32_t)count);
}

/* --- Capabilities that run Haskell ------------------------------------------------------ */

/* A thread looks all the time. It counts its looks and, for each Capability, the looks at which
 * Haskell ran there. */
enum { MOST = 64 };
static _Atomic uint64_t looks, seen[MOST];
static _Atomic uint32_t watching;

static void *watch(void *argument) {
    (void)argument;
    while (cst_load_acquire(&watching)) {
        for (unsigned i = 0; i < MOST; i++) cst_add_relaxed(&seen[i], rts->haskell_runs(i));
        cst_add_relaxed(&looks, 1);
        if (rts->idle_capabilities() > rts->capabilities() + MOST) abort();
        usleep(20);
    }
    return NULL;
}

void probe_watch(void) {
    pthread_t thread;
    cst_store_release(&watching, 1);
    if (pthread_create(&thread, NULL, watch, NULL) == 0) pthread_detach(thread);
}

void probe_reset(void) {
    cst_store_relaxed(&looks, 0);
    for (unsigned i = 0; i < MOST; i++) cst_store_relaxed(&seen[i], 0);
}

int probe_percent(int capability) {
    uint64_t all = cst_load_relaxed(&looks);
    return all ? (int)(100 * cst_load_relaxed(&seen[capability]) / all) : -1;
}

void probe_sleep(long microseconds) {
    usleep((useconds_t)microseconds);
}

int probe_idle(void) {
    return (int)rts->idle_capabilities();
}

int probe_going_on(void) {
    return (int)rts->haskell_going_on();
}

/* Tells the substrate that a region begins. */
void probe_region_begins(void) {
    rts->region_begins();
}

/* Returns probe_idle during an unsafe call, while a collection that a thread of Capability 0 began
 * waits for the caller's Capability. No Haskell code runs then. */
int probe_idle_stopped(void) {
    for (int looks = 0; looks < 200; usleep(100)) looks = rts->haskell_runs(0) ? 0 : looks + 1;
    return probe_idle();
}

/* The steps of a call that holds a Capability: 1, it sleeps, and says so; 2, it is awake; 3, it
 * ends. No step lasts longer than a second, as a collection of the telling thread waits for it. */
static _Atomic uint32_t sleeper_at, sleeper_goes_to;

static void sleeper_step(uint32_t step) {
    cst_store_release(&sleeper_at, step);
    for (int i = 0; i < 1000 && cst_load_acquire(&sleeper_goes_to) <= step; i++) usleep(1000);
}

void probe_sleeper(void) {
    rts->note_sleep(true);
    sleeper_step(1);
    rts->note_sleep(false);
    sleeper_step(2);
}

int probe_sleeper_is_at(int step) {
    return cst_load_acquire(&sleeper_at) == (uint32_t)step;
}

void probe_sleeper_may_go_to(int step) {
    cst_store_release(&sleeper_goes_to, (uint32_t)step);
}

int probe_holds(void) {
    return cst_rts_holds_capability();
}
int probe_capabilities(void) {
    return (int)rts->capabilities();
}

/* Returns the nanoseconds of one query whether Haskell runs on a Capability. */
double probe_cost(int times) {
    unsigned sum = 0;
    uint64_t began = cst_clock_ns();
    for (int i = 0; i < times; i++) sum += rts->haskell_runs((unsigned)i & 1);
    return (double)(cst_clock_ns() - began + (sum > (unsigned)times)) / times;
}
