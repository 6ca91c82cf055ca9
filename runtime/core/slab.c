/* Memory of tasks; see slab.h. */
#include "core/slab.h"

#include "platform/check.h"

#include <stdlib.h>

static const uint32_t block_size[CST_SLAB_CLASSES] = {
    192, 320, 640, CST_SLAB_LARGEST + sizeof(struct cst_slab_block)};
enum {
    CHUNK = 64 * 1024,
    PARCEL = 16 /* blocks that are given back together: one transfer of the owner's line */
};

/* A free block's first word links it to the next one. */
static void **link_of(void *memory) {
    return memory;
}

static struct cst_slab_block *block_of(void *memory) {
    return (struct cst_slab_block *)memory - 1;
}

static void *refill(struct cst_slab *slab, uint32_t class) {
    if (cst_load_relaxed(&slab->returned[class])) {
        /* Acquire pairs with the release in cst_slab_free: the giver is done with the blocks. */
        void *all = cst_exchange_acq_rel(&slab->returned[class], NULL);
        slab->free[class] = *link_of(all);
        return all;
    }
    if (slab->fresh[class] == slab->fresh_end[class]) {
        char *chunk = aligned_alloc(CST_CACHE_LINE, CHUNK);
        if (!chunk) return NULL;
        slab->fresh[class] = chunk;
        slab->fresh_end[class] = chunk + CHUNK / block_size[class] * block_size[class];
    }
    struct cst_slab_block *block = (struct cst_slab_block *)slab->fresh[class];
    slab->fresh[class] += block_size[class];
    block->owner = slab;
    block->class = class;
    return block + 1;
}

void *cst_slab_allocate(struct cst_slab *slab, size_t size) {
    uint32_t class = 0;
    while (block_size[class] - sizeof(struct cst_slab_block) < size) class ++;
    cst_check(class < CST_SLAB_CLASSES);
    void *memory = slab->free[class];
    if (cst_unlikely(!memory)) return refill(slab, class);
    slab->free[class] = *link_of(memory);
    return memory;
}

static void send_parcel(struct cst_slab_parcel *parcel) {
    if (parcel->count == 0) return;
    _Atomic(void *) *stack = &parcel->to->returned[parcel->class];
    void *head = cst_load_relaxed(stack);
    do *link_of(parcel->last) = head;
    while (!cst_cas_acq_rel(stack, &head, parcel->first)); /* pairs with refill's exchange */
    parcel->count = 0;
}

void cst_slab_free(struct cst_slab *mine, void *memory) {
    struct cst_slab_block *block = block_of(memory);
    if (cst_likely(block->owner == mine)) {
        *link_of(memory) = mine->free[block->class];
        mine->free[block->class] = memory;
        return;
    }
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
