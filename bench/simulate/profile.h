/* profile.h: which accesses make lines travel, and where threads queue for the same line. */
#ifndef CAPSTAN_SIMULATE_PROFILE_H
#define CAPSTAN_SIMULATE_PROFILE_H

#include <stdint.h>

/* Where the access that follows stands in the program. */
extern const void *profile_place;

/* Forgets what was before. */
void profile_start(void);
/* A transfer begins only after `waited`, because others asked for the line first. */
void profile_transfer(uint64_t waited);
/* Prints the places with the longest queues to standard error, as addresses for addr2line. */
void profile_print(void);

#endif
