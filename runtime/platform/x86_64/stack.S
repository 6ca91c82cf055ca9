/* Switching stacks, and the common part of all thunks, for the System V convention of x86-64; see
 * ../stack.h. The call frame information lets debuggers and profilers walk through both. */

        .text

/* void cst_stack_begin(struct cst_stack_place *from, char *top, function, void *argument) */
        .globl  cst_stack_begin
        .hidden cst_stack_begin
        .type   cst_stack_begin, @function
        .p2align 4
cst_stack_begin:
        .cfi_startproc
        endbr64
        pushq   %rbp
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset rbp, 0
        pushq   %rbx
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset rbx, 0
        pushq   %r12
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset r12, 0
        pushq   %r13
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset r13, 0
        pushq   %r14
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset r14, 0
        pushq   %r15
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset r15, 0
        leaq    .Lback(%rip), %rax
        movq    %rsp, 0(%rdi)
        movq    %rbp, 8(%rdi)
        movq    %rax, 16(%rdi)
        jmp     side_stack
.Lback: endbr64
        popq    %r15
        .cfi_adjust_cfa_offset -8
        .cfi_restore r15
        popq    %r14
        .cfi_adjust_cfa_offset -8
        .cfi_restore r14
        popq    %r13
        .cfi_adjust_cfa_offset -8
        .cfi_restore r13
        popq    %r12
        .cfi_adjust_cfa_offset -8
        .cfi_restore r12
        popq    %rbx
        .cfi_adjust_cfa_offset -8
        .cfi_restore rbx
        popq    %rbp
        .cfi_adjust_cfa_offset -8
        .cfi_restore rbp
        ret
        .cfi_endproc
        .size   cst_stack_begin, . - cst_stack_begin

/* The outermost frame of a side stack. Its caller is the function suspended in *from; `from` stands
 * 8 bytes above the stack pointer. The frame is marked as a signal frame, as debuggers accept only
 * of those that the caller's frame lies at a lower address. */
        .type   side_stack, @function
        .p2align 4
side_stack:
        .cfi_startproc
        .cfi_signal_frame
        /* CFA = from->stack: def_cfa_expression breg7 8; deref; deref */
        .cfi_escape 0x0f, 4, 0x77, 8, 0x06, 0x06
        /* rbp is at &from->frame: expression r6: breg7 8; deref; plus_uconst 8 */
        .cfi_escape 0x10, 6, 5, 0x77, 8, 0x06, 0x23, 8
        /* rip is at &from->code: expression r16: breg7 8; deref; plus_uconst 16 */
        .cfi_escape 0x10, 16, 5, 0x77, 8, 0x06, 0x23, 16
        leaq    -16(%rsi), %rsp
        movq    %rdi, 8(%rsp)
        movq    $0, (%rsp)
        movq    %rcx, %rdi
        callq   *%rdx
        ud2
        .cfi_endproc
        .size   side_stack, . - side_stack

/* Follows the convention of GHC's generated code: R1 (rbx) points to the two places, and the other
 * live registers are Sp (rbp), Hp (r12), BaseReg (r13) and SpLim (r15). The continuation is on top
 * of the Haskell stack. There is neither a call nor a return: see cst_stack_switch. */
        .globl  cst_stack_resume_kept
        .type   cst_stack_resume_kept, @function
        .p2align 4
cst_stack_resume_kept:
        endbr64
        leaq    .Lanswered(%rip), %rax
        pushq   %r12
        pushq   %r13
        pushq   %r15
        movq    %rsp, 0(%rbx)
        movq    %rbp, 8(%rbx)
        movq    %rax, 16(%rbx)
        movq    24(%rbx), %rsp
        movq    32(%rbx), %rbp
        jmpq    *40(%rbx)
.Lanswered:
        endbr64
        popq    %r15
        popq    %r13
        popq    %r12
        jmpq    *(%rbp)
        .size   cst_stack_resume_kept, . - cst_stack_resume_kept

/* The common code of all thunks; %r11 points to the thunk's data, whose first word is the callee.
 * Stores a struct cst_call, calls callee->function(callee, call), and returns the results in it. */
        .globl  cst_thunk_enter
        .hidden cst_thunk_enter
        .type   cst_thunk_enter, @function
        .p2align 4
cst_thunk_enter:
        .cfi_startproc
        endbr64
        pushq   %rbp
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset rbp, 0
        movq    %rsp, %rbp
        .cfi_def_cfa_register rbp
        subq    $128, %rsp
        movq    %rdi, 0(%rsp)
        movq    %rsi, 8(%rsp)
        movq    %rdx, 16(%rsp)
        movq    %rcx, 24(%rsp)
        movq    %r8, 32(%rsp)
        movq    %r9, 40(%rsp)
        movsd   %xmm0, 48(%rsp)
        movsd   %xmm1, 56(%rsp)
        movsd   %xmm2, 64(%rsp)
        movsd   %xmm3, 72(%rsp)
        movsd   %xmm4, 80(%rsp)
        movsd   %xmm5, 88(%rsp)
        movsd   %xmm6, 96(%rsp)
        movsd   %xmm7, 104(%rsp)
        leaq    16(%rbp), %rax
        movq    %rax, 112(%rsp)
        movq    (%r11), %rdi
        movq    %rsp, %rsi
        callq   *(%rdi)
        movq    0(%rsp), %rax
        movsd   48(%rsp), %xmm0
        leave
        .cfi_def_cfa rsp, 8
        .cfi_restore rbp
        ret
        .cfi_endproc
        .size   cst_thunk_enter, . - cst_thunk_enter

        .section .note.GNU-stack, "", @progbits
