/* What the runtime says on stderr.
 *
 * Two voices: messages that libgomp has too keep its words and its prefix, because scripts and
 * test suites look for them; our own begin with "capstan: ". May allocate nothing, may block on
 * stderr's lock, may be called from any thread. */
#ifndef CST_CORE_BASE_MESSAGE_H
#define CST_CORE_BASE_MESSAGE_H

#include <stddef.h>

#define CST_PRINTF(text, first) __attribute__((format(printf, text, first)))

/* "\nlibgomp: ...\n" */
void cst_message_libgomp(const char *format, ...) CST_PRINTF(1, 2);
/* The same, then exit(EXIT_FAILURE), as libgomp ends a program. */
_Noreturn void cst_message_libgomp_fatal(const char *format, ...) CST_PRINTF(1, 2);

/* "capstan: ...\n" */
void cst_message(const char *format, ...) CST_PRINTF(1, 2);
/* The same, then exit(EXIT_FAILURE): for what is refused, never ignored. */
_Noreturn void cst_message_fatal(const char *format, ...) CST_PRINTF(1, 2);

#endif
