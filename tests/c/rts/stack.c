/* A worker has a stack of the requested size. A size below the minimum gives the default and one
 * message that names the variable.
 *
 * test: plain
 * test: flags -Iruntime -ldl -lpthread */
#include "guest.h"

#include <alloca.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/resource.h>

static size_t size_of_stack;
static int worked;

static void *measure(void *argument) {
    pthread_attr_t attributes;
    CHECK_EQ(pthread_getattr_np(pthread_self(), &attributes), 0);
    CHECK_EQ(pthread_attr_getstacksize(&attributes, &size_of_stack), 0);
    pthread_attr_destroy(&attributes);
    /* Use the whole stack. */
    size_t use = (size_t)argument;
    if (use) memset(alloca(use), 1, use);
    INCREMENT(&worked);
    return NULL;
}

static size_t stack_of_worker(const struct cst_substrate *rts, size_t wanted, size_t use) {
    static unsigned index;
    int before = GET(&worked);
    CHECK_EQ(rts->spawn(measure, (void *)use, ++index, wanted, false), 0);
    AWAIT(&worked, before + 1);
    return size_of_stack;
}

int main(void) {
    test_limit(30);
    const size_t usual = (size_t)8 << 20, mebibyte = (size_t)1 << 20;
    CHECK_EQ(setrlimit(RLIMIT_STACK, &(struct rlimit){usual, RLIM_INFINITY}), 0);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, usual);
    pthread_setattr_default_np(&attributes);
    const struct cst_substrate *rts = guest_start(2);

    CHECK_EQ(stack_of_worker(rts, 0, usual - mebibyte), usual);
    size_t small = stack_of_worker(rts, mebibyte, mebibyte - 16 * 1024);
    CHECK(small >= mebibyte && small < 2 * mebibyte);
    size_t large = stack_of_worker(rts, 64 * mebibyte, 63 * mebibyte);
    CHECK(large >= 64 * mebibyte && large < 65 * mebibyte);
    stack_of_worker(rts, 16 * 1024, 8 * 1024);

    /* A stack larger than the address space: no worker starts, and spawn says so. */
    CHECK_EQ(rts->spawn(measure, NULL, 9, SIZE_MAX / 2, false), EAGAIN);

    int ends[2];
    char text[512] = "";
    int error = dup(2);
    CHECK_EQ(pipe(ends), 0);
    CHECK(dup2(ends[1], 2) == 2);
    CHECK_EQ(stack_of_worker(rts, 1000, 0), usual);
    CHECK_EQ(stack_of_worker(rts, 1000, 0), usual);
    CHECK(dup2(error, 2) == 2);
    close(ends[1]);
    CHECK(read(ends[0], text, sizeof text - 1) > 0);
    char *first = strstr(text, "OMP_STACKSIZE");
    CHECK(first && !strstr(first + 1, "OMP_STACKSIZE"));
    return 0;
}
