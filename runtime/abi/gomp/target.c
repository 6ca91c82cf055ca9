/* target and its data constructs, executed by the host: GCC's calls, decoded.
 *
 * The host's memory is the only memory, so mapping does nothing. Data private to a target region is
 * copied, as several regions may be under way (nowait). */
#include "abi/gomp/facts.h"
#include "abi/omp/both.h"
#include "abi/whole.h"
#include "core/front.h"

#include "abi/gomp/depend.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

CST_WHOLE(gomp_target);

/* --- arguments ----------------------------------------------------------------------------- */

/* thread_limit clause for all devices; 0: none. */
static uint32_t thread_limit_in(void **arguments) {
    uint32_t limit = 0;
    while (arguments && *arguments) {
        intptr_t word = (intptr_t)*arguments++;
        intptr_t value = word & GOMP_TARGET_ARG_NEXT_WORD ? (intptr_t)*arguments++
                                                          : word >> GOMP_TARGET_ARG_VALUE_SHIFT;
        bool all = (word & GOMP_TARGET_ARG_DEVICE_MASK) == GOMP_TARGET_ARG_DEVICE_ALL;
        if (all && (word & GOMP_TARGET_ARG_ID_MASK) == GOMP_TARGET_ARG_THREAD_LIMIT && value > 0)
            limit = value > INT_MAX ? UINT32_MAX : (uint32_t)value;
    }
    return limit;
}

struct mapping {
    size_t count;
    void **addresses;
    size_t *sizes;
    unsigned short *kinds;
};

static bool is_private(const struct mapping *map, size_t i) {
    if (!map->addresses[i]) return false;
    return (map->kinds[i] & GOMP_MAP_KIND_MASK) == GOMP_MAP_FIRSTPRIVATE;
}

static size_t sum(size_t a, size_t b) {
    if (__builtin_add_overflow(a, b, &a)) cst_memory_exhausted("a target region", SIZE_MAX);
    return a;
}

static size_t alignment_of(const struct mapping *map, size_t i) {
    unsigned bits = map->kinds[i] >> GOMP_MAP_ALIGN_SHIFT;
    if (bits >= 8 * sizeof(size_t)) cst_memory_exhausted("a target region", SIZE_MAX);
    return (size_t)1 << bits;
}

/* Bytes for `more` and the private copies, however the memory is aligned. The program sets the
 * sizes, for example those of parts of arrays. */
static size_t with_private(const struct mapping *map, size_t more) {
    size_t size = more;
    for (size_t i = 0; i < map->count; i++)
        if (is_private(map, i)) size = sum(size, sum(map->sizes[i], alignment_of(map, i) - 1));
    return size;
}

/* A Fortran variable with a descriptor is private in two parts. The copy of the descriptor, to
 * which an element of the addresses points, gets the address of the copied data. For any other
 * pointer to be attached, the host has nothing to do. */
static void attach(const struct mapping *map, void **original, size_t i, void *data) {
    if (i == map->count || (map->kinds[i] & GOMP_MAP_KIND_MASK) != GOMP_MAP_ATTACH) return;
    size_t offset = (uintptr_t)map->addresses[i] - (uintptr_t)original;
    if (offset >= map->count * sizeof *original) return;
    char *descriptor = map->addresses[offset / sizeof *original];
    memcpy(descriptor + map->sizes[i], &data, sizeof data);
}

/* Copies the private data to `memory`, and sets the addresses to the copies. `original` is the
 * array in which the compiler's code set up the addresses. */
static void copy_private(const struct mapping *map, void **original, char *memory) {
    for (size_t i = 0; i < map->count; i++) {
        if (!is_private(map, i)) continue;
        uintptr_t mask = alignment_of(map, i) - 1;
        memory = (char *)(((uintptr_t)memory + mask) & ~mask);
        memcpy(memory, map->addresses[i], map->sizes[i]);
        map->addresses[i] = memory;
        attach(map, original, i + 1, memory);
        memory += map->sizes[i];
    }
}

/* GCC shifts device numbers: -1 stands for no device clause, -2 for the host. */
static void check_device(int device) {
    if (device == GOMP_DEVICE_HOST_FALLBACK) return;
    (void)cst_device_is_host(device == GOMP_DEVICE_ICV ? CST_DEVICE_DEFAULT : device);
}

/* --- target --------------------------------------------------------------------------------- */

/* A target region that runs as a task. The addresses, then the private copies, follow it in
 * memory. */
struct target_task {
    gomp_body *body;
    uint32_t thread_limit;
    void *memory[];
};

static void run_target_task(void *data) {
    struct target_task *task = *(struct target_task **)data;
    cst_region_isolate(cst_self(), task->body, task->memory, task->thread_limit);
    free(task);
}

static void start_target_task(gomp_body *body, struct mapping *map, void **depend,
                              uint32_t thread_limit) {
    size_t pointers;
    if (__builtin_mul_overflow(map->count, sizeof(void *), &pointers))
        cst_memory_exhausted("a target task", SIZE_MAX);
    size_t size = with_private(map, sum(sizeof(struct target_task), pointers));
    struct target_task *task = malloc(size);
    if (!task) cst_memory_exhausted("a target task", size);
    task->body = body;
    task->thread_limit = thread_limit;
    for (size_t i = 0; i < map->count; i++) task->memory[i] = map->addresses[i];
    struct mapping copy = *map;
    copy.addresses = task->memory;
    copy_private(&copy, map->addresses, (char *)(task->memory + map->count));
    struct cst_depend_list list;
    struct cst_task_request request = {.function = run_target_task,
                                       .data = &task,
                                       .size = sizeof task,
                                       .alignment = _Alignof(struct target_task *),
                                       .deferrable = true};
    if (depend) request.depend = cst_gomp_depend_decode(&list, depend);
    cst_task_create(cst_self(), &request);
}

