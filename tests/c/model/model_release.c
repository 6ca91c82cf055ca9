/* substrate/release.h: one thread makes a release that was put off, once. An owner that took the
 * release back has the Capability. A release that is due when the watcher ends is made too. Without
 * the barrier on all threads the watcher does not end. The owner's half is in cmm/coroutine.cmm and
 * is repeated here in C. */
#define __GLASGOW_HASKELL__ 900
#include "../../../runtime/substrate/rts/release.c" // NOLINT(bugprone-suspicious-include)

#include "models.h"

/* The model's watcher is there from the beginning. */
int cst_rts_watcher_start(void *(*function)(void *), struct cst_rts_usual *given) {
    (void)function, (void)given;
    return -1;
}

void cst_rts_watcher_enter_ghc(const struct cst_rts_usual *given) {
    (void)given;
}

void cst_rts_watcher_leave_ghc(void) {}

/* The only Capability, and the states of its holder. */
enum { FREE, OWNER, OTHER };
static _Atomic int holder;
static _Atomic int released;

static struct cst_release *release;
static char registers, call;
static void *mine; /* the owner's Task */
static char own;

static void *release_for(void *given) {
    EXPLORE_CHECK(given == &registers);
    EXPLORE_CHECK(cst_exchange_acq_rel(&holder, FREE) == OWNER);
    cst_add_relaxed(&released, 1);
    return &call;
}

static void acquire(int who) {
    int nobody = FREE;
    while (!cst_cas_acquire(&holder, &nobody, who)) {
        nobody = FREE;
        explore_spin(EXPLORE_AT("is the Capability free?"));
    }
}

/* Does the work of capstan_resume_released, with credit. */
static void put_off(void) {
    release->registers = &registers;
    release->own = mine;
    mine = release->spare;
    cst_store_release(&release->due, CST_RELEASE_IS_DUE);
    cst_compiler_barrier(); /* the order of the assembly code */
    if (cst_load_relaxed(&cst_release_watched) == 0) cst_release_make(release);
}

/* Does the work of cst_coroutine_take_back and capstan_resumed. */
static void call_back(void) {
    cst_store_relaxed(&release->calls, cst_load_relaxed(&release->calls) + 1);
    bool had = cst_release_take_back(release);
    EXPLORE_CHECK(had == (release->task == NULL));
    EXPLORE_CHECK(mine == &own);
    if (!had) acquire(OWNER);
    EXPLORE_CHECK(cst_load_relaxed(&holder) == OWNER);
    EXPLORE_CHECK(cst_load_relaxed(&release->due) == CST_RELEASE_NOT_DUE);
}

static void owner(unsigned calls) {
    put_off();
    for (unsigned i = 0; i < calls; i++) {
        call_back();
        put_off();
    }
}

static void look_and_stop(void) {
    look(false);
    stop();
}

/* After its last callback the owner goes on in C, and another thread wants the Capability. */
static void wanted(unsigned number) {
    if (number == 0) {
        owner(1);
    } else if (number == 1) {
        look_and_stop();
    } else {
        acquire(OTHER);
        cst_store_release(&holder, FREE);
    }
}

static void watched(unsigned number) {
    if (number == 0)
        owner(2);
    else
        look_and_stop();
}

static _Atomic int over;

/* The watcher cannot end, so it looks until callbacks no longer continue. */
static void endless(unsigned number) {
    if (number == 0) {
        owner(1);
        cst_store_release(&over, 1);
    } else if (!stop()) {
        while (!cst_load_acquire(&over)) explore_spin(EXPLORE_AT("is the owner done?"));
        look(false);
        look(false);
    }
}

static void nothing_is_due(void) {
    EXPLORE_CHECK(cst_load_relaxed(&release->due) == CST_RELEASE_DONE);
    EXPLORE_CHECK(cst_load_relaxed(&holder) == FREE);
    EXPLORE_CHECK(cst_load_relaxed(&released) > 0);
}

static void setup(void) {
    machine_has_no_barrier = false;
    cst_release_allow(release_for);
    release = explore_allocate(sizeof *release);
    *release = (struct cst_release){0};
    cst_release_init(release);
    mine = &own;
    cst_release_begin(release, &mine);
    cst_store_relaxed(&holder, OWNER);
    cst_store_relaxed(&cst_release_watched, 1);
}

static void setup_without_barrier(void) {
    setup();
    machine_has_no_barrier = true;
    cst_store_relaxed(&over, 0);
}

int models_run(void) {
    const struct explore_model models[] = {
        {"release, put off twice", setup, watched, nothing_is_due, .threads = 2},
        {"release, put off and wanted", setup, wanted, nothing_is_due, .threads = 3},
        {"release, watched for ever", setup_without_barrier, endless, nothing_is_due, .threads = 2},
    };
    for (unsigned i = 0; i < sizeof models / sizeof *models; i++)
        if (!explore(&models[i])) return 1;
    return 0;
}
