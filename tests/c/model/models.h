/* What the models share: a team whose members sit in it already, so that a model need not begin
 * with a region's fork. Each model_*.c has one models_run. */
#ifndef MODELS_H
#define MODELS_H

#include "core/thread.h"
#include "explore.h"

/* 0 if all models of the file hold. */
int models_run(void);

/* In a model's setup: waiting without spinning, on that many processors. */
void models_configure(unsigned processors);

/* In a model's setup: a team of that size in the middle of a region. */
struct cst_team *models_team(unsigned size, bool crowded);

/* First in a thread: it becomes member `number` of that team. */
struct cst_thread *models_sit(unsigned number);

/* A chance for other threads to act; what lies between two of these does not count as one step. */
#define MODELS_PAUSE() explore_fence(EXPLORE_AT("pause"))

#endif
