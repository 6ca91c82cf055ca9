/* The code of a thunk: it has the address of its datum in the register in which cst_thunk_enter
 * wants it, and goes on where the datum's second word says. ../linux/thunk.c says more. */
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
