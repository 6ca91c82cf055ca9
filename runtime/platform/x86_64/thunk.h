/* The code of a thunk. It loads the address of its datum into the register that cst_thunk_enter
 * reads, and jumps to the address in the datum's second word. See ../linux/thunk.c. */
#ifndef CST_THUNK_H
#define CST_THUNK_H

enum { DISTANCE = 4096 };
static const unsigned char code[] = {
    0xf3, 0x0f, 0x1e, 0xfa,                   /* endbr64 */
    0x4c, 0x8d, 0x1d, 0xf5, 0x0f, 0x00, 0x00, /* lea DISTANCE - 11(%rip), %r11 */
    0x41, 0xff, 0x63, 0x08,                   /* jmp *8(%r11) */
    0xcc,                                     /* int3 */
};

#endif
