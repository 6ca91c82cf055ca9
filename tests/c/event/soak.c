/* A soak of a minute: a quarter plain, and a quarter under each sanitizer. soak.h documents it.
 * test: timeout 120 */
#include "soak.h"

int main(void) {
    test_limit(60);
    soak(15);
    return 0;
}
