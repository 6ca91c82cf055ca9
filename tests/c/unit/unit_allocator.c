/* core/memory/allocator.h: alignment, zeroing, limits of a pool, fallbacks, realloc, pages, the
 * record of Fortran's variables, and the grammar of OMP_ALLOCATOR. */
#include "unit.h"

#include "core/memory/allocator.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

enum { HEADER = 32 }; /* libgomp counts the header too, so programs rely on it */

/* Sanitizers end a program that asks for too much memory; this test does so on purpose. */
const char *__asan_default_options(void);
const char *__tsan_default_options(void);
const char *__asan_default_options(void) {
    return "allocator_may_return_null=1";
}
const char *__tsan_default_options(void) {
    return "allocator_may_return_null=1";
}

static const struct cst_allocator_traits usual = {
    .alignment = sizeof(void *), .pool_size = SIZE_MAX, .fallback = CST_FALLBACK_NULL};

static void *get(size_t alignment, size_t size, cst_allocator_handle allocator) {
    return cst_memory_alloc(alignment, size, false, allocator);
}

static void fill(void *memory, size_t size, int seed) {
    for (size_t i = 0; i < size; i++) ((unsigned char *)memory)[i] = (unsigned char)(i + seed);
}

static bool filled(const void *memory, size_t size, int seed) {
    for (size_t i = 0; i < size; i++)
        if (((const unsigned char *)memory)[i] != (unsigned char)(i + seed)) return false;
    return true;
}

static void predefined(void) {
    for (cst_allocator_handle a = 1; a <= CST_ALLOCATOR_PREDEFINED; a++) {
        void *memory = get(1, 100, a);
        UNIT_CHECK(memory != NULL);
        fill(memory, 100, 1);
        cst_memory_free(memory);
    }
    cst_memory_free(NULL);
    UNIT_CHECK(get(1, 0, CST_ALLOCATOR_DEFAULT) == NULL);
}

static void aligned(void) {
    struct cst_allocator_traits traits = usual;
    for (size_t alignment = 1; alignment <= 65536; alignment *= 2) {
        traits.alignment = alignment < sizeof(void *) ? sizeof(void *) : alignment;
        cst_allocator_handle a = cst_allocator_make(&traits);
        void *by_trait = get(1, 17, a), *by_call = get(alignment, 17, CST_ALLOCATOR_DEFAULT);
        UNIT_CHECK((uintptr_t)by_trait % alignment == 0);
        UNIT_CHECK((uintptr_t)by_call % alignment == 0);
        fill(by_trait, 17, 3);
        fill(by_call, 17, 4);
        UNIT_CHECK(filled(by_trait, 17, 3));
        cst_memory_free(by_trait);
        cst_memory_free(by_call);
        cst_allocator_free(a);
    }
}

static void zeroed(void) {
    for (int i = 0; i < 50; i++) { /* so that malloc hands out used memory */
        void *dirty = get(1, 1000, CST_ALLOCATOR_DEFAULT);
        fill(dirty, 1000, 7);
        cst_memory_free(dirty);
        unsigned char *clean = cst_memory_alloc(64, 1000, true, CST_ALLOCATOR_DEFAULT);
        for (size_t j = 0; j < 1000; j++) UNIT_EQUAL(clean[j], 0);
        cst_memory_free(clean);
    }
}

static void pool_is_limited(void) {
    struct cst_allocator_traits traits = usual;
    traits.pool_size = 3 * (100 + HEADER);
    cst_allocator_handle a = cst_allocator_make(&traits);
    for (int round = 0; round < 3; round++) {
        void *one = get(1, 100, a), *two = get(1, 100, a), *three = get(1, 100, a);
        UNIT_CHECK(one && two && three);
        UNIT_CHECK(get(1, 1, a) == NULL);
        cst_memory_free(two);
        UNIT_CHECK(get(1, 101, a) == NULL);
        two = get(1, 100, a);
        UNIT_CHECK(two != NULL);
        cst_memory_free(one);
        cst_memory_free(two);
        cst_memory_free(three);
    }
    cst_allocator_free(a);
}

