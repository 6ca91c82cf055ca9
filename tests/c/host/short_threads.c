/* Ten thousand threads of the program open one region each and end: neither threads nor memory are
 * left behind.
 * test: alone
 * test: not qemu qemu's translated code grows
 */
#include "lives.h"

int main(void) {
    test_limit(58);
    expect_flat(lives, 10000);
    return 0;
}
