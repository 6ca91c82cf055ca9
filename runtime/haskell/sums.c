/* A processor that writes to memory reads the line first, so a scan moves three bytes for two.
 * Results that no cache can hold until they are read again are written past the caches, which moves
 * two bytes for two.
 *
 * The same loop adds up a later block. The two sums are independent, so one waits for memory while
 * the other computes. The later block is added from first to last, as in Haskell
 * (Capstan.Task.Vector.Scan), so both give the same bits.
 *
 * The blocks mostly lie whole pages apart. Processors compare a load with the stores before it by
 * the place in the page alone. So a load from the later block would wait for the store of the same
 * step. Two members took 6.6 ms for 80 MB; with the later block a line ahead they take 4.1, and one
 * member takes 4.3 (docs/notes/144-loads-that-look-like-stores.md). */
#include "haskell/sums.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

/* Stores in one of two ways. The compiler makes a loop of its own for each. */
#define STORE(to, value, past_caches)                                                              \
    do {                                                                                           \
        if (past_caches)                                                                           \
            store_past_caches((to), &(value), sizeof(value));                                      \
        else                                                                                       \
            *(to) = (value);                                                                       \
    } while (0)

static inline void store_past_caches(void *to, const void *value, size_t size) {
#if defined(__SSE2__)
    if (size == sizeof(int)) {
        int word;
        __builtin_memcpy(&word, value, sizeof word);
        _mm_stream_si32(to, word);
        return;
    }
    long long word;
    __builtin_memcpy(&word, value, sizeof word);
    _mm_stream_si64(to, word);
#else
    __builtin_memcpy(to, value, size);
#endif
}

/* Orders the stores past the caches, so that a thread that learns of them by an atomic operation
 * sees them. */
static inline void finish_stores(void) {
#if defined(__SSE2__)
    _mm_sfence();
#endif
}

/* The number of bytes by which the later block must be ahead of the stores. Then its loads have
 * other places in their pages than the stores that may be under way. */
static inline size_t bytes_ahead(const void *to, const void *later) {
    enum { PAGE = 4096, LINE = 64, UNDER_WAY = 1024 };
    size_t apart = ((uintptr_t)later - (uintptr_t)to) % PAGE;
    if (apart < LINE) return LINE - apart;
    return apart > PAGE - UNDER_WAY ? PAGE - apart + LINE : 0;
}

#define DEFINE(name, type)                                                                         \
    static inline __attribute__((always_inline))                                                   \
    type sums_##name(type *restrict to, const type *from, size_t count, type before,               \
                     const type *later, size_t later_count, type *later_sum, bool past_caches) {   \
        type sum = before, aside = *later_sum;                                                     \
        size_t ahead = bytes_ahead(to, later) / sizeof(type), i = 0, k = 0;                        \
        for (; k < ahead && k < later_count; k++) aside += later[k];                               \
        for (; i + 1 < count && k + 1 < later_count; i += 2, k += 2) {                             \
            sum += from[i];                                                                        \
            STORE(&to[i], sum, past_caches);                                                       \
            aside += later[k];                                                                     \
            sum += from[i + 1];                                                                    \
            STORE(&to[i + 1], sum, past_caches);                                                   \
            aside += later[k + 1];                                                                 \
        }                                                                                          \
        for (; k < later_count; k++) aside += later[k];                                            \
        for (; i < count; i++) {                                                                   \
            sum += from[i];                                                                        \
            STORE(&to[i], sum, past_caches);                                                       \
        }                                                                                          \
        *later_sum = aside;                                                                        \
        return sum;                                                                                \
    }                                                                                              \
                                                                                                   \
    type cst_sums_##name(type *restrict to, const type *from, size_t count, type before,           \
                         const type *later, size_t later_count, type *later_sum,                   \
                         bool past_caches) {                                                       \
        if (!past_caches)                                                                          \
            return sums_##name(to, from, count, before, later, later_count, later_sum, false);     \
        type last = sums_##name(to, from, count, before, later, later_count, later_sum, true);     \
        finish_stores();                                                                           \
        return last;                                                                               \
    }

DEFINE(i32, uint32_t)
DEFINE(i64, uint64_t)
DEFINE(f32, float)
DEFINE(f64, double)