static void *take_and_give(void *allocator) {
    for (int i = 0; i < 20000; i++) {
        void *memory = get(1, 100, (cst_allocator_handle)allocator);
        if (memory) cst_memory_free(memory);
    }
    return NULL;
}

/* The pool loses no memory when several threads use it at once. */
static void pool_is_shared(void) {
    struct cst_allocator_traits traits = usual;
    traits.pool_size = 2 * (100 + HEADER);
    cst_allocator_handle a = cst_allocator_make(&traits);
    pthread_t thread[4];
    for (int i = 0; i < 4; i++) pthread_create(&thread[i], NULL, take_and_give, (void *)a);
    for (int i = 0; i < 4; i++) pthread_join(thread[i], NULL);
    void *one = get(1, 100, a), *two = get(1, 100, a);
    UNIT_CHECK(one && two);
    UNIT_CHECK(get(1, 1, a) == NULL);
    cst_memory_free(one);
    cst_memory_free(two);
    cst_allocator_free(a);
}

static void absurd_sizes(void) {
    struct cst_allocator_traits traits = usual;
    traits.pool_size = SIZE_MAX - 1;
    cst_allocator_handle a = cst_allocator_make(&traits);
    UNIT_CHECK(get(1, SIZE_MAX, CST_ALLOCATOR_DEFAULT) == NULL);
    UNIT_CHECK(get(1, SIZE_MAX - 8, CST_ALLOCATOR_DEFAULT) == NULL);
    UNIT_CHECK(get(1, SIZE_MAX / 2, a) == NULL);
    void *rest = get(1, 1000, a); /* the failed call gave its charge back */
    UNIT_CHECK(rest != NULL);
    cst_memory_free(rest);
    cst_allocator_free(a);
}

static void fallbacks(void) {
    struct cst_allocator_traits traits = usual;
    traits.pool_size = 10;
    traits.fallback = CST_FALLBACK_DEFAULT;
    cst_allocator_handle standard = cst_allocator_make(&traits);
    void *memory = get(1, 100, standard);
    UNIT_CHECK(memory != NULL);
    cst_memory_free(memory);

    struct cst_allocator_traits last = usual;
    last.pool_size = 200 + HEADER;
    cst_allocator_handle big = cst_allocator_make(&last);
    traits.fallback = CST_FALLBACK_ALLOCATOR;
    traits.fallback_allocator = big;
    cst_allocator_handle chained = cst_allocator_make(&traits);
    memory = get(1, 200, chained);
    UNIT_CHECK(memory != NULL);
    UNIT_CHECK(get(1, 200, chained) == NULL); /* big is full, falls back to NULL */
    cst_memory_free(memory);
    cst_allocator_free(standard);
    cst_allocator_free(chained);
    cst_allocator_free(big);
    memory = get(1, 10, CST_ALLOCATOR_MANAGED); /* without a device this is the default memory */
    UNIT_CHECK(memory != NULL);
    cst_memory_free(memory);
}

static void abort_ends_the_process(void) {
    pid_t child = fork();
    if (child == 0) {
        close(2);
        struct cst_allocator_traits traits = usual;
        traits.pool_size = 10;
        traits.fallback = CST_FALLBACK_ABORT;
        get(1, 100, cst_allocator_make(&traits));
        _exit(0);
    }
    int status;
    UNIT_EQUAL(waitpid(child, &status, 0), child);
    UNIT_CHECK(WIFEXITED(status));
    UNIT_EQUAL(WEXITSTATUS(status), 1);
}

/* --- realloc ------------------------------------------------------------------------------ */

