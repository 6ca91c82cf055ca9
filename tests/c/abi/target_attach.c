/* A target region gets a private copy of a variable with a descriptor, as GCC 13 and newer ask. The
 * copied descriptor points to the copied data, at once and if the region is a task.
 * test: not stock GCC 12's library copies the descriptor alone
 */
#include "testing.h"
#include <omp.h>
#include <stddef.h>

enum { FIRSTPRIVATE = 0x30c, ATTACH = 0x50, DEFAULT_DEVICE = -1, NOWAIT = 1, LENGTH = 4 };

extern void GOMP_target_ext(int, void (*)(void *), size_t, void **, size_t *, unsigned short *,
                            unsigned, void **, void **);

struct descriptor {
    long rank;
    int *data;
};

static int executed;

/* The function that the compiler makes of the region: its argument is the array of addresses. */
static void body(void *argument) {
    struct descriptor *copy = *(struct descriptor **)argument;
    CHECK_EQ(copy->rank, 7);
    for (int i = 0; i < LENGTH; i++) CHECK_EQ(copy->data[i], i);
    for (int i = 0; i < LENGTH; i++) copy->data[i] = -1;
    INCREMENT(&executed);
}

static void empty(void *argument) {
    struct descriptor *copy = *(struct descriptor **)argument;
    CHECK(copy->data == NULL);
    INCREMENT(&executed);
}

static void target(void (*function)(void *), struct descriptor *variable, unsigned flags) {
    void *addresses[3] = {variable, variable->data, &addresses[0]};
    size_t sizes[3] = {sizeof *variable, variable->data ? LENGTH * sizeof(int) : 0,
                       offsetof(struct descriptor, data)};
    unsigned short kinds[3] = {FIRSTPRIVATE, FIRSTPRIVATE, ATTACH};
    GOMP_target_ext(DEFAULT_DEVICE, function, 3, addresses, sizes, kinds, flags, NULL, NULL);
}

int main(void) {
    test_limit(20);
    int data[LENGTH] = {0, 1, 2, 3};
    struct descriptor variable = {7, data}, unallocated = {7, NULL};
    target(body, &variable, 0);
    target(empty, &unallocated, 0);
    CHECK_EQ(executed, 2);
#pragma omp parallel num_threads(3)
#pragma omp single
    for (int i = 0; i < 5; i++) target(body, &variable, NOWAIT);
    CHECK_EQ(executed, 7);
    for (int i = 0; i < LENGTH; i++) CHECK_EQ(data[i], i);
    CHECK(variable.data == data);
    return 0;
}
