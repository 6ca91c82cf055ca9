/* An OpenMP region, for a task to enter. */
#include <omp.h>

long capstan_test_region(long n) {
    long total = 0;
#pragma omp parallel for reduction(+ : total)
    for (long i = 0; i < n; i++) total += i;
    return total;
}
