// oneTBB beside OpenMP: one thread of the program runs parallel loops of oneTBB, and another runs
// regions of OpenMP; then each runs within the other. The program prints its results. If permits
// are given, no thread of oneTBB may work beside a region that has all processors.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <omp.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_reduce.h>
#include <thread>

namespace {

// The number of pieces of oneTBB's loops, and the number of pieces of loops in a region that a
// thread outside the region executed.
std::atomic<long> pieces{0}, strange{0};
thread_local bool in_region;
bool regions_alone;

double work(long index) {
    double sum = 0;
    for (int i = 1; i < 2000; i++) sum += 1.0 / (index + i);
    return sum;
}

double piece(long index) {
    pieces++;
    if (regions_alone && !in_region) strange++;
    return work(index);
}

long by_tbb(long rounds) {
    long total = 0;
    for (long round = 0; round < rounds; round++)
        total += tbb::parallel_reduce(
            tbb::blocked_range<long>(0, 64), 0L,
            [](const tbb::blocked_range<long> &range, long sum) {
                for (long i = range.begin(); i < range.end(); i++) sum += long(1000 * piece(i));
                return sum;
            },
            [](long a, long b) { return a + b; });
    return total;
}

long by_openmp(long rounds) {
    long total = 0;
    for (long round = 0; round < rounds; round++) {
#pragma omp parallel for schedule(dynamic) reduction(+ : total)
        for (long i = 0; i < 64; i++) total += long(1000 * work(i));
    }
    return total;
}

long openmp_in_tbb() {
    std::atomic<long> total{0};
    tbb::parallel_for(0L, 32L, [&](long) { total += by_openmp(1); });
    return total;
}

// Each processor has a thread of the region, so oneTBB's own threads must not run.
long tbb_in_openmp() {
    long total = 0;
    pieces = 0;
    regions_alone = true;
#pragma omp parallel num_threads(omp_get_num_procs()) reduction(+ : total)
    {
        in_region = true;
#pragma omp barrier
        total += by_tbb(50);
#pragma omp barrier
        in_region = false;
    }
    regions_alone = false;
    return total / omp_get_num_procs();
}

bool permits() {
    const char *adopt = std::getenv("CAPSTAN_ADOPT");
    return dlsym(RTLD_DEFAULT, "tcmConnect") && adopt && std::strcmp(adopt, "none") != 0;
}

} // namespace

int main() {
    std::printf("alone: %ld %ld\n", by_tbb(200), by_openmp(200));
    long other = 0;
    std::thread thread([&] { other = by_tbb(1500); });
    long own = by_openmp(1500);
    thread.join();
    std::printf("beside each other: %ld %ld\n", other, own);
    std::printf("within each other: %ld", openmp_in_tbb());
    std::printf(" %ld\n", tbb_in_openmp());
    std::fprintf(stderr, "%ld of %ld pieces on threads of oneTBB's\n", strange.load(), pieces.load());
    if (permits() && strange > 0) {
        std::printf("threads of oneTBB's ran beside the region's, for %ld of %ld pieces\n", strange.load(),
                    pieces.load());
        return 1;
    }
}
