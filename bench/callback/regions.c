/* regions.c: regions that call back, as a C library would. */

/* `callers` members, the last ones, call `count` times each while the others wait for them. The sum
 * of what came back is returned, so that no call can be left out. */
double callback_region(double (*function)(double), int threads, int callers, long count) {
    double sum = 0;
#pragma omp parallel num_threads(threads) reduction(+ : sum)
    {
        int call = 0;
#pragma omp for schedule(static, 1)
        for (int i = 0; i < threads; i++) call = i >= threads - callers;
        if (call)
            for (long i = 0; i < count; i++) sum += function((double)i);
    }
    return sum;
}

/* What Haskell calls where one call is to be measured. */
double callback_plain(double x) {
    return x + 1;
}
