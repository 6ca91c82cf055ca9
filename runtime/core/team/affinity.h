/* The text about the processors of a thread: OMP_DISPLAY_AFFINITY, omp_display_affinity and
 * omp_capture_affinity (OpenMP 5.2, section 18.3). */
#ifndef CST_CORE_TEAM_AFFINITY_H
#define CST_CORE_TEAM_AFFINITY_H

#include <stddef.h>

/* The calling thread's text in this format; NULL or empty: affinity-format-var. Returns the length
 * of the text, and writes at most `size` bytes, without a zero at the end. If the format is wrong,
 * the process ends, as with libgomp. */
size_t cst_affinity_capture(char *buffer, size_t size, const char *format);

/* Writes this text as a line to stderr, or to stdout in libomp's manner
 * (settings/affinity_format.h). With OMP_DISPLAY_AFFINITY=true, each member of a new team calls
 * it. */
void cst_affinity_display(const char *format);

#endif
