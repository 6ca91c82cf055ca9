/* Permits: the numbers of threads that other pools of the process may run at once.
 *
 * A pool connects, asks for a permit of a number of threads, and is told when it may have more or
 * must have fewer. All permits and all regions together have at most the processors of the process,
 * unless pools insist on least numbers. A permit counts the pool's own threads. Threads of the
 * program that take part in the pool's work are in no permit unless the pool asks for them.
 *
 * Any thread may call every function, also from within a pool's `told`. No function may be called
 * by a signal handler. A call holds a lock for some hundred ns, and calls the `told` of other
 * pools. */
#ifndef CST_CORE_BUDGET_PERMIT_H
#define CST_CORE_BUDGET_PERMIT_H

#include "platform/atomic.h"
#include "platform/check.h"
#include "platform/hidden.h"

#include <stdbool.h>
#include <stdint.h>

enum cst_permit_state {
    CST_PERMIT_VOID,     /* no permit */
    CST_PERMIT_INACTIVE, /* asks for nothing, has nothing */
    CST_PERMIT_PENDING,  /* waits: its least number is not available now */
    CST_PERMIT_IDLE,     /* keeps its threads while nobody else asks for them */
    CST_PERMIT_ACTIVE
};

enum cst_permit_result { CST_PERMIT_DONE, CST_PERMIT_WRONG, CST_PERMIT_NO_MEMORY };

struct cst_permit;

/* The parts of a permit that have changed, added up. */
enum { CST_PERMIT_NEW_THREADS = 1, CST_PERMIT_NEW_STATE = 2 };

/* Tells a pool that its permit has changed. It is called without a lock, and its result is
 * ignored. */
typedef int cst_permit_told(struct cst_permit *permit, void *argument, uint32_t changes);

/* A request for a permit. */
struct cst_permit_request {
    uint32_t least, most; /* threads */
    bool inactive;        /* for later: cst_permit_set makes it active */
    bool rigid;           /* its number stays while it is active */
    void *argument;       /* passed to `told` */
};

struct cst_permit_view {
    uint32_t threads;
    enum cst_permit_state state;
};

/* Makes a pool. Returns its number, or 0 when memory is exhausted. */
uint64_t cst_permit_connect(cst_permit_told *told);
/* Removes the pool and all its permits, after the last call of `told` has returned. WRONG: there is
 * no such pool. */
enum cst_permit_result cst_permit_disconnect(uint64_t pool);

/* Asks for a new permit (*permit is NULL), or changes the request of an existing one. WRONG: no
 * such pool or permit, or `least` is above `most` or the number of processors. */
enum cst_permit_result cst_permit_request(uint64_t pool, const struct cst_permit_request *request,
                                          struct cst_permit **permit);
/* Sets INACTIVE, IDLE or ACTIVE. WRONG: there is no such permit, or an inactive one is to idle. */
enum cst_permit_result cst_permit_set(struct cst_permit *permit, enum cst_permit_state state);
enum cst_permit_result cst_permit_view(const struct cst_permit *permit,
                                       struct cst_permit_view *view);
/* Frees the permit, after the last call of `told` for it has returned. */
enum cst_permit_result cst_permit_release(struct cst_permit *permit);

/* --- regions --------------------------------------------------------------------------------- */

/* Threads of all permits, and whether one has fewer than it asks for. */
extern CST_HIDDEN _Atomic uint32_t cst_permit_threads;
extern CST_HIDDEN _Atomic bool cst_permit_unmet;

/* The number of a region's threads that permits leave it now, at least 1. A region that gets fewer
 * than it wants leaves a claim, for which permits are cut down. */
uint32_t cst_permit_leave_some(uint32_t threads);
static inline uint32_t cst_permit_leave(uint32_t threads) {
    return cst_likely(cst_load_relaxed(&cst_permit_threads) == 0) ? threads
                                                                  : cst_permit_leave_some(threads);
}

/* Processors have become free: a region has ended (`region`; looked at once in a millisecond), or a
 * worker falls asleep. */
void cst_permit_offer_some(bool region);
static inline void cst_permit_offer(bool region) {
    if (cst_unlikely(cst_load_relaxed(&cst_permit_unmet))) cst_permit_offer_some(region);
}

void cst_permit_before_fork(void);
void cst_permit_after_fork(void);

#endif
