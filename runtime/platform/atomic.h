/* Atomic operations whose names say their memory order.
 *
 * The only file that includes <stdatomic.h>. Each use elsewhere says in a comment which access
 * it pairs with. Orders follow C11 section 7.17. */
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

/* Compare-and-swap: on failure *(expected) holds what was found. cst_cas_acq_rel has acquired it,
 * as have those named `_found`; the others are relaxed then. */
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
/* Keeps the compiler alone from moving accesses across: between a store and a load whose order the
 * processor is made to keep by another thread's cst_process_barrier (platform.h). */
#define cst_compiler_barrier() atomic_signal_fence(memory_order_seq_cst)
/* The same against a signal's handler in this thread: no other thread takes part. */
#define cst_handler_barrier() atomic_signal_fence(memory_order_seq_cst)

/* Two adjacent lines are fetched together on x86-64, yet padding to one line is what pays: a
 * second line costs memory for each thread and bought nothing measurable. */
#define CST_CACHE_LINE 64
#define CST_LINE_ALIGNED _Alignas(CST_CACHE_LINE)

#endif
