/* A barrier completes all tasks of the team, also tasks that other tasks make meanwhile. Members
 * without other work execute them.
 * test: env
 * test: env OMP_WAIT_POLICY=passive
 * test: not clang clang aligns a task's variables to 16 bytes, whatever they ask for
 */
#include "testing.h"
#include <omp.h>

static void all_done_behind(int size) {
    for (int round = 0; round < 20; round++) {
        int done = 0;
#pragma omp parallel num_threads(size)
        {
            for (int i = 0; i < 20; i++) {
#pragma omp task shared(done)
                {
                    if (i == 0) pause_ms(1);
#pragma omp task shared(done)
                    {
                        sched_yield();
                        INCREMENT(&done);
                    }
                    INCREMENT(&done);
                }
            }
#pragma omp barrier
            CHECK_EQ(GET(&done), 40 * size);
        }
    }
}

/* Only one member makes a task; the others must learn of it before they leave the barrier. */
static void one_producer(int size) {
    for (int producer = 0; producer < size; producer++) {
        int done = 0;
#pragma omp parallel num_threads(size)
        {
            if (omp_get_thread_num() == producer) {
#pragma omp task shared(done)
                {
                    pause_ms(3);
                    INCREMENT(&done);
                }
            }
#pragma omp barrier
            CHECK_EQ(GET(&done), 1);
        }
    }
}

static void all_done_at_the_end(int size) {
    for (int round = 0; round < 50; round++) {
        int done = 0;
#pragma omp parallel num_threads(size)
        {
#pragma omp task shared(done)
            {
#pragma omp task shared(done)
                {
#pragma omp task shared(done)
                    {
                        if (round % 8 == 0) pause_ms(1);
                        INCREMENT(&done);
                    }
                }
            }
        }
        CHECK_EQ(done, size);
    }
}

/* Whether a thread of this process is asleep in the kernel. */
static int is_asleep(int thread) {
    char name[64], state = 0;
    snprintf(name, sizeof name, "/proc/self/task/%d/stat", thread);
    FILE *file = fopen(name, "r");
    CHECK(file != NULL);
    CHECK_EQ(fscanf(file, "%*d %*[^)]) %c", &state), 1);
    fclose(file);
    return state == 'S';
}

/* Waits until the thread has slept for a while. It waits for a second at most, as the thread may
 * never sleep. */
static void await_asleep(int *thread) {
    AWAIT(thread, 1);
    for (int asleep = 0, looks = 0; asleep < 10 && looks < 1000; looks++) {
        pause_ms(1);
        asleep = is_asleep(GET(thread)) ? asleep + 1 : 0;
    }
}

/* A member at a barrier must run the task of a member that waits for it outside any scheduling
 * point, also if the first member sleeps already. */
static void members_at_a_barrier_help(void) {
    for (int round = 0; round < 20; round++) {
        int taken = 0, other = 0;
#pragma omp parallel num_threads(2)
        {
            if (omp_get_thread_num() == 1) SET(&other, (int)gettid());
            if (omp_get_thread_num() == 0) {
                if (round % 2) await_asleep(&other);
#pragma omp task shared(taken)
                {
                    CHECK_EQ(omp_get_thread_num() == 0 || omp_get_thread_num() == 1, 1);
                    INCREMENT(&taken);
                }
                /* There is no scheduling point here: only the other member can execute the task. */
                AWAIT(&taken, 1);
            }
        }
        CHECK_EQ(taken, 1);
    }
}

/* One producer makes many more tasks than any queue holds. */
static void flood(int size) {
    enum { TASKS = 50000 };
    long sum = 0;
#pragma omp parallel num_threads(size)
#pragma omp single
    for (int i = 0; i < TASKS; i++) {
#pragma omp task shared(sum) firstprivate(i)
        __atomic_add_fetch(&sum, i, __ATOMIC_RELAXED);
    }
    CHECK_EQ(sum, (long)TASKS * (TASKS - 1) / 2);
}

/* Tasks carry their own copy of their data, whatever its size and alignment. */
static void private_data(int size) {
    struct big {
        _Alignas(256) char bytes[1000];
        long number;
    } data = {.number = 0};
    long sum = 0;
#pragma omp parallel num_threads(size)
#pragma omp single
    for (int i = 0; i < 300; i++) {
        data.number = i;
        data.bytes[i] = (char)i;
#pragma omp task shared(sum) firstprivate(data)
        {
            unsigned long address = (unsigned long)&data;
            __asm__("" : "+r"(address)); /* the compiler takes the alignment for granted */
            CHECK_EQ(address % 256, 0);
            CHECK_EQ(data.bytes[data.number], (char)data.number);
            __atomic_add_fetch(&sum, data.number, __ATOMIC_RELAXED);
        }
    }
    CHECK_EQ(sum, 300 * 299 / 2);
}

int main(void) {
    test_limit(50);
    for (int size = 1; size <= 4; size++) {
        all_done_behind(size);
        all_done_at_the_end(size);
        one_producer(size);
        flood(size);
        private_data(size);
    }
    members_at_a_barrier_help();
    return 0;
}
