/* Stands before runtime/platform/atomic.h: the same operations, each a step of the explorer.
 *
 * Orders follow x86-64's mapping of C11: a store that is not sequentially consistent goes through
 * the thread's store buffer, everything else acts on memory, and an operation that the processor
 * locks waits for the buffer to be empty. check-model compares the names with the real header. */
#ifndef CST_PLATFORM_ATOMIC_H
#define CST_PLATFORM_ATOMIC_H

#include "explore.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Memory that is taken back after each execution. */
#define malloc(size) explore_allocate(size)
#define calloc(count, size) explore_allocate((count) * (size))
#define realloc(memory, size) explore_reallocate(memory, size)
#define aligned_alloc(alignment, size) explore_allocate(size)
#define free(memory) explore_free(memory)

#define CST_RAW(value)                                                                             \
    ({                                                                                             \
        __auto_type value_ = (value);                                                              \
        uint64_t raw_ = 0;                                                                         \
        memcpy(&raw_, &value_, sizeof value_);                                                     \
        raw_;                                                                                      \
    })
/* `raw` as a value of the type that p points at, without its _Atomic. */
#define CST_COOKED(p, raw)                                                                         \
    ({                                                                                             \
        uint64_t whole_ = (raw);                                                                   \
        __typeof__((void)0, *(p)) cooked_;                                                         \
        memcpy(&cooked_, &whole_, sizeof cooked_);                                                 \
        cooked_;                                                                                   \
    })
#define CST_LOAD(p)                                                                                \
    CST_COOKED(p, explore_load((const void *)(p), sizeof *(p), EXPLORE_AT("load " #p)))
#define CST_STORE(p, v, locked, text)                                                              \
    do {                                                                                           \
        __typeof__((void)0, *(p)) stored_ = (v);                                                   \
        explore_store((void *)(p), sizeof *(p), CST_RAW(stored_), locked, EXPLORE_AT(text));       \
    } while (0)
#define CST_CHANGE(p, v, how, text)                                                                \
    ({                                                                                             \
        __typeof__((void)0, *(p)) operand_ = (v);                                                  \
        CST_COOKED(p, explore_change((void *)(p), sizeof *(p), how, CST_RAW(operand_),             \
                                     EXPLORE_AT(text)));                                           \
    })
#define CST_CAS(p, expected, desired)                                                              \
    ({                                                                                             \
        __typeof__((void)0, *(p)) wanted_ = (desired);                                             \
        explore_cas((void *)(p), sizeof *(p), (expected), CST_RAW(wanted_),                        \
                    EXPLORE_AT("cas " #p));                                                        \
    })

#define cst_load_relaxed(p) CST_LOAD(p)
#define cst_load_acquire(p) CST_LOAD(p)
#define cst_load_seq_cst(p) CST_LOAD(p)
#define cst_store_relaxed(p, v) CST_STORE(p, v, false, "store " #p)
#define cst_store_release(p, v) CST_STORE(p, v, false, "store " #p)
#define cst_store_seq_cst(p, v) CST_STORE(p, v, true, "store " #p)
#define cst_exchange_acquire(p, v) CST_CHANGE(p, v, EXPLORE_EXCHANGE, "exchange " #p)
#define cst_exchange_release(p, v) CST_CHANGE(p, v, EXPLORE_EXCHANGE, "exchange " #p)
#define cst_exchange_acq_rel(p, v) CST_CHANGE(p, v, EXPLORE_EXCHANGE, "exchange " #p)
#define cst_exchange_seq_cst(p, v) CST_CHANGE(p, v, EXPLORE_EXCHANGE, "exchange " #p)
#define cst_add_relaxed(p, v) CST_CHANGE(p, v, EXPLORE_ADD, "add " #p)
#define cst_add_acq_rel(p, v) CST_CHANGE(p, v, EXPLORE_ADD, "add " #p)
#define cst_add_seq_cst(p, v) CST_CHANGE(p, v, EXPLORE_ADD, "add " #p)
#define cst_sub_acq_rel(p, v) CST_CHANGE(p, v, EXPLORE_SUBTRACT, "sub " #p)
#define cst_sub_release(p, v) CST_CHANGE(p, v, EXPLORE_SUBTRACT, "sub " #p)
#define cst_or_acq_rel(p, v) CST_CHANGE(p, v, EXPLORE_OR, "or " #p)
#define cst_and_acq_rel(p, v) CST_CHANGE(p, v, EXPLORE_AND, "and " #p)
#define cst_cas_acquire(p, expected, desired) CST_CAS(p, expected, desired)
#define cst_cas_acq_rel(p, expected, desired) CST_CAS(p, expected, desired)
#define cst_cas_seq_cst(p, expected, desired) CST_CAS(p, expected, desired)
#define cst_fence_seq_cst() explore_fence(EXPLORE_AT("fence"))
#define cst_fence_acquire() ((void)0) /* a compiler's matter on this processor */
#define cst_fence_release() ((void)0)
#define cst_compiler_barrier() ((void)0)

#define CST_CACHE_LINE 64
#define CST_LINE_ALIGNED _Alignas(CST_CACHE_LINE)

#endif
