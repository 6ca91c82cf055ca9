/* The calls of GCC 4.9 for target, target data, update and teams: the host executes the function on
 * its own addresses. */
#include "testing.h"
#include <omp.h>
#include <stddef.h>

void GOMP_target(int, void (*)(void *), const void *, size_t, void **, size_t *, unsigned char *);
void GOMP_target_data(int, const void *, size_t, void **, size_t *, unsigned char *);
void GOMP_target_end_data(void);
void GOMP_target_update(int, const void *, size_t, void **, size_t *, unsigned char *);
void GOMP_teams(unsigned, unsigned);

static int teams;

static void on_host(void *data) {
    void **address = data;
    int *value = address[0];
    GOMP_teams(2, 1);
    teams = omp_get_num_teams();
    *value += 1;
}

int main(void) {
    int value = 5;
    void *addresses[1] = {&value};
    size_t sizes[1] = {sizeof value};
    unsigned char kinds[1] = {3};
    test_limit(20);
    for (int round = 1; round <= 5; round++) {
        GOMP_target_data(-1, NULL, 1, addresses, sizes, kinds);
        GOMP_target(-1, on_host, NULL, 1, addresses, sizes, kinds);
        GOMP_target_update(-1, NULL, 1, addresses, sizes, kinds);
        GOMP_target_end_data();
        CHECK_EQ(value, 5 + round);
        CHECK_EQ(teams, 1);
        CHECK_EQ(omp_get_level(), 0);
    }
    return 0;
}
