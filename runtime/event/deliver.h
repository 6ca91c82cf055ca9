/* What is due for descriptors, one registration at a time. The driver's own.
 *
 * The common case, a persistent registration that is alone on its descriptor, takes no lock. The
 * driver reads the registration between two reads of its generation, as in a sequence lock: if
 * the second is the one in the report's key, what it read before belongs to that registration
 * (1: generation, to save the rest; 2: fields, each with acquire; 3: generation. cst_table_retire
 * changes the generation first; the fields are written after it, each with release, so whoever
 * reads a later field reads a later generation). A registration that ends after step 3, on another
 * thread, may thus be called once more: capstan_quiesce waits for that.
 */
#ifndef CST_EVENT_DELIVER_H
#define CST_EVENT_DELIVER_H

#include "event/manager.h"

static inline struct cst_watch *cst_deliver_find(const struct capstan_manager *manager,
                                                 const struct cst_ready *ready) {
    return (struct cst_watch *)cst_table_at(&manager->watches, (uint32_t)ready->key);
}

/* The common case, of the registration that the report names. False: it is another, and what was
 * written to `delivery` means nothing. */
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

/* Everything else. False: nothing is left of this batch. */
bool cst_deliver_slowly(struct capstan_manager *manager, struct cst_delivery *delivery);

/* The next of either kind. False: nothing is left of this batch. */
bool cst_deliver_next(struct capstan_manager *manager, struct cst_delivery *delivery);

#endif
