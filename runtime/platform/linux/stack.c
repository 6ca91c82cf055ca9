/* Memory for side stacks; see stack.h. */
#include "platform/stack.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

bool cst_stack_make(struct cst_stack *stack, size_t size) {
    int saved = errno;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size = (size + page - 1) / page * page;
    char *start = mmap(NULL, page + size, PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (start != MAP_FAILED && mprotect(start + page, size, PROT_READ | PROT_WRITE) != 0) {
        munmap(start, page + size);
        start = MAP_FAILED;
    }
    errno = saved;
    if (start == MAP_FAILED) return false;
    *stack = (struct cst_stack){.base = start + page, .top = start + page + size};
    return true;
}

void cst_stack_free(struct cst_stack *stack) {
    int saved = errno;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    munmap(stack->base - page, page + (size_t)(stack->top - stack->base));
    errno = saved;
}
