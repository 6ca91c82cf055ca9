/* copy.h: one copy of an array of doubles, three ways to own the result. */
#ifndef PUZZLE_COPY_H
#define PUZZLE_COPY_H

#include <stddef.h>

/* Allocates the result with malloc, as the binding of 2012 did. */
double *copy_new(const double *from, size_t n);

/* Fills the caller's memory. */
void copy_into(double *to, const double *from, size_t n);

/* The same work with no binding at all: so many copies in a loop in C. */
void copy_times(double *to, const double *from, size_t n, size_t times);

#endif
