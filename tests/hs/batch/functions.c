/* Functions of all kinds, for batches. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

long no_arguments(void) {
    return 42;
}

void store(long *to, long what) {
    *to = what;
}

long weigh(long a, long b, long c, long d, long e, long f) {
    return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f;
}

double weigh_doubles(double a, double b, double c, double d, double e, double f, double g,
                     double h) {
    return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h;
}

/* The arguments alternate between floating-point and integer registers. */
double mix(double a, int b, float c, int64_t d, double e, uint8_t f, float g, int16_t h) {
    return a + 2 * b + 3 * (double)c + 4 * (double)d + 5 * e + 6 * f + 7 * (double)g + 8 * h;
}

float half(float a) {
    return a / 2;
}

int8_t negated(int8_t a) {
    return (int8_t)-a;
}

uint16_t next(uint16_t a) {
    return (uint16_t)(a + 1);
}

bool is_null(const void *a) {
    return a == NULL;
}

/* Adds the result of a function of the caller. */
int add_answer(int a, int (*ask)(int)) {
    return a + ask(a);
}

long sum_in_parallel(long count) {
    long total = 0;
#pragma omp parallel for reduction(+ : total)
    for (long i = 0; i < count; i++) total += i;
    return total;
}

/* Returns its argument; a caller may give both any type. */
int64_t same(int64_t word) {
    return word;
}
