/* Libraries that bring a pool of threads of their own, and let a program say whose threads to use
 * instead: theirs become regions of the process's one pool.
 *
 * Of core this room uses cst_self, cst_ask_number, cst_region_run, cst_region_run_exactly,
 * cst_config, the lock and the report's hook, and nothing else. */
#ifndef CST_ADOPT_ADOPT_H
#define CST_ADOPT_ADOPT_H

#include <stdint.h>

/* Looks at the libraries that have come since the last look, and returns how many have been taken
 * over so far. `maker`: code that is about to make a thread, which is counted for its library; that
 * library alone is taken over. Then it takes a lock that is held for microseconds, and 100 ns where
 * nothing is new. NULL: all are; it waits for libraries that other threads are loading. */
uint32_t cst_adopt_look(const void *maker);

/* As the library is loaded. */
void cst_adopt_start(void);

#endif
