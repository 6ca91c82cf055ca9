/* Task reductions: clang's calls, decoded. Each variable is a reduction of core/work/reduce.h. The
 * compiled code has functions to make a member's copy, to combine it and to destroy it. */
#include "abi/kmp/taskred.h"

#include "abi/kmp/facts.h"
#include "abi/whole.h"
#include "platform/platform.h"

#include <stdlib.h>
#include <string.h>

CST_WHOLE(kmp_taskred);

typedef void make_old(void *copy);
typedef void make_new(void *copy, void *original);
typedef void finish(void *copy);
typedef void combine(void *to, void *from);

struct reduction {
    struct cst_reduction core; /* first, so that pointers to both are equal */
    struct kmp_reduce what;
    bool old; /* `initialise` takes the copy alone */
};

static struct reduction *of(struct cst_reduction *core) {
    return (struct reduction *)(void *)core;
}

static void make_copies(struct reduction *reduction) {
    for (uint32_t i = 0; i < reduction->core.members; i++) {
        char *copy = reduction->core.copies + i * reduction->core.bytes;
        if (!reduction->what.initialise)
            memset(copy, 0, reduction->what.size);
        else if (reduction->old)
            ((make_old *)reduction->what.initialise)(copy);
        else
            ((make_new *)reduction->what.initialise)(copy, reduction->what.original);
    }
}

static void finish_copies(struct reduction *reduction, bool combine_them) {
    for (uint32_t i = 0; i < reduction->core.members; i++) {
        char *copy = reduction->core.copies + i * reduction->core.bytes;
        if (combine_them) ((combine *)reduction->what.combine)(reduction->what.shared, copy);
        if (reduction->what.finish) ((finish *)reduction->what.finish)(copy);
    }
}

void cst_kmp_reductions_end(struct cst_reduction *list, bool combine_them) {
    while (list) {
        struct cst_reduction *next = list->outer;
        if (combine_them) {
            finish_copies(of(list), true);
            cst_reduce_free(list);
        }
        free(list);
        list = next;
    }
}

/* --- lists --------------------------------------------------------------------------------- */

static struct kmp_reduce from_old(const struct kmp_reduce_old *old) {
    return (struct kmp_reduce){.shared = old->shared,
                               .original = old->shared,
                               .size = old->size,
                               .initialise = old->initialise,
                               .finish = old->finish,
                               .combine = old->combine,
                               .flags = old->flags};
}

/* A copy takes whole lines, as each member writes its own. */
static struct reduction *make(size_t size) {
    struct reduction *reduction = cst_memory_get("a task reduction", sizeof *reduction);
    memset(reduction, 0, sizeof *reduction);
    reduction->core.bytes = (size + CST_CACHE_LINE - 1) & ~(size_t)(CST_CACHE_LINE - 1);
    reduction->core.alignment = CST_CACHE_LINE;
    return reduction;
}

static struct cst_reduction *list_of(int32_t count, const void *raw, bool old) {
    struct cst_reduction *list = NULL, **link = &list;
    for (int32_t i = 0; i < count; i++) {
        struct kmp_reduce what = old ? from_old((const struct kmp_reduce_old *)raw + i)
                                     : ((const struct kmp_reduce *)raw)[i];
        struct reduction *reduction = make(what.size);
        reduction->what = what;
        reduction->old = old;
        reduction->core.original = what.shared;
        *link = &reduction->core;
        link = &reduction->core.outer;
    }
    return list;
}

static void *begin(int32_t count, const void *raw, bool old) {
    if (count <= 0) return NULL;
    struct cst_reduction *list = list_of(count, raw, old), *each = list;
    cst_reduce_register(cst_self(), list);
    for (int32_t i = 0; i < count; i++, each = each->outer) make_copies(of(each));
    return list;
}

void *__kmpc_task_reduction_init(int32_t thread, int32_t count, void *list) {
    (void)thread;
    return begin(count, list, true);
}

void *__kmpc_taskred_init(int32_t thread, int32_t count, void *list) {
    (void)thread;
    return begin(count, list, false);
}

/* --- reduction(task, ...) ------------------------------------------------------------------ */

/* Data that the members of such a reduction share, besides the copies. It lies in the copies of an
 * additional reduction, the first of the list. Zeroed memory is its initial state. */
struct common {
    cst_lock lock;
    bool made;        /* are the copies made? */
    uint32_t arrived; /* members that have reached the end */
};

static struct common *common_of(struct cst_reduction *list) {
    return (struct common *)(void *)list->copies;
}

static void *begin_shared(int32_t count, const void *raw, bool old) {
    struct cst_thread *thread = cst_self();
    struct cst_reduction *list = &make(sizeof(struct common))->core;
    list->outer = list_of(count, raw, old);
    cst_reduce_begin_scope(thread, list);
    struct common *common = common_of(list);
    cst_lock_acquire(&common->lock);
    struct cst_reduction *each = list->outer;
    for (int32_t i = 0; i < count && !common->made; i++, each = each->outer) make_copies(of(each));
    common->made = true;
    cst_lock_release(&common->lock);
    return list;
}

void *__kmpc_task_reduction_modifier_init(kmp_loc *loc, int32_t thread, int32_t is_loop,
                                          int32_t count, void *list) {
    (void)loc, (void)thread, (void)is_loop;
    return begin_shared(count, list, true);
}

void *__kmpc_taskred_modifier_init(kmp_loc *loc, int32_t thread, int32_t is_loop, int32_t count,
                                   void *list) {
    (void)loc, (void)thread, (void)is_loop;
    return begin_shared(count, list, false);
}

/* The last member combines all copies with its own variables, which the construct's own reduction
 * then takes. */
void __kmpc_task_reduction_modifier_fini(kmp_loc *loc, int32_t thread, int32_t is_loop) {
    (void)loc, (void)thread, (void)is_loop;
    struct cst_reduction *list = cst_reduce_end_construct(cst_self());
    struct common *common = common_of(list);
    cst_lock_acquire(&common->lock);
    bool is_last = ++common->arrived == cst_ask_size();
    cst_lock_release(&common->lock);
    if (is_last) cst_reduce_free(list);
    cst_kmp_reductions_end(list->outer, is_last);
    free(list);
}

/* --- copies -------------------------------------------------------------------------------- */

/* The member's copy of a variable, which may be named by the address of any member's copy. */
void *__kmpc_task_reduction_get_th_data(int32_t number, void *group, void *address) {
    (void)number;
    struct cst_thread *thread = cst_self();
    struct cst_reduction *list = group ? group : cst_reduce_list(thread);
    size_t offset;
    for (struct cst_reduction *each = list; each; each = each->outer)
        if (each->original == address) return cst_reduce_copy(thread, each);
    for (struct cst_reduction *each = list; each; each = each->outer)
        if (cst_reduce_holds(each, address, &offset))
            return (char *)cst_reduce_copy(thread, each) + offset;
    for (struct cst_reduction *each = list; each; each = each->outer)
        if (each->original && of(each)->what.original == address)
            return cst_reduce_copy(thread, each);
    cst_message_omp_fatal("Error", "no task reduction has the variable at %p", address);
}
