/* Formats of OMP_AFFINITY_FORMAT, expanded into buffers of every size. A correct format does not
 * end the process, the length is the same each time, and nothing is written behind the end. */
#include "fuzz.h"

#include "core/settings/affinity_format.h"

/* Returns a buffer of exactly `size` bytes, so that a further byte would be seen. */
static char *expanded(const char *format, size_t size, size_t whole) {
    char *text = malloc(size ? size : 1);
    CHECK(text != NULL);
    CHECK(cst_affinity_capture(text, size, format) == whole);
    return text;
}

static void formats_are_kept(const char *format) {
    size_t length = strlen(format);
    char *copy = malloc(length + 1);
    cst_affinity_set_format(format, length);
    CHECK(copy && cst_affinity_get_format(copy, length) == length);
    CHECK(memcmp(copy, format, length) == 0);
    free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct input input = {data, size};
    size_t asked = next_byte(&input) + 256u * (next_byte(&input) % 16);
    char *format = next_text(&input, -1);
    formats_are_kept(format);
    if (*format && cst_affinity_check(format)) {
        size_t whole = cst_affinity_capture(NULL, 0, format);
        char *all = expanded(format, whole, whole), *part = expanded(format, asked, whole);
        CHECK(memcmp(all, part, asked < whole ? asked : whole) == 0);
        free(all);
        free(part);
    }
    free(format);
    return 0;
}
