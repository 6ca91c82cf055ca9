/* Threadprivate variables in the heap, as in code of compilers that do not use the linker's
 * variables. Each thread has a copy, made by the constructor or from the initial value. The test
 * also covers copyin, and copies that persist.
 *
 * test: flags -fnoopenmp-use-tls -pthread
 * test: not clang-stock libomp's thread finds the values of a thread that has ended
 */
#include "testing.h"

#include <atomic>
#include <omp.h>
#include <thread>

static int plain = 7;
#pragma omp threadprivate(plain)

static std::atomic<int> living; /* the living objects of the class below, and of similar classes */

struct counter {
    int value;
    counter() : value(40) { living++; }
    counter(const counter &other) : value(other.value) { living++; }
    ~counter() { living--; }
    counter &operator=(const counter &other) {
        value = other.value;
        return *this;
    }
};
static counter object;
#pragma omp threadprivate(object)
static counter several[3];
#pragma omp threadprivate(several)

/* The copies of a thread are destroyed when the thread ends; the last copy uses another variable in
 * its destructor. The variables themselves stay. */
struct user {
    ~user() { object.value++; }
    int used = 0;
};
static user late;
#pragma omp threadprivate(late)

static void destroyed() {
    int before = living, inside = 0;
    std::thread([&] {
        object.value = 1;
        several[1].value = 1;
        inside = living - before;
    }).join();
    CHECK_EQ(inside, 1 + 3);
    CHECK_EQ(living, before);
    std::thread([] { late.used = 1; }).join();
    CHECK_EQ(living, before);
    omp_pause_resource_all(omp_pause_hard); /* the workers end */
    CHECK_EQ(living, 1 + 3);
}

/* A new thread finds nothing of a thread that has ended. */
static void one_after_the_other() {
    for (int i = 0; i < 3; i++) {
        int found = 0, made = 0;
        std::thread([&] {
            found = plain;
            made = object.value;
            plain = 99;
            object.value = 99;
        }).join();
        CHECK_EQ(found, 7);
        CHECK_EQ(made, 40);
    }
}

int main() {
    test_limit(20);
    omp_set_dynamic(0);
    plain += 1;
    int wrong = 0;
#pragma omp parallel num_threads(4) reduction(+ : wrong)
    {
        int number = omp_get_thread_num();
        wrong += plain != (number == 0 ? 8 : 7);
        wrong += object.value != 40;
        wrong += several[2].value != 40;
        plain = 100 + number;
        object.value += number;
        several[1].value = number;
    }
    CHECK_EQ(wrong, 0);
#pragma omp parallel num_threads(4) reduction(+ : wrong)
    {
        int number = omp_get_thread_num();
        wrong += plain != 100 + number;
        wrong += object.value != 40 + number;
        wrong += several[1].value != number;
    }
    CHECK_EQ(wrong, 0);
    plain = 5;
    object.value = 6;
#pragma omp parallel num_threads(4) copyin(plain, object) reduction(+ : wrong)
    wrong += plain != 5 || object.value != 6;
    CHECK_EQ(wrong, 0);
    one_after_the_other();
    destroyed();
    return 0;
}
