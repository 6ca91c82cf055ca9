/* single, sections, and the ends of worksharing constructs: GCC's calls, decoded. */
#include "abi/gomp/facts.h"
#include "abi/gomp/reduce.h"
#include "abi/omp/both.h"
#include "abi/whole.h"
#include "core/front.h"
#include "platform/platform.h"

CST_WHOLE(gomp_share);

/* --- single ------------------------------------------------------------------------------ */

CST_ENTRY(CST_FRONT_GOMP, bool, GOMP_single_start, (void), ()) {
    return cst_share_single(cst_self());
}

/* The executing member gets NULL; the other members wait for its data. */
CST_ENTRY(CST_FRONT_GOMP, void *, GOMP_single_copy_start, (void), ()) {
    void *data;
    return cst_share_single_copy(cst_self(), &data) ? NULL : data;
}

void GOMP_single_copy_end(void *data) {
    cst_share_copy(cst_self(), data);
}

/* --- sections ---------------------------------------------------------------------------- */

CST_ENTRY(CST_FRONT_GOMP, unsigned, GOMP_sections_start, (unsigned count), (count)) {
    struct cst_thread *thread = cst_self();
    cst_sections_start(thread, count, &(struct cst_loop_extras){0});
    return cst_sections_next(thread);
}

CST_ENTRY(CST_FRONT_GOMP, unsigned, GOMP_sections2_start,
          (unsigned count, uintptr_t *reductions, void **memory), (count, reductions, memory)) {
    struct cst_thread *thread = cst_self();
    struct gomp_extras extras = cst_gomp_extras(reductions, memory);
    cst_sections_start(thread, count, &extras.core);
    cst_gomp_extras_tell(&extras);
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

CST_ENTRY(CST_FRONT_GOMP, void, GOMP_parallel_sections_start,
          (gomp_body * body, void *data, unsigned threads, unsigned count),
          (body, data, threads, count)) {
    struct cst_region region = {.front = CST_FRONT_GOMP,
                                .function = body,
                                .data = data,
                                .threads = threads,
                                .combined = CST_COMBINED_RING};
    begin_sections(cst_self(), &region, count);
}

CST_ENTRY(CST_FRONT_GOMP, void, GOMP_parallel_sections,
          (gomp_body * body, void *data, unsigned threads, unsigned count, unsigned flags),
          (body, data, threads, count, flags)) {
    CST_KEEP_FRAME();
    struct cst_region region = {.front = CST_FRONT_GOMP,
                                .function = body,
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

/* --- objects of GCC that clang links --------------------------------------------------------- */

CST_FOR_BOTH(GOMP_parallel_sections);
CST_FOR_BOTH(GOMP_parallel_sections_start);
CST_FOR_BOTH(GOMP_sections2_start);
CST_FOR_BOTH(GOMP_sections_end);
CST_FOR_BOTH(GOMP_sections_end_cancel);
CST_FOR_BOTH(GOMP_sections_end_nowait);
CST_FOR_BOTH(GOMP_sections_next);
CST_FOR_BOTH(GOMP_sections_start);
CST_FOR_BOTH(GOMP_single_copy_end);
CST_FOR_BOTH(GOMP_single_copy_start);
CST_FOR_BOTH(GOMP_single_start);
