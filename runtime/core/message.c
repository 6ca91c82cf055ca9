/* What the runtime says on stderr. */
#include "core/message.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* One message at a time: two threads' words must not mix. */
static void say(const char *prefix, const char *format, va_list arguments) {
    int saved = errno;
    flockfile(stderr);
    fputs(prefix, stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    funlockfile(stderr);
    errno = saved;
}

void cst_message_libgomp(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    say("\nlibgomp: ", format, arguments);
    va_end(arguments);
}

void cst_message_libgomp_fatal(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    say("\nlibgomp: ", format, arguments);
    va_end(arguments);
    exit(EXIT_FAILURE);
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
    exit(EXIT_FAILURE);
}
