/* The messages of the runtime on stderr.
 *
 * Three voices. Where a program or its environment breaks a rule of OpenMP, the message has the
 * words of a front end: scripts and test suites look for GCC's or LLVM's. Our own messages begin
 * with "capstan: ". A message allocates nothing, may block on stderr's lock, and may come from any
 * thread. */
#ifndef CST_CORE_BASE_MESSAGE_H
#define CST_CORE_BASE_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>

#define CST_PRINTF(text, first) __attribute__((format(printf, text, first)))

/* The prefix of the front end that most programs know; abi/gomp defines it. */
extern const char cst_message_openmp_prefix[];

/* "<prefix>...\n", with the prefix above. */
void cst_message_openmp(const char *format, ...) CST_PRINTF(1, 2);
/* The same, then exit(EXIT_FAILURE). */
_Noreturn void cst_message_openmp_fatal(const char *format, ...) CST_PRINTF(1, 2);

/* "OMP: <kind>: ...\n", as libomp writes it. The second function then calls exit(EXIT_FAILURE). */
void cst_message_omp(const char *kind, const char *format, ...) CST_PRINTF(2, 3);
_Noreturn void cst_message_omp_fatal(const char *kind, const char *format, ...) CST_PRINTF(2, 3);

/* Shall cst_message_omp write? cst_message_omp_fatal always does. */
void cst_message_omp_warns(bool wanted);

/* "capstan: ...\n" */
void cst_message(const char *format, ...) CST_PRINTF(1, 2);
/* The same, then exit(EXIT_FAILURE): for requests that must not be ignored. */
_Noreturn void cst_message_fatal(const char *format, ...) CST_PRINTF(1, 2);

#endif
