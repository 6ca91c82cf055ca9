/* The processor's part of platform.h, in instructions of AArch64. */
#ifndef CST_PROCESSOR_H
#define CST_PROCESSOR_H

#include <stdint.h>

/* `yield` does nothing on a processor whose cores have one thread each, and most are so. `isb`
 * empties the pipeline, and so lasts about as long as x86-64's pause. Rust's standard library and
 * jemalloc use it too, after measurements. */
static inline void cst_cpu_relax(void) {
    __asm__ volatile("isb" ::: "memory");
}

static inline void cst_cpu_settle(void) {
    __asm__ volatile("dsb ld\n\tisb" ::: "memory");
}

static inline void cst_prefetch_to_write(const _Atomic uint32_t *word) {
    __builtin_prefetch((const void *)word, 1);
}

/* The counter runs at 1 MHz to 1 GHz, which cntfrq_el0 tells. The shift brings the rate to 1.07 to
 * 2.15 GHz. */
static inline uint64_t cst_clock_ticks(void) {
    uint64_t ticks, frequency;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    __asm__("mrs %0, cntfrq_el0" : "=r"(frequency));
    return ticks << ((unsigned)__builtin_clz((uint32_t)frequency | 1) - 1);
}

static inline uint64_t cst_clock_ticks_in_order(void) {
    cst_cpu_settle();
    uint64_t ticks = cst_clock_ticks();
    __asm__ volatile("isb" ::: "memory");
    return ticks;
}

static inline uint64_t cst_float_mode(void) {
    uint64_t fpcr;
    __asm__ volatile("mrs %0, fpcr" : "=r"(fpcr));
    return fpcr;
}

static inline void cst_float_set_mode(uint64_t mode) {
    __asm__ volatile("msr fpcr, %0" : : "r"(mode));
}

/* x4 passes the words; x3 returns the answer. */
static inline uintptr_t cst_valgrind_ask(const uintptr_t words[6]) {
    register uintptr_t answer __asm__("x3") = 0;
    register const uintptr_t *question __asm__("x4") = words;
    __asm__ volatile("ror x12, x12, #3\n\tror x12, x12, #13\n\tror x12, x12, #51\n\t"
                     "ror x12, x12, #61\n\torr x10, x10, x10"
                     : "+r"(answer)
                     : "r"(question)
                     : "cc", "memory");
    return answer;
}

#endif
