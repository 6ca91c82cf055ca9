/* Tasks that wait for input, output or time. A detached task is complete when its descriptor is
 * ready or its timer has fired. Its dependents run after that, and no thread waits meanwhile.
 *
 * test: flags -Iruntime/include -Lbuild/lib
 * test: not stock the calls are Capstan's own */
#include "testing.h"

#include <capstan.h>

#include <errno.h>
#include <fcntl.h>
#include <omp.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>

static void timer(int size) {
    int done = 0, x = 0;
    uint64_t before = capstan_clock();
    (void)x;
#pragma omp parallel num_threads(size)
#pragma omp single
    {
        omp_event_handle_t event;
#pragma omp task detach(event) depend(out : x)
        CHECK_EQ(capstan_await_timer(20 * 1000000, event), 0);
#pragma omp task depend(in : x) shared(done, before)
        {
            CHECK(capstan_clock() >= before + 20 * 1000000);
            INCREMENT(&done);
        }
    }
    CHECK_EQ(done, 1);
}

static int ends[2];

static void *write_later(void *data) {
    pause_ms(10);
    SET((int *)data, 1);
    CHECK_EQ(write(ends[1], "x", 1), 1);
    return NULL;
}

static void descriptor(int size) {
    int written = 0, done = 0;
    pthread_t thread;
    CHECK(pipe2(ends, O_CLOEXEC) == 0);
    CHECK(pthread_create(&thread, NULL, write_later, &written) == 0);
#pragma omp parallel num_threads(size)
#pragma omp single
    {
        omp_event_handle_t event;
        char byte = 0;
#pragma omp task detach(event) depend(out : byte)
        CHECK_EQ(capstan_await_fd(ends[0], CAPSTAN_READ, event), 0);
#pragma omp task depend(inout : byte) shared(byte, written, done)
        {
            CHECK_EQ(GET(&written), 1);
            CHECK_EQ(read(ends[0], &byte, 1), 1);
            done = byte;
        }
#pragma omp taskwait
    }
    CHECK_EQ(done, 'x');
    pthread_join(thread, NULL);
    close(ends[0]);
    close(ends[1]);
}

/* The thread that waits for a descriptor also makes it ready, so no thread may block in the wait,
 * even in a team of one. Then a second descriptor is closed instead. */
static void own_and_closed(int size) {
    int pair[2], done = 0;
    CHECK(pipe2(pair, O_CLOEXEC | O_NONBLOCK) == 0);
    char block[4096] = {0};
    while (write(pair[1], block, sizeof block) > 0) continue;
#pragma omp parallel num_threads(size)
#pragma omp single
    {
        omp_event_handle_t writable, closed;
#pragma omp task detach(writable)
        CHECK_EQ(capstan_await_fd(pair[1], CAPSTAN_WRITE, writable), 0);
#pragma omp task shared(done)
        {
            SET(&done, 1);
            while (read(pair[0], block, sizeof block) > 0) continue;
        }
#pragma omp taskwait
        CHECK_EQ(done, 1);
#pragma omp task detach(closed)
        {
            CHECK_EQ(capstan_await_fd(pair[0], CAPSTAN_READ, closed), 0);
            CHECK_EQ(capstan_fd_close(NULL, pair[0]), 0);
        }
#pragma omp taskwait
    }
    close(pair[1]);
}

enum { MANY = 5000 };

static void many(int size) {
    int done = 0;
    static char cell[MANY];
    (void)cell;
#pragma omp parallel num_threads(size)
#pragma omp single
    for (int i = 0; i < MANY; i++) {
        omp_event_handle_t event;
#pragma omp task detach(event) depend(out : cell[i])
        CHECK_EQ(capstan_await_timer((uint64_t)(i % 100) * 20000, event), 0);
#pragma omp task depend(in : cell[i]) shared(done)
        INCREMENT(&done);
    }
    CHECK_EQ(done, MANY);
}

static void errors(void) {
    /* A failed call fulfils no event: it never looks at the handle. */
    CHECK_EQ(capstan_await_fd(-1, CAPSTAN_READ, 0), EBADF);
    CHECK_EQ(capstan_await_fd(0, 0, 0), EINVAL);
    CHECK_EQ(capstan_await_fd(0, CAPSTAN_READ | CAPSTAN_EDGE, 0), EINVAL);
}

static void in_a_child(void) {
    pid_t child = fork();
    if (child == 0) {
        test_limit(10);
        timer(2);
        descriptor(2);
        _exit(0);
    }
    int status;
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main(void) {
    test_limit(60);
    errors();
    for (int size = 1; size <= 4; size *= 2) {
        timer(size);
        descriptor(size);
        own_and_closed(size);
        many(size);
    }
    in_a_child();
    return 0;
}
