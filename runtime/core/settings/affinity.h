/* What a thread says about where it runs: OMP_AFFINITY_FORMAT, omp_display_affinity and the calls
 * beside it (OpenMP 5.2, section 18.3). */
#ifndef CST_CORE_SETTINGS_AFFINITY_H
#define CST_CORE_SETTINGS_AFFINITY_H

#include <stdbool.h>
#include <stddef.h>

/* Is the format right? If not, the calls below that use it end the process. */
bool cst_affinity_check(const char *format);

/* affinity-format-var; belongs to the device. Any thread may call these. */
void cst_affinity_set_format(const char *format, size_t length);
/* Returns the format's length, and writes at most `size` bytes, without a zero at the end. */
size_t cst_affinity_get_format(char *buffer, size_t size);

/* The calling thread's text in this format (NULL or empty: the one above). Returns its length, and
 * writes at most `size` bytes, without a zero at the end. Ends the process, as libgomp does, when
 * the format is wrong. */
size_t cst_affinity_capture(char *buffer, size_t size, const char *format);

/* The same, as a line on stderr. OMP_DISPLAY_AFFINITY=true: by each member of a new team. */
void cst_affinity_display(const char *format);

/* In the child of a fork: whoever was just changing the format is gone. */
void cst_affinity_after_fork(void);

#endif
