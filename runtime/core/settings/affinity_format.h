/* The text of OMP_AFFINITY_FORMAT (OpenMP 5.2, section 18.3): the current format, and its grammar.
 * team/affinity.h writes a thread's affinity in it. */
#ifndef CST_CORE_SETTINGS_AFFINITY_FORMAT_H
#define CST_CORE_SETTINGS_AFFINITY_FORMAT_H

#include <stdbool.h>
#include <stddef.h>

/* --- affinity-format-var: belongs to the device; any thread may call these -------------------- */

void cst_affinity_set_format(const char *format, size_t length);
/* Writes at most `size` bytes of the format, without a zero at the end. Returns the format's
 * length. */
size_t cst_affinity_get_format(char *buffer, size_t size);

/* From now on threads display their affinity in libomp's form: on stdout, with libomp's default
 * format and the kernel's thread numbers. The first caller of libomp's entry points sets this for
 * the whole process, as readers of the lines know only one form. */
void cst_affinity_speak_as_libomp(void);
bool cst_affinity_is_libomp(void);

/* Called in the child of a fork, where a thread that was just changing the format is gone. */
void cst_affinity_after_fork(void);

/* --- grammar --------------------------------------------------------------------------------- */

enum {
    CST_AFFINITY_MOST_WIDTH = 1024, /* so no sum of lengths overflows */
    CST_AFFINITY_WHY = 256          /* room for the error message of a format */
};

/* %[[0].size]type */
struct cst_affinity_field {
    bool zero, right;
    size_t size; /* at most CST_AFFINITY_MOST_WIDTH; 0: not given */
    char type;   /* one of tTLnNaPHiA */
};

/* Reads the field behind a percent sign, and returns the text behind it. NULL: the field is wrong,
 * and *why has libgomp's message. */
const char *cst_affinity_parse_field(const char *at, struct cst_affinity_field *field,
                                     char why[CST_AFFINITY_WHY]);

/* Is the format right? With a wrong one, the calls of team/affinity.h end the process. */
bool cst_affinity_check(const char *format);

#endif
