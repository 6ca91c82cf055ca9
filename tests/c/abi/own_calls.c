/* The runtime's own calls stay in the runtime, also where the program has a function of the same
 * name, as a tracer and a second runtime have.
 */
#include "testing.h"
#include <omp.h>
#include <stdbool.h>

static int strays;

/* These take the place of the runtime's in all calls of the program. */
int omp_get_active_level(void) {
    strays++;
    return 7;
}
void omp_set_num_threads(int threads) {
    (void)threads;
    strays++;
}
bool GOMP_loop_doacross_start(unsigned loops, long *counts, long schedule, long chunk, long *first,
                              long *last, unsigned long *reductions, void **memory) {
    (void)loops, (void)counts, (void)schedule, (void)chunk;
    (void)first, (void)last, (void)reductions, (void)memory;
    strays++;
    return false;
}

void omp_set_num_threads_(const int *threads);

int main(void) {
    test_limit(60);
    CHECK_EQ(omp_get_active_level(), 7);
    CHECK_EQ(strays, 1);

    CHECK(!omp_in_parallel());
    omp_set_num_threads_(&(int){3});
    CHECK_EQ(omp_get_max_threads(), 3);

    int sum = 0;
#pragma omp parallel num_threads(2)
    {
        CHECK(omp_in_parallel());
#pragma omp for ordered(1) schedule(runtime)
        for (int i = 0; i < 10; i++) {
#pragma omp ordered depend(sink : i - 1)
            sum += i;
#pragma omp ordered depend(source)
        }
    }
    CHECK_EQ(sum, 45);
    CHECK_EQ(strays, 1);
    return 0;
}
