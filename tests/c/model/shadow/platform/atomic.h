/* Replaces runtime/platform/atomic.h: the same operations with the same orders, each a step of the
 * explorer. check-model compares the names with the real header. */
#ifndef CST_PLATFORM_ATOMIC_H
#define CST_PLATFORM_ATOMIC_H

#include "explore.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The explorer takes this memory back after each execution. */
#define malloc(size) explore_allocate(size)
#define calloc(count, size) explore_allocate((count) * (size))
#define realloc(memory, size) explore_reallocate(memory, size)
#define aligned_alloc(alignment, size) explore_allocate(size)
#define free(memory) explore_free(memory)
#define posix_memalign(to, alignment, size) (*(to) = explore_allocate(size), 0)
#define pthread_self() ((pthread_t)(explore_self() + 1))
/* The compiler does not report these plain accesses. */
#define memset(to, byte, size)                                                                     \
    ({                                                                                             \
        void *set_ = (to);                                                                         \
        size_t set_size_ = (size);                                                                 \
        explore_plain_write(set_, set_size_);                                                      \
        (memset)(set_, byte, set_size_);                                                           \
    })
#define memcpy(to, from, size)                                                                     \
    ({                                                                                             \
        void *to_ = (to);                                                                          \
        const void *from_ = (from);                                                                \
        size_t copied_ = (size);                                                                   \
        explore_plain_read(from_, copied_);                                                        \
        explore_plain_write(to_, copied_);                                                         \
        (memcpy)(to_, from_, copied_);                                                             \
    })

#define CST_RAW(value)                                                                             \
    ({                                                                                             \
        __auto_type value_ = (value);                                                              \
        uint64_t raw_ = 0;                                                                         \
        (memcpy)(&raw_, &value_, sizeof value_);                                                   \
        raw_;                                                                                      \
    })
/* `raw` as a value of the type that p points at, without its _Atomic. */
#define CST_COOKED(p, raw)                                                                         \
    ({                                                                                             \
        uint64_t whole_ = (raw);                                                                   \
        __typeof__((void)0, *(p)) cooked_;                                                         \
        (memcpy)(&cooked_, &whole_, sizeof cooked_);                                               \
        cooked_;                                                                                   \
    })
#define CST_LOAD(p, order)                                                                         \
    CST_COOKED(p, explore_load((const void *)(p), sizeof *(p), order, EXPLORE_AT("load " #p)))
#define CST_STORE(p, v, order)                                                                     \
    do {                                                                                           \
        __typeof__((void)0, *(p)) stored_ = (v);                                                   \
        explore_store((void *)(p), sizeof *(p), CST_RAW(stored_), order, EXPLORE_AT("store " #p)); \
    } while (0)
#define CST_CHANGE(p, v, how, order, text)                                                         \
    ({                                                                                             \
        __typeof__((void)0, *(p)) operand_ = (v);                                                  \
        CST_COOKED(p, explore_change((void *)(p), sizeof *(p), how, CST_RAW(operand_), order,      \
                                     EXPLORE_AT(text)));                                           \
    })
#define CST_CAS(p, expected, desired, order, failure)                                              \
    ({                                                                                             \
        __typeof__((void)0, *(p)) wanted_ = (desired);                                             \
        explore_cas((void *)(p), sizeof *(p), (expected), CST_RAW(wanted_), order, failure,        \
                    EXPLORE_AT("cas " #p));                                                        \
    })
#define CST_EXCHANGE(p, v, order) CST_CHANGE(p, v, EXPLORE_EXCHANGE, order, "exchange " #p)

#define cst_load_relaxed(p) CST_LOAD(p, EXPLORE_RELAXED)
#define cst_load_acquire(p) CST_LOAD(p, EXPLORE_ACQUIRE)
#define cst_load_seq_cst(p) CST_LOAD(p, EXPLORE_SEQ_CST)
#define cst_store_relaxed(p, v) CST_STORE(p, v, EXPLORE_RELAXED)
#define cst_store_release(p, v) CST_STORE(p, v, EXPLORE_RELEASE)
#define cst_store_seq_cst(p, v) CST_STORE(p, v, EXPLORE_SEQ_CST)
#define cst_exchange_relaxed(p, v) CST_EXCHANGE(p, v, EXPLORE_RELAXED)
#define cst_exchange_acquire(p, v) CST_EXCHANGE(p, v, EXPLORE_ACQUIRE)
#define cst_exchange_release(p, v) CST_EXCHANGE(p, v, EXPLORE_RELEASE)
#define cst_exchange_acq_rel(p, v) CST_EXCHANGE(p, v, EXPLORE_ACQ_REL)
#define cst_exchange_seq_cst(p, v) CST_EXCHANGE(p, v, EXPLORE_SEQ_CST)
#define cst_add_relaxed(p, v) CST_CHANGE(p, v, EXPLORE_ADD, EXPLORE_RELAXED, "add " #p)
#define cst_add_acquire(p, v) CST_CHANGE(p, v, EXPLORE_ADD, EXPLORE_ACQUIRE, "add " #p)
#define cst_add_acq_rel(p, v) CST_CHANGE(p, v, EXPLORE_ADD, EXPLORE_ACQ_REL, "add " #p)
#define cst_add_seq_cst(p, v) CST_CHANGE(p, v, EXPLORE_ADD, EXPLORE_SEQ_CST, "add " #p)
#define cst_sub_relaxed(p, v) CST_CHANGE(p, v, EXPLORE_SUBTRACT, EXPLORE_RELAXED, "sub " #p)
#define cst_sub_acq_rel(p, v) CST_CHANGE(p, v, EXPLORE_SUBTRACT, EXPLORE_ACQ_REL, "sub " #p)
#define cst_and_relaxed(p, v) CST_CHANGE(p, v, EXPLORE_AND, EXPLORE_RELAXED, "and " #p)
#define cst_cas_relaxed(p, expected, desired)                                                      \
    CST_CAS(p, expected, desired, EXPLORE_RELAXED, EXPLORE_RELAXED)
#define cst_cas_acquire(p, expected, desired)                                                      \
    CST_CAS(p, expected, desired, EXPLORE_ACQUIRE, EXPLORE_RELAXED)
#define cst_cas_release(p, expected, desired)                                                      \
    CST_CAS(p, expected, desired, EXPLORE_RELEASE, EXPLORE_RELAXED)
#define cst_cas_release_found(p, expected, desired)                                                \
    CST_CAS(p, expected, desired, EXPLORE_RELEASE, EXPLORE_ACQUIRE)
#define cst_cas_acq_rel(p, expected, desired)                                                      \
    CST_CAS(p, expected, desired, EXPLORE_ACQ_REL, EXPLORE_ACQUIRE)
#define cst_cas_seq_cst(p, expected, desired)                                                      \
    CST_CAS(p, expected, desired, EXPLORE_SEQ_CST, EXPLORE_RELAXED)
#define cst_cas_seq_cst_found(p, expected, desired)                                                \
    CST_CAS(p, expected, desired, EXPLORE_SEQ_CST, EXPLORE_ACQUIRE)
#define cst_fence_seq_cst() explore_fence(EXPLORE_SEQ_CST, EXPLORE_AT("fence"))
#define cst_fence_acquire() explore_fence(EXPLORE_ACQUIRE, EXPLORE_AT("fence"))
#define cst_compiler_barrier() explore_compiler_barrier(EXPLORE_AT("compiler barrier"))
#define cst_handler_barrier() ((void)0) /* there are no signals */

#define CST_CACHE_LINE 64
#define CST_LINE_ALIGNED _Alignas(CST_CACHE_LINE)

#endif
