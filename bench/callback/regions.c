/* regions.c: regions that call back, as a C library would.
 *
 * Each member calls the function `count` times; the sum of what it returned is returned, so
 * that no call can be left out. */
double callback_sum(double (*function)(double), int threads, long count) {
    double sum = 0;
#pragma omp parallel num_threads(threads) reduction(+ : sum)
    for (long i = 0; i < count; i++) sum += function((double)i);
    return sum;
}

/* What a call costs in C. */
double callback_plain(double x) {
    return x + 1;
}
