/* A library that opens a region while it is being loaded, so with the loader's lock held. */
int threads;

__attribute__((constructor)) static void compute(void) {
#pragma omp parallel num_threads(4)
    {
#pragma omp atomic
        threads++;
    }
}
