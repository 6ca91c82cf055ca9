/* The user's questions about places, binding and affinity texts. */
#include "abi/omp/both.h"
#include "abi/omp/prototypes.h"

#include "abi/whole.h"
#include "core/front.h"

CST_WHOLE(omp_place);

/* --- places -------------------------------------------------------------------------------- */

int omp_get_proc_bind(void) {
    return cst_known_icv()->bind;
}

int omp_get_num_places(void) {
    return (int)cst_places.count;
}

static const uint64_t *place(int number) {
    if (number < 0 || (uint32_t)number >= cst_places.count) return NULL;
    return cst_place_mask(&cst_places, (uint32_t)number);
}

int omp_get_place_num_procs(int number) {
    const uint64_t *mask = place(number);
    int count = 0;
    for (uint32_t w = 0; mask && w < cst_places.words; w++) count += cst_bits_set(mask[w]);
    return count;
}

void omp_get_place_proc_ids(int number, int *ids) {
    const uint64_t *mask = place(number);
    for (size_t i = 0; mask && i < 64 * (size_t)cst_places.words; i++)
        if (cst_mask_has(mask, i)) *ids++ = (int)i;
}

/* For a thread that is not known yet, this is the binding that it would get. */
static struct cst_binding binding(void) {
    return cst_known() ? *cst_bind_self(cst_self()) : cst_place_here();
}

int omp_get_place_num(void) {
    return (int)binding().place - 1;
}

int omp_get_partition_num_places(void) {
    return (int)binding().length;
}

void omp_get_partition_place_nums(int *places) {
    struct cst_binding mine = binding();
    for (uint32_t i = 0; i < mine.length; i++) *places++ = (int)(mine.first + i);
}

/* --- texts --------------------------------------------------------------------------------- */

void omp_set_affinity_format(const char *format) {
    size_t length = 0;
    while (format[length]) length++;
    cst_affinity_set_format(format, length);
}

/* A C text ends with a zero, however short the buffer is. */
static void terminate(char *buffer, size_t size, size_t length) {
    if (size > 0) buffer[length < size ? length : size - 1] = '\0';
}

size_t omp_get_affinity_format(char *buffer, size_t size) {
    size_t length = cst_affinity_get_format(buffer, size);
    terminate(buffer, size, length);
    return length;
}

size_t omp_capture_affinity(char *buffer, size_t size, const char *format) {
    size_t length = cst_affinity_capture(buffer, size, format);
    terminate(buffer, size, length);
    return length;
}

void omp_display_affinity(const char *format) {
    cst_affinity_display(format);
}

void omp_display_env(int verbose) {
    cst_config_display(verbose != 0);
}

/* --- the same for programs of clang --------------------------------------------------------- */

CST_FOR_BOTH(omp_get_proc_bind);
CST_FOR_BOTH(omp_get_num_places);
CST_FOR_BOTH(omp_get_place_num_procs);
CST_FOR_BOTH(omp_get_place_proc_ids);
CST_FOR_BOTH(omp_get_place_num);
CST_FOR_BOTH(omp_get_partition_num_places);
CST_FOR_BOTH(omp_get_partition_place_nums);
CST_FOR_BOTH(omp_display_env);
