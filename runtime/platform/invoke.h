/* A call with a number of arguments that is a variable. C has no such call, so each processor's is
 * in assembly. */
#ifndef CST_PLATFORM_INVOKE_H
#define CST_PLATFORM_INVOKE_H

#include <stddef.h>
#include <stdint.h>

/* The call reads at least this number of words from `words`, for any count. */
enum { CST_INVOKE_LEAST = 6 };

/* Calls function(first, second, words[0], ..., words[count - 1]). */
void cst_invoke(void (*function)(void), const int32_t *first, const int32_t *second, size_t count,
                void *const *words);

#endif
