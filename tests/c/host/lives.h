/* Threads of the program: each opens a region and ends, and leaves nothing behind. */
#ifndef HOST_LIVES_H
#define HOST_LIVES_H

#include "process.h"
#include <omp.h>
#include <pthread.h>

enum { LIVES_AT_ONCE = 4 };

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

static void lives(size_t count) {
    for (size_t done = 0; done < count; done += LIVES_AT_ONCE) {
        pthread_t thread[LIVES_AT_ONCE];
        for (size_t i = 0; i < LIVES_AT_ONCE; i++)
            CHECK(pthread_create(&thread[i], NULL, one_region, (void *)(done + i)) == 0);
        for (int i = 0; i < LIVES_AT_ONCE; i++) pthread_join(thread[i], NULL);
    }
}

/* Checks that `go`, after a first part, leaves neither threads nor memory behind. */
static void expect_flat(void (*go)(size_t), size_t count) {
    go(count / 5);
    long threads = settled_thread_count(), memory = status_number("VmRSS");
    go(count - count / 5);
    long threads_after = settled_thread_count(), memory_after = status_number("VmRSS");
    /* Each caller has at most two helpers; GHC's runtime has some threads of its own. */
    if (threads_after > threads + 2 || memory_after > memory + 4096)
        fprintf(stderr, "threads %ld, then %ld; memory %ld KiB, then %ld KiB\n", threads,
                threads_after, memory, memory_after);
    CHECK(threads_after <= LIVES_AT_ONCE * 3 + 1 + (on_rts() ? 16 : 0));
    CHECK(threads_after <= threads + 2);
    CHECK(memory_after <= memory + 4096);
}

#endif
