/* A library that opens a region while it is being loaded, so the loader's lock is held. */
int threads;

__attribute__((constructor)) static void compute(void) {
#pragma omp parallel num_threads(4)
    {
#pragma omp atomic
        threads++;
    }
}
