/* Adoption of libraries that have a pool of threads of their own, and a call to use another pool
 * instead: their sections become regions of the process's single pool.
 *
 * Of core, this room uses only cst_self, cst_ask_number, cst_region_run, cst_region_run_exactly,
 * cst_config, the lock and the report's hook. */
#ifndef CST_ADOPT_ADOPT_H
#define CST_ADOPT_ADOPT_H

#include <stdint.h>

/* Looks at the libraries that have come since the last look, and returns the number adopted so far.
 * `maker` is code that is about to make a thread. The thread is counted for that code's library,
 * and only this library is adopted. Such a call takes a lock that is held for microseconds, and 100
 * ns if no library is new. With NULL, all are adopted, and the call waits for libraries that other
 * threads are loading. */
uint32_t cst_adopt_look(const void *maker);

/* Called as the library is loaded. */
void cst_adopt_start(void);

#endif
