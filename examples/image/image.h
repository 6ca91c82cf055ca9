/* image.h: filters for pictures of three bytes a pixel, rows one after the other. Outside of the
 * picture lies what its edge shows. */
#ifndef IMAGE_H
#define IMAGE_H

/* The mean of the square of 2 radius + 1 pixels around each, rounded down; `from` and `to` must not
 * overlap. 0, or -1 if there is no memory. */
int image_blur(const unsigned char *from, unsigned char *to, long width, long height, long radius);

/* How steep the brightness is (Sobel's operator), at most 255, in all three bytes. The same. */
void image_edges(const unsigned char *from, unsigned char *to, long width, long height);

#endif
