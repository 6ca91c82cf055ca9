/* A call with any number of arguments, for AArch64's procedure call standard; see ../invoke.h. */

        .text

        .globl  cst_invoke
        .hidden cst_invoke
        .type   cst_invoke, %function
        .p2align 4
cst_invoke:
        .cfi_startproc
        hint    #34             /* bti c */
        stp     x29, x30, [sp, #-16]!
        .cfi_def_cfa_offset 16
        .cfi_offset x29, -16
        .cfi_offset x30, -8
        mov     x29, sp
        .cfi_def_cfa_register x29
        mov     x16, x0
        mov     x10, x4
        mov     x0, x1
        mov     x1, x2
        subs    x11, x3, #6     /* six words go in registers, the others on the stack */
        b.ls    .Lregisters
        add     x12, x11, #1    /* an even number of words keeps the stack aligned */
        and     x12, x12, #~1
        sub     sp, sp, x12, lsl #3
        mov     x12, sp
.Lcopy: sub     x11, x11, #1
        add     x13, x11, #6
        ldr     x14, [x10, x13, lsl #3]
        str     x14, [x12, x11, lsl #3]
        cbnz    x11, .Lcopy
.Lregisters:
        ldp     x2, x3, [x10]
        ldp     x4, x5, [x10, #16]
        ldp     x6, x7, [x10, #32]
        blr     x16
        mov     sp, x29
        ldp     x29, x30, [sp], #16
        .cfi_def_cfa sp, 0
        .cfi_restore x30
        .cfi_restore x29
        ret
        .cfi_endproc
        .size   cst_invoke, . - cst_invoke

        .section .note.GNU-stack, "", %progbits
