/* solver.h: reaction and diffusion; see solver.c. */
#ifndef SOLVER_H
#define SOLVER_H

/* Stores in rate[0..count-1] the rates of reaction of u[0..count-1] at time t. Several threads call
 * it at once, each with its own cells; count may be 0. */
typedef void solver_reaction(double t, long count, const double *u, double *rate);

/* Advances u, which has `cells` cells at a distance of dx, by `steps` steps of dt. Returns 0, or -1
 * if there is no memory. The method is stable for dt up to 0.69 dx^2. */
int solver_run(solver_reaction *reaction, double *u, long cells, double dx, double dt, long steps);

#endif