static void realloc_keeps_contents(void) {
    struct cst_allocator_traits traits = usual;
    traits.alignment = 256;
    cst_allocator_handle wide = cst_allocator_make(&traits);
    const cst_allocator_handle from[] = {CST_ALLOCATOR_DEFAULT, 3, wide};
    const cst_allocator_handle to[] = {CST_ALLOCATOR_NULL, CST_ALLOCATOR_DEFAULT, 4, wide};
    for (size_t f = 0; f < 3; f++)
        for (size_t t = 0; t < 4; t++) {
            void *memory = get(1, 100, from[f]);
            fill(memory, 100, 5);
            memory = cst_memory_realloc(memory, 5000, to[t]);
            UNIT_CHECK(filled(memory, 100, 5));
            fill(memory, 5000, 9);
            memory = cst_memory_realloc(memory, 40, to[t]);
            UNIT_CHECK(filled(memory, 40, 9));
            if (to[t] == wide) UNIT_CHECK((uintptr_t)memory % 256 == 0);
            cst_memory_free(memory);
        }
    UNIT_CHECK(cst_memory_realloc(get(1, 10, 1), 0, CST_ALLOCATOR_NULL) == NULL);
    cst_allocator_free(wide);
}

static void realloc_within_a_pool(void) {
    struct cst_allocator_traits traits = usual;
    traits.pool_size = 1000 + HEADER;
    cst_allocator_handle a = cst_allocator_make(&traits);
    void *memory = get(1, 900, a);
    fill(memory, 900, 1);
    memory = cst_memory_realloc(memory, 1000, CST_ALLOCATOR_NULL); /* only the rest is charged */
    UNIT_CHECK(memory && filled(memory, 900, 1));
    UNIT_CHECK(cst_memory_realloc(memory, 1001, CST_ALLOCATOR_NULL) == NULL);
    UNIT_CHECK(filled(memory, 900, 1)); /* a failed call leaves the block as it was */
    memory = cst_memory_realloc(memory, 10, CST_ALLOCATOR_NULL);
    void *other = get(1, 1000 - 10 - HEADER, a);
    UNIT_CHECK(other != NULL);
    memory = cst_memory_realloc(memory, 5000, CST_ALLOCATOR_DEFAULT); /* leaves the pool */
    UNIT_CHECK(memory && filled(memory, 10, 1));
    cst_memory_free(other);
    other = get(1, 1000, a);
    UNIT_CHECK(other != NULL);
    cst_memory_free(other);
    cst_memory_free(memory);
    cst_allocator_free(a);
}

/* --- pages -------------------------------------------------------------------------------- */

static long locked_kilobytes(void) {
    char line[256];
    long locked = -1;
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status))
        if (sscanf(line, "VmLck: %ld", &locked) == 1) break;
    if (status) fclose(status);
    return locked;
}

/* Under sanitizers mlock does nothing. */
static bool can_pin(void) {
    static char page[8192];
    long before = locked_kilobytes();
    if (mlock(page, sizeof page) != 0) return false;
    bool pinned = locked_kilobytes() > before;
    munlock(page, sizeof page);
    return pinned;
}

static void pinned_memory(void) {
    bool counted = can_pin();
    struct cst_allocator_traits traits = usual;
    traits.pinned = true;
    cst_allocator_handle a = cst_allocator_make(&traits);
    long before = locked_kilobytes();
    unsigned char *memory = cst_memory_alloc(1, 16000, true, a);
    UNIT_CHECK(memory != NULL);
    if (counted) UNIT_CHECK(locked_kilobytes() >= before + 15);
    UNIT_EQUAL(memory[15999], 0);
    fill(memory, 16000, 2);
    memory = cst_memory_realloc(memory, 20000, CST_ALLOCATOR_NULL);
    UNIT_CHECK(filled(memory, 16000, 2));
    cst_memory_free(memory);
    UNIT_EQUAL(locked_kilobytes(), before);
    cst_allocator_free(a);
}

enum { SMALL = 10, BLOCKS = 20 };

