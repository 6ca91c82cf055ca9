/* Does another process want the processors that our waiting threads spin on?
 *
 * There is one answer for the whole process: the member that loses its processor is seldom the
 * member that spins in vain. */
#ifndef CST_CORE_WAIT_RIVAL_H
#define CST_CORE_WAIT_RIVAL_H

#include "core/state/watch.h"
#include "platform/atomic.h"
#include "platform/hidden.h"

/* A thread has lost a slice lately. Changes seldom. */
extern CST_HIDDEN _Atomic bool cst_rival_seen;

/* Is a rival known? Reads the clock if a rival was known lately. */
bool cst_rival_is_known(void);
/* Was a rival known at the last answer? One load. */
bool cst_rival_was_known(void);
/* Do Haskell threads compute on all processors, beside the regions? Each call looks at the
 * Capabilities. The answer is true when several looks in a row have found as many threads that go
 * on. A thread that runs for some microseconds between two regions does not count. */
bool cst_rival_computes(uint64_t now);
/* Checks whether the thread has lost its processor since its last look. A system call. */
void cst_rival_look(struct cst_rival_watch *watch);
/* Forgets the last look: the time since then says nothing about rivals. */
void cst_rival_forgive(struct cst_rival_watch *watch);
/* A few microseconds of spinning have taken `ns` by the clock. True: rivals are the cause. */
bool cst_rival_took(struct cst_rival_watch *watch, uint64_t ns, uint64_t now);
/* The last microseconds of a spin, in which its condition came true, have taken `ns` by the clock.
 * If rivals are the cause, they are remembered for the next waits. */
void cst_rival_note(struct cst_rival_watch *watch, uint64_t ns, uint64_t now);
/* A wait is suspiciously long: each thread shall look at its next wait. */
void cst_rival_ask(struct cst_rival_watch *watch);
/* Looks, if a thread has asked. */
void cst_rival_answer(struct cst_rival_watch *watch);

#endif
