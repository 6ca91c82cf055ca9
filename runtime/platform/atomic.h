/* Atomic operations whose names tell their memory order.
 *
 * Only this file includes <stdatomic.h>. Each use elsewhere names, in a comment, the access with
 * which it pairs. Orders follow C11 section 7.17. */
#ifndef CST_PLATFORM_ATOMIC_H
#define CST_PLATFORM_ATOMIC_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define cst_load_relaxed(p) atomic_load_explicit((p), memory_order_relaxed)
#define cst_load_acquire(p) atomic_load_explicit((p), memory_order_acquire)
#define cst_load_seq_cst(p) atomic_load_explicit((p), memory_order_seq_cst)
#define cst_store_relaxed(p, v) atomic_store_explicit((p), (v), memory_order_relaxed)
#define cst_store_release(p, v) atomic_store_explicit((p), (v), memory_order_release)
#define cst_store_seq_cst(p, v) atomic_store_explicit((p), (v), memory_order_seq_cst)
#define cst_exchange_relaxed(p, v) atomic_exchange_explicit((p), (v), memory_order_relaxed)
#define cst_exchange_acquire(p, v) atomic_exchange_explicit((p), (v), memory_order_acquire)
#define cst_exchange_release(p, v) atomic_exchange_explicit((p), (v), memory_order_release)
#define cst_exchange_acq_rel(p, v) atomic_exchange_explicit((p), (v), memory_order_acq_rel)
#define cst_exchange_seq_cst(p, v) atomic_exchange_explicit((p), (v), memory_order_seq_cst)
#define cst_add_relaxed(p, v) atomic_fetch_add_explicit((p), (v), memory_order_relaxed)
#define cst_add_acquire(p, v) atomic_fetch_add_explicit((p), (v), memory_order_acquire)
#define cst_add_acq_rel(p, v) atomic_fetch_add_explicit((p), (v), memory_order_acq_rel)
#define cst_add_seq_cst(p, v) atomic_fetch_add_explicit((p), (v), memory_order_seq_cst)
#define cst_sub_relaxed(p, v) atomic_fetch_sub_explicit((p), (v), memory_order_relaxed)
#define cst_sub_acq_rel(p, v) atomic_fetch_sub_explicit((p), (v), memory_order_acq_rel)
#define cst_and_relaxed(p, v) atomic_fetch_and_explicit((p), (v), memory_order_relaxed)

/* Compare-and-swap: on failure *(expected) holds the value found. cst_cas_acq_rel and the
 * operations named `_found` have acquired that value; the others are relaxed then. */
#define cst_cas_relaxed(p, expected, desired)                                                      \
    atomic_compare_exchange_strong_explicit((p), (expected), (desired), memory_order_relaxed,      \
                                            memory_order_relaxed)
#define cst_cas_acquire(p, expected, desired)                                                      \
    atomic_compare_exchange_strong_explicit((p), (expected), (desired), memory_order_acquire,      \
                                            memory_order_relaxed)
#define cst_cas_release(p, expected, desired)                                                      \
    atomic_compare_exchange_strong_explicit((p), (expected), (desired), memory_order_release,      \
                                            memory_order_relaxed)
#define cst_cas_release_found(p, expected, desired)                                                \
    atomic_compare_exchange_strong_explicit((p), (expected), (desired), memory_order_release,      \
                                            memory_order_acquire)
#define cst_cas_acq_rel(p, expected, desired)                                                      \
    atomic_compare_exchange_strong_explicit((p), (expected), (desired), memory_order_acq_rel,      \
                                            memory_order_acquire)
#define cst_cas_seq_cst(p, expected, desired)                                                      \
    atomic_compare_exchange_strong_explicit((p), (expected), (desired), memory_order_seq_cst,      \
                                            memory_order_relaxed)
#define cst_cas_seq_cst_found(p, expected, desired)                                                \
    atomic_compare_exchange_strong_explicit((p), (expected), (desired), memory_order_seq_cst,      \
                                            memory_order_acquire)

#define cst_fence_seq_cst() atomic_thread_fence(memory_order_seq_cst)
#define cst_fence_acquire() atomic_thread_fence(memory_order_acquire)
/* Keeps only the compiler from moving accesses across it. It stands between a store and a load
 * whose order another thread's cst_process_barrier (platform.h) imposes on the processor. */
#define cst_compiler_barrier() atomic_signal_fence(memory_order_seq_cst)
/* The same, for a signal handler in this thread; no other thread takes part. */
#define cst_handler_barrier() atomic_signal_fence(memory_order_seq_cst)

/* x86-64 fetches two adjacent lines together. Yet the padding is one line: a second line costs
 * memory for each thread, and had no measurable gain. */
#define CST_CACHE_LINE 64
#define CST_LINE_ALIGNED _Alignas(CST_CACHE_LINE)

#endif
