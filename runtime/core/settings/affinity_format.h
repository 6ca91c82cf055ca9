/* The text of OMP_AFFINITY_FORMAT (OpenMP 5.2, section 18.3): the current one, and its grammar.
 * team/affinity.h writes what a thread has to say in it. */
#ifndef CST_CORE_SETTINGS_AFFINITY_FORMAT_H
#define CST_CORE_SETTINGS_AFFINITY_FORMAT_H

#include <stdbool.h>
#include <stddef.h>

/* --- affinity-format-var: belongs to the device; any thread may call these -------------------- */

void cst_affinity_set_format(const char *format, size_t length);
/* Returns the format's length, and writes at most `size` bytes, without a zero at the end. */
size_t cst_affinity_get_format(char *buffer, size_t size);

/* From now on threads speak of their affinity as libomp has them speak: on stdout, with its default
 * format, their numbers as the kernel counts. For the process, by whoever begins to call libomp's
 * entry points: readers of the lines know but one form. */
void cst_affinity_speak_as_libomp(void);
bool cst_affinity_is_libomp(void);

/* In the child of a fork: the thread that was just changing the format is gone. */
void cst_affinity_after_fork(void);

/* --- grammar --------------------------------------------------------------------------------- */

enum {
    CST_AFFINITY_MOST_WIDTH = 1024, /* so that no sum of lengths overflows */
    CST_AFFINITY_WHY = 256          /* room to say what is wrong with a format */
};

/* %[[0].size]type */
struct cst_affinity_field {
    bool zero, right;
    size_t size; /* at most CST_AFFINITY_MOST_WIDTH; 0: none given */
    char type;   /* one of tTLnNaPHiA */
};

/* Reads what follows a percent sign. Returns what follows the field; NULL, with libgomp's words in
 * *why, if it is wrong. */
const char *cst_affinity_parse_field(const char *at, struct cst_affinity_field *field,
                                     char why[CST_AFFINITY_WHY]);

/* Is the format right? If not, the calls of team/affinity.h end the process with it. */
bool cst_affinity_check(const char *format);

#endif
