/* A solver for reaction and diffusion in one dimension, like that of a library: the user gives the
 * reaction as a function pointer.
 *
 *     du/dt = d2u/dx2 + reaction(t, u)
 *
 * The method of lines: differences in space, and the classical method of Runge and Kutta in time.
 * The ends keep their values. */
#include "solver.h"

#include <stdlib.h>

/* The data that the team shares. */
struct problem {
    solver_reaction *reaction;
    double *u, *stage, *slope, *sum;
    double dx, dt;
    long cells;
};

/* Computes the slope of the state u at the cells from..to-1, none of which is at an end. */
static void slope_of(const struct problem *p, double t, const double *u, long from, long to) {
    double scale = 1 / (p->dx * p->dx);
    p->reaction(t, to - from, u + from, p->slope + from);
    for (long i = from; i < to; i++) p->slope[i] += scale * (u[i - 1] - 2 * u[i] + u[i + 1]);
}

/* Advances the cells from..to-1 by one step. Each member of the team has its own cells, and waits
 * for the others before it reads its neighbours' cells. */
static void step(const struct problem *p, double t, long from, long to) {
    static const double weight[] = {1, 2, 2, 1}, ahead[] = {0, 0.5, 0.5, 1};
    for (int k = 0; k < 4; k++) {
        slope_of(p, t + ahead[k] * p->dt, k == 0 ? p->u : p->stage, from, to);
        for (long i = from; i < to; i++)
            p->sum[i] = (k == 0 ? 0 : p->sum[i]) + weight[k] * p->slope[i];
#pragma omp barrier
        if (k < 3)
            for (long i = from; i < to; i++)
                p->stage[i] = p->u[i] + ahead[k + 1] * p->dt * p->slope[i];
        else
            for (long i = from; i < to; i++) p->u[i] += p->dt / 6 * p->sum[i];
#pragma omp barrier
    }
}

int solver_run(solver_reaction *reaction, double *u, long cells, double dx, double dt, long steps) {
    double *memory = malloc(3 * (size_t)cells * sizeof *memory);
    if (!memory) return -1;
    const struct problem p = {reaction,           u,  memory, memory + cells,
                              memory + 2 * cells, dx, dt,     cells};
    p.stage[0] = u[0];
    p.stage[cells - 1] = u[cells - 1];
#pragma omp parallel
    {
        long from = 0, to = 0;
        /* The schedule gives each member one block of cells. */
#pragma omp for schedule(static)
        for (long i = 1; i < cells - 1; i++) {
            if (to == 0) from = i;
            to = i + 1;
        }
        for (long n = 0; n < steps; n++) step(&p, (double)n * dt, from, to);
    }
    free(memory);
    return 0;
}
