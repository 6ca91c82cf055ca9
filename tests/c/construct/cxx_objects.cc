// C++ objects in clauses: firstprivate, lastprivate, copyprivate, reductions and tasks construct
// and destroy the same number of objects. Loops run over iterators, threads of the C++ library are
// masters, and workers use thread_local objects.
#include "testing.h"
#include <list>
#include <map>
#include <omp.h>
#include <string>
#include <thread>
#include <vector>

namespace {

int alive, made;

struct value {
    std::string text;
    long number;
    explicit value(long n = 0) : text(100, 'x'), number(n)
    {
        INCREMENT(&alive);
        INCREMENT(&made);
    }
    value(const value &other) : text(other.text), number(other.number)
    {
        INCREMENT(&alive);
        INCREMENT(&made);
    }
    value &operator=(const value &) = default;
    ~value() { DECREMENT(&alive); }
    value &operator+=(const value &other)
    {
        number += other.number;
        return *this;
    }
};

#pragma omp declare reduction(+ : value : omp_out += omp_in) initializer(omp_priv = value(0))

void clauses(int size)
{
    {
        value first(5), last(0), sum(100), copied(0);
#pragma omp parallel num_threads(size) firstprivate(first)
        {
            CHECK_EQ(first.number, 5);
            first.number += omp_get_thread_num();
#pragma omp for lastprivate(last) reduction(+ : sum) schedule(dynamic, 2)
            for (int i = 0; i < 50; i++) {
                last.number = i;
                sum += value(i);
            }
            value mine(-1);
#pragma omp single copyprivate(mine)
            mine.number = 77;
            CHECK_EQ(mine.number, 77);
            CHECK_EQ(mine.text.size(), 100u);
            for (int i = 0; i < 10; i++) {
#pragma omp task firstprivate(mine)
                {
                    CHECK_EQ(mine.number, 77);
                    mine.text += "more";
                }
            }
        }
        CHECK_EQ(first.number, 5);
        CHECK_EQ(last.number, 49);
        CHECK_EQ(sum.number, 100 + 1225);
    }
    CHECK_EQ(alive, 0);
    CHECK(made > 4);
}

void iterators(int size)
{
    std::vector<int> numbers(1000);
    for (int i = 0; i < 1000; i++) numbers[i] = i;
    long sum = 0;
#pragma omp parallel for num_threads(size) reduction(+ : sum) schedule(dynamic, 7)
    for (std::vector<int>::iterator it = numbers.begin(); it < numbers.end(); ++it) sum += *it;
    CHECK_EQ(sum, 499500);
    sum = 0;
#pragma omp parallel for num_threads(size) reduction(+ : sum) schedule(guided)
    for (auto it = numbers.end() - 1; it >= numbers.begin() + 500; it -= 2) sum += *it;
    CHECK_EQ(sum, (999 + 501) * 250 / 2);
    sum = 0;
#pragma omp parallel for num_threads(size) reduction(+ : sum)
    for (int number : numbers) sum += number;
    CHECK_EQ(sum, 499500);
    std::list<int> linked(numbers.begin(), numbers.end());
    sum = 0;
#pragma omp parallel num_threads(size)
#pragma omp single
    for (auto it = linked.begin(); it != linked.end(); ++it) {
#pragma omp task firstprivate(it) shared(sum)
        {
#pragma omp atomic
            sum += *it;
        }
    }
    CHECK_EQ(sum, 499500);
}

thread_local std::map<std::string, int> of_thread;

void thread_locals(int size)
{
#pragma omp parallel num_threads(size)
    for (int i = 0; i < 50; i++) {
        std::string key = std::to_string(i);
        int before = of_thread[key];
        of_thread[key]++;
        sched_yield();
        CHECK_EQ(of_thread[key], before + 1);
    }
}

void std_threads()
{
    std::vector<std::thread> masters;
    long total = 0;
    for (int m = 0; m < 8; m++)
        masters.emplace_back([&total] {
            for (int round = 0; round < 20; round++) {
                long sum = 0;
#pragma omp parallel num_threads(3) reduction(+ : sum)
                sum += omp_get_thread_num();
#pragma omp atomic
                total += sum;
            }
        });
    for (auto &master : masters) master.join();
    CHECK_EQ(total, 8 * 20 * 3);
}

// The lock around the construction of a static object is not the runtime's, and many members may
// wait for it.
struct slow {
    int ready;
    slow()
    {
        pause_ms(5);
        ready = 1;
    }
};

void static_in_function()
{
#pragma omp parallel num_threads(4)
    {
        static slow once;
        CHECK_EQ(once.ready, 1);
    }
}

} // namespace

int main()
{
    test_limit(40);
    for (int size = 1; size <= 4; size++) {
        clauses(size);
        iterators(size);
        thread_locals(size);
    }
    std_threads();
    static_in_function();
    return 0;
}
