/* hooks.c: the calls by which the simulated machine sees the accesses of compiled code.
 *
 * The sources of the runtime are compiled unchanged with -fsanitize=thread, which puts a call
 * before each access to memory and in place of each atomic operation. These are the calls;
 * ThreadSanitizer's own library is not linked. The operations themselves are plain: one thread runs
 * at a time.
 */
#include "machine.h"
#include "profile.h"

#define TOUCH(p, size, access)                                                                     \
    (profile_place = __builtin_return_address(0), sim_touch((const void *)(p), (size), (access)))

void __tsan_init(void) {}
void __tsan_func_entry(void *caller) {
    (void)caller;
}
void __tsan_func_exit(void) {}

#define PLAIN(size)                                                                                \
    void __tsan_read##size(void *p) {                                                              \
        TOUCH(p, size, SIM_READ);                                                                  \
    }                                                                                              \
    void __tsan_write##size(void *p) {                                                             \
        TOUCH(p, size, SIM_WRITE);                                                                 \
    }                                                                                              \
    void __tsan_unaligned_read##size(void *p) {                                                    \
        TOUCH(p, size, SIM_READ);                                                                  \
    }                                                                                              \
    void __tsan_unaligned_write##size(void *p) {                                                   \
        TOUCH(p, size, SIM_WRITE);                                                                 \
    }

PLAIN(1)
PLAIN(2)
PLAIN(4)
PLAIN(8)
PLAIN(16)

void __tsan_read_range(void *p, unsigned long size) {
    TOUCH(p, size, SIM_READ);
}
void __tsan_write_range(void *p, unsigned long size) {
    TOUCH(p, size, SIM_WRITE);
}

void __tsan_atomic_thread_fence(int order) {
    if (order == __ATOMIC_SEQ_CST) sim_fence();
}

/* This fence is for the compiler alone. */
void __tsan_atomic_signal_fence(int order) {
    (void)order;
}

#define RMW(bits, name, expression)                                                                \
    uint##bits##_t __tsan_atomic##bits##_##name(volatile uint##bits##_t *p, uint##bits##_t v,      \
                                                int order) {                                       \
        (void)order;                                                                               \
        TOUCH(p, sizeof *p, SIM_EXCHANGE);                                                         \
        uint##bits##_t old = *p;                                                                   \
        *p = (uint##bits##_t)(expression);                                                         \
        return old;                                                                                \
    }

/* A sequentially consistent store is an exchange on x86-64. */
#define ATOMIC(bits)                                                                               \
    uint##bits##_t __tsan_atomic##bits##_load(const volatile uint##bits##_t *p, int order) {       \
        (void)order;                                                                               \
        TOUCH(p, sizeof *p, SIM_READ);                                                             \
        return *p;                                                                                 \
    }                                                                                              \
    void __tsan_atomic##bits##_store(volatile uint##bits##_t *p, uint##bits##_t v, int order) {    \
        TOUCH(p, sizeof *p, order == __ATOMIC_SEQ_CST ? SIM_EXCHANGE : SIM_WRITE);                 \
        *p = v;                                                                                    \
    }                                                                                              \
    int __tsan_atomic##bits##_compare_exchange_strong(volatile uint##bits##_t *p,                  \
                                                      uint##bits##_t *expected, uint##bits##_t v,  \
                                                      int order, int failure) {                    \
        (void)order, (void)failure;                                                                \
        TOUCH(p, sizeof *p, SIM_EXCHANGE);                                                         \
        if (*p == *expected) {                                                                     \
            *p = v;                                                                                \
            return 1;                                                                              \
        }                                                                                          \
        *expected = *p;                                                                            \
        return 0;                                                                                  \
    }                                                                                              \
    RMW(bits, exchange, v)                                                                         \
    RMW(bits, fetch_add, old + v)                                                                  \
    RMW(bits, fetch_sub, old - v)                                                                  \
    RMW(bits, fetch_and, old &v)                                                                   \
    RMW(bits, fetch_or, old | v)                                                                   \
    RMW(bits, fetch_xor, old ^ v)

ATOMIC(8)
ATOMIC(16)
ATOMIC(32)
ATOMIC(64)
