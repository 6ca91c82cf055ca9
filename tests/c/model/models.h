/* Shared by the models: a team whose members are already in their seats, so that a model need not
 * begin with a fork. Each model_*.c has one models_run. */
#ifndef MODELS_H
#define MODELS_H

#include "core/state/thread.h"
#include "explore.h"

/* Returns 0 if all models of the file hold. */
int models_run(void);

/* In a model's setup: sets the number of processors, and whether a waiter spins for ever or sleeps
 * at once. Spinning leaves fewer orders to try; model_wait.c shows that sleepers are woken. */
void models_configure(unsigned processors, bool spinning);

/* Set in a model's setup: every timed wait has lasted long enough, and the host's first thread has
 * ended, so that an idle worker ends. */
extern bool machine_is_impatient;

/* Set in a model's setup: the kernel has no membarrier(2). The runtime then bounds some sleeps by
 * time, but in the model they last, so the waker must wake the sleeper. */
extern bool machine_has_no_barrier;

struct cst_substrate;
/* Set in a model's setup: the substrate that CAPSTAN_SUBSTRATE=rts finds; NULL: none. */
extern const struct cst_substrate *machine_rts;

/* The traits of the running thread (platform.h), as a number. A worker begins with the traits of
 * the thread that made it. */
enum { MACHINE_BLOCKED = 99 }; /* all signals */
void machine_set_traits(unsigned traits);
unsigned machine_traits(void);
/* Returns the number of workers that have begun and would take a signal. */
unsigned machine_takers(void);

/* In a model's setup: makes a team of this size in the middle of a region. */
struct cst_team *models_team(unsigned size, bool crowded);

/* After models_team: the region has seen a task before, so that the next task is announced without
 * a fence. */
void models_expect_tasks(void);

/* After models_team: the team counts as large, at its first barrier, and every task is queued. */
void models_enlarge(void);

/* The first call of a thread: the thread becomes member `number` of that team. */
struct cst_thread *models_sit(unsigned number);

#endif
