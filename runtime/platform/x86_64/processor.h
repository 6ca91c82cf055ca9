/* The processor's part of platform.h, in instructions of x86-64. */
#ifndef CST_PROCESSOR_H
#define CST_PROCESSOR_H

#include <stdint.h>

static inline void cst_cpu_relax(void) {
    __builtin_ia32_pause();
}

static inline void cst_cpu_settle(void) {
    __asm__ volatile("lfence" ::: "memory");
}

static inline void cst_prefetch_to_write(const _Atomic uint32_t *word) {
    __asm__ volatile("prefetchw %0" : : "m"(*word)); /* a no-op on older processors */
}

static inline uint64_t cst_clock_ticks(void) {
    return __builtin_ia32_rdtsc();
}

static inline uint64_t cst_clock_ticks_in_order(void) {
    cst_cpu_settle();
    uint64_t ticks = __builtin_ia32_rdtsc();
    cst_cpu_settle();
    return ticks;
}

static inline uint64_t cst_float_mode(void) {
    uint16_t x87;
    __asm__ volatile("fnstcw %0" : "=m"(x87));
    return (uint64_t)x87 << 32 | (__builtin_ia32_stmxcsr() & ~0x3fu);
}

static inline void cst_float_set_mode(uint64_t mode) {
    uint16_t x87 = (uint16_t)(mode >> 32);
    __asm__ volatile("fldcw %0" : : "m"(x87));
    __builtin_ia32_ldmxcsr((uint32_t)mode | (__builtin_ia32_stmxcsr() & 0x3fu));
}

/* rax passes the words; rdx returns the answer. */
static inline uintptr_t cst_valgrind_ask(const uintptr_t words[6]) {
    uintptr_t answer = 0;
    __asm__ volatile("rolq $3, %%rdi\n\trolq $13, %%rdi\n\trolq $61, %%rdi\n\trolq $51, %%rdi\n\t"
                     "xchgq %%rbx, %%rbx"
                     : "+d"(answer)
                     : "a"(words)
                     : "cc", "memory");
    return answer;
}

#endif
