/* As some.c, but each of the first 300 calls fails once.
 *
 * test: long
 * test: timeout 1800
 * test: not stock libgomp ends by a signal
 * test: not thread ThreadSanitizer has a malloc of its own
 * test: not address AddressSanitizer has a malloc of its own
 * test: flags -Iruntime/include -Lbuild/lib -ldl
 * test: shared parts/failing.c -ldl */
#include "fail/failing.h"

int main(int count, char **arguments) {
    if (count > 1) return in_child(arguments[1]);
    test_limit(1790);
    run_all(300, 1, 1);
    return 0;
}