static void small_pinned_blocks_share_a_page(void) {
    bool counted = can_pin();
    long before = locked_kilobytes(), page = sysconf(_SC_PAGESIZE) / 1024;
    unsigned char *block[BLOCKS];
    for (int round = 0; round < 3; round++) { /* freed memory is used again */
        for (int i = 0; i < BLOCKS; i++) {
            block[i] = cst_memory_alloc(1, SMALL, true, CST_ALLOCATOR_PINNED);
            UNIT_CHECK(block[i] != NULL && (uintptr_t)block[i] % 16 == 0);
            for (int j = 0; j < SMALL; j++) UNIT_EQUAL(block[i][j], 0);
            fill(block[i], SMALL, i);
        }
        block[3] = cst_memory_realloc(block[3], 2 * SMALL, CST_ALLOCATOR_NULL);
        if (counted) UNIT_EQUAL(locked_kilobytes(), before + page);
        for (int i = 0; i < BLOCKS; i++) UNIT_CHECK(filled(block[i], SMALL, i));
        for (int i = 0; i < BLOCKS; i += 2) cst_memory_free(block[i]);
        for (int i = 0; i < BLOCKS; i += 2) {
            block[i] = get(1, 5 * SMALL, CST_ALLOCATOR_PINNED);
            fill(block[i], 5 * SMALL, 7);
        }
        if (counted) UNIT_EQUAL(locked_kilobytes(), before + page);
        for (int i = 1; i < BLOCKS; i += 2) UNIT_CHECK(filled(block[i], SMALL, i));
        for (int i = 0; i < BLOCKS; i++) cst_memory_free(block[i]);
        UNIT_EQUAL(locked_kilobytes(), before);
    }
}

/* Blocks of all sizes, the largest with pages of their own; their number lets pages fill up and
 * empty. */
static void *shuffle_pinned(void *argument) {
    enum { HELD = 200 };
    unsigned random = *(unsigned *)argument;
    struct {
        unsigned char *start;
        size_t size;
    } held[HELD] = {0};
    for (int step = 0; step < 20000; step++) {
        random = random * 1664525 + 1013904223;
        int i = (int)(random >> 16) % HELD;
        if (held[i].start && !filled(held[i].start, held[i].size, i)) return NULL;
        cst_memory_free(held[i].start);
        held[i].size = 1 + (random >> 8) % (random & 64 ? 3000 : 100);
        held[i].start = get(1, held[i].size, CST_ALLOCATOR_PINNED);
        if (!held[i].start) return NULL;
        fill(held[i].start, held[i].size, i);
    }
    for (int i = 0; i < HELD; i++) cst_memory_free(held[i].start);
    return argument;
}

static void pinned_blocks_stay_apart(void) {
    enum { THREADS = 3 };
    long before = locked_kilobytes();
    pthread_t thread[THREADS];
    unsigned seed[THREADS] = {1, 20, 300};
    for (int i = 0; i < THREADS; i++) pthread_create(&thread[i], NULL, shuffle_pinned, &seed[i]);
    bool good = true;
    for (int i = 0; i < THREADS; i++) {
        void *result;
        pthread_join(thread[i], &result);
        good = good && result;
    }
    UNIT_CHECK(good);
    UNIT_EQUAL(locked_kilobytes(), before); /* every page has been given back */
}

