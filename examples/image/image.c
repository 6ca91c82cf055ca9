/* Filters of pictures, parallel over rows by OpenMP. All arithmetic uses integers, so the result
 * does not depend on the number of threads. */
#include "image.h"

#include <stdlib.h>

enum { CHANNELS = 3 };

static long within(long i, long count) {
    return i < 0 ? 0 : i < count ? i : count - 1;
}

/* Computes the sums of 2 radius + 1 neighbouring pixels: at each step one pixel enters the sum and
 * one leaves it. */
static void sum_row(const unsigned char *row, unsigned *sums, long width, long radius) {
    for (long c = 0; c < CHANNELS; c++) {
        unsigned sum = 0;
        for (long i = -radius; i <= radius; i++) sum += row[CHANNELS * within(i, width) + c];
        for (long x = 0; x < width; x++) {
            sums[CHANNELS * x + c] = sum;
            sum += row[CHANNELS * within(x + radius + 1, width) + c];
            sum -= row[CHANNELS * within(x - radius, width) + c];
        }
    }
}

static void mean_row(const unsigned *sums, unsigned char *to, long y, long width, long height,
                     long radius) {
    unsigned area = (unsigned)((2 * radius + 1) * (2 * radius + 1));
    for (long x = 0; x < CHANNELS * width; x++) {
        unsigned sum = 0;
        for (long i = y - radius; i <= y + radius; i++)
            sum += sums[CHANNELS * width * within(i, height) + x];
        to[x] = (unsigned char)(sum / area);
    }
}

int image_blur(const unsigned char *from, unsigned char *to, long width, long height, long radius) {
    long row = CHANNELS * width;
    unsigned *sums = malloc((size_t)(row * height) * sizeof *sums);
    if (!sums) return -1;
#pragma omp parallel
    {
#pragma omp for
        for (long y = 0; y < height; y++) sum_row(from + row * y, sums + row * y, width, radius);
#pragma omp for
        for (long y = 0; y < height; y++) mean_row(sums, to + row * y, y, width, height, radius);
    }
    free(sums);
    return 0;
}

/* Computes the brightness; the weights of red, green and blue are in units of 1/256. */
static int brightness(const unsigned char *pixel) {
    return (77 * pixel[0] + 150 * pixel[1] + 29 * pixel[2]) / 256;
}

static int steepness(const unsigned char *rows[3], long x, long width) {
    long at[] = {CHANNELS * within(x - 1, width), CHANNELS * x, CHANNELS * within(x + 1, width)};
    int across = 0, down = 0;
    for (int i = 0; i < 3; i++) {
        int weight = i == 1 ? 2 : 1;
        across += weight * (brightness(rows[i] + at[2]) - brightness(rows[i] + at[0]));
        down += weight * (brightness(rows[2] + at[i]) - brightness(rows[0] + at[i]));
    }
    int sum = abs(across) + abs(down);
    return sum < 255 ? sum : 255;
}

void image_edges(const unsigned char *from, unsigned char *to, long width, long height) {
    long row = CHANNELS * width;
#pragma omp parallel for
    for (long y = 0; y < height; y++) {
        const unsigned char *rows[] = {from + row * within(y - 1, height), from + row * y,
                                       from + row * within(y + 1, height)};
        for (long x = 0; x < width; x++)
            for (long c = 0; c < CHANNELS; c++)
                to[row * y + CHANNELS * x + c] = (unsigned char)steepness(rows, x, width);
    }
}
