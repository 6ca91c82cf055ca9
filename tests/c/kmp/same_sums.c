/* With KMP_DETERMINISTIC_REDUCTION, sums have the same bits whatever the order in which the members
 * come: of a variable that atomic operations could update, of several, and of structures.
 *
 * test: env KMP_DETERMINISTIC_REDUCTION=true
 */
#include "testing.h"

#include <omp.h>
#include <string.h>

enum { LENGTH = 240, ROUNDS = 60 };

static double number[LENGTH];

struct sums {
    double one;
    double two, three;
    struct pair {
        double sum, count;
    } pair;
};

#pragma omp declare reduction(add                                                                  \
                              : struct pair                                                        \
                              : omp_out.sum += omp_in.sum, omp_out.count += omp_in.count)          \
    initializer(omp_priv = (struct pair){0, 0})

/* Another member is the last one each time. */
static void come_late(int round) {
    if (omp_get_thread_num() == round % omp_get_num_threads()) usleep(200);
}

static struct sums add(int size, int round) {
    double one = 0, two = 0, three = 0;
    struct pair pair = {0, 0};
#pragma omp parallel num_threads(size)
    {
#pragma omp for schedule(static) reduction(+ : one)
        for (int i = 0; i < LENGTH; i++) {
            if (i % (LENGTH / 24) == 0) come_late(round);
            one += number[i];
        }
#pragma omp for schedule(static) reduction(+ : two) reduction(- : three) nowait
        for (int i = 0; i < LENGTH; i++) {
            if (i % (LENGTH / 24) == 0) come_late(round);
            two += number[i];
            three -= number[i] / 3;
        }
    }
#pragma omp parallel num_threads(size) reduction(add : pair)
    {
        come_late(round);
        for (int i = omp_get_thread_num(); i < LENGTH; i += omp_get_num_threads()) {
            pair.sum += number[i];
            pair.count += 1;
        }
    }
    return (struct sums){one, two, three, pair};
}

int main(void) {
    test_limit(60);
    omp_set_dynamic(0);
    double sign = 1;
    for (int i = 0; i < LENGTH; i++, sign = -sign)
        number[i] = sign * (i % 7 ? 1.0 / (i + 1) : 1e12 / (i + 3));
    for (int size = 1; size <= 9; size += size < 5 ? 1 : 4) {
        struct sums first = add(size, 0);
        CHECK_EQ((long)first.pair.count, LENGTH);
        int others = 0;
        for (int round = 1; round < ROUNDS; round++) {
            struct sums sums = add(size, round);
            others += memcmp(&sums, &first, sizeof sums) != 0;
        }
        CHECK_EQ(others, 0);
    }
    return 0;
}
