/* Memory of tasks: blocks of a few sizes, kept by the thread that made them.
 *
 * The owner allocates and frees without atomics. Another thread gives a block back through a stack,
 * which the owner takes as a whole (so there is no ABA problem). Blocks are never returned to the
 * system and never change their size, so a stale pointer to a task always points at a task. */
#ifndef CST_CORE_BASE_SLAB_H
#define CST_CORE_BASE_SLAB_H

#include "platform/atomic.h"
#include "platform/check.h"

#include <stddef.h>

enum { CST_SLAB_CLASSES = 4 };

struct cst_slab;

/* Head of each block, in front of the memory that the user of the block gets. */
struct cst_slab_block {
    struct cst_slab *owner;
    uint32_t class;
    uint32_t unused;
};

struct cst_slab {
    void *free[CST_SLAB_CLASSES]; /* owner */
    /* Owner of this slab: blocks of one other slab and class, which it will give back together. */
    struct cst_slab_parcel {
        struct cst_slab *to;
        void *first, *last;
        uint32_t class, count;
    } parcel;
    char *fresh[CST_SLAB_CLASSES]; /* owner: rest of the newest chunk */
    char *fresh_end[CST_SLAB_CLASSES];
    CST_LINE_ALIGNED _Atomic(void *) returned[CST_SLAB_CLASSES]; /* any thread pushes */
};

/* Largest request that a slab serves, in bytes. */
enum { CST_SLAB_LARGEST = 1280 - sizeof(struct cst_slab_block) };

/* Bytes with the head, by class. The compiler knows them, so a fixed size costs no search. */
static const uint32_t cst_slab_block_size[CST_SLAB_CLASSES] = {
    192, 320, 640, CST_SLAB_LARGEST + sizeof(struct cst_slab_block)};

/* The slow parts of the two functions below. */
void *cst_slab_refill(struct cst_slab *slab, uint32_t class);
void cst_slab_give_back(struct cst_slab *mine, void *memory);

/* Owner: a block of at least `size` bytes (<= largest), aligned to 16; NULL: no memory. */
static inline void *cst_slab_allocate(struct cst_slab *slab, size_t size) {
    uint32_t class = 0;
    while (cst_slab_block_size[class] - sizeof(struct cst_slab_block) < size) class ++;
    cst_check(class < CST_SLAB_CLASSES);
    void *memory = slab->free[class];
    if (cst_unlikely(!memory)) return cst_slab_refill(slab, class);
    slab->free[class] = *(void **)memory; /* a free block's first word links it to the next one */
    return memory;
}

/* Any thread: gives a block back. `mine` is the calling thread's slab. It may keep a few blocks of
 * another slab until it has more of them. */
static inline void cst_slab_free(struct cst_slab *mine, void *memory) {
    struct cst_slab_block *block = (struct cst_slab_block *)memory - 1;
    if (cst_unlikely(block->owner != mine)) {
        cst_slab_give_back(mine, memory);
        return;
    }
    *(void **)memory = mine->free[block->class];
    mine->free[block->class] = memory;
}

#endif
