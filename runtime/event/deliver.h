/* What is due for descriptors, one registration at a time. The driver's own.
 *
 * The common case, a persistent registration that is alone on its descriptor, takes no lock. The
 * driver reads the registration between two reads of its generation, as in a sequence lock: if
 * both are the one in the report's key, what it read in between belongs to that registration
 * (1: generation; 2: fields, each with acquire; 3: generation. cst_table_retire changes the
 * generation first; the fields are written after it, each with release, so whoever reads a later
 * field reads a later generation). A registration that ends after step 3, on another thread, may
 * thus be called once more: capstan_quiesce waits for that.
 */
#ifndef CST_EVENT_DELIVER_H
#define CST_EVENT_DELIVER_H

#include "event/manager.h"

enum { CST_DIRECT_TAKEN, CST_DIRECT_UNWANTED, CST_DIRECT_IMPOSSIBLE };

static inline int cst_deliver_directly(const struct cst_ready *ready, struct cst_watch *watch,
                                       struct cst_delivery *delivery) {
    uint32_t generation = (uint32_t)(ready->key >> 32);
    if (cst_load_acquire(&watch->entry.generation) != generation)
        return CST_DIRECT_IMPOSSIBLE;                   /* 1 */
    uint32_t direct = cst_load_acquire(&watch->direct); /* 2, down to fd */
    uint32_t interest = cst_load_acquire(&watch->interest);
    delivery->id = ready->key;
    delivery->function = cst_load_acquire(&watch->function);
    delivery->data = cst_load_acquire(&watch->data);
    delivery->fd = cst_load_acquire(&watch->fd);
    delivery->last = false;
    if (cst_load_relaxed(&watch->entry.generation) != generation)
        return CST_DIRECT_IMPOSSIBLE; /* 3 */
    if (!direct) return CST_DIRECT_IMPOSSIBLE;
    delivery->events = ready->events & (interest | CAPSTAN_ERROR | CAPSTAN_HANGUP);
    return interest != 0 && delivery->events != 0 ? CST_DIRECT_TAKEN : CST_DIRECT_UNWANTED;
}

/* Everything but the common case. */
bool cst_deliver_slowly(struct capstan_manager *manager, struct cst_delivery *delivery);

static inline struct cst_watch *cst_deliver_find(const struct capstan_manager *manager,
                                                 const struct cst_ready *ready) {
    return (struct cst_watch *)cst_table_at(&manager->watches, (uint32_t)ready->key);
}

/* The common case alone: false if what comes next is another, or nothing is left of this batch.
 * `delivery` is not passed on from here, so the compiler may keep it in registers. Where the next
 * registration is takes two reads in a row, and a third to read it: all three go on while the
 * function of this one runs. */
static inline bool cst_deliver_next_directly(struct capstan_manager *manager,
                                             struct cst_delivery *delivery) {
    if (cst_unlikely(manager->ready_next == manager->ready_count || manager->wanting.fd >= 0))
        return false;
    const struct cst_ready *ready = &manager->ready[manager->ready_next];
    struct cst_watch *watch = manager->ahead;
    if (cst_unlikely(watch == NULL)) watch = cst_deliver_find(manager, ready);
    if (cst_unlikely(cst_deliver_directly(ready, watch, delivery) != CST_DIRECT_TAKEN))
        return false;
    manager->ahead = NULL;
    if (++manager->ready_next < manager->ready_count) {
        manager->ahead = cst_deliver_find(manager, ready + 1);
        __builtin_prefetch(manager->ahead);
    }
    return true;
}

/* False: nothing is left of this batch. */
static inline bool cst_deliver_next(struct capstan_manager *manager,
                                    struct cst_delivery *delivery) {
    return cst_deliver_next_directly(manager, delivery) || cst_deliver_slowly(manager, delivery);
}

#endif