/* If no more memory may be pinned, the fallback serves. */
static void pinning_is_limited(void) {
    pid_t child = fork();
    if (child == 0) {
        struct rlimit none = {0, 0};
        setrlimit(RLIMIT_MEMLOCK, &none);
        bool privileged = mlock(&none, sizeof none) == 0; /* then there is no limit */
        struct cst_allocator_traits traits = usual;
        traits.pinned = true;
        bool got = get(1, 1 << 20, cst_allocator_make(&traits)) != NULL;
        traits.fallback = CST_FALLBACK_DEFAULT;
        bool fell = get(1, 1 << 20, cst_allocator_make(&traits)) != NULL;
        _exit(privileged || (!got && fell) ? 0 : 1);
    }
    int status;
    UNIT_EQUAL(waitpid(child, &status, 0), child);
    UNIT_CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void partitions(void) {
    for (int partition = CST_PARTITION_NEAREST; partition <= CST_PARTITION_INTERLEAVED;
         partition++) {
        struct cst_allocator_traits traits = usual;
        traits.partition = (enum cst_partition)partition;
        traits.alignment = 128;
        cst_allocator_handle a = cst_allocator_make(&traits);
        unsigned char *memory = cst_memory_alloc(1, 100000, true, a);
        UNIT_CHECK(memory != NULL && (uintptr_t)memory % 128 == 0);
        UNIT_EQUAL(memory[99999], 0);
        fill(memory, 100000, partition);
        UNIT_CHECK(filled(memory, 100000, partition));
        cst_memory_free(memory);
        cst_allocator_free(a);
    }
}

/* --- the record of Fortran's variables ------------------------------------------------------ */

static void remembers(void) {
    enum { COUNT = 5000 };
    static char memory[COUNT][16];
    for (int i = 0; i < COUNT; i++) cst_memory_remember(memory[i]);
    cst_memory_remember(memory[7]); /* a second call changes nothing */
    cst_memory_remember(NULL);
    UNIT_CHECK(!cst_memory_forget(NULL));
    UNIT_CHECK(!cst_memory_forget((char *)memory + 8));
    for (int i = 0; i < COUNT; i += 2) UNIT_CHECK(cst_memory_forget(memory[i]));
    for (int i = 0; i < COUNT; i++) UNIT_EQUAL(cst_memory_forget(memory[i]), i % 2);
    for (int i = 0; i < COUNT; i++) UNIT_CHECK(!cst_memory_forget(memory[i]));
}

/* --- OMP_ALLOCATOR ------------------------------------------------------------------------ */

static cst_allocator_handle parsed;

static bool parses(const char *text) {
    fflush(stderr);
    int kept = dup(2), null = open("/dev/null", O_WRONLY);
    dup2(null, 2);
    bool good = cst_allocator_parse(text, &parsed);
    fflush(stderr);
    dup2(kept, 2);
    close(kept);
    close(null);
    return good;
}

static void allocator_names(void) {
    UNIT_CHECK(parses("omp_low_lat_mem_alloc") && parsed == 5);
    UNIT_CHECK(parses(" OMP_Thread_Mem_Alloc ") && parsed == 8);
    UNIT_CHECK(parses("omp_large_cap_mem_space") && parsed == 2);
    UNIT_CHECK(parses("ompx_gnu_pinned_mem_alloc") && parsed == CST_ALLOCATOR_PINNED);
    const char *const wrong[] = {"",
                                 "omp_null_allocator",
                                 "omp_default_mem_alloc:pinned=true",
                                 "omp_default_mem_space:",
                                 "omp_default_mem_space:alignment",
                                 "omp_default_mem_space:alignment=",
                                 "omp_const_mem_space:access=no",
                                 "omp_default_mem_space:alignment=8,",
                                 "omp_default_mem_space x",
                                 "omp_default_mem_space:alignment=0",
                                 "omp_default_mem_space:pool_size=-1"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        if (parses(wrong[i])) UNIT_STOP("accepted: %s", wrong[i]);
}

static void allocator_traits(void) {
    UNIT_CHECK(parses("omp_default_mem_space:alignment=512,pool_size=2000,fallback=null_fb,"
                      "sync_hint=private,access=all,pinned=false,partition=environment"));
    UNIT_CHECK(parsed > CST_ALLOCATOR_MANAGED);
    void *memory = get(1, 100, parsed);
    UNIT_CHECK(memory && (uintptr_t)memory % 512 == 0);
    UNIT_CHECK(get(1, 1500, parsed) == NULL);
    cst_memory_free(memory);
    cst_allocator_free(parsed);
    UNIT_CHECK(parses("omp_default_mem_space:alignment=3") && parsed == CST_ALLOCATOR_DEFAULT);
}

int main(void) {
    unit_limit(60);
    UNIT_RUN(predefined);
    UNIT_RUN(aligned);
    UNIT_RUN(zeroed);
    UNIT_RUN(pool_is_limited);
    UNIT_RUN(pool_is_shared);
    UNIT_RUN(absurd_sizes);
    UNIT_RUN(fallbacks);
    UNIT_RUN(abort_ends_the_process);
    UNIT_RUN(realloc_keeps_contents);
    UNIT_RUN(realloc_within_a_pool);
    UNIT_RUN(pinned_memory);
    UNIT_RUN(small_pinned_blocks_share_a_page);
    UNIT_RUN(pinned_blocks_stay_apart);
    UNIT_RUN(pinning_is_limited);
    UNIT_RUN(partitions);
    UNIT_RUN(remembers);
    UNIT_RUN(allocator_names);
    UNIT_RUN(allocator_traits);
    return unit_result();
}
