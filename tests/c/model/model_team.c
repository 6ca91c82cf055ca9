/* core/team/team.c and pool.c: each member executes a region once, and sees the master's earlier
 * writes. The region ends after all members and all tasks have ended. Workers wait in their docks
 * between regions, and leave them when the pool lets them go. */
#include "core/team/region.h"
#include "core/team/team.h"

#include "core/team/pool.h"
#include "core/team/workers.h"
#include "core/task/task.h"
#include "models.h"

enum { MOST = 3 };

static unsigned size, regions, masters;
static _Atomic unsigned written, entered, executed, ended;

static void nothing(void) {}

static void execute(void *data) {
    (void)data;
    cst_add_relaxed(&executed, 1);
}

static void body(void *data) {
    EXPLORE_CHECK(cst_load_relaxed(&written) == *(unsigned *)data);
    EXPLORE_CHECK(cst_self()->number < size);
    cst_add_relaxed(&entered, 1);
}

static void enter(void *data) {
    EXPLORE_CHECK(*(unsigned *)data == regions);
    cst_add_relaxed(&entered, 1);
}

static void body_with_task(void *data) {
    body(data);
    struct cst_task_request request = {.function = execute, .deferrable = true};
    if (cst_self()->number == 1) cst_task_create(cst_self(), &request);
}

static void run(cst_region_function *function) {
    for (unsigned number = 1; number <= regions; number++) {
        cst_store_relaxed(&written, number);
        struct cst_region region = {.function = function, .data = &number, .threads = size};
        cst_region_run(cst_self(), &region);
        EXPLORE_CHECK(cst_load_relaxed(&entered) == size * number);
        EXPLORE_CHECK(cst_load_relaxed(&executed) == (function == body ? 0 : number));
    }
    EXPLORE_CHECK(cst_workers_end(true));
}

/* Workers end whenever they find nothing to do, and the next region makes new workers. */
static void master_of_leavers(unsigned unused) {
    (void)unused;
    for (unsigned number = 1; number <= regions; number++) {
        cst_store_relaxed(&written, number);
        struct cst_region region = {.function = body, .data = &number, .threads = size};
        cst_region_run(cst_self(), &region);
        EXPLORE_CHECK(cst_load_relaxed(&entered) == size * number);
    }
    while (!cst_workers_end(true)) cst_yield(); /* a worker that is leaving still has the team */
    EXPLORE_CHECK(cst_pool_without_workers(nothing));
}

static void master(unsigned number) {
    (void)number;
    run(body);
}

/* Plain, as the master sees each member's writes after the join. */
static int mark[MOST];

static void leave_mark(void *data) {
    (void)data;
    mark[cst_self()->number]++;
}

static void master_of_marks(unsigned unused) {
    (void)unused;
    struct cst_region region = {.function = leave_mark, .threads = size};
    cst_region_run(cst_self(), &region);
    for (unsigned i = 0; i < size; i++) EXPLORE_CHECK(mark[i] == 1);
    EXPLORE_CHECK(cst_workers_end(true));
}

/* The second region has one more member, while the worker of the first may still look for tasks. */
static void master_of_more(unsigned unused) {
    (void)unused;
    unsigned number = 1;
    for (unsigned more = 0; more < 2; more++) {
        struct cst_region region = {
            .function = more ? leave_mark : body_with_task, .data = &number, .threads = 2 + more};
        size = 2 + more;
        /* As if the array of seats were full, so that it is replaced. */
        if (more) cst_pool_teams()->seats_length = 2;
        cst_store_relaxed(&written, 1);
        cst_region_run(cst_self(), &region);
    }
    EXPLORE_CHECK(cst_load_relaxed(&executed) == 1);
    EXPLORE_CHECK(cst_workers_end(true));
}

static void master_with_task(unsigned number) {
    (void)number;
    run(body_with_task);
}

/* A thread that has opened a region ends while another thread may have its team. The last such
 * thread ends the workers. */
static void master_that_ends(unsigned number) {
    if (number > 0) cst_current_thread = NULL;
    unsigned value = regions;
    struct cst_region region = {.function = enter, .data = &value, .threads = size};
    cst_region_run(cst_self(), &region);
    cst_workers_lose_master(cst_self());
    if (cst_add_seq_cst(&ended, 1) + 1 < masters) return;
    EXPLORE_CHECK(cst_load_relaxed(&entered) == size * masters);
    EXPLORE_CHECK(cst_workers_end(true));
}

static void prepare(unsigned members, unsigned times, unsigned processors, bool spinning) {
    models_configure(processors, spinning);
    size = members;
    regions = times;
    cst_store_relaxed(&written, 0);
    cst_store_relaxed(&entered, 0);
    cst_store_relaxed(&executed, 0);
    cst_store_relaxed(&ended, 0);
    for (unsigned i = 0; i < MOST; i++) mark[i] = 0;
}

static void two_once(void) {
    prepare(2, 1, 8, false);
}
static void two_once_spinning(void) {
    prepare(2, 1, 8, true);
}
static void two_twice_spinning(void) {
    prepare(2, 2, 8, true);
}
static void two_twice(void) {
    prepare(2, 2, 8, false);
}
static void two_impatient(void) {
    prepare(2, 2, 8, false);
    cst_config.icv.dynamic = CST_DYNAMIC_LEASED;
    cst_config.idle_ms = 0;
    machine_is_impatient = true;
}
static void one_that_ends(void) {
    prepare(2, 1, 8, true);
    cst_config.icv.dynamic = CST_DYNAMIC_LEASED;
    masters = 1;
}
static void two_that_end(void) {
    one_that_ends();
    masters = 2;
}
static void three_once_spinning(void) {
    prepare(3, 1, 8, true);
}
static void crowded_three_spinning(void) {
    prepare(3, 1, 1, true);
}
static void crowded_once(void) {
    prepare(2, 1, 1, false);
}

int models_run(void) {
    enum { LIMIT = 50000 };
    const struct explore_model models[] = {
        {"team, a region, spinning", two_once_spinning, master, NULL, .threads = 1},
        {"team, two regions, spinning", two_twice_spinning, master, NULL, .threads = 1,
         .executions = LIMIT},
        {"team, a region with a task, spinning", two_once_spinning, master_with_task, NULL,
         .threads = 1, .executions = LIMIT},
        {"team, two regions", two_twice, master, NULL, .threads = 1, .executions = LIMIT},
        {"team, a region", two_once, master, NULL, .threads = 1, .executions = LIMIT},
        {"team, workers that leave between two regions", two_impatient, master_of_leavers, NULL,
         .threads = 1, .executions = LIMIT},
        {"team, a master that ends, spinning", one_that_ends, master_that_ends, NULL, .threads = 1,
         .executions = LIMIT},
        {"team, two masters that end, spinning", two_that_end, master_that_ends, NULL, .threads = 2,
         .executions = LIMIT},
        {"team, a region of three, spinning", three_once_spinning, master, NULL, .threads = 1,
         .executions = LIMIT},
        {"team, a region of one more", two_once_spinning, master_of_more, NULL, .threads = 1,
         .executions = LIMIT},
        {"crowded team, a region of three, spinning", crowded_three_spinning, master_of_marks, NULL,
         .threads = 1, .executions = LIMIT},
        {"crowded team, a region", crowded_once, master, NULL, .threads = 1, .executions = LIMIT},
    };
    for (unsigned i = 0; i < sizeof models / sizeof *models; i++)
        if (!explore(&models[i])) return 1;
    return 0;
}
