/* Permits: how many threads another pool of the process may run at once.
 *
 * A pool connects, asks for a permit of so many threads, and is told when it may have more or is to
 * have fewer. What all permits and all regions have together is no more than there are processors,
 * as far as nobody insists on a least number. The pool counts threads of its own; those of the
 * program that take part in its work are in no permit unless the pool asks for them.
 *
 * Every function may be called by any thread, and from within a pool's `told`. None is for signal
 * handlers. A call takes a lock for some hundred ns, and calls the `told` of other pools. */
#ifndef CST_CORE_BUDGET_PERMIT_H
#define CST_CORE_BUDGET_PERMIT_H

#include "platform/atomic.h"
#include "platform/check.h"

#include <stdbool.h>
#include <stdint.h>

enum cst_permit_state {
    CST_PERMIT_VOID,     /* there is none */
    CST_PERMIT_INACTIVE, /* asks for nothing, has nothing */
    CST_PERMIT_PENDING,  /* asks for a least number that is not to be had now */
    CST_PERMIT_IDLE,     /* keeps its threads as long as nobody else asks for them */
    CST_PERMIT_ACTIVE
};

enum cst_permit_result { CST_PERMIT_DONE, CST_PERMIT_WRONG, CST_PERMIT_NO_MEMORY };

struct cst_permit;

/* What has changed of a permit; added up. */
enum { CST_PERMIT_NEW_THREADS = 1, CST_PERMIT_NEW_STATE = 2 };

/* The permit has changed. Called without a lock; what it returns does not matter. */
typedef int cst_permit_told(struct cst_permit *permit, void *argument, uint32_t changes);

/* What is asked for. */
struct cst_permit_request {
    uint32_t least, most; /* threads */
    bool inactive;        /* for later: cst_permit_set makes it active */
    bool rigid;           /* while it is active its number stays */
    void *argument;       /* told */
};

struct cst_permit_view {
    uint32_t threads;
    enum cst_permit_state state;
};

/* A new pool; its number, or 0: there is no memory. */
uint64_t cst_permit_connect(cst_permit_told *told);
/* The pool and all its permits go. WRONG: there is no such pool. Waits until it is told no more. */
enum cst_permit_result cst_permit_disconnect(uint64_t pool);

/* Asks for a permit (*permit is NULL), or for another number in one that there is. WRONG: no such
 * pool or permit, or `least` is above `most` or the number of processors. */
enum cst_permit_result cst_permit_request(uint64_t pool, const struct cst_permit_request *request,
                                          struct cst_permit **permit);
/* INACTIVE, IDLE or ACTIVE. WRONG: there is no such permit, or one that is not active is to idle.
 */
enum cst_permit_result cst_permit_set(struct cst_permit *permit, enum cst_permit_state state);
enum cst_permit_result cst_permit_view(const struct cst_permit *permit,
                                       struct cst_permit_view *view);
/* The permit goes, once nobody is told of it. */
enum cst_permit_result cst_permit_release(struct cst_permit *permit);

/* --- regions --------------------------------------------------------------------------------- */

/* Threads of all permits, and whether one has fewer than it asks for. */
extern _Atomic uint32_t cst_permit_threads;
extern _Atomic bool cst_permit_unmet;

/* How many of a region's threads permits leave it now, at least 1. Whoever is left too few is a
 * claim that permits are cut down for. */
uint32_t cst_permit_leave_some(uint32_t threads);
static inline uint32_t cst_permit_leave(uint32_t threads) {
    return cst_likely(cst_load_relaxed(&cst_permit_threads) == 0) ? threads
                                                                  : cst_permit_leave_some(threads);
}

/* Processors have become free: by a region that has ended (then only once in a while), or as a
 * worker falls asleep. */
void cst_permit_offer_some(bool region);
static inline void cst_permit_offer(bool region) {
    if (cst_unlikely(cst_load_relaxed(&cst_permit_unmet))) cst_permit_offer_some(region);
}

void cst_permit_before_fork(void);
void cst_permit_after_fork(void);

#endif
