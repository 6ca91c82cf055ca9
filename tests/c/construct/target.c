/* Without a device the host executes target, on its own variables. Data clauses, teams and nowait
 * keep their meaning, and the device calls know the host alone.
 *
 * test: not clang the omp_target calls are libomptarget's
 */
#include "testing.h"
#include <omp.h>
#include <string.h>

enum { COUNT = 200 };

static void regions(void) {
    int array[COUNT], scalar = 5, executed = 0;
    for (int i = 0; i < COUNT; i++) array[i] = i;
#pragma omp target map(tofrom : array, executed) firstprivate(scalar)
    {
        CHECK(omp_is_initial_device());
        CHECK_EQ(scalar, 5);
        scalar = 6;
        for (int i = 0; i < COUNT; i++) array[i] += 1;
        executed++;
    }
    CHECK_EQ(executed, 1);
    CHECK_EQ(scalar, 5);
    for (int i = 0; i < COUNT; i++) CHECK_EQ(array[i], i + 1);
    volatile int yes = 1;
#pragma omp target map(tofrom : executed) if (yes) device(0)
    executed++;
    CHECK_EQ(executed, 2);
}

static void with_teams(void) {
    int array[COUNT] = {0}, sum = 0, leagues = 0;
#pragma omp target teams map(tofrom : leagues) num_teams(3) thread_limit(2)
    {
        CHECK(omp_get_num_teams() >= 1 && omp_get_num_teams() <= 3);
        INCREMENT(&leagues);
    }
    CHECK(leagues >= 1 && leagues <= 3);
#pragma omp target teams distribute parallel for map(tofrom : array, sum) reduction(+ : sum)
    for (int i = 0; i < COUNT; i++) {
        array[i]++;
        sum += i;
    }
    for (int i = 0; i < COUNT; i++) CHECK_EQ(array[i], 1);
    CHECK_EQ(sum, COUNT * (COUNT - 1) / 2);
#pragma omp target parallel num_threads(3) map(tofrom : sum)
    {
        CHECK_EQ(omp_get_num_threads(), 3);
#pragma omp atomic
        sum++;
    }
    CHECK_EQ(sum, COUNT * (COUNT - 1) / 2 + 3);
}

/* Mapping the host to itself copies nothing. */
static void data(void) {
    int array[COUNT] = {0}, *heap = calloc(COUNT, sizeof *heap);
#pragma omp target data map(tofrom : array)
    {
#pragma omp target map(alloc : array)
        array[3] = 7;
        CHECK_EQ(array[3], 7);
        array[4] = 8;
#pragma omp target update to(array)
#pragma omp target
        CHECK_EQ(array[4], 8);
#pragma omp target update from(array)
    }
#pragma omp target enter data map(to : heap [0:COUNT])
#pragma omp target map(alloc : heap [0:COUNT])
    heap[9] = 99;
#pragma omp target exit data map(from : heap [0:COUNT])
    CHECK_EQ(heap[9], 99);
    free(heap);
}

/* Target tasks take part in dependences and waits. */
static void asynchronous(int size) {
#pragma omp parallel num_threads(size)
#pragma omp single
    for (int round = 0; round < 20; round++) {
        int x = 0;
#pragma omp task depend(out : x) shared(x)
        {
            sched_yield();
            x = 1;
        }
#pragma omp target nowait depend(inout : x) map(tofrom : x)
        {
            CHECK_EQ(x, 1);
            x = 2;
        }
#pragma omp task depend(inout : x) shared(x)
        {
            CHECK_EQ(x, 2);
            x = 3;
        }
#pragma omp taskwait
        CHECK_EQ(x, 3);
#pragma omp target enter data map(to : x) nowait depend(out : x)
#pragma omp target update from(x) nowait depend(inout : x)
#pragma omp target exit data map(from : x) nowait depend(in : x)
#pragma omp taskwait
        CHECK_EQ(x, 3);
    }
}

/* Data constructs without nowait wait for their predecessors, although there is nothing to copy. */
static void waiting(int size) {
#pragma omp parallel num_threads(size)
#pragma omp single
    for (int round = 0; round < 5; round++) {
        int x = 0, other = 0;
        for (int which = 0; which < 3; which++) {
#pragma omp task depend(out : x) shared(x)
            {
                pause_ms(1);
                x = which;
            }
            if (which == 0) {
#pragma omp target enter data map(to : other) depend(in : x)
            } else if (which == 1) {
#pragma omp target update to(other) depend(in : x)
            } else {
#pragma omp target exit data map(from : other) depend(in : x)
            }
            CHECK_EQ(x, which);
            x = -1;
        }
#pragma omp taskwait
    }
}

static void calls(void) {
    int host = omp_get_initial_device(), from[COUNT], to[COUNT] = {0};
    CHECK_EQ(omp_get_num_devices(), 0);
    CHECK_EQ(omp_get_device_num(), host);
    for (int i = 0; i < COUNT; i++) from[i] = i * i;
    int *memory = omp_target_alloc(sizeof from, host);
    CHECK(memory != NULL);
    CHECK(omp_target_alloc(100, host + 5) == NULL);
    CHECK_EQ(omp_target_memcpy(memory, from, sizeof from, 0, 0, host, host), 0);
    CHECK_EQ(omp_target_memcpy(to, memory, 40, 4, 8, host, host), 0);
    CHECK(to[1] == from[2] && to[10] == from[11] && to[11] == 0);
    CHECK(omp_target_memcpy(to, memory, 40, 0, 0, host, host + 5) != 0);
    const size_t volume[2] = {3, 4}, start[2] = {1, 2}, none[2] = {0, 0}, extent[2] = {10, 20};
    CHECK_EQ(omp_target_memcpy_rect(to, from, sizeof(int), 2, volume, none, start, extent, extent,
                                    host, host),
             0);
    for (int row = 0; row < 3; row++)
        for (int column = 0; column < 4; column++)
            CHECK_EQ(to[row * 20 + column], from[(row + 1) * 20 + column + 2]);
    CHECK_EQ(omp_target_is_present(from, host), 1);
    CHECK_EQ(omp_target_is_present(from, host + 5), 0);
    CHECK(omp_target_associate_ptr(from, to, 4, 0, host) != 0);
    CHECK(omp_target_disassociate_ptr(from, host) != 0);
    omp_target_free(memory, host);
    omp_set_default_device(3);
    CHECK_EQ(omp_get_default_device(), 3);
    int executed = 0;
#pragma omp target map(tofrom : executed)
    executed = omp_is_initial_device();
    CHECK_EQ(executed, 1);
    omp_set_default_device(0);
}

int main(void) {
    test_limit(30);
    regions();
    with_teams();
    data();
    for (int size = 1; size <= 3; size++) {
        asynchronous(size);
        waiting(size);
    }
    calls();
    return 0;
}
