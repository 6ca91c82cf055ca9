/* Memory that stays in the machine's own, never swapped out: allocators with the trait `pinned`.
 *
 * Only whole pages can be pinned, and a user may pin few of them (ulimit -l), so small blocks share
 * pages. A child of fork inherits no pins (mlock(2)): what it allocates comes from pages of its
 * own; blocks that it inherited it may use and free. */
#ifndef CST_CORE_MEMORY_PINNED_H
#define CST_CORE_MEMORY_PINNED_H

#include <stddef.h>

/* At least `size` bytes, zeroed, aligned as malloc's; NULL when there are none, or no more may be
 * pinned. *granted is what cst_pinned_free wants, and not 0. Any thread may call; blocks for as
 * long as the kernel takes to give a page. */
void *cst_pinned_get(size_t size, size_t *granted);
/* Also what cst_pages_get gave. */
void cst_pinned_free(void *block, size_t granted);

/* Around a fork: nobody else changes a page meanwhile. */
void cst_pinned_before_fork(void);
void cst_pinned_after_fork(void);
void cst_pinned_after_fork_in_child(void);

#endif
