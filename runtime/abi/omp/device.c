/* The user's calls about devices. The host is the only device, and its memory the only memory. */
#include "abi/omp/both.h"
#include "abi/omp/prototypes.h"

#include "abi/gomp/facts.h"
#include "abi/whole.h"
#include "core/front.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

CST_WHOLE(omp_device);

/* --- numbers ------------------------------------------------------------------------------ */

void omp_set_default_device(int device) {
    if (device != CST_DEVICE_DEFAULT) cst_own_icv()->default_device = device;
}

int omp_get_default_device(void) {
    return cst_known_icv()->default_device;
}

int omp_get_num_devices(void) {
    return 0;
}

int omp_get_initial_device(void) {
    return CST_DEVICE_HOST;
}

int omp_get_device_num(void) {
    return CST_DEVICE_HOST;
}

int omp_is_initial_device(void) {
    return 1;
}

static const char host_uid[] = "OMP_INITIAL_DEVICE";

const char *omp_get_uid_from_device(int device) {
    if (device == CST_DEVICE_DEFAULT) device = omp_get_default_device();
    return device == CST_DEVICE_HOST || device == CST_DEVICE_INITIAL ? host_uid : NULL;
}

int omp_get_device_from_uid(const char *uid) {
    return uid && strcmp(uid, host_uid) == 0 ? CST_DEVICE_INITIAL : CST_DEVICE_INVALID;
}

/* --- memory ------------------------------------------------------------------------------- */

void *omp_target_alloc(size_t size, int device) {
    return cst_device_is_host(device) ? malloc(size) : NULL;
}

void omp_target_free(void *memory, int device) {
    if (cst_device_is_host(device)) free(memory);
}

int omp_target_is_present(const void *memory, int device) {
    return memory && cst_device_is_host(device);
}

/* Answers as the libgomp of the GCC that builds this file. The libgomp of GCC 13 to 15 finds any
 * address accessible, even a null pointer, and does not know omp_default_device. Older ones lack
 * the call. */
int omp_target_is_accessible(const void *memory, size_t size, int device) {
    bool old = __GNUC__ >= 13 && __GNUC__ < 16;
    if (old ? device == CST_DEVICE_DEFAULT : !memory || size == 0) return 0;
    return cst_device_is_host(device);
}

/* The host's memory cannot stand for the memory of a device. */
int omp_target_associate_ptr(const void *host, const void *device_memory, size_t size,
                             size_t offset, int device) {
    (void)host, (void)device_memory, (void)size, (void)offset;
    (void)cst_device_is_host(device);
    return EINVAL;
}

int omp_target_disassociate_ptr(const void *host, int device) {
    (void)host;
    (void)cst_device_is_host(device);
    return EINVAL;
}

void *omp_get_mapped_ptr(const void *memory, int device) {
    return memory && cst_device_is_host(device) ? (void *)memory : NULL;
}

void *omp_target_memset(void *memory, int value, size_t count, int device) {
    (void)cst_device_is_host(device); /* an unknown device means the host, as in libgomp */
    return memset(memory, value, count);
}

static bool both_host(int to_device, int from_device) {
    return cst_device_is_host(to_device) && cst_device_is_host(from_device);
}

int omp_target_memcpy(void *to, const void *from, size_t length, size_t to_offset,
                      size_t from_offset, int to_device, int from_device) {
    if (!both_host(to_device, from_device)) return EINVAL;
    memcpy((char *)to + to_offset, (const char *)from + from_offset, length);
    return 0;
}

/* --- copies of a part of an array --------------------------------------------------------- */

/* The program's description of the two arrays, outermost dimension first. */
struct box {
    size_t element;
    int dimensions;
    const size_t *volume, *to_offsets, *from_offsets, *to_sizes, *from_sizes;
};

/* Pieces of memory along one dimension. */
struct axis {
    size_t count, to_step, from_step;
};

/* The plan of a copy: `length` bytes for each point of the axes, the innermost first. A dimension
 * of one piece is no axis. A number of bytes has at most MOST_AXES factors above 1. */
