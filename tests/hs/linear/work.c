/* C on parts of an array: a region, and the same work by one thread. */
#include <stddef.h>

void double_in_parallel(double *elements, size_t count) {
#pragma omp parallel for num_threads(2)
    for (size_t i = 0; i < count; i++) elements[i] *= 2;
}

double sum(const double *elements, size_t count) {
    double total = 0;
    for (size_t i = 0; i < count; i++) total += elements[i];
    return total;
}

void copy_elements(const double *from, size_t from_count, double *to, size_t to_count) {
    for (size_t i = 0; i < from_count && i < to_count; i++) to[i] = from[i];
}
