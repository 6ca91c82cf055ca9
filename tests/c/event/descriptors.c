/* Registrations on the back ends of this system. */
#include "descriptor_tests.h"

int main(void) {
    test_limit(30);
    test_descriptors("epoll");
    test_descriptors("poll");
    return 0;
}
