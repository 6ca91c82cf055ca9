/* The report for `capstan run --report`: one line of JSON at the process's end. */
#ifndef CST_CORE_PROCESS_REPORT_H
#define CST_CORE_PROCESS_REPORT_H

#include <stddef.h>

struct cst_substrate;

/* Stores the time at which the process began, if a report is wanted. */
void cst_report_start(void);

/* Writes the line to CAPSTAN_REPORT's descriptor, if one is set. `substrate` is NULL when no region
 * with more than one thread ran; `note` is NULL or says why a substrate fell back. */
void cst_report_write(const struct cst_substrate *substrate, const char *note);

/* Writes a further member of the object, which begins with a comma, to `room`. It has less than
 * `size` bytes, or is "". NULL: no further member. */
extern const char *(*cst_report_pools)(char *room, size_t size);

#endif
