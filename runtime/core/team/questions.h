/* Questions about the calling thread, its team and its control variables. They neither allocate nor
 * lock, so a signal handler may ask them. For an unknown thread the answers are those of an initial
 * thread (state/thread.h, cst_known). */
#ifndef CST_CORE_TEAM_QUESTIONS_H
#define CST_CORE_TEAM_QUESTIONS_H

#include "core/state/thread.h"
#include "core/budget/share.h"
#include "core/team/pool.h"
#include "core/team/size.h"
#include "core/wait/announce.h"

/* Number and size come from one seat, so they fit each other. This holds also in a signal handler
 * that interrupts a thread as it begins a region, or an idle worker that is in no team. */
static inline uint32_t cst_ask_number(void) {
    const struct cst_thread *self = cst_known();
    return self ? self->seat->number : 0;
}

static inline uint32_t cst_ask_size(void) {
    const struct cst_thread *self = cst_known();
    return self ? self->seat->size : 1;
}

static inline uint32_t cst_ask_level(void) {
    const struct cst_thread *self = cst_known();
    return self ? self->team->level : 0;
}

static inline uint32_t cst_ask_active_level(void) {
    const struct cst_thread *self = cst_known();
    return self ? self->team->active_level : 0;
}

/* The number of threads of the next region, if the program names none. `from` is the address to
 * which the question returns. */
static inline uint32_t cst_ask_most(const void *from) {
    const struct cst_thread *self = cst_known();
    if (!self) {
        cst_asked_unknown = true;
        return cst_config.icv.nthreads;
    }
    if (self->team->active_level > 0) return self->task->icv.nthreads;
    bool about = cst_announce_asks(&cst_current_thread->asking, from);
    if (about) cst_pool_announce(cst_current_thread);
    if (cst_unlikely(cst_load_relaxed(&cst_share_wanted)))
        return cst_size_promise(cst_current_thread, about);
    return self->task->icv.nthreads;
}

/* The number of the thread's record, from 0. No two live threads have the same. */
static inline uint32_t cst_own_record(const struct cst_thread *thread) {
    return thread->record;
}

/* The number of the system's thread, from 1, which no other thread has had or will have. */
static inline uint64_t cst_own_identity(const struct cst_thread *thread) {
    return thread->identity;
}

/* The number of the thread, or of its ancestor, at that level, and the size of its team there.
 * False: there is no such level. */
static inline bool cst_ask_ancestor(int level, uint32_t *number, uint32_t *size) {
    const struct cst_thread *self = cst_known();
    *number = 0;
    *size = 1;
    if (!self) return level == 0;
    const struct cst_team *team = self->team;
    if (level < 0 || (uint32_t)level > team->level) return false;
    *number = self->number;
    while (team->level > (uint32_t)level) {
        *number = team->master_number;
        team = team->enclosing;
    }
    *size = team->size;
    return true;
}

static inline bool cst_ask_final(void) {
    const struct cst_thread *self = cst_known();
    return self && self->task->final;
}

static inline bool cst_ask_explicit_task(void) {
    const struct cst_thread *self = cst_known();
    return self && self->task->kind == CST_TASK_EXPLICIT;
}

/* The current task, or (generation 1) the task that made it; NULL: there is none. The caller must
 * not dereference it, as the task may end meanwhile. */
static inline const void *cst_ask_task(unsigned generation) {
    const struct cst_thread *self = cst_known();
    const struct cst_task *task = self ? self->task : NULL;
    return task && generation ? cst_load_relaxed(&task->parent) : task;
}

/* The control variables of the current task, to be read and changed. Makes a record for the
 * thread. */
static inline struct cst_icv *cst_own_icv(void) {
    return &cst_self()->task->icv;
}

/* From now on the thread's regions without a num_threads clause have this number of threads. An
 * earlier answer is void. */
static inline void cst_set_most(uint32_t threads) {
    struct cst_thread *self = cst_self();
    self->task->icv.nthreads = threads;
    self->task->icv.nthreads_explicit = 1;
    self->asking.told = 0;
}

/* The current task, as the owner of a nestable lock. */
static inline void *cst_own_task(void) {
    return cst_self()->task;
}

/* --- the league: teams constructs on the host (league.c) -------------------------------------- */

struct cst_league {
    uint32_t number, size; /* omp_get_team_num, omp_get_num_teams */
};

/* The team and the league that the thread executes. */
struct cst_league cst_ask_league(void);
/* Runs a function as the initial task of each team of a league in turn, by the calling thread.
 * `teams`: at least 1. `limit` bounds the threads of each team; 0: as the environment says. */
void cst_league_run(struct cst_thread *thread, uint32_t teams, uint32_t limit,
                    void (*function)(void *data), void *data);
/* From now on the thread executes that team of that league. */
void cst_league_set(struct cst_thread *thread, struct cst_league league);

#endif
