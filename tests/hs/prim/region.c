/* Regions that call a Haskell function from every thread. */
#include <omp.h>

typedef void ask(int thread, int size, int parallel);

void each_thread(int threads, ask *function) {
#pragma omp parallel num_threads(threads)
    function(omp_get_thread_num(), omp_get_num_threads(), omp_in_parallel());
}

void each_thread_nested(int threads, ask *function) {
    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(threads)
#pragma omp parallel num_threads(threads)
    function(omp_get_thread_num(), omp_get_num_threads(), omp_in_parallel());
}
