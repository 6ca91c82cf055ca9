/* Switching stacks, and the common part of all thunks, for AArch64's procedure call standard; see
 * ../stack.h. The call frame information lets debuggers and profilers walk through both. */

        .text

        /* The registers that a function preserves for its caller. */
        .macro  each_pair operation
        \operation x19, x20, 16
        \operation x21, x22, 32
        \operation x23, x24, 48
        \operation x25, x26, 64
        \operation x27, x28, 80
        \operation d8, d9, 96
        \operation d10, d11, 112
        \operation d12, d13, 128
        \operation d14, d15, 144
        .endm
        .macro  save first, second, at
        stp     \first, \second, [sp, #\at]
        .endm
        .macro  restore first, second, at
        ldp     \first, \second, [sp, #\at]
        .endm

/* void cst_stack_begin(struct cst_stack_place *from, char *top, function, void *argument) */
        .globl  cst_stack_begin
        .hidden cst_stack_begin
        .type   cst_stack_begin, %function
        .p2align 4
cst_stack_begin:
        .cfi_startproc
        hint    #34             /* bti c */
        stp     x29, x30, [sp, #-160]!
        .cfi_def_cfa_offset 160
        .cfi_offset x29, -160
        .cfi_offset x30, -152
        each_pair save
        adr     x9, .Lback
        mov     x10, sp
        stp     x10, x29, [x0]
        str     x9, [x0, #16]
        b       side_stack
.Lback: hint    #36             /* bti j */
        each_pair restore
        ldp     x29, x30, [sp], #160
        .cfi_def_cfa_offset 0
        .cfi_restore x29
        .cfi_restore x30
        ret
        .cfi_endproc
        .size   cst_stack_begin, . - cst_stack_begin

/* The outermost frame of a side stack. Its caller is the function suspended in *from; `from` stands
 * at the stack pointer. The frame is marked as a signal frame, as debuggers accept only of those
 * that the caller's frame lies at a lower address. */
        .type   side_stack, %function
        .p2align 4
side_stack:
        .cfi_startproc
        .cfi_signal_frame
        /* CFA = from->stack: def_cfa_expression breg31 0; deref; deref */
        .cfi_escape 0x0f, 4, 0x8f, 0, 0x06, 0x06
        /* x29 is at &from->frame: expression r29: breg31 0; deref; plus_uconst 8 */
        .cfi_escape 0x10, 29, 5, 0x8f, 0, 0x06, 0x23, 8
        /* the return address is at &from->code: expression r30: breg31 0; deref; plus_uconst 16 */
        .cfi_escape 0x10, 30, 5, 0x8f, 0, 0x06, 0x23, 16
        sub     sp, x1, #16
        stp     x0, xzr, [sp]
        mov     x0, x3
        blr     x2
        brk     #1
        .cfi_endproc
        .size   side_stack, . - side_stack

/* Follows the convention of GHC's generated code: R1 (x22) points to the two places, and the other
 * live registers are BaseReg (x19), Sp (x20), Hp (x21) and SpLim (x28). The continuation is on top
 * of the Haskell stack. There is neither a call nor a return: see cst_stack_switch. */
        .globl  cst_stack_resume_kept
        .type   cst_stack_resume_kept, %function
        .p2align 4
cst_stack_resume_kept:
        hint    #36             /* bti j */
        adr     x9, .Lanswered
        stp     x19, x21, [sp, #-32]!
        stp     x28, x20, [sp, #16]
        mov     x10, sp
        stp     x10, x29, [x22]
        str     x9, [x22, #16]
        ldp     x10, x29, [x22, #24]
        ldr     x16, [x22, #40]
        mov     sp, x10
        br      x16
.Lanswered:
        hint    #36             /* bti j */
        ldp     x28, x20, [sp, #16]
        ldp     x19, x21, [sp], #32
        ldr     x16, [x20]
        br      x16
        .size   cst_stack_resume_kept, . - cst_stack_resume_kept

/* The common code of all thunks; x17 points to the thunk's data, whose first word is the callee.
 * Stores a struct cst_call, calls callee->function(callee, call), and returns the results in it. */
        .globl  cst_thunk_enter
        .hidden cst_thunk_enter
        .type   cst_thunk_enter, %function
        .p2align 4
cst_thunk_enter:
        .cfi_startproc
        hint    #36             /* bti j */
        stp     x29, x30, [sp, #-16]!
        .cfi_adjust_cfa_offset 16
        .cfi_rel_offset x29, 0
        .cfi_rel_offset x30, 8
        mov     x29, sp
        .cfi_def_cfa_register x29
        sub     sp, sp, #144
        stp     x0, x1, [sp, #0]
        stp     x2, x3, [sp, #16]
        stp     x4, x5, [sp, #32]
        stp     x6, x7, [sp, #48]
        stp     d0, d1, [sp, #64]
        stp     d2, d3, [sp, #80]
        stp     d4, d5, [sp, #96]
        stp     d6, d7, [sp, #112]
        add     x9, x29, #16
        str     x9, [sp, #128]
        ldr     x0, [x17]
        mov     x1, sp
        ldr     x9, [x0]
        blr     x9
        ldr     x0, [sp, #0]
        ldr     d0, [sp, #64]
        mov     sp, x29
        .cfi_def_cfa_register sp
        ldp     x29, x30, [sp], #16
        .cfi_adjust_cfa_offset -16
        .cfi_restore x29
        .cfi_restore x30
        ret
        .cfi_endproc
        .size   cst_thunk_enter, . - cst_thunk_enter

        .section .note.GNU-stack, "", %progbits
