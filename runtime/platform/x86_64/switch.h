/* The switch of stacks that ../stack.h describes, for x86-64. */
#ifndef CST_SWITCH_H
#define CST_SWITCH_H

static inline void cst_stack_switch(struct cst_stack_place *from, struct cst_stack_place *to) {
    __asm__ volatile("leaq 1f(%%rip), %%rax\n\t"
                     "movq %%rsp, 0(%%rdi)\n\t"
                     "movq %%rbp, 8(%%rdi)\n\t"
                     "movq %%rax, 16(%%rdi)\n\t"
                     "movq 0(%%rsi), %%rsp\n\t"
                     "movq 8(%%rsi), %%rbp\n\t"
                     "jmpq *16(%%rsi)\n"
                     "1:\tendbr64"
                     : "+D"(from), "+S"(to)
                     :
                     : "rax", "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14",
                       "r15", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7",
                       "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15",
                       "memory", "cc");
}

#endif
