// Cancellation destroys all constructed objects: the private copies of queued tasks, and of tasks
// that had begun.
// test: env OMP_CANCELLATION=true
// test: env OMP_CANCELLATION=false
#include "testing.h"
#include <omp.h>

namespace {

int alive, begun;

struct counted {
    long value;
    counted() : value(1) { INCREMENT(&alive); }
    counted(const counted &other) : value(other.value) { INCREMENT(&alive); }
    ~counted() { DECREMENT(&alive); }
};

void tasks(int size) {
    counted object;
#pragma omp parallel num_threads(size)
#pragma omp single
#pragma omp taskgroup
    for (int i = 0; i < 200; i++) {
#pragma omp task firstprivate(object, i)
        {
            counted local;
            INCREMENT(&begun);
#pragma omp cancellation point taskgroup
            CHECK_EQ(object.value, 1);
            if (i == 20) {
#pragma omp cancel taskgroup
                CHECK(!omp_get_cancellation());
            }
            local.value = object.value;
        }
    }
}

void regions(int size) {
    counted object;
#pragma omp parallel num_threads(size) firstprivate(object)
    {
        counted local;
        if (omp_get_thread_num() == size - 1) {
#pragma omp cancel parallel
        }
#pragma omp barrier
        local.value = object.value;
    }
}

} // namespace

int main() {
    test_limit(30);
    for (int round = 0; round < 20; round++)
        for (int size = 1; size <= 4; size++) {
            tasks(size);
            CHECK_EQ(alive, 0);
            regions(size);
            CHECK_EQ(alive, 0);
        }
    CHECK(begun > 0);
    return 0;
}
