/* The random regions of c/stress. Every team of two members or more counts as large, so it sums its
 * counts by a tree and hands tasks over. No team counts as crowded.
 *
 * test: alone
 * test: flags -fopenmp
 * test: env STRESS_THREADS=2 GOMP_SPINCOUNT=2000 OMP_CANCELLATION=true
 * test: env STRESS_THREADS=3 GOMP_SPINCOUNT=2000
 * test: env STRESS_THREADS=8 GOMP_SPINCOUNT=2000 OMP_CANCELLATION=true
 * test: env STRESS_THREADS=32 GOMP_SPINCOUNT=500 OMP_CANCELLATION=true
 * test: env STRESS_THREADS=3 OMP_WAIT_POLICY=passive
 */
#include "core/settings/config.h"
#include "core/state/team.h"

#define main stress
#include "../stress/stress.c"
#undef main

int main(void) {
    cst_team_few[0] = 1;
    cst_config.available = 1024;
    return stress();
}
