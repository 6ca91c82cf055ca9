/* What the models share: a team whose members sit in it already, so that a model need not begin
 * with a region's fork. Each model_*.c has one models_run. */
#ifndef MODELS_H
#define MODELS_H

#include "core/state/thread.h"
#include "explore.h"

/* 0 if all models of the file hold. */
int models_run(void);

/* In a model's setup: that many processors; who waits spins for ever, or sleeps at once. Spinning
 * leaves fewer orders to try, and the argument that sleepers are woken is model_wait.c's. */
void models_configure(unsigned processors, bool spinning);

/* Set in a model's setup: who waits for a time has waited for long enough, and the host's first
 * thread has ended, so that a worker which idles ends. */
extern bool machine_is_impatient;

/* Set in a model's setup: the kernel has no membarrier(2). A sleep that ends after a time for that
 * reason lasts all the same: what wakes its sleeper must do so, and not time. */
extern bool machine_has_no_barrier;

struct cst_substrate;
/* Set in a model's setup: the substrate that CAPSTAN_SUBSTRATE=rts finds; NULL: none. */
extern const struct cst_substrate *machine_rts;

/* The traits of the running thread (platform.h): a number. A worker begins with its maker's. */
enum { MACHINE_BLOCKED = 99 }; /* all signals */
void machine_set_traits(unsigned traits);
unsigned machine_traits(void);
/* How many workers, of those that have begun, would take a signal. */
unsigned machine_takers(void);

/* In a model's setup: a team of that size in the middle of a region. */
struct cst_team *models_team(unsigned size, bool crowded);

/* Then: the region has seen a task before, so that the next one is announced without a fence. */
void models_expect_tasks(void);

/* Then: the team is one of those that are large, at its first barrier; every task is put out. */
void models_enlarge(void);

/* First in a thread: it becomes member `number` of that team. */
struct cst_thread *models_sit(unsigned number);

#endif
