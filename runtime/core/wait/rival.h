/* Does another process want the processors that our waiting threads spin on?
 *
 * One answer for the whole process: the member that loses its processor is seldom the one that
 * spins in vain for it. */
#ifndef CST_CORE_WAIT_RIVAL_H
#define CST_CORE_WAIT_RIVAL_H

#include "core/state/watch.h"
#include "platform/atomic.h"

/* Somebody has lost a slice lately. Changes seldom. */
extern _Atomic bool cst_rival_seen;

/* Is there one, as far as is known? Reads the clock if one was known lately. */
bool cst_rival_is_known(void);
/* The answer that it gave last, for nothing. */
bool cst_rival_was_known(void);
/* Has the thread been driven from its processor since it looked last? A system call. */
void cst_rival_look(struct cst_rival_watch *watch);
/* What has happened since the last look says nothing about rivals. */
void cst_rival_forgive(struct cst_rival_watch *watch);
/* A few microseconds of spinning have taken so long by the clock. True: because of rivals. */
bool cst_rival_took(struct cst_rival_watch *watch, uint64_t ns, uint64_t now);
/* A wait is suspiciously long: every thread is to look when it waits next. */
void cst_rival_ask(struct cst_rival_watch *watch);
/* Looks, if someone has asked. */
void cst_rival_answer(struct cst_rival_watch *watch);

#endif
