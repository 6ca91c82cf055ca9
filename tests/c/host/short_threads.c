/* Ten thousand threads of the program, each of which opens one region and ends: neither threads
 * nor memory are left behind.
 * test: alone
 */
#include "process.h"
#include <omp.h>
#include <pthread.h>

enum { AT_ONCE = 4, THREADS = 10000 };

static void *one_region(void *argument) {
    int size = 1 + (int)((size_t)argument % 3), count = 0;
#pragma omp parallel num_threads(size)
    {
#pragma omp task shared(count)
        INCREMENT(&count);
#pragma omp barrier
        CHECK_EQ(GET(&count), size);
    }
    return NULL;
}

static void generation(size_t number) {
    pthread_t thread[AT_ONCE];
    for (int i = 0; i < AT_ONCE; i++)
        CHECK(pthread_create(&thread[i], NULL, one_region, (void *)(number + (size_t)i)) == 0);
    for (int i = 0; i < AT_ONCE; i++) pthread_join(thread[i], NULL);
}

int main(void) {
    test_limit(58);
    for (size_t done = 0; done < THREADS / 5; done += AT_ONCE) generation(done);
    long threads = settled_thread_count(), memory = status_number("VmRSS");
    for (size_t done = THREADS / 5; done < THREADS; done += AT_ONCE) generation(done);
    long threads_after = settled_thread_count(), memory_after = status_number("VmRSS");
    /* Four callers with at most two helpers each; GHC's runtime has some threads of its own. */
    if (threads_after > threads + 2 || memory_after > memory + 4096)
        fprintf(stderr, "threads %ld, then %ld; memory %ld KiB, then %ld KiB\n", threads,
                threads_after, memory, memory_after);
    CHECK(threads_after <= AT_ONCE * 3 + 1 + (on_rts() ? 16 : 0));
    CHECK(threads_after <= threads + 2);
    CHECK(memory_after <= memory + 4096);
    return 0;
}
