/* Idle workers sleep when their process forks, so that the child finds a processor. Without the
 * fork they would spin for 40 s here.
 * test: not stock its workers spin
 * test: env OMP_NUM_THREADS=2 GOMP_SPINCOUNT=4000000000 CAPSTAN_WAIT=rivals:off
 */
#include "process.h"
#include <omp.h>

/* Returns 1 if the thread does not sleep. */
static long runs(const char *folder) {
    char path[320], text[300] = "";
    snprintf(path, sizeof path, "%s/stat", folder);
    FILE *file = fopen(path, "r");
    if (!file) return 0;
    const char *name_end = fgets(text, sizeof text, file) ? strrchr(text, ')') : NULL;
    fclose(file);
    return name_end && strncmp(name_end, ") S", 3) != 0;
}

static void wait_until_all_sleep(void) {
    /* Once more after a pause: a thread may sleep for a moment while it spins. */
    for (int times = 0; times < 3; times = sum_over_other_threads(runs) ? 0 : times + 1)
        pause_ms(10);
}

int main(void) {
    test_limit(20);
    for (int round = 0; round < 5; round++) {
        int members = 0;
#pragma omp parallel
        INCREMENT(&members);
        CHECK_EQ(members, omp_get_max_threads());
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            int own = 0;
#pragma omp parallel num_threads(2)
            INCREMENT(&own);
            _exit(own != 2);
        }
        int status = 1;
        CHECK_EQ(waitpid(child, &status, 0), child);
        CHECK_EQ(status, 0);
        wait_until_all_sleep();
    }
    return 0;
}
