/* single, sections, scope, and the ends of worksharing constructs: GCC's calls, decoded. */
#include "abi/facts.h"
#include "abi/whole.h"
#include "core/work/barrier.h"
#include "core/work/loop.h"
#include "core/work/reduce.h"
#include "platform/platform.h"

CST_WHOLE(gomp_share);

/* --- single ------------------------------------------------------------------------------ */

bool GOMP_single_start(void) {
    return cst_share_single(cst_self());
}

/* The executing member gets NULL; the others wait for its data. */
void *GOMP_single_copy_start(void) {
    struct cst_thread *thread = cst_self();
    struct cst_share *share;
    if (cst_share_enter(thread, &share)) return NULL;
    cst_barrier(thread);
    /* After the barrier in copy_end. The compiler's own barrier follows, so the slot is not used
     * again before all have read it. */
    void *data = share->copy;
    cst_share_leave(cst_self());
    return data;
}

void GOMP_single_copy_end(void *data) {
    struct cst_thread *thread = cst_self();
    thread->share->copy = data;
    cst_share_leave(thread);
    cst_barrier(thread);
}

/* --- sections ---------------------------------------------------------------------------- */

unsigned GOMP_sections_start(unsigned count) {
    struct cst_thread *thread = cst_self();
    cst_sections_start(thread, count, &(struct cst_loop_extras){0});
    return cst_sections_next(thread);
}

unsigned GOMP_sections2_start(unsigned count, uintptr_t *reductions, void **memory) {
    struct cst_thread *thread = cst_self();
    struct cst_loop_extras extras = {.reductions = reductions, .memory = memory};
    cst_sections_start(thread, count, &extras);
    return cst_sections_next(thread);
}

unsigned GOMP_sections_next(void) {
    return cst_sections_next(cst_self());
}

static struct cst_team *begin_sections(struct cst_thread *thread, const struct cst_region *region,
                                       unsigned count) {
    struct cst_team *team = cst_region_begin(thread, region);
    cst_sections_prepare(team, count);
    cst_region_launch(thread, team, region);
    return team;
}

void GOMP_parallel_sections_start(gomp_body *body, void *data, unsigned threads, unsigned count) {
    struct cst_region region = {
        .function = body, .data = data, .threads = threads, .combined = CST_COMBINED_RING};
    begin_sections(cst_self(), &region, count);
}

void GOMP_parallel_sections(gomp_body *body, void *data, unsigned threads, unsigned count,
                            unsigned flags) {
    CST_KEEP_FRAME();
    struct cst_region region = {.function = body,
                                .data = data,
                                .threads = threads,
                                .bind = flags & GOMP_PARALLEL_BIND_MASK,
                                .combined = CST_COMBINED_RING};
    begin_sections(cst_self(), &region, count);
    body(data);
    cst_region_end(cst_self());
}

void GOMP_sections_end(void) {
    cst_loop_end(cst_self());
}
void GOMP_sections_end_nowait(void) {
    cst_loop_end_nowait(cst_self());
}
bool GOMP_sections_end_cancel(void) {
    return cst_loop_end_cancellable(cst_self());
}

/* --- scope, and reductions of worksharing constructs ------------------------------------- */

void GOMP_scope_start(uintptr_t *reductions) {
    struct cst_thread *thread = cst_self();
    struct cst_share *share;
    cst_reduce_begin_construct(thread);
    if (cst_share_enter(thread, &share) || !cst_share_await(thread, share)) {
        cst_reduce_register(thread, reductions, NULL);
        share->reductions = reductions;
        cst_share_publish(thread, share);
    } else {
        cst_reduce_register(thread, reductions, share->reductions);
    }
    cst_share_leave(thread);
}

void GOMP_workshare_task_reduction_unregister(bool cancelled) {
    cst_reduce_end_construct(cst_self(), cancelled);
}
