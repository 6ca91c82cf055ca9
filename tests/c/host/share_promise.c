/* Processes that share processors: a region has the number of threads that its thread was told, as
 * OpenBLAS needs it. Its members wait for each other, and spin, so a smaller team would never end.
 *
 * test: flags -lpthread
 * test: not stock GCC's runtime knows no other process
 * test: alone
 */
#include "share_group.h"
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/wait.h>

enum { SECONDS = 20, THREADS = 3, FRESH = 50, ASKED = 400, PROCESSES = 3 };

static atomic_int least; /* the smallest number that a thread was told */

/* Each member waits until as many have come as were told. */
static void meet(int told, atomic_int *come) {
    atomic_fetch_add(come, 1);
    while (atomic_load(come) < told) sched_yield();
}

static int ask(void) {
    int told = omp_get_max_threads(), known = atomic_load(&least);
    while (told < known && !atomic_compare_exchange_weak(&least, &known, told)) continue;
    return told;
}

/* A region that names no number has as many threads as were told, and so have those after it. */
static void without_a_number(int told) {
    for (int i = 0; i < 3; i++) {
        atomic_int come = 0;
#pragma omp parallel
        {
            CHECK_EQ(omp_get_num_threads(), told);
            meet(told, &come);
        }
    }
}

static void by_number(int told) {
    atomic_int come = 0;
#pragma omp parallel num_threads(told)
    meet(told, &come);
}

/* The runtime does not know a thread that asks for the first time. */
static void *fresh(void *unused) {
    (void)unused;
    without_a_number(ask());
    return NULL;
}

static void *asks(void *unused) {
    (void)unused;
    for (int i = 0; i < ASKED; i++) {
        int told = ask();
        if (i % 2)
            by_number(told);
        else
            without_a_number(told);
    }
    return NULL;
}

static void at_once(void *(*function)(void *)) {
    pthread_t thread[THREADS];
    for (int i = 0; i < THREADS; i++) CHECK_EQ(pthread_create(&thread[i], NULL, function, NULL), 0);
    for (int i = 0; i < THREADS; i++) CHECK_EQ(pthread_join(thread[i], NULL), 0);
}

/* A number that the program has set stays. */
static void a_set_number_stays(void) {
    omp_set_num_threads(THREADS);
    for (int i = 0; i < 20; i++) {
        CHECK_EQ(omp_get_max_threads(), THREADS);
        without_a_number(THREADS);
    }
}

/* Once the others are gone, the answer is the number of processors again. */
static int work(int processors) {
    atomic_store(&least, processors);
    for (int i = 0; i < FRESH; i++) at_once(fresh);
    /* The answers become smaller once some have been followed by regions, while others are there.
     */
    double end = omp_get_wtime() + 2;
    do {
        asks(NULL);
        at_once(asks);
    } while (atomic_load(&least) == processors && omp_get_wtime() < end);
    for (int i = 0; i < SECONDS * 1000 && omp_get_max_threads() != processors; i++) {
        by_number(1);
        pause_ms(1);
    }
    CHECK_EQ(omp_get_max_threads(), processors);
    a_set_number_stays();
    return atomic_load(&least) < processors ? 3 : 0;
}

int main(int count, char **arguments) {
    test_limit(100);
    int processors = omp_get_num_procs();
    if (count > 1) return work(processors);
    if (processors == 1) test_skip("there is one processor");
    name_group();
    CHECK_EQ(setenv("CAPSTAN_SHARE", group, 1), 0);
    CHECK_EQ(unsetenv("OMP_NUM_THREADS"), 0);
    pid_t child[PROCESSES];
    for (int i = 0; i < PROCESSES; i++) {
        child[i] = fork();
        CHECK(child[i] >= 0);
        if (child[i] > 0) continue;
        execl("/proc/self/exe", "share_promise", "work", (char *)NULL);
        _exit(1);
    }
    int shared = 0;
    for (int i = 0; i < PROCESSES; i++) {
        int status = 1;
        CHECK_EQ(waitpid(child[i], &status, 0), child[i]);
        CHECK(WIFEXITED(status));
        if (WEXITSTATUS(status) == 3)
            shared++;
        else
            CHECK_EQ(WEXITSTATUS(status), 0);
    }
    CHECK(shared > 0);
    return 0;
}
