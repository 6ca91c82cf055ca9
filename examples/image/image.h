/* image.h: filters for pictures of three bytes a pixel, rows one after the other. Outside the
 * picture its edge pixels are repeated. */
#ifndef IMAGE_H
#define IMAGE_H

/* Computes the mean of the square with a side of 2 radius + 1 pixels around each pixel, rounded
 * down. `from` and `to` must not overlap. Returns 0, or -1 if there is no memory. */
int image_blur(const unsigned char *from, unsigned char *to, long width, long height, long radius);

/* Computes the gradient of the brightness (Sobel's operator), at most 255, in all three bytes.
 * `from` and `to` must not overlap. */
void image_edges(const unsigned char *from, unsigned char *to, long width, long height);

#endif
