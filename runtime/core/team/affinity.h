/* What a thread says about where it runs: OMP_DISPLAY_AFFINITY, omp_display_affinity and
 * omp_capture_affinity (OpenMP 5.2, section 18.3). */
#ifndef CST_CORE_TEAM_AFFINITY_H
#define CST_CORE_TEAM_AFFINITY_H

#include <stddef.h>

/* The calling thread's text in this format; NULL or empty: affinity-format-var. Returns its length,
 * and writes at most `size` bytes, without a zero at the end. Ends the process, as libgomp does,
 * when the format is wrong. */
size_t cst_affinity_capture(char *buffer, size_t size, const char *format);

/* The same, as a line on stderr, or as libomp has it (settings/affinity_format.h).
 * OMP_DISPLAY_AFFINITY=true: by each member of a new team. */
void cst_affinity_display(const char *format);

#endif
