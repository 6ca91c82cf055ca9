/* The parallel sections of an adopted library run in the runtime's pool. The results are the same,
 * each section has the number of jobs that the library was told, and no job runs on the library's
 * own threads. This holds in regions, from several threads at once, beside work of the library's
 * own threads, and in forked children. If the pool cannot serve a section, the library's own
 * threads run it.
 *
 * test: env CAPSTAN_ADOPT=all
 * test: env CAPSTAN_ADOPT=openblas OMP_THREAD_LIMIT=2 OMP_DYNAMIC=true
 * test: env CAPSTAN_ADOPT=none
 * test: env CAPSTAN_ADOPT=fftw
 * test: not thread a forked child may not make threads there
 * test: flags -ldl -lpthread
 * test: shared parts/blas_part.c -lpthread
 */
#include "adopt.h"
#include <omp.h>
#include <pthread.h>

/* Checks that no thread of the library has run a job since the last check. */
static void expect_served(void) {
    if (adopts()) CHECK_EQ(*part.own_jobs, 0);
    *part.own_jobs = 0;
    CHECK_EQ(*part.clashes, 0);
}

static void sizes(void) {
    static const int threads[] = {1, 2, 4, 8, 3};
    for (int i = 0; i < 5; i++) {
        part.set_threads(threads[i]);
        CHECK_EQ(part.get_threads(), threads[i]);
        run_sections(part.sum, 40, threads[i]);
    }
    expect_served();
}

static void in_regions(void) {
    for (int round = 0; round < 5; round++) {
#pragma omp parallel num_threads(3)
        {
            run_sections(part.sum, 10, 3);
#pragma omp barrier
            run_sections(part.sum, 10, 3);
        }
        run_sections(part.sum, 10, 3);
    }
    expect_served();
}

/* A section leaves the settings of the caller's task as they were. */
static void keeps_settings(void) {
    omp_set_max_active_levels(1);
    int dynamic = omp_get_dynamic(), limit = omp_get_thread_limit();
    run_sections(part.sum, 1, 3);
    CHECK_EQ(omp_get_max_active_levels(), 1);
    CHECK_EQ(omp_get_dynamic(), dynamic);
    CHECK_EQ(omp_get_thread_limit(), limit);
    CHECK_EQ(omp_get_level(), 0);
}

static void *call_sections(void *function) {
    run_sections((sum_function *)function, 60, 3);
    return NULL;
}

/* Runs sections in turn with regions of this program. */
static void *call_both(void *function) {
    for (int i = 0; i < 20; i++) {
        int members = 0;
        run_sections((sum_function *)function, 3, 3);
#pragma omp parallel num_threads(2)
        INCREMENT(&members);
        CHECK(members >= 1 && members <= 2);
    }
    return NULL;
}

static void at_once(void) {
    pthread_t threads[6];
    for (int i = 0; i < 6; i++)
        CHECK(pthread_create(&threads[i], NULL, i % 3 == 2 ? call_both : call_sections,
                             (void *)(i % 3 == 0 ? part.factor : part.sum)) == 0);
    for (int i = 0; i < 6; i++) pthread_join(threads[i], NULL);
    CHECK_EQ(*part.clashes, 0);
    *part.own_jobs = 0;
}

static void fork_and_run(int depth) {
    fflush(NULL);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        if (depth > 0) fork_and_run(depth - 1);
        run_sections(part.sum, 5, 3);
        run_sections(part.factor, 5, 3);
        CHECK_EQ(*part.clashes, 0);
        if (adopt) { /* in a forked child GCC's runtime opens no second region */
            int members = 0;
#pragma omp parallel num_threads(2)
            INCREMENT(&members);
            CHECK(members >= 1);
        }
        run_sections(part.sum, 5, 3);
        _exit(0);
    }
    if (depth > 0) run_sections(part.sum, 5, 3);
    expect_child_ends_well(child, 20);
    *part.own_jobs = 0;
    run_sections(part.sum, 5, 3);
    expect_served();
}

static int stop;

static void *call_until_stopped(void *unused) {
    while (!GET(&stop)) run_sections(part.sum, 1, 3);
    return unused;
}

/* The library frees the memory of its numbers when the process forks. In the child no thread waits
 * for a section of a thread that the fork did not copy. With its own threads the library would lose
 * the section. */
static void fork_during(void) {
    pthread_t thread;
    if (!adopts()) return;
    CHECK(pthread_create(&thread, NULL, call_until_stopped, NULL) == 0);
    for (int i = 0; i < 20; i++) {
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            alarm(20);
            run_sections(part.sum, 5, 3);
            CHECK_EQ(*part.clashes, 0);
            _exit(0);
        }
        run_sections(part.sum, 5, 3);
        expect_child_ends_well(child, 20);
    }
    SET(&stop, 1);
    pthread_join(thread, NULL);
    expect_served();
}

/* A section has more jobs than the library has numbers for the pool, so its own threads run it. */
static void too_many(void) {
    part.set_threads(16);
    run_sections(part.sum, 3, 16);
    CHECK(*part.own_jobs > 0);
    part.set_threads(2);
    run_sections(part.sum, 20, 2);
    CHECK_EQ(*part.clashes, 0);
}

int main(void) {
    test_limit(55);
    open_library();
    if (adopt) CHECK_EQ(adopt(NULL), adopts());
    run_sections(part.sum, 1, 3);
    expect_served();
    fork_and_run(0);
    sizes();
    keeps_settings();
    in_regions();
    at_once();
    fork_and_run(1);
    fork_during();
    too_many();
    return 0;
}
