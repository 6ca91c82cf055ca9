/* The messages of the runtime on stderr; see message.h. */
#include "core/base/message.h"

#include "platform/atomic.h"
#include "platform/platform.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Writes one message at a time: the words of two threads must not mix. */
static void say(const char *prefix, const char *format, va_list arguments) {
    int saved = errno;
    flockfile(stderr);
    fputs(prefix, stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    funlockfile(stderr);
    errno = saved;
}

/* The first thread that comes here ends the process. Other threads may come before exit returns,
 * and would run exit functions at the same time. So they wait, but not for ever, as an exit
 * function may wait for one of them. If an exit function of the first thread comes here, exit
 * continues with the next function. */
static _Noreturn void end_process(void) {
    static const uint64_t patience_ns = UINT64_C(5000000000);
    static _Atomic(pthread_t) ending;
    static _Atomic uint32_t nobody;
    pthread_t none = 0, self = pthread_self();
    if (cst_cas_relaxed(&ending, &none, self) || pthread_equal(none, self)) exit(EXIT_FAILURE);
    uint64_t now, end = cst_clock_ns() + patience_ns;
    while ((now = cst_clock_ns()) < end) cst_futex_wait_for(&nobody, 0, end - now);
    _exit(EXIT_FAILURE);
}

void cst_message_openmp(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    say(cst_message_openmp_prefix, format, arguments);
    va_end(arguments);
}

void cst_message_openmp_fatal(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    say(cst_message_openmp_prefix, format, arguments);
    va_end(arguments);
    end_process();
}

void cst_message(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    say("capstan: ", format, arguments);
    va_end(arguments);
}

void cst_message_fatal(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    say("capstan: ", format, arguments);
    va_end(arguments);
    end_process();
}

/* The longest kind of message has seven letters. */
static void say_omp(const char *kind, const char *format, va_list arguments) {
    char prefix[32];
    snprintf(prefix, sizeof prefix, "OMP: %s: ", kind);
    say(prefix, format, arguments);
}

static _Atomic bool omp_is_quiet;

void cst_message_omp_warns(bool wanted) {
    cst_store_relaxed(&omp_is_quiet, !wanted);
}

void cst_message_omp(const char *kind, const char *format, ...) {
    if (cst_load_relaxed(&omp_is_quiet)) return;
    va_list arguments;
    va_start(arguments, format);
    say_omp(kind, format, arguments);
    va_end(arguments);
}

void cst_message_omp_fatal(const char *kind, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    say_omp(kind, format, arguments);
    va_end(arguments);
    end_process();
}
