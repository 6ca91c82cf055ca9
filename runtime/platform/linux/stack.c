/* Memory for side stacks; see stack.h. */
#include "platform/stack.h"

#include "platform/platform.h"

#include <errno.h>
#include <sys/mman.h>

/* Valgrind has to know a stack's addresses. Without them it takes a switch for a frame of a
 * mebibyte that comes and goes, and reports its bytes. */
enum { REGISTER_STACK = 0x1501, DEREGISTER_STACK = 0x1502 };

static uintptr_t tell_valgrind(uintptr_t request, uintptr_t first, uintptr_t second) {
    const uintptr_t words[6] = {request, first, second};
    return cst_valgrind_ask(words);
}

bool cst_stack_make(struct cst_stack *stack, size_t size) {
    int saved = errno;
    size_t page = cst_page_size();
    if (size > SIZE_MAX - 2 * page) return false; /* the sums below would overflow */
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
    stack->known_as =
        tell_valgrind(REGISTER_STACK, (uintptr_t)stack->base, (uintptr_t)stack->top - 1);
    return true;
}

void cst_stack_free(struct cst_stack *stack) {
    int saved = errno;
    size_t page = cst_page_size();
    tell_valgrind(DEREGISTER_STACK, stack->known_as, 0);
    munmap(stack->base - page, page + (size_t)(stack->top - stack->base));
    errno = saved;
}

struct call {
    struct cst_stack_place caller, callee;
    void (*function)(void *);
    void *argument;
};

static void run(void *argument) {
    struct call *call = argument;
    call->function(call->argument);
    cst_stack_switch(&call->callee, &call->caller);
}

bool cst_stack_call(size_t size, void (*function)(void *), void *argument) {
    struct cst_stack stack;
    if (!cst_stack_make(&stack, size)) return false;
    struct call call = {.function = function, .argument = argument};
    cst_stack_begin(&call.caller, stack.top, run, &call);
    cst_stack_free(&stack);
    return true;
}
