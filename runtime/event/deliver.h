/* The due calls for descriptors, one registration at a time. For the driver alone.
 *
 * The common case, a persistent registration that is alone on its descriptor, takes no lock. The
 * driver reads the registration between two reads of its generation, as in a sequence lock. If the
 * second read gives the generation of the report's key, the fields read before belong to that
 * registration. The steps are: 1 read the generation, to save the rest if it differs; 2 read the
 * fields, each with acquire; 3 read the generation. cst_table_retire changes the generation first.
 * The fields are written after it, each with release, so a reader of a later field reads a later
 * generation.
 *
 * A registration that ends after step 3, on another thread, may be called once more:
 * capstan_quiesce waits for that. */
#ifndef CST_EVENT_DELIVER_H
#define CST_EVENT_DELIVER_H

#include "event/manager.h"

static inline struct cst_watch *cst_deliver_find(const struct capstan_manager *manager,
                                                 const struct cst_ready *ready) {
    return (struct cst_watch *)cst_table_at(&manager->watches, (uint32_t)ready->key);
}

/* The common case, for the registration that the report names. False: it is another case, and the
 * contents of `delivery` are meaningless. */
static inline bool cst_deliver_directly(const struct cst_ready *ready, struct cst_watch *watch,
                                        struct cst_delivery *delivery) {
    uint32_t generation = (uint32_t)(ready->key >> 32);
    if (cst_unlikely(cst_load_relaxed(&watch->entry.generation) != generation))
        return false;                                   /* 1 */
    uint32_t direct = cst_load_acquire(&watch->direct); /* 2, down to fd */
    delivery->id = ready->key;
    delivery->function = cst_load_acquire(&watch->function);
    delivery->data = cst_load_acquire(&watch->data);
    delivery->fd = cst_load_acquire(&watch->fd);
    delivery->last = false;
    delivery->events = ready->events & direct;
    if (cst_unlikely(cst_load_relaxed(&watch->entry.generation) != generation))
        return false; /* 3 */
    return cst_likely(delivery->events != 0);
}

/* All other cases. False: nothing is left of this batch. */
bool cst_deliver_slowly(struct capstan_manager *manager, struct cst_delivery *delivery);

/* The next call of either kind. False: nothing is left of this batch. */
bool cst_deliver_next(struct capstan_manager *manager, struct cst_delivery *delivery);

#endif
