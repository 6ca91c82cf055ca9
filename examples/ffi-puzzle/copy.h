/* copy.h: a copy of an array of doubles, with three owners of the result. */
#ifndef PUZZLE_COPY_H
#define PUZZLE_COPY_H

#include <stddef.h>

/* Allocates the result with malloc, as the binding of 2012 did. */
double *copy_new(const double *from, size_t n);

/* Fills the caller's memory. */
void copy_into(double *to, const double *from, size_t n);

/* Makes `times` copies in a loop in C, without any binding. */
void copy_times(double *to, const double *from, size_t n, size_t times);

#endif
