/* Tasks walk a list: each makes a leaf and the task of the next node. The walk needs no stack for
 * each node, as a member nests only a limited number of tasks where they are made. */
#include "testing.h"
#include <omp.h>

enum { NODES = 300000 };

static int nodes, leaves;

static void walk(int rest) {
    INCREMENT(&nodes);
    if (rest == 1) return;
#pragma omp task
    INCREMENT(&leaves);
#pragma omp task
    walk(rest - 1);
}

int main(void) {
    for (int size = 2; size <= 8; size *= 2) {
        nodes = leaves = 0;
#pragma omp parallel num_threads(size)
#pragma omp single
        walk(NODES);
        CHECK_EQ(nodes, NODES);
        CHECK_EQ(leaves, NODES - 1);
    }
    return 0;
}
