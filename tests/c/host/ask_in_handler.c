/* Masters that ask for the number of threads before each region wait for their turn as they ask. A
 * signal handler that asks meanwhile neither waits for itself nor for the thread it interrupts.
 * test: env OMP_DYNAMIC=true
 * test: env OMP_DYNAMIC=false
 * test: env OMP_WAIT_POLICY=passive
 */
#include "testing.h"
#include <omp.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/time.h>

enum { MASTERS = 4, SIGNALS = 100, PERIOD_US = 300 };

static _Atomic int handled;

static void handler(int number) {
    (void)number;
    CHECK(omp_get_max_threads() >= 1);
    handled++;
}

static void *master(void *unused) {
    (void)unused;
    while (handled < SIGNALS) {
        int threads = omp_get_max_threads(), members = 0;
#pragma omp parallel reduction(+ : members)
        members++;
        CHECK(members >= 1 && members <= threads);
    }
    return NULL;
}

int main(void) {
    test_limit(60);
    CHECK(signal(SIGALRM, handler) != SIG_ERR);
    struct itimerval period = {{0, PERIOD_US}, {0, PERIOD_US}};
    CHECK(setitimer(ITIMER_REAL, &period, NULL) == 0);
    pthread_t masters[MASTERS];
    for (int i = 0; i < MASTERS; i++) CHECK(pthread_create(&masters[i], NULL, master, NULL) == 0);
    for (int i = 0; i < MASTERS; i++) CHECK(pthread_join(masters[i], NULL) == 0);
    return 0;
}
