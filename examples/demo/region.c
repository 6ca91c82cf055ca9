/* The OpenMP function that the demo's Haskell program calls: a parallel region with a loop of 1000
 * sines and two barriers. It is compiled with -fopenmp and knows nothing of its caller. */
#include <math.h>

enum { SINES = 1000 };

double demo_region(void) {
    double sum = 0;
#pragma omp parallel reduction(+ : sum)
    {
#pragma omp for /* a barrier at its end */
        for (int i = 0; i < SINES; i++) sum += sin(i * 0.001);
#pragma omp barrier
    }
    return sum;
}
