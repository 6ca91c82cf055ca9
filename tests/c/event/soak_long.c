/* A soak of ten minutes. soak.h documents it.
 * test: long
 * test: timeout 900
 * test: not thread soak.c runs under the sanitizers
 * test: not address soak.c runs under the sanitizers
 * test: not undefined soak.c runs under the sanitizers */
#include "soak.h"

int main(void) {
    test_limit(700);
    soak(600);
    return 0;
}
