/* If memory, threads or descriptors run out, a program still gives the right result, or ends with a
 * message and status 1. This test lets some of the calls fail.
 *
 * test: timeout 120
 * test: not stock libgomp ends by a signal
 * test: not thread ThreadSanitizer has a malloc of its own
 * test: not address AddressSanitizer has a malloc of its own
 * test: flags -Iruntime/include -Lbuild/lib -ldl
 * test: shared parts/failing.c -ldl
 * test: not qemu qemu translates each of the many processes anew
 */
#include "fail/failing.h"

int main(int count, char **arguments) {
    if (count > 1) return in_child(arguments[1]);
    test_limit(115);
    /* A start of the rts substrate costs much more. */
    if (on_rts())
        run_all(300, 17, 5);
    else
        run_all(300, 3, 1);
    return 0;
}
