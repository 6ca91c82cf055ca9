/* The master or a worker forks inside a region. The child is alone and sees its place in the
 * region. It may open an inner region, start a program, or end. The parent's region goes on.
 * test: not stock the child of a member waits for workers that the fork did not copy
 * test: not qemu qemu has a thread of its own
 */
#include "process.h"
#include <omp.h>
#include <spawn.h>

static void inner_region(void) {
    int count = 0, size = 0;
#pragma omp parallel num_threads(3)
    {
        INCREMENT(&count);
        if (omp_get_thread_num() == 0) size = omp_get_num_threads();
#pragma omp barrier
    }
    CHECK(size >= 1 && count == size);
}

static void in_child(int member, int way) {
    alarm(20);
    CHECK_EQ(thread_count(), 1);
    CHECK_EQ(omp_get_thread_num(), member);
    CHECK_EQ(omp_get_level(), 1);
    inner_region();
    if (way == 0) _exit(0);
    if (way == 1) exit(0);
    execl("/bin/true", "true", (char *)NULL);
    _exit(127);
}

int main(void) {
    test_limit(55);
    omp_set_max_active_levels(2);
    for (int size = 1; size <= 4; size++)
        for (int way = 0; way < 3; way++) {
            int passed = 0, sum = 0;
#pragma omp parallel num_threads(size)
            {
                for (int who = 0; who < size; who++) {
                    if (omp_get_thread_num() == who) {
                        pid_t pid = fork();
                        if (pid == 0) in_child(who, way);
                        CHECK(pid > 0);
                        expect_child_ends_well(pid, 20);
                    }
#pragma omp barrier
                }
                /* All members start programs at once, as real programs do. */
                CHECK(system("exit 3") >> 8 == 3);
                INCREMENT(&passed);
#pragma omp barrier
                CHECK_EQ(GET(&passed), size);
#pragma omp for schedule(dynamic)
                for (int i = 0; i < 20; i++) INCREMENT(&sum);
            }
            CHECK_EQ(sum, 20);
        }
    return 0;
}
