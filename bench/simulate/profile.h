/* profile.h: the accesses that transfer lines, and the places where threads queue for the same
 * line. */
#ifndef CAPSTAN_SIMULATE_PROFILE_H
#define CAPSTAN_SIMULATE_PROFILE_H

#include <stdint.h>

/* The place in the program of the next access. */
extern const void *profile_place;

/* Forgets all earlier transfers. */
void profile_start(void);
/* Notes a transfer that begins only after `waited`, because other threads requested the line
 * first. */
void profile_transfer(uint64_t waited);
/* Prints the places with the longest queues to standard error, as addresses for addr2line. */
void profile_print(void);

#endif
