/* The palette that libimagequant finds for a picture that is computed, and the picture in its
 * colours:
 *
 *     libimagequant_palette COLOURS SPEED */
#include <libimagequant.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { WIDTH = 900, HEIGHT = 700 };

/* Waves of three colours, some of them half transparent. */
static void paint(uint8_t *pixels) {
    for (int y = 0; y < HEIGHT; y++) {
        for (int x = 0; x < WIDTH; x++) {
            uint8_t *pixel = pixels + 4 * (y * WIDTH + x);
            pixel[0] = (uint8_t)(127 + 120 * sin(x * 0.011 + y * 0.003));
            pixel[1] = (uint8_t)(127 + 120 * sin(x * 0.002 - y * 0.017));
            pixel[2] = (uint8_t)(x * y / 97 % 256);
            pixel[3] = x % 50 < 5 ? 128 : 255;
        }
    }
}

/* The end of a run in which a call of the library fails. */
static void check(liq_error error, const char *call) {
    if (error != LIQ_OK) {
        fprintf(stderr, "%s: error %d\n", call, (int)error);
        exit(1);
    }
}

static uint64_t digest(const uint8_t *bytes, size_t count) {
    uint64_t sum = 14695981039346656037U;
    for (size_t i = 0; i < count; i++) {
        sum = (sum ^ bytes[i]) * 1099511628211U;
    }
    return sum;
}

int main(int count, char **words) {
    if (count != 3) {
        fprintf(stderr, "usage: libimagequant_palette COLOURS SPEED\n");
        return 2;
    }
    static uint8_t pixels[4 * WIDTH * HEIGHT];
    static uint8_t indices[WIDTH * HEIGHT];
    paint(pixels);
    liq_attr *wishes = liq_attr_create();
    check(liq_set_max_colors(wishes, atoi(words[1])), "liq_set_max_colors");
    check(liq_set_speed(wishes, atoi(words[2])), "liq_set_speed");
    liq_image *image = liq_image_create_rgba(wishes, pixels, WIDTH, HEIGHT, 0);
    liq_result *result;
    check(liq_image_quantize(image, wishes, &result), "liq_image_quantize");
    check(liq_set_dithering_level(result, 0.8F), "liq_set_dithering_level");
    check(liq_write_remapped_image(result, image, indices, sizeof indices),
          "liq_write_remapped_image");
    const liq_palette *palette = liq_get_palette(result);
    for (unsigned i = 0; i < palette->count; i++) {
        liq_color colour = palette->entries[i];
        printf("%d %d %d %d\n", colour.r, colour.g, colour.b, colour.a);
    }
    printf("picture %016llx\n", (unsigned long long)digest(indices, sizeof indices));
    liq_result_destroy(result);
    liq_image_destroy(image);
    liq_attr_destroy(wishes);
    return 0;
}