enum { MOST_AXES = 64 };
struct plan {
    char *to;
    const char *from;
    size_t length;
    int axes;
    struct axis axis[MOST_AXES];
};

static bool times(size_t a, size_t b, size_t *product) {
    return !__builtin_mul_overflow(a, b, product);
}

/* Adds a * b. */
static bool add_product(size_t *sum, size_t a, size_t b) {
    size_t product;
    return times(a, b, &product) && !__builtin_add_overflow(*sum, product, sum);
}

static bool is_empty(const struct box *box) {
    bool empty = box->element == 0;
    for (int i = 0; i < box->dimensions; i++) empty |= box->volume[i] == 0;
    return empty;
}

/* Plans a copy of at least one byte. False if an offset or a size does not fit its type. */
static bool make_plan(const struct box *box, struct plan *plan) {
    size_t to_slice = box->element, from_slice = box->element, to_offset = 0, from_offset = 0;
    size_t bytes = box->element, to_end = 0, from_end = 0;
    plan->axes = 0;
    plan->length = box->element;
    for (int i = box->dimensions - 1; i >= 0; i--) {
        size_t count = box->volume[i];
        if (!times(bytes, count, &bytes) ||
            !add_product(&to_offset, box->to_offsets[i], to_slice) ||
            !add_product(&from_offset, box->from_offsets[i], from_slice) ||
            !add_product(&to_end, count - 1, to_slice) ||
            !add_product(&from_end, count - 1, from_slice))
            return false;
        if (i == box->dimensions - 1)
            plan->length = bytes; /* the innermost dimension is one piece */
        else if (count > 1)
            plan->axis[plan->axes++] = (struct axis){count, to_slice, from_slice};
        if (i > 0 && (!times(to_slice, box->to_sizes[i], &to_slice) ||
                      !times(from_slice, box->from_sizes[i], &from_slice)))
            return false;
    }
    plan->to += to_offset;
    plan->from += from_offset;
    return !__builtin_add_overflow(to_end, to_offset, &to_end) &&
           !__builtin_add_overflow(from_end, from_offset, &from_end);
}

/* Visits the points of the axes in the manner of an odometer. */
static void copy_planned(const struct plan *plan) {
    size_t at[MOST_AXES] = {0};
    char *to = plan->to;
    const char *from = plan->from;
    while (plan->length > 0) {
        memcpy(to, from, plan->length);
        int turned = 0;
        for (; turned < plan->axes && ++at[turned] == plan->axis[turned].count; turned++) {
            at[turned] = 0;
            to -= (plan->axis[turned].count - 1) * plan->axis[turned].to_step;
            from -= (plan->axis[turned].count - 1) * plan->axis[turned].from_step;
        }
        if (turned == plan->axes) return;
        to += plan->axis[turned].to_step;
        from += plan->axis[turned].from_step;
    }
}

/* The result of the call; `length` 0: there is nothing to copy. Without addresses, the call asks
 * for the largest number of dimensions. */
static int plan_box(void *to, const void *from, const struct box *box, int to_device,
                    int from_device, struct plan *plan) {
    *plan = (struct plan){.to = to, .from = from};
    if (!to && !from) return INT_MAX;
    if (!both_host(to_device, from_device) || box->dimensions < 1) return EINVAL;
    return is_empty(box) || make_plan(box, plan) ? 0 : EINVAL;
}

int omp_target_memcpy_rect(void *to, const void *from, size_t element, int dimensions,
                           const size_t *volume, const size_t *to_offsets,
                           const size_t *from_offsets, const size_t *to_sizes,
                           const size_t *from_sizes, int to_device, int from_device) {
    struct box box = {element, dimensions, volume, to_offsets, from_offsets, to_sizes, from_sizes};
    struct plan plan;
    int answer = plan_box(to, from, &box, to_device, from_device, &plan);
    if (answer == 0) copy_planned(&plan);
    return answer;
}

/* --- the same as tasks -------------------------------------------------------------------- */

enum { DEPEND_HEADER = 5 }; /* 0, count, three counts of kinds that are not objects */

