/* The code of a thunk. It loads the address of its datum into the register that cst_thunk_enter
 * reads, and jumps to the address in the datum's second word. See ../linux/thunk.c. */
#ifndef CST_THUNK_H
#define CST_THUNK_H

enum { DISTANCE = 65536 }; /* the largest page */
static const unsigned char code[] = {
    0x5f, 0x24, 0x03, 0xd5, /* bti c */
    0xf1, 0xff, 0x07, 0x10, /* adr x17, DISTANCE - 4 */
    0x30, 0x06, 0x40, 0xf9, /* ldr x16, [x17, #8] */
    0x00, 0x02, 0x1f, 0xd6, /* br x16 */
};

#endif
