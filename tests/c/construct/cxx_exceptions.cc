// Every member throws and catches exceptions at once, inside regions, constructs and tasks.
// Unwinding destroys objects, and critical sections and locks go on working.
#include "testing.h"
#include <omp.h>
#include <stdexcept>
#include <string>

namespace {

int alive;

struct counted {
    counted() { INCREMENT(&alive); }
    counted(const counted &) { INCREMENT(&alive); }
    ~counted() { DECREMENT(&alive); }
};

int thrower(int depth)
{
    counted here;
    if (depth == 0) throw std::runtime_error("from " + std::to_string(omp_get_thread_num()));
    return thrower(depth - 1) + 1;
}

void in_regions(int size)
{
    int caught = 0;
#pragma omp parallel num_threads(size)
    for (int round = 0; round < 200; round++) {
        try {
            thrower(5);
        } catch (const std::runtime_error &error) {
            CHECK(error.what() == "from " + std::to_string(omp_get_thread_num()));
            INCREMENT(&caught);
        }
    }
    CHECK_EQ(caught, 200 * size);
    CHECK_EQ(alive, 0);
}

void in_constructs(int size)
{
    int caught = 0;
    int excluded = 0; // protected by the critical section alone
#pragma omp parallel num_threads(size)
    {
#pragma omp for schedule(dynamic, 3)
        for (int i = 0; i < 100; i++) {
            try {
                thrower(i % 4);
            } catch (...) {
                INCREMENT(&caught);
            }
        }
#pragma omp critical
        {
            try {
                thrower(2);
            } catch (...) {
                excluded++;
            }
        }
#pragma omp single
        {
            try {
                thrower(1);
            } catch (...) {
                INCREMENT(&caught);
            }
        }
#pragma omp task shared(caught)
        {
            try {
                thrower(3);
            } catch (...) {
                INCREMENT(&caught);
            }
        }
    }
    CHECK_EQ(caught, 100 + 1 + size);
    CHECK_EQ(excluded, size);
    CHECK_EQ(alive, 0);
}

// The exception passes the library's frames around an inner region. It does not leave a region, but
// comes up to its edge.
void in_nested_regions()
{
    int caught = 0;
    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
    {
        try {
#pragma omp parallel num_threads(2)
            {
                try {
                    thrower(3);
                } catch (...) {
                    INCREMENT(&caught);
                }
            }
            thrower(2);
        } catch (...) {
            INCREMENT(&caught);
        }
    }
    CHECK_EQ(caught, 6);
    CHECK_EQ(alive, 0);
}

} // namespace

int main()
{
    test_limit(40);
    for (int size = 1; size <= 4; size++) {
        in_regions(size);
        in_constructs(size);
    }
    in_nested_regions();
    return 0;
}