CST_ENTRY(CST_FRONT_GOMP, void, GOMP_target_ext,
          (int device, gomp_body *body, size_t count, void **addresses, size_t *sizes,
           unsigned short *kinds, unsigned flags, void **depend, void **arguments),
          (device, body, count, addresses, sizes, kinds, flags, depend, arguments)) {
    check_device(device);
    struct mapping map = {count, addresses, sizes, kinds};
    uint32_t limit = thread_limit_in(arguments);
    struct cst_thread *thread = cst_self();
    if ((flags & GOMP_TARGET_NOWAIT) && !cst_ask_final()) {
        start_target_task(body, &map, depend, limit);
        return;
    }
    /* Private values are read at the construct, not after the wait. */
    size_t size = with_private(&map, 1);
    char *memory = malloc(size);
    if (!memory) cst_memory_exhausted("the private copies of a target region", size);
    copy_private(&map, addresses, memory);
    if (depend) {
        struct cst_depend_list list;
        cst_task_wait_depend(thread, cst_gomp_depend_decode(&list, depend));
    }
    cst_region_isolate(cst_self(), body, addresses, limit);
    free(memory);
}

CST_ENTRY(CST_FRONT_GOMP, void, GOMP_target,
          (int device, gomp_body *body, const void *unused, size_t count, void **addresses,
           size_t *sizes, unsigned char *kinds),
          (device, body, unused, count, addresses, sizes, kinds)) {
    (void)unused, (void)count, (void)sizes, (void)kinds;
    check_device(device);
    cst_region_isolate(cst_self(), body, addresses, 0);
}

/* --- data: nothing to move, but dependences to keep --------------------------------- */

static void nothing(void *data) {
    (void)data;
}

static void move_data(int device, unsigned flags, void **depend) {
    check_device(device);
    if (!depend) return;
    struct cst_depend_list list;
    cst_gomp_depend_decode(&list, depend);
    struct cst_thread *thread = cst_self();
    if (!(flags & GOMP_TARGET_NOWAIT) || cst_ask_final()) {
        cst_task_wait_depend(thread, &list);
        return;
    }
    /* A task is made, since later tasks may depend on it. */
    struct cst_task_request request = {
        .function = nothing, .data = &list, .deferrable = true, .depend = &list};
    cst_task_create(thread, &request);
}

void GOMP_target_data(int device, const void *unused, size_t count, void **addresses, size_t *sizes,
                      unsigned char *kinds) {
    (void)unused, (void)count, (void)addresses, (void)sizes, (void)kinds;
    check_device(device);
}

void GOMP_target_data_ext(int device, size_t count, void **addresses, size_t *sizes,
                          unsigned short *kinds) {
    (void)count, (void)addresses, (void)sizes, (void)kinds;
    check_device(device);
}

void GOMP_target_end_data(void) {}

void GOMP_target_update(int device, const void *unused, size_t count, void **addresses,
                        size_t *sizes, unsigned char *kinds) {
    (void)unused, (void)count, (void)addresses, (void)sizes, (void)kinds;
    check_device(device);
}

void GOMP_target_update_ext(int device, size_t count, void **addresses, size_t *sizes,
                            unsigned short *kinds, unsigned flags, void **depend) {
    (void)count, (void)addresses, (void)sizes, (void)kinds;
    move_data(device, flags, depend);
}

void GOMP_target_enter_exit_data(int device, size_t count, void **addresses, size_t *sizes,
                                 unsigned short *kinds, unsigned flags, void **depend) {
    (void)count, (void)addresses, (void)sizes, (void)kinds;
    move_data(device, flags, depend);
}

void *GOMP_target_map_indirect_ptr(void *pointer) {
    return pointer;
}

/* --- images for devices: there is no device --------------------------------------- */

void GOMP_offload_register(const void *host_table, int type, const void *image) {
    (void)host_table, (void)type, (void)image;
}

void GOMP_offload_register_ver(unsigned version, const void *host_table, int type,
                               const void *image) {
    (void)version, (void)host_table, (void)type, (void)image;
}

void GOMP_offload_unregister(const void *host_table, int type, const void *image) {
    (void)host_table, (void)type, (void)image;
}

void GOMP_offload_unregister_ver(unsigned version, const void *host_table, int type,
                                 const void *image) {
    (void)version, (void)host_table, (void)type, (void)image;
}

/* --- error ------------------------------------------------------------------------------------ */

/* GCC passes SIZE_MAX as the length of a string that ends with 0, and NULL for no message. */
static int shown_length(const char *message, size_t length) {
    if (length == SIZE_MAX) length = strlen(message);
    return length > INT_MAX ? INT_MAX : (int)length;
}

void GOMP_warning(const char *message, size_t length) {
    if (message)
        cst_message_openmp("error directive encountered: %.*s", shown_length(message, length),
                           message);
    else
        cst_message_openmp("error directive encountered");
}

void GOMP_error(const char *message, size_t length) {
    if (message)
        cst_message_openmp_fatal("fatal error: error directive encountered: %.*s",
                                 shown_length(message, length), message);
    cst_message_openmp_fatal("fatal error: error directive encountered");
}

/* --- objects of GCC that clang links --------------------------------------------------------- */

CST_FOR_BOTH(GOMP_target);
CST_FOR_BOTH(GOMP_target_data);
CST_FOR_BOTH(GOMP_target_end_data);
CST_FOR_BOTH(GOMP_target_update);
