/* Memory of tasks; see slab.h. */
#include "core/base/slab.h"

#include "platform/happens.h"

#include <stdlib.h>

enum {
    CHUNK = 64 * 1024,
    PARCEL = 16 /* blocks given back together, by one transfer of the owner's line */
};

/* A free block's first word links it to the next one. */
static void **link_of(void *memory) {
    return memory;
}

static struct cst_slab_block *block_of(void *memory) {
    return (struct cst_slab_block *)memory - 1;
}

void *cst_slab_refill(struct cst_slab *slab, uint32_t class) {
    if (cst_load_relaxed(&slab->returned[class])) {
        /* Acquire pairs with the release in send_parcel: the other thread no longer uses the
         * blocks. */
        void *all = cst_exchange_acquire(&slab->returned[class], NULL);
        cst_happens_after(&slab->returned[class]);
        slab->free[class] = *link_of(all);
        return all;
    }
    if (slab->fresh[class] == slab->fresh_end[class]) {
        char *chunk = aligned_alloc(CST_CACHE_LINE, CHUNK);
        if (!chunk) return NULL;
        slab->fresh[class] = chunk;
        slab->fresh_end[class] =
            chunk + CHUNK / cst_slab_block_size[class] * cst_slab_block_size[class];
    }
    struct cst_slab_block *block = (struct cst_slab_block *)slab->fresh[class];
    slab->fresh[class] += cst_slab_block_size[class];
    block->owner = slab;
    block->class = class;
    return block + 1;
}

static void send_parcel(struct cst_slab_parcel *parcel) {
    if (parcel->count == 0) return;
    _Atomic(void *) *stack = &parcel->to->returned[parcel->class];
    void *head = cst_load_relaxed(stack);
    cst_happens_before(stack); /* the program's writes to memory that it will use again */
    do *link_of(parcel->last) = head;
    while (!cst_cas_release(stack, &head, parcel->first)); /* pairs with refill's exchange */
    parcel->count = 0;
}

void cst_slab_give_back(struct cst_slab *mine, void *memory) {
    struct cst_slab_block *block = block_of(memory);
    struct cst_slab_parcel *parcel = &mine->parcel;
    if (parcel->to != block->owner || parcel->class != block->class) {
        send_parcel(parcel);
        *parcel = (struct cst_slab_parcel){.to = block->owner, .class = block->class};
    }
    if (parcel->count++ == 0)
        parcel->last = memory;
    else
        *link_of(memory) = parcel->first;
    parcel->first = memory;
    if (parcel->count >= PARCEL) send_parcel(parcel);
}
