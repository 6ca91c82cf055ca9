/* A signal handler may interrupt a worker at any moment, also an idle worker. The thread number in
 * the handler is below the number of threads, as profilers use it as an index. An idle worker is in
 * no region.
 *
 * test: not stock libgomp ends the surplus worker, so no thread takes the signal
 */
#define _GNU_SOURCE
#include "process.h"
#include <omp.h>
#include <pthread.h>

enum { MOST = 5 };

static pthread_t members[MOST];
static int taken, odd, in_region;

static void handler(int signal) {
    (void)signal;
    int number = omp_get_thread_num(), threads = omp_get_num_threads();
    if (number < 0 || number >= threads) INCREMENT(&odd);
    if (omp_get_level() != 0 || omp_get_active_level() != 0 || omp_in_parallel() || number != 0 ||
        threads != 1)
        INCREMENT(&in_region);
    INCREMENT(&taken);
}

static void region(int threads) {
#pragma omp parallel num_threads(threads)
    {
        members[omp_get_thread_num()] = pthread_self();
#pragma omp barrier
    }
}

int main(void) {
    test_limit(50);
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    region(MOST);
    for (int round = 0; round < 300; round++) {
        int sent = 0;
        region(2 + round % (MOST - 2));
        for (int i = 1; i < MOST; i++) sent += pthread_kill(members[i], SIGUSR1) == 0;
        for (int i = 0; i < round % 7; i++) region(2);
        AWAIT(&taken, (round + 1) * sent);
    }
    CHECK_EQ(odd, 0);
    taken = in_region = 0;
    for (int i = 1; i < MOST; i++) CHECK(pthread_kill(members[i], SIGUSR1) == 0);
    AWAIT(&taken, MOST - 1);
    CHECK_EQ(in_region, 0);
    return 0;
}
