/* core/host/host.c: a thread that finds the substrate finds it started. */
#include "core/host/host.h"

#include "core/settings/config.h"
#include "models.h"
#include "substrate/substrate.h"

static int started; /* plain, like the data that the start of GHC's runtime system sets up */

static int start(unsigned capabilities, unsigned (*busy)(void), const char **reason) {
    (void)capabilities, (void)busy, (void)reason;
    started++;
    return 0;
}

static bool holds(void) {
    EXPLORE_CHECK(started == 1);
    return true;
}

static const struct cst_substrate substrate = {
    .name = "rts", .ghc_version = "model", .start = start, .holds_capability = holds};

/* The first region of the process, and a thread that is about to wait. */
static void choose_and_ask(unsigned number) {
    if (number == 0)
        EXPLORE_CHECK(cst_host_substrate() == &substrate);
    else
        cst_host_holds_capability();
}

static void setup(void) {
    models_configure(8, true);
    cst_config.substrate = CST_SUBSTRATE_RTS;
    machine_rts = &substrate;
    started = 0;
}

int models_run(void) {
    const struct explore_model model = {"host, a substrate is chosen", setup, choose_and_ask, NULL,
                                        .threads = 2};
    return explore(&model) ? 0 : 1;
}