/* Makes a task with these dependences. The array has GCC's form of `depend` clauses with depend
 * objects only. Returns 0 or ENOMEM. */
static int as_task(gomp_body *body, void *data, size_t size, int count, omp_depend_t *depend) {
    if (count <= 0 || !depend) {
        GOMP_task(body, data, NULL, (long)size, _Alignof(max_align_t), true, 0, NULL, 0, NULL);
        return 0;
    }
    void **list = calloc((size_t)count + DEPEND_HEADER, sizeof *list);
    if (!list) return ENOMEM;
    list[1] = (void *)(uintptr_t)count;
    for (int i = 0; i < count; i++) list[DEPEND_HEADER + i] = &depend[i];
    GOMP_task(body, data, NULL, (long)size, _Alignof(max_align_t), true, GOMP_TASK_DEPEND, list, 0,
              NULL);
    free(list);
    return 0;
}

struct copy {
    char *to;
    const char *from;
    size_t length;
};

static void run_copy(void *data) {
    struct copy *copy = data;
    memcpy(copy->to, copy->from, copy->length);
}

int omp_target_memcpy_async(void *to, const void *from, size_t length, size_t to_offset,
                            size_t from_offset, int to_device, int from_device, int count,
                            omp_depend_t *depend) {
    if (!both_host(to_device, from_device)) return EINVAL;
    struct copy copy = {(char *)to + to_offset, (const char *)from + from_offset, length};
    return as_task(run_copy, &copy, sizeof copy, count, depend);
}

static void run_plan(void *data) {
    copy_planned(data);
}

int omp_target_memcpy_rect_async(void *to, const void *from, size_t element, int dimensions,
                                 const size_t *volume, const size_t *to_offsets,
                                 const size_t *from_offsets, const size_t *to_sizes,
                                 const size_t *from_sizes, int to_device, int from_device,
                                 int count, omp_depend_t *depend) {
    struct box box = {element, dimensions, volume, to_offsets, from_offsets, to_sizes, from_sizes};
    struct plan plan;
    int answer = plan_box(to, from, &box, to_device, from_device, &plan);
    return answer ? answer : as_task(run_plan, &plan, sizeof plan, count, depend);
}

struct fill {
    void *memory;
    int value;
    size_t length;
};

static void run_fill(void *data) {
    struct fill *fill = data;
    memset(fill->memory, fill->value, fill->length);
}

void *omp_target_memset_async(void *memory, int value, size_t length, int device, int count,
                              omp_depend_t *depend) {
    (void)cst_device_is_host(device);
    struct fill fill = {memory, value, length};
    if (as_task(run_fill, &fill, sizeof fill, count, depend) != 0)
        cst_memory_exhausted("dependences of tasks", (size_t)count * sizeof *depend);
    return memory;
}

/* --- the same for programs of clang --------------------------------------------------------- */

CST_FOR_BOTH(omp_set_default_device);
CST_FOR_BOTH(omp_get_default_device);
CST_FOR_BOTH(omp_get_num_devices);
CST_FOR_BOTH(omp_get_initial_device);
CST_FOR_BOTH(omp_get_device_num);
CST_FOR_BOTH(omp_is_initial_device);
CST_FOR_BOTH(omp_get_uid_from_device);
CST_FOR_BOTH(omp_get_device_from_uid);
CST_FOR_BOTH(omp_target_alloc);
CST_FOR_BOTH(omp_target_free);
CST_FOR_BOTH(omp_target_is_present);
CST_FOR_BOTH(omp_target_is_accessible);
CST_FOR_BOTH(omp_target_associate_ptr);
CST_FOR_BOTH(omp_target_disassociate_ptr);
CST_FOR_BOTH(omp_get_mapped_ptr);
CST_FOR_BOTH(omp_target_memset);
CST_FOR_BOTH(omp_target_memcpy);
CST_FOR_BOTH(omp_target_memcpy_rect);
CST_FOR_BOTH(omp_target_memcpy_async);
CST_FOR_BOTH(omp_target_memcpy_rect_async);
CST_FOR_BOTH(omp_target_memset_async);
