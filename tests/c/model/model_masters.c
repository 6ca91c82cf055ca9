/* core/team/workers.c, worker.c and pool.c: two masters open regions and end, in turn and at once,
 * and may share workers. In a region a worker has the traits of its master. When no master is left,
 * each worker blocks all signals. */
#include "core/team/workers.h"

#include "core/team/pool.h"
#include "core/team/region.h"
#include "core/team/threads.h"
#include "models.h"

static unsigned traits_of[2];
static _Atomic unsigned ended, entered;

static void body(void *master) {
    cst_add_relaxed(&entered, 1);
    EXPLORE_CHECK(machine_traits() == *(unsigned *)master);
}

static void master(unsigned number) {
    machine_set_traits(traits_of[number]);
    struct cst_region region = {.function = body, .data = &traits_of[number], .threads = 2};
    cst_region_run(cst_self(), &region);
    cst_thread_end();
    if (cst_add_seq_cst(&ended, 1) == 0) return;
    EXPLORE_CHECK(machine_takers() == 0);
    EXPLORE_CHECK(cst_load_relaxed(&entered) == 4);
    EXPLORE_CHECK(cst_workers_end(true));
}

static void prepare(unsigned first, unsigned second) {
    models_configure(8, true);
    cst_config.icv.dynamic = CST_DYNAMIC_LEASED;
    traits_of[0] = first;
    traits_of[1] = second;
    cst_store_relaxed(&ended, 0);
    cst_store_relaxed(&entered, 0);
}

static void alike(void) {
    prepare(1, 1);
}
static void different(void) {
    prepare(1, 2);
}

int models_run(void) {
    enum { LIMIT = 20000 };
    const struct explore_model models[] = {
        {"two masters alike", alike, master, NULL, .threads = 2, .executions = LIMIT},
        {"two masters with different traits", different, master, NULL, .threads = 2,
         .executions = LIMIT},
    };
    for (unsigned i = 0; i < sizeof models / sizeof *models; i++)
        if (!explore(&models[i])) return 1;
    return 0;
}
