/* A library of the program that uses OpenMP. */
int part_sum(int threads, int count);

int part_sum(int threads, int count) {
    int sum = 0;
#pragma omp parallel for num_threads(threads) schedule(dynamic, 7) reduction(+ : sum)
    for (int i = 0; i < count; i++) sum += i;
    return sum;
}
