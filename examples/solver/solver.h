/* solver.h: reaction and diffusion; see solver.c. */
#ifndef SOLVER_H
#define SOLVER_H

/* Stores in rate[0..count-1] how fast each of u[0..count-1] reacts at time t. Called by several
 * threads at once, each with cells of its own; count may be 0. */
typedef void solver_reaction(double t, long count, const double *u, double *rate);

/* Advances u, of so many cells dx apart, by so many steps of dt. 0, or -1 if there is no memory.
 * Stable for dt up to 0.69 dx^2. */
int solver_run(solver_reaction *reaction, double *u, long cells, double dx, double dt, long steps);

#endif
