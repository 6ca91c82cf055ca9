/* lattice.h: the lattice structure of an orthogonal wavelet transform, in C and in C with OpenMP.
 *
 * A layer rotates neighbours: (a, b) becomes (c a + s b, s a - c b). The first layer takes the
 * pairs (0,1), (2,3), …, the next layer (1,2), (3,4), …, (n-1,0), and so on in turn. After the last
 * layer the even elements are the coarse signal, and the odd elements are the detail. The angles
 * determine the wavelet (P. P. Vaidyanathan and P.-Q. Hoang, 1988). Each layer is its own inverse.
 */
#ifndef WAVELET_LATTICE_H
#define WAVELET_LATTICE_H

#include <stddef.h>

/* Applies all layers in place; n is even. The weights are cosine and sine of each layer, one after
 * another. */
void lattice(double *x, size_t n, const double *weights, size_t layers);
void lattice_parallel(double *x, size_t n, const double *weights, size_t layers);

/* Computes the whole transform in place: the coarse half is transformed again while it has four
 * elements or more. The coarsest signal comes first, then details from coarse to fine. spare has n
 * elements. n is a power of two. */
void wavelet(double *x, double *spare, size_t n, const double *weights, size_t layers);
void wavelet_parallel(double *x, double *spare, size_t n, const double *weights, size_t layers);

#endif
