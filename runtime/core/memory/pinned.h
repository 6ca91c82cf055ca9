/* Memory that is never swapped out: allocators with the trait `pinned`.
 *
 * Only whole pages can be pinned, and a user may pin few of them (ulimit -l), so small blocks share
 * pages. A child of fork inherits no pins (mlock(2)), so its allocations come from pages of its
 * own. The child may use and free the blocks that it inherited. */
#ifndef CST_CORE_MEMORY_PINNED_H
#define CST_CORE_MEMORY_PINNED_H

#include <stddef.h>

/* At least `size` bytes, zeroed, aligned as malloc's. NULL when memory is exhausted, or no more may
 * be pinned. *granted, which is not 0, is to be passed to cst_pinned_free. Any thread may call. A
 * call blocks while the kernel provides a page. */
void *cst_pinned_get(size_t size, size_t *granted);
/* Frees a block of cst_pinned_get or of cst_pages_get. */
void cst_pinned_free(void *block, size_t granted);

/* Called around a fork: no other thread changes a page meanwhile. */
void cst_pinned_before_fork(void);
void cst_pinned_after_fork(void);
void cst_pinned_after_fork_in_child(void);

#endif
