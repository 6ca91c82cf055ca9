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

/* Returns the number of context switches of all threads but this one. */
static long switches(void) {
    long sum = 0;
    DIR *folder = opendir("/proc/self/task");
    CHECK(folder != NULL);
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        char path[300];
        if (entry->d_name[0] == '.' || atoi(entry->d_name) == getpid()) continue;
        snprintf(path, sizeof path, "/proc/self/task/%s/status", entry->d_name);
        sum += proc_number(path, "voluntary_ctxt_switches");
        sum += proc_number(path, "nonvoluntary_ctxt_switches");
    }
    closedir(folder);
    return sum;
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
    long switched = switches();
    pause_ms(2000);
    used = processor_seconds() - used;
    switched = switches() - switched;
    if (used > 0.02 || switched > most)
        fprintf(stderr, "idle for 2 s: %.3f s of processor time, %ld switches\n", used, switched);
    CHECK(used <= 0.02);
    CHECK(switched <= most);
    return 0;
}
