/* Ten thousand threads of the program, each of which opens one region and ends: neither threads
 * nor memory are left behind.
 * test: alone
 * test: not qemu what it has translated grows
 */
#include "lives.h"

int main(void) {
    test_limit(58);
    expect_flat(lives, 10000);
    return 0;
}
