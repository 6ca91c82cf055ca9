/* A process whose workers are idle uses no processor: after the last region the workers stop
 * spinning, and then nothing wakes them, not even a timer.
 * test: not qemu qemu does not offer filters of system calls
 * test: alone
 * test: env OMP_NUM_THREADS=4
 * test: env OMP_NUM_THREADS=4 IDLE_CONFINED=1
 */
#include "confine.h"
#include "process.h"
#include <omp.h>
#include <sys/resource.h>

static double processor_seconds(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

/* Returns the number of context switches of a thread. */
static long switches(const char *folder) {
    char path[320];
    snprintf(path, sizeof path, "%s/status", folder);
    return proc_number(path, "voluntary_ctxt_switches") +
           proc_number(path, "nonvoluntary_ctxt_switches");
}

int main(void) {
    test_limit(40);
    /* Without membarrier(2) each of the three workers looks for tasks, 16 times a second. */
    int confined = getenv("IDLE_CONFINED") != NULL;
    long most = confined ? 150 : 20;
    if (confined) confine_lightly();
    for (int round = 0; round < 100; round++) {
#pragma omp parallel
        {
#pragma omp task
            sched_yield();
        }
    }
    pause_ms(1000); /* the workers may spin for a moment */
    double used = processor_seconds();
    long switched = sum_over_other_threads(switches);
    pause_ms(2000);
    used = processor_seconds() - used;
    switched = sum_over_other_threads(switches) - switched;
    if (used > 0.02 || switched > most)
        fprintf(stderr, "idle for 2 s: %.3f s of processor time, %ld switches\n", used, switched);
    CHECK(used <= 0.02);
    CHECK(switched <= most);
    return 0;
}
