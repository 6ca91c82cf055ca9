/* A call with any number of arguments, for the System V convention of x86-64; see ../invoke.h. */

        .text

        .globl  cst_invoke
        .hidden cst_invoke
        .type   cst_invoke, @function
        .p2align 4
cst_invoke:
        .cfi_startproc
        endbr64
        pushq   %rbp
        .cfi_def_cfa_offset 16
        .cfi_offset rbp, -16
        movq    %rsp, %rbp
        .cfi_def_cfa_register rbp
        movq    %rdi, %r11
        movq    %rcx, %r10
        movq    %r8, %rax
        movq    %rsi, %rdi
        movq    %rdx, %rsi
        subq    $4, %r10                /* four words go in registers, the others on the stack */
        jbe     .Lregisters
        leaq    1(%r10), %rdx           /* an even number of words keeps the stack aligned */
        andq    $-2, %rdx
        shlq    $3, %rdx
        subq    %rdx, %rsp
.Lcopy: movq    24(%rax,%r10,8), %rdx
        movq    %rdx, -8(%rsp,%r10,8)
        decq    %r10
        jnz     .Lcopy
.Lregisters:
        movq    0(%rax), %rdx
        movq    8(%rax), %rcx
        movq    16(%rax), %r8
        movq    24(%rax), %r9
        call    *%r11
        leave
        .cfi_def_cfa rsp, 8
        ret
        .cfi_endproc
        .size   cst_invoke, . - cst_invoke

        .section .note.GNU-stack, "", @progbits
