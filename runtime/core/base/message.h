/* What the runtime says on stderr.
 *
 * Two voices: messages that libgomp has too keep its words and its prefix, because scripts and
 * test suites look for them; our own begin with "capstan: ". May allocate nothing, may block on
 * stderr's lock, may be called from any thread. */
#ifndef CST_CORE_BASE_MESSAGE_H
#define CST_CORE_BASE_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>

#define CST_PRINTF(text, first) __attribute__((format(printf, text, first)))

/* "\nlibgomp: ...\n" */
void cst_message_libgomp(const char *format, ...) CST_PRINTF(1, 2);
/* The same, then exit(EXIT_FAILURE), as libgomp ends a program. */
_Noreturn void cst_message_libgomp_fatal(const char *format, ...) CST_PRINTF(1, 2);

/* "OMP: <kind>: ...\n", as libomp says it; the second with the end of the process. */
void cst_message_omp(const char *kind, const char *format, ...) CST_PRINTF(2, 3);
_Noreturn void cst_message_omp_fatal(const char *kind, const char *format, ...) CST_PRINTF(2, 3);

/* Are the former said? Ends of the process always are. */
void cst_message_omp_warns(bool wanted);

/* "capstan: ...\n" */
void cst_message(const char *format, ...) CST_PRINTF(1, 2);
/* The same, then exit(EXIT_FAILURE): for what is refused, never ignored. */
_Noreturn void cst_message_fatal(const char *format, ...) CST_PRINTF(1, 2);

#endif
